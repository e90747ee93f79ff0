/* SPDX-License-Identifier: MIT */
#ifndef MC_CORE_MODULE_LOAD_H
#define MC_CORE_MODULE_LOAD_H

#include "core/module/module.h"

/* data: ELF file, fat binary or wrapper, in memory of the caller. */
/* internal: of the program itself, which sets what its image leaves open. */
mcError_t mc_module_load(McContext *ctx, const void *data, bool internal,
                         McModule **out);
mcError_t mc_module_load_file(McContext *ctx, const char *path,
                              McModule **out);
/* The caller holds a reference to it; waits for the device. */
mcError_t mc_module_unload(McModule *module);

#endif
