// SPDX-License-Identifier: MIT
// The programs of runtime/samples/programs in plain C++ on one core.
// usage: plain PROGRAM RUNS
#include "align.h"
#include "bfs.h"
#include "fft.h"
#include "means.h"
#include "option.h"
#include "queens.h"
#include "sort.h"
#include "spmv.h"
#include "stencil.h"
#include "table.h"

#include <cstring>

template <class Work> static int run(const char *name, int argc, char **argv)
{
    Program program(name, argc, argv);
    Work work;

    while (program.again()) {
        program.start();
        auto found = work.plain();
        program.stop();
        program.result(work.right(found));
    }
    return program.verdict();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(const char *name, int argc, char **argv);
    } programs[] = {
        {"spmv", run<Spmv>},           {"bfs", run<Bfs>},
        {"radixSort", run<Sort>},      {"stencil", run<Stencil>},
        {"nQueens", run<Queens>},      {"smithWaterman", run<Align>},
        {"fft", run<Fft>},             {"kMeans", run<Means>},
        {"hashTable", run<Table>},     {"monteCarlo", run<Option>},
    };

    for (const auto &p : programs) {
        if (argc == 3 && !strcmp(argv[1], p.name)) {
            return p.run(p.name, argc - 1, argv + 1);
        }
    }
    fprintf(stderr, "usage: plain PROGRAM RUNS\n");
    return 2;
}
