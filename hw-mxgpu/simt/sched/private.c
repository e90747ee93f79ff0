/* SPDX-License-Identifier: MIT */
/*
 * The host memory behind private windows. Each warp of a unit has a range of
 * address space for the most that its threads can ask for; memory comes when it
 * is touched, from the end of the range down, as stacks grow. What blocks ask
 * for is a resource of the unit like its registers, so that what they touch has
 * a bound. What earlier blocks touched is given back to the host before the
 * bound would be exceeded, when a block of another address space gets the warp,
 * when the unit has been idle for a while, and at reset.
 *
 * Giving back takes time. What has to be given back is noted in "unclean", and
 * done in pieces of PIECE_BYTES before warps run, as far as the work budget
 * goes.
 */
#ifndef _GNU_SOURCE /* QEMU defines it */
#define _GNU_SOURCE /* mlock2() */
#endif
#include "private.h"

#include "simt/warp/budget.h"
#include "simt/warp/memory.h"
#include "simt/warp/warp.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

#define PIECE_BYTES (1u << 20)

/*
 * Address space without memory. Where the host's process locks all its memory,
 * the range would get memory as soon as it can be written to: this makes the
 * host lock what is touched only. Pages are small ones, for that is what the
 * bound of private memory counts.
 */
static uint8_t *reserve(size_t size)
{
    uint8_t *p = mmap(NULL, size, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED) {
        return NULL;
    }
    (void)madvise(p, size, MADV_NOHUGEPAGE); /* fails where there are none */
    if ((madvise(p, size, MADV_DONTNEED) != 0 && /* it is locked */
         mlock2(p, size, MLOCK_ONFAULT) != 0 && munlock(p, size) != 0) ||
        mprotect(p, size, PROT_READ | PROT_WRITE) != 0) {
        munmap(p, size);
        return NULL;
    }
    return p;
}

bool mxgpu_private_reserve(MxgpuCu *cu)
{
    if (!cu->private) {
        cu->private = reserve(CU_WARPS * PRIVATE_WARP_BYTES);
    }
    return cu->private != NULL;
}

void mxgpu_private_free(MxgpuCu *cu)
{
    if (cu->private) {
        munmap(cu->private, CU_WARPS * PRIVATE_WARP_BYTES);
    }
}

/* Of what the warp has, so many bytes of each thread may stay. */
static void keep(MxgpuCu *cu, unsigned warp, uint32_t bytes)
{
    if (cu->s.dirty[warp] > bytes) {
        cu->s.keep[warp] = bytes;
        cu->s.unclean |= 1u << warp;
    }
}

/* Private memory keeps what the last thread left, as long as that was in the
 * same address space; otherwise it is zeroed. */
void mxgpu_private_start(MxgpuCu *cu, unsigned warp, const MxgpuWarp *w)
{
    uint64_t owner = cu->s.drops << 8 | w->c.vmid;

    cu->s.wants[warp] = w->c.private_size;
    if (cu->s.owner[warp] != owner) {
        cu->s.owner[warp] = owner;
        keep(cu, warp, 0);
    }
    if (!(cu->s.unclean >> warp & 1) && cu->s.dirty[warp] < w->c.private_size) {
        cu->s.dirty[warp] = w->c.private_size;
    }
}

/* A block has been placed: what it asks for and what earlier blocks left may be
 * more than the unit may have. */
void mxgpu_private_fit(MxgpuCu *cu)
{
    uint64_t total = (uint64_t)cu->saved_private_kib * 1024 / LANES;

    for (unsigned i = 0; i < CU_WARPS; i++) {
        uint32_t wants = cu->s.used_warps >> i & 1 ? cu->s.wants[i] : 0;

        total += cu->s.dirty[i] > wants ? cu->s.dirty[i] : wants;
    }
    if (total * LANES <= cu->simt->private_bytes) {
        return;
    }
    for (unsigned i = 0; i < CU_WARPS; i++) {
        if (!(cu->s.unclean >> i & 1)) {
            keep(cu, i, cu->s.used_warps >> i & 1 ? cu->s.wants[i] : 0);
        }
    }
}

/* Zeroes a piece. Old hosts cannot give back what is locked. */
static void give_back(void *at, size_t bytes)
{
    if (madvise(at, bytes, MADV_DONTNEED) != 0 &&
        madvise(at, bytes, MADV_DONTNEED_LOCKED) != 0) {
        memset(at, 0, bytes);
    }
}

static bool clean_warp(MxgpuCu *cu, unsigned warp)
{
    uint8_t *end = cu->private + (warp + 1) * PRIVATE_WARP_BYTES;

    while (cu->s.dirty[warp] > cu->s.keep[warp]) {
        uint32_t n = cu->s.dirty[warp] - cu->s.keep[warp];

        if (simt_exhausted(cu)) {
            return false;
        }
        n = n < PIECE_BYTES / LANES ? n : PIECE_BYTES / LANES;
        simt_charge(cu, COST_PIECE + COST_ZERO(n * LANES));
        give_back(end - (uint64_t)cu->s.dirty[warp] * LANES, n * LANES);
        cu->s.dirty[warp] -= n;
    }
    if ((cu->s.used_warps >> warp & 1) &&
        cu->s.dirty[warp] < cu->s.wants[warp]) {
        cu->s.dirty[warp] = cu->s.wants[warp];
    }
    cu->s.unclean &= ~(1u << warp);
    return true;
}

bool mxgpu_private_clean(MxgpuCu *cu)
{
    while (cu->s.unclean) {
        if (!clean_warp(cu, __builtin_ctz(cu->s.unclean))) {
            return false;
        }
    }
    return true;
}

/* ---- saving */

#define MAP_PAGES 64 /* whose places are asked for at a time */

int mxgpu_private_pagemap(void)
{
    return sysconf(_SC_PAGESIZE) == PAGE_BYTES
               ? open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC) : -1;
}

/* Of MAP_PAGES pages from there on, those that were never touched: reading them
 * would make the host map one for each. Linux says of each whether it is in
 * memory (bit 63) or swapped out (bit 62); where nobody says, all may be. */
static uint64_t untouched(const MxgpuCu *cu, const uint8_t *from)
{
    uint64_t entry[MAP_PAGES], mask = 0;

    if (pread(cu->simt->pagemap, entry, sizeof(entry),
              (off_t)((uintptr_t)from / PAGE_BYTES * sizeof(entry[0]))) !=
        (ssize_t)sizeof(entry)) {
        return 0;
    }
    for (unsigned i = 0; i < MAP_PAGES; i++) {
        mask |= (uint64_t)(entry[i] >> 62 == 0) << i;
    }
    return mask;
}

static bool all_zero(const uint8_t *p)
{
    return p[0] == 0 && memcmp(p, p + 1, PAGE_BYTES - 1) == 0;
}

/* The page of that number of the warp, from the end of its range down. */
static uint8_t *page_at(const MxgpuCu *cu, unsigned warp, uint32_t page)
{
    return cu->private + (warp + 1) * PRIVATE_WARP_BYTES -
           (page + 1ull) * PAGE_BYTES;
}

/* The numbers of those of its pages that are not zero; returns how many. */
static uint32_t find_pages(const MxgpuCu *cu, unsigned warp, uint32_t pages,
                           uint32_t *index)
{
    uint32_t n = 0;

    _Static_assert(PRIVATE_WARP_BYTES % (MAP_PAGES * PAGE_BYTES) == 0,
                   "all of them are the warp's");
    for (uint32_t i = 0; i < pages; i += MAP_PAGES) {
        uint64_t skip =
            untouched(cu, page_at(cu, warp, i + MAP_PAGES - 1));

        for (uint32_t k = 0; k < MAP_PAGES && i + k < pages; k++) {
            if (!(skip >> (MAP_PAGES - 1 - k) & 1) &&
                !all_zero(page_at(cu, warp, i + k))) {
                index[n++] = i + k;
            }
        }
    }
    return n;
}

bool mxgpu_private_save(MxgpuCu *cu, unsigned warp, SimtSavedPrivate *to)
{
    uint32_t pages = cu->s.wants[warp] / (PAGE_BYTES / LANES);
    /* What is still to be cleaned is another's. */
    uint32_t mine = cu->s.unclean >> warp & 1
                        ? cu->s.keep[warp] / (PAGE_BYTES / LANES) : pages;

    pages = mine < pages ? mine : pages;
    *to = (SimtSavedPrivate){.owner = cu->s.owner[warp]};
    to->index = malloc(pages * sizeof(*to->index) + 1);
    if (!to->index) {
        return false;
    }
    to->count = find_pages(cu, warp, pages, to->index);
    to->bytes = malloc((size_t)to->count * PAGE_BYTES + 1);
    if (!to->bytes) {
        return false; /* who frees *to frees index */
    }
    for (uint32_t i = 0; i < to->count; i++) {
        memcpy(to->bytes + (size_t)i * PAGE_BYTES,
               page_at(cu, warp, to->index[i]), PAGE_BYTES);
    }
    simt_charge(cu, COST_ZERO((uint64_t)to->count * PAGE_BYTES));
    return true;
}

void mxgpu_private_load(MxgpuCu *cu, unsigned warp,
                        const SimtSavedPrivate *from)
{
    uint64_t dirty = (uint64_t)cu->s.dirty[warp] * LANES;

    if (dirty) {
        give_back(cu->private + (warp + 1) * PRIVATE_WARP_BYTES - dirty, dirty);
        simt_charge(cu, COST_PIECE);
    }
    cu->s.unclean &= ~(1u << warp);
    cu->s.owner[warp] = from->owner;
    cu->s.wants[warp] = cu->s.dirty[warp] = cu->warps[warp].c.private_size;
    for (uint32_t i = 0; i < from->count; i++) {
        memcpy(page_at(cu, warp, from->index[i]),
               from->bytes + (size_t)i * PAGE_BYTES, PAGE_BYTES);
    }
    simt_charge(cu, COST_ZERO((uint64_t)from->count * PAGE_BYTES));
}

void mxgpu_private_drop(MxgpuCu *cu)
{
    for (unsigned i = 0; i < CU_WARPS; i++) {
        if (!(cu->s.used_warps >> i & 1)) {
            keep(cu, i, 0);
        }
    }
}
