/* SPDX-License-Identifier: MIT */
/*
 * The command processor's state and the calls between its files. There is one
 * thread of control and one instance, "fw"; main.c runs it.
 */
#ifndef FW_FW_H
#define FW_FW_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus.h"
#include "list.h"
#include "mxgpu/launch.h"
#include "mxgpu/msg.h"
#include "mxgpu/packets.h"
#include "mxgpu/regs.h"

#define FW_VERSION_MAJOR 1
#define FW_VERSION_MINOR 9
#define FW_VERSION_PATCH 0
#define FW_VERSION                                                             \
    ((uint32_t)FW_VERSION_MAJOR << 16 | FW_VERSION_MINOR << 8 |                \
     FW_VERSION_PATCH)

#define FW_PRIORITIES 8          /* 0 the most urgent */
#define FW_NO_VECTOR  0xffffffffu
#define FW_NEVER      UINT64_MAX /* a time that does not come */

#define FW_US 1000ull            /* times are nanoseconds */
#define FW_MS 1000000ull

/* ---- header.c: what the image begins with */
extern const volatile struct mxgpu_fw_header fw_header;

/* A one-bit field of a register. */
#define FW_BIT(field) MXGPU_SET(field, 1)

/* Rare: not to be made part of what calls it. */
#define FW_COLD __attribute__((noinline, cold))

#define unlikely(x) __builtin_expect(!!(x), 0)
#define likely(x)   __builtin_expect(!!(x), 1)

/* ---- log.c ---- */
typedef enum FwLogLevel {
    FW_LOG_ERROR,
    FW_LOG_WARNING,
    FW_LOG_INFO,
    FW_LOG_DEBUG,
    FW_LOG_LEVELS
} FwLogLevel;

void log_init(void);
/* For HELLO: the ring of the last lines. */
void log_where(uint32_t *offset, uint32_t *size);
/* One line to the console and the ring; understands %c %d %s %u %x %llx %%. */
void fw_log(FwLogLevel level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- trap.c ---- */
_Noreturn void fw_trap(uint32_t cause, uint32_t pc, uint32_t value);

/* ---- queues ---- */
typedef enum FwQueueState {
    FW_QUEUE_FREE,
    FW_QUEUE_ACTIVE,
    FW_QUEUE_STOPPED, /* error record written; waits to be destroyed */
    FW_QUEUE_DYING,   /* waits for its aborted packets */
} FwQueueState;

/* Whether the front end of the hardware started a job, and has its signal. */
typedef enum FwFront {
    FW_FRONT_NOT,
    FW_FRONT_ONE,
    FW_FRONT_CHAIN, /* and what follows in the slot, of which FE_CHAIN tells */
} FwFront;

/* What a busy unit does. */
typedef struct FwJob {
    struct FwQueue *queue; /* NULL: left behind by an earlier firmware */
    uint64_t packet_index;
    uint64_t signal_addr, signal_value;
    uint64_t deadline; /* watchdog, or when an abort is overdue */
    uint64_t start;    /* device clock, of copies with MXGPU_PKT_PROFILE */
    struct mxgpu_packet_header header;
    uint32_t inner; /* queue_inner() of its packet */
    uint64_t record; /* of its grid, when that may launch others; or 0 */
    uint8_t index; /* unit number */
    uint8_t abort; /* FwAbort */
    uint8_t front; /* FwFront */
} FwJob;

typedef struct FwQueue {
    FwList link; /* on one list of FwState, or on none */
    uint8_t state;
    uint8_t vmid;
    uint8_t priority;
    bool fetched;     /* packet holds one that has not started */
    bool barrier;     /* a barrier packet is in flight: nothing may start */
    bool publish;     /* read_index in memory is behind */
    bool paused;      /* by QUEUE_HOLD: no packet starts */
    uint16_t running; /* packets in flight in units */
    uint32_t vector;
    uint32_t mask; /* packets in the ring - 1 */
    uint64_t ring, ctl;
    uint64_t write_index; /* as rung */
    uint64_t read_index;  /* packets fetched; in memory: that have begun, and of
                           * whose place in the ring nothing is needed any more */
    union mxgpu_packet packet;
    /* Of the INDIRECT packet under way, the last one fetched from the ring. */
    uint64_t list;
    uint32_t list_count; /* 0: there is none */
    uint32_t list_next;  /* packets of the list that were fetched */
    struct mxgpu_packet_header list_header;
    uint64_t list_signal_addr, list_signal_value;
    uint64_t skip_at;   /* read_index of an INDIRECT packet, of whose list */
    uint32_t list_skip; /* ... so many packets were done earlier */
    uint64_t poll_time; /* WAIT packets: next look at memory */
    uint32_t backoff;   /* ... and the pause after that one */
    /* Records of MXGPU_PKT_PROFILE; stride 0: there is no place for them. */
    uint64_t profile_base;
    uint32_t profile_mask, profile_stride;
    uint32_t profile_samples, profile_interval, profile_flags;
    /* The packet that waits for the grids of its kernel; record 0: none. */
    FwJob held;
    uint64_t spent; /* on its dispatches: slice.c */
    bool reset; /* DYING: it comes back */
    bool tree; /* a packet with LAUNCHES runs, or is held */
    /* A launch queue: it fetches from the list of records that can begin, and
     * its indices count these. ring 0: it is none. */
    uint64_t launch_ring;
    uint32_t launch_mask, launch_head;
    uint64_t ready_first, ready_last;
    uint64_t record; /* of the packet fetched last */
} FwQueue;

/* ---- units: copy engines and dispatch slots ---- */
typedef enum FwUnitKind {
    FW_UNIT_COPY,
    FW_UNIT_SLOT,
    FW_UNIT_KINDS
} FwUnitKind;

typedef enum FwAbort {
    FW_ABORT_NONE,
    FW_ABORT_DROP,    /* nobody waits for the result */
    FW_ABORT_TIMEOUT, /* the watchdog's doing */
    FW_ABORT_RESET,   /* a driver's: UNIT_RESET */
} FwAbort;

#define FW_MAX_UNITS 8
typedef struct FwUnits {
    uint32_t busy, all; /* one bit a unit */
    FwJob jobs[FW_MAX_UNITS];
    uint32_t waiting;   /* priorities whose list below is not empty */
    FwList waiters[FW_PRIORITIES]; /* queues whose packet needs a unit */
} FwUnits;

/* A range of addresses of a VMID. */
typedef struct FwArea {
    uint64_t addr, size;
} FwArea;

/* A job that has left its slot (context.c). */
#define FW_MAX_CONTEXTS 64
typedef struct FwContext {
    FwJob job; /* queue NULL: there is none */
    uint64_t addr;
    uint32_t size;
    bool runnable;  /* what it waited for has happened */
    uint64_t left;  /* time to its deadline */
    uint64_t since; /* when it left */
} FwContext;

#define FW_NO_SLOT 0xffu

#define FW_JOB_BIT(kind, index) (1u << ((kind) * FW_MAX_UNITS + (index)))

/* What kernels of a VMID launch. */
typedef struct FwLaunch {
    FwQueue *queue;     /* NULL: nothing */
    uint32_t launchers; /* grids that run and may launch others */
    uint32_t backoff;
    uint64_t poll_time; /* the next look at the ring */
    struct mxgpu_queue_error error; /* why the queue stopped */
} FwLaunch;

typedef struct FwState {
    FwUnits units[FW_UNIT_KINDS];
    uint32_t ready;                 /* priorities whose list is not empty */
    FwList ready_list[FW_PRIORITIES]; /* queues that can do something now */

    FwQueue *next;                  /* comes before them; in the same step */

    FwList waits;       /* queues in a WAIT packet */
    uint32_t num_waits; /* how many the last look found */

    FwList inv_active; /* queues whose invalidation is under way */
    FwList inv_queued; /* queues that come after that batch */
    bool inv_busy;
    bool inv_mailbox, inv_mailbox_queued; /* the mailbox is on these too, */
    uint32_t inv_vmid;                    /* with this request */
    uint64_t inv_addr, inv_size;
    uint64_t inv_poll_time;
    uint32_t inv_backoff;

    FwLaunch launch[MXGPU_NUM_VMIDS];
    uint32_t trees;       /* packets with LAUNCHES that run or are held */
    uint32_t tree_slots;  /* ... of which so many have a slot */
    uint32_t cooperative; /* such dispatches in slots */
    FwList exclusive;     /* queues of either that wait for the other */
    uint32_t launch_polls; /* VMIDs whose ring is looked at by the clock */

    bool trace; /* somebody listens: trace_event() */
    bool front_end; /* the hardware has one */
    bool fast;      /* ... and it may be used now */
    const FwQueue *front_queue; /* whose FE_CTL and FE_CFG it has, or NULL */
    bool hello;
    bool deferred; /* a mailbox request is not answered yet */
    uint32_t mailbox_seq;
    FwQueue *destroying; /* by that request, or NULL */

    uint32_t int_enable;
    uint32_t log_level;
    uint32_t num_queues, num_vectors;
    uint32_t block_threads, cu_registers, cu_shared, compute_units;
    uint64_t watchdog; /* ns, 0: none */
    uint64_t alarm;    /* what MTIMECMP holds */
    uint32_t timed_jobs; /* jobs whose deadline is not FW_NEVER, and
                          * slice_time if it is not */
    uint32_t held;       /* slots that are, a bit each */
    uint32_t parent_turn; /* the slot that comes first of those that wait for
                           * children */
    uint32_t try_pause;  /* slices until all are let go for a moment */
    uint32_t try_next;   /* ... and then until the next time */
    uint32_t ticks;      /* calls of fw_step() */
    uint16_t vmid_queues[MXGPU_NUM_VMIDS];
    uint16_t level_queues[FW_PRIORITIES];
    uint32_t levels; /* priorities that queues have */

    bool can_hold;       /* the hardware can hold slots */
    uint64_t slice_time; /* when it is chosen anew which are held */
    uint64_t slice_floor[FW_PRIORITIES]; /* FwQueue.spent that queues begin at */
    uint32_t slice_most; /* what a slot spends in a slice */
    uint32_t spent_seen[FW_MAX_UNITS]; /* CD_SPENT, when last looked at */
    uint64_t hold_left[FW_MAX_UNITS];  /* time to the deadline of those held */

    bool can_leave;       /* the hardware can write a slot to memory */
    bool context_turn;    /* a context goes before who waits for a slot */
    uint32_t num_contexts;
    FwContext contexts[FW_MAX_CONTEXTS];
    FwArea context_area[MXGPU_NUM_VMIDS]; /* size 0: none */
    uint32_t leaving;       /* the slot that is held for that, or FW_NO_SLOT */
    uint64_t leaving_until; /* when that was in vain */
    uint32_t cramped;       /* slices in which children found no room */
    uint32_t stay_slots, stays[FW_MAX_UNITS]; /* CD_START of jobs that cannot */
    uint64_t stay_until[FW_MAX_UNITS]; /* when they are asked again */
    uint64_t came[FW_MAX_UNITS]; /* CLOCK when a job came back to the slot */

    uint32_t resetting; /* jobs that UNIT_RESET waits for: FW_JOB_BIT() */

    FwQueue queues[MXGPU_MAX_QUEUES];
} FwState;

extern FwState fw;

/* Number of the lowest set bit; value is not 0. The core has no instruction
 * for it: the isolated bit times a de Bruijn number indexes a table. */
extern const uint8_t fw_bit_table[32];
static inline unsigned lowest_bit(uint32_t value)
{
    return fw_bit_table[((value & -value) * 0x077cb531u) >> 27];
}

static inline unsigned queue_id(const FwQueue *queue)
{
    return (unsigned)(queue - fw.queues);
}

/* Number in its list of the packet that was fetched last, from 1; 0: it stands
 * in the ring. */
static inline uint32_t queue_inner(const FwQueue *queue)
{
    return unlikely(queue->list_count) ? queue->list_next : 0;
}

/* The packet that is still needed in the ring: the next one to begin, or the
 * INDIRECT packet under way. */
static inline uint64_t queue_position(const FwQueue *queue)
{
    return queue->read_index - (queue->fetched || queue->list_count);
}

/* Whether there is a packet to fetch. */
static inline bool queue_has_more(const FwQueue *queue)
{
    return queue->read_index != queue->write_index || queue->list_count;
}

/* All packets have the fields of their completion in the same place. */
static inline uint64_t packet_signal_addr(const union mxgpu_packet *packet)
{
    return packet->write.signal_addr;
}

static inline uint64_t packet_signal_value(const union mxgpu_packet *packet)
{
    return packet->write.signal_value;
}

/* ---- trace.c: for whoever listens to TRACE_EVENT ---- */
void trace_send(const FwQueue *queue, enum mxgpu_queue_event event,
                uint32_t type, uint32_t unit, uint64_t index, uint64_t value);
static inline void trace_event(const FwQueue *queue,
                               enum mxgpu_queue_event event, uint32_t type,
                               uint32_t unit, uint64_t index, uint64_t value)
{
    if (unlikely(fw.trace)) {
        trace_send(queue, event, type, unit, index, value);
    }
}

/* ---- main.c ---- */
void fw_init(void);
/* Does what is to be done now; false: the rest waits for interrupts and the
 * clock, fw_sleep() may be called. */
bool fw_step(void);
void fw_sleep(void);
_Noreturn void fw_main(void);

/* ---- mem.c: the memory port. Each returns an enum mxgpu_fault. ---- */
/* size is 1 to 128 bytes; the data is in MEM_BUF. */
uint32_t mem_load(uint32_t vmid, uint64_t addr, uint32_t size);
uint32_t mem_store(uint32_t vmid, uint64_t addr, uint32_t size);
uint32_t mem_write32(uint32_t vmid, uint64_t addr, uint32_t value);
uint32_t mem_write64(uint32_t vmid, uint64_t addr, uint64_t value);
/* At most 32 words. Packets and descriptors come this way: with a constant
 * count, the loop is straight code. */
static inline uint32_t mem_read_words(uint32_t vmid, uint64_t addr,
                                      uint32_t *words, unsigned count)
{
    uint32_t fault = mem_load(vmid, addr, count * 4);

    if (!fault) {
#ifdef __clang__
#pragma clang loop unroll(full)
#endif
        for (unsigned i = 0; i < count; i++) {
            words[i] = reg_read(MXGPU_MEM_BUF + i * 4);
        }
    }
    return fault;
}
uint32_t mem_write_words(uint32_t vmid, uint64_t addr, const uint32_t *words,
                         unsigned count);

/* ---- mailbox.c ---- */
void mailbox_init(void);
void mailbox_receive(void);
/* Answers the deferred request. */
void mailbox_finish(enum mxgpu_msg_status status);

/* ---- queue.c ---- */
void queue_init(void);
enum mxgpu_msg_status queue_create(const struct mxgpu_msg_queue_create *msg);
/* OK, or BUSY: mailbox_finish() follows when the queue is gone. */
enum mxgpu_msg_status queue_destroy(uint32_t id);
/* Likewise, but then it is as queue_create() left it. */
enum mxgpu_msg_status queue_reset(uint32_t id);
enum mxgpu_msg_status queue_hold(uint32_t id,
                                 struct mxgpu_msg_queue_hold_resp *answer);
enum mxgpu_msg_status
queue_resume(const struct mxgpu_msg_queue_resume *msg);
bool queue_in_address_space(uint64_t addr, uint64_t size);
/* alone: nothing else has happened. */
void queue_doorbells(bool alone);
/* Loads the next packet into queue->packet; false: the queue stopped. */
bool queue_fetch(FwQueue *queue);
/* Signals a completed packet; false: the queue stopped on that. */
bool queue_complete(FwQueue *queue, uint64_t index,
                    const struct mxgpu_packet_header *header,
                    uint64_t signal_addr, uint64_t signal_value,
                    uint32_t inner);
void queue_publish(FwQueue *queue);
/* Stops the queue; error->code and what belongs to it are set. */
void queue_fail(FwQueue *queue, struct mxgpu_queue_error *error);
/* A dying queue's last packet is gone. */
void queue_reap(FwQueue *queue);

/* Where the packet is that is fetched next. */
static inline uint64_t queue_next_addr(const FwQueue *queue)
{
    return unlikely(queue->list_count)
               ? queue->list + (uint64_t)queue->list_next * MXGPU_PACKET_SIZE
               : queue->ring + ((uint32_t)queue->read_index & queue->mask) *
                                   MXGPU_PACKET_SIZE;
}

/* ---- front.c: plain dispatches, by the front end of the hardware ---- */
void front_init(void);
/* Chooses anew whether it may be used: what waits for the end of a job sees only
 * those of the long way. */
static inline void front_consider(void)
{
    fw.fast = fw.front_end && !fw.trace && !fw.resetting;
}
/* Starts the queue's next packet, which has not been fetched, if it is a plain
 * dispatch, or lets the queue wait; false: it is to be fetched. */
bool front_serve(FwQueue *queue);
/* A slot of the front end seems to have ended: what ran in it last. false:
 * others follow. */
bool front_settled(FwJob *job);
/* Collects those of the slots that are done; alone: nothing else has
 * happened. */
void front_collect(uint32_t slots, bool alone);
/* The queue's number gets another meaning. */
void front_forget(const FwQueue *queue);

/* ---- sched.c ---- */
void sched_init(void);
/* The queue may have something to do: puts it behind those of its priority,
 * unless it has nothing, or waits for something. */
void sched_ready(FwQueue *queue);
/* The same, but without a list if it is the only one: alone, and no other can
 * do anything. */
void sched_now(FwQueue *queue, bool alone);
/* Takes the queue off whatever list it is on. */
void sched_forget(FwQueue *queue);
/* The queue goes on when it may have a dispatch slot. */
void sched_wait_for_slot(FwQueue *queue);
/* A parked packet is complete: signals it and lets the queue go on. */
void sched_unpark(FwQueue *queue);
/* Serves one queue; false: none can do anything. */
bool sched_step(void);
/* Whether there is one that can. */
bool sched_more(void);

/* ---- slice.c: which dispatches are held ---- */
void slice_init(void);
/* A dispatch of the queue has begun, beside others. */
void slice_began(FwQueue *queue, unsigned slot);
/* A slot has ended, while some are held. */
void slice_left(unsigned slot);
void slice_poll(uint64_t now);
/* The queue is charged for what the slot spends from now on. */
void slice_account(FwQueue *queue, unsigned slot);
/* The order is made anew at once. */
void slice_soon(void);
/* Whether slice_left() is to be called at the end of a slot. */
static inline bool slice_watches(void)
{
    return fw.held | fw.num_contexts;
}

/* ---- context.c: dispatches that have left their slot ---- */
void context_init(void);
enum mxgpu_msg_status context_area(const struct mxgpu_msg_contexts *msg);
/* The VMID gets other tables. */
void context_no_area(unsigned vmid);
/* At the end of a slice: brings back and takes out what it can. yields: slots
 * whose grid waits for children; waits: slots that wait for room. Returns the
 * slots that are to be held besides. */
uint32_t context_poll(uint64_t now, uint32_t yields, uint32_t waits);
/* How long until the next one. */
uint64_t context_pause(uint64_t slice);
/* A child of the grid with that record is complete. */
void context_child_ended(unsigned vmid, uint64_t record);
/* The queue's will not come back. */
void context_forget(FwQueue *queue);

/* ---- unit.c ---- */
void unit_init(void);
/* Bit n: a queue of priority n that waits for a unit could have one now. */
/* Most of the time nobody waits. */
uint32_t unit_levels_waiting(FwUnitKind kind);
static inline uint32_t unit_levels(FwUnitKind kind)
{
    return unlikely(fw.units[kind].waiting) ? unit_levels_waiting(kind) : 0;
}
/* A free unit for the queue's current packet, not taken before unit_run();
 * NULL: none that this queue may have. */
FwJob *unit_claim(FwUnitKind kind, const FwQueue *queue);
/* The unit was started on queue's current packet. */
void unit_run(FwUnitKind kind, FwJob *job, FwQueue *queue);
/* Dispatch slots that are free for queues of this priority, a bit each. */
uint32_t unit_idle_slots(unsigned priority);
/* The watchdog's deadline of a job that begins, and that has ended. */
void unit_watch(FwJob *job);
void unit_unwatch(FwJob *job);
/* Collects the units that are done; the unit, if it is. */
void unit_collect(FwUnitKind kind);
void unit_end(FwUnitKind kind, unsigned index);
void unit_abort_queue(FwQueue *queue);
/* The slot is held from now on, or goes on: its deadline stands still. */
void unit_hold(FwJob *job, bool hold, uint64_t now);
void unit_check_deadlines(uint64_t now);
/* OK, or BUSY: mailbox_finish() follows when what was done there is gone. */
enum mxgpu_msg_status unit_reset(uint32_t kind, uint32_t index);

/* ---- profile.c: packets with MXGPU_PKT_PROFILE ---- */
enum mxgpu_msg_status
profile_setup(const struct mxgpu_msg_queue_profile *msg);
/* Where dispatch slot index leaves samples of queue's current packet. */
void profile_program_slot(const FwQueue *queue, unsigned index);
/* CD_CFG bits of such a packet. */
uint32_t profile_config(const FwQueue *queue);
/* Writes the record of a job that has ended, or of queue's current packet,
 * which was complete at once; false: the queue stopped on that. */
bool profile_job(FwUnitKind kind, const FwJob *job, uint32_t status);
bool profile_current(FwQueue *queue);

/* ---- launch.c: grids that kernels launch ---- */
enum mxgpu_msg_status launch_setup(const struct mxgpu_msg_queue_launch *msg);
/* Whether queue's current packet may have MXGPU_PKT_LAUNCHES. */
bool launch_allowed(const FwQueue *queue);
/* queue_fetch() of a launch queue. */
bool launch_fetch(FwQueue *queue);
/* The record of queue's current packet; 0: its kernel launches nothing. */
static inline uint64_t launch_record(const FwQueue *queue)
{
    if (unlikely(queue->launch_ring)) {
        return queue->record;
    }
    return unlikely(queue->packet.header.flags & MXGPU_PKT_LAUNCHES)
               ? queue->packet.dispatch.args - MXGPU_LAUNCH_ARGS
               : 0;
}
/* A job with a record was started; has left its slot. */
void launch_began(unsigned vmid);
void launch_left(unsigned vmid);
/* ... and ended well. False: its packet is not complete now. */
bool launch_ended(FwJob *job);
/* The queue stopped; is destroyed. */
void launch_failed(FwQueue *queue, const struct mxgpu_queue_error *error);
void launch_forget(FwQueue *queue);
/* Cooperative dispatches and packets with LAUNCHES do not overlap. False: the
 * queue's packet is one that waits, on a list. */
bool launch_exclusive(FwQueue *queue);
/* Those that wait look again whether they may begin. */
void launch_start_exclusive(void);
/* Such a packet was started; its queue's job has ended. */
void launch_started(FwQueue *queue);
void launch_job_ended(FwQueue *queue, const FwJob *job);
void launch_poll(uint64_t now);
uint64_t launch_next(void);

/* ---- time.c ---- */
uint64_t time_now(void);
/* Whether anything waits for the clock. */
bool time_needed(void);
/* Does what is due. */
void time_poll(void);
/* Sets the alarm that ends the next bus_wait(). */
void time_arm(void);

/* ---- cmd/: what packets do ---- */
typedef enum FwStart {
    FW_START_DONE,       /* complete: signal it */
    FW_START_RUNNING,    /* a unit does it, see unit_run() */
    FW_START_PARKED,     /* on a list of the command's own */
    FW_START_LATER,      /* likewise: it is started again from there */
    FW_START_LIST,       /* packets are fetched from queue->list now */
    FW_START_NEEDS_COPY, /* no copy engine is free: again when one is */
    FW_START_NEEDS_SLOT, /* no dispatch slot is free: again when one is */
    FW_START_FAILED,     /* queue_fail() was called */
} FwStart;

#define FW_FIELD_OK UINT32_MAX

typedef struct FwCommand {
    const char *name;
    bool barrier; /* as if MXGPU_PKT_BARRIER were set */
    uint16_t flags; /* those it may have besides MXGPU_PKT_FLAGS */
    /* Offset of the first field that is out of range, or FW_FIELD_OK. Type,
     * flags and signal_addr have been checked. */
    uint32_t (*check)(const union mxgpu_packet *packet);
    FwStart (*start)(FwQueue *queue);
} FwCommand;

extern const FwCommand *const fw_commands[MXGPU_PKT_TYPES];

/* cmd/wait.c */
void wait_poll(uint64_t now);
uint64_t wait_next(void);
/* Memory at addr was written: look at once. */
void wait_notify(uint64_t addr);

/* cmd/tlb.c */
void tlb_init(void);
/* true: done already; false: mailbox_finish() follows. */
bool tlb_begin_mailbox(uint32_t vmid, uint64_t addr, uint64_t size);
void tlb_poll(uint64_t now);

/* cmd/copy.c and cmd/dispatch.c: why a unit faulted. */
void copy_fault(unsigned index, uint32_t status, struct mxgpu_queue_error *e);
void dispatch_fault(unsigned index, uint32_t status,
                    struct mxgpu_queue_error *e);

#endif
