/* SPDX-License-Identifier: MIT */
/* A whole FIFO as kernels could leave it, read several times. */
#ifndef FUZZ_FIFO_H
#define FUZZ_FIFO_H

#include <stdlib.h>
#include <string.h>

#include "services/fifo.h"

#define FUZZ_FIFO_LIMIT 256u

/*
 * Each round: a byte for how the writers are, one that says how far head goes,
 * one for what of the header is overwritten, then up to 32 words of the ring,
 * each a byte for what it is and, where that says so, 8 bytes.
 */
static inline size_t fuzz_fifo_round(McFifo *fifo, const uint8_t *data,
                                     size_t size, FILE *sink)
{
    struct mc_fifo *shared = fifo->shared;
    size_t at = 3;

    if (size < 3) {
        return 0;
    }
    uint64_t from = shared->head;
    shared->head += data[1] * 8u;
    if (data[2] < 5) {
        ((uint64_t *)shared)[data[2] < 4 ? 8 + data[2] : 0] = from * data[1];
    }
    for (unsigned i = 0; i < 32 && at < size; i++) {
        uint64_t *word = &shared->ring[(from / 8 + i) % (fifo->size / 8)];
        uint8_t kind = data[at++];

        if (kind & 1 && size - at >= 8) {
            memcpy(word, data + at, 8);
            at += 8;
        } else if (kind & 2) {
            *word = MC_RECORD((kind >> 4) * 8, 1 + (kind >> 2 & 1),
                              1 + (kind >> 3 & 1));
        }
    }
    /* Nobody writes meanwhile: no need to wait for first words. */
    mc_fifo_drain(fifo, mc_fifo_head(fifo),
                  data[0] & 1 ? MC_FIFO_ENDED : MC_FIFO_ABORTED, sink, sink);
    if (shared->head != shared->tail || mc_fifo_news(fifo)) {
        abort();
    }
    return at;
}

static inline void fuzz_fifo(const uint8_t *data, size_t size, FILE *sink)
{
    struct mc_fifo *shared = malloc(sizeof(*shared) + FUZZ_FIFO_LIMIT +
                                    MC_FIFO_SPARE);
    McFifo fifo;
    size_t used;

    mc_fifo_init(&fifo, shared, FUZZ_FIFO_LIMIT);
    do {
        used = fuzz_fifo_round(&fifo, data, size, sink);
        data += used;
        size -= used;
    } while (used);
    mc_fifo_free(&fifo);
    free(shared);
}

#endif
