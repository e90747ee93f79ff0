/* SPDX-License-Identifier: MIT */
/*
 * Random code in random warps under random page tables must neither crash nor
 * hang the host, nor reach memory that was not given; and every build of the
 * interpreter that this host can run must come to the same registers, memory,
 * faults and counts, and so must one that forgets all it has cached every now
 * and then. Input: 16 bytes of configuration, the rest is code (and,
 * as arguments, data). With MXGPU_LIBFUZZER a libFuzzer target, else a test
 * that makes its own inputs from fixed seeds.
 */
#include <string.h>

#include "rv/rv.h"
#include "simt/exec/variants.h"
#include "simt/sched/block.h"
#include "simt/slow/float.h"
#include "simt/state.h"
#include "simt/visit.h"
#include "simt/warp/warp.h"
#include "simt_host.h"

#define CODE_BYTES   8192
#define CONFIG_BYTES 16
#define UNITS        2
#define TABLES       (4ull << 20) /* VRAM offset where page tables begin */

/* Every interpreter, and the best one counting accesses; and spans of what it
 * runs, which changes the order of warps. */
static SimtHost *hosts[SIMT_VARIANTS + 1], *counting, *sampled;
static SimtConvoyFn *convoys[SIMT_VARIANTS + 1];
static SimtExecFn *plain; /* the one that keeps the wide form only, if any */
static unsigned num_hosts;
/* Two more of the best one, with work to spare; the second one forgets, and is saved
 * and loaded. */
static SimtHost *pair[2];
static uint8_t *tables; /* as simt_host_new() makes them */
static uint64_t tables_size;

/* Few pages of code: each start scans all there are. */
static SimtHost *open_host(void)
{
    SimtHost *h = simt_host_new(UNITS);

    for (uint64_t at = 2 * CODE_BYTES; at < 1 << 20; at += 4096) {
        *simt_host_pte(h, HOST_VMID, HOST_CODE_VA + at) = 0;
    }
    return h;
}

static void open_hosts(void)
{
    SimtVariant variants[SIMT_VARIANTS];

    num_hosts = mxgpu_simt_variants(variants) + 1;
    for (unsigned i = 0; i < num_hosts; i++) {
        hosts[i] = open_host();
        if (i == num_hosts - 1) {
            convoys[i] = variants[0].convoy;
            counting = hosts[i];
            counting->simt->count = variants[0].count;
        } else {
            hosts[i]->simt->exec = variants[i].exec;
            convoys[i] = variants[i].convoy;
            if (strcmp(variants[i].name, "plain") == 0) {
                plain = variants[i].exec;
            }
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        pair[i] = open_host();
        pair[i]->simt->exec = variants[0].exec;
        pair[i]->simt->count = variants[0].count;
    }
    sampled = open_host();
    tables_size = hosts[0]->free_pages - TABLES;
    tables = g_memdup2(hosts[0]->vram + TABLES, tables_size);
}

/* What a driver, or another kernel, may have left in an entry. */
static uint64_t random_pte(const SimtHost *h, uint8_t kind, uint64_t old)
{
    uint64_t rw = PERM_RW | MXGPU_PTE_VALID;

    switch (kind & 31) {
    case 0:
        return 0;
    case 1:
        return old & ~MXGPU_PTE_WRITE;
    case 2:
        return old & ~MXGPU_PTE_READ;
    case 3:
        return old | 1ull << (52 + kind % 12);
    case 4: /* just behind VRAM */
        return HOST_VRAM_SIZE | rw;
    case 5:
        return MXGPU_PTE_ADDRESS | rw;
    case 6:
        return HOST_HOLE_BUS | rw | MXGPU_PTE_SYSTEM;
    case 7: /* nothing there */
        return 0x300000000ull | rw | MXGPU_PTE_SYSTEM;
    case 8: /* the code itself */
        return h->code | rw | MXGPU_PTE_EXECUTE;
    case 9: /* the tables themselves: the kernel writes what it likes */
    case 10:
    case 11:
        return (TABLES + (uint64_t)(kind >> 5) * 4096) | rw;
    case 12: /* a table where a leaf should be */
        return TABLES | MXGPU_PTE_VALID | MXGPU_PTE_TABLE;
    }
    return old;
}

static void prepare(SimtHost *h, const uint8_t *data, size_t size)
{
    uint8_t *code = simt_host_data(h, HOST_CODE_VA);
    uint64_t *args = simt_host_data(h, HOST_DATA_VA);

    memcpy(h->vram + TABLES, tables, tables_size);
    for (unsigned i = 0; i < 8; i++) {
        uint64_t *pte = simt_host_pte(h, HOST_VMID, HOST_SMALL_VA + i * 4096);

        *pte = random_pte(h, data[8 + i], *pte);
    }
    mxgpu_mmu_invalidate(h->mmu);
    memset(code, 0, CODE_BYTES);
    memcpy(code, data + CONFIG_BYTES,
           size - CONFIG_BYTES < CODE_BYTES ? size - CONFIG_BYTES : CODE_BYTES);
    for (unsigned i = 0; i < 32; i++) { /* addresses of every kind */
        static const uint64_t base[] = {
            HOST_DATA_VA, HOST_SMALL_VA, HOST_SYS_VA, HOST_HOLE_VA,
            MXGPU_SHARED_BASE, MXGPU_PRIVATE_END - 2048, HOST_CODE_VA, 0,
        };

        args[i] = base[i % 8] + (data[i % 8] << (i / 8));
    }
    args[9] = HOST_SMALL_VA + 4096 - data[1] % 64; /* pages of all kinds */
    args[17] = HOST_SMALL_VA + data[6] % 9 * 4096 - data[7] % 16;
    args[15] = UINT64_MAX - data[6];
    args[23] = MXGPU_VA_LIMIT - data[6];
}

/* ---- warps in the middle of something */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A value, the same in all lanes, or a line of them. */
static void random_register(SimtHost *h, MxgpuWarp *w, unsigned r,
                            uint64_t *random)
{
    uint64_t kind = next_random(random), base = next_random(random);
    const uint64_t *args = simt_host_data(h, HOST_DATA_VA);
    SimtLine line = {.base = base >> kind % 64};

    if (kind >> 8 & 1) {
        line.base = args[kind >> 9 & 31];
    }
    if (kind >> 20 & 1) {
        line.step = next_random(random) >> (kind >> 21) % 64;
        line.row = kind >> 32 & 1 ? line.step << w->c.row_shift
                                  : next_random(random) >> (kind >> 33) % 64;
    }
    simt_set_line(w, r, line);
    if (kind >> 40 & 1 || h->simt->exec == plain) {
        mxgpu_warp_widen(w, r);
        w->form[r] = FORM_WIDE;
        for (unsigned i = 0; (kind >> 40 & 3) == 3 && i < LANES; i++) {
            w->x[r][i] ^= next_random(random) >> (kind >> 42) % 64;
        }
    }
}

static void random_floats(MxgpuWarp *w, uint64_t *random)
{
    for (unsigned r = 0; r < 32; r++) {
        w->narrow[r] = next_random(random) | ~w->s.live;
        for (unsigned i = 0; i < LANES; i++) {
            w->d[r][i] = next_random(random);
            w->f[r][i] = (uint32_t)next_random(random);
        }
    }
    for (unsigned i = 0; i < LANES; i++) {
        w->s.frm[i] = *random & 1 ? 0 : next_random(random) % 6;
        w->s.fflags[i] = next_random(random) % 32;
    }
}

/* Up to four groups, anywhere in the code and in any call frame. */
static void random_groups(MxgpuWarp *w, uint64_t *random)
{
    for (unsigned n = next_random(random) % 4; n; n--) {
        uint64_t mask = w->s.cur.mask & next_random(random);
        SimtGroup group = {
            .pc = HOST_CODE_VA + next_random(random) % 256 * 2,
            .mask = mask,
            .stamp = w->s.stamps,
            .depth = (int32_t)(next_random(random) % 5) - 2,
        };

        if (mask && mask != w->s.cur.mask) {
            w->s.cur.mask &= ~mask;
            mxgpu_warp_park(w, &group);
        }
    }
}

static void scramble(SimtHost *h, const uint8_t *data)
{
    uint64_t random[2];

    memcpy(random, data, sizeof(random));
    random[0] = (random[0] ^ random[1] * 0x9e3779b97f4a7c15) | 1;
    for (unsigned i = 0; i < UNITS; i++) {
        MxgpuCu *cu = &h->simt->cus[i];

        cu->c.written_x = cu->c.written_d = UINT32_MAX;
        for (unsigned n = 0; n < CU_WARPS; n++) {
            MxgpuWarp *w = &cu->warps[n];

            if (!(cu->s.used_warps >> n & 1) || !w->s.cur.mask) {
                continue;
            }
            mxgpu_block_init_x(cu, &cu->s.blocks[w->c.block]);
            for (unsigned r = 1; r < 32; r++) {
                random_register(h, w, r, random);
            }
            random_floats(w, random);
            mxgpu_simt_fp_level(w, w->c.fp_level == 2);
            random_groups(w, random);
        }
    }
}

enum { ALL_ACCESSES = 1, SPANS = 2 };

/* counts: what is counted of the dispatch; false: it is not possible. */
static bool start(SimtHost *h, SimtConvoyFn *convoy, const uint8_t *data,
                  size_t size, unsigned counts)
{
    MxgpuDispatch d;

    prepare(h, data, size);
    d = simt_host_dispatch(HOST_CODE_VA + data[0] % 16 * 2, 1 + data[1] % 4,
                           1 + data[2]);
    if (data[0] & 0x80) { /* rows of 1 to 128 threads, or odd ones */
        d.block[0] = (1 << (data[0] >> 4 & 7)) - (data[2] == 7);
        d.block[0] += !d.block[0];
        d.block[1] = 1 + data[2] % (1024 / d.block[0]);
        d.block[2] = 1 + data[3] % (1024 / d.block[0] / d.block[1]);
    }
    /* Convoys run warps in another order, and are not counted. */
    h->simt->convoy = data[4] & 0x80 ? convoy : NULL;
    d.accesses = counts & ALL_ACCESSES && !h->simt->convoy;
    d.profile = counts & SPANS;
    d.sample_addr = HOST_SMALL_VA;
    d.sample_max = 100;
    d.sample_interval = data[6];
    d.shared = data[3] * 64;
    d.shared_static = d.shared / 2;
    d.private_bytes = data[4] % 4 * 1024;
    d.cooperative = data[1] >> 7;
    d.fp_flags = data[3] >> 7;
    h->done = 0;
    h->clock = 0;
    if (mxgpu_simt_start(h->simt, 0, &d) != MXGPU_FAULT_NONE) {
        return false;
    }
    if (data[7] & 1) {
        for (unsigned n = 0; n < UNITS; n++) {
            mxgpu_simt_run(h->simt, n, 1);
        }
        scramble(h, data);
    }
    return true;
}

static void run(SimtHost *h, unsigned steps, unsigned budget)
{
    for (unsigned n = 0; n < steps && !h->done; n++) {
        simt_host_step(h, n % UNITS, budget);
    }
}

static void finish(SimtHost *h)
{
    MxgpuSimtCounters c;

    mxgpu_simt_abort(h->simt, 0);
    for (unsigned n = 0; n < 4 && !h->done; n++) {
        mxgpu_simt_run(h->simt, n % UNITS, 50000);
    }
    g_assert_cmphex(h->done, ==, 1);
    g_assert_false(mxgpu_simt_has_work(h->simt));
    mxgpu_simt_counters(h->simt, &c);
    g_assert_cmpuint(c.lane_instructions, <=, 64 * c.warp_instructions);
    g_assert_cmpuint(c.counted_instructions, <=, c.warp_instructions);
}

/* What a saved state would be, in eight bytes. */
static int hash_bytes(void *opaque, void *ptr, size_t len)
{
    uint64_t *hash = opaque, word;

    for (size_t i = 0; i < len; i += 8) {
        word = 0;
        memcpy(&word, (uint8_t *)ptr + i, len - i < 8 ? len - i : 8);
        *hash = (*hash ^ word) * 0x100000001b3;
        *hash ^= *hash >> 32;
    }
    return 0;
}

static int hash_sparse(void *opaque, void *ptr, size_t len, size_t granule)
{
    return hash_bytes(opaque, ptr, len);
}

static int no_section(void *opaque, const char *name, unsigned version)
{
    return 0;
}

static uint64_t hash_state(SimtHost *h)
{
    static const MxgpuStateOps hashes = {
        .section = no_section,
        .bytes = hash_bytes,
        .sparse = hash_sparse,
    };
    uint64_t hash = 0;
    MxgpuVisit v = {.ops = &hashes, .opaque = &hash};

    mxgpu_simt_visit(h->simt, &v);
    g_assert_cmpint(v.error, ==, 0);
    return hash;
}

/* Some of the states in the middle, hashed; 0: not this one. */
static uint64_t run_one(SimtHost *h, SimtConvoyFn *convoy, const uint8_t *data,
                        size_t size)
{
    unsigned counts = h == counting ? ALL_ACCESSES : h == sampled ? SPANS : 0;
    uint64_t hash = 0;

    if (start(h, convoy, data, size, counts)) {
        run(h, 20, 500 + data[5]);
        if (data[5] / 4 % 8 == 0 && h != counting) {
            hash = hash_state(h);
        }
        finish(h);
    }
    return hash;
}

/* ---- the same everywhere */

static uint64_t float_bits(const MxgpuWarp *w, unsigned r, unsigned lane)
{
    return w->narrow[r] >> lane & 1 ? 0xffffffff00000000ull | w->f[r][lane]
                                    : w->d[r][lane];
}

/* Registers of the lanes that had not exited. */
static void same_warp(MxgpuWarp *a, MxgpuWarp *b)
{
    for (unsigned r = 0; r < 33; r++) {
        mxgpu_warp_widen(a, r);
        mxgpu_warp_widen(b, r);
    }
    g_assert_cmphex(a->s.live, ==, b->s.live);
    g_assert_cmpuint(a->s.instructions, ==, b->s.instructions);
    for (uint64_t m = a->s.live; m; m &= m - 1) {
        unsigned i = __builtin_ctzll(m);

        g_assert_cmphex(a->s.fflags[i], ==, b->s.fflags[i]);
        for (unsigned r = 0; r < 32; r++) {
            g_assert_cmphex(a->x[r][i], ==, b->x[r][i]);
            g_assert_cmphex(float_bits(a, r, i), ==, float_bits(b, r, i));
        }
        g_assert_cmphex(a->x[0][i], ==, 0);
    }
}

static void same_memory(SimtHost *a, SimtHost *b, uint64_t at, uint64_t size)
{
    if (memcmp(a->vram + at, b->vram + at, size) != 0) {
        g_test_message("VRAM differs at or behind 0x%lx", (unsigned long)at);
        g_test_fail();
        abort();
    }
}

/* How the best one and another hold floating point values. */
static void same_boxes(const MxgpuWarp *a, const MxgpuWarp *b)
{
    for (unsigned r = 0; r < 32; r++) {
        g_assert_cmphex(a->narrow[r] & a->s.live, ==, b->narrow[r] & b->s.live);
    }
}

static void same_warps(SimtHost *a, SimtHost *b)
{
    for (unsigned i = 0; i < UNITS; i++) {
        for (unsigned n = 0; n < 4; n++) {
            same_warp(&a->simt->cus[i].warps[n], &b->simt->cus[i].warps[n]);
            same_boxes(&a->simt->cus[i].warps[n], &b->simt->cus[i].warps[n]);
        }
    }
}

/* Those that run, before they end: a unit may have forgotten the others. */
static void same_running_warps(SimtHost *a, SimtHost *b)
{
    for (unsigned i = 0; i < UNITS; i++) {
        MxgpuCu *cu = &a->simt->cus[i], *other = &b->simt->cus[i];

        g_assert_cmphex(cu->s.used_warps, ==, other->s.used_warps);
        for (uint32_t m = cu->s.used_warps; m; m &= m - 1) {
            unsigned n = __builtin_ctz(m);

            mxgpu_block_init_x(cu, &cu->s.blocks[cu->warps[n].c.block]);
            mxgpu_block_init_x(other, &other->s.blocks[cu->warps[n].c.block]);
            same_warp(&cu->warps[n], &other->warps[n]);
        }
    }
}

static void same_state(SimtHost *a, SimtHost *b, bool misses)
{
    MxgpuDispatchFault f = mxgpu_simt_fault(a->simt, 0);
    MxgpuDispatchFault g = mxgpu_simt_fault(b->simt, 0);
    MxgpuSimtCounters c, e;

    g_assert_cmpint(f.code, ==, g.code);
    g_assert_cmpint(f.access, ==, g.access);
    g_assert_cmphex(f.addr, ==, g.addr);
    g_assert_cmphex(f.pc, ==, g.pc);
    g_assert_cmpuint(f.thread, ==, g.thread);
    g_assert_cmpmem(f.block, sizeof(f.block), g.block, sizeof(g.block));
    mxgpu_simt_counters(a->simt, &c);
    mxgpu_simt_counters(b->simt, &e);
    /* One of them counts accesses too; clocks tick by look. */
    c.busy_ns = e.busy_ns = 0;
    if (!misses) {
        c.tlb_misses = e.tlb_misses = 0;
    }
    g_assert_cmpmem(&c, offsetof(MxgpuSimtCounters, mem_requests), &e,
                    offsetof(MxgpuSimtCounters, mem_requests));
    same_memory(a, b, a->code, CODE_BYTES);
    same_memory(a, b, a->small, 16 * 4096);
    same_memory(a, b, a->data, 64 << 10);
    same_memory(a, b, TABLES, tables_size);
    g_assert_cmpmem(a->system, 64 << 10, b->system, 64 << 10);
    g_assert_cmpmem(a->hole, 4096, b->hole, 4096);
}

/*
 * With and without forgetting. What is cached may be older than memory: a
 * kernel that changes its code or its tables sees that sooner or later, so
 * these cannot be written here.
 */
static void fuzz_pair(const uint8_t *data, size_t size)
{
    g_autofree uint8_t *own = g_memdup2(data, size);
    MxgpuSimtCounters c[2];
    bool started = false;

    for (unsigned i = 8; i < 16; i++) {
        own[i] = (own[i] & 31) >= 8 && (own[i] & 31) <= 11 ? 31 : own[i];
    }
    for (unsigned i = 0; i < 2; i++) {
        simt_host_forget(pair[i], 0);
        pair[i]->simt->extra_work = INT32_MAX;
        started = start(pair[i], convoys[0], own, size,
                        own[6] & (ALL_ACCESSES | SPANS));
        simt_host_forget(pair[i], i);
        pair[i]->simt->extra_work = INT32_MAX;
        pair[i]->reload = true;
        if (started) {
            run(pair[i], 100, 100 + own[5] % 64);
        }
    }
    if (!started) {
        return;
    }
    same_running_warps(pair[0], pair[1]);
    for (unsigned i = 0; i < 2; i++) {
        finish(pair[i]);
        mxgpu_simt_counters(pair[i]->simt, &c[i]);
    }
    same_state(pair[0], pair[1], false);
    g_assert_cmpuint(c[0].mem_requests, ==, c[1].mem_requests);
    g_assert_cmpuint(c[0].mem_transactions, ==, c[1].mem_transactions);
    g_assert_cmpuint(c[0].mem_bytes, ==, c[1].mem_bytes);
    g_assert_cmpuint(c[0].tlb_lookups, ==, c[1].tlb_lookups);
    g_assert_cmpuint(c[0].shared_requests, ==, c[1].shared_requests);
    g_assert_cmpuint(c[0].bank_conflicts, ==, c[1].bank_conflicts);
    g_assert_cmpuint(c[0].counted_instructions, ==, c[1].counted_instructions);
    g_assert_cmpuint(c[0].counted_spans, ==, c[1].counted_spans);
}

static void fuzz_one(const uint8_t *data, size_t size)
{
    uint64_t first = 0;

    if (size < CONFIG_BYTES + 4) {
        return;
    }
    if (!num_hosts) {
        open_hosts();
    }
    for (unsigned i = 0; i < num_hosts; i++) {
        uint64_t hash = run_one(hosts[i], convoys[i], data, size);

        if (i == 0) {
            first = hash;
        } else {
            /* a saved state does not tell by whom; counts do */
            g_assert_true(hosts[i] == counting || hash == first);
            same_state(hosts[0], hosts[i], true);
            same_warps(hosts[0], hosts[i]);
        }
    }
    if (data[5] % 4 == 0) { /* it takes as long as all of these */
        fuzz_pair(data, size);
    }
    run_one(sampled, convoys[0], data, size);
}

#ifdef MXGPU_LIBFUZZER
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_one(data, size);
    return 0;
}
#else
static const struct {
    uint32_t match, mask;
} insns[] = {
#define RV_GROUP(name, major)
#define RV_INSN(id, name, match, mask, format, classes, ext, xlen)             \
    {match, mask},
#include "rv/insns.def"
#undef RV_GROUP
#undef RV_INSN
};

/* ld a1 to a4 from a random argument: an address, most likely */
static uint32_t load_address(GRand *rng)
{
    return 0x00053003 | (11 + g_rand_int(rng) % 4) << 7 |
           (g_rand_int(rng) % 32) << 23;
}

/* Operands that let a program go on for a while. */
static uint32_t tame(uint32_t insn, uint32_t v)
{
    static const uint16_t csrs[] = {
        1, 2, 3, 0xc00, 0xcc0, 0xcc1, 0xcc2, 0xccc, 0xcd2,
    };

    switch (insn & 0x7f) {
    case 0x63: /* branches: at most 64 bytes away */
        return (insn & 0x01fff07f) | (v & 0x600) |
               (v >> 31 ? 0xfe000080 : 0x800);
    case 0x6f: /* jal: 64 bytes ahead */
        return (insn & 0xfff) | (v & 0x01c00000) | 0x02000000;
    case 0x67:
        return v % 8 ? 0x13 : insn;
    case 0x03: /* memory: near an address of the arguments */
    case 0x07:
        return (insn & 0x07f07fff) | (11 + v % 4) << 15;
    case 0x23:
    case 0x27:
    case 0x2f:
        return (insn & ~(insn & 0x7f ? 0xf8000u : 0)) | (11 + v % 4) << 15;
    case 0x73:
        return insn & 0x7000
                   ? (insn & 0xfffff) | (uint32_t)csrs[v % 9] << 20
                   : v % 16 ? 0x13 : insn;
    case 0x0b:
        if ((insn & ~0x10000000u) == 0x0b && v % 16) {
            return 0x13; /* neither mx.exit nor mx.grid.sync */
        }
        /* named barriers: mostly number 0, for the whole block */
        return (insn & 0xfc007fff) == 0x0c00000b && v % 8 ? insn & 0xfe00707f
                                                          : insn;
    }
    return insn;
}

static uint32_t random_insn(GRand *rng)
{
    RvInsn in;

    for (;;) {
        unsigned n = g_rand_int_range(rng, 0, G_N_ELEMENTS(insns));
        uint32_t v = g_rand_int(rng);
        uint32_t insn = insns[n].match | (v & ~insns[n].mask);

        switch (v % 64) {
        case 0:
            return g_rand_int(rng);
        case 1:
        case 2: /* two compressed ones, or what looks so */
            return g_rand_int(rng) & ~(v & 0x00020002);
        }
        if (v % 32 < 3) {
            return load_address(rng);
        }
        insn = tame(insn, g_rand_int(rng));
        if (rv_decode(insn, 64, ~RV_EXT_M_MODE, &in)) {
            return insn;
        }
    }
}

/* Lanes from 2^k on go 8 to 60 bytes ahead: srli t2, t0, k; bnez t2 */
static void diverge(GRand *rng, uint32_t *two)
{
    uint32_t to = 8 + g_rand_int(rng) % 14 * 4;

    two[0] = 0x0002d393 | (g_rand_int(rng) % 6) << 20;
    two[1] = 0x00039063 | (to & 0x1e) << 7 | (to >> 5) << 25;
}

/* Registers of lanes on a line, or in rows of one, and such an address. */
static const uint32_t begin[2][6] = {
    {
        0xccc022f3, /* csrr t0, lane */
        0x00000013, /* nop */
        0x00000013, /* nop */
        0x00329313, /* slli t1, t0, 3 */
        0x006505b3, /* add a1, a0, t1 */
        0x0005b483, /* ld s1, (a1) */
    },
    {
        0xcc0022f3, /* csrr t0, tid.x */
        0xcc102373, /* csrr t1, tid.y */
        0x00031313, /* slli t1, t1, 0 to 15 */
        0x2062e333, /* sh3add t1, t0, t1 */
        0x006505b3, /* add a1, a0, t1 */
        0x0005a483, /* lw s1, (a1) */
    },
};

#define PROGRAMS 8000

static void test_random(void)
{
    GRand *rng = g_rand_new_with_seed(7);
    MxgpuSimtCounters c;
    uint32_t input[132];

    for (unsigned n = 0; n < PROGRAMS; n++) {
        for (unsigned i = 0; i < G_N_ELEMENTS(input); i++) {
            input[i] = i < 4 ? g_rand_int(rng) : random_insn(rng);
        }
        if (n % 4) { /* begin with lanes that differ, and with addresses */
            ((uint8_t *)input)[0] &= 0xf0;
            for (unsigned i = 4; i < 8; i++) {
                input[i] = load_address(rng);
            }
            memcpy(input + 8, begin[n / 4 % 2], sizeof(begin[0]));
            input[10] |= n / 4 % 2 ? (g_rand_int(rng) & 15) << 20 : 0;
            for (unsigned i = 14; i < 120; i += 1 + g_rand_int(rng) % 30) {
                diverge(rng, input + i);
            }
        }
        fuzz_one((const uint8_t *)input, sizeof(input));
    }
    mxgpu_simt_counters(hosts[0]->simt, &c);
    g_test_message("%u interpreters, %lu instructions, %lu divergent branches",
                   num_hosts, (unsigned long)c.warp_instructions,
                   (unsigned long)c.divergent_branches);
    g_assert_cmpuint(c.warp_instructions, >, 200000);
    g_rand_free(rng);
    for (unsigned i = 0; i < num_hosts; i++) {
        if (i) {
            same_memory(hosts[0], hosts[i], 0, HOST_VRAM_SIZE);
        }
    }
    for (unsigned i = 0; i < num_hosts; i++) {
        simt_host_free(hosts[i]);
    }
    same_memory(pair[0], pair[1], 0, HOST_VRAM_SIZE);
    simt_host_free(pair[0]);
    simt_host_free(pair[1]);
    g_free(tables);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/simt/fuzz", test_random);
    return g_test_run();
}
#endif
