/* SPDX-License-Identifier: MIT */
#include "copy.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "host_memory.h"
#include "log.h"
#include "range.h"
#include "services.h"

/* ---- pinned chunks ---- */

#define CHUNKS     8
#define CHUNK_SIZE (512u << 10)
#define POOL_SIZE  (CHUNKS * CHUNK_SIZE)

typedef struct Chunk {
    uint8_t *memory;
    bool busy;      /* a thread has it */
    McQueue *queue; /* uses it until value is reached; NULL: nobody does */
    uint64_t value;
} Chunk;

struct McStaging {
    McContext *ctx;
    pthread_mutex_t lock;
    pthread_cond_t freed;
    McPinned pinned; /* nothing until first needed */
    unsigned next;
    Chunk chunks[CHUNKS];
};

mcError_t mc_staging_new(McContext *ctx, McStaging **out)
{
    McStaging *staging = calloc(1, sizeof(*staging));

    if (!staging) {
        return mcErrorMemoryAllocation;
    }
    staging->ctx = ctx;
    pthread_mutex_init(&staging->lock, NULL);
    pthread_cond_init(&staging->freed, NULL);
    *out = staging;
    return mcSuccess;
}

void mc_staging_free(McStaging *staging)
{
    if (!staging) {
        return;
    }
    McContext *ctx = staging->ctx;
    mc_pinned_free(ctx, &staging->pinned);
    pthread_cond_destroy(&staging->freed);
    pthread_mutex_destroy(&staging->lock);
    free(staging);
}

/* Under the lock. */
static mcError_t staging_fill(McStaging *staging)
{
    int err = mc_pinned_new(staging->ctx, POOL_SIZE, &staging->pinned);

    if (err) {
        return mc_error_from_kmd(err);
    }
    for (unsigned i = 0; i < CHUNKS; i++) {
        staging->chunks[i].memory = (uint8_t *)staging->pinned.memory +
                                    i * CHUNK_SIZE;
    }
    return mcSuccess;
}

/*
 * A chunk nobody uses, in turn, so that the oldest is waited for. One who has
 * a chunk must not wait for another: *out is NULL then when all are taken.
 */
static mcError_t chunk_get(McStaging *staging, bool wait, Chunk **out)
{
    Chunk *chunk = NULL;
    mcError_t error = mcSuccess;

    *out = NULL;
    pthread_mutex_lock(&staging->lock);
    if (!staging->pinned.memory) {
        error = staging_fill(staging);
    }
    while (error == mcSuccess && !chunk) {
        for (unsigned i = 0; i < CHUNKS && !chunk; i++) {
            Chunk *c = &staging->chunks[(staging->next + i) % CHUNKS];

            if (!c->busy && (wait || !c->queue ||
                             mc_queue_reached(c->queue, c->value))) {
                chunk = c;
                staging->next = (staging->next + i + 1) % CHUNKS;
            }
        }
        if (!chunk) {
            if (!wait) {
                break;
            }
            pthread_cond_wait(&staging->freed, &staging->lock);
        }
    }
    if (chunk) {
        chunk->busy = true;
    }
    pthread_mutex_unlock(&staging->lock);
    if (chunk && chunk->queue) {
        error = mc_queue_wait(chunk->queue, chunk->value, false);
        chunk->queue = NULL;
        if (error != mcSuccess) {
            pthread_mutex_lock(&staging->lock);
            chunk->busy = false;
            pthread_cond_signal(&staging->freed);
            pthread_mutex_unlock(&staging->lock);
            return error;
        }
    }
    *out = chunk;
    return error;
}

static void chunk_put(McStaging *staging, Chunk *chunk)
{
    pthread_mutex_lock(&staging->lock);
    chunk->busy = false;
    pthread_cond_signal(&staging->freed);
    pthread_mutex_unlock(&staging->lock);
}

/* ---- packets ---- */

/* Copies up to this are done before their waiter would sleep; they raise no
 * interrupt. */
#define SPIN_SIZE (64u << 10)

static mcError_t submit_copy(McStream *stream, uint64_t dst, uint64_t src,
                             size_t size, bool irq, uint64_t *value)
{
    McSubmit submit;
    mcError_t error = mc_submit_begin(stream, 1, 0, &submit);

    if (error != mcSuccess) {
        return error;
    }
    union mxgpu_packet packet = {
        .copy = {
            .type = MXGPU_PKT_COPY,
            .src = src,
            .dst = dst,
            .size = size,
        },
    };
    *value = mc_submit_push(&submit, &packet, irq ? MXGPU_PKT_IRQ : 0);
    mc_submit_end(&submit);
    return mcSuccess;
}

/* Small uploads travel like arguments. */
static mcError_t upload_small(McStream *stream, uint64_t dst, const void *src,
                              size_t size, uint64_t *value)
{
    McSubmit submit;
    mcError_t error = mc_submit_begin(stream, 1, size, &submit);

    if (error != mcSuccess) {
        return error;
    }
    memcpy(submit.stage, src, size);
    union mxgpu_packet packet = {
        .copy = {
            .type = MXGPU_PKT_COPY,
            .src = (uintptr_t)submit.stage,
            .dst = dst,
            .size = size,
        },
    };
    *value = mc_submit_push(&submit, &packet, 0);
    mc_submit_end(&submit);
    return mcSuccess;
}

#define UPLOAD_SMALL 4096u

/* From pageable memory; returns when it has been read. */
static mcError_t upload(McStream *stream, uint64_t dst, const uint8_t *src,
                        size_t size, uint64_t *value)
{
    McStaging *staging = stream->ctx->staging;

    if (size <= UPLOAD_SMALL) {
        return upload_small(stream, dst, src, size, value);
    }
    while (size) {
        size_t part = size < CHUNK_SIZE ? size : CHUNK_SIZE;
        Chunk *chunk;
        mcError_t error = chunk_get(staging, true, &chunk);

        if (error != mcSuccess) {
            return error;
        }
        memcpy(chunk->memory, src, part);
        error = submit_copy(stream, dst, (uintptr_t)chunk->memory, part,
                            part == size, value);
        if (error == mcSuccess) {
            chunk->queue = stream->queue;
            chunk->value = *value;
        }
        chunk_put(staging, chunk);
        if (error != mcSuccess) {
            return error;
        }
        dst += part;
        src += part;
        size -= part;
    }
    return mcSuccess;
}

/* To pageable memory; returns when it is there. While one chunk is copied out
 * the engine fills the next. */
static mcError_t download(McStream *stream, uint8_t *dst, uint64_t src,
                          size_t size)
{
    enum { DEPTH = 3 };
    struct {
        Chunk *chunk;
        uint64_t value;
        size_t size;
    } flight[DEPTH];
    unsigned first = 0, count = 0;
    McStaging *staging = stream->ctx->staging;
    mcError_t error = mcSuccess;

    while ((size && error == mcSuccess) || count) {
        Chunk *chunk = NULL;

        if (size && error == mcSuccess && count < DEPTH) {
            error = chunk_get(staging, count == 0, &chunk);
        }
        if (chunk) {
            size_t part = size < CHUNK_SIZE ? size : CHUNK_SIZE;
            uint64_t value;

            error = submit_copy(stream, (uintptr_t)chunk->memory, src, part,
                                part > SPIN_SIZE, &value);
            if (error != mcSuccess) {
                chunk_put(staging, chunk);
                continue;
            }
            unsigned slot = (first + count++) % DEPTH;
            flight[slot].chunk = chunk;
            flight[slot].value = value;
            flight[slot].size = part;
            src += part;
            size -= part;
            continue;
        }
        if (count) {
            chunk = flight[first].chunk;
            mcError_t waited = mc_queue_wait(stream->queue,
                                             flight[first].value, false);
            if (error == mcSuccess) {
                error = waited;
            }
            if (error == mcSuccess) {
                memcpy(dst, chunk->memory, flight[first].size);
                dst += flight[first].size;
            }
            if (waited != mcSuccess) {
                /* The engine may still write to it. */
                chunk->queue = stream->queue;
                chunk->value = flight[first].value;
            }
            chunk_put(staging, chunk);
            first = (first + 1) % DEPTH;
            count--;
        }
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
    uint64_t va; /* where the device may write it */
} End;

static mcError_t classify(const void *ptr, size_t size, End *end)
{
    McRange range;

    end->va = (uintptr_t)ptr;
    if (!mc_range_find((uintptr_t)ptr, &range)) {
        end->place = PAGEABLE;
        end->device = -1;
        return mcSuccess;
    }
    end->device = range.device;
    end->place = range.kind == MC_RANGE_HOST || range.kind ==
                 MC_RANGE_REGISTERED ? PINNED : ON_DEVICE;
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
    default:
        return mcErrorInvalidMemcpyDirection;
    }
    if (!ok) {
        mc_error("copy of kind %d: an address is not what the kind says",
                 (int)kind);
    }
    return ok ? mcSuccess : mcErrorInvalidValue;
}

/* ---- copies ---- */

static mcError_t copy_local(McStream *stream, void *dst, const End *to,
                            const void *src, const End *from, size_t size,
                            bool sync)
{
    uint64_t value = 0;
    mcError_t error;

    if (to->place == PAGEABLE) {
        return download(stream, dst, (uintptr_t)src, size);
    }
    if (from->place == PAGEABLE) {
        error = upload(stream, to->va, src, size, &value);
    } else {
        bool wait = sync && (to->place == PINNED || from->place == PINNED);

        error = submit_copy(stream, to->va, (uintptr_t)src, size,
                            wait && size > SPIN_SIZE, &value);
        sync = wait;
    }
    if (error == mcSuccess && sync) {
        error = mc_queue_wait(stream->queue, value, false);
    }
    return error;
}

/* One half of a copy that another device must make, through its own default
 * stream; complete when it returns. */
static mcError_t copy_on(int device, void *dst, const void *src, size_t size)
{
    McContext *ctx;
    mcError_t error = mc_context_open(device, &ctx);

    if (error != mcSuccess) {
        return error;
    }
    error = mc_copy(ctx->null_stream, dst, src, size, mcMemcpyDefault, true);
    if (error == mcSuccess) {
        error = mc_stream_sync(ctx->null_stream);
    }
    mc_context_put(ctx);
    return error;
}

#define BOUNCE_SIZE (4u << 20)

/* Devices do not reach each other: the host carries it over, in order with
 * the stream because it waits for it. */
static mcError_t copy_remote(McStream *stream, uint8_t *dst, const End *to,
                             const uint8_t *src, const End *from, size_t size)
{
    mcError_t error = mc_stream_sync(stream);

    if (error != mcSuccess) {
        return error;
    }
    if (to->place != ON_DEVICE) {
        return copy_on(from->device, dst, src, size);
    }
    if (from->place != ON_DEVICE || from->device == to->device) {
        return copy_on(to->device, dst, src, size);
    }
    uint8_t *bounce = malloc(size < BOUNCE_SIZE ? size : BOUNCE_SIZE);
    if (!bounce) {
        return mcErrorMemoryAllocation;
    }
    while (size && error == mcSuccess) {
        size_t part = size < BOUNCE_SIZE ? size : BOUNCE_SIZE;

        error = copy_on(from->device, bounce, src, part);
        if (error == mcSuccess) {
            error = copy_on(to->device, dst, bounce, part);
        }
        src += part;
        dst += part;
        size -= part;
    }
    free(bounce);
    return error;
}

static mcError_t copy_any(McStream *stream, void *dst, const void *src,
                          size_t size, mcMemcpyKind kind, bool sync)
{
    End to, from;
    int device = stream->ctx->device;

    /* Nothing lies at its addresses: one may be NULL, or the end of an
     * allocation. */
    if (size == 0) {
        return mcSuccess;
    }
    mcError_t error = classify(dst, size, &to);
    if (error == mcSuccess) {
        error = classify(src, size, &from);
    }
    if (error == mcSuccess) {
        error = check_kind(kind, &to, &from);
    }
    if (error != mcSuccess) {
        return error;
    }
    if (to.place != ON_DEVICE && from.place != ON_DEVICE) {
        error = mc_stream_sync(stream);
        if (error == mcSuccess) {
            memmove(dst, src, size);
        }
        return error;
    }
    if ((to.place == ON_DEVICE && to.device != device) ||
        (from.place == ON_DEVICE && from.device != device)) {
        return copy_remote(stream, dst, &to, src, &from, size);
    }
    return copy_local(stream, dst, &to, src, &from, size, sync);
}

mcError_t mc_copy(McStream *stream, void *dst, const void *src, size_t size,
                  mcMemcpyKind kind, bool sync)
{
    mcError_t error = copy_any(stream, dst, src, size, kind, sync);

    if (sync) {
        mc_services_flush(stream->ctx);
    }
    return error;
}

/* ---- fills and words ---- */

/* The address is one the stream's device can use for size bytes. */
static mcError_t check_device_use(McStream *stream, const void *ptr,
                                  size_t size, End *end)
{
    mcError_t error = classify(ptr, size, end);

    if (error != mcSuccess) {
        return error;
    }
    if (end->place == PAGEABLE ||
        (end->place == ON_DEVICE && end->device != stream->ctx->device)) {
        mc_error("%p is not memory that device %d can use", ptr,
                 stream->ctx->device);
        return mcErrorInvalidValue;
    }
    return mcSuccess;
}

mcError_t mc_fill(McStream *stream, void *dst, uint32_t pattern,
                  unsigned pattern_size, size_t size, bool sync)
{
    uint64_t va;
    End end;
    mcError_t error = check_device_use(stream, dst, size, &end);

    va = end.va;
    if (error == mcSuccess && (va | size) % pattern_size) {
        error = mcErrorInvalidValue;
    }
    if (error != mcSuccess || size == 0) {
        return error;
    }
    union mxgpu_packet packet = {
        .fill = {.type = MXGPU_PKT_FILL, .dst = va, .size = size},
    };
    /* The longest pattern that fits moves most bytes at a time. */
    unsigned wide = 16;
    while ((va | size) % wide) {
        wide /= 2;
    }
    packet.fill.pattern_size = wide;
    for (unsigned i = 0; i < wide; i++) {
        packet.fill.pattern[i] = pattern >> (i % pattern_size * 8);
    }
    McSubmit submit;
    bool wait = sync && end.place == PINNED;
    error = mc_submit_begin(stream, 1, 0, &submit);
    if (error != mcSuccess) {
        return error;
    }
    uint64_t value = mc_submit_push(&submit, &packet,
                                    wait ? MXGPU_PKT_IRQ : 0);
    mc_submit_end(&submit);
    return wait ? mc_queue_wait(stream->queue, value, false) : mcSuccess;
}

static mcError_t submit_value(McStream *stream, void *ptr, unsigned word_size,
                              union mxgpu_packet *packet)
{
    McSubmit submit;
    End end;
    mcError_t error = check_device_use(stream, ptr, word_size, &end);

    if (error == mcSuccess && (uintptr_t)ptr % word_size) {
        error = mcErrorInvalidValue;
    }
    if (error == mcSuccess && packet->header.type == MXGPU_PKT_WRITE) {
        packet->write.addr = end.va;
    }
    if (error == mcSuccess) {
        error = mc_submit_begin(stream, 1, 0, &submit);
    }
    if (error == mcSuccess) {
        mc_submit_push(&submit, packet, 0);
        mc_submit_end(&submit);
    }
    return error;
}

mcError_t mc_write_value(McStream *stream, void *ptr, uint64_t value,
                         unsigned word_size)
{
    union mxgpu_packet packet = {
        .write = {
            .type = MXGPU_PKT_WRITE,
            .size = word_size,
            .addr = (uintptr_t)ptr,
            .value = value,
        },
    };

    return submit_value(stream, ptr, word_size, &packet);
}

mcError_t mc_wait_value(McStream *stream, void *ptr, uint64_t value,
                        unsigned word_size, enum mxgpu_wait_cond cond)
{
    union mxgpu_packet packet = {
        .wait = {
            .type = MXGPU_PKT_WAIT,
            .size = word_size,
            .cond = cond,
            .addr = (uintptr_t)ptr,
            .value = value,
        },
    };

    return submit_value(stream, ptr, word_size, &packet);
}
