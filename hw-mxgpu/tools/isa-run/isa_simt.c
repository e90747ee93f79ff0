/* SPDX-License-Identifier: MIT */
/*
 * Test programs on a warp of a compute unit. Compute units have no machine
 * mode: what a lane cannot execute traps to isa_warp_trap.c.
 */
#include "isa_warp.h"
#include "simt/exec/variants.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SLICE     4096 /* instructions between looks at tohost */
#define SKEW_SETS 8

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
    const IsaWarp *s = host;

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
    ((IsaWarp *)opaque)->done = true;
}

static void wake(void *opaque)
{
}

static void *lane_memory(void *opaque, unsigned lane, uint64_t va, unsigned len)
{
    return isa_warp_memory(opaque, lane, va, len);
}

/* ---- answers */

/* What is known of a lane that failed or stopped, behind the given text. */
static void explain(const IsaWarp *s, IsaResult *r)
{
    const IsaMachine *m = &s->lane[r->lane].machine;
    size_t used = strlen(r->text);

    if (m->trapped) {
        snprintf(r->text + used, sizeof(r->text) - used,
                 "%slast trap: mcause %" PRIu64 ", mepc 0x%" PRIx64
                 ", mtval 0x%" PRIx64,
                 used ? "; " : "", m->last_cause, m->last_pc, m->last_value);
    }
}

/* Whether the answer of all lanes is known, or the bad one of one. */
static bool answered(IsaWarp *s, IsaResult *r)
{
    unsigned open = s->lanes;

    for (unsigned i = 0; i < s->lanes; i++) {
        uint64_t value;

        switch (isa_host_poll(s->image, isa_warp_memory, s, i, &value)) {
        case ISA_NONE:
            open = i < open ? i : open;
            break;
        case ISA_PASSED:
            s->ended |= 1ull << i;
            break;
        case ISA_FAILED:
            r->status = ISA_FAIL;
            r->lane = i;
            r->tohost = value;
            if (isa_trap_unexpected(value)) {
                explain(s, r);
            }
            return true;
        }
    }
    r->lane = open;
    r->status = open == s->lanes ? ISA_PASS : ISA_LIMIT;
    return open == s->lanes;
}

static void stopped(IsaWarp *s, IsaResult *r)
{
    MxgpuDispatchFault f = mxgpu_simt_fault(s->simt, 0);

    r->status = ISA_ERROR;
    r->lane = f.thread;
    snprintf(r->text, sizeof(r->text),
             "lane %" PRIu32 " trapped at the start of its handler", f.thread);
    explain(s, r);
}

/* ---- running */

static IsaResult run(IsaWarp *s, const IsaOptions *options)
{
    uint64_t end = isa_host_seconds() + options->seconds;
    MxgpuDispatch d = {
        .entry = s->stub,
        .grid = {1, 1, 1},
        .block = {s->lanes, 1, 1},
        .vmid = ISA_VMID,
        .registers = 64,
        .fp_flags = true,
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
        s->instructions = c.warp_instructions;
        r.instructions = c.warp_instructions + s->traps / s->lanes;
        if (answered(s, &r)) {
            break;
        }
        if (s->done) {
            stopped(s, &r);
            break;
        }
        isa_warp_wait_poll(s);
    } while (r.instructions < options->max_instructions &&
             isa_host_seconds() < end);
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

/* Lanes of set n wait n times as long; lane 0 does not. */
static void reset_lanes(IsaWarp *s, const IsaOptions *options)
{
    uint32_t random = options->seed * 2654435761u + 1;

    for (unsigned i = 0; i < ISA_LANES; i++) {
        random = random * 1664525 + 1013904223;
        s->lane[i].delay =
            options->skew && i ? 1 + (random >> 16) % SKEW_SETS : 1;
        isa_machine_reset(&s->lane[i].machine);
    }
}

static bool open_machine(IsaWarp *s, const IsaOptions *options, IsaResult *r)
{
    MxgpuSimtConfig config = {
        .compute_units = 1,
        .ops = &ops,
        .host = s,
        .done = done,
        .wake = wake,
        .trap = isa_warp_trap,
        .lane_memory = s->lanes > 1 ? lane_memory : NULL,
        .native = isa_warp_native,
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
        snprintf(r->text, sizeof(r->text),
                 "interpreter %s is not built, or not for this host",
                 options->interpreter);
        return false;
    }
    return true;
}

IsaResult isa_run_simt(const IsaImage *image, const IsaOptions *options)
{
    IsaResult r = {.status = ISA_ERROR};
    IsaWarp *s = calloc(1, sizeof(*s));

    if (!s) {
        snprintf(r.text, sizeof(r.text), "out of memory");
        return r;
    }
    s->image = image;
    s->lanes = options->lanes;
    s->stub = image->grain[image->grains - 1] + ISA_GRAIN;
    s->vram_size = isa_warp_vram_bytes(s);
    s->vram = mmap(NULL, s->vram_size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (s->vram == MAP_FAILED) {
        snprintf(r.text, sizeof(r.text), "out of memory");
        free(s);
        return r;
    }
    if (open_machine(s, options, &r)) {
        reset_lanes(s, options);
        isa_warp_load(s);
        isa_warp_stub_init(s);
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
