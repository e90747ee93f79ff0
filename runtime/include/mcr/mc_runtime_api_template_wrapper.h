/* SPDX-License-Identifier: MIT */
#ifndef MCR_MC_RUNTIME_API_TEMPLATE_WRAPPER_H
#define MCR_MC_RUNTIME_API_TEMPLATE_WRAPPER_H

#include "mc_runtime_api.h"
#include "mc_vector_types.h"

/* Of calls whose caller is remembered (MXGPU_CHECK), whatever is optimised. */
#define MC_IN_CALLER static inline __attribute__((always_inline))

/*
 * Typed forms. A kernel or a device variable is named by itself; the entry
 * points above take the address of its host symbol.
 */
template <class T>
MC_IN_CALLER mcError_t mcMalloc(T **ptr, size_t size)
{
    return mcMalloc((void **)ptr, size);
}

template <class T>
MC_IN_CALLER mcError_t mcMallocHost(T **ptr, size_t size,
                                     unsigned int flags = mcMallocHostDefault)
{
    return mcMallocHost((void **)ptr, size, flags);
}

template <class T>
static inline mcError_t mcMallocManaged(T **ptr, size_t size,
                                        unsigned int flags = mcMemAttachGlobal)
{
    return mcMallocManaged((void **)ptr, size, flags);
}

template <class T>
MC_IN_CALLER mcError_t mcMallocPitch(T **ptr, size_t *pitch, size_t width,
                                      size_t height)
{
    return mcMallocPitch((void **)ptr, pitch, width, height);
}

template <class T>
MC_IN_CALLER mcError_t mcMallocAsync(T **ptr, size_t size, mcStream_t stream)
{
    return mcMallocAsync((void **)ptr, size, stream);
}

template <class T>
MC_IN_CALLER mcError_t mcMallocFromPoolAsync(T **ptr, size_t size,
                                             mcMemPool_t pool,
                                             mcStream_t stream)
{
    return mcMallocFromPoolAsync((void **)ptr, size, pool, stream);
}

/* mcMallocFromPoolAsync. */
template <class T>
MC_IN_CALLER mcError_t mcMallocAsync(T **ptr, size_t size, mcMemPool_t pool,
                                     mcStream_t stream)
{
    return mcMallocFromPoolAsync((void **)ptr, size, pool, stream);
}

template <class T>
MC_IN_CALLER mcError_t mcExtMallocWithFlags(T **ptr, size_t size,
                                             unsigned int flags)
{
    return mcExtMallocWithFlags((void **)ptr, size, flags);
}

template <class T>
static inline mcError_t mcHostGetDevicePointer(T **ptr, void *hostPtr,
                                               unsigned int flags = 0)
{
    return mcHostGetDevicePointer((void **)ptr, hostPtr, flags);
}

template <class T>
MC_IN_CALLER mcError_t mcHostAlloc(T **ptr, size_t size, unsigned int flags)
{
    return mcHostAlloc((void **)ptr, size, flags);
}

template <class T>
MC_IN_CALLER mcError_t mcHostMalloc(T **ptr, size_t size,
                                     unsigned int flags = mcMallocHostDefault)
{
    return mcHostMalloc((void **)ptr, size, flags);
}

template <class T>
static inline mcError_t mcStreamAttachMemAsync(
    mcStream_t stream, T *devPtr, size_t length = 0,
    unsigned int flags = mcMemAttachSingle)
{
    return mcStreamAttachMemAsync(stream, (void *)devPtr, length, flags);
}

/* mcEventCreateWithFlags. */
static inline mcError_t mcEventCreate(mcEvent_t *event, unsigned int flags)
{
    return mcEventCreateWithFlags(event, flags);
}

template <class R, class... Args>
static inline mcError_t mcLaunchKernel(R (*kernel)(Args...), dim3 gridDim,
                                       dim3 blockDim, void **args,
                                       size_t sharedMem = 0,
                                       mcStream_t stream = 0)
{
    return mcLaunchKernel(reinterpret_cast<const void *>(kernel), gridDim,
                          blockDim, args, sharedMem, stream);
}

/* mcLaunchKernelExC with arguments as of a call. */
template <class... Params, class... Args>
static inline mcError_t mcLaunchKernelEx(const mcLaunchConfig_t *config,
                                         void (*kernel)(Params...),
                                         Args &&...args)
{
    auto launch = [config, kernel](Params... values) {
        void *pointers[] = {(void *)&values..., nullptr};

        return mcLaunchKernelExC(config, (const void *)kernel, pointers);
    };
    return launch(static_cast<Args &&>(args)...);
}

template <class R, class... Args>
static inline mcError_t mcFuncGetAttributes(mcFuncAttributes *attr,
                                            R (*kernel)(Args...))
{
    return mcFuncGetAttributes(attr, reinterpret_cast<const void *>(kernel));
}

template <class R, class... Args>
static inline mcError_t mcFuncSetAttribute(R (*kernel)(Args...),
                                           mcFuncAttribute attr, int value)
{
    return mcFuncSetAttribute(reinterpret_cast<const void *>(kernel), attr,
                              value);
}

template <class R, class... Args>
static inline mcError_t mcFuncSetCacheConfig(R (*kernel)(Args...),
                                             mcFuncCache_t config)
{
    return mcFuncSetCacheConfig(reinterpret_cast<const void *>(kernel),
                                config);
}

template <class R, class... Args>
static inline mcError_t mcFuncSetSharedMemConfig(R (*kernel)(Args...),
                                                 mcSharedMemConfig config)
{
    return mcFuncSetSharedMemConfig(reinterpret_cast<const void *>(kernel),
                                    config);
}

template <class R, class... Args>
static inline mcError_t mcGetFuncBySymbol(mcFunction_t *function,
                                          R (*kernel)(Args...))
{
    return mcGetFuncBySymbol(function, reinterpret_cast<const void *>(kernel));
}

template <class R, class... Args>
static inline mcError_t mcLaunchCooperativeKernel(
    R (*kernel)(Args...), dim3 gridDim, dim3 blockDim, void **kernelParams,
    unsigned int sharedMemBytes = 0, mcStream_t stream = 0)
{
    return mcLaunchCooperativeKernel(reinterpret_cast<const void *>(kernel),
                                     gridDim, blockDim, kernelParams,
                                     sharedMemBytes, stream);
}

template <class R, class... Args>
static inline mcError_t mcOccupancyMaxActiveBlocksPerMultiprocessor(
    int *numBlocks, R (*kernel)(Args...), int blockSize, size_t dynamicShared)
{
    return mcOccupancyMaxActiveBlocksPerMultiprocessor(
        numBlocks, reinterpret_cast<const void *>(kernel), blockSize,
        dynamicShared);
}

template <class R, class... Args>
static inline mcError_t mcOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, R (*kernel)(Args...), int blockSize, size_t dynamicShared,
    unsigned int flags)
{
    return mcOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, reinterpret_cast<const void *>(kernel), blockSize,
        dynamicShared, flags);
}

template <class R, class... Args>
static inline mcError_t mcOccupancyAvailableDynamicSMemPerBlock(
    size_t *dynamicShared, R (*kernel)(Args...), int numBlocks, int blockSize)
{
    return mcOccupancyAvailableDynamicSMemPerBlock(
        dynamicShared, reinterpret_cast<const void *>(kernel), numBlocks,
        blockSize);
}

template <class R, class... Args>
static inline mcError_t mcOccupancyMaxPotentialBlockSize(
    int *gridSize, int *blockSize, R (*kernel)(Args...),
    size_t dynamicShared = 0, int blockSizeLimit = 0)
{
    return mcOccupancyMaxPotentialBlockSize(
        gridSize, blockSize, reinterpret_cast<const void *>(kernel),
        dynamicShared, blockSizeLimit);
}

/* The kernel as an address of any type. */
static inline mcError_t mcOccupancyMaxPotentialBlockSize(
    int *gridSize, int *blockSize, const void *kernel, size_t dynamicShared = 0)
{
    return mcOccupancyMaxPotentialBlockSize(gridSize, blockSize, kernel,
                                            dynamicShared, 0);
}

template <class R, class... Args>
static inline mcError_t mcOccupancyMaxPotentialBlockSizeWithFlags(
    int *gridSize, int *blockSize, R (*kernel)(Args...),
    size_t dynamicShared = 0, int blockSizeLimit = 0, unsigned int flags = 0)
{
    return mcOccupancyMaxPotentialBlockSizeWithFlags(
        gridSize, blockSize, reinterpret_cast<const void *>(kernel),
        dynamicShared, blockSizeLimit, flags);
}

/*
 * The block size with the best occupancy, where the dynamic shared memory
 * depends on it: sharedOf(blockSize) gives bytes. For a kernel or the address
 * of its host symbol; blockSizeLimit 0: none. mcErrorInvalidValue when no block
 * of it fits.
 */
template <class F, class Kernel>
static inline mcError_t mcOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int *gridSize, int *blockSize, Kernel kernel, F sharedOf,
    int blockSizeLimit = 0, unsigned int flags = 0)
{
    int device = 0, units = 0, warp = 0, most, best = 0;
    mcFuncAttributes attributes;

    if (!gridSize || !blockSize || blockSizeLimit < 0) {
        return mcErrorInvalidValue;
    }
    mcError_t error = mcFuncGetAttributes(&attributes, kernel);
    if (error == mcSuccess) {
        error = mcGetDevice(&device);
    }
    if (error == mcSuccess) {
        error = mcDeviceGetAttribute(
            &units, mcDeviceAttributeMultiProcessorCount, device);
    }
    if (error == mcSuccess) {
        error = mcDeviceGetAttribute(&warp, mcDeviceAttributeWarpSize, device);
    }
    if (error != mcSuccess) {
        return error;
    }
    most = attributes.maxThreadsPerBlock;
    if (blockSizeLimit && blockSizeLimit < most) {
        most = blockSizeLimit;
    }
    /* From the largest down in whole warps; equals keep the larger block. */
    for (int threads = most < warp ? most : most / warp * warp;
         error == mcSuccess && threads > 0; threads -= warp) {
        int blocks;

        error = mcOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            &blocks, kernel, threads, sharedOf(threads), flags);
        if (error == mcSuccess && blocks * threads > best) {
            best = blocks * threads;
            *blockSize = threads;
            *gridSize = blocks * units;
        }
    }
    return error == mcSuccess && !best ? mcErrorInvalidValue : error;
}

template <class F, class Kernel>
static inline mcError_t mcOccupancyMaxPotentialBlockSizeVariableSMem(
    int *gridSize, int *blockSize, Kernel kernel, F sharedOf,
    int blockSizeLimit = 0)
{
    return mcOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
        gridSize, blockSize, kernel, sharedOf, blockSizeLimit);
}

template <class T>
static inline mcError_t mcGetSymbolAddress(void **devPtr, const T &symbol)
{
    return mcGetSymbolAddress(devPtr, (const void *)&symbol);
}

template <class T>
static inline mcError_t mcGetSymbolSize(size_t *size, const T &symbol)
{
    return mcGetSymbolSize(size, (const void *)&symbol);
}

template <class T>
static inline mcError_t mcMemcpyToSymbol(const T &symbol, const void *src,
                                         size_t size, size_t offset = 0,
                                         mcMemcpyKind kind = mcMemcpyDefault)
{
    return mcMemcpyToSymbol((const void *)&symbol, src, size, offset, kind);
}

template <class T>
static inline mcError_t mcMemcpyToSymbolAsync(
    const T &symbol, const void *src, size_t size, size_t offset = 0,
    mcMemcpyKind kind = mcMemcpyDefault, mcStream_t stream = 0)
{
    return mcMemcpyToSymbolAsync((const void *)&symbol, src, size, offset,
                                 kind, stream);
}

template <class T>
static inline mcError_t mcMemcpyFromSymbol(void *dst, const T &symbol,
                                           size_t size, size_t offset = 0,
                                           mcMemcpyKind kind = mcMemcpyDefault)
{
    return mcMemcpyFromSymbol(dst, (const void *)&symbol, size, offset, kind);
}

template <class T>
static inline mcError_t mcMemcpyFromSymbolAsync(
    void *dst, const T &symbol, size_t size, size_t offset = 0,
    mcMemcpyKind kind = mcMemcpyDefault, mcStream_t stream = 0)
{
    return mcMemcpyFromSymbolAsync(dst, (const void *)&symbol, size, offset,
                                   kind, stream);
}

/* ---- elements of arrays ---- */

/* What a type, or vector of 1, 2 or 4 of it, is as an element; only those that
 * an array may have are defined. */
template <class T> mcChannelFormatDesc mcCreateChannelDesc();

#define MC_CHANNELS(type, bits, y, z, w, kind)                                 \
    template <>                                                                \
    inline mcChannelFormatDesc mcCreateChannelDesc<type>()                     \
    {                                                                          \
        return mcCreateChannelDesc(bits, y, z, w, mcChannelFormatKind##kind);  \
    }
#define MC_CHANNELS_OF(type, vector, bits, kind)                               \
    MC_CHANNELS(type, bits, 0, 0, 0, kind)                                     \
    MC_CHANNELS(vector##1, bits, 0, 0, 0, kind)                                \
    MC_CHANNELS(vector##2, bits, bits, 0, 0, kind)                             \
    MC_CHANNELS(vector##4, bits, bits, bits, bits, kind)

MC_CHANNELS(char, 8, 0, 0, 0, Signed)
MC_CHANNELS_OF(signed char, char, 8, Signed)
MC_CHANNELS_OF(unsigned char, uchar, 8, Unsigned)
MC_CHANNELS_OF(short, short, 16, Signed)
MC_CHANNELS_OF(unsigned short, ushort, 16, Unsigned)
MC_CHANNELS_OF(int, int, 32, Signed)
MC_CHANNELS_OF(unsigned int, uint, 32, Unsigned)
MC_CHANNELS_OF(float, float, 32, Float)

#undef MC_CHANNELS_OF
#undef MC_CHANNELS

/* Halves, by name: one, two and four channels. */
inline mcChannelFormatDesc mcCreateChannelDescHalf()
{
    return mcCreateChannelDesc(16, 0, 0, 0, mcChannelFormatKindFloat);
}

inline mcChannelFormatDesc mcCreateChannelDescHalf1()
{
    return mcCreateChannelDescHalf();
}

inline mcChannelFormatDesc mcCreateChannelDescHalf2()
{
    return mcCreateChannelDesc(16, 16, 0, 0, mcChannelFormatKindFloat);
}

inline mcChannelFormatDesc mcCreateChannelDescHalf4()
{
    return mcCreateChannelDesc(16, 16, 16, 16, mcChannelFormatKindFloat);
}

/* ---- nodes of graphs that copy to and from device variables ---- */

template <class T>
static inline mcError_t mcGraphAddMemcpyNodeToSymbol(
    mcGraphNode_t *node, mcGraph_t graph, const mcGraphNode_t *dependencies,
    size_t numDependencies, const T &symbol, const void *src, size_t count,
    size_t offset, mcMemcpyKind kind)
{
    return mcGraphAddMemcpyNodeToSymbol(node, graph, dependencies,
                                        numDependencies,
                                        (const void *)&symbol, src, count,
                                        offset, kind);
}

template <class T>
static inline mcError_t mcGraphAddMemcpyNodeFromSymbol(
    mcGraphNode_t *node, mcGraph_t graph, const mcGraphNode_t *dependencies,
    size_t numDependencies, void *dst, const T &symbol, size_t count,
    size_t offset, mcMemcpyKind kind)
{
    return mcGraphAddMemcpyNodeFromSymbol(node, graph, dependencies,
                                          numDependencies, dst,
                                          (const void *)&symbol, count, offset,
                                          kind);
}

template <class T>
static inline mcError_t mcGraphMemcpyNodeSetParamsToSymbol(
    mcGraphNode_t node, const T &symbol, const void *src, size_t count,
    size_t offset, mcMemcpyKind kind)
{
    return mcGraphMemcpyNodeSetParamsToSymbol(node, (const void *)&symbol, src,
                                              count, offset, kind);
}

template <class T>
static inline mcError_t mcGraphMemcpyNodeSetParamsFromSymbol(
    mcGraphNode_t node, void *dst, const T &symbol, size_t count,
    size_t offset, mcMemcpyKind kind)
{
    return mcGraphMemcpyNodeSetParamsFromSymbol(
        node, dst, (const void *)&symbol, count, offset, kind);
}

template <class T>
static inline mcError_t mcGraphExecMemcpyNodeSetParamsToSymbol(
    mcGraphExec_t exec, mcGraphNode_t node, const T &symbol, const void *src,
    size_t count, size_t offset, mcMemcpyKind kind)
{
    return mcGraphExecMemcpyNodeSetParamsToSymbol(
        exec, node, (const void *)&symbol, src, count, offset, kind);
}

template <class T>
static inline mcError_t mcGraphExecMemcpyNodeSetParamsFromSymbol(
    mcGraphExec_t exec, mcGraphNode_t node, void *dst, const T &symbol,
    size_t count, size_t offset, mcMemcpyKind kind)
{
    return mcGraphExecMemcpyNodeSetParamsFromSymbol(
        exec, node, dst, (const void *)&symbol, count, offset, kind);
}

#undef MC_IN_CALLER

#endif
