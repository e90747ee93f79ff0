/* SPDX-License-Identifier: MIT */
/*
 * The RV32IMAC microcontroller that runs the firmware: M mode, SRAM, machine
 * timer and external interrupt lines, and a bus to the hardware blocks.
 */
#ifndef MXGPU_MCU_MCU_H
#define MXGPU_MCU_MCU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct MxgpuMcuOps {
    /* Aligned 32-bit accesses outside SRAM. false: no such address, the
     * firmware gets an access-fault exception. */
    bool (*read)(void *opaque, uint32_t addr, uint32_t *value);
    bool (*write)(void *opaque, uint32_t addr, uint32_t value);
} MxgpuMcuOps;

typedef enum MxgpuMcuStop {
    MXGPU_MCU_STOP_BUDGET,  /* ran all instructions allowed */
    MXGPU_MCU_STOP_WFI,     /* waits for an enabled interrupt */
    MXGPU_MCU_STOP_LOCKUP,  /* trap with no usable handler, or a trap inside
                               the handler's entry: see cause, epc, tval */
    MXGPU_MCU_STOP_HALT,    /* mxgpu_mcu_halt() was called from a bus access */
    MXGPU_MCU_STOP_DEBUG,   /* a debugger wants it: see debug.h */
} MxgpuMcuStop;

#define MCU_PMP_ENTRIES 16

/* All of it is architectural state: plain data, can be saved and restored. */
typedef struct MxgpuMcuState {
    uint32_t x[32], pc;
    uint32_t mstatus, mie, mip, mtvec, mscratch, mepc, mcause, mtval;
    uint32_t pmpaddr[MCU_PMP_ENTRIES];
    uint8_t pmpcfg[MCU_PMP_ENTRIES];
    uint32_t trap_pc, trap_ra, trap_sp; /* at the last exception */
    uint64_t cycle, instret;
    uint32_t reserved_addr; /* lr.w reservation, 1 when there is none */
    bool halted;
} MxgpuMcuState;

typedef struct MxgpuMcu MxgpuMcu;

/* sram: size bytes of memory at MXGPU_MCU_SRAM_BASE, owned by the caller. */
MxgpuMcu *mxgpu_mcu_new(uint8_t *sram, uint32_t size, const MxgpuMcuOps *ops,
                        void *opaque);
/* SRAM elsewhere, for tools that run programs linked there; a device never
 * moves it. Before a reset. */
void mxgpu_mcu_set_base(MxgpuMcu *mcu, uint32_t base);
void mxgpu_mcu_free(MxgpuMcu *mcu);
void mxgpu_mcu_reset(MxgpuMcu *mcu, uint32_t entry);
MxgpuMcuState *mxgpu_mcu_state(MxgpuMcu *mcu);
/* The core goes on from there; SRAM may have changed. false, and nothing is
 * done, when it is no state of a core: it need not be trusted. */
bool mxgpu_mcu_restore(MxgpuMcu *mcu, const MxgpuMcuState *state)
    __attribute__((warn_unused_result));
/* For tests, between two runs: drops what is decoded, and overwrites all that
 * is not state. */
void mxgpu_mcu_forget(MxgpuMcu *mcu);

/* Levels of the machine timer and external interrupt lines, sampled before
 * each instruction that follows; may be called from within a bus access. */
void mxgpu_mcu_set_lines(MxgpuMcu *mcu, bool timer, bool external);
/* Ends mxgpu_mcu_run() after the current instruction. */
void mxgpu_mcu_halt(MxgpuMcu *mcu);
/* From within a bus access: it takes as long as so many instructions. */
void mxgpu_mcu_charge(MxgpuMcu *mcu, unsigned instructions);
MxgpuMcuStop mxgpu_mcu_run(MxgpuMcu *mcu, unsigned budget);
/* For lockups: cause, pc and value of the trap. */
void mxgpu_mcu_lockup(const MxgpuMcu *mcu, uint32_t *cause, uint32_t *pc,
                      uint32_t *value);
/* The last exception since the reset for which a handler was entered, ecall
 * excepted; false when there was none. */
bool mxgpu_mcu_last_trap(const MxgpuMcu *mcu, uint32_t *cause, uint32_t *pc,
                         uint32_t *value);

#endif
