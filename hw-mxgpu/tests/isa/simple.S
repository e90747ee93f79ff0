/* SPDX-License-Identifier: MIT */
#include "env.h"
        BEGIN
        END
