/* SPDX-License-Identifier: MIT */
/* cooperative_groups, of the runtime's own header. */
#ifndef HIP_INCLUDE_HIP_HIP_COOPERATIVE_GROUPS_H
#define HIP_INCLUDE_HIP_HIP_COOPERATIVE_GROUPS_H

#include "hip/hip_runtime.h"

#if defined(__cplusplus) && defined(__MXCC__)
#include <maca_cooperative_groups.h>
#endif

#endif
