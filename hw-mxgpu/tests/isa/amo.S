/* SPDX-License-Identifier: MIT */
#include "env.h"
/* Old value and then memory. */
#define AMO(n, op, ld, old, operand, now)                                      \
        CASE(n, a4, old, la a1, cell; li a2, old; sd a2, 0(a1);                \
             li a3, operand; op a4, a3, (a1));                                 \
        CASE(n, a5, now, ld a5, 0(a1))
/* What it is compared with comes first. */
#define CAS(n, op, ld, old, with, operand, now)                                    \
        CASE(n, a4, old, la a1, cell; li a2, old; sd a2, 0(a1);                \
             li a3, operand; li a4, with; op a4, a3, (a1));                    \
        CASE(n + 1, a5, now, ld a5, 0(a1))
#if __riscv_xlen == 32
#define sd sw
#endif
        BEGIN
        AMO(2, amoswap.w, lw, -0x80000000, 5, 5)
        AMO(3, amoadd.w, lw, 0x7fffffff, 1, -0x80000000)
        AMO(4, amoxor.w, lw, 0x0ff0, 0x00ff, 0x0f0f)
        AMO(5, amoand.w, lw, 0x0ff0, 0x00ff, 0x00f0)
        AMO(6, amoor.w.aqrl, lw, 0x0ff0, 0x00ff, 0x0fff)
        AMO(7, amomin.w, lw, -5, 3, -5)
        AMO(8, amomax.w.aq, lw, -5, 3, 3)
        AMO(9, amominu.w, lw, -5, 3, 3)
        AMO(10, amomaxu.w.rl, lw, -5, 3, -5)
#if __riscv_xlen == 64
        AMO(11, amoswap.d, ld, 1 << 63, 5, 5)
        AMO(12, amoadd.d, ld, ~(1 << 63), 1, 1 << 63)
        AMO(13, amoxor.d, ld, 0x0ff00ff00ff00ff0, 0x00ff00ff00ff00ff, 0x0f0f0f0f0f0f0f0f)
        AMO(14, amoand.d, ld, 0x0ff00ff00ff00ff0, 0x00ff00ff00ff00ff, 0x00f000f000f000f0)
        AMO(15, amoor.d, ld, 0x0ff00ff00ff00ff0, 0x00ff00ff00ff00ff, 0x0fff0fff0fff0fff)
        AMO(16, amomin.d, ld, -5, 3, -5)
        AMO(17, amomax.d, ld, -5, 3, 3)
        AMO(18, amominu.d, ld, -5, 3, 3)
        AMO(19, amomaxu.d, ld, -5, 3, -5)
        /* the upper half of a word operand and of memory has no part */
        CASE(20, a4, 0x7fffffff, la a1, cell; li a2, 0x123456787fffffff;
                sd a2, 0(a1); li a3, 0xabcdef0100000001;
                amoadd.w a4, a3, (a1))
        CASE(21, a5, 0x1234567880000000, ld a5, 0(a1))
        CAS(24, amocas.w, lw, -0x80000000, -0x80000000, 5, 5)
        CAS(26, amocas.w.aqrl, lw, 7, 6, 5, 7)
        CAS(28, amocas.d, ld, 1 << 63, 1 << 63, 5, 5)
        CAS(30, amocas.d.aq, ld, 1 << 63, 0, 5, 1 << 63)
        /* the upper halves of what is compared have no part */
        CASE(32, a4, -1, la a1, cell; li a2, 0x12345678ffffffff;
                sd a2, 0(a1); li a3, 9; li a4, 0xabcdef01ffffffff;
                amocas.w a4, a3, (a1))
        CASE(33, a5, 0x1234567800000009, ld a5, 0(a1))
        CASE(34, x0, 0, la a1, cell; sd x0, 0(a1); li a3, 3;
                amocas.d x0, a3, (a1))
        CASE(35, a4, 3, ld a4, 0(a1))
#endif
        CASE(22, x0, 0, la a1, cell; sw x0, 0(a1); li a3, 3;
                amoadd.w x0, a3, (a1))
        CASE(23, a4, 3, lw a4, 0(a1))
        END
        .data
        .balign 8
cell:   .dword 0
