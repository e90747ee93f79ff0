/* SPDX-License-Identifier: MIT */
/* Which registers lanes that wait may still read. */
#ifndef MXGPU_SIMT_WARP_LIVE_H
#define MXGPU_SIMT_WARP_LIVE_H

#include "simt/state.h"

#define LIVE_KNOWN 1u         /* bit of x0, in SimtPage.live */
#define LIVE_ALL   UINT32_MAX /* may be any */

/* What SimtPage.live holds of an op that it knows nothing of yet. */
uint32_t mxgpu_simt_find_live(MxgpuCu *cu, SimtPage *page, unsigned index);
/* Sets w->c.dead for the group that runs, whose code is in the page, under a
 * mask. */
void mxgpu_warp_dead(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page);

/* A bit for each x register that what runs from pc on may read before it writes
 * it; all of them where the page does not tell. */
static inline uint32_t simt_live(MxgpuCu *cu, SimtPage *page, uint64_t pc)
{
    unsigned index = (pc & (PAGE_BYTES - 1)) >> 1;

    if ((pc ^ page->tag) >> MXGPU_PAGE_SHIFT || pc & 1) {
        return LIVE_ALL;
    }
    return page->live[index] & LIVE_KNOWN
               ? page->live[index]
               : mxgpu_simt_find_live(cu, page, index);
}

/* The same of f registers. */
static inline uint32_t simt_flive(MxgpuCu *cu, SimtPage *page, uint64_t pc)
{
    if ((pc ^ page->tag) >> MXGPU_PAGE_SHIFT || pc & 1) {
        return LIVE_ALL;
    }
    (void)simt_live(cu, page, pc);
    return page->flive[(pc & (PAGE_BYTES - 1)) >> 1];
}

/* SimtWarpCache.dead of these: results for SINK are nobody's. */
static inline uint64_t simt_dead(uint32_t live)
{
    return 1ull << SINK | (~live & ~LIVE_KNOWN);
}

#endif
