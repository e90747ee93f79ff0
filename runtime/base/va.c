/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "va.h"

#include <stddef.h>
#include <sys/mman.h>

#define PAGE  4096ull
#define LIMIT (1ull << 46)

void *mc_va_reserve(uint64_t size, uint64_t align)
{
    if (size == 0 || size > LIMIT || align > LIMIT) {
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

void *mc_va_reserve_at(uint64_t va, uint64_t size)
{
    void *at = (void *)(uintptr_t)va;

    if (size == 0 || size > LIMIT || va > LIMIT * 2 - size) {
        return NULL;
    }
    void *p = mmap(at, size, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                       MAP_FIXED_NOREPLACE, -1, 0);
    if (p != MAP_FAILED && p != at) {
        munmap(p, size); /* a Linux before 4.17 takes it for a hint */
        return NULL;
    }
    return p == MAP_FAILED ? NULL : p;
}

void mc_va_hide(void *va, uint64_t size)
{
    mmap(va, size, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void mc_va_release(void *va, uint64_t size)
{
    if (va) {
        munmap(va, (size + PAGE - 1) & ~(PAGE - 1));
    }
}
