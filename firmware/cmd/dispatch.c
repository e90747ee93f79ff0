/* SPDX-License-Identifier: MIT */
/*
 * DISPATCH: a grid to a dispatch slot. The kernel descriptor is read through
 * the queue's address space each time, as it is the producer's memory.
 */
#include "cmd/commands.h"
#include "mxgpu/kernel.h"

typedef union Descriptor {
    struct mxgpu_kernel_desc desc;
    uint32_t words[sizeof(struct mxgpu_kernel_desc) / 4];
} Descriptor;

/* Threads of a block, or something above the limit. The product of all three
 * could overflow, so the first two are bounded before the third. */
static uint32_t block_threads(const struct mxgpu_packet_dispatch *packet)
{
    uint32_t xy = (uint32_t)packet->block[0] * packet->block[1];

    return xy > fw.block_threads ? xy : xy * packet->block[2];
}

static uint32_t dispatch_check(const union mxgpu_packet *p)
{
    const struct mxgpu_packet_dispatch *packet = &p->dispatch;
    uint32_t threads;

    if (packet->args & 15 ||
        (packet->flags & MXGPU_PKT_LAUNCHES &&
         (packet->args < MXGPU_LAUNCH_ARGS ||
          packet->args % MXGPU_LAUNCH_ALIGN))) {
        return FIELD(dispatch, args);
    }
    for (unsigned i = 0; i < 3; i++) {
        if (!packet->grid[i]) {
            return FIELD(dispatch, grid) + i * 4;
        }
        if (!packet->block[i]) {
            return FIELD(dispatch, block) + i * 2;
        }
    }
    threads = block_threads(packet);
    if (threads > fw.block_threads) {
        return FIELD(dispatch, block);
    }
    if (packet->private_kib > MXGPU_PRIVATE_MAX / 1024) {
        return FIELD(dispatch, private_kib);
    }
    return packet->reserved ? FIELD(dispatch, reserved) : FW_FIELD_OK;
}

static bool desc_valid(const struct mxgpu_kernel_desc *desc)
{
    return desc->magic == MXGPU_KERNEL_MAGIC &&
           desc->abi == MXGPU_KERNEL_ABI && !(desc->entry & 1) &&
           desc->registers >= 1 && desc->registers <= 255 &&
           desc->static_shared <= MXGPU_SHARED_MAX &&
           desc->private_bytes <= MXGPU_PRIVATE_MAX &&
           !(desc->flags & ~MXGPU_KERNEL_FP_FLAGS) && !desc->reserved;
}

/* Reads and checks the descriptor; false: the queue stopped. */
static bool load_desc(FwQueue *queue, Descriptor *d)
{
    uint64_t addr = queue->packet.dispatch.kernel;
    uint32_t fault = mem_read_words(queue->vmid, addr, d->words,
                                    sizeof(*d) / sizeof(d->words[0]));

    if (unlikely(fault || !desc_valid(&d->desc))) {
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
    const struct mxgpu_packet_dispatch *packet = &queue->packet.dispatch;
    uint32_t threads = block_threads(packet);

    if ((desc->max_threads && threads > desc->max_threads) ||
        threads * desc->registers > fw.cu_registers) {
        fail_resources(queue, FIELD(dispatch, block));
        return false;
    }
    if (packet->dynamic_shared > fw.cu_shared ||
        desc->static_shared + packet->dynamic_shared > fw.cu_shared) {
        fail_resources(queue, FIELD(dispatch, dynamic_shared));
        return false;
    }
    return true;
}

/* Stack of a thread: what the packet says, else the default; never less than
 * the kernel is known to need. */
static uint32_t private_bytes(const struct mxgpu_packet_dispatch *packet,
                              const struct mxgpu_kernel_desc *desc)
{
    uint32_t kib = packet->private_kib ? packet->private_kib
                                       : MXGPU_PRIVATE_DEFAULT_KIB;
    uint32_t need = (desc->private_bytes + 1023) & ~1023u;

    return kib * 1024 > need ? kib * 1024 : need;
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
    reg_write(MXGPU_CD_PRIVATE + base, private_bytes(packet, desc));
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
