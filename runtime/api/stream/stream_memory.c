/* SPDX-License-Identifier: MIT */
/* Waiting for words in memory, and writing them, in stream order. */
#include <string.h>

#include "api/api.h"
#include "core/copy/copy.h"
#include "core/exec/params.h"

static mcError_t submit(mcStream_t handle, const McWordOp *ops, unsigned count)
{
    McStream *stream __attribute__((cleanup(mc_api_put_stream))) = NULL;
    mcError_t error = mc_api_stream(handle, &stream);

    return error != mcSuccess ? error : mc_word_ops(stream, ops, count);
}

MC_EXPORT mcError_t mcStreamWaitValue32(mcStream_t stream, void *ptr,
                                        uint32_t value, unsigned int flags)
{
    McWordOp op;

    API_ENTER("%p, %p, %u, 0x%x", (void *)stream, ptr, value, flags);
    API_TRY(mc_wait_op(&op, ptr, value, 4, flags));
    API_RETURN(submit(stream, &op, 1));
}

MC_EXPORT mcError_t mcStreamWaitValue64(mcStream_t stream, void *ptr,
                                        uint64_t value, unsigned int flags)
{
    McWordOp op;

    API_ENTER("%p, %p, %llu, 0x%x", (void *)stream, ptr,
              (unsigned long long)value, flags);
    API_TRY(mc_wait_op(&op, ptr, value, 8, flags));
    API_RETURN(submit(stream, &op, 1));
}

MC_EXPORT mcError_t mcStreamWriteValue32(mcStream_t stream, void *ptr,
                                         uint32_t value, unsigned int flags)
{
    McWordOp op;

    API_ENTER("%p, %p, %u, 0x%x", (void *)stream, ptr, value, flags);
    API_TRY(mc_write_op(&op, ptr, value, 4, flags));
    API_RETURN(submit(stream, &op, 1));
}

MC_EXPORT mcError_t mcStreamWriteValue64(mcStream_t stream, void *ptr,
                                         uint64_t value, unsigned int flags)
{
    McWordOp op;

    API_ENTER("%p, %p, %llu, 0x%x", (void *)stream, ptr,
              (unsigned long long)value, flags);
    API_TRY(mc_write_op(&op, ptr, value, 8, flags));
    API_RETURN(submit(stream, &op, 1));
}

/* ---- batches ---- */

MC_EXPORT mcError_t mcStreamBatchMemOp(mcStream_t stream, unsigned int count,
                                       mcStreamBatchMemOpParams *params,
                                       unsigned int flags)
{
    McWordOp ops[MC_BATCH_MAX];
    unsigned words = 0;

    API_ENTER("%p, %u, %p, 0x%x", (void *)stream, count, (void *)params,
              flags);
    API_CHECK(flags == 0 && count <= MC_BATCH_MAX && (params || count == 0),
              mcErrorInvalidValue);
    for (unsigned i = 0; i < count; i++) {
        mcStreamBatchMemOpParams one; /* the caller may change its own */
        bool word;

        memcpy(&one, &params[i], sizeof(one));
        API_TRY(mc_batch_op(&one, &ops[words], &word));
        words += word;
    }
    API_RETURN(submit(stream, ops, words));
}
