/* SPDX-License-Identifier: MIT */
/*
 * One source for three interfaces: gpu(Malloc) is cudaMalloc, hipMalloc or
 * mcMalloc, by the compiler or by mxcc's -x.
 */
#ifndef SAMPLES_PORTABLE_GPU_H
#define SAMPLES_PORTABLE_GPU_H

#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#define gpu(name) hip##name
#elif defined(__CUDACC__)
#include <cuda_runtime.h>
#define gpu(name) cuda##name
#else
#include <mc_runtime.h>
#define gpu(name) mc##name
#endif

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                            \
    do {                                                                       \
        gpu(Error_t) error_ = (call);                                          \
        if (error_ != gpu(Success)) {                                          \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,      \
                    gpu(GetErrorString)(error_));                              \
            exit(2);                                                           \
        }                                                                      \
    } while (0)

template <typename T> T *to_device(const std::vector<T> &host)
{
    T *p = nullptr;

    CHECK(gpu(Malloc)(&p, host.size() * sizeof(T)));
    CHECK(gpu(Memcpy)(p, host.data(), host.size() * sizeof(T),
                      gpu(MemcpyHostToDevice)));
    return p;
}

template <typename T> void to_host(std::vector<T> &host, const T *device)
{
    CHECK(gpu(Memcpy)(host.data(), device, host.size() * sizeof(T),
                      gpu(MemcpyDeviceToHost)));
}

/* Prints the verdict; to be returned from main. */
static inline int verdict(const char *name, bool ok)
{
    printf("%s: %s\n", name, ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}

#endif
