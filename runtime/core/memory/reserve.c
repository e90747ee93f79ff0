/* SPDX-License-Identifier: MIT */
#include "reserve.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/tree.h"
#include "base/va.h"

typedef struct Reservation {
    McNode node; /* by address */
    uint64_t va, size;
} Reservation;

static Reservation *of(const McNode *node)
{
    return node ? mc_container_of(node, Reservation, node) : NULL;
}

static int compare(const McNode *a, const McNode *b)
{
    return mc_order(of(a)->va, of(b)->va);
}

static pthread_rwlock_t reserve_lock = PTHREAD_RWLOCK_INITIALIZER;
static McTree reservations = {.compare = compare};
/* Copies of pageable memory ask, and most programs reserve nothing. */
static atomic_uint reserved;

static int ends_by(const McNode *node, const void *key)
{
    return of(node)->va + of(node)->size <= *(const uint64_t *)key ? -1 : 1;
}

static Reservation *find(uint64_t va)
{
    Reservation *r = of(mc_tree_lower(&reservations, &va, ends_by));

    return r && r->va <= va ? r : NULL;
}

mcError_t mc_reserve(uint64_t size, uint64_t align, uint64_t hint,
                     uint64_t *va)
{
    Reservation *r = calloc(1, sizeof(*r));
    void *at = NULL;

    if (!r) {
        return mcErrorMemoryAllocation;
    }
    if (hint && hint % align == 0) {
        at = mc_va_reserve_at(hint, size);
    }
    if (!at) {
        at = mc_va_reserve(size, align);
    }
    if (!at) {
        free(r);
        return mcErrorMemoryAllocation;
    }
    r->va = (uintptr_t)at;
    r->size = size;
    *va = r->va;
    pthread_rwlock_wrlock(&reserve_lock);
    mc_tree_insert(&reservations, &r->node);
    atomic_fetch_add(&reserved, 1);
    pthread_rwlock_unlock(&reserve_lock);
    return mcSuccess;
}

mcError_t mc_reserve_release(uint64_t va, uint64_t size)
{
    pthread_rwlock_wrlock(&reserve_lock);
    Reservation *r = find(va);
    if (r && (r->va != va || r->size != size)) {
        r = NULL;
    }
    if (r) {
        mc_tree_remove(&reservations, &r->node);
        atomic_fetch_sub(&reserved, 1);
    }
    pthread_rwlock_unlock(&reserve_lock);
    if (!r) {
        return mcErrorInvalidValue;
    }
    mc_va_release((void *)(uintptr_t)va, size);
    free(r);
    return mcSuccess;
}

bool mc_reserved(uint64_t va, uint64_t size)
{
    if (!atomic_load_explicit(&reserved, memory_order_relaxed)) {
        return false;
    }
    pthread_rwlock_rdlock(&reserve_lock);
    Reservation *r = find(va);
    bool result = r && size <= r->va + r->size - va;
    pthread_rwlock_unlock(&reserve_lock);
    return result;
}

bool mc_reservation_find(uint64_t va, uint64_t *start, uint64_t *size)
{
    pthread_rwlock_rdlock(&reserve_lock);
    const Reservation *r = find(va);
    bool found = r != NULL;
    if (found) {
        *start = r->va;
        *size = r->size;
    }
    pthread_rwlock_unlock(&reserve_lock);
    return found;
}
