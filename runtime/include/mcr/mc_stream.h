/* SPDX-License-Identifier: MIT */
/*
 * Attributes of streams, and batches of memory operations. A chapter of
 * mc_runtime_api.h, which includes it and has the general rules.
 */
#ifndef MCR_MC_STREAM_H
#define MCR_MC_STREAM_H

#include "mc_runtime_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mcStreamBatchMemOpType {
    MC_STREAM_MEM_OP_WAIT_VALUE_32 = 1,
    MC_STREAM_MEM_OP_WRITE_VALUE_32 = 2,
    MC_STREAM_MEM_OP_FLUSH_REMOTE_WRITES = 3,
    MC_STREAM_MEM_OP_WAIT_VALUE_64 = 4,
    MC_STREAM_MEM_OP_WRITE_VALUE_64 = 5,
    MC_STREAM_MEM_OP_BARRIER = 6
} mcStreamBatchMemOpType;

/* alias is not used. */
typedef struct mcStreamMemOpWaitValueParams {
    mcStreamBatchMemOpType operation;
    mcDeviceptr_t address;
    union {
        uint32_t value;
        uint64_t value64;
    };
    unsigned int flags; /* MC_STREAM_WAIT_VALUE_* */
    mcDeviceptr_t alias;
} mcStreamMemOpWaitValueParams;

typedef struct mcStreamMemOpWriteValueParams {
    mcStreamBatchMemOpType operation;
    mcDeviceptr_t address;
    union {
        uint32_t value;
        uint64_t value64;
    };
    unsigned int flags; /* MC_STREAM_WRITE_VALUE_* */
    mcDeviceptr_t alias;
} mcStreamMemOpWriteValueParams;

typedef struct mcStreamMemOpFlushRemoteWritesParams {
    mcStreamBatchMemOpType operation;
    unsigned int flags; /* 0 */
} mcStreamMemOpFlushRemoteWritesParams;

typedef struct mcStreamMemOpMemoryBarrierParams {
    mcStreamBatchMemOpType operation;
    unsigned int flags; /* 0: of the system, 1: of the device */
} mcStreamMemOpMemoryBarrierParams;

typedef union mcStreamBatchMemOpParams {
    mcStreamBatchMemOpType operation;
    mcStreamMemOpWaitValueParams waitValue;
    mcStreamMemOpWriteValueParams writeValue;
    mcStreamMemOpFlushRemoteWritesParams flushRemoteWrites;
    mcStreamMemOpMemoryBarrierParams memoryBarrier;
    uint64_t pad[6];
} mcStreamBatchMemOpParams;

/* Sets an attribute for later work and waits. An access policy window is at
 * most mcDeviceAttributeMaxAccessPolicyWindowSize bytes long, which is 0: there
 * is no cache to set aside. A synchronisation policy says how
 * mcStreamSynchronize waits. The priority is that of the making: mcErrorNotSupported. */
mcError_t mcStreamSetAttribute(mcStream_t hStream, mcStreamAttrID attr,
                               const mcStreamAttrValue *value);
/* What was set, or the default: no window, mcSyncPolicyAuto. */
mcError_t mcStreamGetAttribute(mcStream_t hStream, mcStreamAttrID attr,
                               mcStreamAttrValue *value_out);
/* Window and synchronisation policy. Streams of different devices:
 * mcErrorNotSupported. */
mcError_t mcStreamCopyAttributes(mcStream_t dst, mcStream_t src);
/* A number that no other stream of the process has or had. */
mcError_t mcStreamGetId(mcStream_t hStream, unsigned long long *streamId);

/* count (at most 256) memory operations, one after the other; all are checked
 * before the first is queued, with the errors of mcStreamWaitValue32() and its
 * neighbours. flags must be 0. */
mcError_t mcStreamBatchMemOp(mcStream_t stream, unsigned int count,
                             mcStreamBatchMemOpParams *paramArray,
                             unsigned int flags);

#ifdef __cplusplus
}
#endif

#endif
