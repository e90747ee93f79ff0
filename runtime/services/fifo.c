/* SPDX-License-Identifier: MIT */
#include "fifo.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "print.h"

/* How long records whose room is reserved may have no first word. */
#define HEADER_NS 20000000ull

void mc_fifo_init(McFifo *fifo, struct mc_fifo *shared, uint64_t limit)
{
    *fifo = (McFifo){
        .shared = shared,
        .size = limit + MC_FIFO_SPARE,
        .limit = limit,
    };
    memset(shared, 0, sizeof(*shared) + fifo->size);
    shared->size = fifo->size;
    shared->limit = limit;
}

void mc_fifo_free(McFifo *fifo)
{
    free(fifo->copy);
    fifo->copy = NULL;
}

uint64_t mc_fifo_head(const McFifo *fifo)
{
    return __atomic_load_n(&fifo->shared->head, __ATOMIC_ACQUIRE);
}

static uint64_t look(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

bool mc_fifo_news(McFifo *fifo)
{
    return mc_fifo_head(fifo) != atomic_load(&fifo->tail) ||
           look(&fifo->shared->dropped) != atomic_load(&fifo->dropped) ||
           look(&fifo->shared->size) != fifo->size ||
           look(&fifo->shared->limit) != fifo->limit;
}

/* ---- a walk from tail to head ---- */

typedef struct Walk {
    McFifo *fifo;
    McFifoWriters writers;
    uint64_t head, tail;
    bool all;       /* up to here nothing is left: tail follows */
    uint64_t start; /* of waiting for first words */
    bool waited;    /* long enough */
    bool damaged;
    FILE *out, *err;
} Walk;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Word of the ring at a count. */
static uint64_t *word_at(const McFifo *fifo, uint64_t at)
{
    return &fifo->shared->ring[at % fifo->size / 8];
}

/* The first word of a record. 0: it is only reserved, or was written over;
 * the walk waits a moment to see which. */
static uint64_t first_word(Walk *w, uint64_t at)
{
    uint64_t *word = word_at(w->fifo, at), value;

    while (!(value = __atomic_load_n(word, __ATOMIC_ACQUIRE)) &&
           w->writers == MC_FIFO_RUN && !w->waited) {
        uint64_t now = now_ns();

        w->start = w->start ? w->start : now;
        w->waited = now - w->start > HEADER_NS;
        sched_yield();
    }
    return value;
}

/* Kernels may go on writing: what is printed is a copy. */
static void print_record(Walk *w, uint64_t at, uint64_t first)
{
    McFifo *fifo = w->fifo;
    size_t words = MC_RECORD_SIZE(first) / 8;

    if (words > fifo->copy_words) {
        uint64_t *more = realloc(fifo->copy, words * sizeof(*more));

        if (!more) {
            fprintf(w->err, "printf: no memory for a line of %zu bytes\n",
                    words * 8);
            return;
        }
        fifo->copy = more;
        fifo->copy_words = words;
    }
    fifo->copy[0] = first;
    for (size_t i = 1; i < words; i++) {
        fifo->copy[i] = look(word_at(fifo, at + 8 * i));
    }
    mc_print_record(fifo->copy, words, w->out, w->err);
}

static void clear(McFifo *fifo, uint64_t from, uint64_t to)
{
    for (; from != to; from += 8) {
        __atomic_store_n(word_at(fifo, from), 0, __ATOMIC_RELAXED);
    }
}

static bool is_record(uint64_t first, uint64_t room)
{
    uint64_t size = MC_RECORD_SIZE(first);
    unsigned state = MC_RECORD_STATE(first);

    return MC_RECORD_VALID(first) && size >= 8 && size % 8 == 0 &&
           size <= room && state >= MC_RECORD_OPEN && state <= MC_RECORD_DONE;
}

/*
 * A record that is not complete: its room is not given back while it may become
 * so. When all who could write it have ended, somebody else wrote there.
 */
static void incomplete(Walk *w)
{
    w->all = w->all && w->writers != MC_FIFO_RUN;
    w->damaged |= w->writers == MC_FIFO_ENDED;
}

/* The record at a count, or one word of what is none; returns its size. */
static uint64_t step(Walk *w, uint64_t at)
{
    uint64_t first = first_word(w, at), size = MC_RECORD_SIZE(first);

    if (!is_record(first, w->head - at)) {
        size = 8;
        if (first) {
            w->damaged = true;
        } else {
            incomplete(w);
        }
    } else if (MC_RECORD_STATE(first) == MC_RECORD_READY) {
        print_record(w, at, first);
        if (!w->all) {
            __atomic_store_n(word_at(w->fifo, at),
                             MC_RECORD(size, 0, MC_RECORD_DONE),
                             __ATOMIC_RELAXED);
        }
    } else if (MC_RECORD_STATE(first) == MC_RECORD_OPEN) {
        incomplete(w);
    }
    return size;
}

/*
 * Room is given back up to the first record that is not complete; those behind
 * it are printed and marked.
 */
static void walk(Walk *w)
{
    for (uint64_t at = w->tail, size; at != w->head; at += size) {
        size = step(w, at);
        if (w->all) {
            clear(w->fifo, at, at + size);
            w->tail = at + size;
        }
    }
}

static void report_dropped(McFifo *fifo, FILE *err)
{
    uint64_t dropped = look(&fifo->shared->dropped);
    uint64_t lost = dropped - atomic_load(&fifo->dropped);

    if (lost) {
        fprintf(err, "printf: %llu line%s lost, the FIFO of %llu bytes was "
                "full (mcLimitPrintfFifoSize)\n", (unsigned long long)lost,
                lost == 1 ? "" : "s", (unsigned long long)fifo->limit);
    }
    atomic_store(&fifo->dropped, dropped);
}

/* What kernels only read; whether it was as it should be. */
static bool restore(uint64_t *word, uint64_t value)
{
    bool same = look(word) == value;

    if (!same) {
        __atomic_store_n(word, value, __ATOMIC_RELAXED);
    }
    return same;
}

void mc_fifo_drain(McFifo *fifo, uint64_t head, McFifoWriters writers,
                   FILE *out, FILE *err)
{
    struct mc_fifo *shared = fifo->shared;
    Walk w = {
        .fifo = fifo,
        .writers = writers,
        .head = head,
        .tail = atomic_load(&fifo->tail),
        .all = true,
        .out = out,
        .err = err,
    };

    w.damaged |= !restore(&shared->size, fifo->size);
    w.damaged |= !restore(&shared->limit, fifo->limit);
    if (head - w.tail > fifo->size || head % 8) {
        /* Records may be anywhere; what is none now will not be found again. */
        w.damaged = true;
        w.writers = MC_FIFO_ABORTED;
        w.head = w.tail + fifo->size;
        __atomic_store_n(&shared->head, w.head, __ATOMIC_RELAXED);
    }
    walk(&w);
    atomic_store(&fifo->tail, w.tail);
    __atomic_store_n(&shared->tail, w.tail, __ATOMIC_RELEASE);
    report_dropped(fifo, err);
    if (w.damaged && !fifo->told) {
        fputs("printf: kernels have written over the FIFO; lines are missing or"
              " wrong\n", err);
        fifo->told = true;
    }
}
