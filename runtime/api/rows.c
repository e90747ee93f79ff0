/* SPDX-License-Identifier: MIT */
/* Copies and fills of rows that are a pitch apart: one operation a row. */
#include "api.h"
#include "core/copy.h"

static mcError_t copy_rows(void *dst, size_t dpitch, const void *src,
                           size_t spitch, size_t width, size_t height,
                           mcMemcpyKind kind, mcStream_t handle, bool sync)
{
    McStream *stream __attribute__((cleanup(mc_api_put_stream))) = NULL;
    size_t reach;

    if ((unsigned)kind > mcMemcpyDefault) {
        return mcErrorInvalidMemcpyDirection;
    }
    if (width > dpitch || width > spitch || dpitch > MC_MAX_PITCH ||
        spitch > MC_MAX_PITCH) {
        return mcErrorInvalidPitchValue;
    }
    if (__builtin_mul_overflow(dpitch > spitch ? dpitch : spitch, height,
                               &reach) ||
        (width && height && (!dst || !src))) {
        return mcErrorInvalidValue;
    }
    mcError_t error = mc_api_stream(handle, &stream);
    if (dpitch == width && spitch == width) {
        width *= height;
        height = height ? 1 : 0;
    }
    for (size_t row = 0; row < height && error == mcSuccess; row++) {
        error = mc_copy(stream, (uint8_t *)dst + row * dpitch,
                        (const uint8_t *)src + row * spitch, width, kind,
                        sync && row == height - 1);
    }
    return error;
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
    McStream *stream __attribute__((cleanup(mc_api_put_stream))) = NULL;
    size_t bytes, reach;

    if (__builtin_mul_overflow(width, element, &bytes)) {
        return mcErrorInvalidValue;
    }
    if (bytes > pitch || pitch > MC_MAX_PITCH) {
        return mcErrorInvalidPitchValue;
    }
    if (__builtin_mul_overflow(pitch, height, &reach) ||
        (bytes && height && !dst)) {
        return mcErrorInvalidValue;
    }
    mcError_t error = mc_api_stream(handle, &stream);
    for (size_t row = 0; row < height && bytes && error == mcSuccess; row++) {
        error = mc_fill(stream, (uint8_t *)dst + row * pitch, value, element,
                        bytes, sync && row == height - 1);
    }
    return error;
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
