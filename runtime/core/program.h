/* SPDX-License-Identifier: MIT */
/*
 * Kernels and variables of the program itself, which mxcc's start code
 * registers, before main and in libraries loaded later. They are loaded on each
 * device at first use, and looked up by the address of their host symbol.
 */
#ifndef MC_CORE_PROGRAM_H
#define MC_CORE_PROGRAM_H

#include "module.h"

void **mc_program_register(const void *wrapper);
void mc_program_unregister(void **handle);
void mc_program_function(void **handle, const void *symbol, const char *name);
void mc_program_variable(void **handle, const void *symbol, const char *name,
                         size_t size);

/* Of a host symbol, on the context's device. mcErrorInvalidDeviceFunction and
 * mcErrorInvalidSymbol when it is not registered, or why loading failed. */
mcError_t mc_symbol_function(McContext *ctx, const void *symbol,
                             McFunction **function);
mcError_t mc_symbol_variable(McContext *ctx, const void *symbol,
                             uint64_t *address, uint64_t *size);

#endif
