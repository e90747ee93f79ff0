/* SPDX-License-Identifier: MIT */
/*
 * The entry of a fuzzer: of libFuzzer with -DMXGPU_LIBFUZZER, else of a short
 * deterministic run as a unit test.
 */
#ifndef FUZZ_MAIN_H
#define FUZZ_MAIN_H

#include <glib.h>
#include <stdint.h>

typedef void FuzzOne(const uint8_t *data, size_t size);
typedef void FuzzTame(uint8_t *data, size_t size, unsigned round);

#define FUZZ_ROUNDS 150

/* tame (may be NULL) changes the random input of a round before it is used. */
static inline void fuzz_fixed_seed(uint32_t seed, size_t size, FuzzOne *one,
                                   FuzzTame *tame)
{
    GRand *rand = g_rand_new_with_seed(seed);
    uint8_t *data = g_malloc(size);

    for (unsigned round = 0; round < FUZZ_ROUNDS; round++) {
        for (size_t i = 0; i < size; i++) {
            data[i] = (uint8_t)g_rand_int(rand);
        }
        if (tame) {
            tame(data, size, round);
        }
        one(data, size);
    }
    g_free(data);
    g_rand_free(rand);
}

#ifdef MXGPU_LIBFUZZER
#define FUZZ_MAIN(name, seed, size, one, tame)                                 \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);             \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)              \
    {                                                                          \
        (void)(tame);                                                          \
        one(data, bytes);                                                      \
        return 0;                                                              \
    }
#else
#define FUZZ_MAIN(name, seed, size, one, tame)                                 \
    static void fuzz_test(void)                                                \
    {                                                                          \
        fuzz_fixed_seed(seed, size, one, tame);                                \
    }                                                                          \
    int main(int argc, char **argv)                                            \
    {                                                                          \
        g_test_init(&argc, &argv, NULL);                                       \
        g_test_add_func(name, fuzz_test);                                      \
        return g_test_run();                                                   \
    }
#endif

#endif
