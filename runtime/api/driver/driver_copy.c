/* SPDX-License-Identifier: MIT */
/* Boxes by a structure with both sides in it. */
#include "api/memory/rows.h"

/* One side of it; the array that it names is held. */
typedef struct Side {
    mcMemoryType type;
    void *host;
    mcDeviceptr_t device;
    mcArray_t array;
    mcPos pos; /* x in bytes */
    size_t pitch, height;
    McArray *held;
} Side;

static void put_side(Side *side)
{
    mc_api_put_object(&side->held);
}

static mcError_t memory_side(const Side *s, void *base, mcExtent e,
                             McSide *side)
{
    size_t reach, rows, slices, at;

    if (__builtin_add_overflow(s->pos.x, e.width, &reach) ||
        reach > s->pitch || s->pitch > MC_MAX_PITCH) {
        return mcErrorInvalidPitchValue;
    }
    /* One slice needs no height, unless others lie in front of it. */
    bool flat = e.depth == 1 && s->pos.z == 0;
    if (__builtin_add_overflow(s->pos.y, e.height, &reach) ||
        (!flat && reach > s->height) ||
        __builtin_add_overflow(s->pos.z, e.depth, &slices) ||
        __builtin_mul_overflow(slices, flat ? reach : s->height, &rows) ||
        __builtin_mul_overflow(rows, s->pitch, &at) ||
        __builtin_add_overflow(at, (uintptr_t)base, &at) || !base) {
        return mcErrorInvalidValue;
    }
    at = (uintptr_t)base + (s->pos.z * s->height + s->pos.y) * s->pitch +
         s->pos.x;
    *side = (McSide){(void *)at, s->pitch, flat ? reach : s->height};
    return mcSuccess;
}

static mcError_t find_side(Side *s, mcExtent extent, McSide *side)
{
    switch ((int)s->type) {
    case mcMemoryTypeHost:
        return memory_side(s, s->host, extent, side);
    case mcMemoryTypeDevice:
    case mcMemoryTypeManaged:
        return memory_side(s, s->device, extent, side);
    case mcMemoryTypeArray:
        s->held = s->array ? mc_handle_get(s->array, MC_HANDLE_ARRAY) : NULL;
        return s->held ? mc_array_side(s->held, s->pos, extent, side)
                       : mcErrorInvalidResourceHandle;
    default:
        return mcErrorInvalidValue;
    }
}

static mcError_t copy_box(const mc_Memcpy3D *copy, mcStream_t stream, bool sync)
{
    McSide to, from;

    if (!copy) {
        return mcErrorInvalidValue;
    }
    mc_Memcpy3D c = *copy; /* the caller may change its own */
    mcExtent extent = {c.WidthInBytes, c.Height, c.Depth};
    Side dst __attribute__((cleanup(put_side))) = {
        c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray,
        {c.dstXInBytes, c.dstY, c.dstZ}, c.dstPitch, c.dstHeight, NULL,
    };
    Side src __attribute__((cleanup(put_side))) = {
        c.srcMemoryType, (void *)(uintptr_t)c.srcHost, c.srcDevice, c.srcArray,
        {c.srcXInBytes, c.srcY, c.srcZ}, c.srcPitch, c.srcHeight, NULL,
    };
    if (c.srcLOD || c.dstLOD || c.reserved0 || c.reserved1) {
        return mcErrorInvalidValue;
    }
    if (!extent.width || !extent.height || !extent.depth) {
        return mcSuccess;
    }
    mcError_t error = find_side(&dst, extent, &to);
    if (error == mcSuccess) {
        error = find_side(&src, extent, &from);
    }
    return error == mcSuccess
               ? mc_api_copy_box(&to, &from, extent,
                                 mc_api_kind_of(dst.type, src.type), stream,
                                 sync)
               : error;
}

MC_EXPORT mcError_t mcDrvMemcpy3D(const mc_Memcpy3D *copy)
{
    API_ENTER("%p", (const void *)copy);
    API_RETURN(copy_box(copy, NULL, true));
}

MC_EXPORT mcError_t mcDrvMemcpy3DAsync(const mc_Memcpy3D *copy,
                                       mcStream_t stream)
{
    API_ENTER("%p, %p", (const void *)copy, (void *)stream);
    API_RETURN(copy_box(copy, stream, false));
}
