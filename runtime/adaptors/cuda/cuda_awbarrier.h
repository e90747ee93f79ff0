/* SPDX-License-Identifier: MIT */
/*
 * Barriers in shared memory at which arriving and waiting are two steps, as
 * functions of C and as nvcuda::experimental::awbarrier.
 *
 * A barrier is one word: from the lowest bit how many threads have still to
 * arrive (20 bits), how many it is made for (20 bits), and which phase it is in.
 * What an arrival returns is the word from before it.
 */
#ifndef _CUDA_AWBARRIER_H_
#define _CUDA_AWBARRIER_H_

#include <stdint.h>

#include "cuda_runtime.h"

#if defined(__cplusplus) && defined(__MXCC__)

typedef uint64_t __mbarrier_t;
typedef uint64_t __mbarrier_token_t;

#define __MC_MBARRIER_BITS 20
#define __MC_MBARRIER_MASK ((1ull << __MC_MBARRIER_BITS) - 1)

__device__ inline uint32_t __mbarrier_maximum_count(void)
{
    return (uint32_t)__MC_MBARRIER_MASK;
}

__device__ inline void __mbarrier_init(__mbarrier_t *barrier,
                                       uint32_t expected)
{
    *barrier = (uint64_t)expected << __MC_MBARRIER_BITS | expected;
    __threadfence_block();
}

__device__ inline void __mbarrier_inval(__mbarrier_t *barrier)
{
    *barrier = 0;
}

/* leave: how many threads the next phases are less. */
__device__ inline __mbarrier_token_t __mc_mbarrier_arrive(
    __mbarrier_t *barrier, uint64_t leave)
{
    unsigned long long *word = (unsigned long long *)barrier;
    unsigned long long old, seen, next;

    __threadfence_block();
    seen = *(volatile unsigned long long *)word;
    do {
        old = seen;
        next = old - (leave << __MC_MBARRIER_BITS) - 1;
        if (!(next & __MC_MBARRIER_MASK)) {
            next += 1ull << 2 * __MC_MBARRIER_BITS;
            next |= next >> __MC_MBARRIER_BITS & __MC_MBARRIER_MASK;
        }
        seen = atomicCAS(word, old, next);
    } while (seen != old);
    return old;
}

__device__ inline __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *barrier)
{
    return __mc_mbarrier_arrive(barrier, 0);
}

__device__ inline __mbarrier_token_t __mbarrier_arrive_and_drop(
    __mbarrier_t *barrier)
{
    return __mc_mbarrier_arrive(barrier, 1);
}

/* Whether the phase of that arrival is over. */
__device__ inline bool __mbarrier_test_wait(__mbarrier_t *barrier,
                                            __mbarrier_token_t token)
{
    bool over = *(volatile __mbarrier_t *)barrier >> 2 * __MC_MBARRIER_BITS !=
                token >> 2 * __MC_MBARRIER_BITS;

    __threadfence_block();
    return over;
}

__device__ inline uint32_t __mbarrier_token_pending_count(
    __mbarrier_token_t token)
{
    return (uint32_t)(token & __MC_MBARRIER_MASK);
}

namespace nvcuda {
namespace experimental {

class awbarrier {
public:
    class arrival_token {
    public:
        arrival_token() = default;
        __device__ uint32_t pending_count() const
        {
            return __mbarrier_token_pending_count(token);
        }

    private:
        __device__ arrival_token(__mbarrier_token_t t) : token(t)
        {
        }
        __mbarrier_token_t token;
        friend awbarrier;
    };

    awbarrier() = default;
    awbarrier(const awbarrier &) = delete;
    awbarrier &operator=(const awbarrier &) = delete;

    __device__ arrival_token arrive()
    {
        return arrival_token(__mbarrier_arrive(&word));
    }
    __device__ arrival_token arrive_and_drop()
    {
        return arrival_token(__mbarrier_arrive_and_drop(&word));
    }
    __device__ bool timed_wait(arrival_token token, uint32_t nanoseconds)
    {
        unsigned long long begin = __globaltimer();

        while (!__mbarrier_test_wait(&word, token.token)) {
            if (__globaltimer() - begin > nanoseconds) {
                return false;
            }
        }
        return true;
    }
    __device__ void wait(arrival_token token)
    {
        while (!__mbarrier_test_wait(&word, token.token)) {
            __nanosleep(20);
        }
    }
    __device__ void arrive_and_wait()
    {
        wait(arrive());
    }
    __host__ __device__ static constexpr uint32_t max()
    {
        return (uint32_t)__MC_MBARRIER_MASK;
    }

private:
    __mbarrier_t word;
    friend __device__ void init(awbarrier *barrier, uint32_t expected);
    friend __device__ void inval(awbarrier *barrier);
};

__device__ inline void init(awbarrier *barrier, uint32_t expected)
{
    __mbarrier_init(&barrier->word, expected);
}

__device__ inline void inval(awbarrier *barrier)
{
    __mbarrier_inval(&barrier->word);
}

} // namespace experimental
} // namespace nvcuda

#endif

#endif
