// SPDX-License-Identifier: MIT
// The typed forms, as C++17.
#include <common/maca_bfloat16.h>
#include <common/maca_fp16.h>
#include <mc_runtime.h>

#include <type_traits>

/* Without including what they are from. */
static_assert(INT_MAX > 0 && sizeof(size_t) == 8);
[[maybe_unused]] static void uses_libc(char *text)
{
    assert(text);
    printf("%zu %ld\n", strlen(text), (long)time(nullptr));
    free(malloc(1));
    new (text) char(std::move('c'));
}

template <class T> static void kernel(T *, int) {}
static float table[16];
static int *pointer_variable;

static_assert(std::is_same_v<decltype(mcGetErrorName(mcSuccess)),
                             const char *>);

static_assert(sizeof(half2) == 4 && std::is_trivial<half>::value &&
              std::is_trivial<maca_bfloat162>::value);

half small(half a, maca_bfloat16 b)
{
    a += half(2);
    return a * 2 > b ? __hfma(a, a, half(0.5)) : __int2half_rn(3);
}

int use()
{
    float *f = nullptr, **pf = &f;
    void *v = nullptr, *args[1] = {&v};
    mcFuncAttributes attributes;
    mcFunction_t function;
    mcEvent_t event;
    size_t size;
    int blocks, threads;
    dim3 grid(1, 2), block{64};
    mcError_t e = mcSuccess;

    e = mcMalloc(pf, 4);
    e = mcMalloc(&f, 4 * sizeof(float));
    e = mcMalloc(&v, 4);
    e = mcMallocAsync(&f, 4, nullptr);
    e = mcMallocAsync(&f, 4, (mcMemPool_t) nullptr, nullptr);
    e = mcMallocFromPoolAsync(&f, 4, (mcMemPool_t) nullptr, nullptr);
    e = mcMallocHost(&f, 4);
    e = mcMallocPitch(&f, &size, 4, 4);
    e = mcMemcpyAsync(f, table, 4, mcMemcpyHostToDevice);
    e = mcMemcpyToSymbol(table, f, 4);
    e = mcMemcpyToSymbol(pointer_variable, f, 8, 0, mcMemcpyHostToDevice);
    e = mcMemcpyToSymbol((const void *)&table, f, 4);
    e = mcMemcpyFromSymbol(f, table, 4);
    e = mcGetSymbolAddress(&v, table);
    e = mcGetSymbolSize(&size, table);
    e = mcLaunchKernel(kernel<float>, grid, block, args);
    e = mcLaunchKernelEx(static_cast<const mcLaunchConfig_t *>(nullptr),
                         kernel<float>, nullptr, 3);
    e = mcLaunchKernel((const void *)kernel<int>, 1, 64, args, 0, nullptr);
    e = mcFuncGetAttributes(&attributes, kernel<int>);
    e = mcGetFuncBySymbol(&function, kernel<int>);
    e = mcOccupancyMaxPotentialBlockSize(&blocks, &threads, kernel<int>);
    e = mcStreamWaitEvent(nullptr, nullptr);
    e = mcEventCreate(&event);
    e = mcEventCreate(&event, mcEventDisableTiming);
    e = mcHostAlloc(&f, 4, mcHostAllocMapped | mcHostAllocPortable);
    e = mcHostMalloc(&f, 4);
    e = mcStreamAttachMemAsync(nullptr, f);
    e = mcFuncSetAttribute(kernel<int>,
                           mcFuncAttributeMaxDynamicSharedMemorySize, 1);
    e = mcFuncSetCacheConfig(kernel<int>, mcFuncCachePreferL1);
    e = mcFuncSetCacheConfig((const void *)kernel<int>, mcFuncCachePreferL1);
    e = mcFuncSetSharedMemConfig(kernel<int>, mcSharedMemBankSizeFourByte);
    e = mcLaunchCooperativeKernel(kernel<int>, grid, block, args);
    e = mcOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel<int>, 64,
                                                    0);
    e = mcOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &blocks, kernel<int>, 64, 0, mcOccupancyDefault);
    e = mcOccupancyAvailableDynamicSMemPerBlock(&size, kernel<int>, 1, 64);
    e = mcOccupancyMaxPotentialBlockSizeWithFlags(&blocks, &threads,
                                                  kernel<int>);
    e = mcOccupancyMaxPotentialBlockSizeVariableSMem(
        &blocks, &threads, kernel<int>, [](int n) { return n * 4u; });
    e = mcOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
        &blocks, &threads, (const void *)kernel<int>,
        [](int) { return (size_t)0; }, 128, mcOccupancyDefault);

    /* A default stream wherever CUDA has one. */
    mcPitchedPtr p = make_mcPitchedPtr(f, 64, 16, 4);
    mcExtent extent = make_mcExtent(16, 4, 2);
    mcMemcpy3DParms parms = {};
    parms.srcPos = make_mcPos(1, 2, 3);
    e = mcMemsetAsync(f, 0, 4);
    e = mcMemset2DAsync(f, 64, 0, 4, 4);
    e = mcMemset3DAsync(p, 0, extent);
    e = mcMemcpy2DAsync(f, 64, f, 64, 4, 4, mcMemcpyDefault);
    e = mcMemcpy3DAsync(&parms);
    e = mcMemcpy3DPeerAsync(&parms);
    e = mcMemcpyPeerAsync(f, 0, f, 0, 4);
    e = mcMemcpyToSymbolAsync(table, f, 4);
    e = mcMemcpyFromSymbolAsync(f, table, 4);
    e = mcGraphAddMemcpyNodeToSymbol(nullptr, nullptr, nullptr, 0, table, f, 4,
                                     0, mcMemcpyDefault);
    e = mcGraphExecMemcpyNodeSetParamsFromSymbol(nullptr, nullptr, f, table, 4,
                                                 0, mcMemcpyDefault);
    e = mcUserObjectRelease(nullptr);
    e = mcGraphRetainUserObject(nullptr, nullptr);
    e = mcMemcpyParam2DAsync(nullptr);
    mcChannelFormatDesc channels = mcCreateChannelDesc<float4>();
    mcArray_t array = nullptr;
    channels = mcCreateChannelDesc<unsigned char>();
    channels = mcCreateChannelDesc(32, 0, 0, 0, mcChannelFormatKindFloat);
    e = mcMallocArray(&array, &channels, 4);
    e = mcMallocArray(&array, &channels, 4, 4);
    e = mcMalloc3DArray(&array, &channels, make_mcExtent(4, 4, 4));
    e = mcMemcpy2DArrayToArray(array, 0, 0, array, 0, 0, 4, 1);
    e = mcMemcpyFromArrayAsync(&f, array, 0, 0, 4, mcMemcpyDefault);
    e = mcEventRecordWithFlags(nullptr);
    mcStreamCaptureStatus status;
    e = mcStreamGetCaptureInfo(nullptr, &status);
    e = mcStreamGetCaptureInfo_v2(nullptr, &status);
    e = mcStreamUpdateCaptureDependencies(nullptr, nullptr, 0);
    e = mcEventRecord(nullptr);
    return e;
}
