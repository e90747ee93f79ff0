/* SPDX-License-Identifier: MIT */
/*
 * TLB_INVALIDATE, as a packet and as a message. The hardware tells by one BUSY
 * bit whether any invalidation is still under way, so they go in batches: what
 * is asked for while a batch is under way forms the next one, and no stream of
 * requests can keep the first from ending.
 */
#include "cmd/commands.h"

#define FIRST_PAUSE   (1 * FW_US)
#define LONGEST_PAUSE (64 * FW_US)

static uint32_t tlb_check(const union mxgpu_packet *packet)
{
    const struct mxgpu_packet_tlb_invalidate *tlb = &packet->tlb_invalidate;

    if (tlb->reserved0) {
        return FIELD(tlb_invalidate, reserved0);
    }
    if (tlb->addr + tlb->size < tlb->addr) {
        return FIELD(tlb_invalidate, size);
    }
    return cmd_check_zero(packet, FIELD(tlb_invalidate, reserved1) / 4, 11);
}

static void issue(uint32_t vmid, uint64_t addr, uint64_t size)
{
    reg_write64(MXGPU_MMU_INV_ADDR_LO, addr);
    reg_write64(MXGPU_MMU_INV_SIZE_LO, size);
    reg_write(MXGPU_MMU_INV_CMD, vmid);
}

static void issue_packet(const FwQueue *queue)
{
    issue(queue->vmid, queue->packet.tlb_invalidate.addr,
          queue->packet.tlb_invalidate.size);
}

static bool busy(void)
{
    return reg_read(MXGPU_MMU_INV_STATUS) & FW_BIT(MXGPU_MMU_INV_STATUS_BUSY);
}

static void begin_batch(void)
{
    fw.inv_busy = true;
    fw.inv_backoff = FIRST_PAUSE;
    fw.inv_poll_time = time_now() + FIRST_PAUSE;
}

void tlb_init(void)
{
    list_init(&fw.inv_active);
    list_init(&fw.inv_queued);
    fw.inv_busy = fw.inv_mailbox = fw.inv_mailbox_queued = false;
}

static FwStart tlb_start(FwQueue *queue)
{
    if (fw.inv_busy) {
        list_add_tail(&fw.inv_queued, &queue->link);
        return FW_START_PARKED;
    }
    issue_packet(queue);
    if (!busy()) {
        return FW_START_DONE;
    }
    list_add_tail(&fw.inv_active, &queue->link);
    begin_batch();
    return FW_START_PARKED;
}

bool tlb_begin_mailbox(uint32_t vmid, uint64_t addr, uint64_t size)
{
    fw.inv_vmid = vmid;
    fw.inv_addr = addr;
    fw.inv_size = size;
    if (fw.inv_busy) {
        fw.inv_mailbox_queued = true;
        return false;
    }
    issue(vmid, addr, size);
    if (!busy()) {
        return true;
    }
    fw.inv_mailbox = true;
    begin_batch();
    return false;
}

static void end_batch(void)
{
    fw.inv_busy = false;
    while (!list_empty(&fw.inv_active)) {
        sched_unpark(list_entry(fw.inv_active.next, FwQueue, link));
    }
    if (fw.inv_mailbox) {
        fw.inv_mailbox = false;
        mailbox_finish(MXGPU_MSG_OK);
    }
}

static void begin_queued(void)
{
    if (list_empty(&fw.inv_queued) && !fw.inv_mailbox_queued) {
        return;
    }
    while (!list_empty(&fw.inv_queued)) {
        FwQueue *queue = list_entry(fw.inv_queued.next, FwQueue, link);

        issue_packet(queue);
        list_remove(&queue->link);
        list_add_tail(&fw.inv_active, &queue->link);
    }
    if (fw.inv_mailbox_queued) {
        fw.inv_mailbox_queued = false;
        fw.inv_mailbox = true;
        issue(fw.inv_vmid, fw.inv_addr, fw.inv_size);
    }
    begin_batch();
}

void tlb_poll(uint64_t now)
{
    if (now < fw.inv_poll_time) {
        return;
    }
    if (!busy()) {
        end_batch();
        begin_queued();
        return;
    }
    fw.inv_backoff *= 2;
    if (fw.inv_backoff > LONGEST_PAUSE) {
        fw.inv_backoff = LONGEST_PAUSE;
    }
    fw.inv_poll_time = now + fw.inv_backoff;
}

const FwCommand cmd_tlb_invalidate = {
    .name = "tlb-invalidate",
    .barrier = true,
    .check = tlb_check,
    .start = tlb_start,
};
