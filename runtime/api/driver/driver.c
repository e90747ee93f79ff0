/* SPDX-License-Identifier: MIT */
/* Forms of other entry points for programs that load modules themselves. */
#include <string.h>

#include "api/api.h"
#include "core/context/error.h"

/* ---- errors ---- */

static bool is_error(mcError_t error)
{
    return mc_error_name(error) != mc_error_name((mcError_t)-1);
}

MC_EXPORT mcError_t mcDrvGetErrorName(mcError_t error, const char **name)
{
    API_NOTE("%d, %p", (int)error, (void *)name);
    API_CHECK(name, mcErrorInvalidValue);
    *name = is_error(error) ? mc_error_name(error) : NULL;
    API_RETURN(*name ? mcSuccess : mcErrorInvalidValue);
}

MC_EXPORT mcError_t mcDrvGetErrorString(mcError_t error, const char **text)
{
    API_NOTE("%d, %p", (int)error, (void *)text);
    API_CHECK(text, mcErrorInvalidValue);
    *text = is_error(error) ? mc_error_string(error) : NULL;
    API_RETURN(*text ? mcSuccess : mcErrorInvalidValue);
}

/* ---- devices and contexts ---- */

MC_EXPORT mcError_t mcDeviceComputeCapability(int *major, int *minor,
                                              mcDevice_t device)
{
    API_ENTER("%p, %p, %d", (void *)major, (void *)minor, device);
    API_CHECK(major && minor, mcErrorInvalidValue);
    API_TRY(mcDeviceGetAttribute(major, mcDeviceAttributeComputeCapabilityMajor,
                                 device));
    return mcDeviceGetAttribute(minor, mcDeviceAttributeComputeCapabilityMinor,
                                device);
}

MC_EXPORT mcError_t mcCtxAttach(mcCtx_t *ctx, unsigned int flags)
{
    API_ENTER("%p, 0x%x", (void *)ctx, flags);
    API_CHECK(ctx && flags == 0, mcErrorInvalidValue);
    API_TRY(mcCtxGetCurrent(ctx));
    API_RETURN(*ctx ? mcSuccess : mcErrorInvalidContext);
}

MC_EXPORT mcError_t mcCtxDetach(mcCtx_t ctx)
{
    unsigned int version;

    API_ENTER("%p", (void *)ctx);
    API_CHECK(ctx, mcErrorInvalidContext);
    return mcCtxGetApiVersion(ctx, &version);
}

MC_EXPORT mcError_t mcCtxResetPersistingL2Cache(void)
{
    API_ENTER("%s", "");
    API_CONTEXT(ctx);
    API_RETURN(mcSuccess);
}

/* ---- memory ---- */

MC_EXPORT mcError_t mcMemAllocPitch(mcDeviceptr_t *ptr, size_t *pitch,
                                    size_t width, size_t height,
                                    unsigned int element)
{
    API_ENTER("%p, %p, %zu, %zu, %u", (void *)ptr, (void *)pitch, width, height,
              element);
    API_CHECK(element == 4 || element == 8 || element == 16,
              mcErrorInvalidValue);
    API_CHECK(width && height, mcErrorInvalidValue);
    return mcMallocPitch((void **)ptr, pitch, width, height);
}

MC_EXPORT mcError_t mcMemAllocHost(void **ptr, size_t size)
{
    API_ENTER("%p, %zu", (void *)ptr, size);
    return mcHostAlloc(ptr, size, mcHostAllocDefault);
}

/* ---- modules ---- */

MC_EXPORT mcError_t mcFuncGetName(const char **name, mcFunction_t handle)
{
    API_ENTER("%p, %p", (void *)name, (void *)handle);
    API_CHECK(name, mcErrorInvalidValue);
    API_FUNCTION(function, handle);
    *name = mc_function_symbol(function);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcModuleGetLoadingMode(mcModuleLoadingMode *mode)
{
    API_ENTER("%p", (void *)mode);
    API_CHECK(mode, mcErrorInvalidValue);
    *mode = mcModuleLazyLoading;
    API_RETURN(mcSuccess);
}

/* ---- entry points by name ---- */

typedef void Entry(void);

/* A call of each checks its arguments itself. */
static const struct {
    const char *name;
    Entry *entry;
} entries[] = {
#define MC_SECTION(title)
#define MC_API(status, result, name, parameters, text) {#name, (Entry *)name},
#include "api.def"
#undef MC_API
#undef MC_SECTION
};

static mcError_t find_entry(const char *symbol, void **function,
                            unsigned long long flags)
{
    if (!symbol || !function) {
        return mcErrorInvalidValue;
    }
    *function = NULL;
    if (flags > mcGetProcAddressPerThreadDefaultStream) {
        return mcErrorInvalidValue;
    }
    if (flags == mcGetProcAddressPerThreadDefaultStream) {
        return mcErrorNotSupported; /* mcStreamPerThread does it by any name */
    }
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        if (strcmp(entries[i].name, symbol) == 0) {
            memcpy(function, &entries[i].entry, sizeof(*function));
            return mcSuccess;
        }
    }
    return mcErrorNotFound;
}

MC_EXPORT mcError_t mcGetProcAddress(const char *symbol, void **function,
                                     int version, unsigned long long flags)
{
    API_NOTE("%s, %p, %d, 0x%llx", symbol ? symbol : "NULL", (void *)function,
             version, flags);
    API_CHECK(version >= 0, mcErrorInvalidValue);
    API_RETURN(find_entry(symbol, function, flags));
}

MC_EXPORT mcError_t mcGetDriverEntryPoint(const char *symbol, void **function,
                                          unsigned long long flags)
{
    API_NOTE("%s, %p, 0x%llx", symbol ? symbol : "NULL", (void *)function,
             flags);
    API_RETURN(find_entry(symbol, function, flags));
}
