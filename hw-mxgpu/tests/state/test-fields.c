/* SPDX-License-Identifier: MIT */
/*
 * Every member of the structures that hold state is in the walk, or is listed
 * here as what it is instead. Each that is in it is changed in a device at
 * work: what is saved then differs, and a device that loads it has the change,
 * or refuses it. A member that nobody has listed fails the test.
 */
#include <string.h>

#include "core/image.h"
#include "mmu/internal.h"
#include "rig.h"
#include "simt/state.h"
#include "simt/warp/memory.h"

static const char *kernels;

/* ---- lists of fields */

typedef enum Kind {
    STATE,
    DERIVED, /* not in the image, and the same after it was loaded */
    OTHER,   /* cache, run, host, or listed elsewhere */
} Kind;

typedef struct Field {
    char *name;
    uint8_t *at;
    size_t size, element;
    uint32_t step; /* of its values; 0: any */
    Kind kind;
} Field;

typedef struct Fields {
    GArray *all;       /* of Field */
    GHashTable *names; /* of state: how often one was there */
    const char *type;  /* the structure that is being listed */
    const uint8_t *base;
    uint8_t seen[1 << 20];
    size_t size;
} Fields;

static void begin(Fields *f, const char *type, const void *base, size_t size)
{
    g_assert_cmpuint(size, <=, sizeof(f->seen));
    memset(f->seen, 0, size);
    f->type = type;
    f->base = base;
    f->size = size;
}

/* What nobody has named is padding: shorter than what it pads for. */
static void end(Fields *f)
{
    for (size_t i = 0, first = 0; i <= f->size; i++) {
        if (i == f->size || f->seen[i]) {
            if (i - first >= 8 || (i > first && i % 2)) {
                g_error("%s: nobody has listed what is at %zu", f->type, first);
            }
            first = i + 1;
        }
    }
}

static void add(Fields *f, const char *name, volatile void *at, size_t size,
                size_t element, Kind kind, bool there, uint32_t step)
{
    Field field = {.at = (uint8_t *)at, .size = size, .element = element,
                   .step = step, .kind = kind};

    field.name = g_strdup_printf("%s.%s", f->type, name);
    if (kind == STATE) {
        int n = GPOINTER_TO_INT(g_hash_table_lookup(f->names, field.name));

        g_hash_table_insert(f->names, g_strdup(field.name),
                            GINT_TO_POINTER(n + there));
    }
    if (kind != OTHER && there) {
        g_array_append_val(f->all, field);
    } else {
        g_free(field.name);
    }
}

static void member(Fields *f, const char *name, volatile void *at, size_t size,
                   size_t element, Kind kind, bool there, uint32_t step)
{
    memset(f->seen + ((uint8_t *)at - f->base), 1, size);
    add(f, name, at, size, element, kind, there, step);
}

#define ARRAY_STEP(p, m, there, step)                                          \
    member(f, #m, (p)->m, sizeof((p)->m), sizeof((p)->m[0]), STATE, there, step)
#define ARRAY(p, m) ARRAY_STEP(p, m, true, 0)
#define MEMBER(p, m, kind, there)                                              \
    member(f, #m, (volatile void *)&(p)->m, sizeof((p)->m), sizeof((p)->m),    \
           kind, there, 0)
#define S(p, m) MEMBER(p, m, STATE, true)
#define S_IF(there, p, m) MEMBER(p, m, STATE, there)
#define D(p, m) MEMBER(p, m, DERIVED, true)
#define O(p, m) MEMBER(p, m, OTHER, true)
/* One element of an array that is state in part. */
#define ELEMENT(there, p, m, i)                                                \
    do {                                                                       \
        O(p, m);                                                               \
        add(f, #m "[]", &(p)->m[i], sizeof((p)->m[0]), sizeof((p)->m[0]),      \
            STATE, there, 0);                                                  \
    } while (0)
#define BEGIN(type, p) begin(f, #type, p, sizeof(type))

/* ---- core */

static void list_mcu(Fields *f, MxgpuMcuState *s)
{
    BEGIN(MxgpuMcuState, s);
    ARRAY(s, x);
    S(s, pc); S(s, mstatus); S(s, mie); S(s, mip); S(s, mtvec);
    S(s, mscratch); S(s, mepc); S(s, mcause); S(s, mtval);
    ARRAY(s, pmpaddr); ARRAY(s, pmpcfg);
    S(s, trap_pc); S(s, trap_ra); S(s, trap_sp);
    S(s, cycle); S(s, instret); S(s, reserved_addr); S(s, halted);
    end(f);
}

static void list_mcu_driver(Fields *f, MxgpuMcuDriver *m)
{
    BEGIN(MxgpuMcuDriver, m);
    O(m, mcu); O(m, sram);
    S(m, start); S(m, stop); S(m, start_time); S(m, timer); S(m, external);
    S(m, panic); ELEMENT(m->line_len, m, line, 0); S(m, line_len);
    S(m, instret); S(m, pc); S(m, ra); S(m, sp);
    S(m, progress); S(m, stuck); S(m, progress_at);
    end(f);
    add(f, "sram[]", m->sram, MXGPU_MCU_SRAM_SIZE, 4, STATE, true, 0);
}

static void list_side(Fields *f, MxgpuCopySide *side, bool busy)
{
    BEGIN(MxgpuCopySide, side);
    S_IF(busy, side, row); S_IF(busy, side, pitch);
    S_IF(busy, side, slice_step); O(side, tlb);
    end(f);
}

static void list_copy(Fields *f, MxgpuDevice *dev, unsigned i)
{
    MxgpuCopyEngine *ce = &dev->ce[i];
    bool busy = MXGPU_GET(MXGPU_CE_STATUS_STATE,
                          *mxgpu_reg(dev, MXGPU_CE_STATUS +
                                              i * MXGPU_CE_CTRL_STRIDE)) ==
                MXGPU_UNIT_BUSY;
    bool parked = busy && ce->parked;

    BEGIN(MxgpuCopyEngine, ce);
    O(ce, client); O(ce, src); O(ce, dst); O(ce, buf);
    S_IF(busy, ce, abort); S_IF(busy, ce, fill); S_IF(busy, ce, vmid);
    S_IF(busy, ce, width); S_IF(busy, ce, height); S_IF(busy, ce, depth);
    S_IF(busy, ce, x); S_IF(busy, ce, y); S_IF(busy, ce, z);
    S_IF(busy, ce, done); ARRAY_STEP(ce, pattern, busy, 0);
    S_IF(busy, ce, recover); S_IF(busy, ce, queue); S_IF(busy, ce, parked);
    S_IF(parked, ce, fault); S_IF(parked, ce, write);
    S_IF(parked, ce, fault_addr); S_IF(parked, ce, sequence);
    end(f);
    list_side(f, &ce->src, busy);
    list_side(f, &ce->dst, busy);
}

static void list_doorbells(Fields *f, MxgpuDoorbells *db)
{
    BEGIN(MxgpuDoorbells, db);
    ARRAY(db, value); ARRAY(db, low); ARRAY(db, pending); ARRAY(db, enable);
    end(f);
}

static void list_faults(Fields *f, MxgpuFaults *x)
{
    BEGIN(MxgpuFaults, x);
    ARRAY(x, verdict); S(x, stalled); S(x, error);
    O(x, owner); O(x, writer); O(x, busy);
    end(f);
}

/* That of the first record whose lanes are away. */
static void list_owner(Fields *f, MxgpuDevice *dev)
{
    MxgpuFaultOwner *o;
    uint32_t i = 0;

    while (i < MXGPU_FAULT_RECORDS - 1 && !mxgpu_fault_is_away(dev, i)) {
        i++;
    }
    o = &dev->faults.owner[i];
    BEGIN(MxgpuFaultOwner, o);
    member(f, "sequence", &o->sequence, sizeof(o->sequence),
           sizeof(o->sequence), STATE, true, MXGPU_FAULT_RECORDS);
    S(o, queue); S(o, vmid);
    end(f);
}

static void list_stepper(Fields *f, MxgpuStepper *s)
{
    BEGIN(MxgpuStepper, s);
    S(s, work); S(s, deadline);
    O(s, ops); O(s, host); O(s, step); O(s, opaque); O(s, index);
    O(s, budget); O(s, spin_ns); O(s, spin); O(s, long_after);
    O(s, lock); O(s, wake);
    O(s, parked); O(s, hold); O(s, held); O(s, running); O(s, quit);
    O(s, has_thread); O(s, thread); O(s, runner); O(s, service);
    O(s, asked); O(s, helps); O(s, turn_seen); O(s, alerts); O(s, alerts_seen);
    O(s, next_nap); O(s, turn); O(s, serving); O(s, behind); O(s, sleeps_until);
    end(f);
}

static void list_mmu(Fields *f, MxgpuMmu *m)
{
    BEGIN(MxgpuMmu, m);
    ARRAY(m, root);
    O(m, vram); O(m, vram_size); O(m, ops); O(m, host); O(m, epoch); O(m, used);
    O(m, used_host); O(m, clients_lock); O(m, clients);
    end(f);
}

static void list_device(Fields *f, MxgpuDevice *dev)
{
    BEGIN(MxgpuDevice, dev);
    ARRAY(dev, regs); ARRAY(dev, latch); ARRAY(dev, counter);
    ARRAY(dev, copy_ns);
    S(dev, simt_base); S(dev, reset_pending);
    D(dev, mbox_pending); D(dev, copy_pending); D(dev, dispatch_pending);
    D(dev, chain_pending);
    O(dev, config); O(dev, ops); O(dev, host); O(dev, control); O(dev, lock);
    O(dev, out); O(dev, alerts); O(dev, kick); O(dev, reg_index); O(dev, fields);
    O(dev, sram_first); O(dev, sram_bytes); O(dev, sram_write);
    O(dev, db); O(dev, faults); O(dev, memport); O(dev, mcu); O(dev, debug);
    O(dev, kernels); O(dev, console_log); O(dev, queue_table);
    O(dev, ce); O(dev, mmu);
    O(dev, simt); O(dev, cu_claimed); O(dev, took); O(dev, took_by);
    O(dev, compute_long);
    O(dev, compute_inline);
    O(dev, copy_inline);
    O(dev, inline_ran);
    O(dev, inline_idle); O(dev, num_steppers); O(dev, num_workers);
    O(dev, steppers);
    end(f);
    /* Constant registers are first: one that software has written. */
    add(f, "MBOX_CMD", mxgpu_reg(dev, MXGPU_MBOX_CMD), 4, 4, STATE, true,
        0);
    list_doorbells(f, &dev->db);
    list_faults(f, &dev->faults);
    list_owner(f, dev);
    list_mcu_driver(f, &dev->mcu);
    list_mcu(f, mxgpu_mcu_state(dev->mcu.mcu));
    list_mmu(f, dev->mmu);
    for (unsigned i = 0; i < dev->config.copy_engines; i++) {
        list_copy(f, dev, i);
    }
    for (unsigned i = 0; i < dev->num_steppers; i++) {
        list_stepper(f, &dev->steppers[i]);
    }
}

/* ---- dispatch slots */

static void list_dispatch(Fields *f, MxgpuDispatch *d, bool active)
{
    BEGIN(MxgpuDispatch, d);
    S_IF(active, d, entry); S_IF(active, d, args);
    ARRAY_STEP(d, grid, active, 0); ARRAY_STEP(d, block, active, 0);
    S_IF(active, d, shared); S_IF(active, d, shared_static);
    S_IF(active, d, private_bytes); S_IF(active, d, vmid);
    S_IF(active, d, priority); S_IF(active, d, registers);
    S_IF(active, d, cooperative); S_IF(active, d, fp_flags);
    S_IF(active, d, strict_align); S_IF(active, d, accesses);
    S_IF(active, d, recover); S_IF(active, d, queue);
    S_IF(active, d, profile); S_IF(active, d, sample_addr);
    S_IF(active, d, sample_max); S_IF(active, d, sample_interval);
    end(f);
}

static void list_fault(Fields *f, MxgpuDispatchFault *x, bool active)
{
    BEGIN(MxgpuDispatchFault, x);
    S_IF(active, x, code); S_IF(active, x, access); S_IF(active, x, addr);
    S_IF(active, x, pc); ARRAY_STEP(x, block, active, 0);
    S_IF(active, x, thread);
    end(f);
}

static void list_slot(Fields *f, SimtSlot *s)
{
    bool active = s->active;

    BEGIN(SimtSlot, s);
    S(s, next); S(s, samples); S(s, active);
    S_IF(active, s, left); S_IF(active, s, total); S_IF(active, s, stop);
    S_IF(active, s, fault_taken); S_IF(active, s, grid_alive);
    S_IF(active, s, grid_missing); S_IF(active, s, grid_phase);
    S_IF(active, s, stop_code); S_IF(active, s, span_begun);
    MEMBER(s, returned, DERIVED, active);
    MEMBER(s, saved, DERIVED, active);
    MEMBER(s, needs, DERIVED, active);
    MEMBER(s, priority, DERIVED, active);
    O(s, padding1); O(s, padding2); O(s, dispatch); O(s, fault);
    end(f);
    list_dispatch(f, &s->dispatch, active);
    list_fault(f, &s->fault, active);
}

/* ---- compute units */

static void list_group(Fields *f, SimtGroup *g, bool there)
{
    BEGIN(SimtGroup, g);
    S_IF(there, g, pc); S_IF(there, g, mask); S_IF(there, g, stamp);
    S_IF(there, g, depth);
    end(f);
}

static void list_waiter(Fields *f, SimtWaiter *a, bool there)
{
    bool fault = there && a->wait >= WAIT_FAULT;

    BEGIN(SimtWaiter, a);
    O(a, group); S_IF(there, a, sync); S_IF(there, a, wait);
    S_IF(there, a, rd); S_IF(fault, a, code); S_IF(fault, a, access);
    S_IF(fault, a, sequence);
    end(f);
    list_group(f, &a->group, there);
}

static void list_warp(Fields *f, SimtWarpState *s)
{
    unsigned lane = s->reserved ? __builtin_ctzll(s->reserved) : 0;

    BEGIN(SimtWarpState, s);
    O(s, cur); O(s, ready); O(s, waiting);
    S(s, num_ready); S(s, num_waiting); S(s, live); S(s, stamps);
    S(s, slice_end); S(s, rotated); ARRAY(s, frm); ARRAY(s, fflags);
    S(s, reserved); S(s, instructions);
    ELEMENT(s->reserved, s, reserved_addr, lane);
    ELEMENT(s->reserved, s, reserved_value, lane);
    ELEMENT(s->reserved, s, reserved_size, lane);
    end(f);
    list_group(f, &s->cur, s->cur.mask);
    list_group(f, &s->ready[0], s->num_ready);
    list_waiter(f, &s->waiting[0], s->num_waiting);
}

static void list_named(Fields *f, SimtNamed *n)
{
    BEGIN(SimtNamed, n);
    S(n, arrived); S(n, count); S(n, whole);
    end(f);
}

static void list_block(Fields *f, MxgpuCu *cu, SimtBlock *b)
{
    bool there = b->used;

    BEGIN(SimtBlock, b);
    S(b, used);
    S_IF(there, b, grid_wait); S_IF(there, b, has_named);
    S_IF(there, b, convoy); S_IF(there, b, fresh); S_IF(there, b, spans);
    ELEMENT(there && (b->spans & 1), b, span_left, 0);
    S_IF(there, b, slot); ELEMENT(there, b, warps, 0);
    ARRAY_STEP(b, id, there, 0); S_IF(there, b, count);
    S_IF(there, b, grid_phase); S_IF(there, b, shared_at);
    O(b, named);
    MEMBER(b, num_warps, DERIVED, there); MEMBER(b, threads, DERIVED, there);
    MEMBER(b, exited, DERIVED, there); MEMBER(b, arrived, DERIVED, there);
    MEMBER(b, grid_arrived, DERIVED, there);
    MEMBER(b, faults, DERIVED, there); MEMBER(b, fault_wait, DERIVED, there);
    MEMBER(b, shared_len, DERIVED, there);
    MEMBER(b, registers, DERIVED, there);
    MEMBER(b, private_kib, DERIVED, there);
    end(f);
    if (!there) {
        return;
    }
    list_named(f, &b->named[0]);
    list_named(f, &b->named[MXGPU_NAMED_BARRIERS - 1]);
    for (unsigned i = 0; i < b->num_warps; i++) {
        list_warp(f, &cu->warps[b->warps[i]].s);
    }
    f->type = "SimtBlock";
    add(f, "shared memory", cu->shared + b->shared_at, b->shared_len, 8, STATE,
        b->shared_len, 0);
}

static void list_cu_state(Fields *f, SimtCuState *s)
{
    BEGIN(SimtCuState, s);
    D(s, used_warps); O(s, blocks); D(s, threads); D(s, registers);
    D(s, num_blocks); D(s, num_waiting); D(s, private_kib); D(s, faults);
    S(s, next_warp); S(s, last_slot); S(s, turn); S(s, since_take);
    S(s, taken_from); S(s, held_next); S(s, held); S(s, held_slot);
    S(s, held_ended); O(s, returned); ARRAY(s, owner);
    ARRAY_STEP(s, dirty, true, 1024); ARRAY_STEP(s, wants, true, 1024);
    ARRAY_STEP(s, keep, true, 1024);
    S(s, unclean); S(s, has_private); S(s, ran_at); S(s, drops);
    S(s, sample_left); S(s, span_wait); S(s, random);
    end(f);
    BEGIN(SimtReturned, &s->returned);
    S(&s->returned, grid); S(&s->returned, next); S(&s->returned, blocks);
    end(f);
}

static void list_counters(Fields *f, SimtCuCounters *n)
{
    BEGIN(SimtCuCounters, n);
    ARRAY(n, count); O(n, profile); S(n, where);
    ARRAY(n, spent); ARRAY(n, vmid_ns);
    O(n, vmid_ran); O(n, slots);
    O(n, lanes_now); O(n, divergent_now); O(n, restarts);
    end(f);
    for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
        SimtSlotProfile *p = &n->profile[i];

        BEGIN(SimtSlotProfile, p);
        ARRAY(p, count); S(p, first); S(p, last);
        end(f);
    }
}

static void list_cu(Fields *f, MxgpuCu *cu)
{
    BEGIN(MxgpuCu, cu);
    O(cu, simt); O(cu, index); O(cu, client); O(cu, c); O(cu, warps);
    O(cu, shared); O(cu, private); O(cu, s); O(cu, n);
    O(cu, saved); D(cu, saved_private_kib); /* test-hold.c: loaded */
    O(cu, spare); O(cu, spare_bytes); O(cu, tlb_drops);
    end(f);
    list_cu_state(f, &cu->s);
    list_counters(f, &cu->n);
    for (unsigned i = 0; i < MXGPU_CU_BLOCKS; i++) {
        list_block(f, cu, &cu->s.blocks[i]);
    }
    f->type = "MxgpuCu";
    for (unsigned i = 0; i < CU_WARPS; i++) {
        add(f, "private memory", cu->private + (i + 1) * PRIVATE_WARP_BYTES - 8,
            8, 8, STATE, cu->private && cu->s.dirty[i], 0);
    }
}

static void list_simt(Fields *f, MxgpuSimt *simt)
{
    BEGIN(MxgpuSimt, simt);
    S(simt, gang); S(simt, dispatches); S(simt, held_slots);
    O(simt, config); O(simt, private_bytes); O(simt, extra_work);
    O(simt, exec); O(simt, count); O(simt, convoy); O(simt, slots);
    O(simt, returned_lock); O(simt, code_check); O(simt, cus);
    O(simt, debug); O(simt, debugged); O(simt, pagemap);
    O(simt, jit); O(simt, jit_first); O(simt, jit_patience); O(simt, jit_rounds);
    end(f);
    for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
        list_slot(f, &simt->slots[i]);
    }
    for (unsigned i = 0; i < UNITS; i++) {
        list_cu(f, &simt->cus[i]);
    }
}

static void clear_field(gpointer data)
{
    g_free(((Field *)data)->name);
}

/* The same list for devices of one state. */
static GArray *list(Rig *r, GHashTable *names)
{
    Fields *f = g_new0(Fields, 1);
    GArray *all = g_array_new(FALSE, FALSE, sizeof(Field));

    g_array_set_clear_func(all, clear_field);
    f->all = all;
    f->names = names;
    list_device(f, r->dev);
    list_simt(f, r->dev->simt);
    g_free(f);
    return all;
}

/* ---- the test */

/* What no work here leads to at the right moment. */
static void prepare_block(MxgpuCu *cu, SimtBlock *b)
{
    b->spans |= 1;
    b->span_left[0] = 77;
    for (unsigned i = 0; i < b->num_warps; i++) {
        SimtWarpState *s = &cu->warps[b->warps[i]].s;

        if (s->live && !s->reserved) {
            unsigned lane = __builtin_ctzll(s->live);

            s->reserved = 1ull << lane;
            s->reserved_addr[lane] = 0x1230;
            s->reserved_value[lane] = 0x4567;
            s->reserved_size[lane] = 8;
        }
    }
}

/* Nobody's in the rig's work: the next number of a record. */
static uint32_t new_record(Rig *r)
{
    uint32_t *tail = mxgpu_reg(r->dev, MXGPU_FAULT_TAIL);

    r->dev->faults.verdict[*tail] = MXGPU_FAULT_WAITS;
    *mxgpu_reg(r->dev, MXGPU_FAULT_HEAD) = *tail + 1;
    return (*tail)++;
}

static bool can_run(const MxgpuCu *cu, const SimtBlock *b)
{
    for (unsigned i = 0; i < b->num_warps; i++) {
        const SimtWarpState *s = &cu->warps[b->warps[i]].s;

        if (s->cur.mask || s->num_ready) {
            return true;
        }
    }
    return false;
}

/* The group of a warp that runs, if there is one, has faulted. */
static bool park_warp(Rig *r, MxgpuCu *cu, SimtBlock *b, SimtWarpState *s)
{
    if (!s->cur.mask || s->num_waiting) {
        return false;
    }
    s->waiting[s->num_waiting++] = (SimtWaiter){
        .group = s->cur,
        .sync = 0x123456,
        .wait = WAIT_VERDICT,
        .rd = __builtin_ctzll(s->cur.mask),
        .code = MXGPU_FAULT_NOT_PRESENT,
        .access = MXGPU_ACCESS_WRITE,
        .sequence = new_record(r),
    };
    s->cur = (SimtGroup){.mask = 0};
    r->dev->simt->slots[b->slot].dispatch.recover = true;
    b->faults++;
    cu->s.faults++;
    b->fault_wait = !can_run(cu, b);
    cu->s.num_waiting += b->fault_wait;
    return true;
}

static void prepare_faults(Rig *r)
{
    uint32_t away = new_record(r);
    bool parked = false;

    mxgpu_fault_away(r->dev, away, DUT_VMID, 3);
    for (unsigned i = 0; i < r->dev->config.copy_engines; i++) {
        MxgpuCopyEngine *ce = &r->dev->ce[i];

        ce->recover = true;
        ce->fault = MXGPU_FAULT_NOT_PRESENT;
        if (MXGPU_GET(MXGPU_CE_STATUS_STATE,
                      *mxgpu_reg(r->dev, MXGPU_CE_STATUS +
                                             i * MXGPU_CE_CTRL_STRIDE)) ==
            MXGPU_UNIT_BUSY) {
            ce->parked = MXGPU_COPY_REPORTED;
            ce->sequence = new_record(r);
        }
    }
    for (unsigned i = 0; i < UNITS; i++) {
        MxgpuCu *cu = &r->dev->simt->cus[i];

        for (unsigned k = 0; k < MXGPU_CU_BLOCKS && !parked; k++) {
            SimtBlock *b = &cu->s.blocks[k];

            for (unsigned n = 0; b->used && n < b->num_warps && !parked; n++) {
                parked = park_warp(r, cu, b, &cu->warps[b->warps[n]].s);
            }
        }
    }
}

static void prepare(Rig *r)
{
    SimtBlock *last = NULL;

    for (unsigned i = 0; i < UNITS; i++) {
        MxgpuCu *cu = &r->dev->simt->cus[i];

        for (unsigned k = 0; k < MXGPU_CU_BLOCKS; k++) {
            if (cu->s.blocks[k].used) {
                last = &cu->s.blocks[k];
                prepare_block(cu, last);
            }
        }
    }
    g_assert_nonnull(last);
    last->fresh = true;
    prepare_faults(r);
    if (!r->dev->mcu.line_len) {
        r->dev->mcu.line[0] = 'x';
        r->dev->mcu.line_len = 1;
    }
}

/* Another value of the same kind; never 0, which may stand for none. */
static void change(const Field *f, uint8_t *element)
{
    uint64_t value = 0;

    memcpy(&value, element, MIN(f->element, sizeof(value)));
    value ^= f->step ? f->step : value == 1 && f->element > 1 ? 2 : 1;
    memcpy(element, &value, MIN(f->element, sizeof(value)));
}

static void probe(Rig *from, Rig *to, const Saved *base, const Field *a,
                  const Field *b, size_t at)
{
    uint8_t old[8];
    size_t len = MIN(a->element, sizeof(old));
    Saved s;

    memcpy(old, a->at + at, len);
    change(a, a->at + at);
    s = rig_save(from);
    if (s.size == base->size && memcmp(s.bytes, base->bytes, s.size) == 0) {
        g_error("%s is not saved", a->name);
    }
    if (mxgpu_state_load(to->dev, s.bytes, s.size) == 0 &&
        memcmp(a->at + at, b->at + at, len) != 0) {
        g_error("%s is not loaded", a->name);
    }
    memcpy(a->at + at, old, len);
    g_free(s.bytes);
}

/* Fields of a name that are looked at, at one moment. */
#define PROBES 2

static void check_moment(unsigned steps, GHashTable *names)
{
    g_autoptr(GHashTable) probed = g_hash_table_new(g_str_hash, g_str_equal);
    Rig *from = rig_busy(kernels, steps), *to = rig_new(UNITS, false);
    GArray *a, *b;
    Saved base;

    prepare(from);
    base = rig_save(from);
    g_assert_cmpint(mxgpu_state_load(to->dev, base.bytes, base.size), ==, 0);
    a = list(from, names);
    b = list(to, names);
    g_assert_cmpuint(a->len, ==, b->len);
    for (unsigned i = 0; i < a->len; i++) {
        const Field *x = &g_array_index(a, Field, i);
        const Field *y = &g_array_index(b, Field, i);

        g_assert_cmpstr(x->name, ==, y->name);
        if (memcmp(x->at, y->at, x->size) != 0) {
            g_error("%s differs after a load", x->name);
        }
    }
    for (unsigned i = 0; i < a->len; i++) {
        const Field *x = &g_array_index(a, Field, i);
        int n = GPOINTER_TO_INT(g_hash_table_lookup(probed, x->name));

        g_hash_table_insert(probed, x->name, GINT_TO_POINTER(n + 1));
        if (x->kind == STATE && n < PROBES) {
            const Field *y = &g_array_index(b, Field, i);

            probe(from, to, &base, x, y, 0);
            if (x->size > x->element) {
                probe(from, to, &base, x, y, x->size - x->element);
            }
        }
    }
    g_array_unref(a);
    g_array_unref(b);
    g_free(base.bytes);
    rig_free(from);
    rig_free(to);
}

static bool copies(Rig *r)
{
    return MXGPU_GET(MXGPU_CE_STATUS_STATE,
                     *mxgpu_reg(r->dev, MXGPU_CE_STATUS)) == MXGPU_UNIT_BUSY;
}

/* How many steps of rig_busy() lead to a copy in flight; it is a short one. */
static unsigned copy_moment(void)
{
    Rig *r = rig_busy(kernels, 20);
    unsigned steps = 20;

    for (; !copies(r); steps++) {
        g_assert_false(rig_done(r));
        rig_step(r, RIG_BUDGET);
    }
    rig_free(r);
    return steps;
}

static void test_fields(void)
{
    g_autoptr(GHashTable) names =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GHashTableIter i;
    gpointer name, n;

    for (unsigned steps = 20; steps <= 80; steps += 15) {
        check_moment(steps, names);
    }
    check_moment(copy_moment(), names);
    g_hash_table_iter_init(&i, names);
    while (g_hash_table_iter_next(&i, &name, &n)) {
        if (!GPOINTER_TO_INT(n)) {
            g_error("%s was never there to be looked at", (char *)name);
        }
    }
    g_test_message("%u fields", g_hash_table_size(names));
}

/* Whether a unit has seen the last invalidation is a number, of one device. */
static void test_behind(void)
{
    Rig *from = rig_busy(kernels, 40), *to = rig_new(UNITS, false);
    MxgpuMmuClient *client = &from->dev->simt->cus[1].client;

    for (unsigned i = 0; i < 2; i++) {
        Saved s;

        mxgpu_mmu_client_set_behind(client, i);
        s = rig_save(from);
        g_assert_cmpint(mxgpu_state_load(to->dev, s.bytes, s.size), ==, 0);
        g_assert_cmpint(
            mxgpu_mmu_client_behind(&to->dev->simt->cus[1].client), ==, i);
        g_free(s.bytes);
    }
    rig_free(from);
    rig_free(to);
}

/* Not state: a device that is another one refuses, whatever it is that differs.
 */
static void test_config(void)
{
    Rig *from = rig_busy(kernels, 40), *to = rig_new(UNITS, false);
    MxgpuConfig *c = &to->dev->config;
    Saved s = rig_save(from);

    c->strict_alignment = !c->strict_alignment;
    g_assert_cmpint(mxgpu_state_load(to->dev, s.bytes, s.size), ==, -EINVAL);
    c->strict_alignment = !c->strict_alignment;
    c->private_memory++;
    g_assert_cmpint(mxgpu_state_load(to->dev, s.bytes, s.size), ==, -EINVAL);
    c->private_memory--;
    g_assert_cmpint(mxgpu_state_load(to->dev, s.bytes, s.size), ==, 0);
    g_free(s.bytes);
    rig_free(from);
    rig_free(to);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    kernels = argv[1];
    g_test_add_func("/state/fields", test_fields);
    g_test_add_func("/state/behind", test_behind);
    g_test_add_func("/state/config", test_config);
    return g_test_run();
}
