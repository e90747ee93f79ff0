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

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

#define PIECE_BYTES (1u << 20)
#define IDLE_NS     1000000000ull

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

uint64_t mxgpu_private_owner(const MxgpuCu *cu, unsigned vmid)
{
    return cu->s.drops << 8 | vmid;
}

/* Private memory keeps what the last thread left, as long as that was in the
 * same address space; otherwise it is zeroed. */
void mxgpu_private_start(MxgpuCu *cu, unsigned warp, const MxgpuWarp *w)
{
    uint64_t owner = mxgpu_private_owner(cu, w->c.vmid);

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

/*
 * Which pages of the warp, of so many, may be other than zero, a bit each from
 * the end of its range down: reading one that has no memory would give it some.
 * Asks for up to PAGES of them from "first" on.
 */
#define PAGES 64

static uint64_t touched(const MxgpuCu *cu, unsigned warp, uint32_t first,
                        uint32_t pages)
{
    uint32_t n = pages - first < PAGES ? pages - first : PAGES;
    uint64_t map[PAGES], bits = 0;
    uintptr_t at = (uintptr_t)page_at(cu, warp, first + n - 1);
    size_t bytes = n * sizeof(*map);

    if (cu->simt->pagemap < 0 || sysconf(_SC_PAGESIZE) != PAGE_BYTES ||
        pread(cu->simt->pagemap, map, bytes, at / PAGE_BYTES * sizeof(*map)) !=
            (ssize_t)bytes) {
        return n < 64 ? (1ull << n) - 1 : UINT64_MAX;
    }
    for (uint32_t i = 0; i < n; i++) { /* present, or in swap space */
        bits |= (uint64_t)(map[n - 1 - i] >> 62 != 0) << i;
    }
    return bits;
}

static bool any_touched(const MxgpuCu *cu, unsigned warp, uint32_t pages)
{
    for (uint32_t i = 0; i < pages; i += PAGES) {
        if (touched(cu, warp, i, pages)) {
            return true;
        }
    }
    return false;
}

bool mxgpu_private_save(MxgpuCu *cu, unsigned warp, SimtSavedPrivate *to)
{
    uint64_t bits = 0;
    uint32_t pages = cu->s.wants[warp] / (PAGE_BYTES / LANES), n = 0;
    /* What is still to be cleaned is another's. */
    uint32_t mine = cu->s.unclean >> warp & 1
                        ? cu->s.keep[warp] / (PAGE_BYTES / LANES) : pages;

    pages = mine < pages ? mine : pages;
    *to = (SimtSavedPrivate){.owner = cu->s.owner[warp]};
    if (!any_touched(cu, warp, pages)) {
        return true;
    }
    for (uint32_t i = 0; i < pages; i++) {
        bits = i % PAGES ? bits : touched(cu, warp, i, pages);
        n += (bits >> i % PAGES & 1) && !all_zero(page_at(cu, warp, i));
    }
    if (!n) {
        return true;
    }
    to->index = malloc(n * sizeof(*to->index));
    to->bytes = malloc((size_t)n * PAGE_BYTES);
    if (!to->index || !to->bytes) {
        return false; /* mxgpu_saved_free() has what there is */
    }
    for (uint32_t i = 0; i < pages && to->count < n; i++) {
        bits = i % PAGES ? bits : touched(cu, warp, i, pages);
        if ((bits >> i % PAGES & 1) && !all_zero(page_at(cu, warp, i))) {
            memcpy(to->bytes + (size_t)to->count * PAGE_BYTES,
                   page_at(cu, warp, i), PAGE_BYTES);
            to->index[to->count++] = i;
        }
    }
    simt_charge(cu, COST_ZERO((uint64_t)n * PAGE_BYTES));
    return true;
}

void mxgpu_private_load(MxgpuCu *cu, unsigned warp,
                        const SimtSavedPrivate *from)
{
    uint64_t dirty = (uint64_t)cu->s.dirty[warp] * LANES;

    if (dirty && any_touched(cu, warp, dirty / PAGE_BYTES)) {
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

uint64_t mxgpu_simt_idle(MxgpuSimt *simt, unsigned index)
{
    MxgpuCu *cu = &simt->cus[index];
    uint64_t now;

    if (cu->s.num_blocks || !cu->s.has_private) {
        return UINT64_MAX;
    }
    now = simt_clock(cu);
    if (now - cu->s.ran_at < IDLE_NS) {
        return cu->s.ran_at + IDLE_NS;
    }
    cu->s.has_private = false;
    mxgpu_private_drop(cu);
    return cu->s.unclean ? now : UINT64_MAX;
}
