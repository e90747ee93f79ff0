/* SPDX-License-Identifier: MIT */
/* A piece of code as blocks of instructions. */
#ifndef MXGPU_SIMT_JIT_REGION_H
#define MXGPU_SIMT_JIT_REGION_H

#include "code.h"

static inline uint64_t simt_page_va(const SimtPage *page)
{
    return page->tag & ~(uint64_t)(PAGE_BYTES - 1);
}

/* From [head, end) of a page; end 0: as far as one gets going
 * forward; loop: and from where one gets going back from there. Fills in ops and
 * blocks; false: it cannot be compiled. */
bool mxgpu_jit_region(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page, unsigned head,
                      unsigned end, bool loop, JitCode *code);

#endif
