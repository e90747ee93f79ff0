/* SPDX-License-Identifier: MIT */
/* What every program needs, under an older name. */
#include "mcr/mc_runtime.h"
