/* SPDX-License-Identifier: MIT */
#include "va.h"

#include <stddef.h>
#include <sys/mman.h>

#define PAGE 4096ull

void *mc_va_reserve(uint64_t size, uint64_t align)
{
    if (size == 0 || size > (1ull << 46) || align > (1ull << 46)) {
        return NULL;
    }
    size = (size + PAGE - 1) & ~(PAGE - 1);
    uint64_t slack = align > PAGE ? align : 0;
    uint8_t *raw = mmap(NULL, size + slack, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) {
        return NULL;
    }
    uint8_t *va = raw;
    if (slack) {
        va = (uint8_t *)(((uintptr_t)raw + align - 1) & ~(align - 1));
        if (va != raw) {
            munmap(raw, va - raw);
        }
        if (raw + slack != va) {
            munmap(va + size, raw + slack - va);
        }
    }
    return va;
}

void mc_va_release(void *va, uint64_t size)
{
    if (va) {
        munmap(va, (size + PAGE - 1) & ~(PAGE - 1));
    }
}
