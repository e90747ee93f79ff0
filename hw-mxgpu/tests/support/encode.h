/* SPDX-License-Identifier: MIT */
/* Instructions of 32 bits from their operands (rv/insns.def), for tests that make
 * code. Distances of branches and jumps are bytes. */
#ifndef MXGPU_TESTS_ENCODE_H
#define MXGPU_TESTS_ENCODE_H

#include "rv/rv.h"

uint32_t match_of(RvOp op); /* all operands 0 */
uint32_t enc(RvOp op, unsigned rd, unsigned rs1, unsigned rs2);
uint32_t enc_i(RvOp op, unsigned rd, unsigned rs1, int imm);
uint32_t enc_s(RvOp op, unsigned rs2, unsigned rs1, int imm);
uint32_t enc_b(RvOp op, unsigned rs1, unsigned rs2, int by);
uint32_t enc_j(RvOp op, unsigned rd, int by);

#endif
