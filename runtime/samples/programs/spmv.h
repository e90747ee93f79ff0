/* SPDX-License-Identifier: MIT */
/* A sparse matrix in compressed rows of 4 to 28 elements, half of them near the
 * diagonal, and a vector that it is applied to several times. */
#include "program.h"

constexpr int SPMV_ROWS = 1 << 16, SPMV_TIMES = 4;

struct Spmv {
    std::vector<int> start, column;
    std::vector<float> value, x, expected;

    Spmv() : start(1, 0), x(SPMV_ROWS)
    {
        Random random;

        for (int row = 0; row < SPMV_ROWS; row++) {
            for (int n = 4 + random.below(25); n; n--) {
                int near = row + (int)random.below(128) - 64;

                column.push_back(n & 1 ? (near + SPMV_ROWS) % SPMV_ROWS
                                       : random.below(SPMV_ROWS));
                value.push_back(random.unit() * 0.1f - 0.04f);
            }
            start.push_back((int)column.size());
            x[row] = random.unit();
        }
        expected = plain();
    }
    std::vector<float> plain() const
    {
        std::vector<float> from(x), to(SPMV_ROWS);

        for (int i = 0; i < SPMV_TIMES; i++) {
            for (int row = 0; row < SPMV_ROWS; row++) {
                float sum = 0;

                for (int k = start[row]; k < start[row + 1]; k++) {
                    sum += value[k] * from[column[k]];
                }
                to[row] = sum;
            }
            std::swap(from, to);
        }
        return from;
    }
    bool right(const std::vector<float> &y) const
    {
        return all_close(y, expected, 1e-4f);
    }
};
