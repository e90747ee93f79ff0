/* SPDX-License-Identifier: MIT */
/* In how many ways as many queens as a board has rows stand on it without
 * attacking each other. The first rows are set by the host: a job each. */
#include "program.h"

constexpr int QUEENS = 12, QUEENS_SET = 4;
constexpr uint32_t QUEENS_ALL = (1u << QUEENS) - 1;

struct Queens {
    /* Columns and both diagonals that are taken, three words a job. */
    std::vector<uint32_t> jobs;
    uint32_t expected;

    Queens()
    {
        set(0, 0, 0, 0);
        expected = plain();
    }
    int count() const
    {
        return (int)jobs.size() / 3;
    }
    uint32_t plain() const
    {
        return solve(0, 0, 0);
    }
    bool right(uint32_t solutions) const
    {
        return solutions == expected && expected == 14200;
    }

private:
    void set(int row, uint32_t columns, uint32_t left, uint32_t right)
    {
        if (row == QUEENS_SET) {
            jobs.insert(jobs.end(), {columns, left, right});
            return;
        }
        for (uint32_t free = QUEENS_ALL & ~(columns | left | right); free;
             free &= free - 1) {
            uint32_t bit = free & -free;

            set(row + 1, columns | bit, (left | bit) << 1,
                (right | bit) >> 1);
        }
    }
    static uint32_t solve(uint32_t columns, uint32_t left, uint32_t right)
    {
        uint32_t found = 0;

        if (columns == QUEENS_ALL) {
            return 1;
        }
        for (uint32_t free = QUEENS_ALL & ~(columns | left | right); free;
             free &= free - 1) {
            uint32_t bit = free & -free;

            found += solve(columns | bit, (left | bit) << 1,
                           (right | bit) >> 1);
        }
        return found;
    }
};
