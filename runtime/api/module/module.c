/* SPDX-License-Identifier: MIT */
#include "core/program/module_load.h"

#include <string.h>

#include "api/api.h"
#include "core/context/error.h"
#include "core/program/launch.h"
#include "core/program/program.h"
#include "link/options.h"

/* ---- modules ---- */

static mcError_t load_data(mcModule_t *out, const void *image)
{
    McModule *module;

    if (!out || !image) {
        return mcErrorInvalidValue;
    }
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    mcError_t error = mc_api_context(&ctx);
    if (error == mcSuccess) {
        error = mc_module_load(ctx, image, false, &module);
    }
    if (error == mcSuccess) {
        *out = (mcModule_t)module;
    }
    return error;
}

MC_EXPORT mcError_t mcModuleLoad(mcModule_t *out, const char *path)
{
    McModule *module;

    API_ENTER("%p, %s", (void *)out, path ? path : "NULL");
    API_CHECK(out && path, mcErrorInvalidValue);
    API_CONTEXT(ctx);
    API_TRY(mc_module_load_file(ctx, path, &module));
    *out = (mcModule_t)module;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcModuleLoadData(mcModule_t *module, const void *image)
{
    API_ENTER("%p, %p", (void *)module, image);
    API_RETURN(load_data(module, image));
}

/* The error, in a log that the caller may print. */
static void log_load(McLinkOptions *options, mcError_t error)
{
    mc_link_set_wall_time(options, 0);
    mc_link_log_add(&options->info, "");
    mc_link_log_add(&options->errors, "");
    if (error != mcSuccess) {
        mc_link_log_add(&options->errors, "error: the module is not loaded: ");
        mc_link_log_add(&options->errors, mc_error_string(error));
        mc_link_log_add(&options->errors, "\n");
    }
}

MC_EXPORT mcError_t mcModuleLoadDataEx(mcModule_t *module, const void *image,
                                       unsigned int count,
                                       mcJitOption *options, void **values)
{
    McLinkOptions read;

    API_ENTER("%p, %p, %u, %p, %p", (void *)module, image, count,
              (void *)options, (void *)values);
    API_CHECK(count == 0 || (options && values), mcErrorInvalidValue);
    API_TRY(mc_link_options_read(&read, count, options, values));
    mcError_t error = load_data(module, image);
    log_load(&read, error);
    API_RETURN(error);
}

MC_EXPORT mcError_t mcModuleLoadFatBinary(mcModule_t *module,
                                          const void *fatbin)
{
    API_ENTER("%p, %p", (void *)module, fatbin);
    API_RETURN(load_data(module, fatbin));
}

MC_EXPORT mcError_t mcModuleUnload(mcModule_t handle)
{
    API_ENTER("%p", (void *)handle);
    API_MODULE(module, handle);
    API_RETURN(mc_module_unload(module));
}

MC_EXPORT mcError_t mcModuleGetFunction(mcFunction_t *out, mcModule_t handle,
                                        const char *name)
{
    API_ENTER("%p, %p, %s", (void *)out, (void *)handle, name ? name : "NULL");
    API_CHECK(out && name, mcErrorInvalidValue);
    API_MODULE(module, handle);
    McFunction *function = mc_module_function(module, name);
    if (!function) {
        mc_error("the module has no kernel %.200s", name);
        API_RETURN(mcErrorNotFound);
    }
    *out = (mcFunction_t)function;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcModuleGetGlobal(mcDeviceptr_t *address, size_t *bytes,
                                      mcModule_t handle, const char *name)
{
    uint64_t va, size;

    API_ENTER("%p, %p, %p, %s", (void *)address, (void *)bytes, (void *)handle,
              name ? name : "NULL");
    API_CHECK(name && (address || bytes), mcErrorInvalidValue);
    API_MODULE(module, handle);
    API_CHECK(mc_module_global(module, name, &va, &size), mcErrorNotFound);
    if (address) {
        *address = (void *)(uintptr_t)va;
    }
    if (bytes) {
        *bytes = size;
    }
    API_RETURN(mcSuccess);
}

/* ---- kernels ---- */

MC_EXPORT mcError_t mcGetFuncBySymbol(mcFunction_t *out, const void *symbol)
{
    McFunction *function;

    API_ENTER("%p, %p", (void *)out, symbol);
    API_CHECK(out, mcErrorInvalidValue);
    API_CONTEXT(ctx);
    API_TRY(mc_symbol_function(ctx, symbol, &function));
    *out = (mcFunction_t)function;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcFuncGetModule(mcModule_t *out, mcFunction_t handle)
{
    API_ENTER("%p, %p", (void *)out, (void *)handle);
    API_CHECK(out, mcErrorInvalidValue);
    API_FUNCTION(function, handle);
    *out = (mcModule_t)function->module;
    API_RETURN(mcSuccess);
}

/* __CUDA_ARCH__ / 10 in kernels: libraries choose by it what they launch. */
#define PTX_VERSION 80

static void attributes(const McFunction *f, mcFuncAttributes *out)
{
    *out = (mcFuncAttributes){
        .binaryVersion = 10 * MXGPU_KERNEL_ABI,
        .constSizeBytes = f->constant_bytes,
        .localSizeBytes = f->private_bytes,
        .maxDynamicSharedSizeBytes = atomic_load(&f->max_dynamic),
        .maxThreadsPerBlock = mc_max_threads(f->module->ctx, f),
        .numRegs = f->registers,
        .preferredShmemCarveout = atomic_load(&f->carveout),
        .ptxVersion = PTX_VERSION,
        .sharedSizeBytes = f->static_shared,
    };
}

MC_EXPORT mcError_t mcFuncGetAttribute(int *value, mcFunction_attribute which,
                                       mcFunction_t handle)
{
    mcFuncAttributes a;

    API_ENTER("%p, %d, %p", (void *)value, (int)which, (void *)handle);
    API_CHECK(value, mcErrorInvalidValue);
    API_FUNCTION(function, handle);
    attributes(function, &a);
    switch ((int)which) {
    case MC_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = a.maxThreadsPerBlock;
        break;
    case MC_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = a.sharedSizeBytes;
        break;
    case MC_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = a.constSizeBytes;
        break;
    case MC_FUNC_CACHE_MODE_CA:
        *value = 0;
        break;
    case MC_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = a.ptxVersion;
        break;
    case MC_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = a.localSizeBytes;
        break;
    case MC_FUNC_ATTRIBUTE_NUM_REGS:
        *value = a.numRegs;
        break;
    case MC_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = a.binaryVersion;
        break;
    case MC_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = a.maxDynamicSharedSizeBytes;
        break;
    case MC_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = a.preferredShmemCarveout;
        break;
    default:
        API_RETURN(mcErrorInvalidValue);
    }
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcFuncGetAttributes(mcFuncAttributes *out,
                                        const void *symbol)
{
    McFunction *function;

    API_ENTER("%p, %p", (void *)out, symbol);
    API_CHECK(out, mcErrorInvalidValue);
    API_CONTEXT(ctx);
    API_TRY(mc_symbol_function(ctx, symbol, &function));
    attributes(function, out);
    API_RETURN(mcSuccess);
}

static mcError_t set_attribute(McFunction *function, int which, int value)
{
    switch (which) {
    case mcFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 ||
            (unsigned)value > MXGPU_SHARED_MAX - function->static_shared) {
            return mcErrorInvalidValue;
        }
        atomic_store(&function->max_dynamic, value);
        return mcSuccess;
    case mcFuncAttributePreferredSharedMemoryCarveout:
        /* A hint, kept for who asks; the split is fixed. */
        if (value < -1 || value > 100) {
            return mcErrorInvalidValue;
        }
        atomic_store(&function->carveout, value);
        return mcSuccess;
    default:
        return mcErrorInvalidValue;
    }
}

MC_EXPORT mcError_t mcFuncSetAttribute(const void *symbol,
                                       mcFuncAttribute which, int value)
{
    McFunction *function;

    API_ENTER("%p, %d, %d", symbol, (int)which, value);
    API_CONTEXT(ctx);
    API_TRY(mc_symbol_function(ctx, symbol, &function));
    API_RETURN(set_attribute(function, which, value));
}

MC_EXPORT mcError_t mcDrvFuncSetAttribute(mcFunction_t handle,
                                          mcFunction_attribute which, int value)
{
    API_ENTER("%p, %d, %d", (void *)handle, (int)which, value);
    API_FUNCTION(function, handle);
    API_RETURN(set_attribute(function, which, value));
}

MC_EXPORT mcError_t mcFuncSetCacheConfig(const void *symbol,
                                         mcFuncCache_t config)
{
    McFunction *function;

    API_ENTER("%p, %d", symbol, (int)config);
    API_CHECK((unsigned)config <= mcFuncCachePreferEqual, mcErrorInvalidValue);
    API_CONTEXT(ctx);
    API_RETURN(mc_symbol_function(ctx, symbol, &function));
}

MC_EXPORT mcError_t mcDrvFuncSetCacheConfig(mcFunction_t handle,
                                            mcFuncCache_t config)
{
    API_ENTER("%p, %d", (void *)handle, (int)config);
    API_CHECK((unsigned)config <= mcFuncCachePreferEqual, mcErrorInvalidValue);
    API_FUNCTION(function, handle);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcFuncSetSharedMemConfig(const void *symbol,
                                             mcSharedMemConfig config)
{
    McFunction *function;

    API_ENTER("%p, %d", symbol, (int)config);
    API_CHECK((unsigned)config <= mcSharedMemBankSizeEightByte,
              mcErrorInvalidValue);
    API_CONTEXT(ctx);
    API_TRY(mc_symbol_function(ctx, symbol, &function));
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDrvFuncSetSharedMemConfig(mcFunction_t handle,
                                                mcSharedMemConfig config)
{
    API_ENTER("%p, %d", (void *)handle, (int)config);
    API_CHECK((unsigned)config <= mcSharedMemBankSizeEightByte,
              mcErrorInvalidValue);
    API_FUNCTION(function, handle);
    API_RETURN(mcSuccess);
}
