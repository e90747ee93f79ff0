/* SPDX-License-Identifier: MIT */
/*
 * The instruction set of the host that a file is compiled for. SIMT_ISA, a
 * name, and the compiler's options come from meson.build; SIMT_FMA and
 * SIMT_AVX512 say what these options allow.
 */
#ifndef MXGPU_SIMT_EXEC_ISA_H
#define MXGPU_SIMT_EXEC_ISA_H

#if defined(__x86_64__)
#include <immintrin.h>
#if defined(__FMA__)
#define SIMT_FMA
#endif
#if defined(__AVX512F__) && defined(__AVX512BW__) &&                           \
    defined(__AVX512DQ__) && defined(__AVX512VL__)
#define SIMT_AVX512
#endif
#endif

/* mxgpu_simt_exec_avx2 from exec, and so on. */
#define SIMT_PASTE(what, isa) mxgpu_simt_##what##_##isa
#define SIMT_PASTED(what, isa) SIMT_PASTE(what, isa)
#define SIMT_NAME(what) SIMT_PASTED(what, SIMT_ISA)

/*
 * Of the declaration of a function that other files of the same instruction set
 * call: its name in C is the same in all sets, its symbol is not.
 */
#define SIMT_STRING(x)  #x
#define SIMT_STRINGS(x) SIMT_STRING(x)
#define SIMT_OWN(name)                                                         \
    __asm__("mxgpu_simt_" name "_" SIMT_STRINGS(SIMT_ISA))                     \
    __attribute__((visibility("hidden")))

#endif
