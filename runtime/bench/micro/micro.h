/* SPDX-License-Identifier: MIT */
/*
 * The frame of the micro benchmarks. A class of instruction is a struct:
 *
 *   Op(char *memory, unsigned thread, int lanes)   what a thread begins with
 *   void step(int k)                               one operation; k < UNROLL
 *   uint64_t result()                              what a thread ends with
 *
 * All of it is __host__ __device__: the host does the same operations for some
 * threads and compares. SPACE says which memory the constructor gets; CHECK
 * whether the host can do alone what the thread did.
 */
#ifndef MXGPU_BENCH_MICRO_H
#define MXGPU_BENCH_MICRO_H

#include <mc_runtime.h>

#include <cstdint>
#include <cstring>

#define BOTH inline __host__ __device__ __attribute__((always_inline))
#define BOTH_MEMBER __host__ __device__ __attribute__((always_inline))

constexpr int UNROLL = 32, BLOCKS = 8, BLOCK = 256, WARP = 64;
constexpr int LONE = 17; /* the lane that runs alone; odd lanes are the half */
constexpr size_t GLOBAL_BYTES = 16 << 20, SLACK = 64 << 10;
constexpr size_t SHARED_BYTES = 32 << 10, SHARED_SPAN = 16 << 10;
constexpr size_t CONSTANT_BYTES = 16 << 10;

enum Space { NONE, GLOBAL, SHARED, CONSTANT };

/* The compiler does not know the value from here on; costs nothing. */
#ifdef __MACA_ARCH__
#define FLOAT_REGISTER "f"
#else
#define FLOAT_REGISTER "x"
#endif
template <class T> BOTH void opaque(T &x)
{
    asm volatile("" : "+r"(x));
}
BOTH void opaque(float &x) { asm volatile("" : "+" FLOAT_REGISTER(x)); }
BOTH void opaque(double &x) { asm volatile("" : "+" FLOAT_REGISTER(x)); }
#ifdef __MACA_ARCH__
BOTH void opaque(_Float16 &x) { asm volatile("" : "+f"(x)); }
#else
BOTH void opaque(_Float16 &x) { asm volatile("" : "+m"(x)); }
#endif

/* The value is used; costs nothing. */
template <class T> BOTH void used(T x)
{
    opaque(x);
}

BOTH uint32_t mix(uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

template <class T> BOTH uint64_t bits(T x)
{
    uint64_t r = 0;

    memcpy(&r, &x, sizeof(x));
    return r;
}

BOTH bool is_active(unsigned thread, int lanes)
{
    return lanes == WARP || (lanes == 1 ? thread % WARP == LONE : thread & 1);
}

/* What a kernel of a class is called with. */
struct Args {
    uint64_t *out;
    char *memory;
    int iterations, lanes;
};

extern __constant__ uint32_t constants[CONSTANT_BYTES / 4];

template <Space SPACE> static inline __device__ char *space(char *memory)
{
    return memory;
}

template <> inline __device__ char *space<CONSTANT>(char *)
{
    return (char *)constants;
}

/* A copy of the first bytes of memory. */
template <> inline __device__ char *space<SHARED>(char *memory)
{
    __shared__ uint32_t shared[SHARED_BYTES / 4];

    for (unsigned i = threadIdx.x; i < SHARED_BYTES / 4; i += blockDim.x) {
        shared[i] = ((uint32_t *)memory)[i];
    }
    __syncthreads();
    return (char *)shared;
}

template <class Op> BOTH uint64_t perform(char *memory, unsigned thread,
                                          const Args &a)
{
    Op op(memory, thread, a.lanes);

    for (int i = 0; i < a.iterations; i++) {
#pragma unroll
        for (int k = 0; k < UNROLL; k++) {
            op.step(k);
        }
    }
    return op.result();
}

template <class Op> __global__ void kernel(Args a)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    char *memory = space<Op::SPACE>(a.memory);

    if (is_active(thread, a.lanes)) {
        a.out[thread] = perform<Op>(memory, thread, a);
    }
}

/* How many threads of a launch do the work. */
static inline uint64_t active_threads(int lanes, int blocks, int block)
{
    uint64_t warps = (uint64_t)blocks * ((block + WARP - 1) / WARP);

    return lanes == WARP ? (uint64_t)blocks * block : warps * lanes;
}

/*
 * One line of the table. `base` names the row whose cost is not that of the
 * class: address arithmetic, the loop around a branch; or is NULL.
 */
struct Row {
    const char *name, *base;
    int iterations;
    int block;          /* threads of a block */
    bool all_lanes;     /* full, half, one; else full only */
    void (*launch)(const Args &, int block);
    /* Whether out (and memory, as the device left it) are right; host is a
     * copy of the memory as it was, to work on. */
    bool (*check)(const Args &, int block, const uint64_t *out, char *host,
                  const char *memory);
};

template <class Op> void launch(const Args &a, int block)
{
    kernel<Op><<<BLOCKS, block>>>(a);
}

/* Does the work of some threads again; all of them are active in each mode. */
template <class Op> bool replay(const Args &a, int block, const uint64_t *out,
                                char *host, const char *)
{
    for (int thread = LONE; thread < block * BLOCKS; thread += 5 * WARP) {
        uint64_t expected = perform<Op>(host, thread, a);

        if (!Op::same(out[thread], expected)) {
            return false;
        }
    }
    return true;
}

struct Exact {
    static const Space SPACE = NONE;
    static bool same(uint64_t a, uint64_t b)
    {
        return a == b;
    }
};


#endif
