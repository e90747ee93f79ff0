/* SPDX-License-Identifier: MIT */
/* mx-isa-run: what its parts share. */
#ifndef MXGPU_TOOLS_ISA_RUN_H
#define MXGPU_TOOLS_ISA_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rv/rv.h"

#define ISA_LANES 64
#define ISA_GRAIN (2ull << 20) /* memory comes in such pieces */

/* ---- isa_image.c: programs */

#define ISA_GRAINS 20

/* A bare-metal program: memory as it is at its start. */
typedef struct IsaImage {
    /* The addresses of its grains, ascending; bytes has them one after the
     * other. */
    uint64_t grain[ISA_GRAINS];
    unsigned grains;
    uint8_t *bytes;
    uint64_t size;
    uint64_t entry, tohost, fromhost; /* fromhost 0: it has none */
    bool elf64;
} IsaImage;

/* Loads an ELF32 or ELF64 program; prints what is wrong and returns false. */
bool isa_image_load(IsaImage *image, const char *path);
/* Where [addr, addr + len) is in bytes; false when it is not all there. */
bool isa_image_find(const IsaImage *image, uint64_t addr, uint64_t len,
                    uint64_t *offset);

/* ---- running */

typedef enum IsaStatus {
    ISA_PASS,
    ISA_FAIL,  /* the program says so */
    ISA_LIMIT, /* no answer within the limits */
    ISA_ERROR, /* the machine stopped */
} IsaStatus;

typedef struct IsaResult {
    IsaStatus status;
    unsigned lane;
    uint64_t tohost;       /* of that lane */
    uint64_t instructions; /* executed, those of a warp once */
    char text[160];        /* why the machine stopped; of a failure, more */
} IsaResult;

/* Trap handlers of test programs set these bits when they expected no trap. */
static inline bool isa_trap_unexpected(uint64_t tohost)
{
    return (tohost & 1337) == 1337;
}

typedef struct IsaOptions {
    unsigned lanes;           /* 1 or 64 */
    uint64_t max_instructions;
    unsigned seconds;         /* limit of time */
    bool skew;                /* lanes start one after another */
    uint32_t seed;            /* which ones when */
    const char *interpreter;  /* base, avx2, avx512; NULL: the best */
} IsaOptions;

/* On the 64 lanes of a warp, with machine mode emulated beside it. */
IsaResult isa_run_simt(const IsaImage *image, const IsaOptions *options);
/* On the microcontroller. */
IsaResult isa_run_mcu(const IsaImage *image, const IsaOptions *options);

/* ---- isa_host.c: tohost and fromhost */

/* Where a hart has len bytes of memory at addr, or NULL. */
typedef void *IsaMemoryFn(void *opaque, unsigned hart, uint64_t addr,
                          uint64_t len);

typedef enum IsaAnswer { ISA_NONE, ISA_PASSED, ISA_FAILED } IsaAnswer;

/* Looks what a hart wants of its host, and serves it; *value gets the answer.
 * Hart 0 may print. */
IsaAnswer isa_host_poll(const IsaImage *image, IsaMemoryFn *memory,
                        void *opaque, unsigned hart, uint64_t *value);
/* Of a monotonic clock. */
uint64_t isa_host_seconds(void);

/* ---- isa_machine.c: machine mode of one hart that has none of its own */

typedef enum IsaCause {
    ISA_FETCH_MISALIGNED, ISA_FETCH_ACCESS, ISA_ILLEGAL, ISA_BREAKPOINT,
    ISA_LOAD_MISALIGNED, ISA_LOAD_ACCESS, ISA_STORE_MISALIGNED,
    ISA_STORE_ACCESS, ISA_USER_ECALL, ISA_MACHINE_ECALL = 11,
} IsaCause;

#define ISA_PMP_ENTRIES 16

typedef struct IsaMachine {
    bool user;     /* mode: user or machine */
    uint64_t mstatus, mie, mtvec, mcounteren, mscratch, mepc, mcause, mtval;
    uint64_t pmpaddr[ISA_PMP_ENTRIES];
    uint8_t pmpcfg[ISA_PMP_ENTRIES];
    uint64_t traps, emulated; /* instructions that did, that are done here */
    uint64_t cycle_offset, instret_offset;
    uint64_t last_cause, last_pc, last_value; /* of a trap but ecall */
    bool trapped;
} IsaMachine;

void isa_machine_reset(IsaMachine *m);
/*
 * Executes a CSR instruction, mret or wfi that the core does not know; false
 * when it is illegal. count: instructions that the core has executed.
 */
bool isa_machine_insn(IsaMachine *m, uint32_t insn, uint64_t *pc, uint64_t *x,
                      uint64_t count);
/* Enters the trap handler; false when that is where the trap comes from. */
bool isa_machine_trap(IsaMachine *m, IsaCause cause, uint64_t value,
                      uint64_t *pc);
/* Whether instructions of f registers and fcsr are legal. */
bool isa_machine_float(const IsaMachine *m);

/* ---- isa_csr.c: its registers */

#define ISA_MSTATUS_MIE  (1ull << 3)
#define ISA_MSTATUS_MPIE (1ull << 7)
#define ISA_MSTATUS_MPP  (3ull << 11)
#define ISA_MSTATUS_FS   (3ull << 13)
#define ISA_MSTATUS_MPRV (1ull << 17)
#define ISA_MSTATUS_TW   (1ull << 21)

/* false: there is no such register for the mode that the hart is in. */
bool isa_csr_read(IsaMachine *m, unsigned csr, uint64_t count, uint64_t *value);
void isa_csr_write(IsaMachine *m, unsigned csr, uint64_t count,
                   uint64_t value);

#endif
