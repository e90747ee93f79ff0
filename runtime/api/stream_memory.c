/* SPDX-License-Identifier: MIT */
/* Waiting for words in memory, and writing them, in stream order. */
#include <string.h>

#include "api.h"
#include "core/copy.h"

#define WAIT_FLAGS                                                             \
    ((unsigned)MC_STREAM_WAIT_VALUE_NOR | MC_STREAM_WAIT_VALUE_FLUSH)

static mcError_t submit(mcStream_t handle, const McWordOp *ops, unsigned count)
{
    McStream *stream __attribute__((cleanup(mc_api_put_stream))) = NULL;
    mcError_t error = mc_api_stream(handle, &stream);

    return error != mcSuccess ? error : mc_word_ops(stream, ops, count);
}

/* Whatever was written before the value can be seen with it: there is nothing
 * to flush. */
static mcError_t wait_op(McWordOp *op, void *ptr, uint64_t value,
                         unsigned size, unsigned flags)
{
    *op = (McWordOp){
        .ptr = ptr,
        .value = value,
        .size = size,
        .wait = true,
        .cond = (enum mxgpu_wait_cond)(flags & MC_STREAM_WAIT_VALUE_NOR),
    };
    return flags & ~WAIT_FLAGS ? mcErrorInvalidValue : mcSuccess;
}

/* Packets are in order with or without a barrier. */
static mcError_t write_op(McWordOp *op, void *ptr, uint64_t value,
                          unsigned size, unsigned flags)
{
    *op = (McWordOp){.ptr = ptr, .value = value, .size = size};
    return flags & ~(unsigned)MC_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER
               ? mcErrorInvalidValue
               : mcSuccess;
}

MC_EXPORT mcError_t mcStreamWaitValue32(mcStream_t stream, void *ptr,
                                        uint32_t value, unsigned int flags)
{
    McWordOp op;

    API_ENTER("%p, %p, %u, 0x%x", (void *)stream, ptr, value, flags);
    API_TRY(wait_op(&op, ptr, value, 4, flags));
    API_RETURN(submit(stream, &op, 1));
}

MC_EXPORT mcError_t mcStreamWaitValue64(mcStream_t stream, void *ptr,
                                        uint64_t value, unsigned int flags)
{
    McWordOp op;

    API_ENTER("%p, %p, %llu, 0x%x", (void *)stream, ptr,
              (unsigned long long)value, flags);
    API_TRY(wait_op(&op, ptr, value, 8, flags));
    API_RETURN(submit(stream, &op, 1));
}

MC_EXPORT mcError_t mcStreamWriteValue32(mcStream_t stream, void *ptr,
                                         uint32_t value, unsigned int flags)
{
    McWordOp op;

    API_ENTER("%p, %p, %u, 0x%x", (void *)stream, ptr, value, flags);
    API_TRY(write_op(&op, ptr, value, 4, flags));
    API_RETURN(submit(stream, &op, 1));
}

MC_EXPORT mcError_t mcStreamWriteValue64(mcStream_t stream, void *ptr,
                                         uint64_t value, unsigned int flags)
{
    McWordOp op;

    API_ENTER("%p, %p, %llu, 0x%x", (void *)stream, ptr,
              (unsigned long long)value, flags);
    API_TRY(write_op(&op, ptr, value, 8, flags));
    API_RETURN(submit(stream, &op, 1));
}

/* ---- batches ---- */

#define BATCH_MAX 256

/* Of what a batch names, only words need a packet: each one is a barrier.
 * False in *word: nothing to do. */
static mcError_t batch_op(const mcStreamBatchMemOpParams *p, McWordOp *op,
                          bool *word)
{
    *word = true;
    switch ((int)p->operation) {
    case MC_STREAM_MEM_OP_WAIT_VALUE_32:
        return wait_op(op, p->waitValue.address, p->waitValue.value, 4,
                       p->waitValue.flags);
    case MC_STREAM_MEM_OP_WAIT_VALUE_64:
        return wait_op(op, p->waitValue.address, p->waitValue.value64, 8,
                       p->waitValue.flags);
    case MC_STREAM_MEM_OP_WRITE_VALUE_32:
        return write_op(op, p->writeValue.address, p->writeValue.value, 4,
                        p->writeValue.flags);
    case MC_STREAM_MEM_OP_WRITE_VALUE_64:
        return write_op(op, p->writeValue.address, p->writeValue.value64, 8,
                        p->writeValue.flags);
    case MC_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        *word = false;
        return p->flushRemoteWrites.flags ? mcErrorInvalidValue : mcSuccess;
    case MC_STREAM_MEM_OP_BARRIER:
        *word = false;
        return p->memoryBarrier.flags > 1 ? mcErrorInvalidValue : mcSuccess;
    }
    return mcErrorInvalidValue;
}

MC_EXPORT mcError_t mcStreamBatchMemOp(mcStream_t stream, unsigned int count,
                                       mcStreamBatchMemOpParams *params,
                                       unsigned int flags)
{
    McWordOp ops[BATCH_MAX];
    unsigned words = 0;

    API_ENTER("%p, %u, %p, 0x%x", (void *)stream, count, (void *)params,
              flags);
    API_CHECK(flags == 0 && count <= BATCH_MAX && (params || count == 0),
              mcErrorInvalidValue);
    for (unsigned i = 0; i < count; i++) {
        mcStreamBatchMemOpParams one; /* the caller may change its own */
        bool word;

        memcpy(&one, &params[i], sizeof(one));
        API_TRY(batch_op(&one, &ops[words], &word));
        words += word;
    }
    API_RETURN(submit(stream, ops, words));
}
