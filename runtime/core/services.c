/* SPDX-License-Identifier: MIT */
#include "services.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/fifo.h"
#include "device/heap.h"
#include "log.h"
#include "mxgpu/pte.h"
#include "print.h"
#include "range.h"

#define PERMS (MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC)

/* How long a record whose room is reserved may have no first word. */
#define HEADER_NS 20000000ull

struct McServices {
    McContext *ctx;
    pthread_mutex_t lock; /* sizes; making and telling */
    size_t fifo_bytes, heap_bytes;
    McMapping fifo, heap;

    /* Printing. The device's copies of these are not looked at. */
    pthread_mutex_t print;
    _Atomic(struct mc_fifo *) ring; /* NULL: none yet */
    uint64_t size;                  /* bytes of the ring */
    atomic_ullong tail, dropped;
    uint64_t *copy;                 /* of a record */
    size_t copy_words;
};

mcError_t mc_services_new(McContext *ctx, McServices **out)
{
    McServices *s = calloc(1, sizeof(*s));

    if (!s) {
        return mcErrorMemoryAllocation;
    }
    s->ctx = ctx;
    s->fifo_bytes = MC_FIFO_DEFAULT;
    s->heap_bytes = MC_HEAP_DEFAULT;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->print, NULL);
    *out = s;
    return mcSuccess;
}

static void drop(McServices *s, McMapping *mapping)
{
    if (mapping->bo) {
        mc_range_remove(mapping->va, NULL);
        mc_mapping_free(s->ctx, mapping);
    }
}

/* ---- making ---- */

/* Copies may name it, mcFree may not. */
static mcError_t make(McServices *s, uint64_t size, McMapping *out)
{
    mcError_t error = mc_mapping_new(s->ctx, size, PERMS, out);
    McRange range = {
        .base = out->va,
        .size = out->size,
        .kind = MC_RANGE_MODULE,
        .device = s->ctx->device,
    };

    if (error == mcSuccess && !mc_range_add(&range)) {
        mc_mapping_free(s->ctx, out);
        error = mcErrorMemoryAllocation;
    }
    return error;
}

static mcError_t make_fifo(McServices *s)
{
    uint64_t size = s->fifo_bytes + MC_FIFO_SPARE;
    mcError_t error = make(s, sizeof(struct mc_fifo) + size, &s->fifo);

    if (error != mcSuccess) {
        mc_error("device %d: no memory for a printf FIFO of %zu bytes",
                 s->ctx->device, s->fifo_bytes);
        return error;
    }
    struct mc_fifo *f = s->ctx->ops->cpu(s->fifo.bo);
    memset(f, 0, sizeof(*f) + size);
    f->size = size;
    f->limit = s->fifo_bytes;
    s->size = size;
    atomic_store(&s->ring, f);
    return mcSuccess;
}

static mcError_t make_heap(McServices *s)
{
    uint64_t pages = s->heap_bytes / MC_HEAP_PAGE;
    uint64_t start = sizeof(struct mc_heap) +
                     pages * sizeof(struct mc_heap_page);

    start = (start + MC_HEAP_PAGE - 1) & ~(uint64_t)(MC_HEAP_PAGE - 1);
    mcError_t error = make(s, start + pages * MC_HEAP_PAGE, &s->heap);
    if (error != mcSuccess) {
        mc_error("device %d: no memory for a heap of %zu bytes",
                 s->ctx->device, s->heap_bytes);
        return error;
    }
    struct mc_heap *h = s->ctx->ops->cpu(s->heap.bo);
    memset(h, 0, start);
    h->pages = pages;
    h->base = s->heap.va + start;
    h->run_top = pages;
    return mcSuccess;
}

/* Writes an address to a variable of the device's library. */
static mcError_t tell(McModule *module, const char *name, uint64_t address)
{
    uint64_t va, size;

    if (!mc_module_global(module, name, &va, &size) ||
        size != sizeof(address) || va % sizeof(address)) {
        mc_error("the module has no variable %s: not linked by this mxcc",
                 name);
        return mcErrorInvalidKernelImage;
    }
    uint8_t *memory = module->ctx->ops->cpu(module->mapping.bo);
    __atomic_store_n((uint64_t *)(memory + (va - module->mapping.va)), address,
                     __ATOMIC_RELEASE);
    return mcSuccess;
}

mcError_t mc_services_bind(McFunction *function)
{
    McModule *module = function->module;
    McServices *s = module->ctx->services;
    unsigned missing = function->uses & ~atomic_load(&module->bound);
    mcError_t error = mcSuccess;

    pthread_mutex_lock(&s->lock);
    if (missing & MXGPU_KERNEL_USES_FIFO) {
        error = s->fifo.bo ? mcSuccess : make_fifo(s);
        if (error == mcSuccess) {
            error = tell(module, "__mx_fifo", s->fifo.va);
        }
    }
    if (error == mcSuccess && (missing & MXGPU_KERNEL_USES_HEAP)) {
        error = s->heap.bo ? mcSuccess : make_heap(s);
        if (error == mcSuccess) {
            error = tell(module, "__mx_heap", s->heap.va);
        }
    }
    if (error == mcSuccess) {
        atomic_fetch_or(&module->bound, missing);
    }
    pthread_mutex_unlock(&s->lock);
    return error;
}

/* ---- limits ---- */

static mcError_t set(McServices *s, size_t *bytes, const McMapping *made,
                     size_t value)
{
    mcError_t error = mcErrorInvalidValue;
    uint64_t unused, total;

    s->ctx->ops->memory(s->ctx->kmd, &unused, &total);
    if (value > total) {
        return mcErrorMemoryAllocation;
    }
    value = (value + KMD_PAGE_SIZE - 1) & ~(size_t)(KMD_PAGE_SIZE - 1);
    pthread_mutex_lock(&s->lock);
    if (!made->bo) {
        *bytes = value ? value : KMD_PAGE_SIZE;
        error = mcSuccess;
    }
    pthread_mutex_unlock(&s->lock);
    return error;
}

mcError_t mc_services_set_fifo(McServices *s, size_t bytes)
{
    return set(s, &s->fifo_bytes, &s->fifo, bytes);
}

mcError_t mc_services_set_heap(McServices *s, size_t bytes)
{
    return set(s, &s->heap_bytes, &s->heap, bytes);
}

static size_t get(McServices *s, const size_t *bytes)
{
    pthread_mutex_lock(&s->lock);
    size_t value = *bytes;
    pthread_mutex_unlock(&s->lock);
    return value;
}

size_t mc_services_fifo(McServices *s)
{
    return get(s, &s->fifo_bytes);
}

size_t mc_services_heap(McServices *s)
{
    return get(s, &s->heap_bytes);
}

/* ---- printing ---- */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Word of the ring at a count. */
static uint64_t *word_at(McServices *s, struct mc_fifo *f, uint64_t at)
{
    return &f->ring[at % s->size / 8];
}

/* The first word of a record; waits a moment for one that is only reserved,
 * unless whoever reserved it runs no more. */
static uint64_t header(McServices *s, struct mc_fifo *f, uint64_t at,
                       bool ended)
{
    uint64_t *word = word_at(s, f, at), value, start = 0;

    while (!(value = __atomic_load_n(word, __ATOMIC_ACQUIRE)) && !ended) {
        uint64_t now = now_ns();

        start = start ? start : now;
        if (now - start > HEADER_NS) {
            break;
        }
        sched_yield();
    }
    return value;
}

/* Kernels may go on writing: what is printed is a copy. */
static void print_record(McServices *s, struct mc_fifo *f, uint64_t at,
                         uint64_t first, FILE *out, FILE *err)
{
    size_t words = MC_RECORD_SIZE(first) / 8;

    if (words > s->copy_words) {
        uint64_t *more = realloc(s->copy, words * sizeof(*more));

        if (!more) {
            mc_error("no memory to print %zu bytes", words * 8);
            return;
        }
        s->copy = more;
        s->copy_words = words;
    }
    s->copy[0] = first;
    for (size_t i = 1; i < words; i++) {
        s->copy[i] = __atomic_load_n(word_at(s, f, at + 8 * i),
                                     __ATOMIC_RELAXED);
    }
    mc_print_record(s->copy, words, out, err);
}

static void clear(McServices *s, struct mc_fifo *f, uint64_t from, uint64_t to)
{
    for (; from != to; from += 8) {
        __atomic_store_n(word_at(s, f, from), 0, __ATOMIC_RELAXED);
    }
}

/*
 * Prints complete records between tail and head. Room is given back up to the
 * first that is not complete; those behind it are marked. What is no record,
 * because a kernel wrote over it, is skipped word by word.
 */
static void drain(McServices *s, struct mc_fifo *f, bool ended, FILE *err)
{
    uint64_t head = __atomic_load_n(&f->head, __ATOMIC_ACQUIRE);
    uint64_t tail = atomic_load(&s->tail), size;
    bool all = true; /* up to here nothing is left */

    if (head - tail > s->size || head % 8) {
        mc_error("device %d: a kernel has damaged the printf FIFO",
                 s->ctx->device);
        clear(s, f, 0, s->size);
        tail = head & ~7ull;
        __atomic_store_n(&f->head, tail, __ATOMIC_RELAXED);
        atomic_store(&s->tail, tail);
        __atomic_store_n(&f->tail, tail, __ATOMIC_RELEASE);
        return;
    }
    for (uint64_t at = tail; at != head; at += size) {
        uint64_t first = header(s, f, at, ended);

        if (!first && !ended) {
            break;
        }
        size = MC_RECORD_SIZE(first);
        if (!MC_RECORD_VALID(first) || size < 8 || size % 8 ||
            size > head - at) {
            size = 8;
        } else if (MC_RECORD_STATE(first) == MC_RECORD_READY) {
            print_record(s, f, at, first, stdout, err);
            if (!all) {
                __atomic_store_n(word_at(s, f, at),
                                 MC_RECORD(size, 0, MC_RECORD_DONE),
                                 __ATOMIC_RELAXED);
            }
        } else if (MC_RECORD_STATE(first) == MC_RECORD_OPEN && !ended) {
            all = false;
        }
        if (all) {
            clear(s, f, at, at + size);
            tail = at + size;
        }
    }
    atomic_store(&s->tail, tail);
    __atomic_store_n(&f->tail, tail, __ATOMIC_RELEASE);
}

static void report_dropped(McServices *s, uint64_t dropped, FILE *err)
{
    uint64_t lost = dropped - atomic_load(&s->dropped);

    if (lost) {
        fprintf(err, "printf: %llu line%s lost, the FIFO of %zu bytes was "
                "full (mcLimitPrintfFifoSize)\n", (unsigned long long)lost,
                lost == 1 ? "" : "s", (size_t)(s->size - MC_FIFO_SPARE));
    }
    atomic_store(&s->dropped, dropped);
}

/* ended: no kernel runs any more. */
static void flush(McServices *s, bool ended)
{
    struct mc_fifo *f = atomic_load(&s->ring);

    if (!f || (__atomic_load_n(&f->head, __ATOMIC_ACQUIRE) ==
                   atomic_load(&s->tail) &&
               __atomic_load_n(&f->dropped, __ATOMIC_RELAXED) ==
                   atomic_load(&s->dropped))) {
        return;
    }
    /* The program may hold stdout while it synchronises: that lock comes first.
     * It may hold stderr as well: messages are written when neither is held. */
    char *text = NULL;
    size_t length = 0;
    FILE *messages = open_memstream(&text, &length);
    flockfile(stdout);
    pthread_mutex_lock(&s->print);
    drain(s, f, ended, messages ? messages : stderr);
    report_dropped(s, __atomic_load_n(&f->dropped, __ATOMIC_RELAXED),
                   messages ? messages : stderr);
    fflush(stdout);
    pthread_mutex_unlock(&s->print);
    funlockfile(stdout);
    if (messages) {
        fclose(messages);
        fwrite(text, 1, length, stderr);
        free(text);
    }
}

void mc_services_flush(McContext *ctx)
{
    if (ctx->services) {
        flush(ctx->services, atomic_load(&ctx->error) != mcSuccess);
    }
}

void mc_services_free(McServices *s)
{
    if (!s) {
        return;
    }
    flush(s, true);
    drop(s, &s->fifo);
    drop(s, &s->heap);
    free(s->copy);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->print);
    free(s);
}
