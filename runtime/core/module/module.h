/* SPDX-License-Identifier: MIT */
/* Modules: kernel images on a device. */
#ifndef MC_CORE_MODULE_H
#define MC_CORE_MODULE_H

#include "core/context/handle.h"
#include "core/memory/alloc.h"
#include "image/elf.h"
#include "image/source.h"

typedef struct McModule McModule;

struct McFunction {
    McHandle handle;
    McModule *module;
    char *name;              /* for messages */
    _Atomic(const void *) symbol; /* of the program, once it was asked for */
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
    uint32_t *by_name;  /* functions in the order of their names */
    uint32_t function_count;
    atomic_uint bound; /* MXGPU_KERNEL_USES_* its variables are set for */
    bool internal; /* of the program: cannot be unloaded by handle */
    McSourceFile source;
    int debug_fd;      /* program/module_debug.h; 0: there is none */
    uint64_t debug_at; /* where the debugger knows it */
};

/* NULL when there is none of that name. */
McFunction *mc_module_function(McModule *module, const char *name);
/* The name it is found by; it ends with the module. */
const char *mc_function_symbol(const McFunction *function);
/* As in the source, by the device address of its descriptor; false when no
 * module is there. */
bool mc_module_kernel_name(uint64_t desc, char *text, size_t size);
/* ", in FUNCTION at FILE:LINE:COLUMN, inlined into ...", by the device address
 * of an instruction; "" when nothing is known. */
void mc_module_describe(uint64_t pc, char *text, size_t size);
/* Writes an address to a variable that has room for one; false: there is no
 * such variable. */
bool mc_module_set_address(McModule *module, const char *name,
                           uint64_t address);
bool mc_module_global(McModule *module, const char *name, uint64_t *address,
                      uint64_t *size);

#endif