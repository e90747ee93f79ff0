// SPDX-License-Identifier: MIT
// Loads a code object made by mxcc -fatbin from a file and from memory, finds a
// kernel and two variables in it by name, and launches the kernel with
// kernelParams and with a packed argument buffer ("extra").
// usage: module-load [FILE]; without, a copy of the built-in one.
#include "check.h"
#include "module-load/kernels.h"

#include <unistd.h>

#include <string>
#include <vector>

// The code object, inside this program.
__asm__(".pushsection .rodata\n"
        ".balign 4096\n"
        ".globl code_object, code_object_end\n"
        "code_object: .incbin \"" CODE_OBJECT "\"\n"
        "code_object_end:\n"
        ".popsection\n");
extern "C" const char code_object[], code_object_end[];

constexpr int N = 1000, THREADS = 128;

static std::string temporary_file()
{
    char path[] = "/tmp/module-load-XXXXXX";
    size_t size = code_object_end - code_object;
    int fd = mkstemp(path);

    if (fd < 0 || write(fd, code_object, size) != (ssize_t)size) {
        perror(path);
        exit(2);
    }
    close(fd);
    return path;
}

static bool run(mcModule_t module, bool packed)
{
    const Curve curve = { 2, -3, 0.5 };
    const Range range = { -1.5f, 0, 2.5 };
    std::vector<double> x(N), y(N);
    double *dev_x, *dev_y;
    mcFunction_t evaluate, nothing;
    mcDeviceptr_t var;
    size_t size;
    unsigned long long calls = 0;
    int n = N;
    bool ok;

    for (int i = 0; i < N; i++) {
        x[i] = (i - N / 2) / 100.0;
    }
    CHECK(mcModuleGetFunction(&evaluate, module, "evaluate"));
    ok = mcModuleGetFunction(&nothing, module, "nothing") != mcSuccess;
    CHECK(mcModuleGetGlobal(&var, &size, module, "curve"));
    ok = ok && size == sizeof(curve);
    CHECK(mcMemcpy(var, &curve, sizeof(curve), mcMemcpyHostToDevice));
    CHECK(mcModuleGetGlobal(&var, &size, module, "calls"));
    CHECK(mcMemcpy(var, &calls, sizeof(calls), mcMemcpyHostToDevice));
    CHECK(mcMalloc(&dev_x, N * sizeof(double)));
    CHECK(mcMalloc(&dev_y, N * sizeof(double)));
    CHECK(mcMemcpy(dev_x, x.data(), N * sizeof(double), mcMemcpyHostToDevice));
    if (packed) {
        struct {
            double *x, *y;
            int n;
            Range range;
        } args = { dev_x, dev_y, n, range };
        size_t bytes = sizeof(args);
        void *extra[] = { MC_LAUNCH_PARAM_BUFFER_POINTER, &args,
                          MC_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                          MC_LAUNCH_PARAM_END };

        CHECK(mcModuleLaunchKernel(evaluate, (N + THREADS - 1) / THREADS, 1, 1,
                                   THREADS, 1, 1, 0, nullptr, nullptr, extra));
    } else {
        void *params[] = { &dev_x, &dev_y, &n, (void *)&range };

        CHECK(mcModuleLaunchKernel(evaluate, (N + THREADS - 1) / THREADS, 1, 1,
                                   THREADS, 1, 1, 0, nullptr, params, nullptr));
    }
    CHECK(mcMemcpy(y.data(), dev_y, N * sizeof(double), mcMemcpyDeviceToHost));
    CHECK(mcMemcpy(&calls, var, sizeof(calls), mcMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        double t = x[i] < range.low ? range.low : x[i];
        double e;

        t = t > range.high ? range.high : t;
        e = y[i] - (curve.a + t * (curve.b + t * curve.c));
        ok = ok && e < 1e-12 && e > -1e-12;
    }
    CHECK(mcFree(dev_x));
    CHECK(mcFree(dev_y));
    printf("%s arguments: %llu calls\n", packed ? "packed" : "listed", calls);
    return ok && calls == N;
}

int main(int argc, char **argv)
{
    std::string path = argc > 1 ? argv[1] : temporary_file();
    mcModule_t from_file, from_memory;
    bool ok;

    CHECK(mcModuleLoad(&from_file, path.c_str()));
    if (argc <= 1) {
        unlink(path.c_str());
    }
    CHECK(mcModuleLoadData(&from_memory, code_object));
    ok = run(from_file, false);
    ok = run(from_memory, true) && ok;
    CHECK(mcModuleUnload(from_file));
    CHECK(mcModuleUnload(from_memory));
    return verdict("module-load", ok);
}
