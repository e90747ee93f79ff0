/* SPDX-License-Identifier: MIT */
/* System calls of the host: a text, a call that there is not, an exit. */
#include "env.h"
#ifndef EXIT_CODE
#define EXIT_CODE 0
#endif
/* The call in words; a0 gets its result. */
#define CALL                                                                   \
        la s0, words;                                                          \
        la s1, tohost;                                                         \
        la s2, fromhost;                                                       \
        fence;                                                                 \
        SREG s0, 0(s1);                                                        \
1:      LREG a0, 0(s2);                                                        \
        beqz a0, 1b;                                                           \
        SREG zero, 0(s2);                                                      \
        LREG a0, 0(s0)
/* word n of the call; a doubleword on either core */
#define SET(n, reg)                                                            \
        la s0, words;                                                          \
        sw zero, 8 * n + 4(s0);                                                \
        SREG reg, 8 * n(s0)
        BEGIN
        li a0, 64
        SET(0, a0)
        li a0, 1
        SET(1, a0)
        la a0, text
        SET(2, a0)
        li a0, text_end - text
        SET(3, a0)
        CALL
        CASE(2, a0, text_end - text, nop)
        CASE(3, a0, 0, LREG a0, 0(s1))
        li a0, 64
        SET(0, a0)
        li a0, -1
        SET(3, a0)
        CALL
        CASE(4, a0, -14, nop) /* no such memory */
        li a0, 4000
        SET(0, a0)
        CALL
        CASE(5, a0, -38, nop)
        li a0, 93
        SET(0, a0)
        li a0, EXIT_CODE
        SET(1, a0)
        CALL
        li gp, 6 /* it does not come back */
        j failed
        END
        .data
text:   .ascii "said by the program\n"
text_end:
        .balign 64
words:  .space 64
