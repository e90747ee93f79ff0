/* SPDX-License-Identifier: MIT */
/*
 * The state of the device, walked in one order by whoever saves, loads or
 * measures it; docs/state.md lists what is in it. A part that is loaded checks
 * what it was given before it is used; what follows from other state is made
 * again, not loaded.
 */
#include "state.h"

#include <stdlib.h>

#include "internal.h"
#include "simt/visit.h"

/* ---- parts */

/* The configuration is not state: the image must be of a device with the same
 * one. */
static void visit_config(MxgpuDevice *dev, MxgpuVisit *v)
{
    const MxgpuConfig *c = &dev->config;
    uint64_t own[] = {
        c->vram_size,    c->queues,         c->vectors,      c->compute_units,
        c->copy_engines, c->private_memory, c->deterministic,
        c->strict_alignment,
    };
    uint64_t image[sizeof(own) / sizeof(own[0])];

    memcpy(image, own, sizeof(own));
    visit_section(v, "device", 1);
    visit_bytes(v, image, sizeof(image));
    visit_check(v, memcmp(image, own, sizeof(own)) == 0);
}

static void visit_regs(MxgpuDevice *dev, MxgpuVisit *v)
{
    uint32_t *regs = calloc(1, sizeof(dev->regs));

    if (!regs) {
        v->error = -ENOMEM;
        return;
    }
    visit_section(v, "registers", 2);
    if (!visit_loads(v)) {
        memcpy(regs, dev->regs, sizeof(dev->regs));
    }
    visit_sparse(v, regs, sizeof(dev->regs), 256);
    if (visit_loads(v) && !v->error) {
        visit_check(v, mxgpu_regs_load(dev, regs));
    }
    free(regs);
    visit_sparse(v, dev->latch, sizeof(dev->latch), 256);
    for (unsigned i = 0; i < MXGPU_COUNTERS; i++) {
        VISIT_ATOMIC(v, uint64_t, dev->counter[i]);
    }
    visit_bytes(v, &dev->simt_base, sizeof(dev->simt_base));
    VISIT_BOOL(v, dev->reset_pending);
}

static void visit_doorbells(MxgpuDevice *dev, MxgpuVisit *v)
{
    visit_section(v, "doorbells", 1);
    for (unsigned i = 0; i < MXGPU_MAX_QUEUES; i++) {
        VISIT_ATOMIC(v, uint64_t, dev->db.value[i]);
        VISIT_ATOMIC(v, uint32_t, dev->db.low[i]);
    }
    for (unsigned i = 0; i < MXGPU_MAX_QUEUES / 32; i++) {
        VISIT_ATOMIC(v, uint32_t, dev->db.pending[i]);
        VISIT_ATOMIC(v, uint32_t, dev->db.enable[i]);
        visit_check(v, !(dev->db.enable[i] & ~mxgpu_db_exist(dev, i)) &&
                           !(dev->db.pending[i] & ~dev->db.enable[i]));
    }
}

static void visit_core(MxgpuDevice *dev, MxgpuVisit *v)
{
    MxgpuMcuState s = *mxgpu_mcu_state(dev->mcu.mcu);

    visit_section(v, "mcu", 1);
    visit_bytes(v, s.x, sizeof(s.x));
    VISIT(v, s.pc);
    VISIT(v, s.mstatus);
    VISIT(v, s.mie);
    VISIT(v, s.mip);
    VISIT(v, s.mtvec);
    VISIT(v, s.mscratch);
    VISIT(v, s.mepc);
    VISIT(v, s.mcause);
    VISIT(v, s.mtval);
    visit_bytes(v, s.pmpaddr, sizeof(s.pmpaddr));
    visit_bytes(v, s.pmpcfg, sizeof(s.pmpcfg));
    VISIT(v, s.trap_pc);
    VISIT(v, s.trap_ra);
    VISIT(v, s.trap_sp);
    VISIT(v, s.cycle);
    VISIT(v, s.instret);
    VISIT(v, s.reserved_addr);
    VISIT_BOOL(v, s.halted);
    visit_sparse(v, dev->mcu.sram, MXGPU_MCU_SRAM_SIZE, 256);
    if (visit_loads(v) && !v->error) {
        visit_check(v, mxgpu_mcu_restore(dev->mcu.mcu, &s));
    }
}

static void visit_mcu_driver(MxgpuDevice *dev, MxgpuVisit *v)
{
    MxgpuMcuDriver *m = &dev->mcu;

    VISIT_BOOL(v, m->start);
    VISIT_BOOL(v, m->stop);
    VISIT(v, m->start_time);
    VISIT_BOOL(v, m->timer);
    VISIT_BOOL(v, m->external);
    VISIT_BOOL(v, m->panic);
    VISIT_BELOW(v, m->line_len, sizeof(m->line) + 1);
    visit_bytes(v, m->line, m->line_len);
    for (unsigned i = 0; i < m->line_len; i++) {
        visit_check(v, m->line[i] == '\t' ||
                           (m->line[i] >= ' ' && m->line[i] < 0x7f));
    }
    VISIT_ATOMIC(v, uint64_t, m->instret);
    VISIT_ATOMIC(v, uint32_t, m->pc);
    VISIT_ATOMIC(v, uint32_t, m->ra);
    VISIT_ATOMIC(v, uint32_t, m->sp);
    VISIT_BOOL(v, m->progress);
    VISIT_BOOL(v, m->stuck);
    VISIT(v, m->progress_at);
}

static void visit_mmu(MxgpuDevice *dev, MxgpuVisit *v)
{
    visit_section(v, "mmu", 1);
    for (unsigned i = 0; i < MXGPU_NUM_VMIDS; i++) {
        uint64_t root = mxgpu_mmu_root(dev->mmu, i);

        VISIT(v, root);
        if (visit_loads(v) && !v->error) {
            mxgpu_mmu_set_root(dev->mmu, i, root);
        }
    }
}

static void visit_copies(MxgpuDevice *dev, MxgpuVisit *v)
{
    visit_section(v, "copies", 3);
    for (unsigned i = 0; i < MXGPU_NUM_VMIDS; i++) {
        VISIT_ATOMIC(v, uint64_t, dev->copy_ns[i]);
    }
    for (unsigned i = 0; i < dev->config.copy_engines; i++) {
        mxgpu_copy_visit(dev, i, v);
    }
}

/* Which units have work, and deadlines: of a deterministic device alone. Where
 * units are threads, each looks for work when it is released after a load. */
static void visit_steppers(MxgpuDevice *dev, MxgpuVisit *v)
{
    visit_section(v, "steppers", 1);
    /* What a debugger has stopped goes on in the device that is loaded. */
    if (!visit_loads(v) && mxgpu_mcu_debug_holds(dev)) {
        atomic_store(&dev->steppers[MXGPU_STEPPER_MCU].work, true);
    }
    for (unsigned i = 0;
         dev->config.deterministic && i < dev->num_steppers; i++) {
        VISIT_BOOL(v, dev->steppers[i].work);
        VISIT(v, dev->steppers[i].deadline);
    }
}

/* ---- what follows from these */

static uint32_t ended(MxgpuDevice *dev, uint32_t status, unsigned count,
                      unsigned stride)
{
    uint32_t mask = 0;

    for (unsigned i = 0; i < count; i++) {
        uint32_t state = MXGPU_GET(MXGPU_CD_STATUS_STATE,
                                   *mxgpu_reg(dev, status + i * stride));

        mask |= (uint32_t)(state == MXGPU_UNIT_DONE ||
                           state == MXGPU_UNIT_FAULT) << i;
    }
    return mask;
}
_Static_assert(MXGPU_CD_STATUS_STATE_MASK == MXGPU_CE_STATUS_STATE_MASK &&
               MXGPU_CD_STATUS_STATE_SHIFT == MXGPU_CE_STATUS_STATE_SHIFT,
               "one ended() for both");

static void derive(MxgpuDevice *dev)
{
    atomic_store(&dev->mbox_pending, *mxgpu_reg(dev, MXGPU_MBOX_REQ) !=
                                         *mxgpu_reg(dev, MXGPU_MBOX_ACK));
    atomic_store(&dev->copy_pending,
                 ended(dev, MXGPU_CE_STATUS, dev->config.copy_engines,
                       MXGPU_CE_CTRL_STRIDE));
    atomic_store(&dev->dispatch_pending,
                 ended(dev, MXGPU_CD_STATUS, MXGPU_DISPATCH_SLOTS,
                       MXGPU_CD_CTRL_STRIDE));
    atomic_store(&dev->chain_pending, 0);
    for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
        uint32_t bit = 1u << i;

        if (mxgpu_fe_chains(dev, i) &&
            atomic_load(&dev->dispatch_pending) & bit) {
            atomic_fetch_and(&dev->dispatch_pending, ~bit);
            atomic_fetch_or(&dev->chain_pending, bit);
        }
    }
}

/* Slots that the firmware waits for are at work, and no others. */
static bool slots_ok(MxgpuDevice *dev)
{
    for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
        uint32_t status = *mxgpu_reg(dev, MXGPU_CD_STATUS +
                                              i * MXGPU_CD_CTRL_STRIDE);
        bool busy = MXGPU_GET(MXGPU_CD_STATUS_STATE, status) == MXGPU_UNIT_BUSY;

        if (busy != mxgpu_simt_active(dev->simt, i)) {
            return false;
        }
    }
    return true;
}

/* Each entry in use is some unit's, and no unit's is free; but some are of lanes
 * that are in memory. */
typedef struct Owners {
    MxgpuDevice *dev;
    bool has[MXGPU_FAULT_RECORDS];
    bool ok;
} Owners;

static void add_owner(void *opaque, uint32_t sequence)
{
    Owners *o = opaque;
    uint32_t i = sequence % MXGPU_FAULT_RECORDS;

    /* One of the last MXGPU_FAULT_RECORDS that were written. */
    o->ok &= !o->has[i] &&
             *mxgpu_reg(o->dev, MXGPU_FAULT_TAIL) - 1 - sequence <
                 MXGPU_FAULT_RECORDS;
    o->has[i] = true;
}

static bool faults_ok(MxgpuDevice *dev)
{
    Owners o = {.dev = dev, .ok = true};

    mxgpu_simt_each_parked(dev->simt, add_owner, &o);
    mxgpu_copy_each_parked(dev, add_owner, &o);
    for (unsigned i = 0; i < MXGPU_FAULT_RECORDS; i++) {
        o.ok &= o.has[i] ==
                (atomic_load(&dev->faults.verdict[i]) != MXGPU_FAULT_FREE &&
                 !mxgpu_fault_is_away(dev, i));
    }
    return o.ok;
}

/* ---- the walk */

static bool stands_still(MxgpuDevice *dev)
{
    for (unsigned i = 0; i < dev->num_steppers; i++) {
        const MxgpuStepper *u = &dev->steppers[i];

        if (u->running || (!dev->config.deterministic &&
                           !atomic_load(&u->held))) {
            return false;
        }
    }
    return true;
}

static void walk(MxgpuDevice *dev, MxgpuVisit *v)
{
    visit_config(dev, v);
    visit_regs(dev, v);
    visit_doorbells(dev, v);
    visit_core(dev, v);
    visit_mcu_driver(dev, v);
    visit_mmu(dev, v);
    mxgpu_fault_visit(dev, v);
    visit_copies(dev, v);
    mxgpu_simt_visit(dev->simt, v);
    visit_steppers(dev, v);
    visit_section(v, "end", 1);
}

int mxgpu_device_visit(MxgpuDevice *dev, const MxgpuStateOps *ops, void *opaque)
{
    MxgpuVisit v = {.ops = ops, .opaque = opaque};

    pthread_mutex_lock(&dev->control);
    if (!stands_still(dev)) {
        v.error = -EBUSY;
    } else if (!ops->loads) {
        walk(dev, &v);
    } else {
        mxgpu_reset_state(dev, MXGPU_RESET_BUS);
        walk(dev, &v);
        if (visit_check(&v, slots_ok(dev) && faults_ok(dev))) {
            derive(dev);
        } else {
            mxgpu_reset_state(dev, MXGPU_RESET_BUS);
        }
    }
    pthread_mutex_unlock(&dev->control);
    if (ops->loads && dev->config.deterministic && v.error != -EBUSY) {
        atomic_store(&dev->kick, true);
        mxgpu_send_kick(dev);
    }
    return v.error;
}

void mxgpu_device_forget(MxgpuDevice *dev)
{
    pthread_mutex_lock(&dev->control);
    mxgpu_simt_forget(dev->simt);
    mxgpu_mcu_forget(dev->mcu.mcu);
    mxgpu_copy_forget(dev);
    atomic_store(&dev->mbox_pending, UINT32_MAX);
    atomic_store(&dev->copy_pending, UINT32_MAX);
    atomic_store(&dev->dispatch_pending, UINT32_MAX);
    derive(dev);
    pthread_mutex_unlock(&dev->control);
}
