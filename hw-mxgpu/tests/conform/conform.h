/* SPDX-License-Identifier: MIT */
/*
 * Conformance of the compute units: one instruction at a time, over 64 lanes
 * with different operands and under different masks, each lane against a
 * reference that shares nothing with the machine. Every line of rv/insns.def
 * has an entry in one of the conform_*() tables, or the test fails.
 */
#ifndef MXGPU_TESTS_CONFORM_H
#define MXGPU_TESTS_CONFORM_H

#include "rv/rv.h"
#include "encode.h"
#include "simt_host.h"

/* What a lane gets and leaves: a record of 128 bytes behind HOST_DATA_VA. */
typedef struct Record {
    uint64_t a, b;      /* x11, x12 */
    uint64_t f[3];      /* f11, f12, f13 */
    uint64_t old_x;     /* x14 */
    uint64_t old_f;     /* f14 */
    uint64_t active;    /* 0: the lane does not execute the instruction */
    uint8_t narrow[4];  /* f11 to f14 are loaded as 32 bits */
    uint8_t frm, pad[3];
    uint64_t out_x;     /* the instruction's rd */
    uint64_t out_f;
    uint64_t out_flags; /* fflags */
    uint64_t spare[4];
} Record;

enum { ZERO = 0, T0 = 5, T1 = 6, T2 = 7, A0 = 10, A1, A2, A3, A4, A5, A6 };

typedef enum Mode {
    MODE_ALL,    /* 64 lanes */
    MODE_MASK,   /* some jump over the instruction */
    MODE_EXITED, /* those have ended */
    MODE_PART,   /* a block of 37, and some jump */
    MODE_ONE,    /* a block of one */
    MODES
} Mode;

/* How a program is made besides its instruction. */
typedef struct Shape {
    Mode mode;
    bool dynamic; /* frm of the record, else untouched */
    bool flags;   /* fflags are recorded, and kept in the record */
    bool reads_flags; /* they are recorded, and the code may read them */
    const uint32_t *before, *after; /* more code, may be NULL */
    unsigned num_before, num_after;
} Shape;

extern SimtHost *host;
extern GRand *rng;

uint64_t random64(void);
unsigned random_below(unsigned n);
Record *record(unsigned lane);

RvInsn info_of(RvOp op);

/*
 * Random operands in all records. What is in x11 and x12 comes there in one of
 * the ways by which machines know something about it: anything, sign-extended
 * words, the same in all lanes, or a linear function of the thread's index in
 * a block of rows.
 */
void fill_records(Mode mode);
/* base + x * step + y * row for operand k: 0 is a, 1 is b. */
void line_operand(unsigned k, uint64_t base, uint64_t step, uint64_t row);
/* Whoever writes a or b of records says so. */
void any_operand(unsigned k);
/* Threads in a row of the block. */
unsigned columns(void);
unsigned threads_of(Mode mode);
/* Runs insn; rd_x and rd_f are stored to out_x and out_f. */
MxgpuDispatchFault try_insn(uint32_t insn, unsigned rd_x, unsigned rd_f,
                            const Shape *shape);
/* The same; no fault must come of it. */
void run_insn(uint32_t insn, unsigned rd_x, unsigned rd_f, const Shape *shape);
/* What was in f11 + k at the instruction. */
uint64_t f_operand(const Record *r, unsigned k);

/* Counts a difference; only some are printed. */
void differ(RvOp op, unsigned lane, const Record *r, uint64_t got,
            uint64_t want, const char *what);

/* Entries: what checks an instruction. */
typedef void CheckFn(RvOp op);
void conform_integer(CheckFn **table);
void conform_float(CheckFn **table);
void conform_memory(CheckFn **table);
void conform_control(CheckFn **table);
void conform_group(CheckFn **table);

#endif
