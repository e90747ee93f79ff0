/* SPDX-License-Identifier: MIT */
#include "fatbin.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "elf.h"
#include "fetch.h"
#include "mxgpu/fatbin.h"

/* ---- as bytes ---- */

/* The end of the table of entries; 0 when the header is malformed. */
static mcError_t check_header(const void *data, uint64_t *table_end,
                              uint64_t *total)
{
    struct mxgpu_fatbin_header header;

    memcpy(&header, data, sizeof(header));
    if (memcmp(header.magic, MXGPU_FATBIN_MAGIC, sizeof(header.magic)) != 0) {
        mc_error("kernel image: neither ELF nor fat binary");
        return mcErrorInvalidKernelImage;
    }
    if (header.version != MXGPU_FATBIN_VERSION) {
        mc_error("fat binary: version %u, this runtime loads %u",
                 header.version, MXGPU_FATBIN_VERSION);
        return mcErrorUnsupportedKernelVersion;
    }
    *table_end = sizeof(header) +
                 (uint64_t)header.count * sizeof(struct mxgpu_fatbin_entry);
    *total = header.total_size;
    if (header.count > MXGPU_FATBIN_MAX_ENTRIES || *table_end > *total) {
        mc_error("fat binary: table outside of it");
        return mcErrorInvalidKernelImage;
    }
    return mcSuccess;
}

/* The first entry for this device; data are the header and the table. */
static mcError_t search(const uint8_t *data, uint64_t table_end,
                        uint64_t total, struct mxgpu_fatbin_entry *entry)
{
    size_t at = sizeof(struct mxgpu_fatbin_header);
    bool relocatable = false;

    for (; at < table_end; at += sizeof(*entry)) {
        memcpy(entry, data + at, sizeof(*entry));
        if (entry->offset < table_end || entry->offset > total ||
            entry->size > total - entry->offset) {
            mc_error("fat binary: image outside of it");
            return mcErrorInvalidKernelImage;
        }
        if (strncmp(entry->target, MXGPU_FATBIN_TARGET,
                    sizeof(entry->target)) == 0) {
            return mcSuccess;
        }
        relocatable |= strncmp(entry->target, MXGPU_FATBIN_RELOCATABLE,
                               sizeof(entry->target)) == 0;
    }
    mc_error("fat binary: no image is for " MXGPU_FATBIN_TARGET "%s",
             relocatable ? ", its code is to be linked (mcLinkCreate)" : "");
    return mcErrorNoKernelImageForDevice;
}

mcError_t mc_fatbin_find(const void *data, size_t size, const void **image,
                         size_t *image_size)
{
    struct mxgpu_fatbin_entry entry;
    uint64_t table_end, total;

    if (size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0) {
        *image = data;
        *image_size = size;
        return mcSuccess;
    }
    if (size < sizeof(struct mxgpu_fatbin_header)) {
        mc_error("kernel image: %zu bytes are neither ELF nor fat binary",
                 size);
        return mcErrorInvalidKernelImage;
    }
    mcError_t error = check_header(data, &table_end, &total);
    if (error == mcSuccess && total > size) {
        mc_error("fat binary: truncated");
        error = mcErrorInvalidKernelImage;
    }
    if (error == mcSuccess) {
        error = search(data, table_end, total, &entry);
    }
    if (error == mcSuccess) {
        *image = (const uint8_t *)data + entry.offset;
        *image_size = entry.size;
    }
    return error;
}

/* ---- in the caller's memory ---- */

#define STEP (1u << 20)

/* What has been read of it so far, from its start. */
typedef struct Prefix {
    const uint8_t *from;
    uint8_t *copy;
    size_t size;
} Prefix;

/* What a header says is not allocated at once: it grows with what is there. */
static mcError_t extend(Prefix *p, uint64_t end)
{
    if (end > MC_FILE_MAX) {
        mc_error("kernel image: more than %llu MiB", MC_FILE_MAX >> 20);
        return mcErrorInvalidKernelImage;
    }
    while (p->size < end) {
        uint64_t next = p->size < STEP ? STEP : 2 * p->size;

        next = next < end ? next : end;
        uint8_t *more = realloc(p->copy, next);
        if (!more) {
            return mcErrorMemoryAllocation;
        }
        p->copy = more;
        if (!mc_fetch(p->copy + p->size, p->from + p->size, next - p->size)) {
            mc_error("kernel image: truncated, memory ends before byte %llu",
                     (unsigned long long)next);
            return mcErrorInvalidKernelImage;
        }
        p->size = next;
    }
    return mcSuccess;
}

static mcError_t copy_elf(Prefix *p)
{
    mcError_t error = extend(p, sizeof(Elf64_Ehdr));

    if (error != mcSuccess) {
        return error;
    }
    uint64_t headers_end = mc_elf_headers_end(p->copy);
    if (headers_end == 0) {
        mc_error("kernel image: an ELF file of another class");
        return mcErrorNoKernelImageForDevice;
    }
    error = extend(p, headers_end);
    return error == mcSuccess
               ? extend(p, mc_elf_file_end(p->copy, headers_end))
               : error;
}

/* Header and table, then only the image that is for this device. */
static mcError_t copy_fatbin(Prefix *p)
{
    struct mxgpu_fatbin_entry entry;
    uint64_t table_end, total;
    mcError_t error = extend(p, sizeof(struct mxgpu_fatbin_header));

    if (error == mcSuccess) {
        error = check_header(p->copy, &table_end, &total);
    }
    if (error == mcSuccess) {
        error = extend(p, table_end);
    }
    if (error == mcSuccess) {
        error = search(p->copy, table_end, total, &entry);
    }
    if (error != mcSuccess) {
        return error;
    }
    p->from += entry.offset;
    p->size = 0;
    return extend(p, entry.size);
}

/* A wrapper holds a pointer, so it can only be in memory. */
static mcError_t unwrap(Prefix *p)
{
    struct mxgpu_fatbin_wrapper wrapper;
    mcError_t error = extend(p, sizeof(wrapper));

    if (error != mcSuccess) {
        return error;
    }
    memcpy(&wrapper, p->copy, sizeof(wrapper));
    if (wrapper.version != MXGPU_FATBIN_WRAPPER_VERSION || !wrapper.data) {
        mc_error("fat binary: wrapper of version %u", wrapper.version);
        return mcErrorInvalidKernelImage;
    }
    p->from = wrapper.data;
    p->size = 0;
    return copy_fatbin(p);
}

mcError_t mc_fatbin_copy(const void *data, void **image, size_t *image_size)
{
    Prefix p = {.from = data};
    uint32_t magic;
    mcError_t error = extend(&p, sizeof(magic));

    if (error == mcSuccess) {
        memcpy(&magic, p.copy, sizeof(magic));
        error = memcmp(p.copy, ELFMAG, SELFMAG) == 0 ? copy_elf(&p)
                : magic == MXGPU_FATBIN_WRAPPER_MAGIC ? unwrap(&p)
                                                      : copy_fatbin(&p);
    }
    if (error != mcSuccess) {
        free(p.copy);
        return error;
    }
    *image = p.copy;
    *image_size = p.size;
    return mcSuccess;
}
