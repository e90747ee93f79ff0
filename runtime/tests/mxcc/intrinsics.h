/* SPDX-License-Identifier: MIT */
/* What the generated test of all functions of kernels calls them with. */
#include <common/maca_bfloat16.h>
#include <common/maca_fp16.h>
#include <common/maca_fp8.h>
#include <mc_runtime.h>

#include <cstdio>
#include <type_traits>

/* Room for each pointer argument, and what the compiler cannot know. */
struct Memory {
    alignas(16) char at[4][64];
    alignas(16) char given[64];
    alignas(16) char taken[64];
    int never, done;
};

template <class T> __device__ T *at(Memory *m, int n)
{
    return (T *)m->at[n];
}

template <class T> __device__ T given(Memory *m)
{
    return *(T *)m->given;
}

template <> __device__ unsigned long given(Memory *m)
{
    return ~*(unsigned long *)m->given; /* masks: all lanes */
}

/* The result has exactly the type that the list says; sets of lanes convert. */
template <class Want, class T> __device__ void take(Memory *m, T value)
{
    static_assert(std::is_same<Want, T>::value ||
                      (sizeof(Want) == sizeof(T) &&
                       std::is_integral<Want>::value &&
                       std::is_integral<T>::value &&
                       std::is_signed<Want>::value ==
                           std::is_signed<T>::value),
                  "another type than the list says");
    *(Want *)m->taken = (Want)value;
}

struct Chapter {
    const char *name;
    void (*kernel)(Memory *);
};

/* Each once by one thread, with arguments of zeros. */
template <size_t n> static int run(const Chapter (&chapters)[n])
{
    Memory *m;
    int done = 0, failed = 0;

    if (mcMalloc(&m, sizeof(*m)) || mcMemset(m, 0, sizeof(*m))) {
        return 2;
    }
    for (size_t i = 0; i < n; i++) {
        chapters[i].kernel<<<1, 1>>>(m);
        mcError_t e = mcMemcpy(&done, &m->done, sizeof(done),
                               mcMemcpyDeviceToHost);
        bool ok = !e && done == (int)i + 1;

        printf("%s %s\n", chapters[i].name, ok ? "ok" : "FAIL");
        failed |= !ok;
    }
    mcFree(m);
    return failed;
}
