/* SPDX-License-Identifier: MIT */
/* The interface under the name that low-level (module and launch) code uses. */
#ifndef MCR_MACA_H
#define MCR_MACA_H

#include "mc_runtime_api.h"

#endif
