/* SPDX-License-Identifier: MIT */
#include "adaptor.h"

const char *adaptor_error_name(int number)
{
    for (const AdaptorError *e = adaptor_errors; e->name; e++) {
        if (e->number == number) {
            return e->name;
        }
    }
    return NULL;
}

mcError_t adaptor_other_error(mcError_t error)
{
    switch ((int)error) {
#ifdef ADAPTOR_CUDA
    /* CUDA has numbers for them that it has not returned since 10.1. */
    case mcErrorInvalidHostPointer:
    case mcErrorInvalidDevicePointer:
        return mcErrorInvalidValue;
#endif
    case mcErrorInvalidParameter:
    case mcErrorMemoryAlignment:
        return mcErrorInvalidValue;
    case mcErrorInvalidHandle:
        return mcErrorInvalidResourceHandle;
    case mcErrorNoMemory:
        return mcErrorMemoryAllocation;
    case mcErrorOutOfResources:
        return mcErrorLaunchOutOfResources;
    case mcErrorNotFound:
    case mcErrorModuleNotFound:
        return mcErrorSymbolNotFound;
    case mcErrorDeviceNotFound:
        return mcErrorInvalidDevice;
    case mcErrorInvalidKernel:
        return mcErrorInvalidDeviceFunction;
    case mcErrorInvalidContext:
        return mcErrorDeviceUninitialized;
    case mcErrorContextIsDestroy:
        return mcErrorContextIsDestroyed;
    case mcErrorMemoryAlreadyRegistered:
        return mcErrorHostMemoryAlreadyRegistered;
    case mcErrorMemoryNotRegistered:
        return mcErrorHostMemoryNotRegistered;
    case mcErrorNotImplemented:
        return mcErrorNotSupported;
    case mcErrorWaitTimeout:
    case mcErrorKernelExecTimeout:
        return mcErrorTimeout;
    case mcErrorNoBitcodeForGPU:
        return mcErrorNoKernelImageForDevice;
    default:
        return (int)error < ADAPTOR_FIRST_OWN_ERROR ? error : mcErrorUnknown;
    }
}
