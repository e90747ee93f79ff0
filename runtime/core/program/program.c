/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/context/error.h"
#include "core/context/runtime.h"
#include "core/mapping/managed.h"
#include "module_load.h"

typedef struct Program {
    struct Program *next;
    const void *wrapper;
    void *handle[1]; /* what the program holds: its address */
    bool watched;    /* leave() is an exit handler since its first load */
    struct {
        McModule *module;
        uint64_t serial; /* of the context it is loaded in */
        mcError_t error; /* why it cannot be */
    } loaded[MC_MAX_DEVICES];
} Program;

/* A __managed__ variable is known by where it is, for host and devices. */
typedef struct Symbol {
    struct Symbol *next;
    const void *address;
    Program *program;
    char *name;
    size_t size; /* of a variable */
    bool function, managed;
    struct {
        McFunction *function;
        uint64_t address, size;
        uint64_t serial;
    } found[MC_MAX_DEVICES];
} Symbol;

#define BUCKETS 1024

/* The process ends: what is in flight is aborted, not waited for. */
static atomic_bool leaving;

static pthread_mutex_t program_lock = PTHREAD_MUTEX_INITIALIZER;
static Program *programs;
static Symbol *symbols[BUCKETS];

static Symbol **bucket(const void *address)
{
    uint64_t bits = (uintptr_t)address >> 3;

    return &symbols[(bits * 0x9e3779b97f4a7c15ull) >> 54];
}

static Symbol *find(const void *address, bool function)
{
    for (Symbol *s = *bucket(address); s; s = s->next) {
        if (s->address == address && s->function == function) {
            return s;
        }
    }
    return NULL;
}

static Program *from_handle(void **handle)
{
    for (Program *p = programs; p; p = p->next) {
        if (p->handle == handle) {
            return p;
        }
    }
    return NULL;
}

void **mc_program_register(const void *wrapper)
{
    Program *program = NULL;

    if (mc_runtime_is_child()) {
        return NULL; /* no call will ask for it */
    }
    program = calloc(1, sizeof(*program));
    if (!program) {
        mc_error("no memory to register the program's kernels");
        return NULL;
    }
    program->wrapper = wrapper;
    pthread_mutex_lock(&program_lock);
    program->next = programs;
    programs = program;
    pthread_mutex_unlock(&program_lock);
    return program->handle;
}

/* Under the lock. Returns those that are managed, which are freed without it. */
static Symbol *drop_symbols(Program *program)
{
    Symbol *managed = NULL;

    for (unsigned i = 0; i < BUCKETS; i++) {
        for (Symbol **p = &symbols[i]; *p;) {
            Symbol *s = *p;

            if (s->program == program) {
                *p = s->next;
                free(s->name);
                if (s->managed) {
                    s->next = managed;
                    managed = s;
                } else {
                    free(s);
                }
            } else {
                p = &s->next;
            }
        }
    }
    return managed;
}

/*
 * A program is unregistered by an exit handler that its constructor has set, or
 * when its library is closed, which looks the same. Exit handlers run in
 * reverse order: this one, set when the program is first loaded, runs before
 * the program's own and tells that it is exit.
 */
static void leave(void)
{
    atomic_store(&leaving, true);
}

static bool any_open(void)
{
    bool open = false;

    for (int i = 0; i < MC_MAX_DEVICES && !open; i++) {
        McContext *ctx = mc_context_peek(i);

        if (ctx) {
            open = true;
            mc_context_put(ctx);
        }
    }
    return open;
}

/* Freeing waits for the devices, which at exit nobody does. It is not known
 * whether it is exit when the program was never loaded: then memory stays that
 * a device may be using. */
static void free_managed(Symbol *list, bool watched)
{
    bool keep = atomic_load(&leaving) || (!watched && any_open());

    while (list) {
        Symbol *s = list;

        list = s->next;
        if (!keep) {
            mc_managed_free((void *)(uintptr_t)s->address, true);
        }
        free(s);
    }
}

void mc_program_unregister(void **handle)
{
    if (mc_runtime_is_child()) {
        return;
    }
    pthread_mutex_lock(&program_lock);
    Program *program = from_handle(handle);
    if (!program) {
        pthread_mutex_unlock(&program_lock);
        return;
    }
    for (Program **p = &programs; *p; p = &(*p)->next) {
        if (*p == program) {
            *p = program->next;
            break;
        }
    }
    Symbol *managed = drop_symbols(program);
    pthread_mutex_unlock(&program_lock);
    /* At exit modules stay until process_end() closes the devices. */
    for (int i = 0; i < MC_MAX_DEVICES && !atomic_load(&leaving); i++) {
        McModule *module =
            program->loaded[i].module
                ? mc_handle_get(program->loaded[i].module, MC_HANDLE_MODULE)
                : NULL;

        if (module) {
            if (module->ctx->serial == program->loaded[i].serial) {
                module->internal = false;
                mc_module_unload(module);
            }
            mc_handle_put(module);
        }
    }
    free_managed(managed, program->watched);
    free(program);
}

enum { FUNCTION, VARIABLE, MANAGED };

static bool add_symbol(void **handle, const void *address, const char *name,
                       size_t size, int kind)
{
    if (mc_runtime_is_child()) {
        return false;
    }
    Symbol *symbol = calloc(1, sizeof(*symbol));
    char *copy = strdup(name);

    pthread_mutex_lock(&program_lock);
    Program *program = from_handle(handle);
    if (!symbol || !copy || !program) {
        pthread_mutex_unlock(&program_lock);
        free(symbol);
        free(copy);
        return false;
    }
    symbol->address = address;
    symbol->program = program;
    symbol->name = copy;
    symbol->size = size;
    symbol->function = kind == FUNCTION;
    symbol->managed = kind == MANAGED;
    Symbol **list = bucket(address);
    symbol->next = *list;
    *list = symbol;
    pthread_mutex_unlock(&program_lock);
    return true;
}

void mc_program_function(void **handle, const void *symbol, const char *name)
{
    add_symbol(handle, symbol, name, 0, FUNCTION);
}

void mc_program_variable(void **handle, const void *symbol, const char *name,
                         size_t size)
{
    add_symbol(handle, symbol, name, size, VARIABLE);
}

void mc_program_managed(void **handle, void **pointer, const void *init,
                        const char *name, size_t size, size_t align)
{
    const McCaller caller = {"__managed__", init};
    mcError_t error = mcErrorNotSupported;
    void *memory;

    if (align <= KMD_PAGE_SIZE) {
        error = mc_managed_alloc(mc_thread()->device, size, mcMemAttachGlobal,
                                 true, caller, &memory);
    }
    if (error != mcSuccess) {
        mc_error("__managed__ variable %s, %zu bytes, aligned to %zu: %s",
                 name, size, align, mc_error_string(error));
        return;
    }
    memcpy(memory, init, size);
    if (add_symbol(handle, memory, name, size, MANAGED)) {
        *pointer = memory;
    } else {
        mc_managed_free(memory, true);
    }
}

/* Under the lock: tells a module of the program where they are. */
static mcError_t set_managed(const Program *program, McModule *module)
{
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (const Symbol *s = symbols[i]; s; s = s->next) {
            if (s->program == program && s->managed &&
                !mc_module_set_address(module, s->name,
                                       (uintptr_t)s->address)) {
                mc_error("variable %s is not in the program's image", s->name);
                return mcErrorInvalidKernelImage;
            }
        }
    }
    return mcSuccess;
}

static void give_up(McModule *module)
{
    McModule *held = mc_handle_get(module, MC_HANDLE_MODULE);

    if (held) {
        mc_module_remove(held);
        mc_handle_put(held);
    }
}

/* Under the lock: loading asks the device for memory, but waits for no work. */
static mcError_t load(McContext *ctx, Program *program, McModule **out)
{
    int device = ctx->device;

    if (!program->watched) {
        program->watched = atexit(leave) == 0;
    }
    if (program->loaded[device].serial != ctx->serial) {
        McModule *module = NULL;
        mcError_t error = mc_module_load(ctx, program->wrapper, true, &module);

        if (error == mcSuccess) {
            error = set_managed(program, module);
            if (error != mcSuccess) {
                give_up(module);
                module = NULL;
            }
        }
        program->loaded[device].module = module;
        program->loaded[device].error = error;
        program->loaded[device].serial = ctx->serial;
    }
    *out = program->loaded[device].module;
    return program->loaded[device].error;
}

void mc_program_load_all(McContext *ctx)
{
    McModule *module;

    pthread_mutex_lock(&program_lock);
    for (Program *p = programs; p; p = p->next) {
        load(ctx, p, &module); /* an error is kept for who uses it */
    }
    pthread_mutex_unlock(&program_lock);
}

mcError_t mc_symbol_function(McContext *ctx, const void *address,
                             McFunction **function)
{
    int device = ctx->device;
    mcError_t error = mcSuccess;

    pthread_mutex_lock(&program_lock);
    Symbol *symbol = find(address, true);
    if (!symbol) {
        error = mcErrorInvalidDeviceFunction;
        mc_error("%p is not a kernel of this program", address);
    } else if (symbol->found[device].serial != ctx->serial) {
        McModule *module;

        error = load(ctx, symbol->program, &module);
        if (error == mcSuccess) {
            symbol->found[device].function = mc_module_function(module,
                                                                symbol->name);
            symbol->found[device].serial = ctx->serial;
            if (symbol->found[device].function) {
                atomic_store(&symbol->found[device].function->symbol, address);
            }
        }
    }
    if (error == mcSuccess) {
        *function = symbol->found[device].function;
        if (!*function) {
            char name[256];

            mc_source_name(symbol->name, name, sizeof(name));
            mc_error("kernel %s is not in the program's image", name);
            error = mcErrorInvalidDeviceFunction;
        }
    }
    pthread_mutex_unlock(&program_lock);
    return error;
}

mcError_t mc_symbol_variable(McContext *ctx, const void *address,
                             uint64_t *device_address, uint64_t *size)
{
    int device = ctx->device;
    mcError_t error = mcSuccess;

    pthread_mutex_lock(&program_lock);
    Symbol *symbol = find(address, false);
    if (!symbol) {
        error = mcErrorInvalidSymbol;
        mc_error("%p is not a device variable of this program", address);
    } else if (symbol->managed) {
        symbol->found[device].address = (uintptr_t)address;
        symbol->found[device].size = symbol->size;
    } else if (symbol->found[device].serial != ctx->serial) {
        McModule *module;

        error = load(ctx, symbol->program, &module);
        if (error == mcSuccess &&
            !mc_module_global(module, symbol->name,
                              &symbol->found[device].address,
                              &symbol->found[device].size)) {
            mc_error("variable %s is not in the program's image",
                     symbol->name);
            error = mcErrorInvalidSymbol;
        }
        if (error == mcSuccess) {
            symbol->found[device].serial = ctx->serial;
        }
    }
    if (error == mcSuccess) {
        *device_address = symbol->found[device].address;
        *size = symbol->found[device].size;
    }
    pthread_mutex_unlock(&program_lock);
    return error;
}
