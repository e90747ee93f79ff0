/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* qsort_r() */
#include "module_load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/kernel_watch.h"
#include "base/log.h"
#include "base/va.h"
#include "core/context/error.h"
#include "core/context/observer.h"
#include "core/memory/range.h"
#include "core/queue/notice.h"
#include "core/program/module_debug.h"
#include "core/stream/stream.h"
#include "image/fatbin.h"
#include "mxgpu/pte.h"

/* ---- functions ---- */

static void function_free(McFunction *function)
{
    free(function->args);
    free(function->name);
    free(function);
}

static void function_destroy(McHandle *handle)
{
    McFunction *function = (McFunction *)handle;
    McModule *module = function->module;

    function_free(function);
    mc_handle_unref(module);
}

static mcError_t function_new(McModule *module, const McKernelInfo *info,
                              McFunction **out)
{
    McFunction *f = calloc(1, sizeof(*f));

    if (!f) {
        return mcErrorMemoryAllocation;
    }
    f->module = module;
    f->desc = info->desc;
    f->name = strdup(info->name);
    f->arg_count = info->d.arg_count;
    f->arg_size = info->d.arg_size;
    f->static_shared = info->d.static_shared;
    f->private_bytes = info->d.private_bytes;
    f->registers = info->d.registers;
    f->max_threads = info->d.max_threads;
    f->uses = info->facts.uses;
    f->constant_bytes = info->facts.constant_bytes;
    atomic_init(&f->max_dynamic, MXGPU_SHARED_MAX - f->static_shared);
    atomic_init(&f->carveout, -1);
    f->args = calloc(f->arg_count + 1, sizeof(*f->args));
    if (!f->args || !f->name) {
        function_free(f);
        return mcErrorMemoryAllocation;
    }
    if (f->arg_count) {
        memcpy(f->args, info->args, f->arg_count * sizeof(*f->args));
    }
    for (uint32_t i = 0; i < f->arg_count; i++) {
        uint32_t end = f->args[i].offset + f->args[i].size;

        f->arg_end = end > f->arg_end ? end : f->arg_end;
    }
    *out = f;
    return mcSuccess;
}

static void function_drop(McFunction *function)
{
    McFunction *held = mc_handle_get(function, MC_HANDLE_FUNCTION);

    if (held) {
        mc_handle_remove(held);
        mc_handle_put(held);
    }
}

static int compare_names(const void *a, const void *b, void *names)
{
    const char **name = names;

    return strcmp(name[*(const uint32_t *)a], name[*(const uint32_t *)b]);
}

static mcError_t read_kernels(McModule *module)
{
    uint32_t count = module->image.desc_count;

    module->functions = calloc(count + 1, sizeof(*module->functions));
    module->names = calloc(count + 1, sizeof(*module->names));
    module->by_name = calloc(count + 1, sizeof(*module->by_name));
    if (!module->functions || !module->names || !module->by_name) {
        return mcErrorMemoryAllocation;
    }
    for (uint32_t i = 0; i < count; i++) {
        McKernelInfo info;

        if (!mc_image_kernel(&module->image, i, &info)) {
            mc_error("kernel image: descriptor %u is malformed", i);
            return mcErrorInvalidKernelImage;
        }
        mcError_t error = function_new(module, &info, &module->functions[i]);
        if (error != mcSuccess) {
            return error;
        }
        module->names[i] = info.name;
        module->by_name[i] = i;
        module->function_count++;
    }
    qsort_r(module->by_name, count, sizeof(*module->by_name), compare_names,
            module->names);
    return mcSuccess;
}

/* ---- modules ---- */

/* Still visible to the device when unmapping fails: not used again then. */
static void unmap_constants(McModule *module)
{
    McContext *ctx = module->ctx;

    if (module->alias &&
        ctx->ops->unmap(ctx->kmd, module->alias, module->alias_size) == 0) {
        mc_va_release((void *)(uintptr_t)module->alias, module->alias_size);
    }
    module->alias = 0;
}

/* Kernels see constants in read-only pages. Copies write them through the same
 * memory at another address. */
static mcError_t map_constants(McModule *module, McRange *range)
{
    McContext *ctx = module->ctx;
    uint64_t address, size;

    if (!mc_image_constants(&module->image, &address, &size)) {
        return mcSuccess;
    }
    uint64_t first = address & ~(uint64_t)(KMD_PAGE_SIZE - 1);
    uint64_t end = (address + size + KMD_PAGE_SIZE - 1) &
                   ~(uint64_t)(KMD_PAGE_SIZE - 1);
    void *va = mc_va_reserve(end - first, KMD_PAGE_SIZE);
    if (!va) {
        return mcErrorMemoryAllocation;
    }
    int err = ctx->ops->map(module->mapping.bo, (uintptr_t)va,
                            first - module->mapping.va, end - first,
                            MXGPU_PTE_READ | MXGPU_PTE_WRITE |
                                MXGPU_PTE_ATOMIC);
    if (err) {
        mc_va_release(va, end - first);
        return mc_error_from_kmd(err);
    }
    module->alias = (uintptr_t)va;
    module->alias_size = end - first;
    range->constants = address;
    range->constants_size = size;
    range->writable = module->alias + (address - first);
    return mcSuccess;
}

/* Its functions are gone: each held it. */
static void module_destroy(McHandle *handle)
{
    McModule *module = (McModule *)handle;
    McContext *ctx = module->ctx;

    mc_module_debug_gone(module);
    free(module->functions);
    free(module->names);
    free(module->by_name);
    if (module->mapping.bo) {
        mc_range_remove(module->mapping.va, NULL);
        unmap_constants(module);
        mc_mapping_free(ctx, &module->mapping);
    }
    mc_image_free(&module->image);
    mc_source_free(&module->source);
    free(module);
}

/* Pages of equal permissions are mapped together; gaps stay unmapped. */
static mcError_t map_pages(McModule *module)
{
    McContext *ctx = module->ctx;
    const McImage *image = &module->image;
    uint64_t pages = image->size / KMD_PAGE_SIZE;

    for (uint64_t first = 0, last; first < pages; first = last) {
        for (last = first + 1; last < pages &&
                               image->perms[last] == image->perms[first];) {
            last++;
        }
        if (!image->perms[first]) {
            continue;
        }
        int err = ctx->ops->map(module->mapping.bo,
                                module->mapping.va + first * KMD_PAGE_SIZE,
                                first * KMD_PAGE_SIZE,
                                (last - first) * KMD_PAGE_SIZE,
                                image->perms[first]);
        if (err) {
            return mc_error_from_kmd(err);
        }
    }
    return mcSuccess;
}

static mcError_t place(McModule *module, const void *file, size_t size)
{
    McContext *ctx = module->ctx;
    mcError_t error = mc_mapping_new(ctx, module->image.size, 0,
                                     &module->mapping);

    if (error == mcErrorMemoryAllocation && mc_context_reclaim(ctx)) {
        error = mc_mapping_new(ctx, module->image.size, 0, &module->mapping);
    }
    if (error != mcSuccess) {
        return error;
    }
    error = mc_image_relocate(&module->image, module->mapping.va, file, size);
    if (error != mcSuccess) {
        return error;
    }
    memcpy(ctx->ops->cpu(module->mapping.bo), module->image.memory,
           module->image.size);
    error = map_pages(module);
    if (error != mcSuccess) {
        return error;
    }
    McRange range = {
        .base = module->mapping.va,
        .size = module->image.size,
        .kind = MC_RANGE_MODULE,
        .device = ctx->device,
        .owner = module,
    };
    error = map_constants(module, &range);
    if (error != mcSuccess) {
        return error;
    }
    return mc_range_add(&range) ? mcSuccess : mcErrorMemoryAllocation;
}

/* Who loads it must know the addresses of its __managed__ variables: the host's
 * code that registers a program does. */
static mcError_t check_managed(const McModule *module)
{
    const char *name = module->internal ? NULL
                                        : mc_image_managed(&module->image);
    char text[256];

    if (!name) {
        return mcSuccess;
    }
    mc_source_name(name, text, sizeof(text));
    mc_error("%s: __managed__ variables are for kernels of the program itself",
             text);
    return mcErrorNotSupported;
}

/* Who has one of its functions has the module, too, though another thread
 * unloads it. */
static void publish(McModule *module)
{
    mc_handle_add(&module->handle, MC_HANDLE_MODULE, module->ctx,
                  module_destroy);
    for (uint32_t i = 0; i < module->function_count; i++) {
        mc_handle_ref(module);
        mc_handle_add(&module->functions[i]->handle, MC_HANDLE_FUNCTION,
                      module->ctx, function_destroy);
    }
}

static mcError_t load(McContext *ctx, const void *file, size_t size,
                      bool internal, McModule **out)
{
    McModule *module = calloc(1, sizeof(*module));

    if (!module) {
        return mcErrorMemoryAllocation;
    }
    module->ctx = ctx;
    module->internal = internal;
    mcError_t error = mc_image_parse(file, size, &module->image);
    if (error == mcSuccess) {
        error = check_managed(module);
    }
    if (error == mcSuccess) {
        error = place(module, file, size);
    }
    if (error == mcSuccess) {
        error = read_kernels(module);
    }
    if (error != mcSuccess) {
        for (uint32_t i = 0; i < module->function_count; i++) {
            function_free(module->functions[i]);
        }
        module_destroy(&module->handle);
        return error;
    }
    mc_info("device %d: module of %u kernels, %llu KiB at 0x%llx", ctx->device,
            module->function_count,
            (unsigned long long)module->image.size >> 10,
            (unsigned long long)module->mapping.va);
    if (mc_log_enabled(MC_LOG_ERROR) || mc_notice_may_tell() ||
        mc_kernel_watch.observer) {
        mc_source_keep(&module->source, file, size);
    }
    mc_module_debug_loaded(module, file, size);
    mc_observe_module(module, file, size);
    publish(module);
    *out = module;
    return mcSuccess;
}

mcError_t mc_module_load(McContext *ctx, const void *data, bool internal,
                         McModule **out)
{
    void *file;
    size_t size;
    mcError_t error = mc_fatbin_copy(data, &file, &size);

    if (error == mcSuccess) {
        error = load(ctx, file, size, internal, out);
        free(file);
    }
    return error;
}

mcError_t mc_module_load_file(McContext *ctx, const char *path,
                              McModule **out)
{
    struct stat st;
    /* A FIFO would wait for somebody to write to it. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0 || fstat(fd, &st) != 0) {
        mc_error("%s: %s", path, strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return mcErrorFileNotFound;
    }
    mcError_t error = mcErrorInvalidKernelImage;
    if (!S_ISREG(st.st_mode) || st.st_size <= 0) {
        mc_error("%s: not a file with contents", path);
        goto out;
    }
    /* Read, not mapped: the file may be cut while it is used. */
    uint8_t *data = malloc(st.st_size);
    error = mcErrorMemoryAllocation;
    if (data) {
        size_t size = 0;
        ssize_t n;

        while (size < (size_t)st.st_size &&
               ((n = read(fd, data + size, st.st_size - size)) > 0 ||
                (n < 0 && errno == EINTR))) {
            size += n > 0 ? n : 0;
        }
        const void *file;

        error = mc_fatbin_find(data, size, &file, &size);
        if (error == mcSuccess) {
            error = load(ctx, file, size, false, out);
        }
    }
    free(data);
out:
    close(fd);
    return error;
}

bool mc_module_remove(McModule *module)
{
    bool removed = mc_handle_remove(module);

    /* In a dying context they are purged on their own. */
    for (uint32_t i = 0; i < module->function_count && removed; i++) {
        function_drop(module->functions[i]);
    }
    return removed;
}

mcError_t mc_module_unload(McModule *module)
{
    if (module->internal) {
        return mcErrorNotPermitted;
    }
    mcError_t error = mc_context_sync(module->ctx);
    return mc_module_remove(module) ? error : mcErrorNotFound;
}
