/* SPDX-License-Identifier: MIT */
#include <glib.h>

#include "base/tree.h"

typedef struct Item {
    McNode node;
    uint64_t key;
    uint64_t sum; /* of the keys of the subtree */
} Item;

static Item *of(const McNode *node)
{
    return mc_container_of(node, Item, node);
}

static int compare(const McNode *a, const McNode *b)
{
    return mc_order(of(a)->key, of(b)->key);
}

static int order(const McNode *node, const void *key)
{
    return mc_order(of(node)->key, *(const uint64_t *)key);
}

static void update(McNode *node)
{
    of(node)->sum = of(node)->key;
    for (int i = 0; i < 2; i++) {
        of(node)->sum += node->child[i] ? of(node->child[i])->sum : 0;
    }
}

/* Heights, parents, order and sums are right everywhere. */
static int check(const McNode *node, const McNode *parent, uint64_t *sum,
                 size_t *count)
{
    uint64_t sums[2] = {0, 0};
    int heights[2] = {0, 0};

    if (!node) {
        return 0;
    }
    g_assert_true(node->parent == parent);
    for (int i = 0; i < 2; i++) {
        const McNode *child = node->child[i];

        g_assert_true(!child || (of(child)->key > of(node)->key) == i);
        heights[i] = check(child, node, &sums[i], count);
    }
    g_assert_cmpint(ABS(heights[0] - heights[1]), <=, 1);
    g_assert_cmpint(node->height, ==, 1 + MAX(heights[0], heights[1]));
    *sum = sums[0] + sums[1] + of(node)->key;
    g_assert_cmpuint(of(node)->sum, ==, *sum);
    (*count)++;
    return node->height;
}

static void check_tree(const McTree *tree)
{
    size_t count = 0;
    uint64_t sum;

    check(tree->root, NULL, &sum, &count);
    g_assert_cmpuint(tree->count, ==, count);
}

static void test_random(void)
{
    enum { KEYS = 200, STEPS = 20000 };
    McTree tree = {.compare = compare, .update = update};
    static Item items[KEYS];
    bool in[KEYS] = {false};
    GRand *rand = g_rand_new_with_seed(7);

    for (unsigned step = 0; step < STEPS; step++) {
        unsigned i = g_rand_int_range(rand, 0, KEYS);
        uint64_t key = g_rand_int_range(rand, 0, KEYS), next = key;

        items[i].key = i;
        if (in[i] && step % 3) {
            Item same = {.key = i};

            g_assert_false(mc_tree_insert(&tree, &same.node));
            mc_tree_remove(&tree, &items[i].node);
            in[i] = false;
        } else if (!in[i]) {
            g_assert_true(mc_tree_insert(&tree, &items[i].node));
            in[i] = true;
        }
        check_tree(&tree);
        while (next < KEYS && !in[next]) {
            next++;
        }
        McNode *found = mc_tree_lower(&tree, &key, order);
        g_assert_true(found == (next < KEYS ? &items[next].node : NULL));
    }
    McNode *node = mc_tree_first(&tree), *last = NULL;
    for (unsigned i = 0; i < KEYS; i++) {
        if (in[i]) {
            g_assert_true(node == &items[i].node);
            g_assert_true(mc_tree_previous(node) == last);
            last = node;
            node = mc_tree_next(node);
        }
    }
    g_assert_null(node);
    g_rand_free(rand);
}

/* An AVL tree is at most 1.45 times as high as its number of nodes has bits. */
static void test_cost(void)
{
    enum { COUNT = 100000, HEIGHT = 25 };
    McTree tree = {.compare = compare, .update = update};
    Item *items = g_new0(Item, COUNT);
    uint64_t before;

    for (unsigned descending = 0; descending < 2; descending++) {
        for (unsigned i = 0; i < COUNT; i++) {
            items[i].key = descending ? COUNT - i : i;
            before = mc_tree_steps();
            g_assert_true(mc_tree_insert(&tree, &items[i].node));
            g_assert_cmpuint(mc_tree_steps() - before, <=, 2 * HEIGHT);
        }
        check_tree(&tree);
        g_assert_cmpint(tree.root->height, <=, HEIGHT);
        for (unsigned i = 0; i < COUNT; i++) {
            before = mc_tree_steps();
            mc_tree_remove(&tree, &items[i * 7ull % COUNT].node);
            g_assert_cmpuint(mc_tree_steps() - before, <=, 3 * HEIGHT);
        }
        g_assert_null(tree.root);
    }
    g_free(items);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tree/random", test_random);
    g_test_add_func("/tree/cost", test_cost);
    return g_test_run();
}
