/* SPDX-License-Identifier: MIT */
/* Branches, calls, what lanes of a warp tell each other, barriers. */
#include "micro.h"

/* What branches and calls do; the row without them is their base. */
struct Turn : Exact {
    uint32_t s, x;
    BOTH_MEMBER Turn(char *, unsigned thread, int)
    {
        s = mix(thread);
        x = thread;
    }
    BOTH_MEMBER void step(int)
    {
        s = s * 1664525 + 1013904223;
        opaque(s);
        x += s;
        opaque(x);
    }
    BOTH_MEMBER uint64_t result()
    {
        return x;
    }
};

struct UniformTurn : Turn {
    BOTH_MEMBER UniformTurn(char *, unsigned thread, int) : Turn(NULL, thread, 0)
    {
        s = 1;
    }
};

struct BranchUniform : UniformTurn {
    using UniformTurn::UniformTurn;
    BOTH_MEMBER void step(int)
    {
        s = s * 1664525 + 1013904223;
        opaque(s);
        if (s >> 31) {
            x += s;
            opaque(x);
        } else {
            x ^= s;
            opaque(x);
        }
    }
};

struct BranchTwo : Turn {
    using Turn::Turn;
    BOTH_MEMBER void step(int)
    {
        s = s * 1664525 + 1013904223;
        opaque(s);
        if (s >> 31) {
            x += s;
            opaque(x);
        } else {
            x ^= s;
            opaque(x);
        }
    }
};

struct BranchEight : Turn {
    using Turn::Turn;
    BOTH_MEMBER void step(int)
    {
        s = s * 1664525 + 1013904223;
        opaque(s);
        switch (s >> 29) {
#define CASE(n, statement)                                                     \
    case n:                                                                    \
        statement;                                                             \
        opaque(x);                                                             \
        break;
            CASE(0, x += s)
            CASE(1, x ^= s)
            CASE(2, x -= s)
            CASE(3, x = x * 5 + s)
            CASE(4, x |= s)
            CASE(5, x &= s)
            CASE(6, x = x >> 3 ^ s)
            CASE(7, x = s - x)
#undef CASE
        }
    }
};

/* A loop of 1 to 8 turns, by the lane. */
struct LoopVarying : Turn {
    using Turn::Turn;
    BOTH_MEMBER void step(int)
    {
        s = s * 1664525 + 1013904223;
        for (uint32_t n = s >> 29;; n--) {
            x = x * 7 + n;
            opaque(x);
            if (n == 0) {
                break;
            }
        }
    }
};

#define FUNCTION static __host__ __device__ __attribute__((noinline))
FUNCTION uint32_t callee_a(uint32_t x, uint32_t s)
{
    opaque(x);
    return x + s;
}
FUNCTION uint32_t callee_b(uint32_t x, uint32_t s)
{
    opaque(x);
    return x ^ s;
}
FUNCTION uint32_t recursive(uint32_t depth, uint32_t x)
{
    opaque(x);
    return depth ? recursive(depth - 1, x + depth) + x : x;
}

struct CallDirect : Turn {
    using Turn::Turn;
    BOTH_MEMBER void step(int)
    {
        s = s * 1664525 + 1013904223;
        opaque(s);
        x = callee_a(x, s);
    }
};

/* The host makes objects of its own: tables of functions differ. */
struct Base {
    __host__ __device__ virtual uint32_t call(uint32_t x, uint32_t s)
    {
        return callee_a(x, s);
    }
};
struct Derived : Base {
    __host__ __device__ uint32_t call(uint32_t x, uint32_t s) override
    {
        return callee_b(x, s);
    }
};

template <bool BY_LANE> struct CallVirtual : Turn {
    Base a;
    Derived b;
    BOTH_MEMBER CallVirtual(char *, unsigned thread, int)
        : Turn(NULL, thread, 0)
    {
    }
    BOTH_MEMBER void step(int)
    {
        s = s * 1664525 + 1013904223;
        opaque(s);
        Base *p = BY_LANE && s >> 31 ? (Base *)&b : &a;
        opaque(p);
        x = p->call(x, s);
    }
};

struct CallRecursive : Turn {
    using Turn::Turn;
    BOTH_MEMBER void step(int)
    {
        s = s * 1664525 + 1013904223;
        opaque(s);
        x = recursive(8, x);
    }
};

/* ---- between lanes; their results are known without the other lanes ---- */

static __device__ __forceinline__ unsigned long lane_mask(int lanes)
{
    return lanes == WARP ? ~0ul
                         : lanes == 1 ? 1ul << LONE : 0xaaaaaaaaaaaaaaaaul;
}

struct Lanes {
    static const Space SPACE = NONE;
    unsigned long mask;
    unsigned lane;
    int lanes;
    __device__ Lanes(char *, unsigned thread, int lanes_)
    {
        lane = thread % WARP;
        lanes = lanes_;
        mask = lane_mask(lanes);
        opaque(mask);
    }
};

/* From two lanes on, so that it is one that runs; x goes round. */
template <class T> struct Shuffle : Lanes {
    T x;
    int source;
    __device__ Shuffle(char *, unsigned thread, int l) : Lanes(NULL, thread, l)
    {
        x = (T)(thread % WARP) * 0x100000001ull;
        source = l == 1 ? lane : (lane + 2) % WARP;
        opaque(source);
    }
    __device__ __forceinline__ void step(int)
    {
        x = __shfl_sync(mask, x, source);
        opaque(x);
    }
    __device__ uint64_t result()
    {
        return bits(x);
    }
    static uint64_t expected(unsigned lane, int lanes, uint64_t n)
    {
        return bits((T)((lanes == 1 ? lane : (lane + 2 * n) % WARP) *
                        0x100000001ull));
    }
};

template <int DELTA> struct ShuffleXor : Lanes {
    uint32_t x;
    __device__ ShuffleXor(char *, unsigned thread, int l)
        : Lanes(NULL, thread, l), x(thread % WARP)
    {
    }
    __device__ __forceinline__ void step(int)
    {
        x = __shfl_xor_sync(mask, x, lanes == 1 ? 0 : DELTA) + 1;
        opaque(x);
    }
    __device__ uint64_t result()
    {
        return x;
    }
    static uint64_t expected(unsigned lane, int, uint64_t n)
    {
        return lane + n; /* an even number of exchanges */
    }
};

#define VOTE(name, expression, final)                                          \
    struct name : Lanes {                                                      \
        uint64_t x = 0;                                                        \
        using Lanes::Lanes;                                                    \
        __device__ __forceinline__ void step(int)                              \
        {                                                                      \
            x += (uint64_t)(expression);                                       \
            opaque(x);                                                         \
        }                                                                      \
        __device__ uint64_t result()                                           \
        {                                                                      \
            return x;                                                          \
        }                                                                      \
        static uint64_t expected(unsigned lane, int lanes, uint64_t n)         \
        {                                                                      \
            uint64_t all = lanes == WARP                                       \
                               ? ~0ull                                         \
                               : lanes == 1 ? 1ull << LONE                     \
                                            : 0xaaaaaaaaaaaaaaaaull;           \
            (void)lane, (void)all;                                             \
            return n * (uint64_t)(final);                                      \
        }                                                                      \
    };
VOTE(Ballot, __ballot_sync(mask, lane & 16), (all & 0xffff0000ffff0000ull))
VOTE(Any, __any_sync(mask, lane == LONE) != 0, 1)
VOTE(All, __all_sync(mask, lane < 64) != 0, 1)
VOTE(Match, __match_any_sync(mask, lane & 16),
     (lane & 16 ? all & 0xffff0000ffff0000ull : all & 0x0000ffff0000ffffull))
VOTE(Active, __activemask(), all)
VOTE(SyncWarp, (__syncwarp(mask), 1), 1)
VOTE(ReduceAdd, __reduce_add_sync(mask, 3u), 3 * __builtin_popcountll(all))
VOTE(Barrier, (__syncthreads(), 1), 1)

template <class Op> __global__ void between(Args a)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;

    if (is_active(thread, a.lanes)) {
        Op op(NULL, thread, a.lanes);

        for (int i = 0; i < a.iterations; i++) {
#pragma unroll
            for (int k = 0; k < UNROLL; k++) {
                op.step(k);
            }
        }
        a.out[thread] = op.result();
    }
}

template <class Op> void launch_between(const Args &a, int block)
{
    between<Op><<<BLOCKS, block>>>(a);
}

template <class Op> bool check_between(const Args &a, int block,
                                       const uint64_t *out, char *,
                                       const char *)
{
    uint64_t n = (uint64_t)a.iterations * UNROLL;

    for (unsigned t = 0; t < (unsigned)(BLOCKS * block); t++) {
        if (is_active(t, a.lanes) &&
            out[t] != Op::expected(t % WARP, a.lanes, n)) {
            return false;
        }
    }
    return true;
}

#define ROW(text, base, iterations, Op)                                        \
    {text, base, iterations, BLOCK, true, launch<Op>, replay<Op>},
#define BETWEEN(text, iterations, block, all_lanes, ...)                       \
    {text, NULL, iterations, block, all_lanes, launch_between<__VA_ARGS__>,    \
     check_between<__VA_ARGS__>},

static const Row control_table[] = {
    ROW("branch.none", NULL, 64, Turn)
    ROW("branch.uniform.none", NULL, 64, UniformTurn)
    ROW("branch.uniform", NULL, 64, BranchUniform)
    ROW("branch.two-way", NULL, 32, BranchTwo)
    ROW("branch.eight-way", NULL, 16, BranchEight)
    ROW("branch.loop-1-to-8", NULL, 16, LoopVarying)
    ROW("call.direct", NULL, 32, CallDirect)
    ROW("call.virtual", NULL, 32, CallVirtual<false>)
    ROW("call.virtual.two-way", NULL, 16, CallVirtual<true>)
    ROW("call.recursive-8", NULL, 8, CallRecursive)
    BETWEEN("shuffle.u32", 64, BLOCK, true, Shuffle<unsigned>)
    BETWEEN("shuffle.u64", 64, BLOCK, true, Shuffle<unsigned long>)
    BETWEEN("shuffle.xor.u32", 64, BLOCK, true, ShuffleXor<2>)
    BETWEEN("vote.ballot", 64, BLOCK, true, Ballot)
    BETWEEN("vote.any", 64, BLOCK, true, Any)
    BETWEEN("vote.all", 64, BLOCK, true, All)
    BETWEEN("vote.match-any", 64, BLOCK, true, Match)
    BETWEEN("vote.activemask", 64, BLOCK, true, Active)
    BETWEEN("vote.reduce-add", 64, BLOCK, true, ReduceAdd)
    BETWEEN("barrier.syncwarp", 64, BLOCK, true, SyncWarp)
    BETWEEN("barrier.block-64", 64, 64, false, Barrier)
    BETWEEN("barrier.block-256", 64, 256, false, Barrier)
    BETWEEN("barrier.block-1024", 16, 1024, false, Barrier)
};
#undef ROW
