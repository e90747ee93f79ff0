/* SPDX-License-Identifier: MIT */
/* Arrays, by either description. */
#include <string.h>

#include "api/memory/rows.h"
#include "array_format.h"

/* Of the entry point that says so. */
#define CALLER ((McCaller){__func__, __builtin_return_address(0)})

/* ---- descriptions ---- */

static mcError_t shape_of(const mcArray3DDescriptor *d, McArrayShape *shape)
{
    *shape = (McArrayShape){
        .extent = {d->Width, d->Height, d->Depth},
        .flags = d->Flags,
    };
    return mc_api_channels(d->Format, d->NumChannels, &shape->channels);
}

static mcArray3DDescriptor describe(const McArray *array)
{
    const McArrayShape *s = &array->shape;
    mcArray3DDescriptor d = {
        .Width = s->extent.width,
        .Height = s->extent.height,
        .Depth = s->extent.depth,
        .Flags = s->flags,
    };

    d.Format = mc_api_format(&s->channels, &d.NumChannels);
    return d;
}

MC_EXPORT mcChannelFormatDesc mcCreateChannelDesc(int x, int y, int z, int w,
                                                  mcChannelFormatKind f)
{
    API_NOTE("%d, %d, %d, %d, %d", x, y, z, w, (int)f);
    mc_api_done(__func__, mcSuccess, NULL);
    return (mcChannelFormatDesc){x, y, z, w, f};
}

MC_EXPORT mcError_t mcGetChannelDesc(mcChannelFormatDesc *desc,
                                     mcArray_const_t handle)
{
    API_ENTER("%p, %p", (void *)desc, (const void *)handle);
    API_CHECK(desc, mcErrorInvalidValue);
    API_ARRAY(array, handle);
    *desc = array->shape.channels;
    API_RETURN(mcSuccess);
}

/* ---- arrays ---- */

static mcError_t make(mcArray_t *out, const McArrayShape *shape,
                      McCaller caller)
{
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    McArray *array;

    mcError_t error = mc_api_context(&ctx);
    if (error == mcSuccess) {
        error = mc_array_new(ctx, shape, caller, &array);
    }
    if (error == mcSuccess) {
        *out = (mcArray_t)array;
    }
    return error;
}

MC_EXPORT mcError_t mcMallocArray(mcArray_t *out,
                                  const mcChannelFormatDesc *desc, size_t width,
                                  size_t height, unsigned int flags)
{
    API_ENTER("%p, %p, %zu, %zu, 0x%x", (void *)out, (const void *)desc, width,
              height, flags);
    API_CHECK(out && desc, mcErrorInvalidValue);
    McArrayShape shape = {*desc, {width, height, 0}, flags};
    API_UNSAFE();
    API_RETURN(make(out, &shape, CALLER));
}

MC_EXPORT mcError_t mcMalloc3DArray(mcArray_t *out,
                                    const mcChannelFormatDesc *desc,
                                    mcExtent extent, unsigned int flags)
{
    API_ENTER("%p, %p, {%zu, %zu, %zu}, 0x%x", (void *)out, (const void *)desc,
              extent.width, extent.height, extent.depth, flags);
    API_CHECK(out && desc, mcErrorInvalidValue);
    McArrayShape shape = {*desc, extent, flags};
    API_UNSAFE();
    API_RETURN(make(out, &shape, CALLER));
}

MC_EXPORT mcError_t mcArrayCreate(mcArray_t *out, const mcArrayDescriptor *desc)
{
    McArrayShape shape;

    API_ENTER("%p, %p", (void *)out, (const void *)desc);
    API_CHECK(out && desc, mcErrorInvalidValue);
    mcArray3DDescriptor d = {desc->Width, desc->Height, 0, desc->Format,
                             desc->NumChannels, 0};
    API_TRY(shape_of(&d, &shape));
    API_UNSAFE();
    API_RETURN(make(out, &shape, CALLER));
}

MC_EXPORT mcError_t mcArray3DCreate(mcArray_t *out,
                                    const mcArray3DDescriptor *desc)
{
    McArrayShape shape;

    API_ENTER("%p, %p", (void *)out, (const void *)desc);
    API_CHECK(out && desc, mcErrorInvalidValue);
    mcArray3DDescriptor d = *desc;
    API_TRY(shape_of(&d, &shape));
    API_UNSAFE();
    API_RETURN(make(out, &shape, CALLER));
}

MC_EXPORT mcError_t mcFreeArray(mcArray_t handle)
{
    API_ENTER("%p", (void *)handle);
    if (!handle) {
        API_RETURN(mcSuccess);
    }
    API_ARRAY(array, handle);
    API_UNSAFE();
    API_RETURN(mc_array_free(array));
}

MC_EXPORT mcError_t mcArrayDestroy(mcArray_t handle)
{
    API_ENTER("%p", (void *)handle);
    API_ARRAY(array, handle);
    API_UNSAFE();
    API_RETURN(mc_array_free(array));
}

MC_EXPORT mcError_t mcArrayGetInfo(mcChannelFormatDesc *desc, mcExtent *extent,
                                   unsigned int *flags, mcArray_t handle)
{
    API_ENTER("%p, %p, %p, %p", (void *)desc, (void *)extent, (void *)flags,
              (void *)handle);
    API_ARRAY(array, handle);
    if (desc) {
        *desc = array->shape.channels;
    }
    if (extent) {
        *extent = array->shape.extent;
    }
    if (flags) {
        *flags = array->shape.flags;
    }
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcArray3DGetDescriptor(mcArray3DDescriptor *desc,
                                           mcArray_t handle)
{
    API_ENTER("%p, %p", (void *)desc, (void *)handle);
    API_CHECK(desc, mcErrorInvalidValue);
    API_ARRAY(array, handle);
    *desc = describe(array);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcArrayGetDescriptor(mcArrayDescriptor *desc,
                                         mcArray_t handle)
{
    API_ENTER("%p, %p", (void *)desc, (void *)handle);
    API_CHECK(desc, mcErrorInvalidValue);
    API_ARRAY(array, handle);
    mcArray3DDescriptor d = describe(array);
    *desc = (mcArrayDescriptor){d.Width, d.Height, d.Format, d.NumChannels};
    API_RETURN(mcSuccess);
}

/* ---- mipmapped arrays ---- */

#define API_MIPMAP(mipmap, handle)                                             \
    API_OBJECT(McMipmap, mipmap, handle, MC_HANDLE_MIPMAP,                     \
               mcErrorInvalidResourceHandle)

static mcError_t make_levels(mcMipmappedArray_t *out, const McArrayShape *shape,
                             unsigned levels, McCaller caller)
{
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    McMipmap *mipmap;

    mcError_t error = mc_api_context(&ctx);
    if (error == mcSuccess) {
        error = mc_mipmap_new(ctx, shape, levels, NULL, 0, caller, &mipmap);
    }
    if (error == mcSuccess) {
        *out = (mcMipmappedArray_t)mipmap;
    }
    return error;
}

MC_EXPORT mcError_t mcMallocMipmappedArray(mcMipmappedArray_t *out,
                                           const mcChannelFormatDesc *desc,
                                           mcExtent extent,
                                           unsigned int numLevels,
                                           unsigned int flags)
{
    API_ENTER("%p, %p, {%zu, %zu, %zu}, %u, 0x%x", (void *)out,
              (const void *)desc, extent.width, extent.height, extent.depth,
              numLevels, flags);
    API_CHECK(out && desc, mcErrorInvalidValue);
    McArrayShape shape = {*desc, extent, flags};
    API_UNSAFE();
    API_RETURN(make_levels(out, &shape, numLevels, CALLER));
}

MC_EXPORT mcError_t mcMipmappedArrayCreate(mcMipmappedArray_t *out,
                                           const mcArray3DDescriptor *desc,
                                           unsigned int numLevels)
{
    McArrayShape shape;

    API_ENTER("%p, %p, %u", (void *)out, (const void *)desc, numLevels);
    API_CHECK(out && desc, mcErrorInvalidValue);
    mcArray3DDescriptor d = *desc;
    API_TRY(shape_of(&d, &shape));
    API_UNSAFE();
    API_RETURN(make_levels(out, &shape, numLevels, CALLER));
}

MC_EXPORT mcError_t mcExternalMemoryGetMappedMipmappedArray(
    mcMipmappedArray_t *out, mcExternalMemory_t handle,
    const mcExternalMemoryMipmappedArrayDesc *desc)
{
    McArrayShape shape;
    McMipmap *mipmap;

    API_ENTER("%p, %p, %p", (void *)out, (void *)handle, (const void *)desc);
    API_CHECK(out && desc, mcErrorInvalidValue);
    mcExternalMemoryMipmappedArrayDesc d = *desc;
    API_TRY(shape_of(&d.arrayDesc, &shape));
    API_OBJECT(McExternalMemory, memory, handle, MC_HANDLE_EXTERNAL_MEMORY,
               mcErrorInvalidResourceHandle);
    API_TRY(mc_mipmap_new(memory->handle.ctx, &shape, d.numLevels, memory,
                          d.offset, CALLER, &mipmap));
    *out = (mcMipmappedArray_t)mipmap;
    API_RETURN(mcSuccess);
}

static mcError_t get_level(mcArray_t *level, const void *handle,
                           unsigned number)
{
    McMipmap *mipmap __attribute__((cleanup(mc_api_put_object))) =
        handle ? mc_handle_get(handle, MC_HANDLE_MIPMAP) : NULL;

    if (!level) {
        return mcErrorInvalidValue;
    }
    if (!mipmap) {
        return mcErrorInvalidResourceHandle;
    }
    if (number >= mipmap->levels) {
        return mcErrorInvalidValue;
    }
    *level = (mcArray_t)mipmap->level[number];
    return mcSuccess;
}

MC_EXPORT mcError_t mcGetMipmappedArrayLevel(mcArray_t *level,
                                             mcMipmappedArray_const_t handle,
                                             unsigned int number)
{
    API_ENTER("%p, %p, %u", (void *)level, (const void *)handle, number);
    API_RETURN(get_level(level, handle, number));
}

MC_EXPORT mcError_t mcMipmappedArrayGetLevel(mcArray_t *level,
                                             mcMipmappedArray_t handle,
                                             unsigned int number)
{
    API_ENTER("%p, %p, %u", (void *)level, (void *)handle, number);
    API_RETURN(get_level(level, handle, number));
}

MC_EXPORT mcError_t mcFreeMipmappedArray(mcMipmappedArray_t handle)
{
    API_ENTER("%p", (void *)handle);
    if (!handle) {
        API_RETURN(mcSuccess);
    }
    API_MIPMAP(mipmap, handle);
    API_UNSAFE();
    API_RETURN(mc_mipmap_free(mipmap));
}

MC_EXPORT mcError_t mcMipmappedArrayDestroy(mcMipmappedArray_t handle)
{
    API_ENTER("%p", (void *)handle);
    API_MIPMAP(mipmap, handle);
    API_UNSAFE();
    API_RETURN(mc_mipmap_free(mipmap));
}
