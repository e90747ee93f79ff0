/* SPDX-License-Identifier: MIT */
/* What a device that loads this library finds. */
#include "mxgpu/observer_entry.h"

#include "../options.h"
#include "../tool.h"
#include "../tools.h"
#include "remote.h"

__attribute__((visibility("default"))) MxgpuObserverEntry mxgpu_observer_entry;

const MxgpuObserver *
mxgpu_observer_entry(unsigned abi, const char **why)
{
    static bool started;

    if (abi != MXGPU_OBSERVER_ABI) {
        *why = "it is of another version";
        return NULL;
    }
    if (!started) {
        if (!mc_check_read_options()) {
            *why = "MXGPU_MEMCHECK names no tool";
            return NULL;
        }
        *why = mc_remote_start();
        if (*why) {
            return NULL;
        }
        if (mc_check_options.tool == MC_TOOL_INITCHECK) {
            mc_initcheck_start();
        }
        started = true;
    }
    return mc_tool_observer(mc_check_options.tool);
}
