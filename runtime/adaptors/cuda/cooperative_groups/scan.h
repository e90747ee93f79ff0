/* SPDX-License-Identifier: MIT */
/* cooperative_groups, of the runtime's own header. */
#ifndef MXGPU_CUDA_COOPERATIVE_GROUPS_SCAN_H
#define MXGPU_CUDA_COOPERATIVE_GROUPS_SCAN_H

#include "../cuda_runtime.h"

#if defined(__cplusplus) && defined(__MXCC__)
#include <maca_cooperative_groups.h>
#endif

#endif
