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

/* IRQ and BARRIER, and what only slots have to know. */
#define PLAIN_FLAGS                                                            \
    (MXGPU_PKT_FLAGS | MXGPU_PKT_STRICT_ALIGN | MXGPU_PKT_RECOVER)

#define FE_SLOT(reg, slot) ((reg) + (slot)*MXGPU_FE_SIGNAL_LO_STRIDE)
#define FE_JOB(slot)       (MXGPU_FE_JOB + (slot)*MXGPU_FE_JOB_STRIDE)

typedef struct Front {
    struct mxgpu_packet_dispatch packet;
    struct mxgpu_kernel_desc desc;
} Front;

/* Between the begin and the end of the memory port's client. */
static bool read_both(MxgpuDevice *dev, unsigned vmid, Front *f)
{
    const struct mxgpu_packet_dispatch *p = &f->packet;
    uint64_t at = mxgpu_reg64(dev, MXGPU_FE_PACKET_LO);

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
static void program_slot(MxgpuDevice *dev, unsigned slot, const Front *f)
{
    const struct mxgpu_packet_dispatch *p = &f->packet;
    uint32_t base = slot * MXGPU_CD_CFG_STRIDE;
    uint32_t cfg = *mxgpu_reg(dev, MXGPU_FE_CFG);
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
    *mxgpu_reg(dev, MXGPU_CD_QUEUE + base) =
        MXGPU_GET(MXGPU_FE_CFG_QUEUE, cfg);
    *mxgpu_reg(dev, MXGPU_CD_CFG + base) =
        MXGPU_SET(MXGPU_CD_CFG_VMID, MXGPU_GET(MXGPU_FE_CFG_VMID, cfg)) |
        MXGPU_SET(MXGPU_CD_CFG_PRIORITY,
                  MXGPU_GET(MXGPU_FE_CFG_PRIORITY, cfg)) |
        MXGPU_SET(MXGPU_CD_CFG_REGISTERS, f->desc.registers) |
        MXGPU_SET(MXGPU_CD_CFG_FP_FLAGS,
                  f->desc.flags / MXGPU_KERNEL_FP_FLAGS) |
        MXGPU_SET(MXGPU_CD_CFG_STRICT_ALIGN,
                  p->flags / MXGPU_PKT_STRICT_ALIGN) |
        MXGPU_SET(MXGPU_CD_CFG_RECOVER, p->flags / MXGPU_PKT_RECOVER);
    mxgpu_set_reg64(dev, FE_SLOT(MXGPU_FE_SIGNAL_LO, slot), p->signal_addr);
    mxgpu_set_reg64(dev, FE_SLOT(MXGPU_FE_VALUE_LO, slot), p->signal_value);
    *job = MXGPU_SET(MXGPU_FE_JOB_VMID, MXGPU_GET(MXGPU_FE_CFG_VMID, cfg)) |
           MXGPU_SET(MXGPU_FE_JOB_VECTOR, MXGPU_GET(MXGPU_FE_CFG_VECTOR, cfg)) |
           MXGPU_SET(MXGPU_FE_JOB_RAISE,
                     (p->flags & MXGPU_PKT_IRQ) != 0 &&
                         MXGPU_GET(MXGPU_FE_CFG_HAS_VECTOR, cfg)) |
           MXGPU_SET(MXGPU_FE_JOB_STARTED, 1);
}

static enum mxgpu_front_state launch(MxgpuDevice *dev, uint32_t command,
                                     uint64_t now, Front *f, unsigned *slot)
{
    uint32_t slots = MXGPU_GET(MXGPU_FE_LAUNCH_SLOTS, command);
    unsigned vmid =
        MXGPU_GET(MXGPU_FE_CFG_VMID, *mxgpu_reg(dev, MXGPU_FE_CFG));

    if (!read_both(dev, vmid, f)) {
        return MXGPU_FRONT_OTHER;
    }
    if (MXGPU_GET(MXGPU_FE_LAUNCH_BUSY, command) &&
        f->packet.flags & MXGPU_PKT_BARRIER) {
        return MXGPU_FRONT_BARRIER;
    }
    if (!slots) {
        return MXGPU_FRONT_NO_SLOT;
    }
    *slot = (unsigned)__builtin_ctz(slots);
    if (mxgpu_cd_state(dev, *slot) != MXGPU_UNIT_IDLE ||
        (MXGPU_GET(MXGPU_FE_LAUNCH_PUBLISH, command) && !publish(dev, vmid))) {
        return MXGPU_FRONT_OTHER;
    }
    mxgpu_lock(dev);
    program_slot(dev, *slot, f);
    mxgpu_unlock(dev);
    mxgpu_cd_start(dev, *slot, now);
    return MXGPU_FRONT_LAUNCHED;
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
    *job = 0;
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
