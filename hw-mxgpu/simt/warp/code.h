/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_WARP_CODE_H
#define MXGPU_SIMT_WARP_CODE_H

#include "simt/state.h"

/* The page of pc with what it decodes to; NULL and *fault when it cannot be
 * fetched. */
SimtPage *mxgpu_simt_page(MxgpuCu *cu, const MxgpuWarp *w, uint64_t pc,
                          enum mxgpu_fault *fault);
/* Decodes op "index" of a page. An instruction may lie across two pages: the
 * fault of the second one is returned. */
enum mxgpu_fault mxgpu_simt_decode(MxgpuCu *cu, const MxgpuWarp *w,
                                   SimtPage *page, unsigned index);
/* What an instruction is; false: the units do not execute it. */
bool mxgpu_simt_insn(const MxgpuCu *cu, uint64_t pc, uint32_t insn, RvInsn *in);
/* Compares all pages with memory before they are executed again. */
void mxgpu_simt_drop_code(MxgpuCu *cu);

/* What mxgpu_simt_page() would give, or NULL when that has work to do. */
static inline SimtPage *simt_known_page(const MxgpuCu *cu, const MxgpuWarp *w,
                                        uint64_t pc)
{
    uint64_t va = pc & ~(uint64_t)(PAGE_BYTES - 1);
    SimtPage *page =
        cu->c.pages[((va >> MXGPU_PAGE_SHIFT) ^ w->c.vmid) % CODE_PAGES];

    return page && page->tag == (va | w->c.vmid) &&
                   page->check == cu->c.code_check
               ? page
               : NULL;
}

#endif
