/* SPDX-License-Identifier: MIT */
/*
 * Dispatches that have left their slot in the middle of their blocks. When
 * somebody waits for a slot while all are taken, a job is held, and as soon as
 * the units have saved its blocks, the hardware writes what it has to the area
 * that the driver named for its address space (the message CONTEXTS). Later it
 * comes back, to any slot. Who leaves:
 *
 * - A grid that a kernel launched and that waits for its children, when grids of
 *   its launch queue wait for a slot, or for room beside it. It comes back when
 *   one of its children is complete, or a slot is idle.
 * - Any other dispatch that had its slot for TURN, when its level, or a more
 *   urgent one, waits for a slot. It comes back in its turn.
 *
 * All this is done at the ends of slices (slice.c), so that nothing of it is on
 * the way of a packet.
 */
#include "fw.h"

#define RETRY    (50 * FW_US)
#define PATIENCE (100 * FW_MS) /* for blocks that cannot be saved */
#define TURN     (20 * FW_MS)
#define AGAIN    (500 * FW_MS) /* until blocks that could not be saved may be */
#define CRAMPED  4 /* slices in which a child finds no room beside its parents */
#define ALIGN    64u
#define MOST     (256u << 20) /* bytes: CX_SIZE */

void context_init(void)
{
    fw.can_leave = fw.can_hold && MXGPU_GET(MXGPU_FEATURES_CONTEXTS,
                                            reg_read(MXGPU_FEATURES));
    fw.leaving = FW_NO_SLOT;
}

static bool has_contexts(unsigned vmid)
{
    for (unsigned i = 0; fw.num_contexts && i < FW_MAX_CONTEXTS; i++) {
        if (fw.contexts[i].job.queue && fw.contexts[i].job.queue->vmid == vmid) {
            return true;
        }
    }
    return false;
}

enum mxgpu_msg_status context_area(const struct mxgpu_msg_contexts *msg)
{
    uint64_t addr = msg->addr_lo | (uint64_t)msg->addr_hi << 32;
    uint64_t size = msg->size_lo | (uint64_t)msg->size_hi << 32;

    if (msg->vmid >= MXGPU_NUM_VMIDS || addr % ALIGN || size % ALIGN ||
        (size && (!addr || !queue_in_address_space(addr, size)))) {
        return MXGPU_MSG_BAD_ARGUMENT;
    }
    if (!fw.can_leave) {
        return MXGPU_MSG_UNKNOWN_OP;
    }
    if (has_contexts(msg->vmid)) {
        return MXGPU_MSG_BUSY;
    }
    fw.context_area[msg->vmid] = (FwArea){addr, size};
    return MXGPU_MSG_OK;
}

void context_no_area(unsigned vmid)
{
    fw.context_area[vmid] = (FwArea){0, 0};
}

/* ---- places in the area ---------------------------------------------------- */

/* The end of what lies at addr, or addr; *next: where the next one begins. */
static uint64_t end_of(unsigned vmid, uint64_t addr, uint64_t *next)
{
    for (unsigned i = 0; i < FW_MAX_CONTEXTS; i++) {
        const FwContext *c = &fw.contexts[i];

        if (!c->job.queue || c->job.queue->vmid != vmid) {
            continue;
        }
        if (addr >= c->addr && addr < c->addr + c->size) {
            return c->addr + c->size;
        }
        if (c->addr > addr && c->addr < *next) {
            *next = c->addr;
        }
    }
    return addr;
}

/* The largest gap: how large a context is, is known when it has been saved. */
static FwArea largest_gap(unsigned vmid)
{
    const FwArea *area = &fw.context_area[vmid];
    uint64_t addr = area->addr, last = area->addr + area->size;
    FwArea best = {0, 0};

    while (addr < last) {
        uint64_t next = last, end = end_of(vmid, addr, &next);

        if (end == addr) {
            if (next - addr > best.size) {
                best = (FwArea){addr, next - addr};
            }
            end = next;
        }
        addr = end;
    }
    if (best.size > MOST) {
        best.size = MOST;
    }
    return best;
}

static FwContext *free_context(void)
{
    for (unsigned i = 0; i < FW_MAX_CONTEXTS; i++) {
        if (!fw.contexts[i].job.queue) {
            return &fw.contexts[i];
        }
    }
    return NULL;
}

static void forget(FwContext *context)
{
    context->job.queue = NULL;
    fw.num_contexts--;
}

/* ---- out of a slot --------------------------------------------------------- */

static uint32_t command(const FwArea *at, uint32_t op)
{
    reg_write64(MXGPU_CX_ADDR_LO, at->addr);
    reg_write(MXGPU_CX_SIZE, (uint32_t)at->size);
    reg_write(MXGPU_CX_CTRL, op);
    return reg_read(MXGPU_CX_RESULT);
}

/* Whether nothing that it launched will be complete later. */
static bool all_complete(const FwJob *job)
{
    uint64_t at = job->record + offsetof(struct mxgpu_launch, launched);

    return mem_load(job->queue->vmid, at, 8) ||
           reg_read(MXGPU_MEM_BUF) == reg_read(MXGPU_MEM_BUF + 4);
}
MXGPU_STATIC_ASSERT(offsetof(struct mxgpu_launch, completed) ==
                    offsetof(struct mxgpu_launch, launched) + 4);

/* The slot's job has left it. */
static void took(FwContext *context, FwJob *job, const FwArea *gap)
{
    unsigned slot = job->index;
    uint32_t base = slot * MXGPU_FE_SIGNAL_LO_STRIDE;

    context->job = *job;
    context->addr = gap->addr;
    context->size = (reg_read(MXGPU_CX_USED) + ALIGN - 1) & ~(ALIGN - 1);
    context->left = fw.hold_left[slot];
    context->since = time_now();
    context->runnable = job->record && all_complete(job);
    if (job->front != FW_FRONT_NOT) {
        context->job.front = FW_FRONT_NOT;
        context->job.signal_addr = reg_read64(MXGPU_FE_SIGNAL_LO + base);
        context->job.signal_value = reg_read64(MXGPU_FE_VALUE_LO + base);
    }
    fw.num_contexts++;
    slice_left(slot);
    fw.units[FW_UNIT_SLOT].busy &= ~(1u << slot);
}

/* Nothing that could end by itself has a slot of the queue, and there is no room
 * in memory: nobody would ever go on. */
static void no_room(FwQueue *queue, uint64_t needed)
{
    struct mxgpu_queue_error error = {
        .code = MXGPU_QERR_RESOURCES,
        .fault = MXGPU_FAULT_CONFIG,
        .packet_index = queue->read_index - 1,
        .packet_type = MXGPU_PKT_DISPATCH,
        .field = (uint32_t)needed,
    };

    queue_fail(queue, &error);
}

/* Blocks that could not be saved in time may be saved later: the host was slow. */
static void stays(const FwJob *job, uint64_t until)
{
    fw.stay_until[job->index] = until;
    fw.stays[job->index] =
        reg_read(MXGPU_CD_START_LO + job->index * MXGPU_CD_STATUS_STRIDE);
    fw.stay_slots |= 1u << job->index;
}

static bool may_leave(const FwJob *job, uint64_t now)
{
    uint32_t bit = 1u << job->index;

    if (fw.stay_slots & bit &&
        (now >= fw.stay_until[job->index] ||
         fw.stays[job->index] != /* it was another one */
             reg_read(MXGPU_CD_START_LO + job->index * MXGPU_CD_STATUS_STRIDE))) {
        fw.stay_slots &= ~bit;
    }
    return !(fw.stay_slots & bit) && job->queue &&
           job->queue->state == FW_QUEUE_ACTIVE &&
           job->abort == FW_ABORT_NONE && job->front != FW_FRONT_CHAIN &&
           !(job->header.flags & (MXGPU_PKT_COOPERATIVE | MXGPU_PKT_LAUNCHES)) &&
           fw.context_area[job->queue->vmid].size;
}

/* Whether a grid of the queue has a slot, and does not wait for others. */
static bool one_runs(const FwQueue *queue, uint32_t yields)
{
    for (uint32_t busy = fw.units[FW_UNIT_SLOT].busy & ~yields; busy;
         busy &= busy - 1) {
        if (fw.units[FW_UNIT_SLOT].jobs[lowest_bit(busy)].queue == queue) {
            return true;
        }
    }
    return false;
}

static void try_to_leave(uint64_t now, uint32_t yields)
{
    FwJob *job = &fw.units[FW_UNIT_SLOT].jobs[fw.leaving];
    FwContext *context = free_context();
    uint32_t result;
    FwArea gap;

    if (!(fw.units[FW_UNIT_SLOT].busy >> fw.leaving & 1) ||
        !may_leave(job, now)) {
        fw.leaving = FW_NO_SLOT; /* it has ended, or is to */
        return;
    }
    gap = largest_gap(job->queue->vmid);
    result = context ? command(&gap, MXGPU_SET(MXGPU_CX_CTRL_SLOT, fw.leaving) |
                                         FW_BIT(MXGPU_CX_CTRL_SAVE))
                     : MXGPU_CONTEXT_ROOM;
    switch (MXGPU_GET(MXGPU_CX_RESULT_STATE, result)) {
    case MXGPU_CONTEXT_DONE:
        took(context, job, &gap);
        fw.context_turn = !fw.context_turn;
        break;
    case MXGPU_CONTEXT_BUSY:
        if (now < fw.leaving_until) {
            return;
        }
        stays(job, now + AGAIN);
        break;
    case MXGPU_CONTEXT_REFUSED:
        if (now < fw.leaving_until) {
            return; /* it has just ended, which is not known here yet */
        }
        /* fall through */
    default:
        if (job->queue->launch_ring && one_runs(job->queue, yields)) {
            break; /* room may come of that */
        }
        fw_log(FW_LOG_WARNING, "slot %u: its context needs %u bytes of %u",
               fw.leaving, reg_read(MXGPU_CX_USED), (uint32_t)gap.size);
        stays(job, FW_NEVER);
        if (job->queue->launch_ring) {
            no_room(job->queue, reg_read(MXGPU_CX_USED));
        }
    }
    fw.leaving = FW_NO_SLOT;
}

/* ---- back ------------------------------------------------------------------- */

static void lost(FwContext *context)
{
    FwQueue *queue = context->job.queue;
    struct mxgpu_queue_error error = {
        .code = MXGPU_QERR_FETCH,
        .fault = MXGPU_GET(MXGPU_CX_RESULT_FAULT, reg_read(MXGPU_CX_RESULT)),
        .packet_index = context->job.packet_index,
        .packet_type = context->job.header.type,
        .inner = context->job.inner,
        .fault_addr = context->addr,
        .access = MXGPU_ACCESS_READ,
    };

    queue_fail(queue, &error); /* forgets it */
}

static bool bring(FwContext *context, unsigned slot)
{
    FwArea at = {context->addr, context->size};
    FwQueue *queue = context->job.queue;
    FwJob *job = &fw.units[FW_UNIT_SLOT].jobs[slot];
    uint32_t base = slot * MXGPU_CD_CFG_STRIDE, state;

    reg_write(MXGPU_CD_CFG + base,
              MXGPU_SET(MXGPU_CD_CFG_VMID, queue->vmid) |
                  MXGPU_SET(MXGPU_CD_CFG_PRIORITY, queue->priority));
    reg_write(MXGPU_CD_QUEUE + base, queue_id(queue));
    state = MXGPU_GET(MXGPU_CX_RESULT_STATE,
                      command(&at, MXGPU_SET(MXGPU_CX_CTRL_SLOT, slot) |
                                       FW_BIT(MXGPU_CX_CTRL_LOAD)));
    if (state == MXGPU_CONTEXT_BUSY) {
        return false;
    }
    if (state != MXGPU_CONTEXT_DONE) {
        lost(context);
        return false;
    }
    *job = context->job;
    job->index = (uint8_t)slot;
    fw.hold_left[slot] = context->left;
    fw.came[slot] = reg_read64(MXGPU_CLOCK_LO);
    fw.held |= 1u << slot;
    fw.units[FW_UNIT_SLOT].busy |= 1u << slot;
    forget(context);
    slice_account(queue, slot);
    return true;
}

/* Who has been away longest, of those that may come. Parents are runnable when a
 * child of theirs is complete; children need no parent for that, so it happens. */
static FwContext *next_back(bool runnable, uint64_t now)
{
    FwContext *best = NULL;

    for (unsigned i = 0; i < FW_MAX_CONTEXTS; i++) {
        FwContext *c = &fw.contexts[i];

        if (c->job.queue && c->since < now && (runnable ? c->runnable : !c->job.record) &&
            unit_idle_slots(c->job.queue->priority) &&
            (!best || c->since < best->since)) {
            best = c;
        }
    }
    return best;
}

/* Whether a queue that is at least as urgent could use a slot that is idle. */
static bool others_first(const FwContext *context)
{
    uint32_t levels = unit_levels(FW_UNIT_SLOT);

    return levels && lowest_bit(levels) <= context->job.queue->priority;
}

/* Not who has just left. */
static void bring_back(uint64_t now)
{
    while (fw.num_contexts) {
        FwContext *context = next_back(true, now);

        if (!context) {
            context = next_back(false, now);
            if (!context || (others_first(context) && !fw.context_turn)) {
                return;
            }
        }
        if (!bring(context, lowest_bit(unit_idle_slots(
                                context->job.queue->priority)))) {
            return;
        }
    }
}

/* ---- who leaves ------------------------------------------------------------- */

/* The levels that could use a slot if there was one, a bit each. Who has left
 * one can wait as long as others had to. */
static uint32_t levels_in_need(uint64_t now)
{
    const FwUnits *slots = &fw.units[FW_UNIT_SLOT];
    uint32_t levels = 0;

    for (uint32_t left = slots->waiting; left; left &= left - 1) {
        unsigned level = lowest_bit(left);

        if (!list_empty(&slots->waiters[level]) && !unit_idle_slots(level)) {
            levels |= 1u << level;
        }
    }
    for (unsigned i = 0; fw.num_contexts && i < FW_MAX_CONTEXTS; i++) {
        const FwContext *c = &fw.contexts[i];

        if (c->job.queue && !c->job.record && c->since + TURN <= now) {
            levels |= 1u << c->job.queue->priority;
        }
    }
    return levels;
}

/* Whether a grid of the launch queue, to begin or to go on, lacks a slot. */
static bool child_in_need(const FwQueue *queue)
{
    if (unit_idle_slots(queue->priority)) {
        return false;
    }
    for (unsigned i = 0; fw.num_contexts && i < FW_MAX_CONTEXTS; i++) {
        if (fw.contexts[i].job.queue == queue && fw.contexts[i].runnable) {
            return true;
        }
    }
    return !list_empty(&queue->link); /* it is not ready: it waits for a unit */
}

static uint64_t has_slot_since(unsigned slot)
{
    uint64_t start = reg_read64(MXGPU_CD_START_LO +
                                slot * MXGPU_CD_STATUS_STRIDE);

    return fw.came[slot] > start ? fw.came[slot] : start;
}

/* Of the slots whose grid waits for children. A child that finds no room beside
 * them is in need, too. */
static uint32_t choose_parent(uint64_t now, uint32_t yields, uint32_t waits)
{
    uint32_t best = FW_NO_SLOT;
    bool cramped = waits & ~yields & fw.units[FW_UNIT_SLOT].busy;

    fw.cramped = cramped && (yields & fw.held) ? fw.cramped + 1 : 0;
    for (; yields; yields &= yields - 1) {
        unsigned slot = lowest_bit(yields);
        const FwJob *job = &fw.units[FW_UNIT_SLOT].jobs[slot];

        if (may_leave(job, now) &&
            (fw.cramped >= CRAMPED || child_in_need(job->queue)) &&
            (best == FW_NO_SLOT || fw.came[slot] < fw.came[best])) {
            best = slot;
        }
    }
    return best;
}

/* Of the others, the one that has had its slot longest. */
static uint32_t choose_other(uint64_t now)
{
    uint32_t need = levels_in_need(now), best = FW_NO_SLOT;
    uint64_t since = need ? reg_read64(MXGPU_CLOCK_LO) : 0;

    if (since < TURN) {
        return FW_NO_SLOT;
    }
    since -= TURN;
    for (uint32_t busy = fw.units[FW_UNIT_SLOT].busy; busy; busy &= busy - 1) {
        unsigned slot = lowest_bit(busy);
        const FwJob *job = &fw.units[FW_UNIT_SLOT].jobs[slot];

        if (!job->record && !(job->header.flags & MXGPU_PKT_PROFILE) &&
            may_leave(job, now) && job->queue->priority >= lowest_bit(need) &&
            has_slot_since(slot) < since) {
            since = has_slot_since(slot);
            best = slot;
        }
    }
    return best;
}

/* ---- at the end of each slice ----------------------------------------------- */

FW_COLD uint32_t context_poll(uint64_t now, uint32_t yields, uint32_t waits)
{
    if (!fw.can_leave) {
        return 0;
    }
    if (fw.leaving != FW_NO_SLOT) {
        try_to_leave(now, yields);
    }
    bring_back(now);
    if (fw.leaving == FW_NO_SLOT) {
        fw.leaving = choose_parent(now, yields, waits);
        if (fw.leaving == FW_NO_SLOT) {
            fw.leaving = choose_other(now);
        }
        fw.leaving_until = now + PATIENCE;
    }
    return fw.leaving != FW_NO_SLOT ? 1u << fw.leaving : 0;
}

uint64_t context_pause(uint64_t slice)
{
    return fw.leaving != FW_NO_SLOT ? RETRY : slice;
}

/* ---- for others --------------------------------------------------------------- */

void context_child_ended(unsigned vmid, uint64_t record)
{
    for (unsigned i = 0; i < FW_MAX_CONTEXTS; i++) {
        FwContext *c = &fw.contexts[i];

        if (c->job.queue && c->job.queue->vmid == vmid &&
            c->job.record == record) {
            c->runnable = true;
            slice_soon();
        }
    }
}

void context_forget(FwQueue *queue)
{
    for (unsigned i = 0; fw.num_contexts && i < FW_MAX_CONTEXTS; i++) {
        FwContext *c = &fw.contexts[i];

        if (c->job.queue == queue) {
            queue->running--;
            if (c->job.record) {
                launch_left(queue->vmid);
            }
            forget(c);
        }
    }
}
