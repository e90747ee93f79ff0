/* SPDX-License-Identifier: MIT */
/* A directed graph: how many edges each node is away from node 0. */
#include "program.h"

constexpr int BFS_NODES = 1 << 17;

struct Bfs {
    std::vector<int> start, target, expected;

    Bfs() : start(1, 0)
    {
        Random random;

        for (int node = 0; node < BFS_NODES; node++) {
            /* Few nodes have many edges. */
            int edges = 2 + random.below(8) + (random.below(64) ? 0 : 60);

            for (int i = 0; i < edges; i++) {
                target.push_back(random.below(BFS_NODES));
            }
            start.push_back((int)target.size());
        }
        expected = plain();
    }
    std::vector<int> plain() const
    {
        std::vector<int> level(BFS_NODES, -1), queue(1, 0);

        level[0] = 0;
        for (size_t i = 0; i < queue.size(); i++) {
            int node = queue[i];

            for (int k = start[node]; k < start[node + 1]; k++) {
                if (level[target[k]] < 0) {
                    level[target[k]] = level[node] + 1;
                    queue.push_back(target[k]);
                }
            }
        }
        return level;
    }
    bool right(const std::vector<int> &level) const
    {
        return level == expected;
    }
};
