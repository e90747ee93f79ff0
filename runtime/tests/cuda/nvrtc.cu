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

// Headers of the device in one source: groups, halves, libcu++ where it is.
static const char *const headers = R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#if __has_include(<cuda/std/cstdint>)
#include <cuda/atomic>
#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <cuda/std/type_traits>
static_assert(cuda::std::is_same<cuda::std::int32_t, int>::value, "");
#endif
namespace cg = cooperative_groups;
extern "C" __global__ void all(int *out)
{
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int sum = cg::reduce(tile, (int)threadIdx.x, cg::plus<int>());

    if (threadIdx.x == 0) {
        *out = sum + (int)__half2float(__float2half(3));
    }
}
)";

static void test_headers()
{
    nvrtcProgram program;
    CUmodule module;
    CUfunction function;
    size_t size;
    int *out = device_new<int>(1);
    void *args[] = {&out};

    NVRTC(nvrtcCreateProgram(&program, headers, "all.cu", 0, nullptr, nullptr));
    NVRTC(nvrtcCompileProgram(program, 0, nullptr));
    NVRTC(nvrtcGetCUBINSize(program, &size));
    std::vector<char> code(size);
    NVRTC(nvrtcGetCUBIN(program, code.data()));
    NVRTC(nvrtcDestroyProgram(&program));
    REQUIRE(cuModuleLoadData(&module, code.data()) == CUDA_SUCCESS);
    REQUIRE(cuModuleGetFunction(&function, module, "all") == CUDA_SUCCESS);
    REQUIRE(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, args,
                           nullptr) == CUDA_SUCCESS);
    REQUIRE(host_copy(out, 1)[0] == 31 * 16 + 3);
    REQUIRE(cuModuleUnload(module) == CUDA_SUCCESS);
}

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
    test_headers();
    return passed();
}
