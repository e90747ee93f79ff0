/* SPDX-License-Identifier: MIT */
/* What machine code of kernels tells. */
#ifndef MC_IMAGE_CODE_H
#define MC_IMAGE_CODE_H

#include <stddef.h>

/*
 * 32-bit registers that a thread needs at least to run this code: two for each
 * register of RISC-V that it names, and for sp and a0. A lower bound: calls are
 * not followed, nor instructions of the GPU looked at.
 */
unsigned mc_code_registers(const void *code, size_t size);

#endif
