/* SPDX-License-Identifier: MIT */
#include "extents.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Extents that are large enough but lie badly for an alignment: so many are
 * looked at before one is taken that fits in any case. */
#define TRIES 16

static McExtent *extent(const McNode *node)
{
    return node ? mc_container_of(node, McExtent, node) : NULL;
}

static int compare(const McNode *a, const McNode *b)
{
    return mc_order(extent(a)->start, extent(b)->start);
}

static void update(McNode *node)
{
    McExtent *x = extent(node);

    x->longest = x->size;
    for (int i = 0; i < 2; i++) {
        McExtent *child = extent(node->child[i]);

        if (child && child->longest > x->longest) {
            x->longest = child->longest;
        }
    }
}

void mc_extents_init(McExtents *e)
{
    memset(e, 0, sizeof(*e));
    e->free.compare = compare;
    e->free.update = update;
}

static McExtent *spare_pop(McExtents *e)
{
    McExtent *x = e->spare;

    assert(x);
    e->spare = extent(x->node.parent);
    e->spares--;
    return x;
}

static void spare_push(McExtents *e, McExtent *x)
{
    x->node.parent = e->spare ? &e->spare->node : NULL;
    e->spare = x;
    e->spares++;
}

void mc_extents_fini(McExtents *e)
{
    while (e->free.root) {
        McExtent *x = extent(e->free.root);

        mc_tree_remove(&e->free, &x->node);
        free(x);
    }
    while (e->spare) {
        free(spare_pop(e));
    }
    mc_extents_init(e);
}

/* Room for every allocation to come back as an extent of its own, so that
 * giving back never needs memory; and for "more". */
static int reserve(McExtents *e, size_t more)
{
    while (e->spares < e->live + more) {
        McExtent *x = malloc(sizeof(*x));

        if (!x) {
            return -ENOMEM;
        }
        spare_push(e, x);
    }
    return 0;
}

/* Two at a time: as fast as they can become too many. */
static void trim(McExtents *e)
{
    for (int i = 0; i < 2 && e->spares > e->live + 64; i++) {
        free(spare_pop(e));
    }
}

static void insert(McExtents *e, uint64_t start, uint64_t size)
{
    McExtent *x = spare_pop(e);

    x->start = start;
    x->size = size;
    mc_tree_insert(&e->free, &x->node);
}

static void discard(McExtents *e, McExtent *x)
{
    mc_tree_remove(&e->free, &x->node);
    spare_push(e, x);
}

static int ends_by(const McNode *node, const void *key)
{
    uint64_t addr = *(const uint64_t *)key;

    return extent(node)->start + extent(node)->size <= addr ? -1 : 1;
}

McExtent *mc_extents_find(const McExtents *e, uint64_t addr)
{
    return extent(mc_tree_lower(&e->free, &addr, ends_by));
}

/* Puts [start, start + size) back, merged with its neighbours. */
static void put(McExtents *e, uint64_t start, uint64_t size)
{
    McExtent *right = mc_extents_find(e, start);
    McExtent *left = NULL;

    assert(!right || right->start >= start + size);
    if (right) {
        left = extent(mc_tree_previous(&right->node));
    } else if (start) {
        /* Nothing ends behind it: the last of all, if any. */
        for (McNode *n = e->free.root; n; n = n->child[1]) {
            left = extent(n);
            mc_tree_count_steps(1);
        }
    }
    e->total += size;
    if (left && left->start + left->size != start) {
        left = NULL;
    }
    if (right && right->start != start + size) {
        right = NULL;
    }
    if (left) {
        left->size += size + (right ? right->size : 0);
        mc_tree_changed(&e->free, &left->node);
        if (right) {
            discard(e, right);
        }
    } else if (right) {
        right->start = start;
        right->size += size;
        mc_tree_changed(&e->free, &right->node);
    } else {
        insert(e, start, size);
    }
}

/* Takes a part of an extent out; there is a spare one. */
static void take(McExtents *e, McExtent *x, uint64_t start, uint64_t size)
{
    uint64_t before = start - x->start;
    uint64_t after = x->size - before - size;

    e->total -= size;
    if (!before && !after) {
        discard(e, x);
        return;
    }
    if (before) {
        x->size = before;
    } else {
        x->start = start + size;
        x->size = after;
    }
    mc_tree_changed(&e->free, &x->node);
    if (before && after) {
        insert(e, start + size, after);
    }
}

int mc_extents_add(McExtents *e, uint64_t start, uint64_t size)
{
    int ret = reserve(e, 1);

    if (!ret && size) {
        put(e, start, size);
    }
    return ret;
}

int mc_extents_exclude(McExtents *e, uint64_t start, uint64_t size)
{
    uint64_t end = start + size;
    McExtent *x;
    int ret = reserve(e, 1);

    if (ret) {
        return ret;
    }
    while ((x = mc_extents_find(e, start)) && x->start < end) {
        uint64_t from = x->start < start ? start : x->start;
        uint64_t to = x->start + x->size > end ? end : x->start + x->size;

        take(e, x, from, to - from);
    }
    return 0;
}

/* ---- first fit ---- */

/* The first extent of a subtree with that many bytes. */
static McExtent *first_in(McNode *node, uint64_t size)
{
    uint64_t steps = 0;

    if (!node || extent(node)->longest < size) {
        return NULL;
    }
    for (;; steps++) {
        if (node->child[0] && extent(node->child[0])->longest >= size) {
            node = node->child[0];
        } else if (extent(node)->size >= size) {
            break;
        } else {
            node = node->child[1];
        }
    }
    mc_tree_count_steps(steps + 1);
    return extent(node);
}

/* The next one behind it. */
static McExtent *next_fit(McExtent *x, uint64_t size)
{
    McNode *node = &x->node;
    McExtent *found = first_in(node->child[1], size);

    for (; !found && node->parent; node = node->parent) {
        mc_tree_count_steps(1);
        if (node->parent->child[1] == node) {
            continue;
        }
        if (extent(node->parent)->size >= size) {
            return extent(node->parent);
        }
        found = first_in(node->parent->child[1], size);
    }
    return found;
}

/* Bytes in front of the first place that is aligned. */
static uint64_t skip(const McExtent *x, uint64_t align, uint64_t phase)
{
    return (phase - x->start) & (align - 1);
}

static McExtent *find_fit(const McExtents *e, uint64_t size, uint64_t align,
                          uint64_t phase)
{
    McExtent *x = first_in(e->free.root, size);

    for (unsigned tries = 1; x; tries++) {
        uint64_t lost = skip(x, align, phase);

        if (lost < x->size && x->size - lost >= size) {
            break;
        }
        if (tries == TRIES && size + (align - 1) >= size) {
            McExtent *sure = first_in(e->free.root, size + (align - 1));

            if (sure) {
                return sure;
            }
        }
        x = next_fit(x, size);
    }
    return x;
}

int mc_extents_alloc(McExtents *e, uint64_t size, uint64_t align,
                     uint64_t phase, uint64_t *start)
{
    int ret = reserve(e, 2);

    if (ret) {
        return ret;
    }
    McExtent *x = find_fit(e, size, align, phase);
    if (!x) {
        return -ENOSPC;
    }
    *start = x->start + skip(x, align, phase);
    take(e, x, *start, size);
    e->live++;
    return 0;
}

int mc_extents_take(McExtents *e, uint64_t start, uint64_t size)
{
    int ret = reserve(e, 2);

    if (!ret) {
        take(e, mc_extents_find(e, start), start, size);
        e->live++;
    }
    return ret;
}

void mc_extents_free(McExtents *e, uint64_t start, uint64_t size)
{
    assert(e->live > 0);
    put(e, start, size);
    e->live--;
    trim(e);
}
