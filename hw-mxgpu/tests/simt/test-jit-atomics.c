/* SPDX-License-Identifier: MIT */
/* Atomics of compiled code against those of the interpreter, lanes in their order.
 * test_jit_atomics KERNELS.elf */
#include "jit_both.h"

#define BYTES (14 * 4096) /* that the kernel goes to */

static void set_atomics(Both *b, uint64_t at, unsigned apart, uint64_t goes,
                        uint64_t does)
{
    set(b, 0, at);
    set(b, 1, 30);
    set(b, 2, apart);
    set(b, 3, goes);
    set(b, 4, does);
    set(b, 5, 64);
    set(b, 6, 0);
    for (unsigned k = 0; k < 2; k++) {
        b->run[k].args[2] = 16;
        b->run[k].d.shared = BYTES;
    }
}

/* By all lanes, by many, few, one, in the whole warp and where others have gone. */
static void do_lanes(const char *kernel)
{
    static const unsigned aparts[] = {0, 16, 48, 8};
    static const uint64_t goes[] = {UINT64_MAX, 0x8100004000000010, 1ull << 37,
                                    0xffff00ff0000ff00};
    static const uint64_t does[] = {UINT64_MAX, 0x5555555555555555,
                                    0x8000000000000001, 0x00ff000000000000};

    for (unsigned i = 0; i < G_N_ELEMENTS(goes); i++) {
        Both b = both_new(kernel, 1, 64);

        fill(&b, 21);
        for (unsigned k = 0; k < G_N_ELEMENTS(aparts); k++) {
            for (unsigned n = 0; n < 2 * G_N_ELEMENTS(does); n++) {
                set_atomics(&b, PLACE, aparts[k], goes[i], does[n / 2]);
                compare(&b, MXGPU_FAULT_NONE, true);
            }
        }
        compiled(&b);
        both_free(&b);
    }
}

/* One address for all, some for several, each its own. */
static void test_lanes(void)
{
    do_lanes("atomics");
}

static void test_one(void)
{
    do_lanes("atomics_one");
}

/* In shared and private memory, one after the other; over a granule's end. */
static void do_places(const char *kernel)
{
    static const uint64_t places[] = {
        PLACE, MXGPU_SHARED_BASE, PLACE + 64, MXGPU_PRIVATE_END - 65536,
        MXGPU_SHARED_BASE, PLACE + (2 << 20) - BYTES / 2, HOST_SMALL_VA};
    static const uint64_t goes[] = {UINT64_MAX, 0x1100000000010000, 16};

    for (unsigned i = 0; i < G_N_ELEMENTS(goes); i++) {
        Both b = both_new(kernel, 1, 64);

        fill(&b, 22);
        for (unsigned k = 0; k < 3 * G_N_ELEMENTS(places); k++) {
            b.run[0].d.private_bytes = b.run[1].d.private_bytes = 131072;
            set_atomics(&b, places[k / 3], k & 1 ? 16 : 32, goes[i],
                        0xffff00ffffffffff);
            compare(&b, MXGPU_FAULT_NONE, true);
        }
        compiled(&b);
        both_free(&b);
    }
}

/* Warps that are together, in rows, too. */
static void do_whole(const char *kernel)
{
    for (unsigned width = 16; width <= 256; width *= 4) {
        Both b = both_new(kernel, 1, width);

        fill(&b, 23);
        for (unsigned k = 0; k < 6; k++) {
            set_atomics(&b, k & 1 ? MXGPU_SHARED_BASE : PLACE, 16, UINT64_MAX,
                        k & 4 ? 0x3333333333333333 : UINT64_MAX);
            for (unsigned n = 0; n < 2; n++) {
                b.run[n].args[2] = 0;
                b.run[n].d.block[1] = THREADS / width;
            }
            compare(&b, MXGPU_FAULT_NONE, true);
        }
        compiled(&b);
        both_free(&b);
    }
}

/* A lane is not aligned any more, or not where there is memory: in that turn none has
 * done anything. */
static void do_faults(const char *kernel)
{
    const uint64_t end = HOST_DATA_VA + HOST_DATA_BYTES;
    const struct {
        uint64_t at, further;
        enum mxgpu_fault fault;
    } ends[] = {
        {PLACE, 2, MXGPU_FAULT_MISALIGNED},
        {MXGPU_SHARED_BASE, 4, MXGPU_FAULT_MISALIGNED},
        {PLACE, end - PLACE, MXGPU_FAULT_NOT_PRESENT},
        {end - BYTES, BYTES, MXGPU_FAULT_NOT_PRESENT},
        {MXGPU_SHARED_BASE, BYTES, MXGPU_FAULT_WINDOW},
    };
    static const uint64_t goes[] = {UINT64_MAX, 0xa100000000000011, 1ull << 61};

    for (unsigned k = 0; k < G_N_ELEMENTS(goes); k++) {
        for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++) {
            Both b = both_new(kernel, 1, 64);

            fill(&b, 24);
            for (unsigned n = 0; n < 3; n++) {
                set_atomics(&b, ends[i].at, 16, goes[k], UINT64_MAX);
                compare(&b, MXGPU_FAULT_NONE, true);
            }
            compiled(&b);
            set(&b, 5, 61);
            set(&b, 6, ends[i].further);
            compare(&b, ends[i].fault, true);
            both_free(&b);
        }
    }
}

static void test_places(void)
{
    do_places("atomics");
}

static void test_whole(void)
{
    do_whole("atomics");
}

static void test_faults(void)
{
    do_faults("atomics");
}

static void test_compares(void)
{
    do_lanes("compares");
    do_places("compares");
    do_whole("compares");
    do_faults("compares");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_setenv("MXGPU_JIT_CACHE", "", TRUE);
    elf = argv[1];
    g_test_add_func("/jit-atomics/lanes", test_lanes);
    g_test_add_func("/jit-atomics/one", test_one);
    g_test_add_func("/jit-atomics/places", test_places);
    g_test_add_func("/jit-atomics/whole", test_whole);
    g_test_add_func("/jit-atomics/faults", test_faults);
    g_test_add_func("/jit-atomics/compares", test_compares);
    return g_test_run();
}
