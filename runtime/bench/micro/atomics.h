/* SPDX-License-Identifier: MIT */
/* Atomic operations on one address of all threads, and on one a thread. */
#include "micro.h"

#include <cmath>

/* Cells of the threads begin at this one; cell 0 is that of all. */
constexpr unsigned FIRST_CELL = 8;

/* do_(p) is the operation, final(old, n) what n of them leave of a cell. */
#define OPERATION(name, type, do_, final_)                                     \
    struct name {                                                              \
        using T = type;                                                        \
        static __device__ __forceinline__ T perform(T *p)                      \
        {                                                                      \
            return do_;                                                        \
        }                                                                      \
        static T final(T old, uint64_t n)                                      \
        {                                                                      \
            (void)old, (void)n;                                                \
            return final_;                                                     \
        }                                                                      \
    };
typedef unsigned long long u64;
OPERATION(AtomicAddU32, uint32_t, atomicAdd(p, 3u), old + 3u * (uint32_t)n)
OPERATION(AtomicAddU64, u64, atomicAdd(p, 3ull), old + 3 * n)
OPERATION(AtomicAddF32, float, atomicAdd(p, 0.5f), 0)
OPERATION(AtomicAddF64, double, atomicAdd(p, 0.5), 0)
OPERATION(AtomicMinU32, uint32_t, atomicMin(p, 7u), old < 7 ? old : 7)
OPERATION(AtomicMaxU32, uint32_t, atomicMax(p, 7u), old > 7 ? old : 7)
OPERATION(AtomicMinU64, u64, atomicMin(p, 7ull), old < 7 ? old : 7)
OPERATION(AtomicAndU32, uint32_t, atomicAnd(p, 0xff0fu), old & 0xff0f)
OPERATION(AtomicOrU32, uint32_t, atomicOr(p, 0xf0u), old | 0xf0)
OPERATION(AtomicXorU32, uint32_t, atomicXor(p, 5u), n & 1 ? old ^ 5 : old)
OPERATION(AtomicExchU32, uint32_t, atomicExch(p, 9u), 9)
OPERATION(AtomicCasU32, uint32_t, atomicCAS(p, 0u, 4u), old ? old : 4)
OPERATION(AtomicCasU64, u64, atomicCAS(p, 0ull, 4ull), old ? old : 4)

template <class Atomic, bool ONE, Space S, bool RETURNS> struct AtomicOp {
    static const Space SPACE = S;
    using T = typename Atomic::T;
    T *cell;
    __device__ AtomicOp(char *memory, unsigned thread, int)
    {
        if (S == SHARED) {
            thread %= BLOCK;
        }
        cell = (T *)memory + (ONE ? 0 : FIRST_CELL + thread);
        opaque(cell);
    }
    __device__ __forceinline__ void step(int)
    {
        T old = Atomic::perform(cell);

        if (RETURNS) {
            used(old);
        }
    }
    __device__ uint64_t result()
    {
        __syncthreads();
        return bits(*(volatile T *)cell);
    }
};

template <class Op> __global__ void atomics(Args a)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    char *memory = space<Op::SPACE>(a.memory);

    if (is_active(thread, a.lanes)) {
        Op op(memory, thread, a.lanes);

        for (int i = 0; i < a.iterations; i++) {
#pragma unroll
            for (int k = 0; k < UNROLL; k++) {
                op.step(k);
            }
        }
        a.out[thread] = op.result();
    }
}

template <class Atomic, bool ONE, Space S, bool RETURNS>
void launch_atomics(const Args &a, int block)
{
    atomics<AtomicOp<Atomic, ONE, S, RETURNS>><<<BLOCKS, block>>>(a);
}

template <class T> static bool is_final(T found, T expected, T old, uint64_t n)
{
    (void)old, (void)n;
    return found == expected;
}
static bool is_final(float found, float, float old, uint64_t n)
{
    return fabs(found - (old + 0.5 * n)) <= 1e-5 * n;
}
static bool is_final(double found, double, double old, uint64_t n)
{
    return fabs(found - (old + 0.5 * n)) <= 1e-12 * n;
}

template <class Atomic, bool ONE, Space S, bool RETURNS>
bool check_atomics(const Args &a, int block, const uint64_t *out, char *host,
                   const char *memory)
{
    using T = typename Atomic::T;
    uint64_t each = (uint64_t)a.iterations * UNROLL;
    uint64_t users = active_threads(a.lanes, S == SHARED ? 1 : BLOCKS, block);

    for (unsigned t = LONE; t < (unsigned)(BLOCKS * block); t += WARP) {
        size_t cell = ONE ? 0 : FIRST_CELL + (S == SHARED ? t % block : t);
        uint64_t n = ONE ? each * users : each;
        T old, found;

        memcpy(&old, host + cell * sizeof(T), sizeof(T));
        /* Other blocks may be at work still when a thread looks. */
        memcpy(&found, S == SHARED ? (const char *)&out[t]
                                   : memory + cell * sizeof(T), sizeof(T));
        if (!is_final(found, Atomic::final(old, n), old, n)) {
            return false;
        }
    }
    return true;
}

#define ROW(text, iterations, ...)                                             \
    {text, NULL, iterations, BLOCK, true, launch_atomics<__VA_ARGS__>,         \
     check_atomics<__VA_ARGS__>},
#define PLACES(text, Op)                                                       \
    ROW("atomic.global." text ".distinct", 16, Op, false, GLOBAL, true)        \
    ROW("atomic.global." text ".one", 16, Op, true, GLOBAL, true)              \
    ROW("atomic.shared." text ".distinct", 16, Op, false, SHARED, true)        \
    ROW("atomic.shared." text ".one", 16, Op, true, SHARED, true)

static const Row atomics_table[] = {
    PLACES("add.u32", AtomicAddU32)
    PLACES("add.u64", AtomicAddU64)
    PLACES("add.f32", AtomicAddF32)
    PLACES("add.f64", AtomicAddF64)
    PLACES("min.u32", AtomicMinU32)
    PLACES("max.u32", AtomicMaxU32)
    PLACES("min.u64", AtomicMinU64)
    PLACES("and.u32", AtomicAndU32)
    PLACES("or.u32", AtomicOrU32)
    PLACES("xor.u32", AtomicXorU32)
    PLACES("exch.u32", AtomicExchU32)
    PLACES("cas.u32", AtomicCasU32)
    PLACES("cas.u64", AtomicCasU64)
    ROW("atomic.global.add.u32.distinct.no-result", 16, AtomicAddU32, false,
        GLOBAL, false)
    ROW("atomic.global.add.u32.one.no-result", 16, AtomicAddU32, true, GLOBAL,
        false)
};
#undef ROW
