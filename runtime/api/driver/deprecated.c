/* SPDX-License-Identifier: MIT */
/* Old and other names of entry points; the call they make is what is traced. */
#include "api/api.h"

MC_EXPORT mcError_t mcThreadExit(void)
{
    return mcDeviceReset();
}

MC_EXPORT mcError_t mcThreadSynchronize(void)
{
    return mcDeviceSynchronize();
}

MC_EXPORT mcError_t mcThreadSetLimit(mcLimit_t limit, size_t value)
{
    return mcDeviceSetLimit(limit, value);
}

MC_EXPORT mcError_t mcThreadGetLimit(size_t *value, mcLimit_t limit)
{
    return mcDeviceGetLimit(value, limit);
}

MC_EXPORT mcError_t mcThreadGetCacheConfig(mcFuncCache_t *config)
{
    return mcDeviceGetCacheConfig(config);
}

MC_EXPORT mcError_t mcThreadSetCacheConfig(mcFuncCache_t config)
{
    return mcDeviceSetCacheConfig(config);
}

MC_EXPORT mcError_t mcHostAlloc(void **ptr, size_t size, unsigned int flags)
{
    return mcMallocHost(ptr, size, flags);
}

MC_EXPORT mcError_t mcHostMalloc(void **ptr, size_t size, unsigned int flags)
{
    return mcMallocHost(ptr, size, flags);
}
