/* SPDX-License-Identifier: MIT */
#include "range.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_rwlock_t range_lock = PTHREAD_RWLOCK_INITIALIZER;
static McRange *ranges; /* sorted by base, disjoint */
static size_t range_count, range_room;

/* Index of the first range that ends behind addr. */
static size_t range_lower(uint64_t addr)
{
    size_t low = 0, high = range_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ranges[middle].base + ranges[middle].size <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool overlaps(uint64_t base, uint64_t size)
{
    size_t i = range_lower(base);

    return i < range_count && ranges[i].base < base + size;
}

bool mc_range_add(const McRange *range)
{
    bool ok = false;

    pthread_rwlock_wrlock(&range_lock);
    if (range->size == 0 || overlaps(range->base, range->size)) {
        goto out;
    }
    if (range_count == range_room) {
        size_t room = range_room ? range_room * 2 : 64;
        McRange *grown = realloc(ranges, room * sizeof(*ranges));
        if (!grown) {
            goto out;
        }
        ranges = grown;
        range_room = room;
    }
    size_t i = range_lower(range->base);
    memmove(ranges + i + 1, ranges + i, (range_count - i) * sizeof(*ranges));
    ranges[i] = *range;
    range_count++;
    ok = true;
out:
    pthread_rwlock_unlock(&range_lock);
    return ok;
}

bool mc_range_remove(uint64_t base, McRange *removed)
{
    bool ok = false;

    pthread_rwlock_wrlock(&range_lock);
    size_t i = range_lower(base);
    if (i < range_count && ranges[i].base == base) {
        if (removed) {
            *removed = ranges[i];
        }
        range_count--;
        memmove(ranges + i, ranges + i + 1,
                (range_count - i) * sizeof(*ranges));
        ok = true;
    }
    pthread_rwlock_unlock(&range_lock);
    return ok;
}

bool mc_range_find(uint64_t addr, McRange *found)
{
    bool ok = false;

    pthread_rwlock_rdlock(&range_lock);
    size_t i = range_lower(addr);
    if (i < range_count && ranges[i].base <= addr) {
        *found = ranges[i];
        ok = true;
    }
    pthread_rwlock_unlock(&range_lock);
    return ok;
}

bool mc_range_next(uint64_t addr, McRange *found)
{
    bool ok = false;

    pthread_rwlock_rdlock(&range_lock);
    size_t i = range_lower(addr);
    if (i < range_count) {
        *found = ranges[i];
        ok = true;
    }
    pthread_rwlock_unlock(&range_lock);
    return ok;
}

bool mc_range_overlaps(uint64_t base, uint64_t size)
{
    pthread_rwlock_rdlock(&range_lock);
    bool result = overlaps(base, size);
    pthread_rwlock_unlock(&range_lock);
    return result;
}
