/* SPDX-License-Identifier: MIT */
/*
 * Where jumps through registers go, as far as the instructions around them
 * tell: addresses that code builds from pc are followed through additions and
 * loads from tables, in straight lines of code.
 */
#ifndef KL_JUMPS_H
#define KL_JUMPS_H

#include "kl.h"

typedef enum KlValueKind {
    KL_ANY = 0,
    KL_ADDRESS, /* base */
    KL_INDEXED, /* base and an offset */
    KL_LOADED,  /* width bytes at base, or at an offset from it */
    KL_TARGET,  /* base and what was loaded from there */
} KlValueKind;

typedef struct KlValue {
    KlValueKind kind;
    unsigned width;
    uint64_t base;
} KlValue;

typedef struct KlJumps {
    KlValue x[32];
} KlJumps;

typedef enum KlWhere {
    KL_GOES_TO,     /* one address */
    KL_GOES_INSIDE, /* somewhere in the function: a table, an unrolled loop */
    KL_GOES_BACK,   /* a return */
    KL_GOES_ANYWHERE,
} KlWhere;

/* Contents of the image; false: not there. */
typedef bool KlRead(void *opaque, uint64_t addr, void *data, size_t size);

/* Marks where branches lead: one byte for each two of text. The caller frees
 * it. */
uint8_t *kl_jumps_targets(const uint8_t *text, uint64_t size);
/* Forgets: other ways lead here. */
void kl_jumps_join(KlJumps *j);
/* Follows one instruction at pc. */
void kl_jumps_wide(KlJumps *j, uint32_t insn, uint64_t pc);
void kl_jumps_narrow(KlJumps *j, uint32_t insn);
/* Where jalr with this register and offset goes to in the function at
 * [start, end): *target of KL_GOES_TO. */
KlWhere kl_jumps_where(const KlJumps *j, unsigned reg, int64_t offset,
                       uint64_t start, uint64_t end, KlRead *read,
                       void *opaque, uint64_t *target);

static inline unsigned kl_bits(uint32_t insn, unsigned lo, unsigned n)
{
    return insn >> lo & ((1u << n) - 1);
}

static inline int64_t kl_sext(uint64_t value, unsigned width)
{
    return (int64_t)(value << (64 - width)) >> (64 - width);
}

/* Offset of jal. */
static inline int64_t kl_jal_offset(uint32_t insn)
{
    return kl_sext((uint64_t)kl_bits(insn, 31, 1) << 20 |
                   kl_bits(insn, 12, 8) << 12 | kl_bits(insn, 20, 1) << 11 |
                   kl_bits(insn, 21, 10) << 1, 21);
}

/* Offset of c.j. */
static inline int64_t kl_cj_offset(uint32_t insn)
{
    return kl_sext(kl_bits(insn, 12, 1) << 11 | kl_bits(insn, 8, 1) << 10 |
                   kl_bits(insn, 9, 2) << 8 | kl_bits(insn, 6, 1) << 7 |
                   kl_bits(insn, 7, 1) << 6 | kl_bits(insn, 2, 1) << 5 |
                   kl_bits(insn, 11, 1) << 4 | kl_bits(insn, 3, 3) << 1, 12);
}

#endif
