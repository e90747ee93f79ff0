/* SPDX-License-Identifier: MIT */
/* The interface under the name that low-level (module and launch) code uses. */
#include "mc_runtime_api.h"
