/* SPDX-License-Identifier: MIT */
#include "copy.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/context/error.h"
#include "core/context/peer.h"
#include "core/mapping/host_memory.h"
#include "core/memory/range.h"
#include "core/memory/reserve.h"
#include "core/queue/staging.h"
#include "core/queue/wait.h"
#include "core/stream/capture.h"
#include "core/stream/capture_copy.h"
#include "core/stream/submit.h"
#include "mxgpu/rect.h"

/* ---- boxes ---- */

size_t mc_box_size(const McBox *box)
{
    return box->width * box->height * box->depth;
}

/*
 * Merges rows, and slices, that follow each other without a gap on both sides
 * into longer ones, and computes the bytes from the first to the last one of
 * each side. A box whose rows or slices overlap, or whose size does not fit 64
 * bits, is mcErrorInvalidValue.
 */
static mcError_t box_normalise(McBox *box, uint64_t *dst_reach,
                               uint64_t *src_reach)
{
    if (!box->width || !box->height || !box->depth) {
        box->width = *dst_reach = *src_reach = 0;
        box->height = box->depth = 1;
        return mcSuccess;
    }
    if (box->height == 1 && box->depth == 1) {
        *dst_reach = *src_reach = box->width;
        return mcSuccess;
    }
    if ((box->height | box->depth | box->dst_pitch | box->src_pitch |
         box->dst_slice | box->src_slice) > UINT32_MAX ||
        mxgpu_rect_reach(box->width, box->height, box->depth, box->dst_pitch,
                         box->dst_slice, dst_reach) != MXGPU_RECT_OK ||
        mxgpu_rect_reach(box->width, box->height, box->depth, box->src_pitch,
                         box->src_slice, src_reach) != MXGPU_RECT_OK) {
        return mcErrorInvalidValue;
    }
    if (box->depth > 1 && box->dst_slice == box->height &&
        box->src_slice == box->height &&
        (uint64_t)box->height * box->depth <= UINT32_MAX) {
        box->height *= box->depth;
        box->depth = 1;
    }
    if (box->depth == 1 && box->dst_pitch == box->width &&
        box->src_pitch == box->width) {
        box->width *= box->height;
        box->height = 1;
    }
    return mcSuccess;
}

static size_t offset(size_t pitch, size_t slice, size_t y, size_t z)
{
    return (z * slice + y) * pitch;
}

void mc_box_move(const McBox *box)
{
    for (size_t z = 0; z < box->depth; z++) {
        for (size_t y = 0; y < box->height; y++) {
            memmove((uint8_t *)box->dst +
                        offset(box->dst_pitch, box->dst_slice, y, z),
                    (const uint8_t *)box->src +
                        offset(box->src_pitch, box->src_slice, y, z),
                    box->width);
        }
    }
}

/* A part of a box: of a row, of a slice, or whole slices. */
typedef struct Part {
    size_t x, y, z, width, height, depth;
} Part;

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Steps p to the next part of the box, which has at most "room" bytes. Start
 * with a part that is all 0. False: p was the last part. */
static bool part_next(const McBox *box, Part *p, size_t room)
{
    p->x += p->width;
    if (p->x >= box->width) {
        p->x = 0;
        p->y += p->height;
    }
    if (p->y >= box->height) {
        p->y = 0;
        p->z += p->depth;
    }
    if (p->z >= box->depth) {
        return false;
    }
    size_t rows = room / box->width;
    p->width = least(box->width - p->x, room);
    p->height = rows ? least(box->height - p->y, rows) : 1;
    p->depth = 1;
    if (p->y == 0 && p->height == box->height && rows > box->height) {
        p->depth = least(box->depth - p->z, rows / box->height);
    }
    return true;
}

static McBox part_of(const McBox *box, const Part *p)
{
    McBox part = *box;

    part.dst = (uint8_t *)box->dst + p->x +
               offset(box->dst_pitch, box->dst_slice, p->y, p->z);
    part.src = (const uint8_t *)box->src + p->x +
               offset(box->src_pitch, box->src_slice, p->y, p->z);
    part.width = p->width;
    part.height = p->height;
    part.depth = p->depth;
    return part;
}

McBox mc_box_to(McBox box, void *memory)
{
    box.dst = memory;
    box.dst_pitch = box.width;
    box.dst_slice = box.height;
    return box;
}

McBox mc_box_from(McBox box, const void *memory)
{
    box.src = memory;
    box.src_pitch = box.width;
    box.src_slice = box.height;
    return box;
}

/* ---- packets ---- */

/* Copies up to this are done before their waiter would sleep; they raise no
 * interrupt. */
#define SPIN_SIZE (64u << 10)

void mc_copy_packet(const McBox *box, union mxgpu_packet *packet)
{
    if (box->height == 1 && box->depth == 1) {
        *packet = (union mxgpu_packet){
            .copy = {
                .type = MXGPU_PKT_COPY,
                .src = (uintptr_t)box->src,
                .dst = (uintptr_t)box->dst,
                .size = box->width,
            },
        };
        return;
    }
    *packet = (union mxgpu_packet){
        .copy_rect = {
            .type = MXGPU_PKT_COPY_RECT,
            .width = box->width,
            .src = (uintptr_t)box->src,
            .dst = (uintptr_t)box->dst,
            .height = box->height,
            .depth = box->depth,
            .src_pitch = box->src_pitch,
            .dst_pitch = box->dst_pitch,
            .src_slice = box->src_slice,
            .dst_slice = box->dst_slice,
        },
    };
}

static mcError_t submit_copy(McStream *stream, const McBox *box, bool irq,
                             uint64_t *value)
{
    union mxgpu_packet packet;
    McSubmit submit;
    mcError_t error = mc_submit_begin(stream, 1, 0, &submit);

    if (error != mcSuccess) {
        return error;
    }
    mc_copy_packet(box, &packet);
    *value = mc_submit_push(&submit, &packet, irq ? MXGPU_PKT_IRQ : 0);
    mc_submit_end(&submit);
    return mcSuccess;
}

/* Small uploads travel like arguments. */
static mcError_t upload_small(McStream *stream, const McBox *box,
                              uint64_t *value)
{
    union mxgpu_packet packet;
    McSubmit submit;
    mcError_t error = mc_submit_begin(stream, 1, mc_box_size(box), &submit);

    if (error != mcSuccess) {
        return error;
    }
    McBox gather = mc_box_to(*box, submit.stage);
    mc_box_move(&gather);
    McBox send = mc_box_from(*box, submit.stage);
    mc_copy_packet(&send, &packet);
    *value = mc_submit_push(&submit, &packet, 0);
    mc_submit_end(&submit);
    return mcSuccess;
}

#define UPLOAD_SMALL 4096u

/* From pageable memory; returns when it has been read. */
static mcError_t upload(McStream *stream, const McBox *box, uint64_t *value)
{
    McStaging *staging = stream->ctx->staging;
    Part at = {0};

    if (mc_box_size(box) <= UPLOAD_SMALL) {
        return upload_small(stream, box, value);
    }
    size_t left = mc_box_size(box);
    while (part_next(box, &at, MC_CHUNK_SIZE)) {
        McBox part = part_of(box, &at);
        McChunk *chunk;
        mcError_t error = mc_chunk_get(staging, &chunk);

        if (error != mcSuccess) {
            return error;
        }
        McBox gather = mc_box_to(part, chunk->memory);
        mc_box_move(&gather);
        McBox send = mc_box_from(part, chunk->memory);
        left -= mc_box_size(&part);
        error = submit_copy(stream, &send, left == 0, value);
        mc_chunk_put(staging, chunk, error == mcSuccess ? stream->queue : NULL,
                     *value);
        if (error != mcSuccess) {
            return error;
        }
    }
    return mcSuccess;
}

/* A part of a download that the engine works on. */
typedef struct Flight {
    McChunk *chunk;
    uint64_t value;
    McBox box; /* from the chunk to where it goes */
} Flight;

static mcError_t takeoff(McStream *stream, const McBox *part, McChunk *chunk,
                         Flight *flight)
{
    McBox receive = mc_box_to(*part, chunk->memory);
    mcError_t error = submit_copy(stream, &receive,
                                  mc_box_size(part) > SPIN_SIZE,
                                  &flight->value);

    if (error != mcSuccess) {
        mc_chunk_put(stream->ctx->staging, chunk, NULL, 0);
        return error;
    }
    flight->chunk = chunk;
    flight->box = mc_box_from(*part, chunk->memory);
    return mcSuccess;
}

static mcError_t land(McStream *stream, Flight *flight, bool wanted)
{
    mcError_t error = mc_queue_wait(stream->queue, flight->value, false);

    if (error == mcSuccess && wanted) {
        mc_box_move(&flight->box);
    }
    /* On error the engine may still write to it. */
    mc_chunk_put(stream->ctx->staging, flight->chunk,
                 error == mcSuccess ? NULL : stream->queue, flight->value);
    return error;
}

/* To pageable memory; returns when it is there. While one chunk is copied out
 * the engine fills the next. */
static mcError_t download(McStream *stream, const McBox *box)
{
    enum { DEPTH = 3 };
    Flight flights[DEPTH];
    unsigned first = 0, count = 0;
    McStaging *staging = stream->ctx->staging;
    mcError_t error = mcSuccess, landed;
    Part at = {0};
    bool more = part_next(box, &at, MC_CHUNK_SIZE);

    while (more || count) {
        McChunk *chunk = NULL;

        if (more && count == 0) {
            error = mc_chunk_get(staging, &chunk);
        } else if (more && count < DEPTH) {
            chunk = mc_chunk_try(staging);
        }
        if (chunk) {
            McBox part = part_of(box, &at);

            error = takeoff(stream, &part, chunk,
                            &flights[(first + count) % DEPTH]);
            count += error == mcSuccess;
            more = part_next(box, &at, MC_CHUNK_SIZE);
        } else if (count) {
            landed = land(stream, &flights[first], error == mcSuccess);
            error = error == mcSuccess ? landed : error;
            first = (first + 1) % DEPTH;
            count--;
        }
        more = more && error == mcSuccess;
    }
    return error;
}

/* ---- what addresses are ---- */

typedef enum Place {
    PAGEABLE,
    PINNED,
    ON_DEVICE,
} Place;

typedef struct End {
    Place place;
    int device;
    bool peers;  /* devices with access see it, too */
    bool sync;   /* synchronous operations wait (mcPointerAttributeSyncMemops) */
    uint64_t va; /* where the device may write it */
} End;

static bool sees(int device, const End *end)
{
    return end->place != ON_DEVICE || end->device == device ||
           (end->peers && mc_peer_sees(device, end->device));
}

/*
 * Physical memory at a reserved address, which may be several mappings in a
 * row. The stream's device uses it if it may; else the host does, or another
 * device.
 */
static mcError_t classify_mapped(int device, McRange range, size_t size,
                                 End *end)
{
    uint32_t reach = range.reach;
    bool cpu = range.cpu, host = range.device < 0;
    uint64_t last = end->va + size;

    while (range.base + range.size < last) {
        if (!mc_range_find(range.base + range.size, &range) ||
            range.kind != MC_RANGE_MAPPED) {
            mc_error("%zu bytes at %p: not all of it is mapped", size,
                     (void *)(uintptr_t)end->va);
            return mcErrorInvalidValue;
        }
        reach &= range.reach;
        cpu = cpu && range.cpu;
        host = host && range.device < 0;
    }
    if (reach >> device & 1) {
        end->device = device;
        end->place = host && cpu ? PINNED : ON_DEVICE;
    } else if (cpu) {
        end->device = -1;
        end->place = PAGEABLE;
    } else if (reach) {
        end->device = __builtin_ctz(reach);
        end->place = ON_DEVICE;
    } else {
        mc_error("%zu bytes at %p: no device has access to all of it", size,
                 (void *)(uintptr_t)end->va);
        return mcErrorInvalidValue;
    }
    return mcSuccess;
}

/* For a stream of "device". */
static mcError_t classify(int device, const void *ptr, size_t size, End *end)
{
    McRange range;

    end->va = (uintptr_t)ptr;
    end->peers = false;
    end->sync = false;
    if (!mc_range_find((uintptr_t)ptr, &range)) {
        end->place = PAGEABLE;
        end->device = -1;
        if (mc_reserved(end->va, 1)) {
            mc_error("%p: reserved, but nothing is mapped there", ptr);
            return mcErrorInvalidValue;
        }
        return mcSuccess;
    }
    end->sync = range.sync;
    if (range.kind == MC_RANGE_MAPPED) {
        return classify_mapped(device, range, size, end);
    }
    end->device = range.device;
    end->peers = range.kind == MC_RANGE_DEVICE;
    end->place = mc_range_is_host(&range) ? PINNED : ON_DEVICE;
    if (end->va >= range.constants &&
        end->va - range.constants < range.constants_size &&
        size <= range.constants + range.constants_size - end->va) {
        end->va = range.writable + (end->va - range.constants);
        return mcSuccess;
    }
    if (size <= range.base + range.size - (uintptr_t)ptr) {
        if (range.kind == MC_RANGE_REGISTERED && !mc_host_mapped(ptr, size)) {
            mc_error("%zu bytes at %p: registered, but no longer memory of "
                     "the process", size, ptr);
            return mcErrorInvalidValue;
        }
        return mcSuccess;
    }
    if (end->place == PINNED) {
        end->place = PAGEABLE; /* only a part is pinned */
        return mcSuccess;
    }
    mc_error("%zu bytes at %p: the allocation has %llu", size, ptr,
             (unsigned long long)(range.base + range.size - (uintptr_t)ptr));
    return mcErrorInvalidValue;
}

/* Further kinds, of what another device does of a copy: an end that was on a
 * device still has to be on one. It may have been freed meanwhile, and is not
 * to be touched as if it were the program's own memory then. */
enum {
    TO_DEVICE = 16,
    FROM_DEVICE = 32,
};

static mcError_t check_kind(mcMemcpyKind kind, const End *dst, const End *src)
{
    bool ok;

    switch ((int)kind) {
    case mcMemcpyHostToHost:
        ok = dst->place != ON_DEVICE && src->place != ON_DEVICE;
        break;
    case mcMemcpyHostToDevice:
        ok = dst->place != PAGEABLE && src->place != ON_DEVICE;
        break;
    case mcMemcpyDeviceToHost:
        ok = dst->place != ON_DEVICE && src->place != PAGEABLE;
        break;
    case mcMemcpyDeviceToDevice:
        ok = dst->place != PAGEABLE && src->place != PAGEABLE;
        break;
    case mcMemcpyDefault:
        ok = true;
        break;
    case TO_DEVICE:
        ok = dst->place != PAGEABLE;
        break;
    case FROM_DEVICE:
        ok = src->place != PAGEABLE;
        break;
    case TO_DEVICE | FROM_DEVICE:
        ok = dst->place != PAGEABLE && src->place != PAGEABLE;
        break;
    default:
        return mcErrorInvalidMemcpyDirection;
    }
    if (!ok && (int)kind >= TO_DEVICE) {
        mc_error("copy between devices: memory was freed under it");
    } else if (!ok) {
        mc_error("copy of kind %d: an address is not what the kind says",
                 (int)kind);
    }
    return ok ? mcSuccess : mcErrorInvalidValue;
}

/* ---- copies ---- */

static mcError_t copy_local(McStream *stream, McBox box, const End *to,
                            const End *from, bool sync)
{
    uint64_t value = 0;
    mcError_t error;

    if (to->place == PAGEABLE) {
        return download(stream, &box);
    }
    box.dst = (void *)(uintptr_t)to->va;
    if (from->place == PAGEABLE) {
        error = upload(stream, &box, &value);
    } else {
        bool wait = sync && (to->place == PINNED || from->place == PINNED ||
                             to->sync || from->sync);

        error = submit_copy(stream, &box, wait && mc_box_size(&box) > SPIN_SIZE,
                            &value);
        sync = wait;
    }
    if (error == mcSuccess && sync) {
        error = mc_queue_wait(stream->queue, value, false);
    }
    return error;
}

/* One half of a copy that another device must make, through its own default
 * stream; complete when it returns. */
static mcError_t copy_on(int device, const McBox *box, int kind)
{
    McContext *ctx = mc_context_peek(device);

    if (!ctx) {
        return mcErrorContextIsDestroyed; /* and the memory is gone with it */
    }
    mcError_t error = mc_copy_box(ctx->null_stream, box, (mcMemcpyKind)kind,
                                  true);
    if (error == mcSuccess) {
        error = mc_stream_sync(ctx->null_stream);
    }
    mc_context_put(ctx);
    return error;
}

#define BOUNCE_SIZE (4u << 20)

/* The stream's device does not see both: the host has another one do it that
 * does, or carries it over; in order with the stream because it waits for
 * it. */
static mcError_t copy_remote(McStream *stream, const McBox *box, const End *to,
                             const End *from)
{
    mcError_t error = mc_stream_sync(stream);

    if (error != mcSuccess) {
        return error;
    }
    if (to->place != ON_DEVICE) {
        return copy_on(from->device, box, FROM_DEVICE);
    }
    if (from->place != ON_DEVICE) {
        return copy_on(to->device, box, TO_DEVICE);
    }
    if (sees(to->device, from)) {
        return copy_on(to->device, box, TO_DEVICE | FROM_DEVICE);
    }
    if (sees(from->device, to)) {
        return copy_on(from->device, box, TO_DEVICE | FROM_DEVICE);
    }
    uint8_t *bounce = malloc(least(mc_box_size(box), BOUNCE_SIZE));
    Part at = {0};
    if (!bounce) {
        return mcErrorMemoryAllocation;
    }
    while (error == mcSuccess && part_next(box, &at, BOUNCE_SIZE)) {
        McBox part = part_of(box, &at);
        McBox get = mc_box_to(part, bounce), put = mc_box_from(part, bounce);

        error = copy_on(from->device, &get, FROM_DEVICE);
        if (error == mcSuccess) {
            error = copy_on(to->device, &put, TO_DEVICE);
        }
    }
    free(bounce);
    return error;
}

/* A copy between two devices that is not asked to be asynchronous is in order
 * with all of their work. */
static mcError_t settle(McStream *stream, const End *end)
{
    if (end->place != ON_DEVICE || end->device == stream->ctx->device) {
        return mcSuccess;
    }
    McContext *ctx = mc_context_peek(end->device);
    if (!ctx) {
        return mcErrorContextIsDestroyed; /* and the memory is gone with it */
    }
    mcError_t error = mc_context_sync(ctx);
    mc_context_put(ctx);
    return error;
}

/* What both ends are. The box is normalised: nothing lies at the addresses of
 * an empty one, which may be NULL or the end of an allocation. */
static mcError_t look_at(int device, McBox *box, mcMemcpyKind kind, End *to,
                         End *from)
{
    uint64_t dst_reach, src_reach;
    mcError_t error = box_normalise(box, &dst_reach, &src_reach);

    if (error != mcSuccess || box->width == 0) {
        return error;
    }
    error = classify(device, box->dst, dst_reach, to);
    if (error == mcSuccess) {
        error = classify(device, box->src, src_reach, from);
    }
    return error == mcSuccess ? check_kind(kind, to, from) : error;
}

mcError_t mc_copy_plan(int device, McBox *box, mcMemcpyKind kind,
                       McCopyHow *how)
{
    End to, from;
    mcError_t error = look_at(device, box, kind, &to, &from);

    if (error != mcSuccess || box->width == 0) {
        *how = MC_COPY_NOTHING;
        return error;
    }
    if (to.place != ON_DEVICE && from.place != ON_DEVICE) {
        *how = MC_COPY_HOST;
    } else if (!sees(device, &to) || !sees(device, &from)) {
        *how = MC_COPY_REMOTE;
    } else if (to.place == PAGEABLE) {
        *how = MC_COPY_DOWNLOAD;
    } else {
        box->dst = (void *)(uintptr_t)to.va;
        *how = from.place == PAGEABLE ? MC_COPY_UPLOAD : MC_COPY_DIRECT;
    }
    return mcSuccess;
}

static mcError_t copy_any(McStream *stream, McBox box, mcMemcpyKind kind,
                          bool sync)
{
    End to, from;
    int device = stream->ctx->device;
    mcError_t error = look_at(device, &box, kind, &to, &from);

    if (error != mcSuccess || box.width == 0) {
        return error;
    }
    if (to.place != ON_DEVICE && from.place != ON_DEVICE) {
        error = mc_stream_sync(stream);
        if (error == mcSuccess) {
            mc_box_move(&box);
        }
        return error;
    }
    bool other = (to.place == ON_DEVICE && to.device != device) ||
                 (from.place == ON_DEVICE && from.device != device);
    bool two = to.place == ON_DEVICE && from.place == ON_DEVICE &&
               to.device != from.device;
    if (two && sync) {
        error = settle(stream, &to);
        if (error == mcSuccess) {
            error = settle(stream, &from);
        }
        if (error != mcSuccess) {
            return error;
        }
    }
    /* Of one device alone: in order with that device's default stream. */
    if ((other && !two && sync) || !sees(device, &to) ||
        !sees(device, &from)) {
        return copy_remote(stream, &box, &to, &from);
    }
    error = copy_local(stream, box, &to, &from, sync);
    return error == mcSuccess && two && sync ? mc_stream_sync(stream) : error;
}

static mcError_t capture_copy(McStream *stream, const McBox *box,
                              mcMemcpyKind kind)
{
    McCopyHow how;
    McBox plan = *box;
    mcError_t error = mc_copy_plan(stream->ctx->device, &plan, kind, &how);

    return error != mcSuccess || how == MC_COPY_NOTHING
               ? error
               : mc_capture_copy(stream, box, kind);
}

mcError_t mc_copy_box(McStream *stream, const McBox *box, mcMemcpyKind kind,
                      bool sync)
{
    if (mc_capturing(stream)) {
        return sync ? mc_capture_refuse(stream)
                    : capture_copy(stream, box, kind);
    }
    mcError_t error = copy_any(stream, *box, kind, sync);

    if (sync) {
        mc_context_flush(stream->ctx);
        error = mc_context_checked(stream->ctx, error);
    }
    return error;
}

mcError_t mc_copy(McStream *stream, void *dst, const void *src, size_t size,
                  mcMemcpyKind kind, bool sync)
{
    McBox row = {
        .dst = dst,
        .src = src,
        .width = size,
        .height = 1,
        .depth = 1,
    };

    return mc_copy_box(stream, &row, kind, sync);
}

/* ---- fills and words ---- */

/* The address is one the stream's device can use for size bytes. */
static mcError_t check_device_use(int device, const void *ptr, size_t size,
                                  End *end)
{
    mcError_t error = classify(device, ptr, size, end);

    if (error != mcSuccess) {
        return error;
    }
    if (end->place == PAGEABLE || !sees(device, end)) {
        mc_error("%p is not memory that device %d can use", ptr, device);
        return mcErrorInvalidValue;
    }
    return mcSuccess;
}

/* The longest pattern that fits moves most bytes at a time. */
static void fill_packet(const McBox *box, uint32_t pattern,
                        unsigned pattern_size, union mxgpu_packet *packet)
{
    uint64_t va = (uintptr_t)box->dst;
    unsigned wide = 16;
    uint8_t *bytes;

    if (box->height == 1 && box->depth == 1) {
        while ((va | box->width) % wide) {
            wide /= 2;
        }
        *packet = (union mxgpu_packet){
            .fill = {
                .type = MXGPU_PKT_FILL,
                .pattern_size = wide,
                .dst = va,
                .size = box->width,
            },
        };
        bytes = packet->fill.pattern;
    } else {
        *packet = (union mxgpu_packet){
            .fill_rect = {
                .type = MXGPU_PKT_FILL_RECT,
                .width = box->width,
                .dst = va,
                .height = box->height,
                .depth = box->depth,
                .pitch = box->dst_pitch,
                .slice = box->dst_slice,
            },
        };
        bytes = packet->fill_rect.pattern;
    }
    for (unsigned i = 0; i < wide; i++) {
        bytes[i] = pattern >> (i % pattern_size * 8);
    }
}

/* The packet of a fill; of an empty one, *some is false. */
static mcError_t plan_fill(int device, const McBox *box, uint32_t pattern,
                           unsigned pattern_size, union mxgpu_packet *packet,
                           End *end, bool *some)
{
    McBox to = mc_box_from(*box, NULL);
    uint64_t reach, ignored;

    to.src_pitch = to.dst_pitch;
    to.src_slice = to.dst_slice;
    mcError_t error = box_normalise(&to, &reach, &ignored);
    *some = error == mcSuccess && to.width != 0;
    if (!*some) {
        return error; /* nothing lies there: as in look_at() */
    }
    error = check_device_use(device, to.dst, reach, end);
    if (error != mcSuccess) {
        return error;
    }
    if ((end->va | to.width |
         (to.height > 1 || to.depth > 1 ? to.dst_pitch : 0)) % pattern_size) {
        return mcErrorInvalidValue;
    }
    to.dst = (void *)(uintptr_t)end->va;
    fill_packet(&to, pattern, pattern_size, packet);
    return mcSuccess;
}

mcError_t mc_fill_plan(int device, const McBox *box, uint32_t pattern,
                       unsigned pattern_size, union mxgpu_packet *packet,
                       bool *some)
{
    End end;

    return plan_fill(device, box, pattern, pattern_size, packet, &end, some);
}

mcError_t mc_fill_box(McStream *stream, const McBox *box, uint32_t pattern,
                      unsigned pattern_size, bool sync)
{
    union mxgpu_packet packet;
    McSubmit submit;
    End end;
    bool some;
    mcError_t error = plan_fill(stream->ctx->device, box, pattern,
                                pattern_size, &packet, &end, &some);

    if (error != mcSuccess || !some) {
        return error;
    }
    if (mc_capturing(stream)) {
        return sync ? mc_capture_refuse(stream)
                    : mc_capture_fill(stream, box, pattern, pattern_size);
    }
    bool wait = sync && (end.place == PINNED || end.sync);
    error = mc_submit_begin(stream, 1, 0, &submit);
    if (error != mcSuccess) {
        return error;
    }
    uint64_t value = mc_submit_push(&submit, &packet,
                                    wait ? MXGPU_PKT_IRQ : 0);
    mc_submit_end(&submit);
    return wait ? mc_queue_wait(stream->queue, value, false) : mcSuccess;
}

mcError_t mc_fill(McStream *stream, void *dst, uint32_t pattern,
                  unsigned pattern_size, size_t size, bool sync)
{
    McBox row = {.dst = dst, .width = size, .height = 1, .depth = 1};

    return mc_fill_box(stream, &row, pattern, pattern_size, sync);
}

static mcError_t check_word(int device, const McWordOp *op, End *end)
{
    mcError_t error = check_device_use(device, op->ptr, op->size, end);

    return error == mcSuccess && (uintptr_t)op->ptr % op->size
               ? mcErrorInvalidValue
               : error;
}

static void word_packet(const McWordOp *op, const End *end,
                        union mxgpu_packet *packet)
{
    *packet = (union mxgpu_packet){.header = {.type = MXGPU_PKT_NOP}};
    if (op->wait) {
        packet->wait = (struct mxgpu_packet_wait){
            .type = MXGPU_PKT_WAIT,
            .size = op->size,
            .cond = op->cond,
            .addr = (uintptr_t)op->ptr,
            .value = op->value,
        };
    } else {
        packet->write = (struct mxgpu_packet_write){
            .type = MXGPU_PKT_WRITE,
            .size = op->size,
            .addr = end->va,
            .value = op->value,
        };
    }
}

mcError_t mc_word_plan(int device, const McWordOp *op,
                       union mxgpu_packet *packet)
{
    End end;
    mcError_t error = check_word(device, op, &end);

    if (error == mcSuccess) {
        word_packet(op, &end, packet);
    }
    return error;
}

mcError_t mc_word_ops(McStream *stream, const McWordOp *ops, unsigned count)
{
    union mxgpu_packet packet;
    McSubmit submit;
    End end;
    mcError_t error = mcSuccess;

    /* All are good, or none is done. */
    bool ahead = count > 1 || mc_capturing(stream);
    for (unsigned i = 0; i < count && ahead && error == mcSuccess; i++) {
        error = check_word(stream->ctx->device, &ops[i], &end);
    }
    if (mc_capturing(stream) && count && error == mcSuccess) {
        return mc_capture_words(stream, ops, count);
    }
    for (unsigned i = 0; i < count && error == mcSuccess; i++) {
        error = check_word(stream->ctx->device, &ops[i], &end);
        if (error == mcSuccess) {
            error = mc_submit_begin(stream, 1, 0, &submit);
        }
        if (error == mcSuccess) {
            word_packet(&ops[i], &end, &packet);
            mc_submit_push(&submit, &packet, 0);
            mc_submit_end(&submit);
        }
    }
    return error;
}
