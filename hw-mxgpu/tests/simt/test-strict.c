/* SPDX-License-Identifier: MIT */
/*
 * Dispatches with strict_align: each load and store, in each kind of memory and
 * for each way in which lanes' addresses may lie.
 */
#include <string.h>

#include "simt/state.h"
#include "simt_host.h"

#define LANE       0xccc022f3u /* csrr t0, lane */
#define LD_BASE    0x00053583u /* ld a1, 0(a0) */
#define LD_STRIDE  0x00853603u /* ld a2, 8(a0) */
#define SQUARE     0x025283b3u /* mul t2, t0, t0 */
#define SCALE(r)   (0x02c00333u | (r) << 15) /* mul t1, r, a2 */
#define ADD_BASE   0x00b30333u /* add t1, t1, a1 */
#define IS_37      0x0252ce13u /* xori t3, t0, 37 */
#define SEQZ       0x001e3e13u /* seqz t3, t3 */
#define ADD_T3     0x01c30333u /* add t1, t1, t3 */
#define ODD        0x0012fe13u /* andi t3, t0, 1 */
#define SKIP_IF    0x000e1463u /* bnez t3, +8 */
#define MANY       0x00005e37u /* lui t3, 5: 20480 */
#define LW_T2(imm) (0x0005a383u | (imm) << 20) /* lw t2, imm(a1) */
#define DOWN       0xfffe0e13u /* addi t3, t3, -1 */
#define BACK_2     0xfe0e1ce3u /* bnez t3, -8 */
#define EXIT       0x0000000bu
#define T0 5u
#define T2 7u

typedef struct Access {
    const char *name;
    unsigned opcode, funct3;
} Access;

static const Access accesses[] = {
    {"lb", 0x03, 0},  {"lh", 0x03, 1},  {"lw", 0x03, 2},  {"ld", 0x03, 3},
    {"lbu", 0x03, 4}, {"lhu", 0x03, 5}, {"lwu", 0x03, 6}, {"flh", 0x07, 1},
    {"flw", 0x07, 2}, {"fld", 0x07, 3}, {"sb", 0x23, 0},  {"sh", 0x23, 1},
    {"sw", 0x23, 2},  {"sd", 0x23, 3},  {"fsh", 0x27, 1}, {"fsw", 0x27, 2},
    {"fsd", 0x27, 3},
};

static const uint64_t spaces[] = {
    HOST_DATA_VA + (4 << 20), HOST_SMALL_VA, HOST_SYS_VA,
    (uint64_t)MXGPU_SHARED_BASE, (uint64_t)MXGPU_PRIVATE_END - 65536,
};

/* Lane l is at base + stride * l, or stride * l * l; one: and 1 more, if it is
 * lane 37. */
typedef struct Layout {
    unsigned stride; /* times the size */
    bool square, one;
} Layout;

static const Layout layouts[] = {
    {0, false, false}, {1, false, false}, {3, false, false},
    {1, true, false},  {1, false, true},
};

typedef struct Case {
    const Access *access;
    const Layout *layout;
    uint64_t base;
    uint32_t imm;
    bool masked; /* even lanes only */
} Case;

static unsigned size_of(const Access *a)
{
    return 1u << (a->funct3 & 3);
}

static bool is_store(const Access *a)
{
    return a->opcode & 0x20;
}

/* x6 is the address, register 7 the value. */
static uint32_t encode(const Access *a, uint32_t imm)
{
    uint32_t insn = 6u << 15 | a->funct3 << 12 | a->opcode;

    return is_store(a) ? insn | imm >> 5 << 25 | 7u << 20 | (imm & 31) << 7
                       : insn | imm << 20 | 7u << 7;
}

static uint64_t address(const Case *c, unsigned lane)
{
    const Layout *l = c->layout;

    return c->base + c->imm + (l->one && lane == 37) +
           (uint64_t)size_of(c->access) * l->stride *
               (l->square ? lane * lane : lane);
}

/* The lane that faults, or LANES. */
static unsigned wrong_lane(const Case *c)
{
    for (unsigned lane = 0; lane < LANES; lane++) {
        if ((!c->masked || lane % 2 == 0) &&
            address(c, lane) % size_of(c->access)) {
            return lane;
        }
    }
    return LANES;
}

/* Writes the kernel; returns where its access is. */
static uint64_t assemble(SimtHost *h, const Case *c)
{
    uint32_t code[16];
    uint64_t *args = simt_host_data(h, HOST_DATA_VA), pc;
    unsigned n = 0;

    args[0] = c->base;
    args[1] = (uint64_t)size_of(c->access) * c->layout->stride;
    code[n++] = LANE;
    code[n++] = LD_BASE;
    code[n++] = LD_STRIDE;
    code[n++] = SQUARE;
    code[n++] = SCALE(c->layout->square ? T2 : T0);
    code[n++] = ADD_BASE;
    if (c->layout->one) {
        code[n++] = IS_37;
        code[n++] = SEQZ;
        code[n++] = ADD_T3;
    }
    if (c->masked) {
        code[n++] = ODD;
        code[n++] = SKIP_IF;
    }
    pc = HOST_CODE_VA + 4 * n;
    code[n++] = encode(c->access, c->imm);
    code[n++] = EXIT;
    memcpy(simt_host_data(h, HOST_CODE_VA), code, 4 * n);
    return pc;
}

static MxgpuDispatch dispatch(void)
{
    MxgpuDispatch d = simt_host_dispatch(HOST_CODE_VA, 1, 128);

    d.private_bytes = 65536;
    d.shared = 65536;
    return d;
}

static void check(SimtHost *h, const Case *c)
{
    MxgpuDispatch d = dispatch();
    unsigned lane = wrong_lane(c);
    uint64_t pc = assemble(h, c);
    MxgpuDispatchFault f;

    g_assert_cmpint(simt_host_run(h, &d).code, ==, MXGPU_FAULT_NONE);
    d.strict_align = true;
    f = simt_host_run(h, &d);
    if (lane == LANES) {
        g_assert_cmpint(f.code, ==, MXGPU_FAULT_NONE);
        return;
    }
    g_assert_cmpint(f.code, ==, MXGPU_FAULT_MISALIGNED);
    g_assert_cmpint(f.access, ==, is_store(c->access) ? MXGPU_ACCESS_WRITE
                                                      : MXGPU_ACCESS_READ);
    g_assert_cmphex(f.addr, ==, address(c, lane));
    g_assert_cmphex(f.pc, ==, pc);
    g_assert_cmpuint(f.thread % LANES, ==, lane);
}

static void check_offsets(SimtHost *h, Case c)
{
    unsigned size = size_of(c.access);
    uint64_t base = c.base;
    const struct {
        unsigned base, imm;
    } offsets[] = {{0, 0}, {1, 0}, {0, 1}, {1, size - 1}, {size / 2, 0}};

    for (unsigned i = 0; i < G_N_ELEMENTS(offsets); i++) {
        c.base = base + offsets[i].base;
        c.imm = offsets[i].imm;
        check(h, &c);
    }
}

static void test_access(const void *opaque)
{
    const Access *a = opaque;
    SimtHost *h = simt_host_new(1);

    for (unsigned s = 0; s < G_N_ELEMENTS(spaces); s++) {
        for (unsigned l = 0; l < 2 * G_N_ELEMENTS(layouts); l++) {
            check_offsets(h, (Case){.access = a, .layout = &layouts[l / 2],
                                    .base = spaces[s], .masked = l % 2});
        }
    }
    simt_host_free(h);
}

/* What is looked at is not counted, unless that was asked for too. */
static void test_counts(void)
{
    SimtHost *h = simt_host_new(1);
    Case c = {.access = &accesses[2], .layout = &layouts[1],
              .base = spaces[0]};
    MxgpuDispatch d = dispatch();
    MxgpuSimtCounters counts;

    assemble(h, &c);
    d.strict_align = true;
    g_assert_cmpint(simt_host_run(h, &d).code, ==, MXGPU_FAULT_NONE);
    mxgpu_simt_counters(h->simt, &counts);
    g_assert_cmpuint(counts.warp_instructions, ==, 16);
    g_assert_cmpuint(counts.mem_requests, ==, 0);
    g_assert_cmpuint(counts.tlb_lookups, ==, 0);
    d.accesses = true;
    g_assert_cmpint(simt_host_run(h, &d).code, ==, MXGPU_FAULT_NONE);
    mxgpu_simt_counters(h->simt, &counts);
    g_assert_cmpuint(counts.warp_instructions, ==, 32);
    g_assert_cmpuint(counts.mem_requests, ==, 6);
    simt_host_free(h);
}

/* Of a profiled dispatch what is not in a span is looked at, too. */
static void test_spans(void)
{
    const uint32_t code[] = {LD_BASE, MANY,     LW_T2(0), DOWN,
                             BACK_2,  LW_T2(1), EXIT};
    SimtHost *h = simt_host_new(1);
    uint64_t *args = simt_host_data(h, HOST_DATA_VA);
    MxgpuDispatch d = dispatch();
    MxgpuDispatchFault f;
    MxgpuSimtCounters c;

    args[0] = spaces[0];
    memcpy(simt_host_data(h, HOST_CODE_VA), code, sizeof(code));
    d.block[0] = 64;
    d.profile = d.strict_align = true;
    f = simt_host_run(h, &d);
    g_assert_cmpint(f.code, ==, MXGPU_FAULT_MISALIGNED);
    g_assert_cmphex(f.addr, ==, spaces[0] + 1);
    g_assert_cmphex(f.pc, ==, HOST_CODE_VA + 20);
    mxgpu_simt_slot_counters(h->simt, 0, &c);
    g_assert_cmpuint(c.counted_spans, ==, 1);
    g_assert_cmpuint(c.warp_instructions, >=, 3 * 20480);
    g_assert_cmpuint(c.counted_instructions, <=, 512 + 3);
    g_assert_cmpuint(c.mem_requests, >, 512 / 3);
    g_assert_cmpuint(c.mem_requests, <=, 515 / 3 + 1);
    simt_host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(accesses); i++) {
        g_autofree char *path =
            g_strdup_printf("/simt/strict/%s", accesses[i].name);

        g_test_add_data_func(path, &accesses[i], test_access);
    }
    g_test_add_func("/simt/strict/counts", test_counts);
    g_test_add_func("/simt/strict/spans", test_spans);
    return g_test_run();
}
