/* SPDX-License-Identifier: MIT */
#include "tool.h"

#include "tools.h"

const MxgpuObserver *mc_tool_observer(McTool tool)
{
    switch (tool) {
    case MC_TOOL_MEMCHECK:
        return &mc_memcheck;
    case MC_TOOL_RACECHECK:
        return &mc_racecheck;
    case MC_TOOL_INITCHECK:
        return &mc_initcheck;
    case MC_TOOL_SYNCCHECK:
        return &mc_synccheck;
    default:
        return NULL;
    }
}
