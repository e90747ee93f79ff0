/* SPDX-License-Identifier: MIT */
#include "range.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/tree.h"
#include "watch.h"

typedef struct RangeNode {
    McNode node;
    McRange range;
} RangeNode;

static RangeNode *of(const McNode *node)
{
    return mc_container_of(node, RangeNode, node);
}

static int compare(const McNode *a, const McNode *b)
{
    return mc_order(of(a)->range.base, of(b)->range.base);
}

const McMemoryWatch *mc_memory_watch;
static pthread_rwlock_t range_lock = PTHREAD_RWLOCK_INITIALIZER;
static uint64_t last_id;
static McTree ranges = {.compare = compare}; /* disjoint */

static int ends_by(const McNode *node, const void *key)
{
    const McRange *range = &of(node)->range;

    return range->base + range->size <= *(const uint64_t *)key ? -1 : 1;
}

/* The first range that ends behind addr, or NULL. */
static RangeNode *range_lower(uint64_t addr)
{
    McNode *node = mc_tree_lower(&ranges, &addr, ends_by);

    return node ? of(node) : NULL;
}

static bool overlaps(uint64_t base, uint64_t size)
{
    RangeNode *r = range_lower(base);

    return r && r->range.base < base + size;
}

bool mc_range_add(const McRange *range)
{
    RangeNode *r = malloc(sizeof(*r));

    if (!r) {
        return false;
    }
    r->range = *range;
    pthread_rwlock_wrlock(&range_lock);
    r->range.id = ++last_id;
    bool ok = range->size && !overlaps(range->base, range->size) &&
              mc_tree_insert(&ranges, &r->node);
    pthread_rwlock_unlock(&range_lock);
    if (ok) {
        mc_watch_range(range, true);
    } else {
        free(r);
    }
    return ok;
}

bool mc_range_remove(uint64_t base, McRange *removed)
{
    pthread_rwlock_wrlock(&range_lock);
    RangeNode *r = range_lower(base);
    if (r && r->range.base != base) {
        r = NULL;
    }
    if (r) {
        mc_tree_remove(&ranges, &r->node);
    }
    pthread_rwlock_unlock(&range_lock);
    if (!r) {
        return false;
    }
    mc_watch_range(&r->range, false);
    if (removed) {
        *removed = r->range;
    }
    free(r);
    return true;
}

void mc_range_set_reach(uint64_t base, uint32_t reach, bool cpu)
{
    pthread_rwlock_wrlock(&range_lock);
    RangeNode *r = range_lower(base);
    if (r && r->range.base == base) {
        r->range.reach = reach;
        r->range.cpu = cpu;
    }
    pthread_rwlock_unlock(&range_lock);
}

bool mc_range_set_sync(uint64_t addr, bool sync)
{
    pthread_rwlock_wrlock(&range_lock);
    RangeNode *r = range_lower(addr);
    bool ok = r && r->range.base <= addr;
    if (ok) {
        r->range.sync = sync;
    }
    pthread_rwlock_unlock(&range_lock);
    return ok;
}

/* reach: it has to begin at or before addr. */
static bool find(uint64_t addr, bool reach, McRange *found)
{
    pthread_rwlock_rdlock(&range_lock);
    RangeNode *r = range_lower(addr);
    bool ok = r && (!reach || r->range.base <= addr);
    if (ok) {
        *found = r->range;
    }
    pthread_rwlock_unlock(&range_lock);
    return ok;
}

bool mc_range_find(uint64_t addr, McRange *found)
{
    return find(addr, true, found);
}

bool mc_range_next(uint64_t addr, McRange *found)
{
    return find(addr, false, found);
}

bool mc_range_overlaps(uint64_t base, uint64_t size)
{
    pthread_rwlock_rdlock(&range_lock);
    bool result = overlaps(base, size);
    pthread_rwlock_unlock(&range_lock);
    return result;
}
