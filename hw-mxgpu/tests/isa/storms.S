/* SPDX-License-Identifier: MIT */
/* Traps for ever, with nothing that a core executes between them. */
#include "env.h"
        BEGIN_MODE(3)
        la t0, 1f
        csrw mtvec, t0
        ebreak
        .balign 4
1:      mret
        END
