/* SPDX-License-Identifier: MIT */
#include "module.h"

#include <string.h>

#include "core/memory/range.h"

McFunction *mc_module_function(McModule *module, const char *name)
{
    size_t low = 0, high = module->function_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        uint32_t i = module->by_name[middle];
        int order = strcmp(name, module->names[i]);

        if (order == 0) {
            return module->functions[i];
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

const char *mc_function_symbol(const McFunction *function)
{
    const McModule *module = function->module;

    for (size_t i = 0; i < module->function_count; i++) {
        if (module->functions[i] == function) {
            return module->names[i];
        }
    }
    return NULL;
}

bool mc_module_global(McModule *module, const char *name, uint64_t *address,
                      uint64_t *size)
{
    return mc_image_symbol(&module->image, name, address, size);
}

bool mc_module_set_address(McModule *module, const char *name,
                           uint64_t address)
{
    uint64_t va, size;

    if (!mc_module_global(module, name, &va, &size) ||
        size != sizeof(address) || va % sizeof(address)) {
        return false;
    }
    uint8_t *memory = module->ctx->ops->cpu(module->mapping.bo);
    __atomic_store_n((uint64_t *)(memory + (va - module->mapping.va)), address,
                     __ATOMIC_RELEASE);
    return true;
}

/* ---- by address ---- */

/* The module whose image an address is in, held; or NULL. */
static McModule *module_at(uint64_t address)
{
    McRange range;

    if (!mc_range_find(address, &range) || range.kind != MC_RANGE_MODULE) {
        return NULL;
    }
    /* Somebody may be unloading it. */
    return mc_handle_get(range.owner, MC_HANDLE_MODULE);
}

bool mc_module_kernel_name(uint64_t desc, char *text, size_t size)
{
    McModule *module = module_at(desc);
    bool found = false;

    if (!module) {
        return false;
    }
    uint64_t first = module->image.base + module->image.descs;
    uint64_t index = (desc - first) / sizeof(struct mxgpu_kernel_desc);
    if (desc >= first && index < module->function_count) {
        mc_source_name(module->names[index], text, size);
        found = true;
    }
    mc_handle_put(module);
    return found;
}

void mc_module_describe(uint64_t pc, char *text, size_t size)
{
    McModule *module = module_at(pc);

    text[0] = 0;
    if (module) {
        mc_source_describe(&module->source,
                           pc - module->image.base + module->image.link, text,
                           size);
        mc_handle_put(module);
    }
}
