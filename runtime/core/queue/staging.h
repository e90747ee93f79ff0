/* SPDX-License-Identifier: MIT */
/*
 * Pinned chunks that copies of pageable memory go through. They stay pinned
 * and mapped between copies.
 */
#ifndef MC_CORE_STAGING_H
#define MC_CORE_STAGING_H

#include "queue.h"

#define MC_CHUNK_SIZE (512u << 10)

typedef struct McChunk {
    struct McChunk *next;
    uint8_t *memory; /* the device has it at the same address */
    bool busy;       /* a thread has it */
    McQueue *queue;  /* uses it until value is reached; NULL: nobody does */
    uint64_t value;
} McChunk;

mcError_t mc_staging_new(McContext *ctx, McStaging **out);
void mc_staging_free(McStaging *staging);

/*
 * A chunk nobody uses. When there is none, one that the device is working on
 * now is waited for; when all belong to work that has not begun, which may wait
 * for the caller, more memory is pinned. Only where that fails the caller waits
 * for work that has not begun.
 */
mcError_t mc_chunk_get(McStaging *staging, McChunk **out);
/* The same without any waiting and pinning: NULL when there is none. */
McChunk *mc_chunk_try(McStaging *staging);
/* It is in use until the queue reaches value; queue NULL: no more. */
void mc_chunk_put(McStaging *staging, McChunk *chunk, McQueue *queue,
                  uint64_t value);

#endif
