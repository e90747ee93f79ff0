/* SPDX-License-Identifier: MIT */
/*
 * Kernels and variables of the program itself, which mxcc's start code
 * registers, before main and in libraries loaded later. They are loaded on each
 * device at first use, and looked up by the address of their host symbol.
 */
#ifndef MC_CORE_PROGRAM_H
#define MC_CORE_PROGRAM_H

#include "core/module/module.h"

void **mc_program_register(const void *wrapper);
void mc_program_unregister(void **handle);
void mc_program_function(void **handle, const void *symbol, const char *name);
void mc_program_variable(void **handle, const void *symbol, const char *name,
                         size_t size);

/*
 * A __managed__ variable: its memory is made at once, with what init has, and
 * *pointer becomes its address, by which it is known as a variable, too. NULL
 * stays there when there is no memory. Modules of the program are told when
 * they are loaded.
 */
void mc_program_managed(void **handle, void **pointer, const void *init,
                        const char *name, size_t size, size_t align);

/* All that is registered and not loaded yet, on the context's device, by a
 * caller that holds it. What cannot be loaded fails when it is used. */
void mc_program_load_all(McContext *ctx);

/* Of a host symbol, on the context's device. mcErrorInvalidDeviceFunction and
 * mcErrorInvalidSymbol when it is not registered, or why loading failed. */
mcError_t mc_symbol_function(McContext *ctx, const void *symbol,
                             McFunction **function);
mcError_t mc_symbol_variable(McContext *ctx, const void *symbol,
                             uint64_t *address, uint64_t *size);

#endif
