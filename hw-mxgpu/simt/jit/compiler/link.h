/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_JIT_COMPILER_LINK_H
#define MXGPU_SIMT_JIT_COMPILER_LINK_H

#include "simt/jit/code.h"

/* The sections of an object file as they are in memory, in memory of their own,
 * with the function in its first page; NULL: it refers to something else. */
uint8_t *jit_link(const uint8_t *object, size_t size, JitReply *reply);

#endif
