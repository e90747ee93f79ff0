// SPDX-License-Identifier: MIT
// texture<> and surface<> variables of a module that the driver's interface
// sets up: arrays, rows, linear memory, modes before and after.
#include "program.h"

#include <cuda.h>
#include <nvrtc.h>

#define DRIVER(call)                                                           \
    do {                                                                       \
        CUresult result_ = (call);                                             \
        if (result_ != CUDA_SUCCESS) {                                         \
            fprintf(stderr, "%d: %s: %d\n", __LINE__, #call, (int)result_);    \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

static const char *const source = R"(
texture<float, 2, cudaReadModeElementType> image;
texture<uchar4, cudaTextureType1D, cudaReadModeNormalizedFloat> colours;
texture<int, 1> numbers;
surface<void, cudaSurfaceType2D> canvas;

extern "C" __global__ void at(float *out, float x, float y)
{
    *out = tex2D(image, x, y);
}

extern "C" __global__ void fetch(int *out, int offset)
{
    out[threadIdx.x] = tex1Dfetch(numbers, threadIdx.x + offset);
}

extern "C" __global__ void colour(float4 *out, int i)
{
    *out = tex1Dfetch(colours, i);
}

extern "C" __global__ void draw(float v)
{
    surf2Dwrite(v, canvas, threadIdx.x * 4, threadIdx.y);
}
)";

static CUmodule module;
static CUdeviceptr out;

static void launch(const char *name, unsigned x, unsigned y, void **args)
{
    CUfunction function;

    DRIVER(cuModuleGetFunction(&function, module, name));
    DRIVER(cuLaunchKernel(function, 1, 1, 1, x, y, 1, 0, nullptr, args,
                          nullptr));
    DRIVER(cuCtxSynchronize());
}

static float at(float x, float y)
{
    void *args[] = {&out, &x, &y};
    float v;

    launch("at", 1, 1, args);
    DRIVER(cuMemcpyDtoH(&v, out, sizeof v));
    return v;
}

static void compile()
{
    nvrtcProgram program;
    size_t size;

    REQUIRE(!nvrtcCreateProgram(&program, source, "t.cu", 0, nullptr, nullptr));
    REQUIRE(!nvrtcCompileProgram(program, 0, nullptr));
    REQUIRE(!nvrtcGetPTXSize(program, &size));
    std::vector<char> code(size);
    REQUIRE(!nvrtcGetPTX(program, code.data()));
    REQUIRE(!nvrtcDestroyProgram(&program));
    DRIVER(cuModuleLoadData(&module, code.data()));
}

static CUarray new_array(CUtexref *texture)
{
    CUDA_ARRAY3D_DESCRIPTOR desc = {};
    CUarray array, bound;
    float texels[8][8];

    desc.Width = desc.Height = 8;
    desc.Format = CU_AD_FORMAT_FLOAT;
    desc.NumChannels = 1;
    desc.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    DRIVER(cuArray3DCreate(&array, &desc));
    for (int i = 0; i < 64; i++) {
        texels[i / 8][i % 8] = i;
    }
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = texels;
    copy.srcPitch = copy.WidthInBytes = 32;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.Height = 8;
    DRIVER(cuMemcpy2D(&copy));
    DRIVER(cuModuleGetTexRef(texture, module, "image"));
    REQUIRE(cuTexRefGetArray(&bound, *texture) == CUDA_ERROR_INVALID_VALUE);
    DRIVER(cuTexRefSetArray(*texture, array, CU_TRSA_OVERRIDE_FORMAT));
    DRIVER(cuTexRefGetArray(&bound, *texture));
    REQUIRE(bound == array);
    return array;
}

static CUarray arrays()
{
    CUtexref texture, same;
    CUaddress_mode mode;
    CUfilter_mode filter;
    CUarray array = new_array(&texture);

    for (int i = 0; i < 2; i++) {
        DRIVER(cuTexRefSetAddressMode(texture, i, CU_TR_ADDRESS_MODE_CLAMP));
    }
    REQUIRE(at(3.5f, 2.5f) == 19 && at(3.9f, 2.1f) == 19);
    // Modes behind the array count as well.
    DRIVER(cuTexRefSetFilterMode(texture, CU_TR_FILTER_MODE_LINEAR));
    REQUIRE(at(4, 2.5f) == 19.5f && at(100, 100) == 63);
    DRIVER(cuTexRefSetFlags(texture, CU_TRSF_NORMALIZED_COORDINATES));
    REQUIRE(at(4 / 8.f, 2.5f / 8) == 19.5f);
    DRIVER(cuTexRefSetAddressMode(texture, 0, CU_TR_ADDRESS_MODE_WRAP));
    REQUIRE(at(4 / 8.f + 2, 2.5f / 8) == 19.5f);
    DRIVER(cuTexRefGetAddressMode(&mode, texture, 0));
    DRIVER(cuTexRefGetFilterMode(&filter, texture));
    REQUIRE(mode == CU_TR_ADDRESS_MODE_WRAP);
    REQUIRE(filter == CU_TR_FILTER_MODE_LINEAR);
    DRIVER(cuModuleGetTexRef(&same, module, "image"));
    REQUIRE(same == texture);
    DRIVER(cuTexRefSetFlags(texture, 0));
    return array;
}

static void rows_and_memory()
{
    CUdeviceptr data;
    CUtexref texture;
    CUDA_ARRAY_DESCRIPTOR desc = {4, 3, CU_AD_FORMAT_FLOAT, 1};
    std::vector<float> texels(64 * 3);
    std::vector<int> got(4);
    size_t offset = 1;

    DRIVER(cuMemAlloc(&data, 4096));
    for (int i = 0; i < 64 * 3; i++) {
        texels[i] = i;
    }
    DRIVER(cuMemcpyHtoD(data, texels.data(), texels.size() * 4));
    DRIVER(cuModuleGetTexRef(&texture, module, "image"));
    DRIVER(cuTexRefSetFilterMode(texture, CU_TR_FILTER_MODE_POINT));
    DRIVER(cuTexRefSetAddress2D(texture, &desc, data, 256));
    REQUIRE(at(3.5f, 2.5f) == 2 * 64 + 3);

    const int numbers[] = {5, 6, 7, 8};
    DRIVER(cuMemcpyHtoD(data + 512, numbers, sizeof numbers));
    DRIVER(cuModuleGetTexRef(&texture, module, "numbers"));
    DRIVER(cuTexRefSetFormat(texture, CU_AD_FORMAT_SIGNED_INT32, 1));
    DRIVER(cuTexRefSetFlags(texture, CU_TRSF_READ_AS_INTEGER));
    DRIVER(cuTexRefSetAddress(&offset, texture, data + 512 - 16, 32));
    REQUIRE(offset == 240);
    int first = offset / 4 + 4;
    void *args[] = {&out, &first};
    launch("fetch", 4, 1, args);
    DRIVER(cuMemcpyDtoH(got.data(), out, 16));
    REQUIRE(got == std::vector<int>(numbers, numbers + 4));

    const unsigned char bytes[] = {0, 51, 102, 255};
    float fractions[4];
    int i = 1;
    DRIVER(cuMemcpyHtoD(data + 4, bytes, sizeof bytes));
    DRIVER(cuModuleGetTexRef(&texture, module, "colours"));
    DRIVER(cuTexRefSetFormat(texture, CU_AD_FORMAT_UNSIGNED_INT8, 4));
    DRIVER(cuTexRefSetAddress(nullptr, texture, data, 64));
    args[1] = &i;
    launch("colour", 1, 1, args);
    DRIVER(cuMemcpyDtoH(fractions, out, sizeof fractions));
    REQUIRE(fractions[0] == 0 && near(fractions[1], 0.2, 1e-6) &&
            near(fractions[2], 0.4, 1e-6) && fractions[3] == 1);
    DRIVER(cuMemFree(data));
}

static void surfaces(CUarray array)
{
    CUsurfref surface;
    CUtexref texture;
    CUarray bound;
    float v = 2.5f;
    void *args[] = {&v};

    DRIVER(cuModuleGetSurfRef(&surface, module, "canvas"));
    DRIVER(cuSurfRefSetArray(surface, array, 0));
    DRIVER(cuSurfRefGetArray(&bound, surface));
    REQUIRE(bound == array);
    launch("draw", 8, 8, args);
    DRIVER(cuModuleGetTexRef(&texture, module, "image"));
    DRIVER(cuTexRefSetArray(texture, array, CU_TRSA_OVERRIDE_FORMAT));
    REQUIRE(at(7.5f, 7.5f) == v);
    REQUIRE(cuTexRefSetFilterMode((CUtexref)surface, CU_TR_FILTER_MODE_POINT) ==
            CUDA_ERROR_INVALID_HANDLE);
}

static void errors(CUarray array)
{
    CUtexref texture;

    REQUIRE(cuModuleGetTexRef(&texture, module, "none") ==
            CUDA_ERROR_NOT_FOUND);
    REQUIRE(cuModuleGetTexRef(&texture, module, "canvas") ==
            CUDA_ERROR_NOT_FOUND);
    REQUIRE(cuModuleGetTexRef(nullptr, module, "image") ==
            CUDA_ERROR_INVALID_VALUE);
    DRIVER(cuModuleGetTexRef(&texture, module, "image"));
    REQUIRE(cuTexRefSetArray(texture, array, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cuTexRefSetArray(texture, nullptr, CU_TRSA_OVERRIDE_FORMAT) !=
            CUDA_SUCCESS);
    REQUIRE(cuTexRefSetAddressMode(texture, 3, CU_TR_ADDRESS_MODE_WRAP) ==
            CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cuTexRefSetAddress(nullptr, texture, out + 4, 64) ==
            CUDA_ERROR_INVALID_VALUE);
    REQUIRE(at(7.5f, 7.5f) == 2.5f); // as it was
    DRIVER(cuModuleUnload(module));
    REQUIRE(cuTexRefSetFlags(texture, 0) == CUDA_ERROR_INVALID_HANDLE);
}

int main()
{
    CUdevice device;
    CUcontext context;

    DRIVER(cuInit(0));
    DRIVER(cuDeviceGet(&device, 0));
    DRIVER(cuCtxCreate(&context, 0, device));
    compile();
    DRIVER(cuMemAlloc(&out, 256));
    CUarray array = arrays();
    rows_and_memory();
    surfaces(array);
    errors(array);
    DRIVER(cuArrayDestroy(array));
    DRIVER(cuCtxDestroy(context));
    return passed();
}
