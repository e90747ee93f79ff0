/* SPDX-License-Identifier: MIT */
/* What cuda.h has in other shapes: copies, nodes of graphs, properties, and
 * launches whose arguments are set one by one. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "adaptors/lib/driver_nodes.h"

cudaMemoryType driver_memory_type(CUmemorytype type)
{
    return type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost :
           type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice :
           type == CU_MEMORYTYPE_ARRAY ? cudaMemoryTypeArray :
           type == CU_MEMORYTYPE_UNIFIED ? cudaMemoryTypeManaged :
                                           (cudaMemoryType)-1;
}

cudaError_t driver_copy_3d(const CUDA_MEMCPY3D *p, CUstream stream, int async)
{
    mc_Memcpy3D copy;

    if (!p) {
        return cudaErrorInvalidValue;
    }
    copy = (mc_Memcpy3D){
        .srcXInBytes = p->srcXInBytes, .srcY = p->srcY, .srcZ = p->srcZ,
        .srcLOD = p->srcLOD,
        .srcMemoryType = driver_memory_type(p->srcMemoryType),
        .srcHost = p->srcHost, .srcDevice = (void *)p->srcDevice,
        .srcArray = (cudaArray_t)p->srcArray, .reserved0 = p->reserved0,
        .srcPitch = p->srcPitch, .srcHeight = p->srcHeight,
        .dstXInBytes = p->dstXInBytes, .dstY = p->dstY, .dstZ = p->dstZ,
        .dstLOD = p->dstLOD,
        .dstMemoryType = driver_memory_type(p->dstMemoryType),
        .dstHost = p->dstHost, .dstDevice = (void *)p->dstDevice,
        .dstArray = (cudaArray_t)p->dstArray, .reserved1 = p->reserved1,
        .dstPitch = p->dstPitch, .dstHeight = p->dstHeight,
        .WidthInBytes = p->WidthInBytes, .Height = p->Height,
        .Depth = p->Depth,
    };
    return (cudaError_t)(async ? mcDrvMemcpy3DAsync(&copy, stream) :
                                 mcDrvMemcpy3D(&copy));
}

cudaError_t driver_properties(CUdevprop *prop, CUdevice dev)
{
    struct cudaDeviceProp from;
    cudaError_t error = prop ? cudaGetDeviceProperties(&from, dev) :
                               cudaErrorInvalidValue;

    if (error != cudaSuccess) {
        return error;
    }
    *prop = (CUdevprop){
        .maxThreadsPerBlock = from.maxThreadsPerBlock,
        .sharedMemPerBlock = (int)from.sharedMemPerBlock,
        .totalConstantMemory = (int)from.totalConstMem,
        .SIMDWidth = from.warpSize,
        .memPitch = from.memPitch > INT_MAX ? INT_MAX : (int)from.memPitch,
        .regsPerBlock = from.regsPerBlock,
        .clockRate = from.clockRate,
        .textureAlign = (int)from.textureAlignment,
    };
    memcpy(prop->maxThreadsDim, from.maxThreadsDim,
           sizeof(prop->maxThreadsDim));
    memcpy(prop->maxGridSize, from.maxGridSize, sizeof(prop->maxGridSize));
    return cudaSuccess;
}

/* ---- nodes that copy ---- */

/* One side of a copy, with its positions in bytes. */
typedef struct Side {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t pitch, height, x, y, z;
} Side;

/* Copies of graphs count elements where there is an array. */
static cudaError_t element_size(CUarray array, size_t *size)
{
    struct cudaChannelFormatDesc desc;
    cudaError_t error = cudaGetChannelDesc(&desc, (cudaArray_t)array);

    if (error == cudaSuccess) {
        *size = (size_t)(desc.x + desc.y + desc.z + desc.w) / CHAR_BIT;
    }
    return error;
}

static cudaError_t one_side(const Side *from, size_t element,
                            cudaArray_t *array, struct cudaPos *pos,
                            struct cudaPitchedPtr *ptr)
{
    *pos = make_cudaPos(from->x, from->y, from->z);
    switch (from->type) {
    case CU_MEMORYTYPE_ARRAY:
        if (from->x % element) {
            return cudaErrorInvalidValue;
        }
        pos->x = from->x / element;
        *array = (cudaArray_t)from->array;
        return cudaSuccess;
    case CU_MEMORYTYPE_HOST:
        *ptr = make_cudaPitchedPtr((void *)from->host, from->pitch,
                                   from->pitch, from->height);
        return cudaSuccess;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
        *ptr = make_cudaPitchedPtr((void *)from->device, from->pitch,
                                   from->pitch, from->height);
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

static cudaError_t copy_of(const CUDA_MEMCPY3D *p,
                           struct cudaMemcpy3DParms *copy)
{
    size_t element = 1;
    cudaError_t error = cudaSuccess;
    Side from, to;

    if (!p || p->srcLOD || p->dstLOD) {
        return cudaErrorInvalidValue;
    }
    from = (Side){ p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray,
                   p->srcPitch, p->srcHeight, p->srcXInBytes, p->srcY,
                   p->srcZ };
    to = (Side){ p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray,
                 p->dstPitch, p->dstHeight, p->dstXInBytes, p->dstY, p->dstZ };
    memset(copy, 0, sizeof(*copy));
    if (from.type == CU_MEMORYTYPE_ARRAY) {
        error = element_size(from.array, &element);
    } else if (to.type == CU_MEMORYTYPE_ARRAY) {
        error = element_size(to.array, &element);
    }
    if (error == cudaSuccess && p->WidthInBytes % element) {
        error = cudaErrorInvalidValue;
    }
    if (error == cudaSuccess) {
        error = one_side(&from, element, &copy->srcArray, &copy->srcPos,
                         &copy->srcPtr);
    }
    if (error == cudaSuccess) {
        error = one_side(&to, element, &copy->dstArray, &copy->dstPos,
                         &copy->dstPtr);
    }
    copy->extent = make_cudaExtent(p->WidthInBytes / element, p->Height,
                                   p->Depth);
    copy->kind = cudaMemcpyDefault;
    return error;
}

cudaError_t driver_add_copy(CUgraphNode *node, CUgraph graph,
                            const CUgraphNode *dependencies, size_t count,
                            const CUDA_MEMCPY3D *p)
{
    struct cudaMemcpy3DParms copy;
    cudaError_t error = copy_of(p, &copy);

    return error != cudaSuccess ? error :
           cudaGraphAddMemcpyNode(node, graph, dependencies, count, &copy);
}

cudaError_t driver_set_copy(CUgraphExec exec, CUgraphNode node,
                            const CUDA_MEMCPY3D *p)
{
    struct cudaMemcpy3DParms copy;
    cudaError_t error = copy_of(p, &copy);

    return error != cudaSuccess ? error :
           exec ? cudaGraphExecMemcpyNodeSetParams(exec, node, &copy) :
                  cudaGraphMemcpyNodeSetParams(node, &copy);
}

/* ---- nodes that launch and fill ---- */

static struct cudaKernelNodeParams kernel_of(const CUDA_KERNEL_NODE_PARAMS *p)
{
    return (struct cudaKernelNodeParams){
        .func = (void *)p->func,
        .gridDim = { p->gridDimX, p->gridDimY, p->gridDimZ },
        .blockDim = { p->blockDimX, p->blockDimY, p->blockDimZ },
        .sharedMemBytes = p->sharedMemBytes,
        .kernelParams = p->kernelParams,
        .extra = p->extra,
    };
}

cudaError_t driver_add_kernel(CUgraphNode *node, CUgraph graph,
                              const CUgraphNode *dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct cudaKernelNodeParams kernel;

    if (!p) {
        return cudaErrorInvalidValue;
    }
    kernel = kernel_of(p);
    return cudaGraphAddKernelNode(node, graph, dependencies, count, &kernel);
}

cudaError_t driver_set_kernel(CUgraphExec exec, CUgraphNode node,
                              const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct cudaKernelNodeParams kernel;

    if (!p) {
        return cudaErrorInvalidValue;
    }
    kernel = kernel_of(p);
    return exec ? cudaGraphExecKernelNodeSetParams(exec, node, &kernel) :
                  cudaGraphKernelNodeSetParams(node, &kernel);
}

cudaError_t driver_get_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
    struct cudaKernelNodeParams kernel;
    cudaError_t error = p ? cudaGraphKernelNodeGetParams(node, &kernel) :
                            cudaErrorInvalidValue;

    if (error == cudaSuccess) {
        *p = (CUDA_KERNEL_NODE_PARAMS){
            (CUfunction)kernel.func,
            kernel.gridDim.x, kernel.gridDim.y, kernel.gridDim.z,
            kernel.blockDim.x, kernel.blockDim.y, kernel.blockDim.z,
            kernel.sharedMemBytes, kernel.kernelParams, kernel.extra,
        };
    }
    return error;
}

static struct cudaMemsetParams fill_of(const CUDA_MEMSET_NODE_PARAMS *p)
{
    return (struct cudaMemsetParams){
        .dst = (void *)p->dst, .pitch = p->pitch, .value = p->value,
        .elementSize = p->elementSize, .width = p->width, .height = p->height,
    };
}

cudaError_t driver_add_set(CUgraphNode *node, CUgraph graph,
                           const CUgraphNode *dependencies, size_t count,
                           const CUDA_MEMSET_NODE_PARAMS *p)
{
    struct cudaMemsetParams fill;

    if (!p) {
        return cudaErrorInvalidValue;
    }
    fill = fill_of(p);
    return cudaGraphAddMemsetNode(node, graph, dependencies, count, &fill);
}

cudaError_t driver_set_set(CUgraphExec exec, CUgraphNode node,
                           const CUDA_MEMSET_NODE_PARAMS *p)
{
    struct cudaMemsetParams fill;

    if (!p) {
        return cudaErrorInvalidValue;
    }
    fill = fill_of(p);
    return exec ? cudaGraphExecMemsetNodeSetParams(exec, node, &fill) :
                  cudaGraphMemsetNodeSetParams(node, &fill);
}

cudaError_t driver_get_set(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *p)
{
    struct cudaMemsetParams fill;
    cudaError_t error = p ? cudaGraphMemsetNodeGetParams(node, &fill) :
                            cudaErrorInvalidValue;

    if (error == cudaSuccess) {
        *p = (CUDA_MEMSET_NODE_PARAMS){
            .dst = (CUdeviceptr)fill.dst, .pitch = fill.pitch,
            .value = fill.value, .elementSize = fill.elementSize,
            .width = fill.width, .height = fill.height,
        };
    }
    return error;
}

/* ---- launches whose arguments are set one by one ---- */

#define ARGUMENT_BYTES 4096

/* What was set for a function; stays until the process ends, as do the
 * functions of most programs that use this. */
typedef struct Launch {
    struct Launch *next;
    CUfunction function;
    unsigned int block[3], shared;
    size_t size;
    char arguments[ARGUMENT_BYTES];
} Launch;

static Launch *launches;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* With the lock held; NULL, and the error, when there is no such function. */
static Launch *launch_of(CUfunction f, cudaError_t *error)
{
    Launch *launch = launches;
    int ignored;

    *error = (cudaError_t)mcFuncGetAttribute(
        &ignored, MC_FUNC_ATTRIBUTE_NUM_REGS, f);
    if (*error != cudaSuccess) {
        return NULL;
    }
    while (launch && launch->function != f) {
        launch = launch->next;
    }
    if (!launch) {
        launch = calloc(1, sizeof(*launch));
        if (!launch) {
            *error = cudaErrorMemoryAllocation;
            return NULL;
        }
        launch->function = f;
        launch->block[0] = launch->block[1] = launch->block[2] = 1;
        launch->next = launches;
        launches = launch;
    }
    return launch;
}

#define WITH_LAUNCH(f, condition, ...)                                         \
    cudaError_t error = (condition) ? cudaSuccess : cudaErrorInvalidValue;     \
                                                                               \
    if (error == cudaSuccess) {                                                \
        pthread_mutex_lock(&lock);                                             \
        Launch *launch = launch_of(f, &error);                                 \
        if (launch) {                                                          \
            __VA_ARGS__                                                        \
        }                                                                      \
        pthread_mutex_unlock(&lock);                                           \
    }                                                                          \
    return error;

cudaError_t driver_shape(CUfunction f, int x, int y, int z)
{
    WITH_LAUNCH(f, x > 0 && y > 0 && z > 0, {
        launch->block[0] = (unsigned int)x;
        launch->block[1] = (unsigned int)y;
        launch->block[2] = (unsigned int)z;
    })
}

cudaError_t driver_shared(CUfunction f, unsigned int bytes)
{
    WITH_LAUNCH(f, 1, launch->shared = bytes;)
}

cudaError_t driver_argument_size(CUfunction f, unsigned int bytes)
{
    WITH_LAUNCH(f, bytes <= ARGUMENT_BYTES, launch->size = bytes;)
}

cudaError_t driver_argument(CUfunction f, int offset, const void *value,
                            unsigned int bytes)
{
    WITH_LAUNCH(f, value && offset >= 0 && offset <= ARGUMENT_BYTES &&
                       bytes <= ARGUMENT_BYTES - (unsigned int)offset,
                memcpy(launch->arguments + offset, value, bytes);)
}

cudaError_t driver_launch(CUfunction f, int width, int height, CUstream stream)
{
    WITH_LAUNCH(f, width > 0 && height > 0, {
        void *packed[] = {
            MC_LAUNCH_PARAM_BUFFER_POINTER, launch->arguments,
            MC_LAUNCH_PARAM_BUFFER_SIZE, &launch->size, MC_LAUNCH_PARAM_END,
        };

        error = (cudaError_t)mcModuleLaunchKernel(
            f, (unsigned int)width, (unsigned int)height, 1, launch->block[0],
            launch->block[1], launch->block[2], launch->shared, stream, NULL,
            packed);
    })
}
