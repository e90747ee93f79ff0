/* SPDX-License-Identifier: MIT */
/*
 * Kernel images as bytes (mxgpu/kernel.h).
 * Nothing in here trusts a byte: every offset, size and address is checked
 * before it is used.
 */
#ifndef MC_IMAGE_ELF_H
#define MC_IMAGE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcr/mc_runtime_types.h"
#include "mxgpu/kernel.h"

#define MC_IMAGE_MAX   (256ull << 20) /* bytes in memory */
#define MC_FILE_MAX    (1ull << 30)   /* bytes of a file in caller's memory */
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

/*
 * How much there is of an ELF file of which only the address is known, step by
 * step: from its first 64 bytes the end of the headers (0: it is no 64-bit ELF
 * file), from these the end of the file. Offsets beyond MC_FILE_MAX do not
 * count.
 */
uint64_t mc_elf_headers_end(const void *head);
uint64_t mc_elf_file_end(const void *headers, uint64_t headers_end);

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

/* A __managed__ variable: of each there is its first value as NAME.managed, and
 * NAME, a pointer that is set by who registers it. The name with its end, or
 * NULL: there is none. */
const char *mc_image_managed(const McImage *image);
/* A defined object or function; address is a device address. */
bool mc_image_symbol(const McImage *image, const char *name, uint64_t *address,
                     uint64_t *size);

/* The device addresses from the first to the last variable that kernels cannot
 * write, of those that are fixed after relocation if there are such; false when
 * there is none. */
bool mc_image_constants(const McImage *image, uint64_t *address,
                        uint64_t *size);

#endif
