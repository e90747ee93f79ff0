/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE
#include "pinned.h"

#include <errno.h>
#include <sys/mman.h>

#include "mxgpu/pte.h"

int mc_pinned_new(McContext *ctx, uint64_t size, McPinned *out)
{
    McPinned p = {.size = size};

    p.memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p.memory == MAP_FAILED) {
        return -ENOMEM;
    }
    /* After a fork the pages must stay this process's. */
    madvise(p.memory, size, MADV_DONTFORK);
    int err = ctx->ops->pin(ctx->kmd, p.memory, size, &p.bo);
    if (!err) {
        err = ctx->ops->map(p.bo, (uintptr_t)p.memory, 0, size,
                            MXGPU_PTE_READ | MXGPU_PTE_WRITE |
                                MXGPU_PTE_ATOMIC);
        if (!err) {
            *out = p;
            return 0;
        }
        ctx->ops->free(p.bo);
    }
    munmap(p.memory, size);
    return err;
}

void mc_pinned_free(McContext *ctx, McPinned *pinned)
{
    if (pinned->memory) {
        ctx->ops->unmap(ctx->kmd, (uintptr_t)pinned->memory, pinned->size);
        ctx->ops->free(pinned->bo);
        munmap(pinned->memory, pinned->size);
        pinned->memory = NULL;
    }
}
