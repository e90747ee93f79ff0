/* SPDX-License-Identifier: MIT */
/* Heat in a plate whose edges keep their temperature. */
#include "program.h"

constexpr int STENCIL_N = 512, STENCIL_STEPS = 8;
constexpr int STENCIL_X = 32, STENCIL_Y = 8; /* a block's tile */

struct Stencil {
    std::vector<float> begin, expected;

    Stencil() : begin(STENCIL_N * STENCIL_N)
    {
        Random random;

        for (auto &t : begin) {
            t = random.unit() * 100;
        }
        expected = plain();
    }
    std::vector<float> plain() const
    {
        std::vector<float> from(begin), to(begin);

        for (int i = 0; i < STENCIL_STEPS; i++) {
            for (int y = 1; y < STENCIL_N - 1; y++) {
                const float *row = &from[y * STENCIL_N];

                for (int x = 1; x < STENCIL_N - 1; x++) {
                    to[y * STENCIL_N + x] =
                        0.5f * row[x] +
                        0.125f * (row[x - 1] + row[x + 1] +
                                  row[x - STENCIL_N] + row[x + STENCIL_N]);
                }
            }
            std::swap(from, to);
        }
        return from;
    }
    bool right(const std::vector<float> &plate) const
    {
        return all_close(plate, expected, 1e-5f);
    }
};
