/* SPDX-License-Identifier: MIT */
/*
 * The works on an OpenCL device: PoCL, or Oclgrind when its ICD is the only one
 * named. usage: opencl SOURCE-DIR WORK RUNS
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "data.h"

#define CHECK(call)                                                            \
    do {                                                                       \
        cl_int err_ = (call);                                                  \
        if (err_ != CL_SUCCESS) {                                              \
            fprintf(stderr, "opencl: %s: error %d\n", #call, err_);            \
            exit(2);                                                           \
        }                                                                      \
    } while (0)

static const struct {
    const char *kernel;
    size_t global[2], local[2];
} shapes[WORKS] = {
    [SAXPY] = {"saxpy", {SAXPY_N, 1}, {256, 1}},
    [SGEMM] = {"sgemm", {GEMM_N, GEMM_N}, {64, 4}},
    [SGEMM_TILED] = {"sgemm_tiled", {GEMM_N, GEMM_N}, {GEMM_TILE, GEMM_TILE}},
    [MANDELBROT] = {"mandelbrot", {MANDEL_N, MANDEL_N}, {64, 4}},
    [REDUCE] = {"reduce", {REDUCE_N / REDUCE_PER, 1}, {REDUCE_BLOCK, 1}},
    [NBODY] = {"nbody", {NBODY_N, 1}, {256, 1}},
    [HASH] = {"hash", {HASH_N, 1}, {256, 1}},
};

static char *read_source(const char *dir)
{
    static char text[1 << 16];
    char path[4096];

    snprintf(path, sizeof path, "%s/kernels.cl", dir);
    FILE *f = fopen(path, "r");
    if (!f || !fread(text, 1, sizeof text - 1, f)) {
        fprintf(stderr, "opencl: cannot read %s\n", path);
        exit(2);
    }
    fclose(f);
    return text;
}

static cl_kernel build(cl_context context, cl_device_id device, int work,
                       const char *dir)
{
    char options[4200], log[8192] = "";
    const char *source = read_source(dir);
    cl_int err;
    cl_program program =
        clCreateProgramWithSource(context, 1, &source, NULL, &err);

    CHECK(err);
    snprintf(options, sizeof options, "-I%s", dir);
    err = clBuildProgram(program, 1, &device, options, NULL, NULL);
    if (err != CL_SUCCESS) {
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG,
                              sizeof log, log, NULL);
        fprintf(stderr, "opencl: build failed\n%s\n", log);
        exit(2);
    }
    cl_kernel kernel = clCreateKernel(program, shapes[work].kernel, &err);
    CHECK(err);
    return kernel;
}

static cl_mem buffer(cl_context context, cl_kernel kernel, int index,
                     void *data, size_t size)
{
    cl_int err;
    cl_mem mem =
        clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                       size ? size : 4, data, &err);

    CHECK(err);
    CHECK(clSetKernelArg(kernel, (cl_uint)index, sizeof mem, &mem));
    return mem;
}

static double run(cl_command_queue queue, cl_kernel kernel, int work)
{
    double start = bench_now();

    CHECK(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, shapes[work].global,
                                 shapes[work].local, 0, NULL, NULL));
    CHECK(clFinish(queue));
    return bench_now() - start;
}

int main(int argc, char **argv)
{
    int work = argc > 3 ? bench_find(argv[2]) : -1;
    int runs = argc > 3 ? atoi(argv[3]) : 0;
    cl_platform_id platform;
    cl_device_id device;
    cl_int err;

    if (work < 0 || runs < 1) {
        fprintf(stderr, "usage: opencl SOURCE-DIR WORK RUNS\n");
        return 2;
    }
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    cl_context context =
        clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    CHECK(err);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &err);
    CHECK(err);

    BenchData d = bench_data(work);
    cl_kernel kernel = build(context, device, work, argv[1]);
    buffer(context, kernel, 0, d.a, d.a_size);
    buffer(context, kernel, 1, d.b, d.b_size);
    cl_mem out = buffer(context, kernel, 2, d.out, d.out_size);
    for (int i = 0; i < runs; i++) {
        bench_begin(work, &d);
        CHECK(clEnqueueWriteBuffer(queue, out, CL_TRUE, 0, d.out_size, d.out,
                                   0, NULL, NULL));
        double seconds = run(queue, kernel, work);
        CHECK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, d.out_size, d.out, 0,
                                  NULL, NULL));
        bench_report(work, seconds, bench_check(work, &d));
    }
    return 0;
}
