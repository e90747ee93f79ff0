/* SPDX-License-Identifier: MIT */
/*
 * Kernel images and fat binaries as bytes (mxgpu/kernel.h, mxgpu/fatbin.h).
 * Nothing in here trusts a byte: every offset, size and address is checked
 * before it is used.
 */
#ifndef MC_CORE_ELF_H
#define MC_CORE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcr/mc_runtime_types.h"
#include "mxgpu/kernel.h"

#define MC_IMAGE_MAX   (256ull << 20) /* bytes in memory */
#define MC_KERNELS_MAX 65536u
#define MC_ARGS_MAX    4096u /* bytes of an argument block */

/* An image laid out as it goes to memory. */
typedef struct McImage {
    uint8_t *memory;     /* size bytes, relocated for base */
    uint64_t size;       /* multiple of 4096 */
    uint8_t *perms;      /* MXGPU_PTE_* of each page; 0: a gap */
    uint64_t fixed, fixed_end; /* pages that nobody writes once relocated */
    uint64_t base;       /* load address of memory[0] */
    uint64_t link;       /* link-time address of memory[0] */
    uint64_t descs;      /* offset of the first descriptor */
    uint32_t desc_count;
    /* dynamic symbols and their strings, offsets into memory */
    uint64_t symbols, symbol_count;
    uint64_t strings, strings_size;
} McImage;

/* Bytes an ELF file says it has, for callers who only have a pointer; head
 * are the first 64 bytes. 0 when it is no ELF file. The tables it refers to
 * must be readable. */
uint64_t mc_elf_file_size(const void *head);

/* mcErrorInvalidKernelImage, mcErrorNoKernelImageForDevice (other machine),
 * mcErrorSharedObjectSymbolNotFound, mcErrorMemoryAllocation; a reason is
 * logged. Parses without addresses. */
mcError_t mc_image_parse(const void *file, size_t size, McImage *image);
/* Applies the relocations for a load address, once. */
mcError_t mc_image_relocate(McImage *image, uint64_t base, const void *file,
                            size_t size);
void mc_image_free(McImage *image);

/* Descriptor i with its pointers turned into offsets; args has room for
 * desc->arg_count. false when it is malformed. */
typedef struct McKernelInfo {
    const char *name;   /* in image memory, NUL-terminated */
    uint64_t desc;      /* device address */
    struct mxgpu_kernel_desc d;
    const void *args;   /* struct mxgpu_kernel_arg, unaligned, in image memory */
    struct mxgpu_kernel_facts facts;     /* 0 when the image has none */
} McKernelInfo;
bool mc_image_kernel(const McImage *image, uint32_t index, McKernelInfo *info);

/* A defined object or function; address is a device address. */
bool mc_image_symbol(const McImage *image, const char *name, uint64_t *address,
                     uint64_t *size);

/* The device addresses from the first to the last variable that kernels cannot
 * write, of those that are fixed after relocation if there are such; false when
 * there is none. */
bool mc_image_constants(const McImage *image, uint64_t *address,
                        uint64_t *size);

/*
 * The image for this device in a fat binary, a wrapper of one, or a plain ELF
 * file. size SIZE_MAX: only a pointer is known. mcErrorInvalidKernelImage,
 * mcErrorNoKernelImageForDevice.
 */
mcError_t mc_fatbin_find(const void *data, size_t size, const void **image,
                         size_t *image_size);

#endif
