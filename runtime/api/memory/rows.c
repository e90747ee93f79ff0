/* SPDX-License-Identifier: MIT */
/* Copies and fills of rows that are a pitch apart, and of slices of them. */
#include "core/exec/params.h"
#include "rows.h"

mcError_t mc_api_check_rows(const void *ptr, size_t pitch, size_t width,
                            size_t rows)
{
    size_t reach;

    if (width > pitch || pitch > MC_MAX_PITCH) {
        return mcErrorInvalidPitchValue;
    }
    return __builtin_mul_overflow(pitch, rows, &reach) ||
                   (width && rows && !ptr)
               ? mcErrorInvalidValue
               : mcSuccess;
}

static mcError_t copy_box(const McBox *box, mcMemcpyKind kind,
                          mcStream_t handle, bool sync)
{
    McStream *stream __attribute__((cleanup(mc_api_put_stream))) = NULL;
    mcError_t error = mc_api_stream(handle, &stream);

    if (error == mcSuccess && sync) {
        error = mc_capture_unsafe();
    }
    return error != mcSuccess ? error : mc_copy_box(stream, box, kind, sync);
}

mcError_t mc_api_copy_box(const McSide *dst, const McSide *src, mcExtent extent,
                          mcMemcpyKind kind, mcStream_t handle, bool sync)
{
    McBox box = {
        .dst = dst->start,
        .src = src->start,
        .dst_pitch = dst->pitch,
        .src_pitch = src->pitch,
        .dst_slice = dst->slice,
        .src_slice = src->slice,
        .width = extent.width,
        .height = extent.height,
        .depth = extent.depth,
    };

    return copy_box(&box, kind, handle, sync);
}

static mcError_t fill_box(const McBox *box, uint32_t value, unsigned element,
                          mcStream_t handle, bool sync)
{
    McStream *stream __attribute__((cleanup(mc_api_put_stream))) = NULL;
    mcError_t error = mc_api_stream(handle, &stream);

    if (error == mcSuccess && sync) {
        error = mc_capture_unsafe();
    }
    return error != mcSuccess ? error
                              : mc_fill_box(stream, box, value, element, sync);
}

static mcError_t copy_rows(void *dst, size_t dpitch, const void *src,
                           size_t spitch, size_t width, size_t height,
                           mcMemcpyKind kind, mcStream_t handle, bool sync)
{
    McSide to = {dst, dpitch, 0}, from = {(void *)(uintptr_t)src, spitch, 0};
    mcError_t error;

    if ((unsigned)kind > mcMemcpyDefault) {
        return mcErrorInvalidMemcpyDirection;
    }
    error = mc_api_check_rows(dst, dpitch, width, height);
    if (error == mcSuccess) {
        error = mc_api_check_rows(src, spitch, width, height);
    }
    return error != mcSuccess
               ? error
               : mc_api_copy_box(&to, &from, (mcExtent){width, height, 1}, kind,
                                 handle, sync);
}

MC_EXPORT mcError_t mcMemcpy2D(void *dst, size_t dpitch, const void *src,
                               size_t spitch, size_t width, size_t height,
                               mcMemcpyKind kind)
{
    API_ENTER("%p, %zu, %p, %zu, %zu, %zu, %d", dst, dpitch, src, spitch,
              width, height, (int)kind);
    API_RETURN(copy_rows(dst, dpitch, src, spitch, width, height, kind, NULL,
                         true));
}

MC_EXPORT mcError_t mcMemcpy2DAsync(void *dst, size_t dpitch, const void *src,
                                    size_t spitch, size_t width, size_t height,
                                    mcMemcpyKind kind, mcStream_t stream)
{
    API_ENTER("%p, %zu, %p, %zu, %zu, %zu, %d, %p", dst, dpitch, src, spitch,
              width, height, (int)kind, (void *)stream);
    API_RETURN(copy_rows(dst, dpitch, src, spitch, width, height, kind, stream,
                         false));
}

/* width in elements */
static mcError_t fill_rows(void *dst, size_t pitch, uint32_t value,
                           unsigned element, size_t width, size_t height,
                           mcStream_t handle, bool sync)
{
    McBox box = {.dst = dst, .dst_pitch = pitch, .height = height, .depth = 1};
    mcError_t error;

    if (__builtin_mul_overflow(width, element, &box.width)) {
        return mcErrorInvalidValue;
    }
    error = mc_api_check_rows(dst, pitch, box.width, height);
    return error != mcSuccess ? error
                              : fill_box(&box, value, element, handle, sync);
}

#define TRACE_ROWS(dst, pitch, value, width, height, stream)                   \
    API_ENTER("%p, %zu, 0x%x, %zu, %zu, %p", dst, pitch, (unsigned)(value),    \
              width, height, (void *)(stream))

MC_EXPORT mcError_t mcMemset2D(void *dst, size_t pitch, int value,
                               size_t width, size_t height)
{
    TRACE_ROWS(dst, pitch, value, width, height, NULL);
    API_RETURN(fill_rows(dst, pitch, (uint8_t)value, 1, width, height, NULL,
                         true));
}

MC_EXPORT mcError_t mcMemset2DAsync(void *dst, size_t pitch, int value,
                                    size_t width, size_t height,
                                    mcStream_t stream)
{
    TRACE_ROWS(dst, pitch, value, width, height, stream);
    API_RETURN(fill_rows(dst, pitch, (uint8_t)value, 1, width, height, stream,
                         false));
}

#define MEMSET_ROWS(name, type)                                                \
    MC_EXPORT mcError_t mcMemset##name(mcDeviceptr_t dst, size_t pitch,        \
                                       type value, size_t width,               \
                                       size_t height)                          \
    {                                                                          \
        TRACE_ROWS(dst, pitch, value, width, height, NULL);                    \
        API_RETURN(fill_rows(dst, pitch, value, sizeof(type), width, height,   \
                             NULL, true));                                     \
    }                                                                          \
    MC_EXPORT mcError_t mcMemset##name##Async(                                 \
        mcDeviceptr_t dst, size_t pitch, type value, size_t width,             \
        size_t height, mcStream_t stream)                                      \
    {                                                                          \
        TRACE_ROWS(dst, pitch, value, width, height, stream);                  \
        API_RETURN(fill_rows(dst, pitch, value, sizeof(type), width, height,   \
                             stream, false));                                  \
    }

MEMSET_ROWS(D2D8, unsigned char)
MEMSET_ROWS(D2D16, unsigned short)
MEMSET_ROWS(D2D32, unsigned int)

mcMemcpyKind mc_api_kind_of(mcMemoryType dst, mcMemoryType src)
{
    if (dst == mcMemoryTypeManaged || src == mcMemoryTypeManaged) {
        return mcMemcpyDefault;
    }
    if (dst == mcMemoryTypeHost) {
        return src == mcMemoryTypeHost ? mcMemcpyHostToHost
                                       : mcMemcpyDeviceToHost;
    }
    return src == mcMemoryTypeHost ? mcMemcpyHostToDevice
                                   : mcMemcpyDeviceToDevice;
}

/* ---- slices ---- */

static mcError_t pitched(const mcPitchedPtr *p, mcPos pos, mcExtent extent,
                         McSide *side)
{
    *side = (McSide){.pitch = p->pitch, .slice = p->ysize};
    return mc_pitched(p, pos, extent, &side->start);
}

static mcError_t copy_slices(const mcMemcpy3DParms *params, bool peer,
                             mcStream_t handle, bool sync)
{
    McArray *to __attribute__((cleanup(mc_api_put_object))) = NULL;
    McArray *from __attribute__((cleanup(mc_api_put_object))) = NULL;

    if (!params) {
        return mcErrorInvalidValue;
    }
    mcMemcpy3DParms p = *params; /* the caller may change its own */
    /* Held until the copy is submitted. */
    to = p.dstArray ? mc_handle_get(p.dstArray, MC_HANDLE_ARRAY) : NULL;
    from = p.srcArray ? mc_handle_get(p.srcArray, MC_HANDLE_ARRAY) : NULL;
    McBox box;
    mcError_t error = mc_box_of_copy(&p, &box);
    return error != mcSuccess || box.width == 0
               ? error
               : copy_box(&box, peer ? mcMemcpyDefault : p.kind, handle, sync);
}

MC_EXPORT mcError_t mcMemcpy3D(const mcMemcpy3DParms *pCopy)
{
    API_ENTER("%p", (const void *)pCopy);
    API_RETURN(copy_slices(pCopy, false, NULL, true));
}

MC_EXPORT mcError_t mcMemcpy3DAsync(const mcMemcpy3DParms *pCopy,
                                    mcStream_t stream)
{
    API_ENTER("%p, %p", (const void *)pCopy, (void *)stream);
    API_RETURN(copy_slices(pCopy, false, stream, false));
}

MC_EXPORT mcError_t mcMemcpy3DPeer(const mcMemcpy3DParms *pCopy)
{
    API_ENTER("%p", (const void *)pCopy);
    API_RETURN(copy_slices(pCopy, true, NULL, true));
}

MC_EXPORT mcError_t mcMemcpy3DPeerAsync(const mcMemcpy3DParms *pCopy,
                                        mcStream_t stream)
{
    API_ENTER("%p, %p", (const void *)pCopy, (void *)stream);
    API_RETURN(copy_slices(pCopy, true, stream, false));
}

static mcError_t fill_slices(const mcPitchedPtr *p, int value, mcExtent extent,
                             mcStream_t handle, bool sync)
{
    McBox box = {
        .dst_pitch = p->pitch,
        .dst_slice = p->ysize,
        .width = extent.width,
        .height = extent.height,
        .depth = extent.depth,
    };

    if (mc_extent_empty(extent)) {
        return mcSuccess;
    }
    if (!p->ptr) {
        return mcErrorInvalidValue;
    }
    McSide side;
    mcError_t error = pitched(p, (mcPos){0}, extent, &side);
    box.dst = p->ptr;
    return error != mcSuccess
               ? error
               : fill_box(&box, (uint8_t)value, 1, handle, sync);
}

#define TRACE_SLICES(p, value, extent, stream)                                 \
    API_ENTER("{%p, %zu, %zu, %zu}, 0x%x, {%zu, %zu, %zu}, %p", (p).ptr,       \
              (p).pitch, (p).xsize, (p).ysize, (unsigned)(value),              \
              (extent).width, (extent).height, (extent).depth,                 \
              (void *)(stream))

MC_EXPORT mcError_t mcMemset3D(mcPitchedPtr pitchedDevPtr, int value,
                               mcExtent extent)
{
    TRACE_SLICES(pitchedDevPtr, value, extent, NULL);
    API_RETURN(fill_slices(&pitchedDevPtr, value, extent, NULL, true));
}

MC_EXPORT mcError_t mcMemset3DAsync(mcPitchedPtr pitchedDevPtr, int value,
                                    mcExtent extent, mcStream_t stream)
{
    TRACE_SLICES(pitchedDevPtr, value, extent, stream);
    API_RETURN(fill_slices(&pitchedDevPtr, value, extent, stream, false));
}
