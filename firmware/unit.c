/* SPDX-License-Identifier: MIT */
/*
 * Copy engines and dispatch slots: who has which, what becomes of them. Both
 * kinds share the layout of their state and control registers.
 */
#include "fw.h"

#define ABORT_PATIENCE (1000 * FW_MS)

/* CTRL and the state field of STATUS are the same for both kinds. */
MXGPU_STATIC_ASSERT(MXGPU_CE_CTRL_ACK_SHIFT == MXGPU_CD_CTRL_ACK_SHIFT &&
                    MXGPU_CE_CTRL_ABORT_SHIFT == MXGPU_CD_CTRL_ABORT_SHIFT);
MXGPU_STATIC_ASSERT(MXGPU_CE_STATUS_STATE_MASK == MXGPU_CD_STATUS_STATE_MASK &&
                    MXGPU_CE_STATUS_FAULT_SHIFT == MXGPU_CD_STATUS_FAULT_SHIFT);
MXGPU_STATIC_ASSERT(MXGPU_CE_STATUS_STRIDE == MXGPU_CD_STATUS_STRIDE);

typedef struct UnitInfo {
    const char *name;
    uint16_t status, ctrl; /* register offsets of unit 0 */
    uint8_t trace;         /* MXGPU_QEV_UNIT_* */
    void (*fault)(unsigned index, uint32_t status,
                  struct mxgpu_queue_error *error);
} UnitInfo;

static const UnitInfo unit_info[FW_UNIT_KINDS] = {
    [FW_UNIT_COPY] = {"copy engine", MXGPU_CE_STATUS, MXGPU_CE_CTRL,
                      MXGPU_QEV_UNIT_COPY, copy_fault},
    [FW_UNIT_SLOT] = {"dispatch slot", MXGPU_CD_STATUS, MXGPU_CD_CTRL,
                      MXGPU_QEV_UNIT_SLOT, dispatch_fault},
};

static uint32_t unit_status(FwUnitKind kind, unsigned index)
{
    return reg_read(unit_info[kind].status + index * MXGPU_CE_STATUS_STRIDE);
}

static void unit_control(FwUnitKind kind, unsigned index, uint32_t value)
{
    reg_write(unit_info[kind].ctrl + index * MXGPU_CE_CTRL_STRIDE, value);
}

static void set_deadline(FwJob *job, uint64_t deadline)
{
    fw.timed_jobs -= job->deadline != FW_NEVER;
    job->deadline = deadline;
    fw.timed_jobs += deadline != FW_NEVER;
}

FW_COLD void unit_watch(FwJob *job)
{
    set_deadline(job, time_now() + fw.watchdog);
}

FW_COLD void unit_unwatch(FwJob *job)
{
    set_deadline(job, FW_NEVER);
}

void unit_hold(FwJob *job, bool hold, uint64_t now)
{
    uint64_t *left = &fw.hold_left[job->index];

    if (!hold) {
        set_deadline(job, *left == FW_NEVER ? FW_NEVER : now + *left);
        return;
    }
    *left = job->deadline == FW_NEVER ? FW_NEVER
            : job->deadline > now     ? job->deadline - now
                                      : 0;
    set_deadline(job, FW_NEVER);
}

static void abort_job(FwUnitKind kind, FwJob *job, FwAbort why)
{
    if (kind == FW_UNIT_SLOT && fw.held) {
        slice_left(job->index); /* it need not go on for that */
    }
    job->abort = (uint8_t)why;
    set_deadline(job, time_now() + ABORT_PATIENCE);
    unit_control(kind, job->index, FW_BIT(MXGPU_CE_CTRL_ABORT));
}

/* A unit that an earlier firmware left busy is aborted, and taken when it
 * ends. */
static void adopt(FwUnitKind kind, unsigned index)
{
    FwJob *job = &fw.units[kind].jobs[index];

    switch (MXGPU_GET(MXGPU_CE_STATUS_STATE, unit_status(kind, index))) {
    case MXGPU_UNIT_IDLE:
        break;
    case MXGPU_UNIT_BUSY:
        fw.units[kind].busy |= 1u << index;
        abort_job(kind, job, FW_ABORT_DROP);
        break;
    default:
        unit_control(kind, index, FW_BIT(MXGPU_CE_CTRL_ACK));
        break;
    }
}

void unit_init(void)
{
    uint32_t caps = reg_read(MXGPU_UNIT_CAPS);
    const uint32_t count[FW_UNIT_KINDS] = {
        [FW_UNIT_COPY] = MXGPU_GET(MXGPU_UNIT_CAPS_COPY_ENGINES, caps),
        [FW_UNIT_SLOT] = MXGPU_GET(MXGPU_UNIT_CAPS_DISPATCH_SLOTS, caps),
    };

    for (unsigned kind = 0; kind < FW_UNIT_KINDS; kind++) {
        FwUnits *units = &fw.units[kind];

        for (unsigned i = 0; i < count[kind] && i < FW_MAX_UNITS; i++) {
            units->all |= 1u << i;
            units->jobs[i].index = (uint8_t)i;
            units->jobs[i].deadline = FW_NEVER;
            adopt(kind, i);
        }
    }
}

/*
 * Dispatches may run for ever, so less urgent ones must not have all slots: of
 * the free ones a queue leaves one for each more urgent level that has queues,
 * but no more than half of all.
 */
static uint32_t idle_for(FwUnitKind kind, unsigned priority)
{
    const FwUnits *units = &fw.units[kind];
    uint32_t idle = units->all & ~units->busy, half = units->all;
    uint32_t urgent = fw.levels & ((1u << priority) - 1);

    if (!urgent || kind != FW_UNIT_SLOT) {
        return idle;
    }
    while (urgent && idle && (half & (half - 1))) {
        urgent &= urgent - 1;
        idle &= idle - 1;
        half &= half - 1;
        half &= half - 1;
    }
    return idle;
}

uint32_t unit_idle_slots(unsigned priority)
{
    return idle_for(FW_UNIT_SLOT, priority);
}

FW_COLD uint32_t unit_levels_waiting(FwUnitKind kind)
{
    const FwUnits *units = &fw.units[kind];
    uint32_t levels = 0;

    if (units->busy == units->all) {
        return 0;
    }
    for (uint32_t left = units->waiting; left; left &= left - 1) {
        levels |= idle_for(kind, lowest_bit(left)) ? left & -left : 0;
    }
    return levels;
}

FwJob *unit_claim(FwUnitKind kind, const FwQueue *queue)
{
    uint32_t idle = idle_for(kind, queue->priority);

    return idle ? &fw.units[kind].jobs[lowest_bit(idle)] : NULL;
}

void unit_run(FwUnitKind kind, FwJob *job, FwQueue *queue)
{
    job->queue = queue;
    job->packet_index = queue->read_index - 1;
    job->signal_addr = packet_signal_addr(&queue->packet);
    job->signal_value = packet_signal_value(&queue->packet);
    job->header = queue->packet.header;
    job->inner = queue_inner(queue);
    job->abort = FW_ABORT_NONE;
    job->front = FW_FRONT_NOT;
    job->deadline = FW_NEVER;
    job->record = kind == FW_UNIT_SLOT ? launch_record(queue) : 0;
    if (unlikely(job->record)) {
        launch_began(queue->vmid);
    }
    if (unlikely(job->header.flags &
                 (MXGPU_PKT_LAUNCHES | MXGPU_PKT_COOPERATIVE))) {
        launch_started(queue);
    }
    if (unlikely(job->header.flags & MXGPU_PKT_PROFILE)) {
        job->start = reg_read64(MXGPU_CLOCK_LO);
    }
    if (kind == FW_UNIT_SLOT && fw.watchdog) {
        unit_watch(job);
    }
    fw.units[kind].busy |= 1u << job->index;
    if (kind == FW_UNIT_SLOT &&
        fw.units[kind].busy & (fw.units[kind].busy - 1)) {
        slice_began(queue, job->index);
    }
    queue->running++;
    trace_event(queue, MXGPU_QEV_PACKET_START, job->header.type,
                unit_info[kind].trace | job->index, job->packet_index, 0);
}

static void fail_job(FwUnitKind kind, const FwJob *job, uint32_t status)
{
    struct mxgpu_queue_error error = {
        .code = MXGPU_QERR_FAULT,
        .fault = MXGPU_GET(MXGPU_CE_STATUS_FAULT, status),
        .packet_index = job->packet_index,
        .packet_type = job->header.type,
        .inner = job->inner,
    };

    unit_info[kind].fault(job->index, status, &error);
    if (job->abort == FW_ABORT_TIMEOUT) {
        error.code = MXGPU_QERR_TIMEOUT;
    }
    queue_fail(job->queue, &error);
}

/* What becomes of the packet of a unit that is DONE or FAULT. */
static void end_packet(FwUnitKind kind, FwJob *job, uint32_t status)
{
    FwQueue *queue = job->queue;

    queue->barrier = false; /* if it was one, it ran alone */
    if (unlikely(job->header.flags & MXGPU_PKT_PROFILE) &&
        !profile_job(kind, job, status)) {
        return;
    }
    if (MXGPU_GET(MXGPU_CE_STATUS_STATE, status) == MXGPU_UNIT_FAULT) {
        fail_job(kind, job, status);
    } else if (!job->record || launch_ended(job)) {
        queue_complete(queue, job->packet_index, &job->header,
                       job->signal_addr, job->signal_value, job->inner);
    }
}

/* Whoever resets a unit has waited for the end of this job, too. */
static FW_COLD void left_reset(FwUnitKind kind, unsigned index)
{
    fw.resetting &= ~FW_JOB_BIT(kind, index);
    if (!fw.resetting) {
        front_consider();
        mailbox_finish(MXGPU_MSG_OK);
    }
}

/* The unit is DONE or FAULT: frees it, then ends the packet. */
static void end_job(FwUnitKind kind, FwJob *job, uint32_t status)
{
    FwQueue *queue = job->queue;

    set_deadline(job, FW_NEVER);
    fw.units[kind].busy &= ~(1u << job->index);
    if (unlikely(slice_watches()) && kind == FW_UNIT_SLOT) {
        slice_left(job->index);
    }
    if (queue) {
        queue->running--;
        if (unlikely(job->record)) {
            launch_left(queue->vmid);
        }
        if (queue->state != FW_QUEUE_DYING) {
            end_packet(kind, job, status);
        }
    }
    /* Now, as a fault's registers hold until then. */
    unit_control(kind, job->index, FW_BIT(MXGPU_CE_CTRL_ACK));
    if (unlikely(fw.resetting)) {
        left_reset(kind, job->index);
    }
    if (!queue) {
        return;
    }
    if (unlikely(job->header.flags &
                 (MXGPU_PKT_LAUNCHES | MXGPU_PKT_COOPERATIVE))) {
        launch_job_ended(queue, job);
    }
    if (queue->state == FW_QUEUE_DYING) {
        if (!queue->running) {
            queue_reap(queue);
        }
        return;
    }
    sched_ready(queue);
}

void unit_end(FwUnitKind kind, unsigned index)
{
    FwJob *job = &fw.units[kind].jobs[index];
    uint32_t status = unit_status(kind, index);
    uint32_t state = MXGPU_GET(MXGPU_CE_STATUS_STATE, status);

    if ((state == MXGPU_UNIT_DONE || state == MXGPU_UNIT_FAULT) &&
        front_settled(job)) {
        end_job(kind, job, status);
    }
}

FW_COLD void unit_collect(FwUnitKind kind)
{
    for (uint32_t busy = fw.units[kind].busy; busy; busy &= busy - 1) {
        unit_end(kind, lowest_bit(busy));
    }
}

void unit_abort_queue(FwQueue *queue)
{
    for (unsigned kind = 0; kind < FW_UNIT_KINDS; kind++) {
        FwUnits *units = &fw.units[kind];

        for (uint32_t busy = units->busy; busy; busy &= busy - 1) {
            FwJob *job = &units->jobs[lowest_bit(busy)];

            if (job->queue == queue) {
                abort_job(kind, job, FW_ABORT_DROP);
            }
        }
    }
}

static void deadline_passed(FwUnitKind kind, FwJob *job)
{
    if (job->abort == FW_ABORT_NONE) {
        fw_log(FW_LOG_WARNING, "%s %u: watchdog", unit_info[kind].name,
               job->index);
        abort_job(kind, job, FW_ABORT_TIMEOUT);
    } else {
        /* Nothing else can be done from here; the driver may reset. */
        fw_log(FW_LOG_ERROR, "%s %u: abort has no effect",
               unit_info[kind].name, job->index);
        set_deadline(job, FW_NEVER);
    }
}

void unit_check_deadlines(uint64_t now)
{
    for (unsigned kind = 0; kind < FW_UNIT_KINDS; kind++) {
        FwUnits *units = &fw.units[kind];

        for (uint32_t busy = units->busy; busy; busy &= busy - 1) {
            FwJob *job = &units->jobs[lowest_bit(busy)];

            if (now >= job->deadline) {
                deadline_passed(kind, job);
            }
        }
    }
}

/* ---- resets --------------------------------------------------------------- */

/* Jobs that do something on a compute unit. Between two looks of ours one may
 * have ended, or another one begun: it is the moment of the register that counts. */
static uint32_t slots_on(uint32_t unit)
{
    return MXGPU_GET(MXGPU_CU_SLOTS_SLOTS,
                     reg_read(MXGPU_CU_SLOTS + unit * MXGPU_CU_SLOTS_STRIDE));
}

static enum mxgpu_msg_status reset_jobs(FwUnitKind kind, uint32_t jobs)
{
    FwUnits *units = &fw.units[kind];

    jobs &= units->busy;
    if (!jobs) {
        return MXGPU_MSG_OK;
    }
    fw.resetting = jobs * FW_JOB_BIT(kind, 0);
    front_consider();
    for (; jobs; jobs &= jobs - 1) {
        FwJob *job = &units->jobs[lowest_bit(jobs)];

        if (job->abort == FW_ABORT_NONE) {
            abort_job(kind, job, FW_ABORT_RESET);
        }
    }
    return MXGPU_MSG_BUSY;
}

FW_COLD enum mxgpu_msg_status unit_reset(uint32_t kind, uint32_t index)
{
    switch (kind) {
    case MXGPU_RESET_COPY_ENGINE:
        if (index >= FW_MAX_UNITS ||
            !(fw.units[FW_UNIT_COPY].all >> index & 1)) {
            return MXGPU_MSG_BAD_ARGUMENT;
        }
        fw_log(FW_LOG_INFO, "copy engine %u: reset", index);
        return reset_jobs(FW_UNIT_COPY, 1u << index);
    case MXGPU_RESET_COMPUTE_UNIT:
        if (index >= fw.compute_units) {
            return MXGPU_MSG_BAD_ARGUMENT;
        }
        if (!MXGPU_GET(MXGPU_FEATURES_CU_SLOTS, reg_read(MXGPU_FEATURES))) {
            return MXGPU_MSG_UNKNOWN_OP;
        }
        fw_log(FW_LOG_INFO, "compute unit %u: reset", index);
        return reset_jobs(FW_UNIT_SLOT, slots_on(index));
    default:
        return MXGPU_MSG_BAD_ARGUMENT;
    }
}
