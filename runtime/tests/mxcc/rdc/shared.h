/* SPDX-License-Identifier: MIT */
/* What the files of a program with relocatable device code have in common. */
#ifndef RDC_SHARED_H
#define RDC_SHARED_H

#include <mc_runtime.h>

extern __device__ int total;       /* main.maca */
extern __constant__ int table[4];  /* other.maca */
extern __device__ int grown;       /* library */

__device__ int twice(int x);       /* other.maca */
__device__ int from_library(int x);
__device__ int only_for_devices(int x);

extern __global__ void launched_elsewhere(int *p); /* other.maca */

/* One object of each in the program. */
inline __device__ int counter = 100;
template <class T> struct Holder {
    static __device__ T value;
};
template <class T> __device__ T Holder<T>::value = 7;

template <class T> __device__ __noinline__ T plus(T a, T b)
{
    return a + b;
}

/* Each file has its own. */
static __device__ int own = FILE_NUMBER;
static __device__ __noinline__ int number()
{
    return own * 10 + FILE_NUMBER;
}

void other_host(int *p);
int other_own(void);
int library_host(int *p);

#endif
