/* SPDX-License-Identifier: MIT */
#include "api/api.h"

#include "core/context/peer.h"
#include "core/mapping/multicast.h"
#include "core/mapping/vmm.h"

static bool aligned(uint64_t value)
{
    return value % MC_GRANULARITY == 0;
}

static mcError_t check_prop(const mcMulticastObjectProp *prop)
{
    if (!prop->numDevices || prop->flags || !prop->size ||
        !aligned(prop->size) ||
        prop->numDevices > (unsigned)mc_device_count()) {
        return mcErrorInvalidValue;
    }
    return prop->handleTypes ? mcErrorNotSupported : mcSuccess;
}

MC_EXPORT mcError_t
mcMulticastGetGranularity(size_t *granularity,
                          const mcMulticastObjectProp *prop,
                          mcMulticastGranularity_flags option)
{
    API_ENTER("%p, %p, %d", (void *)granularity, (const void *)prop, option);
    API_CHECK(granularity && prop &&
                  (option == MC_MULTICAST_GRANULARITY_MINIMUM ||
                   option == MC_MULTICAST_GRANULARITY_RECOMMENDED),
              mcErrorInvalidValue);
    mcMulticastObjectProp copy = *prop;
    copy.size = MC_GRANULARITY; /* who asks does not know it */
    API_TRY(check_prop(&copy));
    *granularity = MC_GRANULARITY;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcMulticastCreate(mcMemGenericAllocationHandle *mcHandle,
                                      const mcMulticastObjectProp *prop)
{
    uint64_t number;

    API_ENTER("%p, %p", (void *)mcHandle, (const void *)prop);
    API_CHECK(mcHandle && prop, mcErrorInvalidValue);
    mcMulticastObjectProp copy = *prop;
    API_TRY(check_prop(&copy));
    API_UNSAFE();
    API_TRY(mc_multicast_create(copy.numDevices, copy.size, &number));
    *mcHandle = number;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcMulticastAddDevice(mcMemGenericAllocationHandle mcHandle,
                                         mcDevice_t dev)
{
    API_ENTER("%llu, %d", mcHandle, dev);
    API_CHECK(mc_api_is_device(dev), mcErrorInvalidDevice);
    API_UNSAFE();
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(dev, &ctx));
    API_RETURN(mc_multicast_add(mcHandle, ctx));
}

MC_EXPORT mcError_t mcMulticastBindMem(mcMemGenericAllocationHandle mcHandle,
                                       size_t mcOffset,
                                       mcMemGenericAllocationHandle memHandle,
                                       size_t memOffset, size_t size,
                                       unsigned long long flags)
{
    API_ENTER("%llu, %zu, %llu, %zu, %zu, 0x%llx", mcHandle, mcOffset,
              memHandle, memOffset, size, flags);
    API_CHECK(size && aligned(size) && aligned(mcOffset) &&
                  aligned(memOffset) && flags == 0,
              mcErrorInvalidValue);
    API_UNSAFE();
    API_RETURN(mc_multicast_bind(mcHandle, mcOffset, memHandle, memOffset,
                                 size));
}

MC_EXPORT mcError_t mcMulticastBindAddr(mcMemGenericAllocationHandle mcHandle,
                                        size_t mcOffset, mcDeviceptr_t memptr,
                                        size_t size, unsigned long long flags)
{
    API_ENTER("%llu, %zu, %p, %zu, 0x%llx", mcHandle, mcOffset, memptr, size,
              flags);
    API_CHECK(size && aligned(size) && aligned(mcOffset) &&
                  aligned((uintptr_t)memptr) && flags == 0,
              mcErrorInvalidValue);
    API_UNSAFE();
    API_RETURN(mc_vmm_bind(mcHandle, mcOffset, (uintptr_t)memptr, size));
}

MC_EXPORT mcError_t mcMulticastUnbind(mcMemGenericAllocationHandle mcHandle,
                                      mcDevice_t dev, size_t mcOffset,
                                      size_t size)
{
    API_ENTER("%llu, %d, %zu, %zu", mcHandle, dev, mcOffset, size);
    API_CHECK(mc_api_is_device(dev), mcErrorInvalidDevice);
    API_CHECK(size && aligned(size) && aligned(mcOffset), mcErrorInvalidValue);
    API_UNSAFE();
    API_RETURN(mc_multicast_unbind(mcHandle, dev, mcOffset, size));
}
