// SPDX-License-Identifier: MIT
// The programs of runtime/samples on an OpenCL device, with programs.cl.
// usage: programs SOURCE-DIR PROGRAM RUNS
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

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
#include <fstream>
#include <sstream>
#include <string>

#define CHECK(call)                                                            \
    do {                                                                       \
        cl_int err_ = (call);                                                  \
        if (err_ != CL_SUCCESS) {                                              \
            fprintf(stderr, "programs: %s: error %d\n", #call, err_);          \
            exit(2);                                                           \
        }                                                                      \
    } while (0)

struct Shape {
    size_t global[2], local[2];

    Shape(size_t blocks, size_t block)
        : global {blocks * block, 1}, local {block, 1}
    {
    }
    Shape(size_t bx, size_t by, size_t tx, size_t ty)
        : global {bx * tx, by * ty}, local {tx, ty}
    {
    }
};

// The device of the only platform, with all kernels.
class Device {
public:
    explicit Device(const std::string &folder)
    {
        cl_platform_id platform;
        cl_int err;

        CHECK(clGetPlatformIDs(1, &platform, NULL));
        CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, NULL));
        context_ = clCreateContext(NULL, 1, &device_, NULL, NULL, &err);
        CHECK(err);
        queue_ = clCreateCommandQueue(context_, device_, 0, &err);
        CHECK(err);
        build(folder + "/programs.cl");
    }
    cl_kernel kernel(const char *name)
    {
        cl_int err;
        cl_kernel k = clCreateKernel(program_, name, &err);

        CHECK(err);
        return k;
    }
    template <class T> cl_mem to_device(const std::vector<T> &host)
    {
        cl_int err;
        cl_mem mem = clCreateBuffer(
            context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
            host.size() * sizeof(T), (void *)host.data(), &err);

        CHECK(err);
        return mem;
    }
    template <class T> void write(cl_mem to, const std::vector<T> &host)
    {
        CHECK(clEnqueueWriteBuffer(queue_, to, CL_TRUE, 0,
                                   host.size() * sizeof(T), host.data(), 0,
                                   NULL, NULL));
    }
    template <class T> void read(std::vector<T> &host, cl_mem from)
    {
        CHECK(clEnqueueReadBuffer(queue_, from, CL_TRUE, 0,
                                  host.size() * sizeof(T), host.data(), 0, NULL,
                                  NULL));
    }
    void fill(cl_mem mem, uint32_t word, size_t words)
    {
        CHECK(clEnqueueFillBuffer(queue_, mem, &word, 4, 0, 4 * words, 0, NULL,
                                  NULL));
    }
    template <class... A> void run(cl_kernel k, const Shape &shape, A... args)
    {
        cl_uint i = 0;

        (set(k, i++, args), ...);
        CHECK(clEnqueueNDRangeKernel(queue_, k, 2, NULL, shape.global,
                                     shape.local, 0, NULL, NULL));
    }
    void finish()
    {
        CHECK(clFinish(queue_));
    }

private:
    template <class T> void set(cl_kernel k, cl_uint i, T value)
    {
        CHECK(clSetKernelArg(k, i, sizeof(value), &value));
    }
    void build(const std::string &path)
    {
        std::ifstream file(path);
        std::stringstream text, options;
        std::vector<char> log(1 << 16);
        cl_int err;

        text << file.rdbuf();
        std::string source = text.str();
        if (source.empty()) {
            fprintf(stderr, "programs: cannot read %s\n", path.c_str());
            exit(2);
        }
        const char *pointer = source.c_str();
        program_ = clCreateProgramWithSource(context_, 1, &pointer, NULL, &err);
        CHECK(err);
#define OPTION(name) options << " -D" #name "=" << (long)name
        OPTION(SORT_THREADS), OPTION(SORT_EACH), OPTION(SORT_BLOCKS);
        OPTION(SORT_DIGITS), OPTION(STENCIL_X), OPTION(STENCIL_Y);
        OPTION(QUEENS), OPTION(QUEENS_SET), OPTION(QUEENS_ALL);
        OPTION(ALIGN_QUERY), OPTION(ALIGN_TARGET), OPTION(ALIGN_MATCH);
        OPTION(ALIGN_MISMATCH), OPTION(ALIGN_GAP), OPTION(FFT_LOG);
        OPTION(FFT_N), OPTION(FFT_THREADS), OPTION(MEANS), OPTION(TABLE_KEYS);
        OPTION(TABLE_SLOTS), OPTION(TABLE_LOOKUPS), OPTION(OPTION_BLOCK);
        OPTION(OPTION_PATHS);
#undef OPTION
        if (clBuildProgram(program_, 1, &device_, options.str().c_str(), NULL,
                           NULL) != CL_SUCCESS) {
            clGetProgramBuildInfo(program_, device_, CL_PROGRAM_BUILD_LOG,
                                  log.size(), log.data(), NULL);
            fprintf(stderr, "programs: build failed\n%s\n", log.data());
            exit(2);
        }
    }

    cl_device_id device_;
    cl_context context_;
    cl_command_queue queue_;
    cl_program program_;
};

static void spmv(Program &program, Device &d)
{
    Spmv work;
    cl_kernel multiply = d.kernel("spmv");
    cl_mem start = d.to_device(work.start), column = d.to_device(work.column);
    cl_mem value = d.to_device(work.value);
    cl_mem from = d.to_device(work.x), to = d.to_device(work.x);
    std::vector<float> y(SPMV_ROWS);

    while (program.again()) {
        d.write(from, work.x);
        program.start();
        for (int i = 0; i < SPMV_TIMES; i++) {
            d.run(multiply, {(SPMV_ROWS + 255) / 256, 256}, SPMV_ROWS, start,
                  column, value, from, to);
            std::swap(from, to);
        }
        d.finish();
        program.stop();
        d.read(y, from);
        program.result(work.right(y));
    }
}

static void bfs(Program &program, Device &d)
{
    Bfs work;
    cl_kernel expand = d.kernel("bfs");
    std::vector<int> level(BFS_NODES, -1), size(1);
    cl_mem start = d.to_device(work.start), target = d.to_device(work.target);
    cl_mem found = d.to_device(level), frontier = d.to_device(level);
    cl_mem next = d.to_device(level), count = d.to_device(size);

    while (program.again()) {
        d.fill(found, ~0u, BFS_NODES);
        d.fill(found, 0, 1);
        d.fill(frontier, 0, 1);
        d.finish();
        size[0] = 1;
        program.start();
        for (int depth = 1; size[0]; depth++) {
            d.fill(count, 0, 1);
            d.run(expand, {(size_t)(size[0] + 255) / 256, 256}, start, target,
                  frontier, size[0], depth, found, next, count);
            d.read(size, count);
            std::swap(frontier, next);
        }
        program.stop();
        d.read(level, found);
        program.result(work.right(level));
    }
}

static void radix_sort(Program &program, Device &d)
{
    Sort work;
    cl_kernel count = d.kernel("sort_count"), sum = d.kernel("sort_sum");
    cl_kernel scatter = d.kernel("sort_scatter");
    std::vector<uint32_t> found(SORT_KEYS);
    cl_mem keys = d.to_device(work.keys), sorted = d.to_device(work.keys);
    cl_mem counts =
        d.to_device(std::vector<uint32_t>(SORT_DIGITS * SORT_BLOCKS));

    while (program.again()) {
        d.write(keys, work.keys);
        program.start();
        for (int shift = 0; shift < 32; shift += SORT_BITS) {
            d.run(count, {SORT_BLOCKS, SORT_THREADS}, keys, shift, counts);
            d.run(sum, {1, SORT_THREADS}, counts);
            d.run(scatter, {SORT_BLOCKS, SORT_THREADS}, keys, shift, counts,
                  sorted);
            std::swap(keys, sorted);
        }
        d.finish();
        program.stop();
        d.read(found, keys);
        program.result(work.right(found));
    }
}

static void stencil(Program &program, Device &d)
{
    Stencil work;
    cl_kernel step = d.kernel("stencil");
    std::vector<float> found(work.begin);
    cl_mem from = d.to_device(work.begin), to = d.to_device(work.begin);

    while (program.again()) {
        d.write(from, work.begin);
        program.start();
        for (int i = 0; i < STENCIL_STEPS; i++) {
            d.run(step, {STENCIL_N / STENCIL_X, STENCIL_N / STENCIL_Y,
                         STENCIL_X, STENCIL_Y}, from, to, STENCIL_N);
            std::swap(from, to);
        }
        d.finish();
        program.stop();
        d.read(found, from);
        program.result(work.right(found));
    }
}

static void queens(Program &program, Device &d)
{
    Queens work;
    cl_kernel solve = d.kernel("queens");
    std::vector<uint32_t> found(1);
    cl_mem jobs = d.to_device(work.jobs), total = d.to_device(found);

    while (program.again()) {
        d.fill(total, 0, 1);
        d.finish();
        program.start();
        d.run(solve, {(size_t)(work.count() + 63) / 64, 64}, jobs, work.count(),
              total);
        d.finish();
        program.stop();
        d.read(found, total);
        program.result(work.right(found[0]));
    }
}

static void smith_waterman(Program &program, Device &d)
{
    Align work;
    cl_kernel align = d.kernel("align_pairs");
    std::vector<int> found(ALIGN_PAIRS);
    cl_mem query = d.to_device(work.query), target = d.to_device(work.target);
    cl_mem scores = d.to_device(found);

    while (program.again()) {
        d.fill(scores, 0, ALIGN_PAIRS);
        d.finish();
        program.start();
        d.run(align, {ALIGN_PAIRS, ALIGN_QUERY}, query, target, scores);
        d.finish();
        program.stop();
        d.read(found, scores);
        program.result(work.right(found));
    }
}

static void fft(Program &program, Device &d)
{
    Fft work;
    cl_kernel transform = d.kernel("fft");
    std::vector<float> found(work.signals.size());
    cl_mem signals = d.to_device(work.signals), roots = d.to_device(work.roots);
    cl_mem out = d.to_device(found);

    while (program.again()) {
        d.fill(out, 0, found.size());
        d.finish();
        program.start();
        d.run(transform, {FFT_SIGNALS, FFT_THREADS}, signals, roots, out);
        d.finish();
        program.stop();
        d.read(found, out);
        program.result(work.right(found));
    }
}

static void k_means(Program &program, Device &d)
{
    Means work;
    cl_kernel assign = d.kernel("means_assign"), move = d.kernel("means_move");
    std::vector<float> found(2 * MEANS);
    cl_mem points = d.to_device(work.points), means = d.to_device(work.begin);
    cl_mem sums = d.to_device(std::vector<float>(3 * MEANS));

    while (program.again()) {
        d.write(means, work.begin);
        program.start();
        for (int i = 0; i < MEANS_STEPS; i++) {
            d.run(assign, {(MEANS_POINTS + 255) / 256, 256}, points,
                  MEANS_POINTS, means, sums);
            d.run(move, {1, MEANS}, means, sums);
        }
        d.finish();
        program.stop();
        d.read(found, means);
        program.result(work.right(found));
    }
}

static void hash_table(Program &program, Device &d)
{
    Table work;
    cl_kernel insert = d.kernel("table_insert");
    cl_kernel look_up = d.kernel("table_look_up");
    std::vector<uint32_t> found(TABLE_LOOKUPS), slots(TABLE_SLOTS);
    cl_mem keys = d.to_device(work.keys), lookups = d.to_device(work.lookups);
    cl_mem out = d.to_device(found), slot = d.to_device(slots);
    cl_mem value = d.to_device(slots);

    while (program.again()) {
        d.fill(out, ~0u, TABLE_LOOKUPS);
        d.finish();
        program.start();
        d.fill(slot, 0, TABLE_SLOTS);
        d.run(insert, {(TABLE_KEYS + 255) / 256, 256}, keys, slot, value);
        d.run(look_up, {(TABLE_LOOKUPS + 255) / 256, 256}, lookups, slot, value,
              out);
        d.finish();
        program.stop();
        d.read(found, out);
        program.result(work.right(found));
    }
}

static void monte_carlo(Program &program, Device &d)
{
    Option work;
    cl_kernel simulate = d.kernel("option_paths");
    std::vector<float> sums(OPTION_THREADS / OPTION_BLOCK);
    cl_mem device_sums = d.to_device(sums);

    while (program.again()) {
        double sum = 0;

        d.fill(device_sums, 0, sums.size());
        d.finish();
        program.start();
        d.run(simulate, {OPTION_THREADS / OPTION_BLOCK, OPTION_BLOCK},
              OPTION_DRIFT, OPTION_SPREAD, OPTION_PRICE, OPTION_STRIKE,
              device_sums);
        d.finish();
        program.stop();
        d.read(sums, device_sums);
        for (float s : sums) {
            sum += s;
        }
        program.result(work.right(Option::price(sum)));
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(Program &program, Device &device);
    } programs[] = {
        {"spmv", spmv},           {"bfs", bfs},
        {"radixSort", radix_sort}, {"stencil", stencil},
        {"nQueens", queens},      {"smithWaterman", smith_waterman},
        {"fft", fft},             {"kMeans", k_means},
        {"hashTable", hash_table}, {"monteCarlo", monte_carlo},
    };

    for (const auto &p : programs) {
        if (argc == 4 && !strcmp(argv[2], p.name)) {
            Program program(p.name, argc - 2, argv + 2);
            Device device(argv[1]);

            p.run(program, device);
            return program.verdict();
        }
    }
    fprintf(stderr, "usage: programs SOURCE-DIR PROGRAM RUNS\n");
    return 2;
}
