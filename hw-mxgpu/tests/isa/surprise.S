/* SPDX-License-Identifier: MIT */
/* A trap that nobody expects: mx-isa-run must say which, although the program
 * ends with another one, an ecall. */
#include "env.h"
        BEGIN_MODE(3)
        li gp, 5
        .word 0 /* illegal */
        END
