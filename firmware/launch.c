/* SPDX-License-Identifier: MIT */
/*
 * Grids that kernels launch: takes records from the ring of a VMID, runs them
 * in its launch queue, and says when a grid and all below it are complete
 * (mxgpu/launch.h has the protocol).
 *
 * The tree of grids lies in the guest's memory alone, so that its size has no
 * bound here. What is read from it may be anything: it can confuse the grids
 * of its own VMID, whose queues can be destroyed as ever, and nothing else.
 * Each visit of a tree is bounded by the depth that grids may have.
 *
 * Kernels may wait for what they launched, so what they launched has to find
 * room: all blocks of a cooperative dispatch take theirs at once, and others
 * wait meanwhile. One such dispatch and a packet with LAUNCHES therefore never
 * run at the same time; who comes first is first. For the same reason packets
 * with LAUNCHES never have so many slots that those which a launch queue leaves
 * to more urgent ones would be the last. Who waits is told when a grid fails.
 *
 * Cooperative dispatches never leave a slot before they end, and have the units
 * one after the other: they leave one slot to those that come later and are more
 * urgent, or short.
 *
 * The ring is looked at by the clock while kernels that may launch run: after
 * 2 us, doubled up to 50 us while nothing comes, and when one of them ends.
 */
#include "fw.h"

#define FIRST_PAUSE   (2 * FW_US)
#define LONGEST_PAUSE (50 * FW_US)
#define RECORDS_A_LOOK 16

/* How many slots packets with LAUNCHES may have. A launch queue leaves half of
 * the slots to others (unit.c); one more is its own. */
#define TREE_SLOTS (MXGPU_DISPATCH_SLOTS / 2 - 1)
#define COOPERATIVE_SLOTS (MXGPU_DISPATCH_SLOTS - 1)
MXGPU_STATIC_ASSERT(MXGPU_DISPATCH_SLOTS >= 4 &&
                    MXGPU_DISPATCH_SLOTS <= FW_MAX_UNITS);

#define AT(member) offsetof(struct mxgpu_launch, member)

typedef union Head {
    struct mxgpu_launch l;
    uint32_t words[sizeof(struct mxgpu_launch) / 4];
} Head;

/* ---- set-up ------------------------------------------------------------- */

enum mxgpu_msg_status launch_setup(const struct mxgpu_msg_queue_launch *msg)
{
    uint64_t ring = msg->ring_lo | (uint64_t)msg->ring_hi << 32;
    FwQueue *queue;

    if (msg->queue >= fw.num_queues || msg->log2_records < 3 ||
        msg->log2_records > 16 || !ring || ring % 64 ||
        !queue_in_address_space(ring, 8ull << msg->log2_records)) {
        return MXGPU_MSG_BAD_ARGUMENT;
    }
    queue = &fw.queues[msg->queue];
    if (queue->state == FW_QUEUE_FREE) {
        return MXGPU_MSG_NOT_FOUND;
    }
    if (queue->state != FW_QUEUE_ACTIVE || queue->write_index ||
        queue->launch_ring || fw.launch[queue->vmid].queue) {
        return MXGPU_MSG_BUSY;
    }
    for (uint64_t addr = ring; addr < ring + (8ull << msg->log2_records);
         addr = (addr | 0xfff) + 1) {
        if (mem_write64(queue->vmid, addr, 0)) {
            return MXGPU_MSG_FAULT;
        }
    }
    queue->launch_ring = ring;
    queue->launch_mask = (1u << msg->log2_records) - 1;
    queue->launch_head = 0;
    queue->ready_first = queue->ready_last = queue->record = 0;
    fw.launch[queue->vmid] = (FwLaunch){.queue = queue};
    return MXGPU_MSG_OK;
}

bool launch_allowed(const FwQueue *queue)
{
    return (queue->packet.header.flags & MXGPU_PKT_BARRIER) &&
           !queue->launch_ring && fw.launch[queue->vmid].queue;
}

/* ---- cooperative dispatches beside ----------------------------------------- */

static bool cooperative_waits(void)
{
    for (FwList *node = fw.exclusive.next; node != &fw.exclusive;
         node = node->next) {
        if (list_entry(node, FwQueue, link)->packet.header.flags &
            MXGPU_PKT_COOPERATIVE) {
            return true;
        }
    }
    return false;
}

bool launch_exclusive(FwQueue *queue)
{
    uint16_t flags = queue->packet.header.flags;

    if ((flags & MXGPU_PKT_COOPERATIVE &&
         (fw.trees || fw.cooperative >= COOPERATIVE_SLOTS)) ||
        (flags & MXGPU_PKT_LAUNCHES &&
         (fw.cooperative || fw.tree_slots >= TREE_SLOTS ||
          cooperative_waits()))) {
        list_add_tail(&fw.exclusive, &queue->link);
        return false;
    }
    return true;
}

void launch_start_exclusive(void)
{
    while (!list_empty(&fw.exclusive)) {
        FwQueue *queue = list_entry(fw.exclusive.next, FwQueue, link);

        list_remove(&queue->link);
        sched_ready(queue);
    }
}

/* Nothing that is launched there is complete any more. A kernel that waits sees
 * that and ends; if it cannot be written, that is the kernel's own loss. */
static void tell(unsigned vmid, uint64_t record)
{
    mem_write32(vmid, record + AT(state), MXGPU_LAUNCH_FAILED);
}

void launch_started(FwQueue *queue)
{
    fw.cooperative += (queue->packet.header.flags & MXGPU_PKT_COOPERATIVE) != 0;
    if (queue->packet.header.flags & MXGPU_PKT_LAUNCHES) {
        queue->tree = true;
        fw.trees++;
        fw.tree_slots++;
        if (fw.launch[queue->vmid].queue->state != FW_QUEUE_ACTIVE) {
            tell(queue->vmid, launch_record(queue));
        }
    }
}

/* The packet with LAUNCHES is complete, or will not be. */
static void tree_ended(FwQueue *queue)
{
    queue->held.record = 0;
    if (queue->tree) {
        queue->tree = false;
        fw.trees--;
        launch_start_exclusive();
    }
}

void launch_job_ended(FwQueue *queue, const FwJob *job)
{
    if (job->header.flags & MXGPU_PKT_COOPERATIVE) {
        fw.cooperative--;
        launch_start_exclusive();
    }
    if (job->header.flags & MXGPU_PKT_LAUNCHES) {
        fw.tree_slots--;
        if (!queue->held.record) {
            tree_ended(queue);
        }
        launch_start_exclusive();
    }
}

void launch_forget(FwQueue *queue)
{
    if (queue->held.record) {
        tree_ended(queue);
    }
    if (queue->launch_ring) {
        queue->launch_ring = 0;
        fw.launch[queue->vmid].queue = NULL;
        fw.launch_polls &= ~(1u << queue->vmid);
    }
}

/* ---- memory --------------------------------------------------------------- */

static bool fail(FwQueue *queue, uint32_t code, uint32_t fault, uint64_t addr,
                 enum mxgpu_access access)
{
    struct mxgpu_queue_error error = {
        .code = code,
        .fault = fault,
        .packet_index = queue->read_index,
        .packet_type = MXGPU_PKT_DISPATCH,
        .fault_addr = addr,
        .access = access,
    };

    queue_fail(queue, &error);
    return false;
}

/* Each returns false when the queue stopped. */
static bool load(FwQueue *queue, uint64_t record, Head *head)
{
    uint32_t fault = mem_read_words(queue->vmid, record, head->words,
                                    sizeof(*head) / 4);

    return !unlikely(fault) || fail(queue, MXGPU_QERR_FETCH, fault, record,
                                    MXGPU_ACCESS_READ);
}

static bool store32(FwQueue *queue, uint64_t addr, uint32_t value)
{
    uint32_t fault = mem_write32(queue->vmid, addr, value);

    return !unlikely(fault) || fail(queue, MXGPU_QERR_FETCH, fault, addr,
                                    MXGPU_ACCESS_WRITE);
}

static bool store64(FwQueue *queue, uint64_t addr, uint64_t value)
{
    uint32_t fault = mem_write64(queue->vmid, addr, value);

    return !unlikely(fault) || fail(queue, MXGPU_QERR_FETCH, fault, addr,
                                    MXGPU_ACCESS_WRITE);
}

static bool check_address(FwQueue *queue, uint64_t record)
{
    if (unlikely(!record || record % MXGPU_LAUNCH_ALIGN ||
                 !queue_in_address_space(record, MXGPU_LAUNCH_ARGS))) {
        return fail(queue, MXGPU_QERR_PACKET, MXGPU_FAULT_NONE, record,
                    MXGPU_ACCESS_READ);
    }
    return true;
}

/* ---- from the ring to the queue ------------------------------------------- */

/* The record's grid can begin: behind the others, but before them if a grid that
 * a kernel launched launched it. Where those wait for their children, few have
 * begun then that cannot end. */
static bool make_ready(FwQueue *queue, uint64_t record, uint32_t depth)
{
    if (depth > 1 && queue->write_index != queue->read_index) {
        if (!store64(queue, record + AT(link), queue->ready_first)) {
            return false;
        }
        queue->ready_first = record;
        queue->write_index++;
        sched_ready(queue);
        return true;
    }
    if (queue->write_index == queue->read_index) {
        queue->ready_first = record;
    } else if (!store64(queue, queue->ready_last + AT(link), record)) {
        return false;
    }
    queue->ready_last = record;
    queue->write_index++;
    sched_ready(queue);
    return true;
}

/* A record that was taken from the ring. */
static bool accept(FwQueue *queue, uint64_t record)
{
    Head head, after;

    if (!check_address(queue, record) || !load(queue, record, &head)) {
        return false;
    }
    if (head.l.after) {
        if (!check_address(queue, head.l.after) ||
            !load(queue, head.l.after, &after)) {
            return false;
        }
        if (after.l.sequence == head.l.after_sequence) {
            return store64(queue, head.l.after + AT(next), record);
        }
    }
    return make_ready(queue, record, head.l.depth);
}

/* Looks at the ring; returns how many records it took. */
static uint32_t look(FwQueue *queue)
{
    for (uint32_t n = 0; n < RECORDS_A_LOOK; n++) {
        uint64_t addr = queue->launch_ring +
                        (queue->launch_head & queue->launch_mask) * 8ull;
        uint32_t fault = mem_load(queue->vmid, addr, 8);
        uint64_t record;

        if (unlikely(fault)) {
            fail(queue, MXGPU_QERR_FETCH, fault, addr, MXGPU_ACCESS_READ);
            return n;
        }
        record = reg_read64(MXGPU_MEM_BUF);
        if (!record) {
            return n;
        }
        queue->launch_head++;
        if (!store64(queue, addr, 0) || !accept(queue, record)) {
            return n;
        }
    }
    return RECORDS_A_LOOK;
}

bool launch_fetch(FwQueue *queue)
{
    union {
        struct {
            struct mxgpu_launch launch;
            union mxgpu_packet packet;
        } r;
        uint32_t words[MXGPU_LAUNCH_ARGS / 4];
    } u;
    uint64_t record = queue->ready_first;
    uint32_t fault = mem_read_words(queue->vmid, record, u.words,
                                    sizeof(u.words) / 4);

    if (unlikely(fault)) {
        return fail(queue, MXGPU_QERR_FETCH, fault, record, MXGPU_ACCESS_READ);
    }
    queue->packet = u.r.packet;
    queue->record = record;
    queue->read_index++;
    queue->fetched = queue->publish = true;
    if (queue->read_index != queue->write_index) {
        queue->ready_first = u.r.launch.link;
        if (!check_address(queue, queue->ready_first)) {
            return false;
        }
    }
    if (unlikely(queue->packet.header.type != MXGPU_PKT_DISPATCH ||
                 queue->packet.header.flags & MXGPU_PKT_COOPERATIVE)) {
        return fail(queue, MXGPU_QERR_PACKET, MXGPU_FAULT_NONE, record,
                    MXGPU_ACCESS_READ);
    }
    return true;
}

/* ---- the clock ------------------------------------------------------------ */

static void look_at_once(unsigned vmid)
{
    fw.launch[vmid].poll_time = 0;
    fw.launch[vmid].backoff = FIRST_PAUSE;
    fw.launch_polls |= 1u << vmid;
}

void launch_began(unsigned vmid)
{
    fw.launch[vmid].launchers++;
    look_at_once(vmid);
}

void launch_left(unsigned vmid)
{
    fw.launch[vmid].launchers--;
    look_at_once(vmid);
}

static void poll(unsigned vmid, uint64_t now)
{
    FwLaunch *launch = &fw.launch[vmid];
    uint32_t taken = 0;

    if (launch->queue && launch->queue->state == FW_QUEUE_ACTIVE) {
        taken = look(launch->queue);
    }
    if (!taken && !launch->launchers) {
        fw.launch_polls &= ~(1u << vmid); /* nobody could add one */
        return;
    }
    if (taken) {
        launch->backoff = FIRST_PAUSE;
    } else if (launch->backoff < LONGEST_PAUSE) {
        launch->backoff *= 2;
    }
    launch->poll_time = taken == RECORDS_A_LOOK ? 0 : now + launch->backoff;
}

void launch_poll(uint64_t now)
{
    for (uint32_t left = fw.launch_polls; left; left &= left - 1) {
        if (now >= fw.launch[lowest_bit(left)].poll_time) {
            poll(lowest_bit(left), now);
        }
    }
}

uint64_t launch_next(void)
{
    uint64_t next = FW_NEVER;

    for (uint32_t left = fw.launch_polls; left; left &= left - 1) {
        uint64_t time = fw.launch[lowest_bit(left)].poll_time;

        next = time < next ? time : next;
    }
    return next;
}

/* ---- ends ------------------------------------------------------------------ */

/* The packet of the grid with that record has waited for the last grid. */
static void release(unsigned vmid, uint64_t record)
{
    for (unsigned i = 0; i < fw.num_queues; i++) {
        FwQueue *queue = &fw.queues[i];
        FwJob *job = &queue->held;

        if (queue->vmid == vmid && queue->state == FW_QUEUE_ACTIVE &&
            job->record == record) {
            tree_ended(queue);
            queue->barrier = false;
            if (queue_complete(queue, job->packet_index, &job->header,
                               job->signal_addr, job->signal_value,
                               job->inner)) {
                sched_ready(queue);
            }
            return;
        }
    }
}

/* A grid is complete, and with it perhaps those above it. */
static void finish(FwQueue *queue, uint64_t record)
{
    Head head, parent, next;

    for (unsigned depth = 0; depth <= MXGPU_LAUNCH_DEPTH; depth++) {
        if (!load(queue, record, &head) ||
            !store64(queue, record + AT(state),
                     MXGPU_LAUNCH_FREE |
                         (uint64_t)(head.l.sequence + 1) << 32)) {
            return;
        }
        if (head.l.next && (!check_address(queue, head.l.next) ||
                            !load(queue, head.l.next, &next) ||
                            !make_ready(queue, head.l.next, next.l.depth))) {
            return;
        }
        record = head.l.parent;
        if (!check_address(queue, record) || !load(queue, record, &parent) ||
            !store32(queue, record + AT(completed), ++parent.l.completed)) {
            return;
        }
        if (fw.num_contexts) {
            context_child_ended(queue->vmid, record);
        }
        if (parent.l.completed != parent.l.launched) {
            return;
        }
        if (!parent.l.parent) {
            release(queue->vmid, record);
            return;
        }
        if (parent.l.state != MXGPU_LAUNCH_ENDED) {
            return;
        }
    }
    fail(queue, MXGPU_QERR_PACKET, MXGPU_FAULT_NONE, record,
         MXGPU_ACCESS_READ);
}

/* The record of a packet's error is that of the grid which stopped the launch
 * queue, but for the packet. */
static void fail_held(FwQueue *queue, const FwJob *job,
                      const struct mxgpu_queue_error *error)
{
    struct mxgpu_queue_error own = *error;

    own.packet_index = job->packet_index;
    own.packet_type = job->header.type;
    own.inner = job->inner;
    queue->barrier = false;
    queue_fail(queue, &own);
}

static void tell_running(unsigned vmid)
{
    const FwUnits *slots = &fw.units[FW_UNIT_SLOT];

    for (uint32_t busy = slots->busy; busy; busy &= busy - 1) {
        const FwJob *job = &slots->jobs[lowest_bit(busy)];

        if (job->queue && job->queue->vmid == vmid && job->record) {
            tell(vmid, job->record);
        }
    }
}

void launch_failed(FwQueue *queue, const struct mxgpu_queue_error *error)
{
    if (queue->held.record) {
        tree_ended(queue);
    }
    if (!queue->launch_ring) {
        return;
    }
    fw.launch[queue->vmid].error = *error;
    tell_running(queue->vmid);
    for (unsigned i = 0; i < fw.num_queues; i++) {
        FwQueue *other = &fw.queues[i];

        if (other->vmid == queue->vmid && other->state == FW_QUEUE_ACTIVE &&
            other->held.record) {
            FwJob job = other->held;

            fail_held(other, &job, error);
        }
    }
}

bool launch_ended(FwJob *job)
{
    FwQueue *own = job->queue, *queue = fw.launch[own->vmid].queue;
    bool child = own->launch_ring;
    Head head;

    if (!queue) {
        return true; /* it was destroyed, with all that was launched */
    }
    if (queue->state != FW_QUEUE_ACTIVE) {
        fail_held(own, job, &fw.launch[own->vmid].error);
        return false;
    }
    if (!load(own, job->record, &head)) {
        return false;
    }
    if (head.l.launched == head.l.completed) {
        if (child) {
            finish(queue, job->record);
        }
        return own->state == FW_QUEUE_ACTIVE;
    }
    if (child) {
        return store32(queue, job->record + AT(state), MXGPU_LAUNCH_ENDED);
    }
    own->held = *job;
    own->barrier = true;
    return false;
}
