/* SPDX-License-Identifier: MIT */
#include "core/copy/copy.h"

#include "api/api.h"
#include "core/program/program.h"

/* ---- linear copies ---- */

static mcError_t copy(void *dst, const void *src, size_t size,
                      mcMemcpyKind kind, mcStream_t handle, bool sync)
{
    McStream *stream __attribute__((cleanup(mc_api_put_stream))) = NULL;

    if ((unsigned)kind > mcMemcpyDefault) {
        return mcErrorInvalidMemcpyDirection;
    }
    if (size && (!dst || !src)) {
        return mcErrorInvalidValue;
    }
    mcError_t error = mc_api_stream(handle, &stream);
    if (error == mcSuccess && sync) {
        error = mc_capture_unsafe();
    }
    return error != mcSuccess ? error
                              : mc_copy(stream, dst, src, size, kind, sync);
}

#define TRACE_COPY(dst, src, size, kind, stream)                               \
    API_ENTER("%p, %p, %zu, %d, %p", dst, src, size, (int)(kind),              \
              (void *)(stream))

MC_EXPORT mcError_t mcMemcpy(void *dst, const void *src, size_t size,
                             mcMemcpyKind kind)
{
    TRACE_COPY(dst, src, size, kind, NULL);
    API_RETURN(copy(dst, src, size, kind, NULL, true));
}

MC_EXPORT mcError_t mcMemcpyAsync(void *dst, const void *src, size_t size,
                                  mcMemcpyKind kind, mcStream_t stream)
{
    TRACE_COPY(dst, src, size, kind, stream);
    API_RETURN(copy(dst, src, size, kind, stream, false));
}

MC_EXPORT mcError_t mcMemcpyWithStream(void *dst, const void *src, size_t size,
                                       mcMemcpyKind kind, mcStream_t handle)
{
    TRACE_COPY(dst, src, size, kind, handle);
    API_TRY(copy(dst, src, size, kind, handle, true));
    API_STREAM(stream, handle);
    API_RETURN(mc_stream_sync(stream));
}

#define DIRECTION(name, dst_type, src_type, kind)                              \
    MC_EXPORT mcError_t mcMemcpy##name(dst_type dst, src_type src,             \
                                       size_t size)                            \
    {                                                                          \
        TRACE_COPY(dst, src, size, kind, NULL);                                \
        API_RETURN(copy(dst, src, size, kind, NULL, true));                    \
    }                                                                          \
    MC_EXPORT mcError_t mcMemcpy##name##Async(                                 \
        dst_type dst, src_type src, size_t size, mcStream_t stream)            \
    {                                                                          \
        TRACE_COPY(dst, src, size, kind, stream);                              \
        API_RETURN(copy(dst, src, size, kind, stream, false));                 \
    }

DIRECTION(DtoD, mcDeviceptr_t, mcDeviceptr_t, mcMemcpyDeviceToDevice)
DIRECTION(DtoH, void *, mcDeviceptr_t, mcMemcpyDeviceToHost)
DIRECTION(HtoD, mcDeviceptr_t, const void *, mcMemcpyHostToDevice)

MC_EXPORT mcError_t mcMemcpyPeer(void *dst, int dstDevice, const void *src,
                                 int srcDevice, size_t size)
{
    TRACE_COPY(dst, src, size, mcMemcpyDeviceToDevice, NULL);
    API_CHECK(mc_api_is_device(dstDevice) && mc_api_is_device(srcDevice),
              mcErrorInvalidDevice);
    API_RETURN(copy(dst, src, size, mcMemcpyDeviceToDevice, NULL, true));
}

MC_EXPORT mcError_t mcMemcpyPeerAsync(void *dst, int dstDevice,
                                      const void *src, int srcDevice,
                                      size_t size, mcStream_t stream)
{
    TRACE_COPY(dst, src, size, mcMemcpyDeviceToDevice, stream);
    API_CHECK(mc_api_is_device(dstDevice) && mc_api_is_device(srcDevice),
              mcErrorInvalidDevice);
    API_RETURN(copy(dst, src, size, mcMemcpyDeviceToDevice, stream, false));
}

/* ---- device variables ---- */

/* Address of size bytes at offset in the variable, on the current device. */
static mcError_t symbol_range(const void *symbol, size_t size, size_t offset,
                              void **address)
{
    uint64_t base, room;

    if (!symbol) {
        return mcErrorInvalidSymbol;
    }
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    mcError_t error = mc_api_context(&ctx);
    if (error == mcSuccess) {
        error = mc_symbol_variable(ctx, symbol, &base, &room);
    }
    if (error != mcSuccess) {
        return error;
    }
    if (offset > room || size > room - offset) {
        return mcErrorInvalidValue;
    }
    *address = (void *)(uintptr_t)(base + offset);
    return mcSuccess;
}

MC_EXPORT mcError_t mcGetSymbolAddress(void **address, const void *symbol)
{
    API_ENTER("%p, %p", (void *)address, symbol);
    API_CHECK(address, mcErrorInvalidValue);
    API_RETURN(symbol_range(symbol, 0, 0, address));
}

MC_EXPORT mcError_t mcGetSymbolSize(size_t *size, const void *symbol)
{
    uint64_t address, bytes;

    API_ENTER("%p, %p", (void *)size, symbol);
    API_CHECK(size, mcErrorInvalidValue);
    API_CHECK(symbol, mcErrorInvalidSymbol);
    API_CONTEXT(ctx);
    API_TRY(mc_symbol_variable(ctx, symbol, &address, &bytes));
    *size = bytes;
    API_RETURN(mcSuccess);
}

static mcError_t to_symbol(const void *symbol, const void *src, size_t size,
                           size_t offset, mcMemcpyKind kind, mcStream_t stream,
                           bool sync)
{
    void *address;

    if (kind != mcMemcpyHostToDevice && kind != mcMemcpyDeviceToDevice &&
        kind != mcMemcpyDefault) {
        return mcErrorInvalidMemcpyDirection;
    }
    mcError_t error = symbol_range(symbol, size, offset, &address);
    return error != mcSuccess ? error
                              : copy(address, src, size, kind, stream, sync);
}

static mcError_t from_symbol(void *dst, const void *symbol, size_t size,
                             size_t offset, mcMemcpyKind kind,
                             mcStream_t stream, bool sync)
{
    void *address;

    if (kind != mcMemcpyDeviceToHost && kind != mcMemcpyDeviceToDevice &&
        kind != mcMemcpyDefault) {
        return mcErrorInvalidMemcpyDirection;
    }
    mcError_t error = symbol_range(symbol, size, offset, &address);
    return error != mcSuccess ? error
                              : copy(dst, address, size, kind, stream, sync);
}

MC_EXPORT mcError_t mcMemcpyToSymbol(const void *symbol, const void *src,
                                     size_t size, size_t offset,
                                     mcMemcpyKind kind)
{
    TRACE_COPY(symbol, src, size, kind, NULL);
    API_RETURN(to_symbol(symbol, src, size, offset, kind, NULL, true));
}

MC_EXPORT mcError_t mcMemcpyToSymbolAsync(const void *symbol, const void *src,
                                          size_t size, size_t offset,
                                          mcMemcpyKind kind, mcStream_t stream)
{
    TRACE_COPY(symbol, src, size, kind, stream);
    API_RETURN(to_symbol(symbol, src, size, offset, kind, stream, false));
}

MC_EXPORT mcError_t mcMemcpyFromSymbol(void *dst, const void *symbol,
                                       size_t size, size_t offset,
                                       mcMemcpyKind kind)
{
    TRACE_COPY(dst, symbol, size, kind, NULL);
    API_RETURN(from_symbol(dst, symbol, size, offset, kind, NULL, true));
}

MC_EXPORT mcError_t mcMemcpyFromSymbolAsync(void *dst, const void *symbol,
                                            size_t size, size_t offset,
                                            mcMemcpyKind kind,
                                            mcStream_t stream)
{
    TRACE_COPY(dst, symbol, size, kind, stream);
    API_RETURN(from_symbol(dst, symbol, size, offset, kind, stream, false));
}

/* ---- fills: count elements of 1, 2 or 4 bytes ---- */

static mcError_t fill(void *dst, uint32_t value, unsigned element,
                      size_t count, mcStream_t handle, bool sync)
{
    McStream *stream __attribute__((cleanup(mc_api_put_stream))) = NULL;
    size_t size;

    if (__builtin_mul_overflow(count, element, &size) || (size && !dst)) {
        return mcErrorInvalidValue;
    }
    mcError_t error = mc_api_stream(handle, &stream);
    if (error == mcSuccess && sync) {
        error = mc_capture_unsafe();
    }
    if (error != mcSuccess || size == 0) {
        return error;
    }
    return mc_fill(stream, dst, value, element, size, sync);
}

#define TRACE_FILL(dst, value, count, stream)                                  \
    API_ENTER("%p, 0x%x, %zu, %p", dst, (unsigned)(value), count,              \
              (void *)(stream))

MC_EXPORT mcError_t mcMemset(void *dst, int value, size_t size)
{
    TRACE_FILL(dst, value, size, NULL);
    API_RETURN(fill(dst, (uint8_t)value, 1, size, NULL, true));
}

MC_EXPORT mcError_t mcMemsetAsync(void *dst, int value, size_t size,
                                  mcStream_t stream)
{
    TRACE_FILL(dst, value, size, stream);
    API_RETURN(fill(dst, (uint8_t)value, 1, size, stream, false));
}

#define MEMSET(name, type)                                                     \
    MC_EXPORT mcError_t mcMemset##name(mcDeviceptr_t dst, type value,          \
                                       size_t count)                           \
    {                                                                          \
        TRACE_FILL(dst, value, count, NULL);                                   \
        API_RETURN(fill(dst, value, sizeof(type), count, NULL, true));         \
    }                                                                          \
    MC_EXPORT mcError_t mcMemset##name##Async(                                 \
        mcDeviceptr_t dst, type value, size_t count, mcStream_t stream)        \
    {                                                                          \
        TRACE_FILL(dst, value, count, stream);                                 \
        API_RETURN(fill(dst, value, sizeof(type), count, stream, false));      \
    }

MEMSET(D8, unsigned char)
MEMSET(D16, unsigned short)
MEMSET(D32, unsigned int)
