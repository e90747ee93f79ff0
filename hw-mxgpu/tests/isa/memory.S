/* SPDX-License-Identifier: MIT */
/* Loads and stores of every size at every alignment, also across pages. */
#include "env.h"
#define LOAD(n, op, want, at)                                                  \
        CASE(n, a4, want, la a1, pattern + 8; op a4, (at) - 8(a1))
/* What op stores is read back byte by byte into a4, lowest byte first. */
#define STORE(n, op, base, at, bytes)                                          \
        li gp, n;                                                              \
        la a1, base;                                                           \
        li a2, 0x01020304;                                                     \
        op a2, at(a1);                                                         \
        li a4, 0;                                                              \
        .irpc i, bytes;                                                        \
        lbu a5, (at) + \i(a1);                                                \
        slli a4, a4, 4;                                                        \
        or a4, a4, a5;                                                         \
        .endr
        BEGIN
        LOAD(2, lb, -1, 0)
        LOAD(3, lb, -16, 3)
        LOAD(4, lbu, 0xff, 0)
        LOAD(5, lh, 0xff, 0)
        LOAD(6, lh, -4081, 2)
        LOAD(7, lhu, 0xf00f, 2)
        LOAD(8, lw, 0x0ff000ff, 4)
        LOAD(9, lw, 0x0f0ff00f, 9)
        LOAD(10, lh, -4081, 9)
        LOAD(11, lhu, 0xf000, 5)
        STORE(12, sb, space, 0, 0)
        li t2, 4
        bne a4, t2, failed
        STORE(13, sh, space, 1, 01)
        li t2, 0x43
        bne a4, t2, failed
        STORE(14, sw, space, 3, 0123)
        li t2, 0x4321
        bne a4, t2, failed
        STORE(15, sw, page_end, -1, 0123)
        li t2, 0x4321
        bne a4, t2, failed
        STORE(16, sw, page_end, -3, 0123)
        li t2, 0x4321
        bne a4, t2, failed
        CASE(17, a4, 0x01020304, la a1, page_end; lw a4, -3(a1))
#if __riscv_xlen == 64
        LOAD(18, lwu, 0xf00f00ff, 0)
        LOAD(19, lw, 0xfffffffff00f00ff, 0)
        LOAD(20, ld, 0x0ff000fff00f00ff, 0)
        LOAD(21, ld, 0x0ff00ff000fff00f, 2)
        LOAD(22, ld, 0x000f0ff00f0f0ff0, 10)
        .irp at, -8, -7, -6, -5, -4, -3, -2, -1, 0
        li gp, 23
        la a1, page_end
        li a2, 0x1122334455667788 + \at
        sd a2, \at(a1)
        ld a4, \at(a1)
        bne a4, a2, failed
        .endr
#endif
        END
        .data
pattern:
        .dword 0x0ff000fff00f00ff, 0x0ff00f0f0ff00ff0, 0x1f0ff00f0ff0000f
space:  .dword 0, 0
        .balign 4096
        .space 4088
        .dword 0
page_end:
        .dword 0
