/* SPDX-License-Identifier: MIT */
#include "queue.h"

#include <string.h>

#include "core/module/module.h"
#include "image/source.h"

static unsigned stage_free(const McQueue *queue)
{
    uint64_t word = mc_queue_word(queue);
    uint64_t tail = word ? queue->stage_mark[MC_QUEUE_SLOT(word - 1)] : 0;

    return MC_STAGE_SIZE - (queue->stage_head - tail);
}

/* Bytes taken when size contiguous ones are needed now. */
static unsigned stage_cost(const McQueue *queue, unsigned size)
{
    unsigned offset = queue->stage_head % MC_STAGE_SIZE;

    return offset + size > MC_STAGE_SIZE ? MC_STAGE_SIZE - offset + size
                                         : size;
}

/* One slot is kept for the packet that wakes a sleeper. */
bool mc_queue_room(const McQueue *queue, unsigned packets, unsigned stage)
{
    uint64_t in_ring = queue->head - queue->overflow.count -
                       mc_queue_word(queue);

    return in_ring + packets < MC_QUEUE_PACKETS &&
           (!stage || stage_cost(queue, stage) <= stage_free(queue));
}

uint8_t *mc_queue_stage(McQueue *queue, unsigned size)
{
    queue->stage_head += stage_cost(queue, size);
    return (uint8_t *)queue->shared.memory + MC_QUEUE_WORDS +
           (queue->stage_head - size) % MC_STAGE_SIZE;
}

char *mc_queue_label(McQueue *queue, uint64_t index)
{
    return queue->label[MC_QUEUE_SLOT(index)];
}

void mc_queue_ring(McQueue *queue)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
    queue->ctx->ops->queue_ring(queue->kq,
                                queue->head - queue->overflow.count);
}

uint64_t mc_queue_complete(McQueue *queue, union mxgpu_packet *packet,
                           unsigned flags)
{
    uint64_t value = queue->head + 1;

    packet->header.flags = MXGPU_PKT_BARRIER | flags;
    /* All types have the signal at the same place. */
    packet->copy.signal_addr = (uintptr_t)queue->word;
    packet->copy.signal_value = value;
    /* Whoever waits for room in the ring is woken now and then. */
    if (value % (MC_QUEUE_PACKETS / 4) == 0) {
        packet->header.flags |= MXGPU_PKT_IRQ;
    }
    return value;
}

/* Bytes of a packet as the ring wants them, whatever its type. */
static void ring_write(McQueue *queue, uint64_t index,
                       const union mxgpu_packet *packet)
{
    union mxgpu_packet *slot =
        (union mxgpu_packet *)&queue->kq->ring[MC_QUEUE_SLOT(index)];

    memcpy(slot, packet, sizeof(*slot));
}

void mc_queue_place(McQueue *queue, uint64_t index,
                    const union mxgpu_packet *packet, uint64_t mark)
{
    if (packet->header.type == MXGPU_PKT_DISPATCH) {
        memcpy(queue->block[MC_QUEUE_SLOT(index)], packet->dispatch.block,
               sizeof(queue->block[0]));
    }
    if (packet->header.flags & MXGPU_PKT_PROFILE) {
        mc_observer->placed(queue, index + 1);
    }
    ring_write(queue, index, packet);
    queue->stage_mark[MC_QUEUE_SLOT(index)] = mark;
}

/* A packet of the ring, or that one of its list, counted from 1. */
static const volatile union mxgpu_packet *packet_at(const McQueue *queue,
                                                    uint64_t index,
                                                    unsigned inner)
{
    const volatile union mxgpu_packet *packet =
        &queue->kq->ring[MC_QUEUE_SLOT(index)];

    if (inner && packet->header.type == MXGPU_PKT_INDIRECT) {
        /* Lists lie in memory that is at the same address on both sides. */
        const union mxgpu_packet *list =
            (const union mxgpu_packet *)(uintptr_t)packet->indirect.list;

        packet = &list[inner - 1];
    }
    return packet;
}

void mc_queue_kernel_name(McQueue *queue, uint64_t index, unsigned inner,
                          char *text, size_t size)
{
    uint64_t desc = packet_at(queue, index, inner)->dispatch.kernel;

    if (!mc_module_kernel_name(desc, text, size)) {
        mc_source_name(queue->label[MC_QUEUE_SLOT(index)], text, size);
    }
}

void mc_queue_block(const McQueue *queue, uint64_t index, unsigned inner,
                    uint16_t block[3])
{
    const volatile union mxgpu_packet *packet = packet_at(queue, index, inner);

    for (unsigned i = 0; i < 3; i++) {
        block[i] = inner ? packet->dispatch.block[i]
                         : queue->block[MC_QUEUE_SLOT(index)][i];
    }
}

/* ---- what it waits for ---- */

void mc_queue_note_wait(McQueue *queue, McQueue *other, uint64_t serial,
                        uint64_t value)
{
    McWaited *entry = NULL;

    for (unsigned i = 0; i < MC_QUEUE_WAITED && !entry; i++) {
        McWaited *w = &queue->waited[i];

        entry = w->queue == other && w->serial == serial ? w : NULL;
    }
    if (entry && entry->value >= value) {
        return; /* it waited for more before */
    }
    if (!entry) {
        entry = &queue->waited[queue->waited_next++ % MC_QUEUE_WAITED];
    }
    *entry = (McWaited){other, serial, value, queue->head};
}

/* How many queues a wait may be handed on by. */
#define WAIT_DEPTH 3

/* Of the packets of the queue behind "at". */
static uint64_t waits_for(const McQueue *queue, uint64_t at,
                          const McQueue *other, uint64_t serial,
                          unsigned depth)
{
    uint64_t most = 0;

    for (unsigned i = 0; i < MC_QUEUE_WAITED; i++) {
        const McWaited *w = &queue->waited[i];
        uint64_t value = 0;

        if (!w->queue || w->at > at) {
            continue;
        }
        if (w->queue == other && w->serial == serial) {
            value = w->value;
        } else if (depth && w->serial == queue->ctx->serial) {
            /* value is complete, and with it all before it: what the packet
             * that writes it has waited for. */
            value = waits_for(w->queue, w->value - 1, other, serial,
                              depth - 1);
        }
        most = value > most ? value : most;
    }
    return most;
}

uint64_t mc_queue_waits_for(const McQueue *queue, const McQueue *other,
                            uint64_t serial)
{
    return waits_for(queue, UINT64_MAX, other, serial, WAIT_DEPTH);
}

bool mc_queues_empty(McContext *ctx)
{
    bool empty = true;

    pthread_mutex_lock(&ctx->submit);
    for (McQueue *queue = ctx->queues; queue && empty; queue = queue->next) {
        empty = mc_queue_reached(queue, queue->work);
    }
    pthread_mutex_unlock(&ctx->submit);
    return empty;
}
