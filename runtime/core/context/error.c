/* SPDX-License-Identifier: MIT */
#include "error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "mxgpu/kernel.h"
#include "mxgpu/regs.h"

/* The spelling is what existing programs compare with. */
#define UNKNOWN_ERROR "unrecoginzed error code"

const char *mc_error_name(mcError_t error)
{
    switch ((int)error) {
#define MC_ERROR(name, text)                                                   \
    case name:                                                                 \
        return #name;
#include "def/errors.def"
#undef MC_ERROR
    }
    return UNKNOWN_ERROR;
}

const char *mc_error_string(mcError_t error)
{
    switch ((int)error) {
#define MC_ERROR(name, text)                                                   \
    case name:                                                                 \
        return text;
#include "def/errors.def"
#undef MC_ERROR
    }
    return UNKNOWN_ERROR;
}

mcError_t mc_error_from_open(int error)
{
    switch (-error) {
    case 0:
        return mcSuccess;
    case ENODEV:
        return mcErrorNoDevice;
    case EACCES:
    case EPERM:
        return mcErrorNotPermitted;
    case EBUSY:
        return mcErrorDevicesUnavailable;
    case ENOMEM:
        return mcErrorMemoryAllocation;
    case EOPNOTSUPP:
        return mcErrorSystemNotReady;
    case EPROTO:
        return mcErrorSystemDriverMismatch;
    default:
        return mcErrorInitializationError;
    }
}

mcError_t mc_error_from_kmd(int error)
{
    switch (-error) {
    case 0:
        return mcSuccess;
    case ENOMEM:
    case ENOSPC:
    case EAGAIN: /* pinning: over the limit of locked memory */
        return mcErrorMemoryAllocation;
    case EEXIST:
        return mcErrorAlreadyMapped;
    case EFAULT:
    case EINVAL:
        return mcErrorInvalidValue;
    case EACCES:
    case EPERM:
        return mcErrorNotPermitted;
    case ETIMEDOUT:
    case ENODEV:
    case EIO:
        return mcErrorDevicesUnavailable;
    case EOPNOTSUPP:
        return mcErrorNotSupported;
    default:
        return mcErrorOperatingSystem;
    }
}

static const char *fault_text(uint32_t fault)
{
    switch (fault) {
#define MXGPU_FAULT(name, value, text)                                         \
    case MXGPU_FAULT_##name:                                                   \
        return text;
#include "mxgpu/faults.def"
#undef MXGPU_FAULT
    }
    return "unknown fault";
}

static mcError_t error_from_fault(const struct mxgpu_queue_error *record)
{
    switch (record->fault) {
    case MXGPU_FAULT_MISALIGNED:
        return record->access == MXGPU_ACCESS_EXECUTE ? mcErrorInvalidPc
                                                      : mcErrorMisalignedAddress;
    case MXGPU_FAULT_WINDOW:
        if (record->access == MXGPU_ACCESS_EXECUTE) {
            return mcErrorInvalidPc;
        }
        /* Below the stack is where a stack that is too small ends. */
        return record->fault_addr >= MXGPU_PRIVATE_END - MXGPU_PRIVATE_MAX &&
                       record->fault_addr < MXGPU_PRIVATE_END
                   ? mcErrorHardwareStackError
                   : mcErrorIllegalAddress;
    case MXGPU_FAULT_ILLEGAL:
    case MXGPU_FAULT_SYSCALL:
        return mcErrorIllegalInstruction;
    case MXGPU_FAULT_BREAKPOINT:
    case MXGPU_FAULT_BARRIER:
    case MXGPU_FAULT_ABORTED:
        return mcErrorLaunchFailure;
    case MXGPU_FAULT_ASSERT:
        return mcErrorAssert;
    case MXGPU_FAULT_CONFIG:
        return mcErrorLaunchOutOfResources;
    case MXGPU_FAULT_NOT_PRESENT:
    case MXGPU_FAULT_PERMISSION:
    case MXGPU_FAULT_TABLE:
    case MXGPU_FAULT_NON_CANONICAL:
    case MXGPU_FAULT_BUS:
    case MXGPU_FAULT_NO_VMID:
        return record->access == MXGPU_ACCESS_EXECUTE ? mcErrorInvalidPc
                                                      : mcErrorIllegalAddress;
    }
    return mcErrorUnknown;
}

/* Where in the grid it was, as kernels count: "block (x,y,z) thread (x,y,z)". */
static const char *place(const struct mxgpu_queue_error *record,
                         const uint16_t *size, char *text, size_t room)
{
    uint32_t x = size[0] ? size[0] : 1, y = size[1] ? size[1] : 1;
    uint32_t thread = record->thread;

    snprintf(text, room, "block (%u,%u,%u) thread (%u,%u,%u)",
             record->block[0], record->block[1], record->block[2], thread % x,
             thread / x % y, thread / x / y);
    return text;
}

static bool is_copy(uint32_t type)
{
    return type == MXGPU_PKT_COPY || type == MXGPU_PKT_FILL ||
           type == MXGPU_PKT_COPY_RECT || type == MXGPU_PKT_FILL_RECT;
}

mcError_t mc_error_from_record(const struct mxgpu_queue_error *record,
                               const uint16_t *block, char *text, size_t size)
{
    static const char *const access[] = {"read", "write", "execute", "atomic"};
    char where[96];

    switch (record->code) {
    case MXGPU_QERR_FAULT:
        if (record->packet_type == MXGPU_PKT_DISPATCH) {
            snprintf(text, size,
                     "%s (%s of 0x%" PRIx64 ") at pc 0x%" PRIx64 ", %s",
                     fault_text(record->fault), access[record->access & 3],
                     record->fault_addr, record->fault_pc,
                     place(record, block, where, sizeof(where)));
        } else if (is_copy(record->packet_type)) {
            snprintf(text, size,
                     "%s (%s of 0x%" PRIx64 ") in a copy or fill, after %" PRIu64
                     " bytes", fault_text(record->fault),
                     access[record->access & 3], record->fault_addr,
                     record->done[0] | (uint64_t)record->done[1] << 32);
        } else {
            snprintf(text, size, "%s (%s of 0x%" PRIx64 ") in packet type %u",
                     fault_text(record->fault), access[record->access & 3],
                     record->fault_addr, record->packet_type);
        }
        return error_from_fault(record);
    case MXGPU_QERR_RESOURCES:
        snprintf(text, size, "a block does not fit a compute unit");
        return mcErrorLaunchOutOfResources;
    case MXGPU_QERR_TIMEOUT:
        snprintf(text, size,
                 "ran longer than the watchdog allows, at pc 0x%" PRIx64
                 ", %s", record->fault_pc,
                 place(record, block, where, sizeof(where)));
        return mcErrorLaunchTimeout;
    case MXGPU_QERR_KERNEL:
        snprintf(text, size, "kernel descriptor unreadable or malformed");
        return mcErrorLaunchFailure;
    case MXGPU_QERR_FETCH:
        snprintf(text, size, "the ring could not be read: %s at 0x%" PRIx64,
                 fault_text(record->fault), record->fault_addr);
        return mcErrorUnknown;
    case MXGPU_QERR_PACKET:
        snprintf(text, size, "packet %" PRIu64 " of type %u refused, field %u",
                 record->packet_index, record->packet_type, record->field);
        return mcErrorUnknown;
    case MXGPU_QERR_INDEX:
        snprintf(text, size, "doorbell out of range");
        return mcErrorUnknown;
    case MXGPU_QERR_SIGNAL:
        snprintf(text, size, "signal address 0x%" PRIx64 " not writable",
                 record->fault_addr);
        return mcErrorUnknown;
    }
    snprintf(text, size, "unknown queue error %u", record->code);
    return mcErrorUnknown;
}
