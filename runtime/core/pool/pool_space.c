/* SPDX-License-Identifier: MIT */
#include "pool_space.h"

#include <stdlib.h>

static McPiece *of(const McNode *node)
{
    return mc_container_of(node, McPiece, node);
}

static int compare(const McNode *a, const McNode *b)
{
    int order = mc_order(of(a)->size, of(b)->size);

    return order ? order : mc_order(of(a)->va, of(b)->va);
}

static int size_below(const McNode *node, const void *key)
{
    return of(node)->size < *(const uint64_t *)key ? -1 : 1;
}

static void line_init(McLine *line, McQueue *queue, uint64_t serial)
{
    *line = (McLine){
        .queue = queue,
        .serial = serial,
        .sizes.compare = compare,
    };
}

void mc_space_init(McSpace *space)
{
    *space = (McSpace){.slabs = NULL};
    line_init(&space->past, NULL, 0);
}

/* ---- structures of pieces ---- */

static void piece_retire(McSpace *space, McPiece *piece)
{
    piece->newer = space->spare;
    space->spare = piece;
}

static McPiece *piece_new(McSpace *space)
{
    McPiece *piece = space->spare;

    if (piece) {
        space->spare = piece->newer;
        *piece = (McPiece){.slab = NULL};
        return piece;
    }
    return calloc(1, sizeof(*piece));
}

/* ---- lines ---- */

static void fresh_remove(McPiece *piece)
{
    if (piece->fresh_link) {
        *piece->fresh_link = piece->next_fresh;
        if (piece->next_fresh) {
            piece->next_fresh->fresh_link = piece->fresh_link;
        }
        piece->fresh_link = NULL;
    }
}

static void fresh_add(McLine *line, McPiece *piece)
{
    piece->next_fresh = line->fresh;
    piece->fresh_link = &line->fresh;
    if (line->fresh) {
        line->fresh->fresh_link = &piece->next_fresh;
    }
    line->fresh = piece;
}

/* Behind all that are free earlier: nearly always at the end. */
static void line_add(McSpace *space, McLine *line, McPiece *piece)
{
    McPiece *older = line->newest;

    while (older && older->value > piece->value) {
        older = older->older;
    }
    piece->older = older;
    piece->newer = older ? older->newer : line->oldest;
    *(piece->newer ? &piece->newer->older : &line->newest) = piece;
    *(older ? &older->newer : &line->oldest) = piece;
    piece->line = line;
    mc_tree_insert(&line->sizes, &piece->node);
    if (line->queue) {
        space->pending++;
        fresh_add(line, piece);
    }
}

static void line_remove(McSpace *space, McPiece *piece)
{
    McLine *line = piece->line;

    *(piece->older ? &piece->older->newer : &line->oldest) = piece->newer;
    *(piece->newer ? &piece->newer->older : &line->newest) = piece->older;
    mc_tree_remove(&line->sizes, &piece->node);
    fresh_remove(piece);
    piece->line = NULL;
    space->pending -= line->queue != NULL;
}

McLine *mc_space_find_line(McSpace *space, const McQueue *queue,
                           uint64_t serial)
{
    McLine *line = space->lines;

    while (line && (line->queue != queue || line->serial != serial)) {
        line = line->next;
    }
    return line;
}

McLine *mc_space_line(McSpace *space, McQueue *queue, uint64_t serial)
{
    McLine *line = mc_space_find_line(space, queue, serial);

    if (!line) {
        line = malloc(sizeof(*line));
        if (line) {
            line_init(line, queue, serial);
            line->next = space->lines;
            space->lines = line;
        }
    }
    return line;
}

McPiece *mc_line_fit(McLine *line, uint64_t size, uint64_t value)
{
    McNode *node = mc_tree_lower(&line->sizes, &size, size_below);

    /* Those that are free too late are few: what else is looked for are the
     * points that somebody already waits for. */
    while (node && of(node)->value > value) {
        node = mc_tree_next(node);
    }
    return node ? of(node) : NULL;
}

/* ---- slabs ---- */

static void idle_remove(McSlab *slab)
{
    if (slab->idle_link) {
        *slab->idle_link = slab->next_idle;
        if (slab->next_idle) {
            slab->next_idle->idle_link = slab->idle_link;
        }
        slab->idle_link = NULL;
    }
}

static void idle_add(McSpace *space, McSlab *slab)
{
    slab->next_idle = space->idle;
    slab->idle_link = &space->idle;
    if (space->idle) {
        space->idle->idle_link = &slab->next_idle;
    }
    space->idle = slab;
}

/* Makes the piece behind one a part of it; neither is in a line. */
static void swallow(McSpace *space, McPiece *piece)
{
    McPiece *gone = piece->behind;

    piece->size += gone->size;
    piece->behind = gone->behind;
    if (piece->behind) {
        piece->behind->before = piece;
    }
    piece_retire(space, gone);
}

/* Whose bytes the piece, in no line, has: those of nobody. */
static void make_past(McSpace *space, McPiece *piece)
{
    if (piece->behind && piece->behind->line == &space->past) {
        line_remove(space, piece->behind);
        swallow(space, piece);
    }
    if (piece->before && piece->before->line == &space->past) {
        piece = piece->before;
        line_remove(space, piece);
        swallow(space, piece);
    }
    piece->value = 0;
    piece->front = piece->used = 0;
    line_add(space, &space->past, piece);
    if (!piece->before && !piece->behind) {
        idle_add(space, piece->slab);
    }
}

bool mc_space_add(McSpace *space, const McMapping *mapping)
{
    McSlab *slab = calloc(1, sizeof(*slab));
    McPiece *piece = slab ? piece_new(space) : NULL;

    if (!piece) {
        free(slab);
        return false;
    }
    slab->space = space;
    slab->mapping = *mapping;
    slab->first = piece;
    slab->next = space->slabs;
    slab->link = &space->slabs;
    if (slab->next) {
        slab->next->link = &slab->next;
    }
    space->slabs = slab;
    space->reserved += mapping->size;
    piece->slab = slab;
    piece->va = mapping->va;
    piece->size = mapping->size;
    make_past(space, piece);
    return true;
}

static uint64_t slab_bytes(const McSlab *slab)
{
    return slab->mapping.bo ? slab->mapping.size : 0;
}

static void slab_remove(McSpace *space, McSlab *slab, McMapping *mapping)
{
    idle_remove(slab);
    while (slab->first) {
        McPiece *piece = slab->first;

        slab->first = piece->behind;
        if (piece->line) {
            line_remove(space, piece);
        } else {
            space->used -= piece->size;
        }
        piece_retire(space, piece);
    }
    *slab->link = slab->next;
    if (slab->next) {
        slab->next->link = slab->link;
    }
    space->reserved -= slab_bytes(slab);
    space->empty -= !slab->mapping.bo;
    *mapping = slab->mapping;
    free(slab);
}

bool mc_space_remove_idle(McSpace *space, uint64_t most, McMapping *mapping)
{
    McSlab *slab = NULL;

    for (McSlab *s = space->idle; s; s = s->next_idle) {
        if (slab_bytes(s) <= most &&
            (!slab || slab_bytes(s) > slab_bytes(slab))) {
            slab = s;
        }
        if (most >= space->reserved) {
            break; /* all may go */
        }
    }
    if (slab) {
        slab_remove(space, slab, mapping);
    }
    return slab != NULL;
}

bool mc_space_remove_any(McSpace *space, McMapping *mapping)
{
    bool any = space->slabs != NULL;

    if (any) {
        slab_remove(space, space->slabs, mapping);
    }
    return any;
}

void mc_space_fini(McSpace *space)
{
    while (space->lines) {
        McLine *line = space->lines;

        space->lines = line->next;
        free(line);
    }
    while (space->spare) {
        McPiece *piece = space->spare;

        space->spare = piece->newer;
        free(piece);
    }
}

/* ---- pieces ---- */

/* Cuts a piece that is in no line; what is behind size bytes stays in line. */
static bool cut(McSpace *space, McPiece *piece, McLine *line, uint64_t size)
{
    McPiece *rest = piece_new(space);

    if (!rest) {
        return false;
    }
    rest->slab = piece->slab;
    rest->va = piece->va + size;
    rest->size = piece->size - size;
    rest->value = piece->value;
    rest->before = piece;
    rest->behind = piece->behind;
    if (rest->behind) {
        rest->behind->before = rest;
    }
    piece->behind = rest;
    piece->size = size;
    line_add(space, line, rest);
    return true;
}

bool mc_space_take(McSpace *space, McPiece *piece, uint64_t size)
{
    McLine *line = piece->line;

    line_remove(space, piece);
    if (piece->size > size && !cut(space, piece, line, size)) {
        line_add(space, line, piece);
        return false;
    }
    idle_remove(piece->slab);
    space->used += piece->size;
    piece->damaged = false;
    return true;
}

void mc_space_give(McSpace *space, McPiece *piece, McLine *line,
                   uint64_t value)
{
    space->used -= piece->size;
    if (line == &space->past) {
        if (space->settled) {
            space->settled(space, piece);
        }
        make_past(space, piece);
    } else {
        piece->value = value;
        line_add(space, line, piece);
    }
}

void mc_space_settle(McSpace *space, McLine *line, uint64_t value)
{
    while (line->oldest && line->oldest->value <= value) {
        McPiece *piece = line->oldest;

        line_remove(space, piece);
        if (space->settled) {
            space->settled(space, piece);
        }
        make_past(space, piece);
    }
}

/* With its neighbours of the line, as late as the latest of them. */
static void join(McSpace *space, McPiece *piece)
{
    McLine *line = piece->line;
    uint64_t value = piece->value;

    while (piece->before && piece->before->line == line) {
        piece = piece->before;
    }
    line_remove(space, piece);
    while (piece->behind && piece->behind->line == line) {
        McPiece *gone = piece->behind;

        mc_tree_count_steps(1);
        value = gone->value > value ? gone->value : value;
        line_remove(space, gone);
        swallow(space, piece);
    }
    piece->value = piece->value > value ? piece->value : value;
    line_add(space, line, piece);
    fresh_remove(piece);
}

bool mc_space_join(McSpace *space, McLine *line)
{
    bool any = false;

    while (line->fresh) {
        McPiece *p = line->fresh;

        mc_tree_count_steps(1);
        fresh_remove(p);
        if ((p->before && p->before->line == line) ||
            (p->behind && p->behind->line == line)) {
            join(space, p);
            any = true;
        }
    }
    return any;
}
