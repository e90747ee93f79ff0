/* SPDX-License-Identifier: MIT */
/* Gives no answer. */
#include "env.h"
        BEGIN
1:      j 1b
        END
