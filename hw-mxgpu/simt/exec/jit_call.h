/* SPDX-License-Identifier: MIT */
/* What compiled code calls. */
#ifndef MXGPU_SIMT_EXEC_JIT_CALL_H
#define MXGPU_SIMT_EXEC_JIT_CALL_H

#include "address.h"
#include "isa.h"
#include "simt/jit/code.h"

#if defined(SIMT_AVX512)

/* ---- JitSite.key of each kind of memory: the lowest two bits are the JitMemory */

static inline uint64_t jit_global_key(const MxgpuCu *cu, const MxgpuWarp *w)
{
    return w->c.vmid_tag | (cu->tlb_drops & ((1ull << 48) - 1)) << 2 | JIT_GLOBAL;
}

/* Names the place and size, which another block's memory may not share. */
static inline uint64_t jit_shared_key(const MxgpuCu *cu, const MxgpuWarp *w)
{
    return (uint64_t)(w->c.shared - cu->shared) << 32 | w->c.shared_size << 2 |
           JIT_SHARED;
}

static inline uint64_t jit_private_key(const MxgpuWarp *w)
{
    return w->c.private_size << 2 | JIT_PRIVATE;
}

/* JitCallFn and JitPutFn. */
uint32_t jit_call(MxgpuCu *cu, MxgpuWarp *w, JitFrame *f, uint32_t index,
                  uint64_t mask) SIMT_OWN("jit_call");
void jit_put(MxgpuWarp *w, uint32_t r, uint64_t mask) SIMT_OWN("jit_put");

#endif

#endif
