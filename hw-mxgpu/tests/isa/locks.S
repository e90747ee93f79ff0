/* SPDX-License-Identifier: MIT */
/* A trap handler that traps. */
#include "env.h"
        BEGIN
        .word 0
        END
        .section .text.init
trap_handler:
        la t0, 1f
        csrw mtvec, t0
        .balign 4
1:      .word 0
        .word 0
