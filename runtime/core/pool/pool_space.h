/* SPDX-License-Identifier: MIT */
/*
 * The memory of a pool: slabs of VRAM, cut into pieces. A piece is in use, or
 * free since a point in the order of a queue; pieces that are free since the
 * same queue's points are a line. Those that anybody may have, whatever he
 * waits for, are the line "past".
 *
 * Invariants: the pieces of a slab, in the order of their addresses, cover it.
 * Two neighbours are never both past. A line holds its pieces in the order of
 * their values, and by size. A slab is idle exactly when all of it is one past
 * piece.
 *
 * Not thread safe, and nothing here waits for a device.
 */
#ifndef MC_CORE_POOL_SPACE_H
#define MC_CORE_POOL_SPACE_H

#include "base/tree.h"
#include "core/memory/alloc.h"
#include "core/queue/queue.h"

typedef struct McLine McLine;
typedef struct McSlab McSlab;

typedef struct McPiece {
    McNode node;                    /* free: of its line, by size */
    struct McPiece *before, *behind; /* of the slab, by address */
    struct McPiece *older, *newer;  /* of the line */
    struct McPiece *next_fresh, **fresh_link; /* NULL: it is not */
    McSlab *slab;
    McLine *line;   /* NULL: in use */
    uint64_t value; /* free when the line's queue reaches it */
    uint64_t va, size;
    /* Of the user, once it is or was in use: */
    uint64_t front; /* bytes of the zone before what the user has */
    uint64_t used;  /* bytes that the user has */
    bool damaged;   /* its zones, and reported */
    unsigned exported; /* its number in the pool's file, or 0 */
    McCaller caller;
} McPiece;

struct McLine {
    McLine *next;
    McQueue *queue;  /* NULL: past */
    uint64_t serial; /* of the queue's context */
    McTree sizes;
    McPiece *oldest, *newest;
    McPiece *fresh; /* whose neighbours mc_space_join() has not looked at */
};

struct McSlab {
    struct McSpace *space;
    McSlab *next, **link;
    McSlab *next_idle, **idle_link; /* NULL: it is not */
    McMapping mapping; /* bo NULL: it has addresses, but no memory now */
    McPiece *first;
};

typedef struct McSpace {
    McLine past;
    McLine *lines; /* of queues */
    McSlab *slabs, *idle;
    McPiece *spare; /* structures without a piece, by "newer" */
    uint64_t reserved; /* bytes of all slabs that have memory */
    unsigned empty;    /* slabs that have none */
    uint64_t used;     /* bytes of pieces in use */
    uint64_t pending;  /* pieces in lines of queues */
    /* Called with a piece before its bytes become anybody's; may be NULL. */
    void (*settled)(struct McSpace *space, McPiece *piece);
} McSpace;

void mc_space_init(McSpace *space);

/* Takes mapping over, unless it fails: false. */
bool mc_space_add(McSpace *space, const McMapping *mapping);
/* The largest idle slab of at most "most" bytes of memory, or any when all may
 * go, taken out, and what it mapped. False: there is none. */
bool mc_space_remove_idle(McSpace *space, uint64_t most, McMapping *mapping);
/* Any slab, whatever its pieces are. */
bool mc_space_remove_any(McSpace *space, McMapping *mapping);
/* The rest, when no slab is left. */
void mc_space_fini(McSpace *space);

/* The line of a queue; NULL: nothing was ever freed behind one of its points.
 * mc_space_line() makes it, NULL when memory is short. */
McLine *mc_space_find_line(McSpace *space, const McQueue *queue,
                           uint64_t serial);
McLine *mc_space_line(McSpace *space, McQueue *queue, uint64_t serial);

/* The smallest free piece of a line of at least size bytes, its value at most
 * that. */
McPiece *mc_line_fit(McLine *line, uint64_t size, uint64_t value);
/* Makes the first size bytes of a free piece one in use; the rest stays as it
 * was. False when memory is short, and nothing is done. */
bool mc_space_take(McSpace *space, McPiece *piece, uint64_t size);
/* A piece in use is free when line's queue reaches value. */
void mc_space_give(McSpace *space, McPiece *piece, McLine *line,
                   uint64_t value);

/* Pieces of the line up to value are past. */
void mc_space_settle(McSpace *space, McLine *line, uint64_t value);
/* Joins neighbours of the line, which are free as late as the later one; each
 * piece is looked at once. False: there were none. */
bool mc_space_join(McSpace *space, McLine *line);

#endif
