/* SPDX-License-Identifier: MIT */
/*
 * Random numbers in kernels. A thread's state begins at `offset` of `subsequence`
 * of the sequence that `seed` chooses.
 * Subsequences are 2^66 (Philox) and 2^67 (XORWOW) numbers long.
 * docs/random-numbers.md.
 */
#ifndef MCRAND_MCRAND_KERNEL_H
#define MCRAND_MCRAND_KERNEL_H

#include "mcrand/mcrand.h"

#if defined(__MXCC__) && defined(__cplusplus)
#include "mcr/mc_runtime.h"

#include "mcr/rand/engines.h"
#include "mcr/rand/distributions.h"

struct mcrandStatePhilox4_32_10 : __mc_philox_state {
};
struct mcrandStateXORWOW : __mc_xorwow_state {
};
typedef struct mcrandStatePhilox4_32_10 mcrandStatePhilox4_32_10_t;
typedef struct mcrandStateXORWOW mcrandStateXORWOW_t;
typedef struct mcrandStateXORWOW mcrandState_t;
typedef struct mcrandStateXORWOW mcrandState;

#define __MCRAND_FN static __device__ inline
#define __MCRAND_STATE(State)                                                  \
    __MCRAND_FN void mcrand_init(unsigned long long seed,                      \
                                 unsigned long long subsequence,               \
                                 unsigned long long offset, State *state)      \
    {                                                                          \
        state->init(seed, subsequence, offset);                                \
    }                                                                          \
    __MCRAND_FN void skipahead(unsigned long long n, State *state)             \
    {                                                                          \
        state->skip(n);                                                        \
    }                                                                          \
    __MCRAND_FN void skipahead_sequence(unsigned long long n, State *state)    \
    {                                                                          \
        state->skip_sequences(n);                                              \
    }                                                                          \
    __MCRAND_FN unsigned int mcrand(State *state)                              \
    {                                                                          \
        return state->next();                                                  \
    }                                                                          \
    __MCRAND_FN float mcrand_uniform(State *state)                             \
    {                                                                          \
        return __mc_uniform(state->next());                                    \
    }                                                                          \
    __MCRAND_FN double mcrand_uniform_double(State *state)                     \
    {                                                                          \
        return __mc_next_double(state);                                        \
    }                                                                          \
    __MCRAND_FN float mcrand_normal(State *state)                              \
    {                                                                          \
        return __mc_normal(state);                                             \
    }                                                                          \
    __MCRAND_FN float2 mcrand_normal2(State *state)                            \
    {                                                                          \
        return __mc_normal2(state);                                            \
    }                                                                          \
    __MCRAND_FN double mcrand_normal_double(State *state)                      \
    {                                                                          \
        return __mc_normal_double(state);                                      \
    }                                                                          \
    __MCRAND_FN double2 mcrand_normal2_double(State *state)                    \
    {                                                                          \
        return __mc_normal2_double(state);                                     \
    }                                                                          \
    __MCRAND_FN float mcrand_log_normal(State *state, float mean, float stddev)\
    {                                                                          \
        return expf(mean + stddev * __mc_normal(state));                       \
    }                                                                          \
    __MCRAND_FN float2 mcrand_log_normal2(State *state, float mean,            \
                                          float stddev)                        \
    {                                                                          \
        float2 two = __mc_normal2(state);                                      \
                                                                               \
        return { expf(mean + stddev * two.x), expf(mean + stddev * two.y) };   \
    }                                                                          \
    __MCRAND_FN double mcrand_log_normal_double(State *state, double mean,     \
                                                double stddev)                 \
    {                                                                          \
        return exp(mean + stddev * __mc_normal_double(state));                 \
    }                                                                          \
    __MCRAND_FN double2 mcrand_log_normal2_double(State *state, double mean,   \
                                                  double stddev)               \
    {                                                                          \
        double2 two = __mc_normal2_double(state);                              \
                                                                               \
        return { exp(mean + stddev * two.x), exp(mean + stddev * two.y) };     \
    }                                                                          \
    __MCRAND_FN unsigned int mcrand_poisson(State *state, double mean)         \
    {                                                                          \
        return __mc_poisson(state, mean);                                      \
    }

__MCRAND_STATE(mcrandStatePhilox4_32_10_t)
__MCRAND_STATE(mcrandStateXORWOW_t)

/* Four of Philox at once. */
__MCRAND_FN uint4 mcrand4(mcrandStatePhilox4_32_10_t *state)
{
    unsigned int x = state->next(), y = state->next();
    unsigned int z = state->next(), w = state->next();

    return { x, y, z, w };
}

__MCRAND_FN float4 mcrand_uniform4(mcrandStatePhilox4_32_10_t *state)
{
    uint4 bits = mcrand4(state);

    return { __mc_uniform(bits.x), __mc_uniform(bits.y), __mc_uniform(bits.z),
             __mc_uniform(bits.w) };
}

__MCRAND_FN double2 mcrand_uniform2_double(mcrandStatePhilox4_32_10_t *state)
{
    uint4 bits = mcrand4(state);

    return { __mc_uniform_double(bits.x, bits.y),
             __mc_uniform_double(bits.z, bits.w) };
}

__MCRAND_FN float4 mcrand_normal4(mcrandStatePhilox4_32_10_t *state)
{
    float4 u = mcrand_uniform4(state);
    float2 a = __mc_box_muller(u.x, u.y), b = __mc_box_muller(u.z, u.w);

    return { a.x, a.y, b.x, b.y };
}

__MCRAND_FN float4 mcrand_log_normal4(mcrandStatePhilox4_32_10_t *state,
                                      float mean, float stddev)
{
    float4 n = mcrand_normal4(state);

    return { expf(mean + stddev * n.x), expf(mean + stddev * n.y),
             expf(mean + stddev * n.z), expf(mean + stddev * n.w) };
}

__MCRAND_FN uint4 mcrand_poisson4(mcrandStatePhilox4_32_10_t *state,
                                  double mean)
{
    unsigned int x = __mc_poisson(state, mean), y = __mc_poisson(state, mean);
    unsigned int z = __mc_poisson(state, mean), w = __mc_poisson(state, mean);

    return { x, y, z, w };
}

#undef __MCRAND_STATE
#undef __MCRAND_FN
#endif

#endif
