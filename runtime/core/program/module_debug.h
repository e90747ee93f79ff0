/* SPDX-License-Identifier: MIT */
/* Modules as a debugger of kernels hears of them: a file in memory for each,
 * which it opens under /proc. Only with MXGPU_GDB in the environment. */
#ifndef MC_CORE_MODULE_DEBUG_H
#define MC_CORE_MODULE_DEBUG_H

#include <stddef.h>

#include "core/module/module.h"

/* The module was made of that file, and has its place. */
void mc_module_debug_loaded(McModule *module, const void *file, size_t size);
void mc_module_debug_gone(McModule *module);

#endif
