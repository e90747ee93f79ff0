/* SPDX-License-Identifier: MIT */
/*
 * Which dispatches have the compute units when not all of them find room. Units
 * take blocks of urgent dispatches first, so that a change at the end of blocks
 * happens by itself; blocks without an end have to be taken off, and that is
 * decided here: the hardware holds the slots named in CD_HOLD.
 *
 * The busy slots are put in an order: by level, inside a level by what units have
 * spent on their queues (CD_SPENT), the least first. Those behind the first one
 * that waits for room (CD_WAITS) are held, all others run. What is spent while a
 * change is under way is charged to whom it was spent on, so that equal queues get
 * equal shares however long changes take. A queue that comes begins with what the
 * least of its level has.
 * The order is made anew at the end of each slice, when a slot ends while others
 * are held, and SLICE_URGENT after a dispatch has begun while less urgent ones
 * run. As long as there is room for all, nobody is ever held.
 *
 * A packet with LAUNCHES keeps nobody from running, for it may wait for the
 * grids that it launched. While one of these waits for room, the packet is of
 * their level, so that they have turns in which it is held.
 */
#include "fw.h"

#define SLICE        (2 * FW_MS)
#define SLICE_URGENT (250 * FW_US)
#define TRY_LEAST    4 /* slices */

static void set_time(uint64_t at)
{
    fw.timed_jobs -= fw.slice_time != FW_NEVER;
    fw.slice_time = at;
    fw.timed_jobs += at != FW_NEVER;
}

void slice_init(void)
{
    fw.can_hold = MXGPU_GET(MXGPU_FEATURES_HOLD, reg_read(MXGPU_FEATURES));
    fw.slice_time = FW_NEVER;
    fw.try_pause = fw.try_next = TRY_LEAST;
    if (fw.can_hold) {
        reg_write(MXGPU_CD_HOLD, 0); /* what an earlier firmware left */
    }
}

void slice_soon(void)
{
    set_time(0);
}

/* What is known of a busy slot: those that are aborted run to their end. */
static const FwQueue *holdable(unsigned slot)
{
    const FwJob *job = &fw.units[FW_UNIT_SLOT].jobs[slot];

    return job->abort == FW_ABORT_NONE ? job->queue : NULL;
}

/* VMIDs with a grid that a kernel launched among these slots, a bit each. */
static uint32_t children(uint32_t slots)
{
    uint32_t vmids = 0;

    for (slots &= fw.units[FW_UNIT_SLOT].busy; slots; slots &= slots - 1) {
        const FwQueue *queue = holdable(lowest_bit(slots));

        if (queue && queue->launch_ring) {
            vmids |= 1u << queue->vmid;
        }
    }
    return vmids;
}

/* The level of a slot's queue, or of the grids that its kernel launched if
 * they wait. */
static unsigned level_of(const FwQueue *queue, uint32_t vmids)
{
    const FwQueue *launch = fw.launch[queue->vmid].queue;

    return queue->tree && launch && (vmids >> queue->vmid & 1) &&
                   launch->priority > queue->priority
               ? launch->priority
               : queue->priority;
}

/* The slots of each level that may be held; waits: those that wait for room. */
static uint32_t by_level(uint32_t *levels, uint32_t waits)
{
    uint32_t any = 0, vmids = waits ? children(waits) : 0;

    for (uint32_t busy = fw.units[FW_UNIT_SLOT].busy; busy; busy &= busy - 1) {
        unsigned slot = lowest_bit(busy);
        const FwQueue *queue = holdable(slot);

        if (queue) {
            unsigned level = level_of(queue, vmids);

            levels[level] |= 1u << slot;
            any |= 1u << level;
        }
    }
    return any;
}

static uint32_t spent_on(unsigned slot)
{
    return reg_read(MXGPU_CD_SPENT + slot * MXGPU_CD_SPENT_STRIDE);
}

/* From now on it is charged; what it did not use before is gone. */
void slice_account(FwQueue *queue, unsigned slot)
{
    uint64_t floor = fw.slice_floor[queue->priority];

    fw.spent_seen[slot] = spent_on(slot);
    if (queue->spent < floor) {
        queue->spent = floor;
    }
}

/* What a slot has spent since the last look. One that had the units and spent
 * little, for it waits for software, is not the first one for ever. */
static void charge(unsigned slot)
{
    FwQueue *queue = fw.units[FW_UNIT_SLOT].jobs[slot].queue;
    uint32_t now = spent_on(slot), spent = now - fw.spent_seen[slot];
    uint32_t least = fw.held >> slot & 1 ? 0 : fw.slice_most / 8 + 1;

    fw.spent_seen[slot] = now;
    if (spent > fw.slice_most) {
        fw.slice_most = spent;
    }
    if (queue) {
        queue->spent += spent > least ? spent : least;
    }
}

/* A level's least is what its own queues have. A packet that is there for the
 * grids that it launched brings along what another level counts: it begins within
 * a slice of that. */
static void charge_level(unsigned level, uint32_t slots)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t left = slots; left; left &= left - 1) {
        FwQueue *queue = fw.units[FW_UNIT_SLOT].jobs[lowest_bit(left)].queue;

        if (queue->priority != level) {
            continue;
        }
        if (queue->spent < fw.slice_floor[level]) { /* was elsewhere */
            queue->spent = fw.slice_floor[level];
        }
        if (queue->spent < least) {
            least = queue->spent;
        }
    }
    if (least == UINT64_MAX) {
        return;
    }
    fw.slice_floor[level] = least;
    for (uint32_t left = slots; left; left &= left - 1) {
        FwQueue *queue = fw.units[FW_UNIT_SLOT].jobs[lowest_bit(left)].queue;

        if (queue->priority != level && queue->spent < least) {
            queue->spent = least;
        } else if (queue->priority != level &&
                   queue->spent - least > fw.slice_most) {
            queue->spent = least + fw.slice_most;
        }
    }
}

static void charge_all(const uint32_t *levels, uint32_t any)
{
    fw.slice_most -= fw.slice_most / 64;
    for (uint32_t left = any; left; left &= left - 1) {
        for (uint32_t slots = levels[lowest_bit(left)]; slots;
             slots &= slots - 1) {
            charge(lowest_bit(slots));
        }
    }
    for (; any; any &= any - 1) {
        charge_level(lowest_bit(any), levels[lowest_bit(any)]);
    }
}

FW_COLD void slice_began(FwQueue *queue, unsigned slot)
{
    uint32_t levels[FW_PRIORITIES] = {0};
    uint32_t any;
    uint64_t at;

    if (!fw.can_hold) {
        return;
    }
    if (fw.slice_time != FW_NEVER) {
        slice_account(queue, slot);
    } else { /* the others were alone */
        for (uint32_t busy = fw.units[FW_UNIT_SLOT].busy; busy;
             busy &= busy - 1) {
            FwJob *job = &fw.units[FW_UNIT_SLOT].jobs[lowest_bit(busy)];

            if (job->queue) {
                slice_account(job->queue, job->index);
            }
        }
    }
    any = fw.levels & (fw.levels - 1) ? by_level(levels, 0) : 0;
    if (!(any >> queue->priority >> 1) && fw.slice_time != FW_NEVER) {
        return;
    }
    at = time_now() + (any >> queue->priority >> 1 ? SLICE_URGENT : SLICE);
    set_time(at < fw.slice_time ? at : fw.slice_time);
}

/* The slot whose queue has had the least. */
static unsigned least_spent(uint32_t slots)
{
    unsigned best = lowest_bit(slots);

    for (slots &= slots - 1; slots; slots &= slots - 1) {
        unsigned slot = lowest_bit(slots);

        if (holdable(slot)->spent < holdable(best)->spent) {
            best = slot;
        }
    }
    return best;
}

/* Somebody waits, and what for is not there yet: when all children are complete,
 * who waits is about to go on, and is in nobody's way. */
static bool waits_for_children(unsigned vmid, uint64_t record)
{
    if (mem_load(vmid, record, sizeof(struct mxgpu_launch))) {
        return false;
    }
#define FIELD(name) \
    reg_read(MXGPU_MEM_BUF + (uint32_t)offsetof(struct mxgpu_launch, name))
    return FIELD(waiting) && FIELD(launched) != FIELD(completed);
#undef FIELD
}

/* Slots with a grid of a launch queue in which somebody waits for children. They
 * come after all others of their level: these may be the children. */
static uint32_t parents(void)
{
    uint32_t slots = 0;

    for (uint32_t busy = fw.trees ? fw.units[FW_UNIT_SLOT].busy : 0; busy;
         busy &= busy - 1) {
        unsigned slot = lowest_bit(busy);
        const FwQueue *queue = holdable(slot);

        if (queue && queue->launch_ring &&
            waits_for_children(queue->vmid,
                               fw.units[FW_UNIT_SLOT].jobs[slot].record)) {
            slots |= 1u << slot;
        }
    }
    return slots;
}

/* They are of one queue, so that what it spent does not tell which is next: each
 * has a turn, for it may be that what one waits for has happened. */
static unsigned next_parent(uint32_t slots)
{
    uint32_t behind = slots & ~((1u << fw.parent_turn) - 1);

    return lowest_bit(behind ? behind : slots);
}

/* Who comes first: neither who waits for children, nor a packet with LAUNCHES,
 * which may, is before anybody else. */
static unsigned next_slot(uint32_t slots, uint32_t yields)
{
    unsigned slot;

    for (uint32_t left = slots & ~yields; left; left &= left - 1) {
        const FwJob *job = &fw.units[FW_UNIT_SLOT].jobs[lowest_bit(left)];

        if (!(job->header.flags & MXGPU_PKT_LAUNCHES)) {
            return least_spent(slots & ~yields);
        }
    }
    slot = least_spent(slots);
    return yields >> slot & 1 ? next_parent(slots & yields) : slot;
}

/* One slot of the level after the other: false when one of them waits. */
static bool level_runs(uint32_t slots, uint32_t waits, uint32_t yields,
                       uint32_t *runs)
{
    while (slots) {
        unsigned slot = next_slot(slots, yields);
        const FwJob *job = &fw.units[FW_UNIT_SLOT].jobs[slot];

        slots &= ~(1u << slot);
        *runs |= 1u << slot;
        if ((waits >> slot & 1) && !(job->header.flags & MXGPU_PKT_LAUNCHES)) {
            return false;
        }
    }
    return true;
}

static void set_held(uint32_t held, uint64_t now)
{
    if (held == fw.held) {
        return;
    }
    for (uint32_t changed = held ^ fw.held; changed; changed &= changed - 1) {
        unsigned slot = lowest_bit(changed);

        unit_hold(&fw.units[FW_UNIT_SLOT].jobs[slot], held >> slot & 1, now);
    }
    fw.held = held;
    reg_write(MXGPU_CD_HOLD, held);
}

/*
 * Slots that are held wait for room, and it cannot be told whether they would
 * find it: so all are let go for a moment now and then. If nobody lacks room then,
 * nobody is held. The pause doubles with each one that was in vain.
 */
static bool try_all(uint32_t leaves, uint64_t now)
{
    if (!fw.held || fw.leaving != FW_NO_SLOT || fw.try_pause--) {
        return false;
    }
    fw.try_pause = fw.try_next;
    fw.try_next = fw.try_next < 32 ? fw.try_next * 2 : 64;
    set_held(leaves, now);
    set_time(now + SLICE_URGENT);
    return true;
}

FW_COLD void slice_poll(uint64_t now)
{
    uint32_t levels[FW_PRIORITIES] = {0};
    uint32_t any, waits, yields, leaves, runs = 0, all = 0;

    if (now < fw.slice_time) {
        return;
    }
    set_time(FW_NEVER);
    waits = reg_read(MXGPU_CD_WAITS);
    yields = parents();
    leaves = context_poll(now, yields, waits);
    any = by_level(levels, waits);
    for (uint32_t left = any; left; left &= left - 1) {
        levels[lowest_bit(left)] &= ~leaves;
        all |= levels[lowest_bit(left)];
    }
    if (!(all & (all - 1)) && !leaves) {
        set_held(0, now);
        if (fw.num_contexts) {
            set_time(now + SLICE);
        }
        return;
    }
    charge_all(levels, any);
    fw.parent_turn = (fw.parent_turn + 1) % FW_MAX_UNITS;
    if (try_all(leaves, now)) {
        return;
    }
    for (; any; any &= any - 1) {
        unsigned level = lowest_bit(any);

        if (!level_runs(levels[level], waits, yields, &runs)) {
            break;
        }
    }
    if (runs == all) {
        fw.try_pause = fw.try_next = TRY_LEAST;
    }
    set_held((all & ~runs) | leaves, now);
    set_time(now + context_pause(SLICE));
}

FW_COLD void slice_left(unsigned slot)
{
    charge(slot);
    fw.held &= ~(1u << slot);
    if (fw.leaving == slot) {
        fw.leaving = FW_NO_SLOT; /* what takes the slot next is not to leave */
    }
    if (fw.try_pause > TRY_LEAST) {
        fw.try_pause = TRY_LEAST; /* there may be room now */
    }
    set_time(0); /* at once */
}
