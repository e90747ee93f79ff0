/* SPDX-License-Identifier: MIT */
/* The price of a European call by random paths of the share's price. */
#include "program.h"

constexpr int OPTION_THREADS = 1 << 13, OPTION_PATHS = 32, OPTION_BLOCK = 256;
constexpr float OPTION_PRICE = 100, OPTION_STRIKE = 105, OPTION_RATE = 0.03f;
constexpr float OPTION_VOLATILITY = 0.25f, OPTION_YEARS = 1;
/* What a path's end is: price * exp(drift + spread * normal). */
constexpr float OPTION_DRIFT =
    (OPTION_RATE - OPTION_VOLATILITY * OPTION_VOLATILITY / 2) * OPTION_YEARS;
constexpr float OPTION_SPREAD = OPTION_VOLATILITY; /* times sqrt(1 year) */

struct Option {
    double expected;

    Option() : expected(plain()) {}
    double plain() const
    {
        double sum = 0;

        for (uint32_t thread = 0; thread < OPTION_THREADS; thread++) {
            uint32_t state = thread * 2654435761u + 12345;

            for (int i = 0; i < OPTION_PATHS; i++) {
                float u = uniform(state), v = uniform(state);
                float normal = sqrtf(-2 * logf(u)) * cosf(6.2831853f * v);
                float end = OPTION_PRICE *
                            expf(OPTION_DRIFT + OPTION_SPREAD * normal);

                sum += end > OPTION_STRIKE ? end - OPTION_STRIKE : 0;
            }
        }
        return price(sum);
    }
    static double price(double sum)
    {
        return exp(-OPTION_RATE * OPTION_YEARS) * sum /
               ((double)OPTION_THREADS * OPTION_PATHS);
    }
    /* As the plain program has it, and as Black and Scholes have: 9.106. */
    bool right(double found) const
    {
        double a = log(OPTION_PRICE / OPTION_STRIKE) + OPTION_RATE;
        double d1 = (a + 0.5 * OPTION_VOLATILITY * OPTION_VOLATILITY) /
                    OPTION_VOLATILITY;
        double d2 = d1 - OPTION_VOLATILITY;
        double exact = OPTION_PRICE * normal(d1) -
                       OPTION_STRIKE * exp(-OPTION_RATE) * normal(d2);

        return fabs(found - expected) < 1e-3 * expected &&
               fabs(found - exact) < 0.15;
    }

private:
    static float uniform(uint32_t &state)
    {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return (float)((state >> 8) + 1) * 0x1p-24f;
    }
    static double normal(double x)
    {
        return 0.5 * erfc(-x * M_SQRT1_2);
    }
};
