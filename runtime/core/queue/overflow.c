/* SPDX-License-Identifier: MIT */
#include "overflow.h"

#include <stdlib.h>
#include <string.h>

#include "mxgpu/launch.h"

static size_t entry_size(const McPending *entry)
{
    return sizeof(*entry) + entry->stage_size;
}

static McPending *entry_new(unsigned stage_size)
{
    size_t size = sizeof(McPending) + stage_size;
    McPending *entry = aligned_alloc(16, (size + 15) & ~(size_t)15);

    if (entry) {
        entry->next = NULL;
        entry->stage_size = stage_size;
        memset(entry->label, 0, sizeof(entry->label));
    }
    return entry;
}

static void free_list(McPending *entry)
{
    while (entry) {
        McPending *next = entry->next;

        free(entry);
        entry = next;
    }
}

bool mc_overflow_reserve(McSubmit *submit, unsigned total, unsigned packets,
                         unsigned stage_size)
{
    McOverflow *overflow = &submit->queue->overflow;
    size_t bytes = total * sizeof(McPending) + stage_size;

    submit->reserved = NULL;
    if (bytes > MC_OVERFLOW_BYTES - overflow->bytes) {
        return false;
    }
    /* From the last to the first. */
    for (unsigned i = 0; i < total; i++) {
        bool staged = i + 1 == packets;
        McPending *entry = entry_new(staged ? stage_size : 0);

        if (!entry) {
            mc_overflow_end(submit);
            return false;
        }
        if (staged && stage_size) {
            submit->stage = entry->stage;
        }
        entry->next = submit->reserved;
        submit->reserved = entry;
    }
    return true;
}

void mc_overflow_push(McSubmit *submit, const union mxgpu_packet *packet)
{
    McOverflow *overflow = &submit->queue->overflow;
    McPending *entry = submit->reserved;

    submit->reserved = entry->next;
    entry->next = NULL;
    entry->packet = *packet;
    *overflow->last = entry;
    overflow->last = &entry->next;
    overflow->bytes += entry_size(entry);
    overflow->count++;
}

void mc_overflow_skip(McSubmit *submit, unsigned packets)
{
    unsigned count = 0;

    for (McPending *entry = submit->reserved; entry; entry = entry->next) {
        count++;
    }
    for (; count > packets; count--) {
        McPending *entry = submit->reserved;

        submit->reserved = entry->next;
        free(entry);
    }
}

void mc_overflow_end(McSubmit *submit)
{
    free_list(submit->reserved);
    submit->reserved = NULL;
}

/* Its arguments go to the stage, and the packet points there. */
static void move_stage(McPending *entry, uint8_t *stage)
{
    memcpy(stage, entry->stage, entry->stage_size);
    if (entry->packet.header.type == MXGPU_PKT_DISPATCH) {
        entry->packet.dispatch.args =
            (uintptr_t)stage +
            (entry->packet.header.flags & MXGPU_PKT_LAUNCHES
                 ? MXGPU_LAUNCH_ARGS : 0);
    } else if (entry->packet.header.type == MXGPU_PKT_COPY_RECT) {
        entry->packet.copy_rect.src = (uintptr_t)stage;
    } else {
        entry->packet.copy.src = (uintptr_t)stage;
    }
}

static bool move_first(McQueue *queue)
{
    McOverflow *overflow = &queue->overflow;
    McPending *entry = overflow->first;
    uint64_t index = queue->head - overflow->count;
    uint64_t mark = queue->stage_head;

    if (!mc_queue_room(queue, 1, entry->stage_size)) {
        return false;
    }
    mc_observe_collect(queue); /* of the packet that had the slot */
    if (entry->stage_size) {
        move_stage(entry, mc_queue_stage(queue, entry->stage_size));
        mark = queue->stage_head;
    }
    memcpy(mc_queue_label(queue, index), entry->label, MC_LABEL_SIZE);
    mc_queue_place(queue, index, &entry->packet, mark);
    overflow->first = entry->next;
    if (!overflow->first) {
        overflow->last = &overflow->first;
    }
    overflow->bytes -= entry_size(entry);
    overflow->count--;
    free(entry);
    return true;
}

bool mc_overflow_feed(McQueue *queue)
{
    McOverflow *overflow = &queue->overflow;
    bool moved = false;

    if (!overflow->count) {
        return true;
    }
    while (overflow->count && move_first(queue)) {
        moved = true;
    }
    if (moved) {
        mc_queue_ring(queue);
    }
    return overflow->count == 0;
}

void mc_overflow_free(McQueue *queue)
{
    free_list(queue->overflow.first);
    queue->overflow.first = NULL;
    queue->overflow.last = &queue->overflow.first;
    queue->overflow.count = 0;
    queue->overflow.bytes = 0;
}
