/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memfd_create() */
#include "module_debug.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"

static bool wanted(const McModule *module)
{
    const char *where = getenv("MXGPU_GDB");

    return where && *where && module->ctx->ops->module;
}

/* The address that its first segment was linked for; the image was checked. */
static bool first_segment(const uint8_t *file, uint64_t *address)
{
    Elf64_Ehdr ehdr;
    Elf64_Phdr p;

    memcpy(&ehdr, file, sizeof(ehdr));
    for (unsigned i = 0; i < ehdr.e_phnum; i++) {
        memcpy(&p, file + ehdr.e_phoff + i * sizeof(p), sizeof(p));
        if (p.p_type == PT_LOAD) {
            *address = p.p_vaddr;
            return true;
        }
    }
    return false;
}

static int file_in_memory(const uint8_t *file, size_t size)
{
    int fd = memfd_create("mxgpu-kernels", MFD_CLOEXEC);
    ssize_t n;

    while (fd >= 0 && size) {
        n = write(fd, file, size);
        if (n < 0 && errno != EINTR) {
            close(fd);
            return -1;
        }
        file += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return fd;
}

void mc_module_debug_loaded(McModule *module, const void *file, size_t size)
{
    uint64_t linked;
    char path[64];

    if (!wanted(module) || !first_segment(file, &linked)) {
        return;
    }
    module->debug_fd = file_in_memory(file, size);
    if (module->debug_fd < 0) {
        module->debug_fd = 0;
        mc_warn("no file of kernels for the debugger: %s", strerror(errno));
        return;
    }
    module->debug_at = module->mapping.va + (linked - module->image.link);
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(),
             module->debug_fd);
    module->ctx->ops->module(module->ctx->kmd, module->debug_at, path);
}

void mc_module_debug_gone(McModule *module)
{
    if (module->debug_fd) {
        module->ctx->ops->module(module->ctx->kmd, module->debug_at, NULL);
        close(module->debug_fd);
        module->debug_fd = 0;
    }
}
