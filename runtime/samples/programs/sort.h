/* SPDX-License-Identifier: MIT */
/* Keys of 32 bits to be sorted. The plain program calls std::sort. */
#include "program.h"

#include <algorithm>

constexpr int SORT_KEYS = 1 << 17;
constexpr int SORT_THREADS = 256, SORT_EACH = 4; /* keys of a thread */
constexpr int SORT_BLOCKS = SORT_KEYS / (SORT_THREADS * SORT_EACH);
constexpr int SORT_BITS = 4, SORT_DIGITS = 1 << SORT_BITS;

struct Sort {
    std::vector<uint32_t> keys, expected;

    Sort() : keys(SORT_KEYS)
    {
        Random random;

        for (auto &key : keys) {
            key = random.next() << 16 ^ random.next();
        }
        expected = plain();
    }
    std::vector<uint32_t> plain() const
    {
        std::vector<uint32_t> sorted(keys);

        std::sort(sorted.begin(), sorted.end());
        return sorted;
    }
    bool right(const std::vector<uint32_t> &sorted) const
    {
        return sorted == expected;
    }
};
