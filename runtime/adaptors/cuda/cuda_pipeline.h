/* SPDX-License-Identifier: MIT */
/* Copies to shared memory, as functions of C and as
 * nvcuda::experimental::pipeline: made by the thread that asks. */
#ifndef _CUDA_PIPELINE_H_
#define _CUDA_PIPELINE_H_

#include "cuda_awbarrier.h"
#include "cuda_runtime.h"

#if defined(__cplusplus) && defined(__MXCC__)

/* The last zfill of size bytes (4, 8 or 16) are zero. */
__device__ inline void __pipeline_memcpy_async(void *__restrict__ dst,
                                               const void *__restrict__ src,
                                               size_t size, size_t zfill = 0)
{
    __builtin_memcpy(dst, src, size - zfill);
    __builtin_memset((char *)dst + (size - zfill), 0, zfill);
}

__device__ inline void __pipeline_commit(void)
{
}

/* All batches but the last that many: here, all. */
__device__ inline void __pipeline_wait_prior(size_t)
{
}

/* The barrier waits for the copies: nothing to wait for. */
__device__ inline void __pipeline_arrive_on(__mbarrier_t *)
{
}

namespace nvcuda {
namespace experimental {

class pipeline {
public:
    pipeline() = default;
    pipeline(const pipeline &) = delete;
    pipeline &operator=(const pipeline &) = delete;

    __device__ size_t commit()
    {
        return batches++;
    }
    __device__ void commit_and_wait()
    {
        wait(commit());
    }
    __device__ void wait(size_t)
    {
    }
    template <unsigned N> __device__ void wait_prior()
    {
    }
    __device__ void arrive_on(awbarrier &)
    {
    }

private:
    size_t batches = 0;
};

template <class T>
__device__ inline void memcpy_async(T &dst, const T &src, pipeline &)
{
    __builtin_memcpy((void *)&dst, (const void *)&src, sizeof(T));
}

} // namespace experimental
} // namespace nvcuda

#endif

#endif
