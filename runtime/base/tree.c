/* SPDX-License-Identifier: MIT */
#include "tree.h"

static _Thread_local uint64_t steps_taken;

uint64_t mc_tree_steps(void)
{
    return steps_taken;
}

void mc_tree_count_steps(uint64_t steps)
{
    steps_taken += steps;
}

static int height(const McNode *node)
{
    return node ? node->height : 0;
}

static int lean(const McNode *node)
{
    return height(node->child[1]) - height(node->child[0]);
}

/* What a node keeps of its subtree. */
static void refresh(McTree *tree, McNode *node)
{
    int left = height(node->child[0]), right = height(node->child[1]);

    node->height = 1 + (left > right ? left : right);
    if (tree->update) {
        tree->update(node);
    }
}

/* Puts node where old was below parent. */
static void replace(McTree *tree, McNode *parent, McNode *old, McNode *node)
{
    if (!parent) {
        tree->root = node;
    } else {
        parent->child[parent->child[1] == old] = node;
    }
    if (node) {
        node->parent = parent;
    }
}

/* Lifts the child of that side above its parent, and returns it. */
static McNode *rotate(McTree *tree, McNode *node, int side)
{
    McNode *up = node->child[side];

    replace(tree, node->parent, node, up);
    node->child[side] = up->child[!side];
    if (node->child[side]) {
        node->child[side]->parent = node;
    }
    up->child[!side] = node;
    node->parent = up;
    refresh(tree, node);
    refresh(tree, up);
    return up;
}

/* From a node below which something changed up to the root. */
static void rebalance(McTree *tree, McNode *node)
{
    uint64_t steps = 0;

    for (; node; node = node->parent, steps++) {
        refresh(tree, node);
        if (lean(node) > 1) {
            if (lean(node->child[1]) < 0) {
                rotate(tree, node->child[1], 0);
            }
            node = rotate(tree, node, 1);
        } else if (lean(node) < -1) {
            if (lean(node->child[0]) > 0) {
                rotate(tree, node->child[0], 1);
            }
            node = rotate(tree, node, 0);
        }
    }
    steps_taken += steps;
}

bool mc_tree_insert(McTree *tree, McNode *node)
{
    McNode **link = &tree->root, *parent = NULL;
    uint64_t steps = 0;

    for (; *link; steps++) {
        int order = tree->compare(node, *link);

        if (order == 0) {
            break;
        }
        parent = *link;
        link = &parent->child[order > 0];
    }
    steps_taken += steps;
    if (*link) {
        return false;
    }
    *node = (McNode){.parent = parent};
    *link = node;
    tree->count++;
    rebalance(tree, node);
    return true;
}

void mc_tree_remove(McTree *tree, McNode *node)
{
    McNode *start = node->parent;

    if (node->child[0] && node->child[1]) {
        /* The next one, which has no left child, takes its place. */
        McNode *next = mc_tree_next(node);

        start = next->parent == node ? next : next->parent;
        replace(tree, next->parent, next, next->child[1]);
        next->child[0] = node->child[0];
        next->child[1] = node->child[1];
        for (int i = 0; i < 2; i++) {
            if (next->child[i]) {
                next->child[i]->parent = next;
            }
        }
        replace(tree, node->parent, node, next);
    } else {
        replace(tree, node->parent, node,
                node->child[0] ? node->child[0] : node->child[1]);
    }
    tree->count--;
    rebalance(tree, start);
}

void mc_tree_changed(McTree *tree, McNode *node)
{
    rebalance(tree, node);
}

static McNode *outermost(McNode *node, int side)
{
    uint64_t steps = 0;

    for (; node && node->child[side]; steps++) {
        node = node->child[side];
    }
    steps_taken += steps;
    return node;
}

McNode *mc_tree_first(const McTree *tree)
{
    return outermost(tree->root, 0);
}

static McNode *neighbour(const McNode *node, int side)
{
    if (node->child[side]) {
        return outermost(node->child[side], !side);
    }
    McNode *parent = node->parent;
    uint64_t steps = 1;
    while (parent && parent->child[side] == node) {
        node = parent;
        parent = node->parent;
        steps++;
    }
    steps_taken += steps;
    return parent;
}

McNode *mc_tree_next(const McNode *node)
{
    return neighbour(node, 1);
}

McNode *mc_tree_previous(const McNode *node)
{
    return neighbour(node, 0);
}

McNode *mc_tree_lower(const McTree *tree, const void *key,
                      int (*order)(const McNode *node, const void *key))
{
    McNode *node = tree->root, *found = NULL;
    uint64_t steps = 0;

    for (; node; steps++) {
        if (order(node, key) < 0) {
            node = node->child[1];
        } else {
            found = node;
            node = node->child[0];
        }
    }
    steps_taken += steps;
    return found;
}
