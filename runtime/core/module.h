/* SPDX-License-Identifier: MIT */
/*
 * Modules: kernel images on a device; and the program's own, which mxcc's
 * start code registers and which are loaded on each device at first use.
 */
#ifndef MC_CORE_MODULE_H
#define MC_CORE_MODULE_H

#include "alloc.h"
#include "image/elf.h"
#include "image/source.h"

typedef struct McModule McModule;

struct McFunction {
    McHandle handle;
    McModule *module;
    char *name;              /* for messages */
    uint64_t desc;           /* device address */
    uint32_t arg_count, arg_size, arg_end; /* end: without padding behind */
    uint32_t static_shared, private_bytes, registers, max_threads;
    uint32_t uses, constant_bytes;
    atomic_uint max_dynamic; /* bytes of dynamic shared memory */
    atomic_int carveout;     /* percent of it preferred; -1: no preference */
    struct mxgpu_kernel_arg *args;
};
typedef struct McFunction McFunction;

struct McModule {
    McHandle handle;
    McContext *ctx;
    McMapping mapping;
    McImage image;
    uint64_t alias, alias_size; /* its constants again, writable; or 0 */
    McFunction **functions;
    const char **names; /* in the image */
    uint32_t function_count;
    atomic_uint bound; /* MXGPU_KERNEL_USES_* its variables are set for */
    bool internal; /* of the program: cannot be unloaded by handle */
    McSourceFile source;
};

/* data: ELF file, fat binary or wrapper, in memory of the caller. */
mcError_t mc_module_load(McContext *ctx, const void *data, McModule **out);
mcError_t mc_module_load_file(McContext *ctx, const char *path,
                              McModule **out);
/* The caller holds a reference to it; waits for the device. */
mcError_t mc_module_unload(McModule *module);

/* NULL when there is none of that name. */
McFunction *mc_module_function(McModule *module, const char *name);
/* As in the source, by the device address of its descriptor; false when no
 * module is there. */
bool mc_module_kernel_name(uint64_t desc, char *text, size_t size);
bool mc_module_global(McModule *module, const char *name, uint64_t *address,
                      uint64_t *size);

/* ---- the program's own ---- */

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
