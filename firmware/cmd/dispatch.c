/* SPDX-License-Identifier: MIT */
/*
 * DISPATCH: a grid to a dispatch slot. The kernel descriptor is read through
 * the queue's address space each time, as it is the producer's memory.
 */
#include "cmd/commands.h"
#include "mxgpu/dispatch.h"

typedef union Descriptor {
    struct mxgpu_kernel_desc desc;
    uint32_t words[sizeof(struct mxgpu_kernel_desc) / 4];
} Descriptor;

static uint32_t dispatch_check(const union mxgpu_packet *p)
{
    return mxgpu_dispatch_check(&p->dispatch, fw.block_threads);
}

/* Reads and checks the descriptor; false: the queue stopped. */
static bool load_desc(FwQueue *queue, Descriptor *d)
{
    uint64_t addr = queue->packet.dispatch.kernel;
    uint32_t fault = mem_read_words(queue->vmid, addr, d->words,
                                    sizeof(*d) / sizeof(d->words[0]));

    if (unlikely(fault || !mxgpu_kernel_valid(&d->desc))) {
        cmd_fail_access(queue, MXGPU_QERR_KERNEL, fault, addr,
                        MXGPU_ACCESS_READ);
        return false;
    }
    return true;
}

static void fail_resources(FwQueue *queue, uint32_t field)
{
    struct mxgpu_queue_error error = {
        .code = MXGPU_QERR_RESOURCES,
        .fault = MXGPU_FAULT_CONFIG,
        .packet_index = queue->read_index - 1,
        .packet_type = queue->packet.header.type,
        .inner = queue_inner(queue),
        .field = field,
    };

    queue_fail(queue, &error);
}

/* Whether a block of the packet fits a compute unit. */
static bool check_resources(FwQueue *queue,
                            const struct mxgpu_kernel_desc *desc)
{
    uint32_t field = mxgpu_dispatch_fits(&queue->packet.dispatch, desc,
                                         fw.cu_registers, fw.cu_shared);

    if (field != FW_FIELD_OK) {
        fail_resources(queue, field);
        return false;
    }
    return true;
}

static void program_slot(const FwQueue *queue, unsigned slot,
                         const struct mxgpu_kernel_desc *desc)
{
    const struct mxgpu_packet_dispatch *packet = &queue->packet.dispatch;
    uint32_t base = slot * MXGPU_CD_CFG_STRIDE;

    reg_write64(MXGPU_CD_ENTRY_LO + base, desc->entry);
    reg_write64(MXGPU_CD_ARGS_LO + base, packet->args);
    reg_write(MXGPU_CD_GRID_X + base, packet->grid[0]);
    reg_write(MXGPU_CD_GRID_Y + base, packet->grid[1]);
    reg_write(MXGPU_CD_GRID_Z + base, packet->grid[2]);
    reg_write(MXGPU_CD_BLOCK_XY + base,
              MXGPU_SET(MXGPU_CD_BLOCK_XY_X, packet->block[0]) |
                  MXGPU_SET(MXGPU_CD_BLOCK_XY_Y, packet->block[1]));
    reg_write(MXGPU_CD_BLOCK_Z + base, packet->block[2]);
    reg_write(MXGPU_CD_SHARED + base,
              desc->static_shared + packet->dynamic_shared);
    reg_write(MXGPU_CD_SHARED_STATIC + base, desc->static_shared);
    reg_write(MXGPU_CD_PRIVATE + base, mxgpu_dispatch_private(packet, desc));
    if (unlikely(packet->flags & MXGPU_PKT_RECOVER)) {
        reg_write(MXGPU_CD_QUEUE + base, queue_id(queue));
    }
    reg_write(MXGPU_CD_CFG + base,
              MXGPU_SET(MXGPU_CD_CFG_VMID, queue->vmid) |
                  MXGPU_SET(MXGPU_CD_CFG_PRIORITY, queue->priority) |
                  MXGPU_SET(MXGPU_CD_CFG_REGISTERS, desc->registers) |
                  MXGPU_SET(MXGPU_CD_CFG_COOPERATIVE,
                            packet->flags / MXGPU_PKT_COOPERATIVE) |
                  MXGPU_SET(MXGPU_CD_CFG_FP_FLAGS,
                            desc->flags / MXGPU_KERNEL_FP_FLAGS) |
                  MXGPU_SET(MXGPU_CD_CFG_STRICT_ALIGN,
                            packet->flags / MXGPU_PKT_STRICT_ALIGN) |
                  MXGPU_SET(MXGPU_CD_CFG_RECOVER,
                            packet->flags / MXGPU_PKT_RECOVER) |
                  (unlikely(packet->flags & MXGPU_PKT_PROFILE)
                       ? profile_config(queue)
                       : 0));
    reg_write(MXGPU_CD_CTRL + base, FW_BIT(MXGPU_CD_CTRL_START));
}

static FwStart dispatch_start(FwQueue *queue)
{
    FwJob *job;
    Descriptor d;

    if (unlikely(queue->packet.header.flags &
                 (MXGPU_PKT_LAUNCHES | MXGPU_PKT_COOPERATIVE)) &&
        !launch_exclusive(queue)) {
        return FW_START_LATER;
    }
    job = unit_claim(FW_UNIT_SLOT, queue);
    if (!job) {
        return FW_START_NEEDS_SLOT;
    }
    if (!load_desc(queue, &d) || !check_resources(queue, &d.desc)) {
        return FW_START_FAILED;
    }
    if (unlikely(queue->packet.header.flags & MXGPU_PKT_PROFILE)) {
        profile_program_slot(queue, job->index);
    }
    program_slot(queue, job->index, &d.desc);
    unit_run(FW_UNIT_SLOT, job, queue);
    return FW_START_RUNNING;
}

void dispatch_fault(unsigned index, uint32_t status,
                    struct mxgpu_queue_error *e)
{
    uint32_t base = index * MXGPU_CD_STATUS_STRIDE;

    if (e->fault == MXGPU_FAULT_CONFIG) {
        e->code = MXGPU_QERR_RESOURCES;
    }
    e->access = MXGPU_GET(MXGPU_CD_STATUS_ACCESS, status);
    e->fault_addr = reg_read64(MXGPU_CD_FAULT_ADDR_LO + base);
    e->fault_pc = reg_read64(MXGPU_CD_FAULT_PC_LO + base);
    e->thread = reg_read(MXGPU_CD_FAULT_THREAD + base);
    e->block[0] = reg_read(MXGPU_CD_FAULT_BLOCK_X + base);
    e->block[1] = reg_read(MXGPU_CD_FAULT_BLOCK_Y + base);
    e->block[2] = reg_read(MXGPU_CD_FAULT_BLOCK_Z + base);
}

const FwCommand cmd_dispatch = {
    .name = "dispatch",
    .flags = MXGPU_PKT_COOPERATIVE | MXGPU_PKT_PROFILE |
             MXGPU_PKT_STRICT_ALIGN | MXGPU_PKT_LAUNCHES | MXGPU_PKT_RECOVER,
    .check = dispatch_check,
    .start = dispatch_start,
};
