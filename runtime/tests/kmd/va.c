/* SPDX-License-Identifier: MIT */
/* What the runtime core supplies to the driver layer, for tests without it. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "kmd/kmd.h"

void *mc_va_reserve(uint64_t size, uint64_t align)
{
    uint64_t total = size + align;
    uintptr_t start, p;
    void *m = mmap(NULL, total, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (m == MAP_FAILED) {
        return NULL;
    }
    start = (uintptr_t)m;
    p = (start + align - 1) & ~(align - 1);
    if (p > start) {
        munmap(m, p - start);
    }
    munmap((void *)(p + size), start + total - (p + size));
    return (void *)p;
}

void mc_va_release(void *va, uint64_t size)
{
    munmap(va, size);
}
