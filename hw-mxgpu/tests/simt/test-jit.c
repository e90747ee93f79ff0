/* SPDX-License-Identifier: MIT */
/* Compiled code against the interpreter. test_jit KERNELS.elf */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jit_both.h"

static void test_global(void)
{
    Both b = both_new("walk", 4, THREADS / 4);

    fill(&b, 1);
    /* in a row, each for itself, over several granules */
    set_walk(&b, PLACE, 4, 4 * THREADS, 20);
    compare(&b, MXGPU_FAULT_NONE, true);
    set_walk(&b, PLACE, 400, 4, 20);
    compare(&b, MXGPU_FAULT_NONE, true);
    set_walk(&b, PLACE + 12, 40000, 1028, 1);
    compare(&b, MXGPU_FAULT_NONE, true);
    compiled(&b);
    /* a program that waits for its children does not wait for the compiler */
    g_assert_cmpint(waitpid(-1, NULL, 0), ==, -1);
    g_assert_cmpint(errno, ==, ECHILD);
    both_free(&b);
}

static void test_windows(void)
{
    Both b = both_new("walk", 4, THREADS / 4);

    fill(&b, 2);
    for (unsigned i = 0; i < 2; i++) {
        b.run[i].d.shared = 32768;
    }
    set_walk(&b, MXGPU_SHARED_BASE, 8, 96, 200);
    compare(&b, MXGPU_FAULT_NONE, true);
    set_walk(&b, MXGPU_PRIVATE_END - 4096, 0, 12, 200);
    compare(&b, MXGPU_FAULT_NONE, true);
    set_walk(&b, MXGPU_PRIVATE_END - 4096, 4, 8, 100);
    compare(&b, MXGPU_FAULT_NONE, true);
    compiled(&b);
    both_free(&b);
}

/* One thread leaves its block's shared memory, its stack, what is mapped. */
static void test_faults(void)
{
    static const struct {
        uint64_t at;
        enum mxgpu_fault fault;
    } ends[] = {
        {MXGPU_SHARED_BASE + 32768, MXGPU_FAULT_WINDOW},
        {MXGPU_PRIVATE_END, MXGPU_FAULT_WINDOW},
        {HOST_SMALL_VA + (1 << 20), MXGPU_FAULT_NOT_PRESENT},
        {HOST_DATA_VA + HOST_DATA_BYTES, MXGPU_FAULT_NOT_PRESENT},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++) {
        for (unsigned lane = 0; lane < 64; lane += 21) {
            Both b = both_new("walk", 1, 64);

            fill(&b, 3);
            b.run[0].d.shared = b.run[1].d.shared = 32768;
            set_walk(&b, ends[i].at - 4096, 0, 4, 100);
            compare(&b, MXGPU_FAULT_NONE, true);
            set(&b, 2 * lane + 1, 1025);
            compare(&b, ends[i].fault, true);
            compiled(&b);
            both_free(&b);
        }
    }
}

#define TABLE (PLACE + (2 << 20))

/* From "at" on, or for every other thread from "other". */
static void set_collect(Both *b, uint64_t at, uint64_t other, unsigned turns,
                        unsigned more)
{
    for (unsigned t = 0; t < THREADS; t++) {
        set(b, 2 * t, t & 1 ? other + 16 * t : at + 16 * t);
        set(b, 2 * t + 1, turns + t * 37 % more);
    }
    for (unsigned k = 0; k < 2; k++) {
        b->run[k].args[2] = 12;
        b->run[k].args[3] = TABLE;
        b->run[k].d.shared = 65536;
    }
}

/* Loops whose lanes go one after the other: they all go as far, or hardly one does;
 * for more turns than they do at a time, for longer than a slice; where they leave
 * what their loads have been to: never, always, once. */
static void test_collect(void)
{
    const uint64_t shared = MXGPU_SHARED_BASE + 1024;
    const uint64_t mine = MXGPU_PRIVATE_END - 7168;
    const uint64_t edge = PLACE + (2 << 20) - 10000;
    const struct {
        uint64_t at, other;
        unsigned turns, more;
    } walks[] = {
        {PLACE, PLACE, 1, 28},           {PLACE, PLACE, 30, 3},
        {PLACE, PLACE, 60, 200},         {PLACE, PLACE + 1, 1, 60},
        {shared, shared, 5, 100},        {PLACE, shared, 5, 100},
        {mine, mine, 5, 100},            {edge, edge, 40, 300},
        {edge, HOST_SMALL_VA + 65536, 100, 300}, {PLACE, PLACE, 1100, 1500},
    };

    for (unsigned warps = 1; warps <= 4; warps *= 4) {
        Both b = both_new("collect", 1, 64 * warps);

        fill(&b, 6);
        for (unsigned i = 0; i < G_N_ELEMENTS(walks); i++) {
            set_collect(&b, walks[i].at, walks[i].other, walks[i].turns,
                        walks[i].more);
            for (unsigned n = 0; n < 3; n++) {
                compare(&b, MXGPU_FAULT_NONE, true);
            }
        }
        compiled(&b);
        both_free(&b);
    }
}

/* Rows whose numbers of turns are known when they begin: two lanes go at a time. They
 * end together, or do not; for more turns than they do at a time; what indices lead to
 * has no one site; is not mapped, for some. */
static void test_rows(void)
{
    const uint64_t end = HOST_DATA_VA + HOST_DATA_BYTES;
    const struct {
        uint64_t table;
        unsigned turns, more;
    } walks[] = {
        {TABLE, 2, 28},  {TABLE, 30, 1},         {TABLE, 60, 200},
        {TABLE, 6, 3},   {HOST_SMALL_VA, 2, 40}, {TABLE, 64, 1},
        {TABLE, 1, 130}, {end - 0x30000, 4, 60},
    };

    for (unsigned threads = 1; threads <= 256; threads *= 4) {
        Both b = both_new("rows", 1, threads);

        fill(&b, 31);
        for (unsigned n = 0; n < 4 * G_N_ELEMENTS(walks); n++) {
            const uint64_t at = PLACE + 65536, table = walks[n / 4].table;

            if (table > TABLE && threads > 64) { /* other warps may get further */
                break;
            }
            set_collect(&b, at, at + 32768 + n, walks[n / 4].turns,
                        walks[n / 4].more);
            b.run[0].args[3] = b.run[1].args[3] = table;
            compare(&b,
                    table > TABLE && threads > 1 ? MXGPU_FAULT_NOT_PRESENT
                                                 : MXGPU_FAULT_NONE,
                    true);
        }
        compiled(&b);
        both_free(&b);
    }
}

/* Some lane's index is the first to lead to a granule that the load has not been to, in
 * any turn of one of the two lanes that go, or of the last one. */
static void test_rows_leave(void)
{
    for (unsigned threads = 59; threads <= 64; threads++) {
        Both b = both_new("rows", 1, threads);

        fill(&b, threads);
        for (unsigned n = 0; n < 60; n++) {
            set_collect(&b, PLACE + 65536, PLACE + 131072 + 512 * n, 3,
                        n % 3 ? 40 : 3);
            b.run[0].args[3] = b.run[1].args[3] =
                HOST_DATA_VA + ((16 + n) << 21) - 0x3f800;
            compare(&b, MXGPU_FAULT_NONE, true);
        }
        compiled(&b);
        both_free(&b);
    }
}

/* A counter goes past its end, and the loads out of what is mapped. */
static void test_rows_endless(void)
{
    const uint64_t at = HOST_DATA_VA + HOST_DATA_BYTES - 16384;

    for (unsigned threads = 3; threads <= 64; threads += 61) {
        Both b = both_new("rows", 1, threads);

        fill(&b, 5);
        for (unsigned n = 0; n < 4; n++) {
            set_collect(&b, at, at + 4096, 3, 40);
            compare(&b, MXGPU_FAULT_NONE, true);
        }
        compiled(&b);
        b.run[0].args[2] = b.run[1].args[2] = 2;
        compare(&b, MXGPU_FAULT_NOT_PRESENT, true);
        both_free(&b);
    }
}

/* One lane leaves what is mapped, or the block's shared memory, by one load or the
 * other, in any turn. */
static void test_collect_faults(void)
{
    const uint64_t end = HOST_DATA_VA + HOST_DATA_BYTES;
    const uint64_t shared = MXGPU_SHARED_BASE;
    static const enum mxgpu_fault faults[] = {
        MXGPU_FAULT_NOT_PRESENT, MXGPU_FAULT_WINDOW, MXGPU_FAULT_WINDOW,
        MXGPU_FAULT_WINDOW};

    for (unsigned turn = 1; turn < 200; turn += 33) {
        const struct {
            uint64_t others, at, stride;
        } ends[] = {
            {end - 16384, end - 12 * turn, 12},
            {shared + 16384, shared + 65536 - 12 * turn, 12},
            {shared + 16384, shared + 65536 - 8 * turn, 4},
            {shared + 16384, shared + 2 * turn, 4},
        };

        for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++) {
            Both b = both_new("collect", 1, 64);

            fill(&b, 7);
            set_collect(&b, ends[i].others, ends[i].others, 20, 50);
            b.run[0].args[2] = b.run[1].args[2] = ends[i].stride;
            for (unsigned n = 0; n < 3; n++) {
                compare(&b, MXGPU_FAULT_NONE, true);
            }
            compiled(&b);
            set(&b, 2 * 27, ends[i].at);
            set(&b, 2 * 27 + 1, turn);
            compare(&b, MXGPU_FAULT_NONE, true);
            set(&b, 2 * 27 + 1, 300);
            compare(&b, faults[i], true);
            both_free(&b);
        }
    }
}

static void set_abreast(Both *b, uint64_t at, uint64_t apart, uint64_t stride,
                        unsigned turns)
{
    set(b, 0, at);
    set(b, 1, turns);
    set(b, 2, apart);
    b->run[0].args[2] = b->run[1].args[2] = stride;
}

/* Warps that are together: words side by side, in rows, apart, one for all
 * (which is each thread's own in private memory). */
static void test_whole(void)
{
    static const struct {
        uint64_t at;
        unsigned apart, stride;
    } walks[] = {
        {PLACE, 4, 4 * THREADS},
        {PLACE + 8, 12, 12 * THREADS},
        {MXGPU_SHARED_BASE, 4, 4 * THREADS},
        {MXGPU_PRIVATE_END - 8192, 0, 4},
        {PLACE, 4, 4 * THREADS},
    };
    static const unsigned widths[] = {256, 16, 32, 4};

    for (unsigned i = 0; i < G_N_ELEMENTS(widths); i++) {
        Both b = both_new("abreast", 1, widths[i]);

        fill(&b, 4);
        for (unsigned k = 0; k < 2; k++) {
            b.run[k].d.shared = 65536;
            b.run[k].d.block[1] = THREADS / widths[i];
        }
        for (unsigned k = 0; k < G_N_ELEMENTS(walks); k++) {
            set_abreast(&b, walks[k].at, walks[k].apart, walks[k].stride, 60);
            compare(&b, MXGPU_FAULT_NONE, true);
            compare(&b, MXGPU_FAULT_NONE, true);
        }
        compiled(&b);
        both_free(&b);
    }
}

/* What code takes for words because it was so far is none any more. */
static void test_large_lines(void)
{
    static const uint64_t firsts[] = {
        0,          5000,       0x3fffff00, 0x7fffff20,        0x80000000,
        0xffffff80, 1ull << 32, 5ull << 33, (uint64_t)INT32_MIN, UINT64_MAX - 999};

    for (unsigned width = 16; width <= 256; width *= 4) {
        Both b = both_new("compare_lines", 1, width);

        for (unsigned k = 0; k < 2; k++) {
            b.run[k].d.block[1] = THREADS / width;
        }
        set(&b, 1, 40);
        set(&b, 2, 5050);
        for (unsigned k = 0; k < G_N_ELEMENTS(firsts); k++) {
            set(&b, 0, firsts[k]);
            for (unsigned n = 0; n < 3; n++) {
                compare(&b, MXGPU_FAULT_NONE, true);
            }
        }
        compiled(&b);
        both_free(&b);
    }
}

static void test_floats(void)
{
    for (unsigned width = 32; width <= 256; width *= 8) {
        Both b = both_new("floats", 1, width);

        b.run[0].d.block[1] = b.run[1].d.block[1] = THREADS / width;
        for (unsigned turns = 1; turns < 60; turns += 3) {
            set(&b, 0, turns);
            compare(&b, MXGPU_FAULT_NONE, true);
        }
        compiled(&b);
        both_free(&b);
    }
}

/* Warps that are together behind barriers of a loop, and in rows. */
static void test_barriers(void)
{
    static const unsigned widths[] = {256, 64, 16, 32, 4};

    for (unsigned i = 0; i < G_N_ELEMENTS(widths); i++) {
        Both b = both_new("wave", 1, widths[i]);

        for (unsigned k = 0; k < 2; k++) {
            b.run[k].d.shared = 32768;
            b.run[k].d.block[1] = THREADS / widths[i];
        }
        for (unsigned turns = 40; turns < 160; turns += 37) {
            set(&b, 0, turns);
            set(&b, 1, THREADS);
            compare(&b, MXGPU_FAULT_NONE, true);
        }
        compiled(&b);
        both_free(&b);
    }
}

/* A thread of the last warp leaves what is mapped, or the block's shared memory;
 * the others may have got further by then. */
static void test_whole_faults(void)
{
    static const struct {
        uint64_t end;
        enum mxgpu_fault fault;
    } ends[] = {
        {MXGPU_SHARED_BASE + 32768, MXGPU_FAULT_WINDOW},
        {HOST_DATA_VA + HOST_DATA_BYTES, MXGPU_FAULT_NOT_PRESENT},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++) {
        Both b = both_new("abreast", 1, THREADS);
        const unsigned row = 4 * THREADS;
        MxgpuDispatchFault f[2];
        uint64_t at;

        fill(&b, 5);
        b.run[0].d.shared = b.run[1].d.shared = 32768;
        at = ends[i].end - 32 * row;
        set_abreast(&b, at, 4, row, 32);
        for (unsigned k = 0; k < 4; k++) {
            compare(&b, MXGPU_FAULT_NONE, true);
        }
        compiled(&b);
        set_abreast(&b, at + 4 * 32, 4, row, 32);
        for (unsigned k = 0; k < 2; k++) {
            f[k] = simt_host_run(b.run[k].h, &b.run[k].d);
        }
        g_assert_cmpint(f[0].code, ==, ends[i].fault);
        g_assert_cmpint(f[1].code, ==, ends[i].fault);
        g_assert_cmphex(f[0].addr, ==, f[1].addr);
        g_assert_cmphex(f[0].addr, ==, ends[i].end);
        g_assert_cmphex(f[0].pc, ==, f[1].pc);
        g_assert_cmpuint(f[0].thread, ==, f[1].thread);
        both_free(&b);
    }
}

static void set_pairs(Both *b, uint64_t at, uint64_t apart, uint64_t order)
{
    set(b, 0, at);
    set(b, 1, 40);
    set(b, 2, apart);
    b->run[0].args[2] = b->run[1].args[2] = order;
}

/* Words side by side, which a host's gathers and scatters take two at a time but
 * where lanes overlap. */
static void test_pairs(void)
{
    static const uint64_t places[] = {PLACE, PLACE + 4, PLACE + 2,
                                      MXGPU_SHARED_BASE,
                                      MXGPU_PRIVATE_END - 8192};
    static const unsigned aparts[] = {8, 12, 16, 4, 20};

    for (unsigned i = 0; i < G_N_ELEMENTS(places); i++) {
        bool is_private = places[i] == MXGPU_PRIVATE_END - 8192;
        Both b = both_new("pairs", 1, is_private ? 64 : THREADS);

        fill(&b, 11);
        b.run[0].d.shared = b.run[1].d.shared = 32768;
        for (unsigned k = 0; k < 2 * G_N_ELEMENTS(aparts); k++) {
            set_pairs(&b, places[i], aparts[k / 2], k & 1 ? 5 : 1);
            compare(&b, MXGPU_FAULT_NONE, true);
            compare(&b, MXGPU_FAULT_NONE, true);
        }
        compiled(&b);
        both_free(&b);
    }
}

/* The second of two words is not mapped. */
static void test_half_pair(void)
{
    const uint64_t end = HOST_DATA_VA + HOST_DATA_BYTES;
    Both b = both_new("pairs", 1, 64);

    fill(&b, 12);
    for (unsigned k = 0; k < 4; k++) {
        set_pairs(&b, end - 8 * 64, 8, k & 1 ? 5 : 1);
        compare(&b, MXGPU_FAULT_NONE, true);
    }
    compiled(&b);
    for (unsigned k = 0; k < 4; k++) {
        set_pairs(&b, end - 8 * 64 + 4, 8, k & 1 ? 5 : 1);
        compare(&b, MXGPU_FAULT_NOT_PRESENT, true);
    }
    both_free(&b);
}

static void test_eights(void)
{
    static const uint64_t places[] = {PLACE, PLACE + 4, MXGPU_SHARED_BASE,
                                      MXGPU_PRIVATE_END - 8192};
    static const unsigned bits[] = {63, 7, 56, 15, 3, 55, 62, 0};

    for (unsigned i = 0; i < G_N_ELEMENTS(places); i++) {
        Both b = both_new("eights", 1, i == 3 ? 64 : THREADS);

        fill(&b, 13);
        for (unsigned k = 0; k < 9 * G_N_ELEMENTS(bits); k++) {
            set(&b, 0, places[i]);
            set(&b, 1, 40);
            set(&b, 2, bits[k / 9]);
            set(&b, 3, k % 9);
            set(&b, 4, k % 4 == 3);
            for (unsigned n = 0; n < 2; n++) {
                b.run[n].d.shared = 32768;
                b.run[n].args[2] = k % 5 * 8;
            }
            compare(&b, MXGPU_FAULT_NONE, true);
        }
        compiled(&b);
        both_free(&b);
    }
}

/* Rows that warps have several of, that are as long as warps, longer, or neither;
 * planes that end in the middle of a warp. */
static void test_indices(void)
{
    static const uint32_t shapes[][6] = {
        {256, 1, 1, 2, 1, 1}, {64, 4, 1, 1, 2, 1},  {128, 2, 1, 2, 1, 1},
        {32, 8, 1, 1, 1, 2},  {16, 16, 1, 2, 1, 1}, {8, 8, 4, 1, 2, 1},
        {64, 2, 2, 1, 1, 2},  {192, 1, 1, 2, 1, 1}, {32, 3, 2, 2, 1, 1},
        {16, 2, 8, 1, 2, 1},  {1, 64, 4, 1, 1, 1},  {96, 2, 1, 2, 1, 1},
        {4, 4, 16, 2, 1, 1},  {2, 32, 4, 1, 1, 2}};

    for (unsigned i = 0; i < G_N_ELEMENTS(shapes); i++) {
        Both b = both_new("indices", 1, THREADS);

        for (unsigned k = 0; k < 2; k++) {
            memcpy(b.run[k].d.block, shapes[i], sizeof(b.run[k].d.block));
            memcpy(b.run[k].d.grid, shapes[i] + 3, sizeof(b.run[k].d.grid));
        }
        set(&b, 0, 40);
        for (unsigned n = 0; n < 2; n++) {
            compare(&b, MXGPU_FAULT_NONE, true);
        }
        compiled(&b);
        both_free(&b);
    }
}

/* A kernel that goes through a list of numbers of 8 bytes, with all lanes, a few
 * and one. */
static void compare_numbers(const char *kernel, const void *numbers,
                            unsigned count, unsigned times)
{
    static const unsigned threads[] = {THREADS, 5, 1};

    for (unsigned i = 0; i < G_N_ELEMENTS(threads); i++) {
        Both b = both_new(kernel, 1, threads[i]);

        for (unsigned k = 0; k < 2; k++) {
            memcpy(simt_host_data(b.run[k].h, PLACE), numbers, 8 * count);
        }
        set(&b, 0, PLACE);
        set(&b, 1, count);
        for (unsigned n = 0; n < times; n++) {
            compare(&b, MXGPU_FAULT_NONE, true);
        }
        if (i == 0) {
            compiled(&b);
        }
        both_free(&b);
    }
}

/* By zero, what overflows, words that are not sign-extended. */
static void test_quotients(void)
{
    static const uint64_t numbers[] = {
        0, 1, UINT64_MAX, 1ull << 63, 7, (uint64_t)-7, 0x80000000u, INT32_MIN,
        0x1ffffffffu, 0x123456789abcdefull, 10, INT64_MAX};

    compare_numbers("quotients", numbers, G_N_ELEMENTS(numbers), 4);
}

/* Halves, what is too large or none, each kind of number there is. */
static void test_conversions(void)
{
    static const double numbers[] = {
        0,        -0.0,       0.5,         -0.5,         1.5,          -1.5,
        2.5,      -2.5,       0.75,        -0.75,        1e10,         -1e10,
        1e20,     -1e20,      INFINITY,    -INFINITY,    NAN,          5e-324,
        -1e-310,  1e-40,      -1e-40,      2147483647.5, -2147483648.5, 1e300,
        4294967295.5, 9007199254740993.0, 16777217.0, 123456789.125, -7.25,
        __builtin_nans("")};

    compare_numbers("conversions", numbers, G_N_ELEMENTS(numbers), 8);
}

/* A block with less shared memory at the same place cannot reach what a larger
 * one could. */
static void test_less_shared(void)
{
    Both b = both_new("walk", 1, 64);

    b.run[0].d.shared = b.run[1].d.shared = 32768;
    set_walk(&b, MXGPU_SHARED_BASE + 8192, 4, 256, 40);
    compare(&b, MXGPU_FAULT_NONE, true);
    compiled(&b);
    b.run[0].d.shared = b.run[1].d.shared = 16384;
    compare(&b, MXGPU_FAULT_WINDOW, true);
    both_free(&b);
}

/* What was mapped elsewhere, or is not writable any more, is not found where it
 * was. */
static void test_remap(void)
{
    Both b = both_new("walk", 1, 64);
    uint64_t *pte[2][2];

    fill(&b, 4);
    set_walk(&b, HOST_SMALL_VA, 64, 4, 30);
    compare(&b, MXGPU_FAULT_NONE, true);
    compiled(&b);
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned k = 0; k < 2; k++) {
            pte[i][k] =
                simt_host_pte(b.run[i].h, HOST_VMID, HOST_SMALL_VA + k * 4096);
        }
        *pte[i][0] = *pte[i][1];
        mxgpu_mmu_invalidate(b.run[i].h->mmu);
    }
    compare(&b, MXGPU_FAULT_NONE, true);
    for (unsigned i = 0; i < 2; i++) {
        *pte[i][0] &= ~MXGPU_PTE_WRITE;
        mxgpu_mmu_invalidate(b.run[i].h->mmu);
    }
    compare(&b, MXGPU_FAULT_PERMISSION, true);
    both_free(&b);
}

/* Other code at the same address. */
static void test_other_code(void)
{
    Both b = walked();

    for (unsigned i = 0; i < 2; i++) {
        uint8_t *code = simt_host_data(b.run[i].h, HOST_CODE_VA);
        bool found = false;

        for (unsigned k = 0; k < 8192; k += 2) {
            uint32_t insn;

            memcpy(&insn, code + k, 4);
            if ((insn & 0xbe00707f) == 0x0000003b) { /* addw, subw */
                insn ^= 0x40000000;
                memcpy(code + k, &insn, 4);
                found = true;
            }
        }
        g_assert_true(found);
    }
    compare(&b, MXGPU_FAULT_NONE, true);
    both_free(&b);
}

static void test_mixed(void)
{
    Both b = both_new("mixed", 4, THREADS / 4);

    fill(&b, 6);
    for (unsigned t = 0; t < THREADS; t++) {
        set(&b, 2 * t, PLACE);
        set(&b, 2 * t + 1, 100 + t % 90);
    }
    for (unsigned i = 0; i < 3; i++) {
        compare(&b, MXGPU_FAULT_NONE,
                false); /* after atomics groups take turns sooner */
    }
    compiled(&b);
    both_free(&b);
}

/* Lanes that wait for others of their warp. */
static void test_progress(void)
{
    static const char *const kernels[] = {"locks", "chain"};

    for (unsigned i = 0; i < 2; i++) {
        Both b = both_new(kernels[i], 1, 64);

        memset(simt_host_data(b.run[1].h, PLACE), 0, PLACE_SIZE);
        set_walk(&b, PLACE, 0, 0, 5);
        simt_run(&b.run[1]);
        for (unsigned t = 0; t < 64 - i; t++) {
            g_assert_cmpuint(b.run[1].out[t], ==, 1);
        }
        both_free(&b);
    }
}

/* There is no compiler, or it ends. */
static void test_no_compiler(void)
{
    static const char *const programs[] = {"/nonexistent", "/bin/false"};

    for (unsigned i = 0; i < G_N_ELEMENTS(programs); i++) {
        Both b;

        g_setenv("MXGPU_JIT_PROGRAM", programs[i], TRUE);
        b = both_new("walk", 1, 64);
        fill(&b, 7);
        set_walk(&b, PLACE, 400, 4, 60);
        compare(&b, MXGPU_FAULT_NONE, true);
        g_assert_cmpuint(regions(&b), ==, 0);
        both_free(&b);
    }
    g_unsetenv("MXGPU_JIT_PROGRAM");
}

/* The compiler has nothing of the program's open. */
static void test_descriptors(void)
{
    struct pollfd end;
    int pipes[2];
    Both b;

    g_assert_cmpint(pipe(pipes), ==, 0);
    b = walked();
    close(pipes[1]);
    end = (struct pollfd){.fd = pipes[0], .events = POLLIN};
    g_assert_cmpint(poll(&end, 1, 10000), ==, 1);
    g_assert_cmpint(end.revents, ==, POLLHUP);
    close(pipes[0]);
    both_free(&b);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_setenv("MXGPU_JIT_CACHE", "", TRUE);
    elf = argv[1];
    g_test_add_func("/jit/global", test_global);
    g_test_add_func("/jit/windows", test_windows);
    g_test_add_func("/jit/faults", test_faults);
    g_test_add_func("/jit/collect", test_collect);
    g_test_add_func("/jit/rows", test_rows);
    g_test_add_func("/jit/rows-leave", test_rows_leave);
    g_test_add_func("/jit/rows-endless", test_rows_endless);
    g_test_add_func("/jit/collect-faults", test_collect_faults);
    g_test_add_func("/jit/whole", test_whole);
    g_test_add_func("/jit/large-lines", test_large_lines);
    g_test_add_func("/jit/whole-faults", test_whole_faults);
    g_test_add_func("/jit/barriers", test_barriers);
    g_test_add_func("/jit/floats", test_floats);
    g_test_add_func("/jit/pairs", test_pairs);
    g_test_add_func("/jit/half-pair", test_half_pair);
    g_test_add_func("/jit/eights", test_eights);
    g_test_add_func("/jit/indices", test_indices);
    g_test_add_func("/jit/quotients", test_quotients);
    g_test_add_func("/jit/conversions", test_conversions);
    g_test_add_func("/jit/less-shared", test_less_shared);
    g_test_add_func("/jit/remap", test_remap);
    g_test_add_func("/jit/other-code", test_other_code);
    g_test_add_func("/jit/mixed", test_mixed);
    g_test_add_func("/jit/progress", test_progress);
    g_test_add_func("/jit/no-compiler", test_no_compiler);
    g_test_add_func("/jit/descriptors", test_descriptors);
    return g_test_run();
}
