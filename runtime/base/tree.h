/* SPDX-License-Identifier: MIT */
/*
 * Balanced binary trees (AVL) of nodes that are part of the caller's objects:
 * nothing is allocated, and the length of a path is logarithmic in the number
 * of nodes whatever the order of insertion. Not thread safe.
 */
#ifndef MC_BASE_TREE_H
#define MC_BASE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct McNode {
    struct McNode *parent, *child[2];
    int height;
} McNode;

typedef struct McTree {
    McNode *root;
    size_t count;
    /* Below, equal to or above 0: a comes before, is, comes behind b. */
    int (*compare)(const McNode *a, const McNode *b);
    /* Computes what a node knows of its subtree, whose children are right.
     * May be NULL. */
    void (*update)(McNode *node);
} McTree;

#define mc_container_of(node, type, member)                                    \
    ((type *)(void *)((char *)(node) - offsetof(type, member)))

/* Nodes this thread has looked at, in all trees: for tests of cost. */
uint64_t mc_tree_steps(void);
/* Counts nodes that a caller walked over by itself. */
void mc_tree_count_steps(uint64_t steps);

/* False, and nothing is done, when an equal node is there. */
bool mc_tree_insert(McTree *tree, McNode *node);
void mc_tree_remove(McTree *tree, McNode *node);
/* The node changed, but not its place in the order: update() again. */
void mc_tree_changed(McTree *tree, McNode *node);

/* In order; NULL at the end. */
McNode *mc_tree_first(const McTree *tree);
McNode *mc_tree_next(const McNode *node);
McNode *mc_tree_previous(const McNode *node);

/* The first node that does not lie before the key; order() compares a node with
 * it as compare() does. */
McNode *mc_tree_lower(const McTree *tree, const void *key,
                      int (*order)(const McNode *node, const void *key));

/* For compare() and order() of numbers. */
static inline int mc_order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

#endif
