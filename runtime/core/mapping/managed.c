/* SPDX-License-Identifier: MIT */
#include "managed.h"

#include <stdlib.h>

#include "base/tree.h"

/* Pages of which the same is known, up to the next. */
typedef struct Part {
    struct Part *next;
    uint64_t start;
    McAdvice advice;
} Part;

/* An allocation: whole pages. */
typedef struct Managed {
    McNode node; /* by address */
    uint64_t start, end;
    bool variable;
    Part *parts; /* the first begins at start */
} Managed;

static Managed *of(const McNode *node)
{
    return mc_container_of(node, Managed, node);
}

static int compare(const McNode *a, const McNode *b)
{
    return mc_order(of(a)->start, of(b)->start);
}

static int ends_by(const McNode *node, const void *key)
{
    return of(node)->end <= *(const uint64_t *)key ? -1 : 1;
}

static pthread_mutex_t managed_lock = PTHREAD_MUTEX_INITIALIZER;
static McTree managed = {.compare = compare}; /* disjoint */

static uint64_t page_of(uint64_t address)
{
    return address & ~(KMD_PAGE_SIZE - 1);
}

static void managed_free(Managed *m)
{
    while (m && m->parts) {
        Part *part = m->parts;

        m->parts = part->next;
        free(part);
    }
    free(m);
}

mcError_t mc_managed_alloc(int device, uint64_t size, unsigned flags,
                           bool variable, McCaller caller, void **ptr)
{
    Managed *m = calloc(1, sizeof(*m));

    if (m) {
        m->parts = calloc(1, sizeof(*m->parts));
    }
    if (!m || !m->parts) {
        free(m);
        return mcErrorMemoryAllocation;
    }
    mcError_t error = mc_host_alloc(MC_RANGE_MANAGED, device, size, flags,
                                    caller, ptr);
    if (error != mcSuccess) {
        managed_free(m);
        return error;
    }
    m->start = m->parts->start = (uintptr_t)*ptr;
    m->end = page_of(m->start + size + KMD_PAGE_SIZE - 1);
    m->variable = variable;
    pthread_mutex_lock(&managed_lock);
    mc_tree_insert(&managed, &m->node);
    pthread_mutex_unlock(&managed_lock);
    return mcSuccess;
}

/* Under the lock: the allocation around address, or NULL. */
static Managed *managed_at(uint64_t address)
{
    McNode *node = mc_tree_lower(&managed, &address, ends_by);

    return node && of(node)->start <= address ? of(node) : NULL;
}

mcError_t mc_managed_free(void *ptr, bool variable)
{
    /* The record goes first: the addresses may be used again afterwards. */
    pthread_mutex_lock(&managed_lock);
    Managed *m = managed_at((uintptr_t)ptr);
    if (m && m->start == (uintptr_t)ptr && m->variable == variable) {
        mc_tree_remove(&managed, &m->node);
    } else {
        m = NULL;
    }
    pthread_mutex_unlock(&managed_lock);
    if (!m) {
        return mcErrorInvalidValue;
    }
    managed_free(m);
    return mc_host_free(MC_RANGE_MANAGED, ptr);
}

/* ---- what is known ---- */

/* Whether all of it is managed, perhaps in several allocations. */
static bool covered(uint64_t start, uint64_t end)
{
    while (start < end) {
        Managed *m = managed_at(start);

        if (!m) {
            return false;
        }
        start = m->end;
    }
    return true;
}

/* Whole pages. */
static bool round_out(uint64_t *address, uint64_t *end, uint64_t size)
{
    uint64_t last = *address + size - 1;

    if (size == 0 || last < *address || last >= UINT64_MAX - KMD_PAGE_SIZE) {
        return false;
    }
    *address = page_of(*address);
    *end = page_of(last) + KMD_PAGE_SIZE;
    return true;
}

/* Makes one part begin at the address, by *spare if none does. */
static void split(Managed *m, uint64_t at, Part **spare)
{
    Part *part = m->parts;

    if (at >= m->end) {
        return;
    }
    while (part->next && part->next->start <= at) {
        part = part->next;
    }
    if (part->start == at) {
        return;
    }
    Part *more = *spare;
    *spare = more->next;
    *more = (Part){part->next, at, part->advice};
    part->next = more;
}

static bool same_place(mcMemLocation a, mcMemLocation b)
{
    return a.type == b.type && a.id == b.id;
}

static bool same(const McAdvice *a, const McAdvice *b)
{
    return a->read_mostly == b->read_mostly &&
           a->accessed_by == b->accessed_by &&
           same_place(a->preferred, b->preferred) &&
           same_place(a->prefetched, b->prefetched);
}

static void merge(Managed *m)
{
    for (Part *part = m->parts; part->next;) {
        Part *next = part->next;

        if (same(&part->advice, &next->advice)) {
            part->next = next->next;
            free(next);
        } else {
            part = next;
        }
    }
}

static void change(Managed *m, uint64_t start, uint64_t end, Part **spare,
                   McAdviceCall call, const void *opaque)
{
    split(m, start, spare);
    split(m, end, spare);
    for (Part *part = m->parts; part; part = part->next) {
        if (part->start >= start && part->start < end) {
            call(&part->advice, opaque);
        }
    }
    merge(m);
}

/* At most two parts more: one at either end. */
static bool spares(Part **out)
{
    Part *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));

    if (!a || !b) {
        free(a);
        free(b);
        return false;
    }
    b->next = NULL;
    a->next = b;
    *out = a;
    return true;
}

mcError_t mc_managed_change(uint64_t address, uint64_t size, McAdviceCall call,
                            const void *opaque)
{
    mcError_t error = mcErrorInvalidValue;
    uint64_t end;
    Part *spare;

    if (!round_out(&address, &end, size)) {
        return error;
    }
    if (!spares(&spare)) {
        return mcErrorMemoryAllocation;
    }
    pthread_mutex_lock(&managed_lock);
    if (covered(address, end)) {
        error = mcSuccess;
        while (address < end) {
            Managed *m = managed_at(address);
            uint64_t stop = m->end < end ? m->end : end;

            change(m, address, stop, &spare, call, opaque);
            address = stop;
        }
    }
    pthread_mutex_unlock(&managed_lock);
    while (spare) {
        Part *part = spare;

        spare = part->next;
        free(part);
    }
    return error;
}

static void look_at(const Managed *m, uint64_t start, uint64_t end,
                    McAdviceLook look, void *opaque)
{
    for (Part *part = m->parts; part; part = part->next) {
        uint64_t part_end = part->next ? part->next->start : m->end;

        if (part->start < end && start < part_end) {
            look(&part->advice, opaque);
        }
    }
}

mcError_t mc_managed_look(uint64_t address, uint64_t size, McAdviceLook look,
                          void *opaque)
{
    mcError_t error = mcErrorInvalidValue;
    uint64_t end;

    if (!round_out(&address, &end, size)) {
        return error;
    }
    pthread_mutex_lock(&managed_lock);
    if (covered(address, end)) {
        error = mcSuccess;
        while (address < end) {
            Managed *m = managed_at(address);

            look_at(m, address, end, look, opaque);
            address = m->end;
        }
    }
    pthread_mutex_unlock(&managed_lock);
    return error;
}
