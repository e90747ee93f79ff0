/* SPDX-License-Identifier: MIT */
/* Case 7 fails: mx-isa-run must say so. */
#include "env.h"
        BEGIN
        CASE_RR(6, add, 3, 1, 2)
        CASE_RR(7, add, 4, 1, 2)
        END
