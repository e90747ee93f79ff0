/* SPDX-License-Identifier: MIT */
/* Commands about compute units, counters and the log. */
#ifndef MXGPU_CORE_INSPECT_UNIT_H
#define MXGPU_CORE_INSPECT_UNIT_H

#include "inspect_text.h"

MxgpuInspectFn mxgpu_inspect_counters, mxgpu_inspect_units,
    mxgpu_inspect_warps, mxgpu_inspect_log;

#endif
