// SPDX-License-Identifier: MIT
// A kernel that is compiled while the program runs.
#include "program.h"

#include <cuda.h>
#include <nvrtc.h>

#include <string>

#define NVRTC(call) REQUIRE((call) == NVRTC_SUCCESS)

static const char *source = R"(
template <typename T> __global__ void axpy(T a, const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        y[i] = a * x[i] + OFFSET + y[i];
    }
}
)";

int main()
{
    const int n = 300;
    nvrtcProgram program;
    size_t size = 0;
    const char *options[] = {"-DOFFSET=2", "--std=c++14"};
    const char *name = nullptr;
    CUmodule module;
    CUfunction function;
    std::vector<float> x(n), y(n, 1);

    NVRTC(nvrtcCreateProgram(&program, source, "axpy.cu", 0, nullptr,
                             nullptr));
    NVRTC(nvrtcAddNameExpression(program, "axpy<float>"));
    NVRTC(nvrtcCompileProgram(program, 2, options));
    NVRTC(nvrtcGetLoweredName(program, "axpy<float>", &name));
    REQUIRE(name && *name);
    NVRTC(nvrtcGetPTXSize(program, &size));
    REQUIRE(size > 0);
    std::string code(size, '\0');
    NVRTC(nvrtcGetPTX(program, &code[0]));

    for (int i = 0; i < n; i++) {
        x[i] = i;
    }
    float *dx = device_copy(x), *dy = device_copy(y), a = 3;
    int count = n;
    void *args[] = {&a, &dx, &dy, &count};
    REQUIRE(cuModuleLoadData(&module, code.data()) == CUDA_SUCCESS);
    REQUIRE(cuModuleGetFunction(&function, module, name) == CUDA_SUCCESS);
    REQUIRE(cuLaunchKernel(function, 3, 1, 1, 128, 1, 1, 0, nullptr, args,
                           nullptr) == CUDA_SUCCESS);
    CHECK(cudaDeviceSynchronize());
    y = host_copy(dy, n);
    for (int i = 0; i < n; i++) {
        REQUIRE(y[i] == 3.0f * i + 3);
    }
    REQUIRE(cuModuleUnload(module) == CUDA_SUCCESS);
    NVRTC(nvrtcDestroyProgram(&program));

    /* What is wrong is said. */
    NVRTC(nvrtcCreateProgram(&program, "__global__ void k() { nobody(); }",
                             nullptr, 0, nullptr, nullptr));
    REQUIRE(nvrtcCompileProgram(program, 0, nullptr) ==
            NVRTC_ERROR_COMPILATION);
    NVRTC(nvrtcGetProgramLogSize(program, &size));
    std::string log(size, '\0');
    NVRTC(nvrtcGetProgramLog(program, &log[0]));
    REQUIRE(log.find("nobody") != std::string::npos);
    NVRTC(nvrtcDestroyProgram(&program));
    return passed();
}
