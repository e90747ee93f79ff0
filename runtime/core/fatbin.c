/* SPDX-License-Identifier: MIT */
#include "elf.h"

#include <elf.h>
#include <string.h>

#include "log.h"
#include "mxgpu/fatbin.h"

static mcError_t plain_elf(const void *data, size_t size, const void **image,
                           size_t *image_size)
{
    if (size == SIZE_MAX) {
        size = mc_elf_file_size(data);
        if (size == 0) {
            mc_error("kernel image: an ELF file of another class");
            return mcErrorNoKernelImageForDevice;
        }
    }
    *image = data;
    *image_size = size;
    return mcSuccess;
}

static mcError_t search(const uint8_t *data, size_t size, const void **image,
                        size_t *image_size)
{
    struct mxgpu_fatbin_header header;

    memcpy(&header, data, sizeof(header));
    if (header.version != MXGPU_FATBIN_VERSION) {
        mc_error("fat binary: version %u, this runtime loads %u",
                 header.version, MXGPU_FATBIN_VERSION);
        return mcErrorUnsupportedKernelVersion;
    }
    if (header.total_size > size) {
        mc_error("fat binary: truncated");
        return mcErrorInvalidKernelImage;
    }
    size = header.total_size;
    if (header.count > MXGPU_FATBIN_MAX_ENTRIES || size < sizeof(header) ||
        header.count * sizeof(struct mxgpu_fatbin_entry) >
            size - sizeof(header)) {
        mc_error("fat binary: table outside of it");
        return mcErrorInvalidKernelImage;
    }
    for (uint32_t i = 0; i < header.count; i++) {
        struct mxgpu_fatbin_entry entry;

        memcpy(&entry, data + sizeof(header) + i * sizeof(entry),
               sizeof(entry));
        if (entry.offset > size || entry.size > size - entry.offset) {
            mc_error("fat binary: image %u outside of it", i);
            return mcErrorInvalidKernelImage;
        }
        if (strncmp(entry.target, MXGPU_FATBIN_TARGET,
                    sizeof(entry.target)) == 0) {
            *image = data + entry.offset;
            *image_size = entry.size;
            return mcSuccess;
        }
    }
    mc_error("fat binary: none of %u images is for " MXGPU_FATBIN_TARGET,
             header.count);
    return mcErrorNoKernelImageForDevice;
}

mcError_t mc_fatbin_find(const void *data, size_t size, const void **image,
                         size_t *image_size)
{
    struct mxgpu_fatbin_wrapper wrapper;

    if (size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0) {
        return plain_elf(data, size, image, image_size);
    }
    if (size < sizeof(struct mxgpu_fatbin_header)) {
        mc_error("kernel image: %zu bytes are neither ELF nor fat binary",
                 size);
        return mcErrorInvalidKernelImage;
    }
    /* A wrapper holds a pointer, so it can only be in memory. */
    memcpy(&wrapper.magic, data, sizeof(wrapper.magic));
    if (size == SIZE_MAX && wrapper.magic == MXGPU_FATBIN_WRAPPER_MAGIC) {
        memcpy(&wrapper, data, sizeof(wrapper));
        if (wrapper.version != MXGPU_FATBIN_WRAPPER_VERSION || !wrapper.data) {
            mc_error("fat binary: wrapper of version %u", wrapper.version);
            return mcErrorInvalidKernelImage;
        }
        data = wrapper.data;
    }
    if (memcmp(data, MXGPU_FATBIN_MAGIC, sizeof(MXGPU_FATBIN_MAGIC)) != 0) {
        mc_error("kernel image: neither ELF nor fat binary");
        return mcErrorInvalidKernelImage;
    }
    return search(data, size, image, image_size);
}
