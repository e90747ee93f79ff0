/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include "api/api.h"
#include "core/copy/copy.h"

/* One description for the copies from a number on, each behind the one before;
 * whether one of the sources may be used by the call alone. */
static mcError_t check_attributes(const mcMemcpyAttributes *attrs,
                                  const size_t *from, size_t numAttrs,
                                  size_t count, bool *during_call)
{
    *during_call = false;
    for (size_t i = 0; i < numAttrs; i++) {
        mcMemcpyAttributes a = attrs[i];

        if (from[i] >= count || (i ? from[i] <= from[i - 1] : from[0] != 0) ||
            (a.srcAccessOrder != mcMemcpySrcAccessOrderStream &&
             a.srcAccessOrder != mcMemcpySrcAccessOrderDuringApiCall &&
             a.srcAccessOrder != mcMemcpySrcAccessOrderAny) ||
            a.flags & ~(unsigned)mcMemcpyFlagPreferOverlapWithCompute) {
            return mcErrorInvalidValue;
        }
        *during_call |=
            a.srcAccessOrder == mcMemcpySrcAccessOrderDuringApiCall;
    }
    return mcSuccess;
}

static mcError_t copy_each(McStream *stream, void **dsts, void **srcs,
                           const size_t *sizes, size_t count, size_t *fail)
{
    for (size_t i = 0; i < count; i++) {
        void *dst = dsts[i], *src = srcs[i];
        size_t size = sizes[i];
        mcError_t error = size && (!dst || !src)
                              ? mcErrorInvalidValue
                              : mc_copy(stream, dst, src, size,
                                        mcMemcpyDefault, false);

        if (error != mcSuccess) {
            *fail = i;
            return error;
        }
    }
    return mcSuccess;
}

MC_EXPORT mcError_t mcMemcpyBatchAsync(void **dsts, void **srcs, size_t *sizes,
                                       size_t count, mcMemcpyAttributes *attrs,
                                       size_t *attrsIdxs, size_t numAttrs,
                                       size_t *failIdx, mcStream_t handle)
{
    size_t fail = SIZE_MAX;
    bool during_call;

    API_ENTER("%p, %p, %p, %zu, %p, %p, %zu, %p, %p", (void *)dsts,
              (void *)srcs, (void *)sizes, count, (void *)attrs,
              (void *)attrsIdxs, numAttrs, (void *)failIdx, (void *)handle);
    if (failIdx) {
        *failIdx = fail;
    }
    API_CHECK(count && dsts && srcs && sizes && numAttrs && attrs &&
                  attrsIdxs && numAttrs <= count,
              mcErrorInvalidValue);
    API_CHECK(handle && handle != mcStreamLegacy, mcErrorInvalidValue);
    API_TRY(check_attributes(attrs, attrsIdxs, numAttrs, count, &during_call));
    API_STREAM(stream, handle);
    if (during_call) {
        API_TRY(mc_capture_none(stream)); /* nothing is read in the call */
    }
    mcError_t error = copy_each(stream, dsts, srcs, sizes, count, &fail);
    if (failIdx) {
        *failIdx = fail;
    }
    API_TRY(error);
    API_RETURN(during_call ? mc_stream_sync(stream) : mcSuccess);
}
