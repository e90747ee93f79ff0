/* SPDX-License-Identifier: MIT */
/* Copies and fills of rows that are a pitch apart, and of slices of them. */
#include "api.h"
#include "core/copy.h"

/* Rows of width bytes with that pitch; the memory they span is no number. */
static mcError_t check_rows(const void *ptr, size_t pitch, size_t width,
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
    McBox box = {
        .dst = dst,
        .src = src,
        .dst_pitch = dpitch,
        .src_pitch = spitch,
        .width = width,
        .height = height,
        .depth = 1,
    };
    mcError_t error;

    if ((unsigned)kind > mcMemcpyDefault) {
        return mcErrorInvalidMemcpyDirection;
    }
    error = check_rows(dst, dpitch, width, height);
    if (error == mcSuccess) {
        error = check_rows(src, spitch, width, height);
    }
    return error != mcSuccess ? error : copy_box(&box, kind, handle, sync);
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
    error = check_rows(dst, pitch, box.width, height);
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

/* ---- slices ---- */

/* Where a position of a pitched pointer is; the box behind it must lie in rows
 * and slices. */
static mcError_t pitched(const mcPitchedPtr *p, mcPos pos, mcExtent extent,
                         void **start)
{
    size_t end_x, end_y, row, at;

    if (__builtin_add_overflow(pos.x, extent.width, &end_x) ||
        __builtin_add_overflow(pos.y, extent.height, &end_y) ||
        __builtin_mul_overflow(pos.z, p->ysize, &row) ||
        __builtin_add_overflow(row, pos.y, &row) ||
        __builtin_mul_overflow(row, p->pitch, &at) ||
        __builtin_add_overflow(at, pos.x, &at) ||
        __builtin_add_overflow(at, (uintptr_t)p->ptr, &at)) {
        return mcErrorInvalidValue;
    }
    if (end_x > p->pitch || p->pitch > MC_MAX_PITCH) {
        return mcErrorInvalidPitchValue;
    }
    if (extent.depth > 1 && end_y > p->ysize) {
        return mcErrorInvalidValue;
    }
    *start = (void *)at;
    return mcSuccess;
}

static bool is_empty(mcExtent extent)
{
    return extent.width == 0 || extent.height == 0 || extent.depth == 0;
}

static mcError_t copy_slices(const mcMemcpy3DParms *p, mcStream_t handle,
                             bool sync)
{
    void *dst, *src;

    if (!p || !p->srcArray == !p->srcPtr.ptr ||
        !p->dstArray == !p->dstPtr.ptr) {
        return mcErrorInvalidValue;
    }
    if ((unsigned)p->kind > mcMemcpyDefault) {
        return mcErrorInvalidMemcpyDirection;
    }
    if (p->srcArray || p->dstArray) {
        return mcErrorNotSupported;
    }
    if (is_empty(p->extent)) {
        return mcSuccess;
    }
    mcError_t error = pitched(&p->dstPtr, p->dstPos, p->extent, &dst);
    if (error == mcSuccess) {
        error = pitched(&p->srcPtr, p->srcPos, p->extent, &src);
    }
    if (error != mcSuccess) {
        return error;
    }
    McBox box = {
        .dst = dst,
        .src = src,
        .dst_pitch = p->dstPtr.pitch,
        .src_pitch = p->srcPtr.pitch,
        .dst_slice = p->dstPtr.ysize,
        .src_slice = p->srcPtr.ysize,
        .width = p->extent.width,
        .height = p->extent.height,
        .depth = p->extent.depth,
    };
    return copy_box(&box, p->kind, handle, sync);
}

MC_EXPORT mcError_t mcMemcpy3D(const mcMemcpy3DParms *pCopy)
{
    API_ENTER("%p", (const void *)pCopy);
    API_RETURN(copy_slices(pCopy, NULL, true));
}

MC_EXPORT mcError_t mcMemcpy3DAsync(const mcMemcpy3DParms *pCopy,
                                    mcStream_t stream)
{
    API_ENTER("%p, %p", (const void *)pCopy, (void *)stream);
    API_RETURN(copy_slices(pCopy, stream, false));
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

    if (is_empty(extent)) {
        return mcSuccess;
    }
    if (!p->ptr) {
        return mcErrorInvalidValue;
    }
    mcError_t error = pitched(p, (mcPos){0}, extent, &box.dst);
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
