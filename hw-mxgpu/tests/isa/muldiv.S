/* SPDX-License-Identifier: MIT */
#include "env.h"
#define TOP (1 << SIGN_BITS)
        BEGIN
        CASE_RR(2, mul, 0x11b8, 0x7e, 0x24)
        CASE_RR(3, mul, TOP, TOP, -1)
        CASE_RR(4, mulh, 0, -1, -1)
        CASE_RR(5, mulhu, -2, -1, -1)
        CASE_RR(6, mulhsu, -1, -1, -1)
        CASE_RR(7, mulh, 1 << (SIGN_BITS - 1), TOP, TOP)
        CASE_RR(8, div, 3, 20, 6)
        CASE_RR(9, div, -3, -20, 6)
        CASE_RR(10, div, -1, 7, 0)
        CASE_RR(11, div, TOP, TOP, -1)
        CASE_RR(12, divu, -1, 7, 0)
        CASE_RR(13, divu, 1, -1, -1)
        CASE_RR(14, rem, -2, -20, 6)
        CASE_RR(15, rem, 7, 7, 0)
        CASE_RR(16, rem, 0, TOP, -1)
        CASE_RR(17, remu, 7, 7, 0)
        CASE_RR(18, remu, 3, 43, 8)
        CASE_RR_SAME(19, mul, 143, 13, 11)
#if __riscv_xlen == 64
        CASE_RR(20, mulw, 1, 0xffffffff, 0xffffffff)
        CASE_RR(21, divw, -0x80000000, 0x80000000, 0xffffffff)
        CASE_RR(22, divuw, -1, 0x1234567800000005, 0x8765432100000000)
        CASE_RR(23, remw, 0, 0x80000000, 0xffffffff)
        CASE_RR(24, remuw, -0x80000000, 0x80000000, 0)
#endif
        END
