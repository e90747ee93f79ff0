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

#include "pinned.h"

typedef struct McFunction McFunction;
typedef struct McHostThread McHostThread;
typedef struct McPending McPending;

#define MC_QUEUE_PACKETS 1024u
#define MC_LABEL_SIZE    64
#define MC_STAGE_SIZE    (128u << 10)
#define MC_STAGE_MAX     (16u << 10) /* of one submission */

typedef struct McOverflow {
    McPending *first, **last;
    unsigned count; /* of the packets submitted, the last so many */
    size_t bytes;
} McOverflow;

struct McQueue {
    McQueue *next;
    McContext *ctx;
    KmdQueue *kq;
    unsigned priority;
    unsigned streams;  /* that use it now */
    uint64_t head;     /* packets submitted */
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
    struct {           /* see profile.h */
        McPinned records;
        uint32_t stride;
        uint64_t collected; /* packets whose records were looked for */
        uint64_t pending[MC_QUEUE_PACKETS]; /* values that leave records */
    } profile;

    /* Order with the legacy default stream; values of this queue, or of its
     * queue (null_waited). */
    uint64_t blocking_last; /* of a stream that is ordered with it */
    uint64_t null_last;     /* of the null stream */
    uint64_t seen_by_null;  /* the null stream waited up to here */
    uint64_t null_waited;   /* waited for the null stream up to there */

    McHostThread *host;
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

/* The queue for a new stream: its own while the device has more. */
mcError_t mc_queue_acquire(McContext *ctx, unsigned priority, McQueue **out);
void mc_queue_release(McQueue *queue);
/* Nobody uses the context any more. */
/* Waits for the functions that streams are calling; those that have not begun
 * are not called. False: one takes longer. limit_ms 0: as long as it takes. */
bool mc_queue_stop_functions(McContext *ctx, unsigned limit_ms);
void mc_queue_free_all(McContext *ctx);

/*
 * Makes room for that many packets and stage bytes, puts the waits in front
 * that order the stream with the default stream, and takes the submit lock,
 * which mc_submit_end releases. On error nothing is held.
 */
mcError_t mc_submit_begin(McStream *stream, unsigned packets,
                          unsigned stage_bytes, McSubmit *submit);
/* Completes header flags and signal, and writes the packet. Returns its value:
 * the queue's word reaches it when the packet is complete. */
uint64_t mc_submit_push(McSubmit *submit, union mxgpu_packet *packet,
                        unsigned flags);
/* The name under which errors of the packet pushed next are reported. */
char *mc_submit_label(McSubmit *submit);
void mc_submit_end(McSubmit *submit);
/* The kernel of a packet in the ring, as in the source. Under the submit lock. */
void mc_queue_kernel_name(McQueue *queue, uint64_t index, char *text,
                          size_t size);

/* For the overflow, under the submit lock. Whether that many packets and a
 * stage of that many bytes, a multiple of 64, fit now. */
bool mc_queue_room(const McQueue *queue, unsigned packets, unsigned stage);
uint8_t *mc_queue_stage(McQueue *queue, unsigned size);
char *mc_queue_label(McQueue *queue, uint64_t index);
/* Writes a packet that is complete, as the index-th of the queue; the stage is
 * in use up to mark. */
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

/* Whether all that was submitted to the context has ended. */
bool mc_queues_empty(McContext *ctx);

/* Waits until the word reaches value, the device fails, or the context dies
 * (mcErrorContextIsDestroyed). blocking: sleep at once instead of spinning. */
mcError_t mc_queue_wait(McQueue *queue, uint64_t value, bool blocking);

/* The same, asleep, on behalf of another context: also until that one fails or
 * dies. */
mcError_t mc_queue_wait_for(McContext *waiter, McQueue *queue, uint64_t value);

/* mcErrorNotReady until the word reaches value or the device fails. */
mcError_t mc_queue_query(McQueue *queue, uint64_t value);

/* Looks for queues that stopped and makes that the context's error. */
void mc_queue_poll(McContext *ctx);

#endif
