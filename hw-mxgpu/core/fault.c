/* SPDX-License-Identifier: MIT */
/*
 * The fault ring: recoverable faults of all units are written to a ring of
 * records in memory, and stay parked where they are until software has decided
 * about them (docs/faults.md). A unit reports a fault itself, on its thread, and
 * asks for the verdict whenever it is woken. Nothing is queued here: what finds
 * no room in the ring is reported when there is some.
 *
 * faults.writer is held while a record is written, which may wait for the bus;
 * registers need dev->lock alone, so that they never wait for that. verdict[]
 * has one entry for each record that may be under way; a number's entry is in
 * use until its unit has seen the verdict.
 *
 * A dispatch that leaves for memory has numbers there of records that it waits
 * for, and memory may say anything when it comes back: so the entry says whose
 * the record is, and that it is away. What is to be replayed needs no entry, for
 * that is what becomes of lanes that nothing is known of; what is to be killed
 * has it until the number is used again, 4096 records later, and if it has not
 * come back by then, it is replayed, faults, and is decided about once more.
 */
#include "internal.h"

_Static_assert(MXGPU_FAULT_RECORDS == 1u << MXGPU_FAULT_LOG2_MAX, "of a ring");

static _Atomic uint8_t *entry(MxgpuDevice *dev, uint32_t sequence)
{
    return &dev->faults.verdict[sequence % MXGPU_FAULT_RECORDS];
}

static MxgpuFaultOwner *owner(MxgpuDevice *dev, uint32_t sequence)
{
    return &dev->faults.owner[sequence % MXGPU_FAULT_RECORDS];
}

static uint32_t ring_cfg(MxgpuDevice *dev)
{
    return *mxgpu_reg(dev, MXGPU_FAULT_CFG);
}

static uint32_t ring_records(uint32_t cfg)
{
    return 1u << MXGPU_GET(MXGPU_FAULT_CFG_LOG2_RECORDS, cfg);
}

static bool ring_enabled(MxgpuDevice *dev)
{
    return MXGPU_GET(MXGPU_FAULT_CFG_ENABLE, ring_cfg(dev));
}

static void wake_units(MxgpuDevice *dev)
{
    for (unsigned i = 0; i < dev->config.copy_engines; i++) {
        mxgpu_wake(dev, MXGPU_STEPPER_COPY + i);
    }
    mxgpu_wake_compute(dev);
}

/* ---- reporting: on the threads of units */

/* Where the next record goes. */
typedef struct Place {
    uint32_t cfg, sequence;
    uint64_t ring, va;
} Place;

/* Records that are killed while nobody is there cannot wait for ever. */
static bool is_free(MxgpuDevice *dev, uint32_t sequence)
{
    uint8_t state = atomic_load(entry(dev, sequence));

    return state == MXGPU_FAULT_FREE || state == MXGPU_FAULT_AWAY_KILLED;
}

/* false: there is no room. */
static bool claim(MxgpuDevice *dev, Place *p)
{
    MxgpuFaults *f = &dev->faults;
    bool room;

    mxgpu_lock(dev);
    p->cfg = ring_cfg(dev);
    p->sequence = *mxgpu_reg(dev, MXGPU_FAULT_TAIL);
    p->ring = mxgpu_reg64(dev, MXGPU_FAULT_RING_LO);
    p->va = p->ring + p->sequence % ring_records(p->cfg) *
                          sizeof(struct mxgpu_fault_record);
    room = ring_enabled(dev) && !f->error &&
           p->sequence - *mxgpu_reg(dev, MXGPU_FAULT_HEAD) <
               ring_records(p->cfg) &&
           is_free(dev, p->sequence);
    f->busy = room;
    f->stalled |= !room;
    mxgpu_unlock(dev);
    return room;
}

static enum mxgpu_fault write_record(MxgpuDevice *dev, const Place *p,
                                     const struct mxgpu_fault_record *record)
{
    MxgpuTranslation t;
    enum mxgpu_fault fault = mxgpu_mmu_translate( /* in one page: aligned */
        dev->mmu, MXGPU_GET(MXGPU_FAULT_CFG_VMID, p->cfg), p->va,
        MXGPU_ACCESS_WRITE, &t);

    return fault == MXGPU_FAULT_NONE
               ? mxgpu_mmu_write(dev->mmu, &t, record, sizeof(*record))
               : fault;
}

static bool same_ring(MxgpuDevice *dev, const Place *p)
{
    return ring_cfg(dev) == p->cfg &&
           mxgpu_reg64(dev, MXGPU_FAULT_RING_LO) == p->ring;
}

/* Shows the record, if it was written and the ring is still the same. */
static bool publish(MxgpuDevice *dev, const Place *p,
                    const struct mxgpu_fault_record *record,
                    enum mxgpu_fault fault)
{
    MxgpuFaults *f = &dev->faults;
    bool ok;

    mxgpu_lock(dev);
    ok = fault == MXGPU_FAULT_NONE && same_ring(dev, p);
    f->busy = false;
    f->stalled |= !ok;
    if (ok) {
        *owner(dev, p->sequence) = (MxgpuFaultOwner){0};
        atomic_store(entry(dev, p->sequence), MXGPU_FAULT_WAITS);
        *mxgpu_reg(dev, MXGPU_FAULT_TAIL) = p->sequence + 1;
        mxgpu_out_trace(dev, MXGPU_TRACE_FAULT, record->addr,
                        record->fault | (uint64_t)record->access << 8);
        mxgpu_irq_set(dev, 1u << MXGPU_IRQ_STATUS_FAULT_SHIFT);
    } else if (same_ring(dev, p)) {
        f->error = true;
        mxgpu_err_fault(dev, fault, MXGPU_ACCESS_WRITE, p->va);
    }
    mxgpu_unlock(dev);
    return ok;
}

bool mxgpu_fault_report(MxgpuDevice *dev, struct mxgpu_fault_record *record)
{
    bool ok;
    Place p;

    record->time = mxgpu_now(dev);
    pthread_mutex_lock(&dev->faults.writer);
    ok = claim(dev, &p);
    if (ok) {
        record->sequence = p.sequence;
        ok = publish(dev, &p, record, write_record(dev, &p, record));
    }
    pthread_mutex_unlock(&dev->faults.writer);
    return ok;
}

void mxgpu_fault_release(MxgpuDevice *dev, uint32_t sequence)
{
    atomic_store(entry(dev, sequence), MXGPU_FAULT_FREE);
    wake_units(dev); /* another one may have waited for this entry */
}

MxgpuVerdict mxgpu_fault_verdict(MxgpuDevice *dev, uint32_t sequence)
{
    switch (atomic_load(entry(dev, sequence))) {
    case MXGPU_FAULT_WAITS:
        return MXGPU_VERDICT_NONE;
    case MXGPU_FAULT_KILLED:
        mxgpu_fault_release(dev, sequence);
        return MXGPU_VERDICT_KILL;
    default:
        mxgpu_fault_release(dev, sequence);
        return MXGPU_VERDICT_REPLAY;
    }
}

void mxgpu_fault_away(MxgpuDevice *dev, uint32_t sequence, unsigned vmid,
                      uint32_t queue)
{
    MxgpuFaultOwner whose = {sequence, queue, vmid};

    mxgpu_lock(dev);
    switch (atomic_load(entry(dev, sequence))) {
    case MXGPU_FAULT_WAITS:
        atomic_store(entry(dev, sequence), MXGPU_FAULT_AWAY);
        *owner(dev, sequence) = whose;
        break;
    case MXGPU_FAULT_KILLED:
        atomic_store(entry(dev, sequence), MXGPU_FAULT_AWAY_KILLED);
        *owner(dev, sequence) = whose;
        break;
    default:
        atomic_store(entry(dev, sequence), MXGPU_FAULT_FREE);
        break;
    }
    mxgpu_unlock(dev);
    wake_units(dev);
}

bool mxgpu_fault_back(MxgpuDevice *dev, uint32_t sequence, unsigned vmid,
                      uint32_t queue)
{
    MxgpuFaultOwner *o = owner(dev, sequence);
    uint8_t state;
    bool waits;

    mxgpu_lock(dev);
    state = atomic_load(entry(dev, sequence));
    waits = (state == MXGPU_FAULT_AWAY || state == MXGPU_FAULT_AWAY_KILLED) &&
            o->sequence == sequence && o->queue == queue && o->vmid == vmid;
    if (waits) {
        *o = (MxgpuFaultOwner){0};
        atomic_store(entry(dev, sequence), state == MXGPU_FAULT_AWAY
                                               ? MXGPU_FAULT_WAITS
                                               : MXGPU_FAULT_KILLED);
    }
    mxgpu_unlock(dev);
    return waits;
}

/* ---- registers: under the lock */

static void refuse(MxgpuDevice *dev, const MxgpuAccess *a, uint32_t value)
{
    mxgpu_err_set(dev, 1u << MXGPU_ERR_STATUS_BAD_ACCESS_SHIFT, a->offset,
                  value);
}

/* No effect when there is a verdict already, or the unit waits no longer. */
static void decide(MxgpuDevice *dev, uint32_t sequence, uint8_t verdict)
{
    uint8_t waits = MXGPU_FAULT_WAITS;

    if (atomic_compare_exchange_strong(entry(dev, sequence), &waits, verdict) ||
        waits != MXGPU_FAULT_AWAY) {
        return;
    }
    if (verdict == MXGPU_FAULT_KILLED) {
        atomic_store(entry(dev, sequence), MXGPU_FAULT_AWAY_KILLED);
    } else {
        *owner(dev, sequence) = (MxgpuFaultOwner){0};
        atomic_store(entry(dev, sequence), MXGPU_FAULT_FREE);
    }
}

/* All records before that one are done with. */
static void move_head(MxgpuDevice *dev, uint32_t to)
{
    uint32_t *head = mxgpu_reg(dev, MXGPU_FAULT_HEAD);

    for (; *head != to; ++*head) {
        decide(dev, *head, MXGPU_FAULT_REPLAYED);
    }
}

void mxgpu_fault_ring_write(MxgpuDevice *dev, const MxgpuAccess *a,
                            uint32_t value)
{
    if (ring_enabled(dev)) {
        refuse(dev, a, value);
        return;
    }
    *mxgpu_reg(dev, a->offset) = value;
}

static bool cfg_ok(MxgpuDevice *dev, uint32_t cfg)
{
    uint64_t ring = mxgpu_reg64(dev, MXGPU_FAULT_RING_LO);

    return !MXGPU_GET(MXGPU_FAULT_CFG_ENABLE, cfg) ||
           (MXGPU_GET(MXGPU_FAULT_CFG_LOG2_RECORDS, cfg) <=
                MXGPU_FAULT_LOG2_MAX &&
            ring % sizeof(struct mxgpu_fault_record) == 0 &&
            ring < MXGPU_VA_LIMIT);
}

void mxgpu_fault_cfg_write(MxgpuDevice *dev, const MxgpuAccess *a,
                           uint32_t value)
{
    if (!cfg_ok(dev, value) || (ring_enabled(dev) && value)) {
        refuse(dev, a, value);
        return;
    }
    move_head(dev, *mxgpu_reg(dev, MXGPU_FAULT_TAIL));
    *mxgpu_reg(dev, MXGPU_FAULT_CFG) = value;
    dev->faults.error = dev->faults.stalled = false;
    wake_units(dev);
}

void mxgpu_fault_head_write(MxgpuDevice *dev, const MxgpuAccess *a,
                            uint32_t value)
{
    uint32_t head = *mxgpu_reg(dev, MXGPU_FAULT_HEAD);

    if (value - head > *mxgpu_reg(dev, MXGPU_FAULT_TAIL) - head) {
        refuse(dev, a, value);
        return;
    }
    move_head(dev, value);
    dev->faults.stalled = false;
    wake_units(dev);
}

static void one_write(MxgpuDevice *dev, const MxgpuAccess *a, uint32_t value,
                      uint8_t verdict)
{
    uint32_t head = *mxgpu_reg(dev, MXGPU_FAULT_HEAD);

    if (value - head >= *mxgpu_reg(dev, MXGPU_FAULT_TAIL) - head) {
        refuse(dev, a, value);
        return;
    }
    decide(dev, value, verdict);
    wake_units(dev);
}

void mxgpu_fault_replay_write(MxgpuDevice *dev, const MxgpuAccess *a,
                              uint32_t value)
{
    one_write(dev, a, value, MXGPU_FAULT_REPLAYED);
}

void mxgpu_fault_kill_write(MxgpuDevice *dev, const MxgpuAccess *a,
                            uint32_t value)
{
    one_write(dev, a, value, MXGPU_FAULT_KILLED);
}

uint32_t mxgpu_fault_status_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    const MxgpuFaults *f = &dev->faults;

    return MXGPU_SET(MXGPU_FAULT_STATUS_STALLED, f->stalled) |
           MXGPU_SET(MXGPU_FAULT_STATUS_ERROR, f->error) |
           MXGPU_SET(MXGPU_FAULT_STATUS_BUSY, f->busy);
}

/* ---- life and state */

void mxgpu_fault_reset(MxgpuDevice *dev)
{
    for (unsigned i = 0; i < MXGPU_FAULT_RECORDS; i++) {
        atomic_store(&dev->faults.verdict[i], MXGPU_FAULT_FREE);
    }
    memset(dev->faults.owner, 0, sizeof(dev->faults.owner));
    dev->faults.stalled = dev->faults.error = dev->faults.busy = false;
}

bool mxgpu_fault_is_away(MxgpuDevice *dev, uint32_t i)
{
    uint8_t state = atomic_load(&dev->faults.verdict[i]);

    return state == MXGPU_FAULT_AWAY || state == MXGPU_FAULT_AWAY_KILLED;
}

/* Owners are those of records that are away, and have their numbers. */
static void visit_owners(MxgpuDevice *dev, MxgpuVisit *v)
{
    MxgpuFaultOwner *owners = dev->faults.owner;

    visit_sparse(v, owners, sizeof(dev->faults.owner), sizeof(*owners));
    for (unsigned i = 0; visit_loads(v) && i < MXGPU_FAULT_RECORDS; i++) {
        const MxgpuFaultOwner *o = &owners[i];

        visit_check(v, mxgpu_fault_is_away(dev, i)
                           ? o->sequence % MXGPU_FAULT_RECORDS == i &&
                                 o->vmid < MXGPU_NUM_VMIDS
                           : !o->sequence && !o->queue && !o->vmid);
    }
}

void mxgpu_fault_visit(MxgpuDevice *dev, MxgpuVisit *v)
{
    MxgpuFaults *f = &dev->faults;
    uint8_t verdict[MXGPU_FAULT_RECORDS];

    for (unsigned i = 0; i < MXGPU_FAULT_RECORDS; i++) {
        verdict[i] = atomic_load(&f->verdict[i]);
    }
    visit_section(v, "faults", 2);
    VISIT_BOOL(v, f->stalled);
    VISIT_BOOL(v, f->error);
    visit_sparse(v, verdict, sizeof(verdict), 64);
    for (unsigned i = 0; visit_loads(v) && i < MXGPU_FAULT_RECORDS; i++) {
        visit_check(v, verdict[i] < MXGPU_FAULT_STATES);
        atomic_store(&f->verdict[i], v->error ? MXGPU_FAULT_FREE : verdict[i]);
    }
    visit_owners(dev, v);
    visit_check(v, cfg_ok(dev, ring_cfg(dev)) &&
                       *mxgpu_reg(dev, MXGPU_FAULT_TAIL) -
                               *mxgpu_reg(dev, MXGPU_FAULT_HEAD) <=
                           ring_records(ring_cfg(dev)));
}
