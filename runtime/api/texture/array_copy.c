/* SPDX-License-Identifier: MIT */
/* Copies to and from arrays, and of rows by a structure. */
#include "api/memory/rows.h"

/* ---- rows ---- */

/* One slice of an array. */
static mcError_t array_rows(const McArray *array, size_t x, size_t y,
                            size_t width, size_t height, McSide *side)
{
    if (array->slices != 1) {
        return mcErrorInvalidValue;
    }
    return mc_array_side(array, (mcPos){x, y, 0}, (mcExtent){width, height, 1},
                         side);
}

static mcError_t copy_rows(const McSide *dst, const McSide *src, size_t width,
                           size_t height, mcMemcpyKind kind, mcStream_t stream,
                           bool sync)
{
    if ((unsigned)kind > mcMemcpyDefault) {
        return mcErrorInvalidMemcpyDirection;
    }
    return mc_api_copy_box(dst, src, (mcExtent){width, height, 1}, kind, stream,
                           sync);
}

typedef struct Rows {
    const void *ptr;
    size_t pitch, width, height;
} Rows;

static mcError_t rows_to_array(const McArray *array, size_t x, size_t y,
                               const Rows *rows, mcMemcpyKind kind,
                               mcStream_t stream, bool sync)
{
    McSide dst, src = {(void *)(uintptr_t)rows->ptr, rows->pitch, 0};
    mcError_t error = mc_api_check_rows(rows->ptr, rows->pitch, rows->width,
                                        rows->height);

    if (error == mcSuccess) {
        error = array_rows(array, x, y, rows->width, rows->height, &dst);
    }
    return error != mcSuccess ? error
                              : copy_rows(&dst, &src, rows->width, rows->height,
                                          kind, stream, sync);
}

static mcError_t array_to_rows(const Rows *rows, const McArray *array, size_t x,
                               size_t y, mcMemcpyKind kind, mcStream_t stream,
                               bool sync)
{
    McSide dst = {(void *)(uintptr_t)rows->ptr, rows->pitch, 0}, src;
    mcError_t error = mc_api_check_rows(rows->ptr, rows->pitch, rows->width,
                                        rows->height);

    if (error == mcSuccess) {
        error = array_rows(array, x, y, rows->width, rows->height, &src);
    }
    return error != mcSuccess ? error
                              : copy_rows(&dst, &src, rows->width, rows->height,
                                          kind, stream, sync);
}

#define TRACE_ROWS(array, x, y, ptr, pitch, width, height, kind, stream)       \
    API_ENTER("%p, %zu, %zu, %p, %zu, %zu, %zu, %d, %p", (const void *)(array),\
              x, y, ptr, pitch, width, height, (int)(kind), (void *)(stream))

MC_EXPORT mcError_t mcMemcpy2DToArray(mcArray_t dst, size_t x, size_t y,
                                      const void *src, size_t pitch,
                                      size_t width, size_t height,
                                      mcMemcpyKind kind)
{
    Rows rows = {src, pitch, width, height};

    TRACE_ROWS(dst, x, y, src, pitch, width, height, kind, NULL);
    API_ARRAY(array, dst);
    API_RETURN(rows_to_array(array, x, y, &rows, kind, NULL, true));
}

MC_EXPORT mcError_t mcMemcpy2DToArrayAsync(mcArray_t dst, size_t x, size_t y,
                                           const void *src, size_t pitch,
                                           size_t width, size_t height,
                                           mcMemcpyKind kind, mcStream_t stream)
{
    Rows rows = {src, pitch, width, height};

    TRACE_ROWS(dst, x, y, src, pitch, width, height, kind, stream);
    API_ARRAY(array, dst);
    API_RETURN(rows_to_array(array, x, y, &rows, kind, stream, false));
}

MC_EXPORT mcError_t mcMemcpy2DFromArray(void *dst, size_t pitch,
                                        mcArray_const_t src, size_t x, size_t y,
                                        size_t width, size_t height,
                                        mcMemcpyKind kind)
{
    Rows rows = {dst, pitch, width, height};

    TRACE_ROWS(src, x, y, dst, pitch, width, height, kind, NULL);
    API_ARRAY(array, src);
    API_RETURN(array_to_rows(&rows, array, x, y, kind, NULL, true));
}

MC_EXPORT mcError_t mcMemcpy2DFromArrayAsync(void *dst, size_t pitch,
                                             mcArray_const_t src, size_t x,
                                             size_t y, size_t width,
                                             size_t height, mcMemcpyKind kind,
                                             mcStream_t stream)
{
    Rows rows = {dst, pitch, width, height};

    TRACE_ROWS(src, x, y, dst, pitch, width, height, kind, stream);
    API_ARRAY(array, src);
    API_RETURN(array_to_rows(&rows, array, x, y, kind, stream, false));
}

MC_EXPORT mcError_t mcMemcpy2DArrayToArray(mcArray_t dst, size_t dst_x,
                                           size_t dst_y, mcArray_const_t src,
                                           size_t src_x, size_t src_y,
                                           size_t width, size_t height,
                                           mcMemcpyKind kind)
{
    McSide to_side, from_side;

    API_ENTER("%p, %zu, %zu, %p, %zu, %zu, %zu, %zu, %d", (void *)dst, dst_x,
              dst_y, (const void *)src, src_x, src_y, width, height, (int)kind);
    API_ARRAY(to, dst);
    API_ARRAY(from, src);
    API_TRY(array_rows(to, dst_x, dst_y, width, height, &to_side));
    API_TRY(array_rows(from, src_x, src_y, width, height, &from_side));
    API_RETURN(copy_rows(&to_side, &from_side, width, height, kind, NULL,
                         true));
}

/* ---- bytes, row behind row ---- */

static mcError_t copy_line(McRun dst, McRun src, size_t count,
                           mcMemcpyKind kind, mcStream_t handle, bool sync)
{
    McStream *stream __attribute__((cleanup(mc_api_put_stream))) = NULL;
    mcError_t error = mc_api_stream(handle, &stream);

    return error != mcSuccess
               ? error
               : mc_copy_line(stream, dst, src, count, kind, sync);
}

static mcError_t line_to_array(const McArray *array, size_t x, size_t y,
                               const void *src, size_t count, mcMemcpyKind kind,
                               mcStream_t stream, bool sync)
{
    McRun dst, from = {NULL, (uintptr_t)src};

    if ((unsigned)kind > mcMemcpyDefault) {
        return mcErrorInvalidMemcpyDirection;
    }
    if (count && !src) {
        return mcErrorInvalidValue;
    }
    mcError_t error = mc_array_line(array, x, y, count, &dst);
    return error != mcSuccess
               ? error
               : copy_line(dst, from, count, kind, stream, sync);
}

static mcError_t array_to_line(void *dst, const McArray *array, size_t x,
                               size_t y, size_t count, mcMemcpyKind kind,
                               mcStream_t stream, bool sync)
{
    McRun src, to = {NULL, (uintptr_t)dst};

    if ((unsigned)kind > mcMemcpyDefault) {
        return mcErrorInvalidMemcpyDirection;
    }
    if (count && !dst) {
        return mcErrorInvalidValue;
    }
    mcError_t error = mc_array_line(array, x, y, count, &src);
    return error != mcSuccess
               ? error
               : copy_line(to, src, count, kind, stream, sync);
}

#define TRACE_LINE(array, x, y, ptr, count, kind, stream)                      \
    API_ENTER("%p, %zu, %zu, %p, %zu, %d, %p", (const void *)(array), x, y,    \
              ptr, count, (int)(kind), (void *)(stream))

MC_EXPORT mcError_t mcMemcpyToArray(mcArray_t dst, size_t x, size_t y,
                                    const void *src, size_t count,
                                    mcMemcpyKind kind)
{
    TRACE_LINE(dst, x, y, src, count, kind, NULL);
    API_ARRAY(array, dst);
    API_RETURN(line_to_array(array, x, y, src, count, kind, NULL, true));
}

MC_EXPORT mcError_t mcMemcpyToArrayAsync(mcArray_t dst, size_t x, size_t y,
                                         const void *src, size_t count,
                                         mcMemcpyKind kind, mcStream_t stream)
{
    TRACE_LINE(dst, x, y, src, count, kind, stream);
    API_ARRAY(array, dst);
    API_RETURN(line_to_array(array, x, y, src, count, kind, stream, false));
}

MC_EXPORT mcError_t mcMemcpyFromArray(void *dst, mcArray_const_t src, size_t x,
                                      size_t y, size_t count, mcMemcpyKind kind)
{
    TRACE_LINE(src, x, y, dst, count, kind, NULL);
    API_ARRAY(array, src);
    API_RETURN(array_to_line(dst, array, x, y, count, kind, NULL, true));
}

MC_EXPORT mcError_t mcMemcpyFromArrayAsync(void *dst, mcArray_const_t src,
                                           size_t x, size_t y, size_t count,
                                           mcMemcpyKind kind, mcStream_t stream)
{
    TRACE_LINE(src, x, y, dst, count, kind, stream);
    API_ARRAY(array, src);
    API_RETURN(array_to_line(dst, array, x, y, count, kind, stream, false));
}

MC_EXPORT mcError_t mcMemcpyArrayToArray(mcArray_t dst, size_t dst_x,
                                         size_t dst_y, mcArray_const_t src,
                                         size_t src_x, size_t src_y,
                                         size_t count, mcMemcpyKind kind)
{
    McRun to_line, from_line;

    API_ENTER("%p, %zu, %zu, %p, %zu, %zu, %zu, %d", (void *)dst, dst_x, dst_y,
              (const void *)src, src_x, src_y, count, (int)kind);
    API_CHECK((unsigned)kind <= mcMemcpyDefault,
              mcErrorInvalidMemcpyDirection);
    API_ARRAY(to, dst);
    API_ARRAY(from, src);
    API_TRY(mc_array_line(to, dst_x, dst_y, count, &to_line));
    API_TRY(mc_array_line(from, src_x, src_y, count, &from_line));
    API_RETURN(copy_line(to_line, from_line, count, kind, NULL, true));
}

/* ---- arrays of one row ---- */

#define API_ROW(array, handle)                                                 \
    API_ARRAY(array, handle);                                                  \
    API_CHECK(array->rows == 1, mcErrorInvalidValue)

MC_EXPORT mcError_t mcMemcpyHtoA(mcArray_t dst, size_t offset, const void *src,
                                 size_t count)
{
    TRACE_LINE(dst, offset, (size_t)0, src, count, mcMemcpyHostToDevice, NULL);
    API_ROW(array, dst);
    API_RETURN(line_to_array(array, offset, 0, src, count, mcMemcpyHostToDevice,
                             NULL, true));
}

MC_EXPORT mcError_t mcMemcpyHtoAAsync(mcArray_t dst, size_t offset,
                                      const void *src, size_t count,
                                      mcStream_t stream)
{
    TRACE_LINE(dst, offset, (size_t)0, src, count, mcMemcpyHostToDevice,
               stream);
    API_ROW(array, dst);
    API_RETURN(line_to_array(array, offset, 0, src, count, mcMemcpyHostToDevice,
                             stream, false));
}

MC_EXPORT mcError_t mcMemcpyAtoH(void *dst, mcArray_t src, size_t offset,
                                 size_t count)
{
    TRACE_LINE(src, offset, (size_t)0, dst, count, mcMemcpyDeviceToHost, NULL);
    API_ROW(array, src);
    API_RETURN(array_to_line(dst, array, offset, 0, count, mcMemcpyDeviceToHost,
                             NULL, true));
}

MC_EXPORT mcError_t mcMemcpyAtoHAsync(void *dst, mcArray_t src, size_t offset,
                                      size_t count, mcStream_t stream)
{
    TRACE_LINE(src, offset, (size_t)0, dst, count, mcMemcpyDeviceToHost,
               stream);
    API_ROW(array, src);
    API_RETURN(array_to_line(dst, array, offset, 0, count, mcMemcpyDeviceToHost,
                             stream, false));
}

MC_EXPORT mcError_t mcMemcpyDtoA(mcArray_t dst, size_t offset,
                                 mcDeviceptr_t src, size_t count)
{
    TRACE_LINE(dst, offset, (size_t)0, src, count, mcMemcpyDeviceToDevice,
               NULL);
    API_ROW(array, dst);
    API_RETURN(line_to_array(array, offset, 0, src, count,
                             mcMemcpyDeviceToDevice, NULL, true));
}

MC_EXPORT mcError_t mcMemcpyAtoD(mcDeviceptr_t dst, mcArray_t src,
                                 size_t offset, size_t count)
{
    TRACE_LINE(src, offset, (size_t)0, dst, count, mcMemcpyDeviceToDevice,
               NULL);
    API_ROW(array, src);
    API_RETURN(array_to_line(dst, array, offset, 0, count,
                             mcMemcpyDeviceToDevice, NULL, true));
}

MC_EXPORT mcError_t mcMemcpyAtoA(mcArray_t dst, size_t dst_offset,
                                 mcArray_t src, size_t src_offset, size_t count)
{
    McRun to_line, from_line;

    API_ENTER("%p, %zu, %p, %zu, %zu", (void *)dst, dst_offset, (void *)src,
              src_offset, count);
    API_ROW(to, dst);
    API_ROW(from, src);
    API_TRY(mc_array_line(to, dst_offset, 0, count, &to_line));
    API_TRY(mc_array_line(from, src_offset, 0, count, &from_line));
    API_RETURN(copy_line(to_line, from_line, count, mcMemcpyDeviceToDevice,
                         NULL, true));
}

/* ---- rows by a structure ---- */

/* One side of it; the array that it names is held. */
typedef struct Param {
    mcMemoryType type;
    void *host;
    mcDeviceptr_t device;
    mcArray_t array;
    size_t x, y, pitch;
    McArray *held;
} Param;

static void put_param(Param *p)
{
    mc_api_put_object(&p->held);
}

static mcError_t memory_side(const Param *p, void *base, size_t width,
                             size_t height, McSide *side)
{
    size_t reach, row, at;

    if (__builtin_add_overflow(p->x, width, &reach) || reach > p->pitch ||
        p->pitch > MC_MAX_PITCH) {
        return mcErrorInvalidPitchValue;
    }
    if (__builtin_add_overflow(p->y, height, &row) ||
        __builtin_mul_overflow(row, p->pitch, &at) ||
        __builtin_mul_overflow(p->y, p->pitch, &at) ||
        __builtin_add_overflow(at, p->x, &at) ||
        __builtin_add_overflow(at, (uintptr_t)base, &at) ||
        (width && height && !base)) {
        return mcErrorInvalidValue;
    }
    *side = (McSide){(void *)at, p->pitch, 0};
    return mcSuccess;
}

static mcError_t param_side(Param *p, size_t width, size_t height, McSide *side)
{
    switch ((int)p->type) {
    case mcMemoryTypeHost:
        return memory_side(p, p->host, width, height, side);
    case mcMemoryTypeDevice:
    case mcMemoryTypeManaged:
        return memory_side(p, p->device, width, height, side);
    case mcMemoryTypeArray:
        p->held = p->array ? mc_handle_get(p->array, MC_HANDLE_ARRAY) : NULL;
        return p->held ? array_rows(p->held, p->x, p->y, width, height, side)
                       : mcErrorInvalidResourceHandle;
    default:
        return mcErrorInvalidValue;
    }
}

static mcError_t copy_param(const mc_Memcpy2D *copy, mcStream_t stream,
                            bool sync)
{
    McSide dst_side, src_side;

    if (!copy) {
        return mcErrorInvalidValue;
    }
    mc_Memcpy2D c = *copy; /* the caller may change its own */
    Param dst __attribute__((cleanup(put_param))) = {
        c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray,
        c.dstXInBytes, c.dstY, c.dstPitch, NULL,
    };
    Param src __attribute__((cleanup(put_param))) = {
        c.srcMemoryType, (void *)(uintptr_t)c.srcHost, c.srcDevice, c.srcArray,
        c.srcXInBytes, c.srcY, c.srcPitch, NULL,
    };
    mcError_t error = param_side(&dst, c.WidthInBytes, c.Height, &dst_side);
    if (error == mcSuccess) {
        error = param_side(&src, c.WidthInBytes, c.Height, &src_side);
    }
    return error != mcSuccess
               ? error
               : copy_rows(&dst_side, &src_side, c.WidthInBytes, c.Height,
                           mc_api_kind_of(dst.type, src.type), stream, sync);
}

MC_EXPORT mcError_t mcMemcpyParam2D(const mc_Memcpy2D *copy)
{
    API_ENTER("%p", (const void *)copy);
    API_RETURN(copy_param(copy, NULL, true));
}

MC_EXPORT mcError_t mcMemcpyParam2DAsync(const mc_Memcpy2D *copy,
                                         mcStream_t stream)
{
    API_ENTER("%p, %p", (const void *)copy, (void *)stream);
    API_RETURN(copy_param(copy, stream, false));
}

MC_EXPORT mcError_t mcMemcpy2DUnaligned(const mc_Memcpy2D *copy)
{
    API_ENTER("%p", (const void *)copy);
    API_RETURN(copy_param(copy, NULL, true));
}
