/* SPDX-License-Identifier: MIT */
/* The observer that a tool is. */
#ifndef MC_CHECK_TOOL_H
#define MC_CHECK_TOOL_H

#include "mxgpu/observer.h"
#include "options.h"

/* NULL: of MC_TOOL_NONE. */
const MxgpuObserver *mc_tool_observer(McTool tool);

#endif
