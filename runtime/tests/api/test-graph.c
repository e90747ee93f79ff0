/* SPDX-License-Identifier: MIT */
/* Graphs as objects: nodes, edges, copies. */
#include "env.h"

static mcGraph_t new_graph(void)
{
    mcGraph_t graph = NULL;

    ok(mcGraphCreate(&graph, 0));
    g_assert_nonnull(graph);
    return graph;
}

/* An empty node behind count others. */
static mcGraphNode_t empty(mcGraph_t graph, const mcGraphNode_t *behind,
                           size_t count)
{
    mcGraphNode_t node = NULL;

    ok(mcGraphAddEmptyNode(&node, graph, behind, count));
    g_assert_nonnull(node);
    return node;
}

static size_t node_count(mcGraph_t graph)
{
    size_t count = 99;

    ok(mcGraphGetNodes(graph, NULL, &count));
    return count;
}

static size_t edge_count(mcGraph_t graph)
{
    size_t count = 99;

    ok(mcGraphGetEdges(graph, NULL, NULL, &count));
    return count;
}

static void test_create(void)
{
    mcGraph_t graph = NULL;

    fails(mcErrorInvalidValue, mcGraphCreate(NULL, 0));
    fails(mcErrorInvalidValue, mcGraphCreate(&graph, 1));
    g_assert_null(graph);
    graph = new_graph();
    g_assert_cmpuint(node_count(graph), ==, 0);
    g_assert_cmpuint(edge_count(graph), ==, 0);
    ok(mcGraphDestroy(graph));
    fails(mcErrorInvalidValue, mcGraphDestroy(graph));
}

/* One, two behind it, and one behind both. */
static void diamond(mcGraph_t graph, mcGraphNode_t node[4])
{
    node[0] = empty(graph, NULL, 0);
    node[1] = empty(graph, &node[0], 1);
    node[2] = empty(graph, &node[0], 1);
    node[3] = empty(graph, &node[1], 2);
}

static void test_lists(void)
{
    mcGraph_t graph = new_graph();
    mcGraphNode_t node[4], got[6], to[6];
    size_t n = 6;

    diamond(graph, node);
    g_assert_cmpuint(node_count(graph), ==, 4);
    ok(mcGraphGetNodes(graph, got, &n));
    g_assert_cmpuint(n, ==, 4);
    g_assert_cmpmem(got, sizeof(node), node, sizeof(node));
    g_assert_null(got[4]);
    g_assert_null(got[5]);
    n = 2;
    got[2] = NULL;
    ok(mcGraphGetNodes(graph, got, &n));
    g_assert_cmpuint(n, ==, 2);
    g_assert_null(got[2]);
    n = 6;
    ok(mcGraphGetRootNodes(graph, got, &n));
    g_assert_cmpuint(n, ==, 1);
    g_assert_true(got[0] == node[0]);
    n = 6;
    ok(mcGraphGetEdges(graph, got, to, &n));
    g_assert_cmpuint(n, ==, 4);
    g_assert_true(got[0] == node[0] && to[0] == node[1]);
    g_assert_true(got[3] == node[2] && to[3] == node[3]);
    n = 6;
    ok(mcGraphNodeGetDependencies(node[3], got, &n));
    g_assert_cmpuint(n, ==, 2);
    g_assert_true(got[0] == node[1] && got[1] == node[2]);
    n = 6;
    ok(mcGraphNodeGetDependentNodes(node[3], got, &n));
    g_assert_cmpuint(n, ==, 0);
    ok(mcGraphNodeGetDependentNodes(node[0], NULL, &n));
    g_assert_cmpuint(n, ==, 2);
    ok(mcGraphDestroy(graph));
}

static void test_list_errors(void)
{
    mcGraph_t graph = new_graph();
    mcGraphNode_t node = empty(graph, NULL, 0), got[1];
    mcGraphNodeType type;
    size_t n = 1;

    fails(mcErrorInvalidValue, mcGraphGetNodes(graph, got, NULL));
    fails(mcErrorInvalidValue, mcGraphGetRootNodes(graph, got, NULL));
    fails(mcErrorInvalidValue, mcGraphGetEdges(graph, got, got, NULL));
    fails(mcErrorInvalidValue, mcGraphGetEdges(graph, got, NULL, &n));
    fails(mcErrorInvalidValue, mcGraphGetEdges(graph, NULL, got, &n));
    fails(mcErrorInvalidValue, mcGraphNodeGetDependencies(node, got, NULL));
    fails(mcErrorInvalidValue, mcGraphNodeGetDependentNodes(node, got, NULL));
    fails(mcErrorInvalidValue, mcGraphNodeGetType(node, NULL));
    ok(mcGraphNodeGetType(node, &type));
    g_assert_cmpint(type, ==, mcGraphNodeTypeEmpty);
    ok(mcGraphDestroy(graph));
    /* Its nodes go with it. */
    fails(mcErrorInvalidValue, mcGraphNodeGetType(node, &type));
    fails(mcErrorInvalidValue, mcGraphDestroyNode(node));
}

static void test_edges(void)
{
    mcGraph_t graph = new_graph(), other = new_graph();
    mcGraphNode_t node[4], stranger = empty(other, NULL, 0);

    for (int i = 0; i < 4; i++) {
        node[i] = empty(graph, NULL, 0);
    }
    ok(mcGraphAddDependencies(graph, &node[0], &node[1], 3));
    g_assert_cmpuint(edge_count(graph), ==, 3);
    /* There already, twice, of itself, of another graph: none is made. */
    const mcGraphNode_t from[] = {node[0], node[0]};
    const mcGraphNode_t to[][2] = {
        {node[2], node[1]}, {node[2], node[2]}, {node[2], node[0]},
        {node[2], stranger}, {node[2], NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(to); i++) {
        fails(mcErrorInvalidValue,
              mcGraphAddDependencies(graph, from, to[i], 2));
        g_assert_cmpuint(edge_count(graph), ==, 3);
    }
    fails(mcErrorInvalidValue, mcGraphAddDependencies(graph, NULL, node, 1));
    fails(mcErrorInvalidValue, mcGraphAddDependencies(graph, node, NULL, 1));
    ok(mcGraphAddDependencies(graph, NULL, NULL, 0));
    /* The second one is not there: both stay. */
    const mcGraphNode_t gone[] = {node[1], node[3]};
    fails(mcErrorInvalidValue,
          mcGraphRemoveDependencies(graph, from, gone, 2));
    g_assert_cmpuint(edge_count(graph), ==, 3);
    ok(mcGraphRemoveDependencies(graph, &node[0], &node[1], 1));
    g_assert_cmpuint(edge_count(graph), ==, 2);
    fails(mcErrorInvalidValue,
          mcGraphRemoveDependencies(graph, &node[0], &node[1], 1));
    fails(mcErrorInvalidValue,
          mcGraphRemoveDependencies(graph, NULL, node, 1));
    ok(mcGraphDestroy(other));
    ok(mcGraphDestroy(graph));
}

static void test_add_errors(void)
{
    mcGraph_t graph = new_graph(), other = new_graph();
    mcGraphNode_t out = NULL;
    const mcGraphNode_t own = empty(graph, NULL, 0);
    const mcGraphNode_t twice[] = {own, own};
    const mcGraphNode_t stranger = empty(other, NULL, 0);

    fails(mcErrorInvalidValue, mcGraphAddEmptyNode(NULL, graph, NULL, 0));
    fails(mcErrorInvalidValue, mcGraphAddEmptyNode(&out, NULL, NULL, 0));
    fails(mcErrorInvalidValue, mcGraphAddEmptyNode(&out, graph, NULL, 1));
    fails(mcErrorInvalidValue, mcGraphAddEmptyNode(&out, graph, twice, 2));
    fails(mcErrorInvalidValue, mcGraphAddEmptyNode(&out, graph, &stranger, 1));
    g_assert_null(out);
    g_assert_cmpuint(node_count(graph), ==, 1);
    g_assert_cmpuint(edge_count(graph), ==, 0);
    ok(mcGraphDestroy(graph));
    ok(mcGraphDestroy(other));
}

static void test_destroy_node(void)
{
    mcGraph_t graph = new_graph();
    mcGraphNode_t node[4];
    mcGraphNodeType type;
    size_t n;

    diamond(graph, node);
    ok(mcGraphDestroyNode(node[1]));
    fails(mcErrorInvalidValue, mcGraphDestroyNode(node[1]));
    fails(mcErrorInvalidValue, mcGraphNodeGetType(node[1], &type));
    g_assert_cmpuint(node_count(graph), ==, 3);
    g_assert_cmpuint(edge_count(graph), ==, 2);
    ok(mcGraphNodeGetDependencies(node[3], NULL, &n));
    g_assert_cmpuint(n, ==, 1);
    ok(mcGraphDestroy(graph));
}

/* Graphs belong to no device. */
static void test_reset(void)
{
    mcGraph_t graph = new_graph();
    mcGraphNode_t node[4];

    diamond(graph, node);
    env_forget();
    ok(mcDeviceReset());
    g_assert_cmpuint(node_count(graph), ==, 4);
    ok(mcGraphDestroy(graph));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/graph/create", test_create);
    g_test_add_func("/graph/lists", test_lists);
    g_test_add_func("/graph/list-errors", test_list_errors);
    g_test_add_func("/graph/edges", test_edges);
    g_test_add_func("/graph/add-errors", test_add_errors);
    g_test_add_func("/graph/destroy-node", test_destroy_node);
    g_test_add_func("/graph/reset", test_reset);
    return g_test_run();
}
