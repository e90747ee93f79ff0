/* SPDX-License-Identifier: MIT */
#include "staging.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "core/context/error.h"
#include "wait.h"

#define POOL_CHUNKS 8u
#define POOL_SIZE   (POOL_CHUNKS * MC_CHUNK_SIZE)
#define POOLS_KEPT  2u /* when they are idle */

typedef struct Pool {
    struct Pool *next;
    McPinned pinned;
    McChunk chunks[POOL_CHUNKS];
} Pool;

struct McStaging {
    McContext *ctx;
    pthread_mutex_t lock;
    pthread_cond_t freed;
    Pool *pools;
    unsigned count, most;   /* pools */
    McChunk *first, **last; /* of all pools, the one used longest ago first */
};

mcError_t mc_staging_new(McContext *ctx, McStaging **out)
{
    McStaging *staging = calloc(1, sizeof(*staging));
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    if (!staging) {
        return mcErrorMemoryAllocation;
    }
    staging->ctx = ctx;
    /* A quarter of the machine's memory. */
    staging->most = pages > 0 && page > 0
                        ? (uint64_t)pages * page / 4 / POOL_SIZE + 1
                        : 16;
    staging->last = &staging->first;
    pthread_mutex_init(&staging->lock, NULL);
    pthread_cond_init(&staging->freed, NULL);
    *out = staging;
    return mcSuccess;
}

static void pools_free(McContext *ctx, Pool *pool)
{
    while (pool) {
        Pool *next = pool->next;

        mc_pinned_free(ctx, &pool->pinned);
        free(pool);
        pool = next;
    }
}

void mc_staging_free(McStaging *staging)
{
    if (!staging) {
        return;
    }
    pools_free(staging->ctx, staging->pools);
    pthread_cond_destroy(&staging->freed);
    pthread_mutex_destroy(&staging->lock);
    free(staging);
}

/* ---- the list of chunks: under the lock ---- */

static void append(McStaging *staging, McChunk *chunk)
{
    chunk->next = NULL;
    *staging->last = chunk;
    staging->last = &chunk->next;
}

static McChunk *take(McStaging *staging, McChunk **link)
{
    McChunk *chunk = *link;

    *link = chunk->next;
    if (!*link) {
        staging->last = link;
    }
    append(staging, chunk);
    chunk->busy = true;
    return chunk;
}

static bool is_idle(const McChunk *chunk)
{
    return !chunk->busy &&
           (!chunk->queue || mc_queue_reached(chunk->queue, chunk->value));
}

/* The packet that uses the chunk is the one its queue executes now: those of a
 * queue run one after another, so all before it are complete. */
static bool is_running(const McChunk *chunk)
{
    return !chunk->busy && mc_queue_word(chunk->queue) + 1 >= chunk->value;
}

static bool is_waiting(const McChunk *chunk)
{
    return !chunk->busy;
}

static McChunk *find(McStaging *staging, bool (*fits)(const McChunk *chunk))
{
    for (McChunk **link = &staging->first; *link; link = &(*link)->next) {
        if (fits(*link)) {
            return take(staging, link);
        }
    }
    return NULL;
}

/* ---- pools ---- */

/* Not under the lock: pinning takes its time. */
static mcError_t grow(McStaging *staging)
{
    Pool *pool = calloc(1, sizeof(*pool));
    int err = pool ? mc_pinned_new(staging->ctx, POOL_SIZE, &pool->pinned)
                   : -ENOMEM;

    if (err) {
        free(pool);
        return mc_error_from_kmd(err);
    }
    pthread_mutex_lock(&staging->lock);
    pool->next = staging->pools;
    staging->pools = pool;
    staging->count++;
    for (unsigned i = 0; i < POOL_CHUNKS; i++) {
        pool->chunks[i].memory = (uint8_t *)pool->pinned.memory +
                                 i * MC_CHUNK_SIZE;
        append(staging, &pool->chunks[i]);
    }
    pthread_mutex_unlock(&staging->lock);
    return mcSuccess;
}

static bool pool_idle(const Pool *pool)
{
    for (unsigned i = 0; i < POOL_CHUNKS; i++) {
        if (!is_idle(&pool->chunks[i])) {
            return false;
        }
    }
    return true;
}

static void drop_chunks(McStaging *staging, const Pool *pool)
{
    McChunk **link = &staging->first;

    while (*link) {
        McChunk *chunk = *link;

        if (chunk >= pool->chunks && chunk < pool->chunks + POOL_CHUNKS) {
            *link = chunk->next;
        } else {
            link = &chunk->next;
        }
    }
    staging->last = link;
}

/* Unlinks idle pools while there are more than POOLS_KEPT, for the caller to
 * free. Under the lock. */
static Pool *trim(McStaging *staging)
{
    Pool *out = NULL;

    for (Pool **link = &staging->pools;
         *link && staging->count > POOLS_KEPT;) {
        Pool *pool = *link;

        if (!pool_idle(pool)) {
            link = &pool->next;
            continue;
        }
        *link = pool->next;
        staging->count--;
        drop_chunks(staging, pool);
        pool->next = out;
        out = pool;
    }
    return out;
}

/* ---- chunks ---- */

McChunk *mc_chunk_try(McStaging *staging)
{
    pthread_mutex_lock(&staging->lock);
    McChunk *chunk = find(staging, is_idle);
    pthread_mutex_unlock(&staging->lock);
    return chunk;
}

/* In this order: a chunk that is idle, one that a packet uses which runs, one
 * of a new pool, one whose packet waits. mcSuccess with *out NULL: threads are
 * filling or reading all of them; wait until one is done. */
static mcError_t choose(McStaging *staging, McChunk **out)
{
    mcError_t error = mcSuccess;

    *out = find(staging, is_idle);
    if (!*out) {
        *out = find(staging, is_running);
    }
    if (*out) {
        return mcSuccess;
    }
    if (staging->count < staging->most) {
        pthread_mutex_unlock(&staging->lock);
        error = grow(staging);
        pthread_mutex_lock(&staging->lock);
        if (error == mcSuccess) {
            *out = find(staging, is_idle);
            return mcSuccess;
        }
    }
    if (staging->pools) {
        *out = find(staging, is_waiting);
        return mcSuccess;
    }
    return error;
}

mcError_t mc_chunk_get(McStaging *staging, McChunk **out)
{
    mcError_t error;

    pthread_mutex_lock(&staging->lock);
    while ((error = choose(staging, out)) == mcSuccess && !*out) {
        pthread_cond_wait(&staging->freed, &staging->lock);
    }
    pthread_mutex_unlock(&staging->lock);
    if (error == mcSuccess && (*out)->queue) {
        error = mc_queue_wait((*out)->queue, (*out)->value, false);
        if (error != mcSuccess) {
            mc_chunk_put(staging, *out, (*out)->queue, (*out)->value);
            *out = NULL;
        }
    }
    return error;
}

void mc_chunk_put(McStaging *staging, McChunk *chunk, McQueue *queue,
                  uint64_t value)
{
    Pool *out = NULL;

    pthread_mutex_lock(&staging->lock);
    chunk->queue = queue;
    chunk->value = value;
    chunk->busy = false;
    if (staging->count > POOLS_KEPT) {
        out = trim(staging);
    }
    pthread_cond_signal(&staging->freed);
    pthread_mutex_unlock(&staging->lock);
    pools_free(staging->ctx, out);
}
