/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_SLOW_CSR_H
#define MXGPU_SIMT_SLOW_CSR_H

#include "simt/state.h"

/* csrr* for the lanes of mask; false: it faulted. */
bool mxgpu_simt_csr(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                    uint64_t mask);
/* Whether the instruction only reads what all lanes of w's block read alike. */
bool mxgpu_simt_csr_uniform(const MxgpuCu *cu, const MxgpuWarp *w,
                            const SimtOp *p, uint64_t *value);

#endif
