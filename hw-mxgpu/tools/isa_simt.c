/* SPDX-License-Identifier: MIT */
/*
 * Test programs on a warp of a compute unit. Compute units have no machine
 * mode: what a lane cannot execute traps to isa_machine.c, one hart a lane.
 * Of 64 lanes each has the program's memory for itself: page tables give only
 * fetches (all lanes run the code that lane 0 has), loads and stores go to the
 * lane's copy. A single lane has all permissions and uses the usual paths.
 */
#include "isa_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "simt/internal.h"

#define VMID         1
#define TABLES_BYTES (2ull << 20)
#define SLICE        4096         /* instructions between looks at tohost */
#define SKEW_SETS    8

/*
 * Where lanes begin, in the page behind the program: ebreak; 1: addi t0, t0,
 * -1; bnez t0, 1b; ebreak. Both traps are this file's.
 */
static const uint32_t stub[] = { 0x00100073, 0xfff28293, 0xfe029ee3,
                                 0x00100073 };
#define STUB_END 12

typedef struct IsaSimt {
    const IsaImage *image;
    unsigned lanes;
    uint64_t stub; /* its address */
    uint8_t *vram;
    uint64_t vram_size, tables_used;
    MxgpuMmu *mmu;
    MxgpuSimt *simt;
    bool done;
    uint64_t traps;
    uint32_t delay[ISA_LANES];
    IsaMachine machine[ISA_LANES];
} IsaSimt;

/* ---- what the units ask their host for */

static int no_dma_read(void *host, uint64_t addr, void *buf, size_t len)
{
    return -1;
}

static int no_dma_write(void *host, uint64_t addr, const void *buf, size_t len)
{
    return -1;
}

static void *no_dma_map(void *host, uint64_t addr, size_t len, bool write)
{
    return NULL;
}

static uint64_t clock_now(void *host)
{
    const IsaSimt *s = host;

    return s->traps;
}

static const MxgpuHostOps ops = {
    .dma_read = no_dma_read,
    .dma_write = no_dma_write,
    .dma_map = no_dma_map,
    .clock = clock_now,
};

static void done(void *opaque, unsigned slot)
{
    ((IsaSimt *)opaque)->done = true;
}

static void wake(void *opaque)
{
}

/* ---- memory */

static uint8_t *memory_of(const IsaSimt *s, unsigned lane)
{
    return s->vram + TABLES_BYTES + lane * s->image->size;
}

/* [va, va + len) of a lane; NULL where the program has no memory. */
static void *lane_at(const IsaSimt *s, unsigned lane, uint64_t va, unsigned len)
{
    uint64_t offset = va - s->image->base;

    if (offset >= s->image->size || len > s->image->size - offset) {
        return NULL;
    }
    return memory_of(s, lane) + offset;
}

static void *lane_memory(void *opaque, unsigned lane, uint64_t va, unsigned len)
{
    return lane_at(opaque, lane, va, len);
}

static uint64_t new_table(IsaSimt *s)
{
    uint64_t at = s->tables_used;

    s->tables_used += MXGPU_PT_ENTRIES * sizeof(uint64_t);
    return at | MXGPU_PTE_VALID | MXGPU_PTE_TABLE;
}

static void map(IsaSimt *s, uint64_t va, uint64_t addr, unsigned level,
                uint64_t bits)
{
    uint64_t table = mxgpu_mmu_root(s->mmu, VMID), *pte;

    for (unsigned l = MXGPU_PT_LEVELS - 1;; l--) {
        pte = (uint64_t *)(s->vram + (table & MXGPU_PTE_ADDRESS)) +
              MXGPU_PT_INDEX(va, l);
        if (l == level) {
            break;
        }
        if (!*pte) {
            *pte = new_table(s);
        }
        table = *pte;
    }
    *pte = addr | bits | MXGPU_PTE_VALID;
}

static void map_all(IsaSimt *s)
{
    uint64_t rw = MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC;
    uint64_t bits = MXGPU_PTE_EXECUTE | (s->lanes == 1 ? rw : 0), at;

    mxgpu_mmu_set_root(s->mmu, VMID, new_table(s));
    for (at = 0; at < s->image->size; at += LARGE_BYTES) {
        map(s, s->image->base + at, TABLES_BYTES + at, 1, bits);
    }
    at = new_table(s) & MXGPU_PTE_ADDRESS; /* a page like any other */
    memcpy(s->vram + at, stub, sizeof(stub));
    map(s, s->stub, at, 0, MXGPU_PTE_EXECUTE);
}

/* Pages that hold anything but zeros, for each lane. */
static void copy_image(IsaSimt *s)
{
    static const uint8_t zeros[PAGE_BYTES];

    for (uint64_t at = 0; at < s->image->size; at += PAGE_BYTES) {
        const uint8_t *page = s->image->bytes + at;

        if (memcmp(page, zeros, PAGE_BYTES) == 0) {
            continue;
        }
        for (unsigned i = 0; i < s->lanes; i++) {
            memcpy(memory_of(s, i) + at, page, PAGE_BYTES);
        }
    }
}

/* ---- traps */

static uint32_t insn_at(const IsaSimt *s, unsigned lane, uint64_t pc)
{
    const uint8_t *low = lane_at(s, lane, pc, 2);
    const uint8_t *high = lane_at(s, lane, pc + 2, 2);
    uint32_t insn = 0;

    if (low) {
        memcpy(&insn, low, 2);
    }
    if (low && high && rv_length((uint16_t)insn) == 4) {
        memcpy((uint8_t *)&insn + 2, high, 2);
    }
    return insn;
}

static bool is_lr(uint32_t insn)
{
    RvInsn in;

    return rv_decode(insn, 64, RV_EXT_A, &in) && in.format == RV_FMT_LR;
}

static IsaCause access_cause(const MxgpuSimtTrap *t, uint32_t insn)
{
    switch (t->access) {
    case MXGPU_ACCESS_EXECUTE:
        return ISA_FETCH_ACCESS;
    case MXGPU_ACCESS_READ:
        return ISA_LOAD_ACCESS;
    case MXGPU_ACCESS_ATOMIC:
        return is_lr(insn) ? ISA_LOAD_ACCESS : ISA_STORE_ACCESS;
    default:
        return ISA_STORE_ACCESS;
    }
}

static IsaCause cause_of(const MxgpuSimtTrap *t, bool user, uint32_t insn,
                         uint64_t *value)
{
    *value = t->addr;
    switch (t->code) {
    case MXGPU_FAULT_ILLEGAL:
        *value = insn;
        return ISA_ILLEGAL;
    case MXGPU_FAULT_BREAKPOINT:
        return ISA_BREAKPOINT;
    case MXGPU_FAULT_SYSCALL:
    case MXGPU_FAULT_ASSERT:
        *value = 0;
        return user ? ISA_USER_ECALL : ISA_MACHINE_ECALL;
    case MXGPU_FAULT_MISALIGNED:
        return t->access == MXGPU_ACCESS_EXECUTE ? ISA_FETCH_MISALIGNED
               : is_lr(insn)                     ? ISA_LOAD_MISALIGNED
                                                 : ISA_STORE_MISALIGNED;
    default:
        return access_cause(t, insn);
    }
}

static bool on_trap(void *opaque, MxgpuSimtTrap *t)
{
    IsaSimt *s = opaque;
    IsaMachine *m = &s->machine[t->lane];
    uint32_t insn = insn_at(s, t->lane, t->pc);
    uint64_t value;
    IsaCause cause;

    s->traps++;
    if (t->pc == s->stub) {
        t->x[5] = s->delay[t->lane];
        t->pc += 4;
        return true;
    }
    if (t->pc == s->stub + STUB_END) {
        memset(t->x, 0, sizeof(t->x));
        t->pc = s->image->entry;
        return true;
    }
    if (t->code == MXGPU_FAULT_ILLEGAL &&
        isa_machine_insn(m, insn, &t->pc, t->x, t->instructions)) {
        return true;
    }
    cause = cause_of(t, m->user, insn, &value);
    return isa_machine_trap(m, cause, value, &t->pc);
}

/* ---- running */

static uint64_t tohost_of(const IsaSimt *s, unsigned lane)
{
    uint64_t value;

    memcpy(&value, memory_of(s, lane) + (s->image->tohost - s->image->base),
           sizeof(value));
    return value;
}

/* Whether the answer of all lanes is known, or the bad one of one. */
static bool answered(const IsaSimt *s, IsaResult *r)
{
    unsigned open = s->lanes;

    for (unsigned i = 0; i < s->lanes; i++) {
        uint64_t value = tohost_of(s, i);

        if (value == 0) {
            open = i < open ? i : open;
        } else if (value != 1) {
            r->status = ISA_FAIL;
            r->lane = i;
            r->tohost = value;
            return true;
        }
    }
    r->lane = open;
    r->status = open == s->lanes ? ISA_PASS : ISA_LIMIT;
    return open == s->lanes;
}

static void stopped(IsaSimt *s, IsaResult *r)
{
    MxgpuDispatchFault f = mxgpu_simt_fault(s->simt, 0);

    r->status = ISA_ERROR;
    r->lane = f.thread;
    snprintf(r->text, sizeof(r->text),
             "lane %" PRIu32 " trapped at the start of its handler: fault %u, "
             "pc 0x%" PRIx64 ", address 0x%" PRIx64,
             f.thread, (unsigned)f.code, f.pc, f.addr);
}

static IsaResult run(IsaSimt *s, const IsaOptions *options)
{
    MxgpuDispatch d = {
        .entry = s->stub,
        .grid = {1, 1, 1},
        .block = {s->lanes, 1, 1},
        .vmid = VMID,
        .registers = 64,
    };
    IsaResult r = {.status = ISA_LIMIT};
    MxgpuSimtCounters c;

    if (mxgpu_simt_start(s->simt, 0, &d) != MXGPU_FAULT_NONE) {
        r.status = ISA_ERROR;
        snprintf(r.text, sizeof(r.text), "cannot start");
        return r;
    }
    do {
        mxgpu_simt_run(s->simt, 0, SLICE);
        mxgpu_simt_counters(s->simt, &c);
        r.instructions = c.warp_instructions + s->traps / s->lanes;
        if (answered(s, &r)) {
            break;
        }
        if (s->done) {
            stopped(s, &r);
            break;
        }
    } while (r.instructions < options->max_instructions);
    return r;
}

static bool choose(MxgpuSimt *simt, const char *name)
{
    SimtVariant v[SIMT_VARIANTS];
    unsigned n = mxgpu_simt_variants(v);

    for (unsigned i = 0; name && i < n; i++) {
        if (strcmp(v[i].name, name) == 0) {
            simt->exec = v[i].exec;
            return true;
        }
    }
    return !name;
}

/* Lanes of set n wait n times as long; lane 0, whose code runs, does not. */
static void skew(IsaSimt *s, const IsaOptions *options)
{
    uint32_t random = options->seed * 2654435761u + 1;

    for (unsigned i = 0; i < ISA_LANES; i++) {
        random = random * 1664525 + 1013904223;
        s->delay[i] = options->skew && i ? 1 + (random >> 16) % SKEW_SETS : 1;
    }
}

static bool open_machine(IsaSimt *s, const IsaOptions *options, IsaResult *r)
{
    MxgpuSimtConfig config = {
        .compute_units = 1,
        .ops = &ops,
        .host = s,
        .done = done,
        .wake = wake,
        .trap = on_trap,
        .lane_memory = s->lanes > 1 ? lane_memory : NULL,
        .opaque = s,
    };

    s->mmu = mxgpu_mmu_new(s->vram, s->vram_size, &ops, s);
    config.mmu = s->mmu;
    s->simt = s->mmu ? mxgpu_simt_new(&config) : NULL;
    if (!s->simt) {
        snprintf(r->text, sizeof(r->text), "out of memory");
        return false;
    }
    if (!choose(s->simt, options->interpreter)) {
        snprintf(r->text, sizeof(r->text), "no interpreter %s on this host",
                 options->interpreter);
        return false;
    }
    return true;
}

IsaResult isa_run_simt(const IsaImage *image, const IsaOptions *options)
{
    IsaResult r = {.status = ISA_ERROR};
    IsaSimt *s = calloc(1, sizeof(*s));

    if (!s) {
        snprintf(r.text, sizeof(r.text), "out of memory");
        return r;
    }
    s->image = image;
    s->lanes = options->lanes;
    s->stub = image->base + image->size;
    s->vram_size = TABLES_BYTES + s->lanes * image->size;
    s->vram = mmap(NULL, s->vram_size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (s->vram == MAP_FAILED) {
        snprintf(r.text, sizeof(r.text), "out of memory");
        free(s);
        return r;
    }
    if (open_machine(s, options, &r)) {
        skew(s, options);
        for (unsigned i = 0; i < s->lanes; i++) {
            isa_machine_reset(&s->machine[i]);
        }
        map_all(s);
        copy_image(s);
        r = run(s, options);
    }
    if (s->simt) {
        mxgpu_simt_free(s->simt);
    }
    mxgpu_mmu_free(s->mmu);
    munmap(s->vram, s->vram_size);
    free(s);
    return r;
}
