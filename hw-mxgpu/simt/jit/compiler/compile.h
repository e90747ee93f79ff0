/* SPDX-License-Identifier: MIT */
/*
 * The compiler proper is a module that is loaded when something is to be
 * compiled: loading LLVM takes longer than a short program runs whose code is on
 * the disk.
 */
#ifndef MXGPU_SIMT_JIT_COMPILER_COMPILE_H
#define MXGPU_SIMT_JIT_COMPILER_COMPILE_H

#include "origin.h"
#include "simt/jit/code.h"

#define JIT_MODULE "mxgpu-jit-llvm.so" /* beside the program */

typedef struct JitCompiler {
    JitRequest speaks; /* JIT_REQUEST(0) of the module */
    /* Says from which file LLVM is. false: it knows nothing of this host. */
    bool (*start)(JitOrigin *origin);
    /* A function for that many lanes, as many as a JitLanes has, to be freed, and what the
     * answer says of it; NULL: it cannot be. dump: a file that gets LLVM's code,
     * or NULL. */
    uint8_t *(*compile)(const JitCode *code, unsigned lanes, const char *dump,
                        JitReply *reply);
} JitCompiler;

/* Of the module. */
extern const JitCompiler mxgpu_jit_compiler;

#endif
