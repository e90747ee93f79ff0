/* SPDX-License-Identifier: MIT */
/*
 * Compiled code on the disk, for the next process that asks for the same: a
 * file for each region, in MXGPU_JIT_CACHE or the user's cache directory.
 */
#ifndef MXGPU_SIMT_JIT_COMPILER_CACHE_H
#define MXGPU_SIMT_JIT_COMPILER_CACHE_H

#include "origin.h"
#include "simt/jit/code.h"

typedef struct JitCache JitCache;

/* NULL: there is none, or it is not the user's alone. program, module: files of
 * this one and the compiler. */
JitCache *jit_cache_open(const char *program, const char *module);
void jit_cache_close(JitCache *c);
/* The code, to be freed, and what the answer says of it; NULL: it is not there.
 */
uint8_t *jit_cache_load(JitCache *c, const JitCode *code, unsigned lanes,
                        JitReply *reply);
/* llvm: the file that made it. */
void jit_cache_store(JitCache *c, const JitCode *code, unsigned lanes,
                     const JitOrigin *llvm, const JitReply *reply,
                     const uint8_t *bytes);

#endif
