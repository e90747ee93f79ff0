// SPDX-License-Identifier: MIT
// What NVRTC compiled is linked by the driver's interface as "PTX": several
// sources with -rdc=true, and one that needs no link.
#include "program.h"

#include <cuda.h>
#include <nvrtc.h>

#include <cstring>

#define DRIVER(call)                                                           \
    do {                                                                       \
        CUresult result_ = (call);                                             \
        if (result_ != CUDA_SUCCESS) {                                         \
            fprintf(stderr, "%d: %s: %d\n", __LINE__, #call, (int)result_);    \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

static std::vector<char> compile(const char *source, bool relocatable)
{
    const char *options[] = {"--gpu-architecture=compute_80", "-rdc=true"};
    nvrtcProgram program;
    size_t size;

    REQUIRE(!nvrtcCreateProgram(&program, source, "part.cu", 0, nullptr,
                                nullptr));
    REQUIRE(!nvrtcCompileProgram(program, relocatable ? 2 : 1, options));
    REQUIRE(!nvrtcGetPTXSize(program, &size));
    std::vector<char> code(size);
    REQUIRE(!nvrtcGetPTX(program, code.data()));
    REQUIRE(!nvrtcDestroyProgram(&program));
    return code;
}

static CUresult add(CUlinkState state, std::vector<char> &code)
{
    return cuLinkAddData(state, CU_JIT_INPUT_PTX, code.data(), code.size(),
                         "part", 0, nullptr, nullptr);
}

static int run(CUlinkState state)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr out;
    void *image, *args[] = {&out};
    size_t size;
    int value;

    DRIVER(cuLinkComplete(state, &image, &size));
    DRIVER(cuModuleLoadData(&module, image));
    DRIVER(cuLinkDestroy(state));
    DRIVER(cuModuleGetFunction(&function, module, "k"));
    DRIVER(cuMemAlloc(&out, sizeof value));
    DRIVER(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, args,
                          nullptr));
    DRIVER(cuMemcpyDtoH(&value, out, sizeof value));
    DRIVER(cuModuleUnload(module));
    DRIVER(cuMemFree(out));
    return value;
}

int main()
{
    CUdevice device;
    CUcontext context;
    CUlinkState state;
    float milliseconds = -1;
    char log[1024] = "";
    CUjit_option options[] = {CU_JIT_WALL_TIME, CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {&milliseconds, log, (void *)sizeof log};

    DRIVER(cuInit(0));
    DRIVER(cuDeviceGet(&device, 0));
    DRIVER(cuCtxCreate(&context, 0, device));
    std::vector<char> kernel = compile(
        "extern __device__ int twice(int);\n"
        "extern \"C\" __global__ void k(int *p) { *p = twice(21); }", true);
    std::vector<char> part = compile(
        "__device__ int twice(int x) { return 2 * x; }", true);
    std::vector<char> whole = compile(
        "extern \"C\" __global__ void k(int *p) { *p = 7; }", false);

    DRIVER(cuLinkCreate(3, options, values, &state));
    DRIVER(add(state, kernel));
    DRIVER(add(state, part));
    REQUIRE(run(state) == 42);
    memcpy(&milliseconds, &values[0], sizeof milliseconds);
    REQUIRE(milliseconds > 0);

    DRIVER(cuLinkCreate(0, nullptr, nullptr, &state));
    DRIVER(add(state, whole));
    REQUIRE(run(state) == 7);

    std::vector<char> text(64, 0);
    strcpy(text.data(), ".version 7.0\n.target sm_80\n");
    values[2] = (void *)sizeof log; // it was written to
    DRIVER(cuLinkCreate(3, options, values, &state));
    REQUIRE(add(state, text) == CUDA_ERROR_INVALID_IMAGE);
    REQUIRE(strstr(log, "part"));
    DRIVER(cuLinkDestroy(state));
    DRIVER(cuCtxDestroy(context));
    return passed();
}
