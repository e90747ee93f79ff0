/* SPDX-License-Identifier: MIT */
/* Commands about page tables and memory. */
#ifndef MXGPU_CORE_INSPECT_MEMORY_H
#define MXGPU_CORE_INSPECT_MEMORY_H

#include "inspect_text.h"

MxgpuInspectFn mxgpu_inspect_walk, mxgpu_inspect_memory;

#endif
