/* SPDX-License-Identifier: MIT */
/* mx-isa-run: what its parts share. */
#ifndef MXGPU_TOOLS_ISA_RUN_H
#define MXGPU_TOOLS_ISA_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ISA_LANES 64

/* A bare-metal program: memory as it is at its start. */
typedef struct IsaImage {
    uint8_t *bytes;
    uint64_t base, size; /* base is a multiple of 2 MiB, and so is size */
    uint64_t entry, tohost;
    bool elf64;
} IsaImage;

typedef enum IsaStatus {
    ISA_PASS,
    ISA_FAIL,  /* the program says so */
    ISA_LIMIT, /* no answer within the limit */
    ISA_ERROR, /* the machine stopped */
} IsaStatus;

typedef struct IsaResult {
    IsaStatus status;
    unsigned lane;
    uint64_t tohost;       /* of that lane */
    uint64_t instructions; /* executed, those of a warp once */
    char text[160];        /* why the machine stopped */
} IsaResult;

typedef struct IsaOptions {
    unsigned lanes;           /* 1 or 64 */
    uint64_t max_instructions;
    bool skew;                /* lanes start one after another */
    uint32_t seed;            /* which ones when */
    const char *interpreter;  /* base, avx2, avx512; NULL: the best */
} IsaOptions;

/* Loads an ELF32 or ELF64 program; prints what is wrong and returns false. */
bool isa_image_load(IsaImage *image, const char *path);

/* On the 64 lanes of a warp, with machine mode emulated beside it. */
IsaResult isa_run_simt(const IsaImage *image, const IsaOptions *options);
/* On the microcontroller. */
IsaResult isa_run_mcu(const IsaImage *image, const IsaOptions *options);

/* ---- isa_machine.c: machine mode of one hart that has none of its own */

typedef enum IsaCause {
    ISA_FETCH_MISALIGNED, ISA_FETCH_ACCESS, ISA_ILLEGAL, ISA_BREAKPOINT,
    ISA_LOAD_MISALIGNED, ISA_LOAD_ACCESS, ISA_STORE_MISALIGNED,
    ISA_STORE_ACCESS, ISA_USER_ECALL, ISA_MACHINE_ECALL = 11,
} IsaCause;

typedef struct IsaMachine {
    bool user;     /* mode: user or machine */
    uint64_t mstatus, mie, mtvec, mcounteren, mscratch, mepc, mcause, mtval;
    uint64_t cycle_offset, instret_offset;
} IsaMachine;

void isa_machine_reset(IsaMachine *m);
/*
 * Executes a CSR instruction, mret or wfi that the core does not know; false
 * when it is illegal. count: instructions so far.
 */
bool isa_machine_insn(IsaMachine *m, uint32_t insn, uint64_t *pc, uint64_t *x,
                      uint64_t count);
/* Enters the trap handler; false when that is where the trap comes from. */
bool isa_machine_trap(IsaMachine *m, IsaCause cause, uint64_t value,
                      uint64_t *pc);

#endif
