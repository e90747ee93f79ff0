/* SPDX-License-Identifier: MIT */
/* Memory of several segments: linked by gaps.ld. */
#define NO_TOHOST
#include "env.h"
        BEGIN
        CASE(2, a0, 0x1234, la a1, initialised; lw a0, 0(a1))
        CASE(3, a0, 0, la a1, zeroed; lw a0, 0(a1); lw a2, 2044(a1);
                or a0, a0, a2)
        /* across the end of a piece of memory, then what a stack would use */
        CASE(4, a0, 0x1234, la a2, initialised; lw a2, 0(a2); sw a2, 6(a1);
                lw a0, 6(a1))
        CASE(5, a0, 0x1234, li a3, 0x100000; add a1, a1, a3; sw a2, 0(a1);
                lw a0, 0(a1))
        la a1, function
        jalr a1
        CASE(6, a0, 77, nop)
        END
        .text
function:
        li a0, 77
        ret
        .data
        .balign 4
initialised:
        .word 0x1234
        .bss
zeroed: .space 4096 + 8
