/* SPDX-License-Identifier: MIT */
/*
 * The container of kernel images that mxcc embeds in host programs and writes
 * with -fatbin: a header, count entries, then the images. One entry a target;
 * images are ELF (kernel.h), at offsets from the header that are multiples of
 * MXGPU_FATBIN_ALIGN. total_size covers everything, so that a reader which
 * only has a pointer knows how much it may read. All of it is foreign bytes:
 * check every offset and size.
 *
 * In a host program __mcRegisterFatBinary() is given a wrapper whose data
 * points to the header; it is aligned to 8 bytes at least.
 */
#ifndef MXGPU_FATBIN_H
#define MXGPU_FATBIN_H

#include "types.h"

#define MXGPU_FATBIN_MAGIC   "MXGPUFB" /* 8 bytes with the NUL */
#define MXGPU_FATBIN_VERSION 1
#define MXGPU_FATBIN_TARGET  "riscv64-mxgpu"
#define MXGPU_FATBIN_RELOCATABLE "riscv64-mxgpu-rdc" /* to be linked yet */
#define MXGPU_FATBIN_ALIGN   4096
#define MXGPU_FATBIN_MAX_ENTRIES 64

struct mxgpu_fatbin_header {
    char magic[8];       /* MXGPU_FATBIN_MAGIC */
    uint32_t version;    /* MXGPU_FATBIN_VERSION */
    uint32_t count;      /* entries that follow, at most MAX_ENTRIES */
    uint64_t total_size; /* bytes: header, entries and images */
};
MXGPU_ASSERT_SIZE(struct mxgpu_fatbin_header, 24);

struct mxgpu_fatbin_entry {
    uint64_t offset;     /* of the image, from the header */
    uint64_t size;
    char target[32];     /* NUL padded; unknown targets are passed over */
};
MXGPU_ASSERT_SIZE(struct mxgpu_fatbin_entry, 48);

/*
 * Code that is not linked yet, in an entry for MXGPU_FATBIN_RELOCATABLE or a
 * section of an object file: this header and LLVM bitcode, as often as sources
 * were joined, with zeros in between.
 */
#define MXGPU_RDC_MAGIC   "MXGPURDC" /* 8 bytes without a NUL */
#define MXGPU_RDC_SECTION ".mc_rdc"

struct mxgpu_rdc_header {
    char magic[8];       /* MXGPU_RDC_MAGIC */
    uint64_t size;       /* bytes of bitcode that follow */
    char ident[32];      /* of the source in host objects, NUL padded */
    char level;          /* of optimisation: 0 1 2 3 s z, or NUL: not told */
    uint8_t flags;       /* MXGPU_RDC_* */
    uint8_t pad[14];
};
MXGPU_ASSERT_SIZE(struct mxgpu_rdc_header, 64);

#define MXGPU_RDC_DEBUG 1 /* debug information */
#define MXGPU_RDC_LINES 2 /* line tables only */

#define MXGPU_FATBIN_WRAPPER_MAGIC   0x4d414341u
#define MXGPU_FATBIN_WRAPPER_VERSION 1

/* In the memory of the host program, 64-bit. */
struct mxgpu_fatbin_wrapper {
    uint32_t magic;      /* MXGPU_FATBIN_WRAPPER_MAGIC */
    uint32_t version;    /* MXGPU_FATBIN_WRAPPER_VERSION */
    const void *data;    /* struct mxgpu_fatbin_header */
    void *unused;
};

#endif
