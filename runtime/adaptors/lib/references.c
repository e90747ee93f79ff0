/* SPDX-License-Identifier: MIT */
#include "adaptors/lib/references.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "adaptors/lib/adaptor.h"

#define ALIGNMENT 256 /* textureAlignment */
#define FLAGS                                                                  \
    (CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB | \
     CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION)

typedef struct Reference {
    struct Reference *next;
    CUmodule module;
    CUdeviceptr at; /* the object in the variable */
    bool surface, bound;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC modes;
    CUarray_format format; /* of linear memory */
    int channels;
    unsigned long long object;
} Reference;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Reference *references;

/* ---- which there are ---- */

static cudaError_t find(Reference **out, CUmodule module, const char *name,
                        bool surface)
{
    CUdeviceptr at = 0;
    size_t size = 0, wanted = surface ? sizeof(struct surfaceReference)
                                      : sizeof(struct textureReference);
    CUresult error = out ? cuModuleGetGlobal(&at, &size, module, name)
                         : CUDA_ERROR_INVALID_VALUE;
    Reference *r;

    if (error != CUDA_SUCCESS) {
        return (cudaError_t)error;
    }
    if (size != wanted) {
        return cudaErrorSymbolNotFound;
    }
    at += surface ? offsetof(struct surfaceReference, surfaceObject)
                  : offsetof(struct textureReference, textureObject);
    pthread_mutex_lock(&lock);
    for (r = references; r && !(r->module == module && r->at == at);) {
        r = r->next;
    }
    if (!r && (r = calloc(1, sizeof(*r)))) {
        r->module = module;
        r->at = at;
        r->surface = surface;
        r->format = CU_AD_FORMAT_FLOAT;
        r->channels = 1;
        r->next = references;
        references = r;
    }
    pthread_mutex_unlock(&lock);
    *out = r;
    return r ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t adaptor_texture_get(CUtexref *out, CUmodule module,
                                const char *name)
{
    return find((Reference **)out, module, name, false);
}

cudaError_t adaptor_surface_get(CUsurfref *out, CUmodule module,
                                const char *name)
{
    return find((Reference **)out, module, name, true);
}

static void end_object(const Reference *r)
{
    if (r->object && r->surface) {
        cudaDestroySurfaceObject(r->object);
    } else if (r->object) {
        cudaDestroyTextureObject(r->object);
    }
}

void adaptor_references_end(CUmodule module)
{
    Reference *ended = NULL;

    pthread_mutex_lock(&lock);
    for (Reference **link = &references; *link;) {
        Reference *r = *link;

        if (r->module == module) {
            *link = r->next;
            r->next = ended;
            ended = r;
        } else {
            link = &r->next;
        }
    }
    pthread_mutex_unlock(&lock);
    if (ended) {
        cuCtxSynchronize(); /* its kernels read by them */
    }
    while (ended) {
        Reference *next = ended->next;

        end_object(ended);
        free(ended);
        ended = next;
    }
}

/* The one that the caller has, of this kind; the lock is held then. */
static Reference *take(const void *handle, bool surface)
{
    Reference *r;

    pthread_mutex_lock(&lock);
    for (r = references; r && !(r == handle && r->surface == surface);) {
        r = r->next;
    }
    if (!r) {
        pthread_mutex_unlock(&lock);
    }
    return r;
}

/* ---- objects ---- */

static CUresult new_object(const Reference *r, unsigned long long *object)
{
    CUDA_RESOURCE_DESC resource = r->resource;

    if (resource.resType == CU_RESOURCE_TYPE_LINEAR) {
        resource.res.linear.format = r->format;
        resource.res.linear.numChannels = (unsigned)r->channels;
    }
    return r->surface ? cuSurfObjectCreate(object, &resource)
                      : cuTexObjectCreate(object, &resource, &r->modes, NULL);
}

/* Modes come one by one: until they fit together there is no object, and a
 * kernel that fetches ends with an illegal address. */
static bool may_come(CUresult error)
{
    return error == (CUresult)cudaErrorInvalidFilterSetting ||
           error == (CUresult)cudaErrorInvalidNormSetting;
}

/* With the lock, which it gives back. */
static cudaError_t update(Reference *r)
{
    unsigned long long object = 0, before = r->object;
    CUresult error = r->bound ? new_object(r, &object) : CUDA_SUCCESS;

    if (may_come(error)) {
        error = CUDA_SUCCESS;
    }
    if (error == CUDA_SUCCESS && before) {
        error = cuCtxSynchronize(); /* launched kernels read by it */
    }
    if (error == CUDA_SUCCESS && (object || before)) {
        error = cuMemcpyHtoD(r->at, &object, sizeof(object));
    }
    if (error == CUDA_SUCCESS) {
        end_object(r);
        r->object = object;
    }
    pthread_mutex_unlock(&lock);
    return (cudaError_t)error;
}

static cudaError_t bind(const void *handle, bool surface,
                        const CUDA_RESOURCE_DESC *resource)
{
    Reference *r = take(handle, surface);

    if (!r) {
        return cudaErrorInvalidResourceHandle;
    }
    CUDA_RESOURCE_DESC before = r->resource;
    bool bound = r->bound;
    r->resource = *resource;
    r->bound = true;
    unsigned long long object = 0;
    CUresult error = new_object(r, &object);
    if (error != CUDA_SUCCESS && !may_come(error)) {
        r->resource = before;
        r->bound = bound;
        pthread_mutex_unlock(&lock);
        return (cudaError_t)error;
    }
    if (object && r->surface) {
        cuSurfObjectDestroy(object);
    } else if (object) {
        cuTexObjectDestroy(object);
    }
    return update(r);
}

cudaError_t adaptor_texture_array(CUtexref ref, cudaArray_t array,
                                  unsigned flags)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};

    resource.res.array.hArray = (CUarray)array;
    return flags != CU_TRSA_OVERRIDE_FORMAT ? cudaErrorInvalidValue
                                            : bind(ref, false, &resource);
}

cudaError_t adaptor_texture_mipmap(CUtexref ref, cudaMipmappedArray_t mipmap,
                                   unsigned flags)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY};

    resource.res.mipmap.hMipmappedArray = (CUmipmappedArray)mipmap;
    return flags != CU_TRSA_OVERRIDE_FORMAT ? cudaErrorInvalidValue
                                            : bind(ref, false, &resource);
}

cudaError_t adaptor_texture_linear(size_t *offset, CUtexref ref,
                                   CUdeviceptr data, size_t bytes)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
    size_t between = data % ALIGNMENT;

    if (between && !offset) {
        return cudaErrorInvalidValue;
    }
    resource.res.linear.devPtr = data - between;
    resource.res.linear.sizeInBytes = bytes + between;
    cudaError_t error = bind(ref, false, &resource);
    if (error == cudaSuccess && offset) {
        *offset = between;
    }
    return error;
}

cudaError_t adaptor_texture_rows(CUtexref ref,
                                 const CUDA_ARRAY_DESCRIPTOR *desc,
                                 CUdeviceptr data, size_t pitch)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_PITCH2D};

    if (!desc) {
        return cudaErrorInvalidValue;
    }
    resource.res.pitch2D.devPtr = data;
    resource.res.pitch2D.format = desc->Format;
    resource.res.pitch2D.numChannels = desc->NumChannels;
    resource.res.pitch2D.width = desc->Width;
    resource.res.pitch2D.height = desc->Height;
    resource.res.pitch2D.pitchInBytes = pitch;
    return bind(ref, false, &resource);
}

cudaError_t adaptor_surface_array(CUsurfref ref, cudaArray_t array,
                                  unsigned flags)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};

    resource.res.array.hArray = (CUarray)array;
    return flags ? cudaErrorInvalidValue : bind(ref, true, &resource);
}

/* ---- modes ---- */

#define SET(ref, valid, statement)                                             \
    do {                                                                       \
        Reference *r = take(ref, false);                                       \
        if (!r) {                                                              \
            return cudaErrorInvalidResourceHandle;                             \
        }                                                                      \
        if (!(valid)) {                                                        \
            pthread_mutex_unlock(&lock);                                       \
            return cudaErrorInvalidValue;                                      \
        }                                                                      \
        statement;                                                             \
        return update(r);                                                      \
    } while (0)

cudaError_t adaptor_texture_format(CUtexref ref, CUarray_format format,
                                   int channels)
{
    SET(ref, channels == 1 || channels == 2 || channels == 4,
        (r->format = format, r->channels = channels));
}

cudaError_t adaptor_texture_address(CUtexref ref, int dimension,
                                    CUaddress_mode mode)
{
    SET(ref, dimension >= 0 && dimension < 3 &&
                 (unsigned)mode <= CU_TR_ADDRESS_MODE_BORDER,
        r->modes.addressMode[dimension] = mode);
}

cudaError_t adaptor_texture_filter(CUtexref ref, CUfilter_mode mode)
{
    SET(ref, (unsigned)mode <= CU_TR_FILTER_MODE_LINEAR,
        r->modes.filterMode = mode);
}

cudaError_t adaptor_texture_flags(CUtexref ref, unsigned flags)
{
    SET(ref, !(flags & ~FLAGS), r->modes.flags = flags);
}

cudaError_t adaptor_texture_anisotropy(CUtexref ref, unsigned most)
{
    SET(ref, true, r->modes.maxAnisotropy = most);
}

cudaError_t adaptor_texture_border(CUtexref ref, const float *colour)
{
    SET(ref, colour,
        memcpy(r->modes.borderColor, colour, sizeof(r->modes.borderColor)));
}

cudaError_t adaptor_texture_level_filter(CUtexref ref, CUfilter_mode mode)
{
    SET(ref, (unsigned)mode <= CU_TR_FILTER_MODE_LINEAR,
        r->modes.mipmapFilterMode = mode);
}

cudaError_t adaptor_texture_level_bias(CUtexref ref, float bias)
{
    SET(ref, true, r->modes.mipmapLevelBias = bias);
}

cudaError_t adaptor_texture_level_clamp(CUtexref ref, float least, float most)
{
    SET(ref, true,
        (r->modes.minMipmapLevelClamp = least,
         r->modes.maxMipmapLevelClamp = most));
}

/* ---- and back ---- */

/* A copy of the thread's, as another one may set it. */
const CUDA_TEXTURE_DESC *adaptor_texture_modes(CUtexref ref)
{
    static _Thread_local CUDA_TEXTURE_DESC modes;
    Reference *r = take(ref, false);

    if (!r) {
        return NULL;
    }
    modes = r->modes;
    pthread_mutex_unlock(&lock);
    return &modes;
}

cudaError_t adaptor_texture_format_of(CUarray_format *format, int *channels,
                                      CUtexref ref)
{
    Reference *r = take(ref, false);

    if (!r) {
        return cudaErrorInvalidResourceHandle;
    }
    if (format) {
        *format = r->format;
    }
    if (channels) {
        *channels = r->channels;
    }
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

/* What it is bound to, if that is of this kind. */
static cudaError_t bound_to(CUDA_RESOURCE_DESC *out, const void *ref,
                            bool surface, CUresourcetype kind)
{
    Reference *r = take(ref, surface);

    if (!r) {
        return cudaErrorInvalidResourceHandle;
    }
    bool same = r->bound && r->resource.resType == kind;
    *out = r->resource;
    pthread_mutex_unlock(&lock);
    return same ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t array_of(cudaArray_t *array, const void *ref, bool surface)
{
    CUDA_RESOURCE_DESC resource;
    cudaError_t error = bound_to(&resource, ref, surface,
                                 CU_RESOURCE_TYPE_ARRAY);

    if (error != cudaSuccess || !array) {
        return error != cudaSuccess ? error : cudaErrorInvalidValue;
    }
    *array = (cudaArray_t)resource.res.array.hArray;
    return cudaSuccess;
}

cudaError_t adaptor_texture_array_of(cudaArray_t *array, CUtexref ref)
{
    return array_of(array, ref, false);
}

cudaError_t adaptor_surface_array_of(cudaArray_t *array, CUsurfref ref)
{
    return array_of(array, ref, true);
}

cudaError_t adaptor_texture_linear_of(CUdeviceptr *data, CUtexref ref)
{
    CUDA_RESOURCE_DESC resource;
    cudaError_t error = bound_to(&resource, ref, false,
                                 CU_RESOURCE_TYPE_LINEAR);

    if (error != cudaSuccess || !data) {
        return error != cudaSuccess ? error : cudaErrorInvalidValue;
    }
    *data = resource.res.linear.devPtr;
    return cudaSuccess;
}
