// SPDX-License-Identifier: MIT
// The typed forms, as C++17.
#include <common/maca_bfloat16.h>
#include <common/maca_fp16.h>
#include <mc_runtime_api.h>

#include <type_traits>

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
    size_t size;
    int blocks, threads;
    dim3 grid(1, 2), block{64};
    mcError_t e = mcSuccess;

    e = mcMalloc(pf, 4);
    e = mcMalloc(&f, 4 * sizeof(float));
    e = mcMalloc(&v, 4);
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
    e = mcLaunchKernel((const void *)kernel<int>, 1, 64, args, 0, nullptr);
    e = mcFuncGetAttributes(&attributes, kernel<int>);
    e = mcGetFuncBySymbol(&function, kernel<int>);
    e = mcOccupancyMaxPotentialBlockSize(&blocks, &threads, kernel<int>);
    e = mcStreamWaitEvent(nullptr, nullptr);
    e = mcEventRecord(nullptr);
    return e;
}
