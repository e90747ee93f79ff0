/* SPDX-License-Identifier: MIT */
/* The command about recoverable faults. */
#ifndef MXGPU_CORE_INSPECT_FAULT_H
#define MXGPU_CORE_INSPECT_FAULT_H

#include "inspect_text.h"

MxgpuInspectFn mxgpu_inspect_faults;

#endif
