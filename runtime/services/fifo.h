/* SPDX-License-Identifier: MIT */
/*
 * The host's end of the FIFO of printf (device/fifo.h). Kernels can write
 * anything anywhere in it: what counts are the copies in here, and what is no
 * record is dropped.
 */
#ifndef MC_SERVICES_FIFO_H
#define MC_SERVICES_FIFO_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "device/fifo.h"

typedef struct McFifo {
    struct mc_fifo *shared;
    uint64_t size, limit; /* bytes of the ring, and of printf's part */
    atomic_ullong tail, dropped;
    uint64_t *copy;       /* of a record */
    size_t copy_words;
    bool told;            /* that kernels have damaged it */
} McFifo;

/* Whether those who write are still at it. */
typedef enum McFifoWriters {
    MC_FIFO_RUN,     /* records may be incomplete */
    MC_FIFO_ENDED,   /* all that is before head is complete */
    MC_FIFO_ABORTED, /* what is incomplete stays so */
} McFifoWriters;

/* shared: the header and limit + MC_FIFO_SPARE bytes. */
void mc_fifo_init(McFifo *fifo, struct mc_fifo *shared, uint64_t limit);
void mc_fifo_free(McFifo *fifo);
/* Whether there is something to do. */
bool mc_fifo_news(McFifo *fifo);
/* To be read before one looks how the writers are. */
uint64_t mc_fifo_head(const McFifo *fifo);
/* Prints complete records before head; printf goes to out, messages go to
 * err. By one thread at a time. */
void mc_fifo_drain(McFifo *fifo, uint64_t head, McFifoWriters writers,
                   FILE *out, FILE *err);

#endif
