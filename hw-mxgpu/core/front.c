/* SPDX-License-Identifier: MIT */
/*
 * The front end of the command processor: does by itself what a plain DISPATCH
 * takes from its packet in memory to a slot that runs it, and from that slot to
 * its signal and interrupt. What is not plain, or fails, it leaves as it is to
 * the firmware, which also says which packet goes to which slot, and when. It
 * runs on the MCU's thread, inside the writes to FE_LAUNCH and FE_RETIRE.
 */
#include "internal.h"
#include "mxgpu/dispatch.h"

/* Flags of a plain dispatch: IRQ, BARRIER, and those that only the registers of
 * its slot carry. */
#define PLAIN_FLAGS                                                            \
    (MXGPU_PKT_FLAGS | MXGPU_PKT_STRICT_ALIGN | MXGPU_PKT_RECOVER)

#define FE_SLOT(reg, slot) ((reg) + (slot)*MXGPU_FE_SIGNAL_LO_STRIDE)
#define FE_JOB(slot)       (MXGPU_FE_JOB + (slot)*MXGPU_FE_JOB_STRIDE)
#define FE_CHAIN(slot)     (MXGPU_FE_CHAIN + (slot)*MXGPU_FE_CHAIN_STRIDE)
#define FE_NEXT(slot)      (MXGPU_FE_NEXT_LO + (slot)*MXGPU_FE_NEXT_LO_STRIDE)

typedef struct Front {
    struct mxgpu_packet_dispatch packet;
    struct mxgpu_kernel_desc desc;
} Front;

/* The queue that a packet is of. */
typedef struct FrontQueue {
    unsigned vmid, priority, id, vector;
    bool has_vector;
} FrontQueue;

/* Between the begin and the end of the memory port's client. */
static bool read_both(MxgpuDevice *dev, unsigned vmid, uint64_t at, Front *f)
{
    const struct mxgpu_packet_dispatch *p = &f->packet;

    if (at % MXGPU_PACKET_SIZE ||
        mxgpu_memport_move(dev, vmid, at, &f->packet, sizeof(f->packet), false,
                           &at) != MXGPU_FAULT_NONE ||
        p->type != MXGPU_PKT_DISPATCH || p->flags & ~PLAIN_FLAGS ||
        p->signal_addr & 7 ||
        mxgpu_dispatch_check(p, MXGPU_BLOCK_THREADS) != UINT32_MAX) {
        return false;
    }
    if (p->flags & MXGPU_PKT_RECOVER &&
        !MXGPU_GET(MXGPU_FAULT_CFG_ENABLE, *mxgpu_reg(dev, MXGPU_FAULT_CFG))) {
        return false;
    }
    return mxgpu_memport_move(dev, vmid, p->kernel, &f->desc, sizeof(f->desc),
                              false, &at) == MXGPU_FAULT_NONE &&
           mxgpu_kernel_valid(&f->desc) &&
           mxgpu_dispatch_fits(p, &f->desc, MXGPU_CU_REGISTERS,
                               MXGPU_SHARED_MAX) == UINT32_MAX;
}

static bool publish(MxgpuDevice *dev, unsigned vmid)
{
    uint64_t index = mxgpu_reg64(dev, MXGPU_FE_INDEX_LO);
    uint64_t at = mxgpu_reg64(dev, MXGPU_FE_CTL_LO) +
                  offsetof(struct mxgpu_queue_ctl, read_index);

    return mxgpu_memport_move(dev, vmid, at, &index, sizeof(index), true,
                              &at) == MXGPU_FAULT_NONE;
}

/* Under the lock. */
static void program_slot(MxgpuDevice *dev, unsigned slot, const Front *f,
                         const FrontQueue *queue)
{
    const struct mxgpu_packet_dispatch *p = &f->packet;
    uint32_t base = slot * MXGPU_CD_CFG_STRIDE;
    uint32_t *job = mxgpu_reg(dev, FE_JOB(slot));

    mxgpu_set_reg64(dev, MXGPU_CD_ENTRY_LO + base, f->desc.entry);
    mxgpu_set_reg64(dev, MXGPU_CD_ARGS_LO + base, p->args);
    for (unsigned i = 0; i < 3; i++) {
        *mxgpu_reg(dev, MXGPU_CD_GRID_X + base + 4 * i) = p->grid[i];
    }
    *mxgpu_reg(dev, MXGPU_CD_BLOCK_XY + base) =
        MXGPU_SET(MXGPU_CD_BLOCK_XY_X, p->block[0]) |
        MXGPU_SET(MXGPU_CD_BLOCK_XY_Y, p->block[1]);
    *mxgpu_reg(dev, MXGPU_CD_BLOCK_Z + base) = p->block[2];
    *mxgpu_reg(dev, MXGPU_CD_SHARED + base) =
        f->desc.static_shared + p->dynamic_shared;
    *mxgpu_reg(dev, MXGPU_CD_SHARED_STATIC + base) = f->desc.static_shared;
    *mxgpu_reg(dev, MXGPU_CD_PRIVATE + base) =
        mxgpu_dispatch_private(p, &f->desc);
    *mxgpu_reg(dev, MXGPU_CD_QUEUE + base) = queue->id;
    *mxgpu_reg(dev, MXGPU_CD_CFG + base) =
        MXGPU_SET(MXGPU_CD_CFG_VMID, queue->vmid) |
        MXGPU_SET(MXGPU_CD_CFG_PRIORITY, queue->priority) |
        MXGPU_SET(MXGPU_CD_CFG_REGISTERS, f->desc.registers) |
        MXGPU_SET(MXGPU_CD_CFG_FP_FLAGS,
                  f->desc.flags / MXGPU_KERNEL_FP_FLAGS) |
        MXGPU_SET(MXGPU_CD_CFG_STRICT_ALIGN,
                  p->flags / MXGPU_PKT_STRICT_ALIGN) |
        MXGPU_SET(MXGPU_CD_CFG_RECOVER, p->flags / MXGPU_PKT_RECOVER);
    mxgpu_set_reg64(dev, FE_SLOT(MXGPU_FE_SIGNAL_LO, slot), p->signal_addr);
    mxgpu_set_reg64(dev, FE_SLOT(MXGPU_FE_VALUE_LO, slot), p->signal_value);
    *job = MXGPU_SET(MXGPU_FE_JOB_VMID, queue->vmid) |
           MXGPU_SET(MXGPU_FE_JOB_HAS_VECTOR, queue->has_vector) |
           MXGPU_SET(MXGPU_FE_JOB_VECTOR, queue->vector) |
           MXGPU_SET(MXGPU_FE_JOB_RAISE,
                     (p->flags & MXGPU_PKT_IRQ) && queue->has_vector) |
           MXGPU_SET(MXGPU_FE_JOB_STARTED, 1);
}

/* ---- chains: what follows in a slot ---- */

/* What waits for the packet's signal or interrupt is known to the firmware. */
static bool may_be_followed(MxgpuDevice *dev, unsigned slot, const Front *f)
{
    return !f->packet.signal_addr &&
           !MXGPU_GET(MXGPU_FE_JOB_RAISE, *mxgpu_reg(dev, FE_JOB(slot)));
}

/* Whether a packet with this header may follow in a slot: a plain dispatch whose
 * BARRIER says that it runs when nothing else of its queue does. */
static bool may_follow(const struct mxgpu_packet_header *h)
{
    return h->type == MXGPU_PKT_DISPATCH && h->flags & MXGPU_PKT_BARRIER &&
           !(h->flags & ~PLAIN_FLAGS);
}

/* Between the begin and the end of the memory port's client: how many packets
 * may follow the one that was put into the slot. */
static uint32_t begin_chain(MxgpuDevice *dev, unsigned slot, unsigned vmid,
                            const Front *f, uint32_t count)
{
    uint64_t next = mxgpu_reg64(dev, MXGPU_FE_PACKET_LO) + MXGPU_PACKET_SIZE;
    struct mxgpu_packet_header header;
    uint64_t at;

    if (!count || !may_be_followed(dev, slot, f) ||
        mxgpu_memport_move(dev, vmid, next, &header, sizeof(header), false,
                           &at) != MXGPU_FAULT_NONE ||
        !may_follow(&header)) {
        count = 0;
    }
    mxgpu_set_reg64(dev, FE_NEXT(slot), next);
    *mxgpu_reg(dev, FE_CHAIN(slot)) = MXGPU_SET(MXGPU_FE_CHAIN_LEFT, count);
    return count;
}

static FrontQueue queue_of(MxgpuDevice *dev, unsigned slot)
{
    uint32_t base = slot * MXGPU_CD_CFG_STRIDE;
    uint32_t job = *mxgpu_reg(dev, FE_JOB(slot));

    return (FrontQueue){
        .vmid = MXGPU_GET(MXGPU_FE_JOB_VMID, job),
        .priority = MXGPU_GET(MXGPU_CD_CFG_PRIORITY,
                              *mxgpu_reg(dev, MXGPU_CD_CFG + base)),
        .id = *mxgpu_reg(dev, MXGPU_CD_QUEUE + base),
        .vector = MXGPU_GET(MXGPU_FE_JOB_VECTOR, job),
        .has_vector = MXGPU_GET(MXGPU_FE_JOB_HAS_VECTOR, job),
    };
}

static bool read_next(MxgpuDevice *dev, unsigned slot, Front *f)
{
    unsigned vmid =
        MXGPU_GET(MXGPU_FE_JOB_VMID, *mxgpu_reg(dev, FE_JOB(slot)));
    bool ok;

    mxgpu_mmu_client_begin(&dev->memport.client);
    ok = read_both(dev, vmid, mxgpu_reg64(dev, FE_NEXT(slot)), f);
    mxgpu_mmu_client_end(&dev->memport.client);
    return ok && f->packet.flags & MXGPU_PKT_BARRIER;
}

/* A slot is DONE. Only this thread gives commands for it. */
static void follow(MxgpuDevice *dev, unsigned slot, uint64_t now)
{
    FrontQueue queue = queue_of(dev, slot);
    bool held = mxgpu_simt_held(dev->simt) >> slot & 1;
    uint32_t *chain = mxgpu_reg(dev, FE_CHAIN(slot));
    Front f;

    if (held || !read_next(dev, slot, &f)) {
        mxgpu_lock(dev);
        mxgpu_fe_break(dev, slot);
        mxgpu_unlock(dev);
        return;
    }
    mxgpu_lock(dev);
    mxgpu_cd_ack(dev, slot);
    program_slot(dev, slot, &f, &queue);
    mxgpu_set_reg64(dev, FE_NEXT(slot),
                    mxgpu_reg64(dev, FE_NEXT(slot)) + MXGPU_PACKET_SIZE);
    *chain += MXGPU_SET(MXGPU_FE_CHAIN_DONE, 1) - 1;
    if (!may_be_followed(dev, slot, &f)) {
        *chain &= ~MXGPU_FE_CHAIN_LEFT_MASK;
    }
    mxgpu_unlock(dev);
    mxgpu_cd_start(dev, slot, now);
}

void mxgpu_fe_follow(MxgpuDevice *dev)
{
    uint64_t now = mxgpu_now(dev);

    for (uint32_t slots = atomic_load(&dev->chain_pending); slots;
         slots &= slots - 1) {
        follow(dev, (unsigned)__builtin_ctz(slots), now);
    }
}

/* ---- the commands ---- */

static enum mxgpu_front_state launch(MxgpuDevice *dev, uint32_t command,
                                     uint64_t now, Front *f, unsigned *slot)
{
    uint32_t slots = MXGPU_GET(MXGPU_FE_LAUNCH_SLOTS, command);
    uint32_t cfg = *mxgpu_reg(dev, MXGPU_FE_CFG), chain;
    bool busy = MXGPU_GET(MXGPU_FE_LAUNCH_BUSY, command);
    const FrontQueue queue = {
        .vmid = MXGPU_GET(MXGPU_FE_CFG_VMID, cfg),
        .priority = MXGPU_GET(MXGPU_FE_CFG_PRIORITY, cfg),
        .id = MXGPU_GET(MXGPU_FE_CFG_QUEUE, cfg),
        .vector = MXGPU_GET(MXGPU_FE_CFG_VECTOR, cfg),
        .has_vector = MXGPU_GET(MXGPU_FE_CFG_HAS_VECTOR, cfg),
    };

    if (!read_both(dev, queue.vmid, mxgpu_reg64(dev, MXGPU_FE_PACKET_LO), f)) {
        return MXGPU_FRONT_OTHER;
    }
    if (busy && f->packet.flags & MXGPU_PKT_BARRIER) {
        return MXGPU_FRONT_BARRIER;
    }
    if (!slots) {
        return MXGPU_FRONT_NO_SLOT;
    }
    *slot = (unsigned)__builtin_ctz(slots);
    if (mxgpu_cd_state(dev, *slot) != MXGPU_UNIT_IDLE ||
        (MXGPU_GET(MXGPU_FE_LAUNCH_PUBLISH, command) &&
         !publish(dev, queue.vmid))) {
        return MXGPU_FRONT_OTHER;
    }
    mxgpu_lock(dev);
    program_slot(dev, *slot, f, &queue);
    mxgpu_unlock(dev);
    chain = begin_chain(
        dev, *slot, queue.vmid, f,
        busy ? 0 : MXGPU_GET(MXGPU_FE_LAUNCH_CHAIN, command));
    mxgpu_cd_start(dev, *slot, now);
    return chain ? MXGPU_FRONT_CHAINED : MXGPU_FRONT_LAUNCHED;
}

void mxgpu_fe_launch_write(MxgpuDevice *dev, const MxgpuAccess *a,
                           uint32_t value)
{
    Front f = {0};
    enum mxgpu_front_state state;
    unsigned slot = 0;

    mxgpu_mmu_client_begin(&dev->memport.client);
    state = launch(dev, value, a->now, &f, &slot);
    mxgpu_mmu_client_end(&dev->memport.client);
    *mxgpu_reg(dev, MXGPU_FE_RESULT) =
        MXGPU_SET(MXGPU_FE_RESULT_STATE, state) |
        MXGPU_SET(MXGPU_FE_RESULT_SLOT, slot) |
        MXGPU_SET(MXGPU_FE_RESULT_FLAGS,
                  state == MXGPU_FRONT_OTHER ? 0 : f.packet.flags);
}

static bool write_signal(MxgpuDevice *dev, unsigned slot)
{
    uint64_t at = mxgpu_reg64(dev, FE_SLOT(MXGPU_FE_SIGNAL_LO, slot));
    uint64_t value = mxgpu_reg64(dev, FE_SLOT(MXGPU_FE_VALUE_LO, slot));
    unsigned vmid =
        MXGPU_GET(MXGPU_FE_JOB_VMID, *mxgpu_reg(dev, FE_JOB(slot)));
    enum mxgpu_fault fault;

    if (!at) {
        return true;
    }
    mxgpu_mmu_client_begin(&dev->memport.client);
    fault = mxgpu_memport_move(dev, vmid, at, &value, sizeof(value), true, &at);
    mxgpu_mmu_client_end(&dev->memport.client);
    return fault == MXGPU_FAULT_NONE;
}

static enum mxgpu_front_state retire(MxgpuDevice *dev, unsigned slot)
{
    uint32_t *job;
    unsigned vector;

    if (slot >= MXGPU_DISPATCH_SLOTS ||
        mxgpu_cd_state(dev, slot) != MXGPU_UNIT_DONE) {
        return MXGPU_FRONT_OTHER;
    }
    job = mxgpu_reg(dev, FE_JOB(slot));
    vector = MXGPU_GET(MXGPU_FE_JOB_VECTOR, *job);
    if (!MXGPU_GET(MXGPU_FE_JOB_STARTED, *job) || !write_signal(dev, slot)) {
        return MXGPU_FRONT_OTHER;
    }
    mxgpu_lock(dev);
    if (MXGPU_GET(MXGPU_FE_JOB_RAISE, *job) && vector < dev->config.vectors) {
        mxgpu_out_vector(dev, vector);
    }
    mxgpu_fe_forget(dev, slot);
    mxgpu_cd_ack(dev, slot);
    mxgpu_unlock(dev);
    return MXGPU_FRONT_RETIRED;
}

void mxgpu_fe_retire_write(MxgpuDevice *dev, const MxgpuAccess *a,
                           uint32_t value)
{
    *mxgpu_reg(dev, MXGPU_FE_RESULT) =
        MXGPU_SET(MXGPU_FE_RESULT_STATE, retire(dev, value));
}
