/* SPDX-License-Identifier: MIT */
/* The memory behind an address of a multicast object (multimem.h). */
#include "multimem.h"

#include "device.h"

const struct mc_multimem_view *__mx_multimem_find(const void *p);

/* The runtime writes the address before a kernel that uses it is launched. */
__attribute__((visibility("default"))) struct mc_multimem *volatile
    __mx_multimem;

/* What is no such address ends the grid, as it would elsewhere. */
const struct mc_multimem_view *__mx_multimem_find(const void *p)
{
    const struct mc_multimem *table = __mx_multimem;
    uint64_t va = (uintptr_t)p;

    for (uint32_t i = 0; i < table->count; i++) {
        const struct mc_multimem_view *view = &table->view[i];

        if (va - view->va < view->size) {
            return view;
        }
    }
    __builtin_trap();
}
