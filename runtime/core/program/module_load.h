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
/* Nobody finds it or one of its functions any more; the caller holds a
 * reference to it. False when it was gone already. */
bool mc_module_remove(McModule *module);
/* The same, when the device's work is done. */
mcError_t mc_module_unload(McModule *module);

#endif
