// SPDX-License-Identifier: MIT
// The typed forms, as C++17.
#include <mc_runtime_api.h>

#include <type_traits>

template <class T> static void kernel(T *, int) {}
static float table[16];
static int *pointer_variable;

static_assert(std::is_same_v<decltype(mcGetErrorName(mcSuccess)),
                             const char *>);

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
