/* SPDX-License-Identifier: MIT */
/* The best local alignment of pairs of sequences (Smith and Waterman), with a
 * cost for each letter of a gap. */
#include "program.h"

#include <algorithm>

constexpr int ALIGN_PAIRS = 64, ALIGN_QUERY = 128, ALIGN_TARGET = 256;
constexpr int ALIGN_MATCH = 3, ALIGN_MISMATCH = -2, ALIGN_GAP = 2;

struct Align {
    std::vector<char> query, target; /* of all pairs */
    std::vector<int> expected;

    Align() : query(ALIGN_PAIRS * ALIGN_QUERY),
              target(ALIGN_PAIRS * ALIGN_TARGET)
    {
        Random random;

        for (auto &letter : target) {
            letter = "ACGT"[random.below(4)];
        }
        /* A part of the target, with one letter of eight changed. */
        for (int i = 0; i < ALIGN_PAIRS * ALIGN_QUERY; i++) {
            int pair = i / ALIGN_QUERY, at = i % ALIGN_QUERY + 50;

            query[i] = random.below(8) ? target[pair * ALIGN_TARGET + at]
                                       : "ACGT"[random.below(4)];
        }
        expected = plain();
    }
    std::vector<int> plain() const
    {
        std::vector<int> scores(ALIGN_PAIRS);

        for (int pair = 0; pair < ALIGN_PAIRS; pair++) {
            const char *q = &query[pair * ALIGN_QUERY];
            const char *t = &target[pair * ALIGN_TARGET];
            int line[ALIGN_QUERY + 1] = {}, best = 0;

            for (int i = 0; i < ALIGN_TARGET; i++) {
                int corner = 0;

                for (int j = 1; j <= ALIGN_QUERY; j++) {
                    int same = t[i] == q[j - 1] ? ALIGN_MATCH : ALIGN_MISMATCH;
                    int h = std::max({0, corner + same, line[j] - ALIGN_GAP,
                                      line[j - 1] - ALIGN_GAP});

                    corner = line[j];
                    line[j] = h;
                    best = std::max(best, h);
                }
            }
            scores[pair] = best;
        }
        return scores;
    }
    bool right(const std::vector<int> &scores) const
    {
        return scores == expected;
    }
};
