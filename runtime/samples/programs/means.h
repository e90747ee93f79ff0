/* SPDX-License-Identifier: MIT */
/* Points of the plane in so many clusters (k-means). */
#include "program.h"

constexpr int MEANS_POINTS = 1 << 15, MEANS = 16, MEANS_STEPS = 6;

struct Means {
    std::vector<float> points, begin, expected; /* x and y in turns */

    Means() : points(2 * MEANS_POINTS), begin(2 * MEANS)
    {
        Random random;

        for (int i = 0; i < MEANS_POINTS; i++) {
            int cluster = random.below(MEANS);

            points[2 * i] = cluster % 4 * 10 + random.unit() * 6;
            points[2 * i + 1] = cluster / 4 * 10 + random.unit() * 6;
        }
        for (int i = 0; i < MEANS; i++) {
            begin[2 * i] = i % 4 * 10 + 6 * random.unit();
            begin[2 * i + 1] = i / 4 * 10 + 6 * random.unit();
        }
        expected = plain();
    }
    std::vector<float> plain() const
    {
        std::vector<float> mean(begin);

        for (int step = 0; step < MEANS_STEPS; step++) {
            float sum[2 * MEANS] = {};
            int members[MEANS] = {};

            for (int i = 0; i < MEANS_POINTS; i++) {
                float x = points[2 * i], y = points[2 * i + 1], best = 1e30f;
                int nearest = 0;

                for (int k = 0; k < MEANS; k++) {
                    float dx = x - mean[2 * k], dy = y - mean[2 * k + 1];
                    float d = dx * dx + dy * dy;

                    if (d < best) {
                        best = d;
                        nearest = k;
                    }
                }
                sum[2 * nearest] += x;
                sum[2 * nearest + 1] += y;
                members[nearest]++;
            }
            for (int k = 0; k < MEANS; k++) {
                if (members[k]) {
                    mean[2 * k] = sum[2 * k] / (float)members[k];
                    mean[2 * k + 1] = sum[2 * k + 1] / (float)members[k];
                }
            }
        }
        return mean;
    }
    /* Sums are in another order on each device. */
    bool right(const std::vector<float> &mean) const
    {
        return all_close(mean, expected, 1e-3f);
    }
};
