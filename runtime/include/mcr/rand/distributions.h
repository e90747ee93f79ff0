/* SPDX-License-Identifier: MIT */
/*
 * What the generators' 32 random bits become: uniform numbers in (0, 1], normal
 * and log-normal ones (Box and Muller, 1958), Poisson's (Knuth's product for
 * small means, Hörmann's transformed rejection PTRS, 1993, for the others).
 */
#ifndef MCR_RAND_DISTRIBUTIONS_H
#define MCR_RAND_DISTRIBUTIONS_H

static __device__ inline float __mc_uniform(unsigned int x)
{
    return x * 2.3283064365386963e-10f + 1.1641532182693481e-10f;
}

/* 53 bits of two draws, in (0, 1]. */
static __device__ inline double __mc_uniform_double(unsigned int x,
                                                    unsigned int y)
{
    unsigned long long bits = ((unsigned long long)y << 32 | x) >> 11;

    return (double)(bits + 1) * 1.1102230246251565e-16;
}

template <class State>
static __device__ inline double __mc_next_double(State *state)
{
    unsigned int x = state->next(), y = state->next();

    return __mc_uniform_double(x, y);
}

static __device__ inline float2 __mc_box_muller(float a, float b)
{
    float radius = sqrtf(-2.0f * logf(a)), s, c;

    sincosf(b * 6.283185307179586f, &s, &c);
    return { radius * s, radius * c };
}

static __device__ inline double2 __mc_box_muller_double(double a, double b)
{
    double radius = sqrt(-2.0 * log(a)), s, c;

    sincos(b * 6.283185307179586, &s, &c);
    return { radius * s, radius * c };
}

template <class State>
static __device__ inline float2 __mc_normal2(State *state)
{
    float a = __mc_uniform(state->next()), b = __mc_uniform(state->next());

    return __mc_box_muller(a, b);
}

template <class State>
static __device__ inline double2 __mc_normal2_double(State *state)
{
    double a = __mc_next_double(state), b = __mc_next_double(state);

    return __mc_box_muller_double(a, b);
}

template <class State> static __device__ inline float __mc_normal(State *state)
{
    __mc_normal_pair *pair = &state->normal;

    pair->has_float = !pair->has_float;
    if (!pair->has_float) {
        return pair->next_float;
    }
    float2 two = __mc_normal2(state);
    pair->next_float = two.y;
    return two.x;
}

template <class State>
static __device__ inline double __mc_normal_double(State *state)
{
    __mc_normal_pair *pair = &state->normal;

    pair->has_double = !pair->has_double;
    if (!pair->has_double) {
        return pair->next_double;
    }
    double2 two = __mc_normal2_double(state);
    pair->next_double = two.y;
    return two.x;
}

template <class State>
static __device__ unsigned int __mc_poisson(State *state, double mean)
{
    if (!(mean > 0)) {
        return 0;
    }
    if (mean < 32) {
        double limit = exp(-mean), product = __mc_next_double(state);
        unsigned int k = 0;

        for (; product > limit; k++) {
            product *= __mc_next_double(state);
        }
        return k;
    }
    double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
    double inverse = 1.1239 + 1.1328 / (b - 3.4);
    double accept = 0.9277 - 3.6224 / (b - 2), log_mean = log(mean);

    for (;;) {
        double u = __mc_next_double(state) - 0.5, v = __mc_next_double(state);
        double us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + mean + 0.43);

        if (us >= 0.07 && v <= accept) {
            return k >= 4294967295.0 ? 4294967295u : (unsigned int)k;
        }
        if (k < 0 || (us < 0.013 && v > us)) {
            continue;
        }
        if (log(v * inverse / (a / (us * us) + b)) <=
            k * log_mean - mean - lgamma(k + 1)) {
            return k >= 4294967295.0 ? 4294967295u : (unsigned int)k;
        }
    }
}

#endif
