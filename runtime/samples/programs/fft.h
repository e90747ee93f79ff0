/* SPDX-License-Identifier: MIT */
/* Fourier transforms of many short signals. */
#include "program.h"

#include <utility>

constexpr int FFT_LOG = 10, FFT_N = 1 << FFT_LOG, FFT_SIGNALS = 256;
constexpr int FFT_THREADS = FFT_N / 4; /* two butterflies each */

struct Fft {
    /* Real and imaginary part in turns; roots of unity. */
    std::vector<float> signals, roots, expected;

    Fft() : signals(2 * FFT_N * FFT_SIGNALS), roots(FFT_N)
    {
        Random random;

        for (auto &x : signals) {
            x = random.unit() - 0.5f;
        }
        for (int i = 0; i < FFT_N / 2; i++) {
            double angle = -2 * M_PI * i / FFT_N;

            roots[2 * i] = (float)std::cos(angle);
            roots[2 * i + 1] = (float)std::sin(angle);
        }
        expected = plain();
    }
    std::vector<float> plain() const
    {
        std::vector<float> all(signals);

        for (int i = 0; i < FFT_SIGNALS; i++) {
            transform(&all[2 * FFT_N * i]);
        }
        return all;
    }
    bool right(const std::vector<float> &found) const
    {
        return all_close(found, expected, 1e-3f);
    }

private:
    void transform(float *x) const
    {
        for (int i = 0, j = 0; i < FFT_N; i++) {
            if (i < j) {
                std::swap(x[2 * i], x[2 * j]);
                std::swap(x[2 * i + 1], x[2 * j + 1]);
            }
            for (int bit = FFT_N / 2; (j ^= bit) < bit && bit; bit /= 2) {
            }
        }
        for (int half = 1; half < FFT_N; half *= 2) {
            for (int k = 0; k < FFT_N; k += 2 * half) {
                for (int i = 0; i < half; i++) {
                    const float *w = &roots[2 * i * (FFT_N / 2 / half)];
                    float *a = x + 2 * (k + i), *b = a + 2 * half;
                    float re = b[0] * w[0] - b[1] * w[1];
                    float im = b[0] * w[1] + b[1] * w[0];

                    b[0] = a[0] - re;
                    b[1] = a[1] - im;
                    a[0] += re;
                    a[1] += im;
                }
            }
        }
    }
};
