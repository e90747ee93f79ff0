/* SPDX-License-Identifier: MIT */
/* Allocator of address ranges: see range.h. */
#include "range.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void kmd_ranges_init(KmdRanges *r)
{
    memset(r, 0, sizeof(*r));
}

void kmd_ranges_fini(KmdRanges *r)
{
    free(r->free);
    memset(r, 0, sizeof(*r));
}

/*
 * Room for every allocation to come back as an extent of its own, so that
 * giving back never needs memory.
 */
static int ranges_reserve(KmdRanges *r, size_t more)
{
    size_t need = r->count + r->live + more;
    size_t capacity = r->capacity ? r->capacity : 16;
    KmdExtent *grown;

    if (need <= r->capacity) {
        return 0;
    }
    while (capacity < need) {
        capacity *= 2;
    }
    grown = realloc(r->free, capacity * sizeof(*grown));
    if (!grown) {
        return -ENOMEM;
    }
    r->free = grown;
    r->capacity = capacity;
    return 0;
}

/* Index of the first extent that ends after addr. */
static size_t ranges_find(const KmdRanges *r, uint64_t addr)
{
    size_t lo = 0, hi = r->count;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (r->free[mid].start + r->free[mid].size <= addr) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

static void ranges_remove_at(KmdRanges *r, size_t i)
{
    memmove(&r->free[i], &r->free[i + 1],
            (r->count - i - 1) * sizeof(r->free[0]));
    r->count--;
}

static void ranges_insert_at(KmdRanges *r, size_t i, KmdExtent e)
{
    assert(r->count < r->capacity);
    memmove(&r->free[i + 1], &r->free[i],
            (r->count - i) * sizeof(r->free[0]));
    r->free[i] = e;
    r->count++;
}

/* Puts [start, start + size) back, merged with its neighbours. */
static void ranges_put(KmdRanges *r, uint64_t start, uint64_t size)
{
    size_t i = ranges_find(r, start);
    bool left = i > 0 && r->free[i - 1].start + r->free[i - 1].size == start;
    bool right = i < r->count && r->free[i].start == start + size;

    assert(i == r->count || r->free[i].start >= start + size);
    r->total += size;
    if (left && right) {
        r->free[i - 1].size += size + r->free[i].size;
        ranges_remove_at(r, i);
    } else if (left) {
        r->free[i - 1].size += size;
    } else if (right) {
        r->free[i].start = start;
        r->free[i].size += size;
    } else {
        ranges_insert_at(r, i, (KmdExtent){ start, size });
    }
}

/* Takes a part of extent i out; there is room for one extent more. */
static void ranges_take(KmdRanges *r, size_t i, uint64_t start, uint64_t size)
{
    KmdExtent e = r->free[i];
    uint64_t before = start - e.start;
    uint64_t after = e.size - before - size;

    r->total -= size;
    if (before && after) {
        r->free[i].size = before;
        ranges_insert_at(r, i + 1, (KmdExtent){ start + size, after });
    } else if (before) {
        r->free[i].size = before;
    } else if (after) {
        r->free[i] = (KmdExtent){ start + size, after };
    } else {
        ranges_remove_at(r, i);
    }
}

int kmd_ranges_add(KmdRanges *r, uint64_t start, uint64_t size)
{
    int ret = ranges_reserve(r, 1);

    if (!ret && size) {
        ranges_put(r, start, size);
    }
    return ret;
}

int kmd_ranges_exclude(KmdRanges *r, uint64_t start, uint64_t size)
{
    uint64_t end = start + size;
    size_t i;
    int ret;

    ret = ranges_reserve(r, 1);
    if (ret) {
        return ret;
    }
    i = ranges_find(r, start);
    while (i < r->count && r->free[i].start < end) {
        uint64_t from = r->free[i].start;
        uint64_t to = from + r->free[i].size;

        from = from < start ? start : from;
        to = to > end ? end : to;
        ranges_take(r, i, from, to - from);
        i = ranges_find(r, start);
    }
    return 0;
}

int kmd_ranges_alloc(KmdRanges *r, uint64_t size, uint64_t align,
                     uint64_t phase, uint64_t *start)
{
    int ret = ranges_reserve(r, 2);
    size_t i;

    if (ret) {
        return ret;
    }
    for (i = 0; i < r->count; i++) {
        const KmdExtent *e = &r->free[i];
        uint64_t skip = (phase - e->start) & (align - 1);

        if (skip < e->size && e->size - skip >= size) {
            *start = e->start + skip;
            ranges_take(r, i, *start, size);
            r->live++;
            return 0;
        }
    }
    return -ENOSPC;
}

void kmd_ranges_free(KmdRanges *r, uint64_t start, uint64_t size)
{
    assert(r->live > 0);
    r->live--;
    ranges_put(r, start, size);
}
