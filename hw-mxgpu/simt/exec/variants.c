/* SPDX-License-Identifier: MIT */
/*
 * Which builds of the interpreters there are, and which of them this host can
 * run. SIMT_HAVE_AVX2 and so on come from meson.build and say what is linked.
 */
#include "variants.h"

#include "host.h"

#define DECLARE(isa)                                                           \
    SimtExecFn mxgpu_simt_exec_##isa, mxgpu_simt_count_##isa;                  \
    SimtConvoyFn mxgpu_simt_convoy_##isa;
#define VARIANT(isa, counts, ...)                                              \
    ((SimtVariant){#isa, mxgpu_simt_exec_##isa, mxgpu_simt_count_##counts,     \
                   mxgpu_simt_convoy_##isa, __VA_ARGS__})

DECLARE(avx512)
DECLARE(avx2)
DECLARE(base)
DECLARE(plain)

unsigned mxgpu_simt_variants(SimtVariant out[SIMT_VARIANTS])
{
    unsigned n = 0;

#ifdef SIMT_HAVE_AVX512
    if (simt_host_has_avx512()) {
        out[n++] = VARIANT(avx512, avx512, true);
    }
#endif
#ifdef SIMT_HAVE_AVX2
    if (simt_host_has_avx2()) {
        out[n++] = VARIANT(avx2, avx2, false);
    }
#endif
#ifdef SIMT_HAVE_BASE
    out[n++] = VARIANT(base, base, false);
#endif
#ifdef SIMT_HAVE_PLAIN
    out[n++] = VARIANT(plain, base, false);
#endif
    return n;
}
