/* SPDX-License-Identifier: MIT */
/*
 * The file that a profiled program leaves and mx-prof reads (docs/profiling.md).
 * A head, then entries in the order in which threads made room for them, each
 * a multiple of 8 bytes. An entry whose type is 0 was not finished. Where a size
 * is 0 nothing was written: that is the end, or room that a thread made and was
 * killed before it wrote, zero up to the next entry. Little-endian; host times
 * are CLOCK_MONOTONIC, device times those of CLOCK, both ns.
 */
#ifndef MC_PROFILE_PROFILE_FORMAT_H
#define MC_PROFILE_PROFILE_FORMAT_H

#include <stdint.h>

#include "mxgpu/types.h"

#define MC_PROFILE_MAGIC   "MXPROF\r\n"
#define MC_PROFILE_VERSION 1u

struct mc_profile_head {
    char magic[8];
    uint32_t version;
    uint32_t pid;
    uint64_t start;   /* host time */
    uint64_t dropped; /* entries there was no room for */
    char program[96]; /* NUL-padded */
};
MXGPU_ASSERT_SIZE(struct mc_profile_head, 128);

struct mc_profile_entry {
    uint32_t size; /* with this head, multiple of 8 */
    uint32_t type; /* enum mc_profile_type, written last */
};

enum mc_profile_type {
    MC_PROFILE_DEVICE = 1, /* a context was opened */
    MC_PROFILE_CLOCK = 2,  /* ... or closed */
    MC_PROFILE_MODULE = 3, /* then the ELF file */
    MC_PROFILE_KERNEL = 4, /* one of the module before */
    MC_PROFILE_API = 5,
    MC_PROFILE_WORK = 6,   /* a kernel, copy or fill was submitted */
    MC_PROFILE_DONE = 7,   /* it left its record, which follows */
    MC_PROFILE_ANNOTATION = 8, /* the program marked a range or a moment */
    MC_PROFILE_NAME = 9,       /* ... or named something */
};

struct mc_profile_device {
    uint64_t context;     /* serial number: differs for every opening */
    uint32_t device;
    uint32_t compute_units;
    uint64_t host, clock; /* the same moment on both clocks */
    uint64_t memory;
    char name[64];
};

struct mc_profile_clock {
    uint64_t context;
    uint64_t host, clock;
};

struct mc_profile_module {
    uint64_t context, id;
    uint64_t base, size, link; /* in memory; link-time address of base */
    uint64_t file_size;
};

struct mc_profile_kernel {
    uint64_t context, module;
    uint64_t desc, entry; /* device addresses */
    uint32_t registers, static_shared;
    char name[]; /* NUL-terminated, as in the ELF file */
};

struct mc_profile_api {
    uint64_t start, end;
    uint32_t thread;
    int32_t result; /* mcError_t */
    char name[];
};

enum mc_profile_place { MC_PROFILE_HOST = 0, MC_PROFILE_ON_DEVICE = 1 };

/* "value" names it: see core/queue/queue.h. */
struct mc_profile_work {
    uint64_t context, value;
    uint64_t stream;     /* 0: the default stream */
    uint64_t host;       /* when it was submitted */
    uint64_t desc;       /* kernels */
    uint64_t bytes;      /* copies and fills */
    uint32_t queue, thread;
    uint32_t type;       /* enum mxgpu_packet_type */
    uint32_t src, dst;   /* copies and fills: enum mc_profile_place */
    uint32_t shared;     /* dynamic, bytes */
    uint32_t grid[3], block[3];
};

struct mc_profile_done {
    uint64_t context, value;
    uint32_t queue;
    uint32_t room; /* for samples; "units" entries and then the samples that
                      fit follow struct mxgpu_profile; of others than kernels
                      it is cut before counter[] */
};

/* libmcToolsExt: what the program says of itself. */
enum mc_profile_annotation_kind {
    MC_PROFILE_MARK = 1,
    MC_PROFILE_PUSH = 2,
    MC_PROFILE_POP = 3,
    MC_PROFILE_START = 4,
    MC_PROFILE_END = 5,
};

/* Of POP and END the time, id, thread, kind and domain count. */
struct mc_profile_annotation {
    uint64_t host;
    uint64_t id;      /* START, END: of the range; PUSH, POP: the level */
    uint64_t payload; /* the bits of a number */
    uint32_t thread;
    uint32_t kind;
    uint32_t domain;  /* 0: the default one */
    uint32_t category;
    uint32_t color;   /* ARGB */
    uint32_t has;     /* 1: a colour; payload type (mcToolsExt.h) << 8 */
    char message[];   /* NUL-terminated */
};

enum mc_profile_named {
    MC_PROFILE_NAMES_DOMAIN = 1,
    MC_PROFILE_NAMES_CATEGORY = 2,
    MC_PROFILE_NAMES_THREAD = 3,
    MC_PROFILE_NAMES_DEVICE = 4,
    MC_PROFILE_NAMES_STREAM = 5,
    MC_PROFILE_NAMES_EVENT = 6,
    MC_PROFILE_NAMES_CONTEXT = 7,
    MC_PROFILE_NAMES_RESOURCE = 8,
};

struct mc_profile_name {
    uint64_t object; /* a number or a handle */
    uint32_t kind;   /* enum mc_profile_named */
    uint32_t domain; /* of categories and resources */
    char name[];     /* NUL-terminated */
};

#endif
