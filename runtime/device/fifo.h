/* SPDX-License-Identifier: MIT */
/*
 * The FIFO in which kernels leave text for the host, in device memory that
 * both reach. Kernels reserve room by an atomic on head; the host prints and
 * gives room back by tail. Both count bytes and never wrap; a place in the
 * ring is its count modulo size.
 *
 * Records consist of 64-bit words. The first one says size and state. It is
 * written when the room is reserved, so that others can be read past it, and
 * again when the record is complete. Room that is given back is zero.
 */
#ifndef MC_DEVICE_FIFO_H
#define MC_DEVICE_FIFO_H

#include <stdint.h>

struct mc_fifo {
    uint64_t head;
    uint64_t reserved0[7];
    uint64_t tail;
    uint64_t size;    /* bytes of the ring */
    uint64_t limit;   /* of them for printf; the rest is for last words */
    uint64_t dropped; /* lines there was no room for */
    uint64_t reserved1[4];
    uint64_t ring[];
};

/* Room for assertions when printf has filled the FIFO. */
#define MC_FIFO_SPARE (64u << 10)

/* First word: bytes of the record, multiple of 8; kind; state; magic. */
#define MC_RECORD_MAGIC 0x6d78ull
#define MC_RECORD(size, kind, state)                                           \
    ((uint64_t)(uint32_t)(size) | (uint64_t)(kind) << 32 |                     \
     (uint64_t)(state) << 40 | MC_RECORD_MAGIC << 48)
#define MC_RECORD_SIZE(word)  ((uint32_t)(word))
#define MC_RECORD_KIND(word)  ((unsigned)((word) >> 32) & 0xff)
#define MC_RECORD_STATE(word) ((unsigned)((word) >> 40) & 0xff)
#define MC_RECORD_VALID(word) ((word) >> 48 == MC_RECORD_MAGIC)

enum mc_record_kind {
    /* the format, then for each argument a word, or a string */
    MC_RECORD_PRINTF = 1,
    /* line, where, expression, file, function */
    MC_RECORD_ASSERT = 2,
    /* address, where */
    MC_RECORD_FREE = 3,
};

enum mc_record_state {
    MC_RECORD_OPEN = 1,  /* being written */
    MC_RECORD_READY = 2,
    MC_RECORD_DONE = 3,  /* printed; the host alone writes this */
};

/* A string: its length in bytes, then the bytes in whole words. */
#define MC_STRING_NULL UINT64_MAX
/* where: blockIdx and threadIdx, two coordinates a word. */
#define MC_WHERE_WORDS 3
/* Strings of an assertion are cut. */
#define MC_ASSERT_STRING 1024u

#endif
