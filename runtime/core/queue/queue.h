/* SPDX-License-Identifier: MIT */
/*
 * Queues of a context. Every packet is a barrier and signals: the queue's
 * word counts complete packets, so "value v of queue q" names a point in time
 * that anyone can wait for, on the host or with a WAIT packet.
 *
 * Beside its ring a queue has a stage: pinned memory for arguments and small
 * uploads, handed out in order and recycled as packets complete. What does not
 * fit ring or stage waits in the queue's overflow (overflow.h).
 */
#ifndef MC_CORE_QUEUE_H
#define MC_CORE_QUEUE_H

#include "core/context/handle.h"
#include "core/context/observer.h"
#include "core/memory/pinned.h"

typedef struct McHostThread McHostThread;
typedef struct McMember McMember;
typedef struct McPending McPending;

#define MC_QUEUE_PACKETS 1024u
#define MC_QUEUE_SLOT(index) ((index) & (MC_QUEUE_PACKETS - 1))
#define MC_LABEL_SIZE    64
#define MC_STAGE_SIZE    (128u << 10)
#define MC_STAGE_MAX     (16u << 10) /* of one submission */
#define MC_QUEUE_WORDS   KMD_PAGE_SIZE /* in front of the stage */
#define MC_QUEUE_SHARED  (MC_QUEUE_WORDS + MC_STAGE_SIZE)

typedef struct McOverflow {
    McPending *first, **last;
    unsigned count; /* of the packets submitted, the last so many */
    size_t bytes;
} McOverflow;

/* The packets of a queue behind "at" begin after value of another queue. */
typedef struct McWaited {
    McQueue *queue;
    uint64_t serial; /* of its context */
    uint64_t value, at;
} McWaited;

#define MC_QUEUE_WAITED 8

struct McQueue {
    McQueue *next;
    McContext *ctx;
    KmdQueue *kq;
    unsigned priority;
    unsigned streams;  /* that use it now */
    uint64_t head;     /* packets submitted */
    uint64_t work;     /* ... up to the last one that is of a stream */
    McOverflow overflow;
    uint64_t *word;    /* packets complete; the device writes it */
    uint64_t *called;  /* host functions that have returned */
    uint64_t calls;    /* ... that were submitted */
    McPinned shared;   /* word, stage */
    uint64_t stage_head;
    uint64_t stage_mark[MC_QUEUE_PACKETS]; /* stage_head after the packet */
    char label[MC_QUEUE_PACKETS][MC_LABEL_SIZE]; /* of kernels, for messages */
    uint16_t block[MC_QUEUE_PACKETS][3]; /* the size of theirs */
    bool reported;     /* its error was logged */
    void *observed;    /* see observer.h */

    /* Order with the legacy default ("null") stream. Values that this queue's
     * word reaches, but null_waited: one of the null stream's queue. */
    uint64_t blocking_last; /* last packet of a stream ordered with it */
    uint64_t null_last;     /* last packet of the null stream itself */
    uint64_t seen_by_null;  /* the null stream already waits up to here */
    uint64_t null_waited;   /* this queue already waits up to there */

    /* The last waits for other queues, one each; at is 0 where there is none.
     * An older one may be forgotten. */
    McWaited waited[MC_QUEUE_WAITED];
    unsigned waited_next;

    McHostThread *host;
};

/* What is submitted through (stream.h). */
struct McStream {
    McHandle handle;
    McContext *ctx;
    McQueue *queue;
    unsigned flags;
    int priority;
    bool null;             /* the legacy default stream */
    uint64_t id;           /* of the process */
    atomic_uint schedule;  /* mcDeviceSchedule*; 0: the context's */
    mcAccessPolicyWindow window; /* under the submit lock */
    atomic_ullong last;    /* value of its last packet */
    _Atomic(McMember *) member; /* of a capture: capture.h */
};

typedef struct McSubmit {
    McQueue *queue;
    McStream *stream;
    uint8_t *stage; /* stage_bytes for the caller's first packet: the arguments
                       of DISPATCH, all that COPY and COPY_RECT read */
    uint64_t mark;  /* stage_head before: the stage is its last packet's */
    bool spilled;   /* goes to the overflow, which has made room: */
    McPending *reserved;
} McSubmit;

/* The kernel of a packet in the ring, or of the inner-th of its list, as in the
 * source, and the size of its block. Under the submit lock. */
void mc_queue_kernel_name(McQueue *queue, uint64_t index, unsigned inner,
                          char *text, size_t size);
void mc_queue_block(const McQueue *queue, uint64_t index, unsigned inner,
                    uint16_t block[3]);

/* Under the submit lock, as all up to mc_queue_ring(). Whether there is room
 * for that many packets, and in the stage for that many bytes, a multiple of
 * 64. */
bool mc_queue_room(const McQueue *queue, unsigned packets, unsigned stage);
uint8_t *mc_queue_stage(McQueue *queue, unsigned size);
char *mc_queue_label(McQueue *queue, uint64_t index);
/* Sets flags and signal of what will be the queue's next packet. Returns its
 * value: the queue's word reaches it when the packet is complete. */
uint64_t mc_queue_complete(McQueue *queue, union mxgpu_packet *packet,
                           unsigned flags);
/* Writes a packet, flags and signal set, as the index-th of the queue. When it
 * is complete the stage is free up to mark. */
void mc_queue_place(McQueue *queue, uint64_t index,
                    const union mxgpu_packet *packet, uint64_t mark);
void mc_queue_ring(McQueue *queue);

static inline uint64_t mc_queue_word(const McQueue *queue)
{
    return __atomic_load_n(queue->word, __ATOMIC_ACQUIRE);
}

static inline bool mc_queue_reached(const McQueue *queue, uint64_t value)
{
    return mc_queue_word(queue) >= value;
}

static inline bool mc_queue_stopped(const McQueue *queue)
{
    return __atomic_load_n(&queue->kq->ctl->state, __ATOMIC_ACQUIRE) ==
           MXGPU_QUEUE_ERROR;
}

/* Under the submit lock: what complete packets have left is taken, before
 * their slots are used again. */
static inline void mc_observe_collect(McQueue *queue)
{
    if (__builtin_expect(queue->observed != NULL, 0)) {
        mc_observer->collect(queue);
    }
}

/* Under the submit lock of its context: what is submitted from now on begins
 * after value of another queue, of the context with that serial. */
void mc_queue_note_wait(McQueue *queue, McQueue *other, uint64_t serial,
                        uint64_t value);
/* The same lock. The largest value of another queue that is known to come
 * before whatever is submitted from now on, directly or through queues of this
 * context; 0: none is. other is not followed. */
uint64_t mc_queue_waits_for(const McQueue *queue, const McQueue *other,
                            uint64_t serial);

/* Whether all that streams of the context have submitted has ended. */
bool mc_queues_empty(McContext *ctx);

#endif
