/* SPDX-License-Identifier: MIT */
/* What the parts of the MCU share. */
#ifndef MXGPU_MCU_INTERNAL_H
#define MXGPU_MCU_INTERNAL_H

#include "debug.h"
#include "mcu.h"
#include "mxgpu/regs.h"
#include "rv/rv.h"

#define MCU_EXTENSIONS                                                         \
    (RV_EXT_I | RV_EXT_M | RV_EXT_A | RV_EXT_C | RV_EXT_ZICSR |                \
     RV_EXT_ZIFENCEI | RV_EXT_M_MODE)

#define MSTATUS_MIE  (1u << 3)
#define MSTATUS_MPIE (1u << 7)
#define MSTATUS_MPP  (3u << 11) /* M is the only mode: always set */
#define MIP_MTIP     (1u << 7)
#define MIP_MEIP     (1u << 11)

/* mcause of exceptions */
enum {
    CAUSE_FETCH_ACCESS = 1,
    CAUSE_ILLEGAL = 2,
    CAUSE_BREAKPOINT = 3,
    CAUSE_LOAD_MISALIGNED = 4,
    CAUSE_LOAD_ACCESS = 5,
    CAUSE_STORE_MISALIGNED = 6,
    CAUSE_STORE_ACCESS = 7,
    CAUSE_ECALL = 11,
    CAUSE_NONE = 0xff, /* not a cause: no exception */
};
#define CAUSE_INTERRUPT 0x80000000u

#define NO_RESERVATION 1u

typedef struct McuPoint {
    MxgpuMcuPoint kind;
    uint32_t addr, len; /* not empty, and without wrap-around */
} McuPoint;

typedef struct McuHistory McuHistory;

/* The debugger's: of the host, not of the machine. */
typedef struct McuDebug {
    bool attached;
    bool active;   /* the core is to ask before each instruction */
    bool pending;  /* it has stopped in the midst of an instruction */
    bool stepping;
    bool first;    /* nothing was executed since it went on */
    bool watched;  /* a watch point has stopped at this instruction already */
    bool pass;     /* the exception at pass_pc may be taken */
    uint32_t pass_pc;
    uint32_t low, high; /* a step ends outside */
    MxgpuMcuDebugStop stop;
    McuHistory *history; /* NULL: nothing is recorded */
    unsigned points;
    McuPoint point[MXGPU_MCU_POINTS];
} McuDebug;

struct MxgpuMcu {
    MxgpuMcuState s; /* and what is in SRAM */
    /* Host. */
    uint8_t *sram;
    uint32_t sram_size, sram_base;
    const MxgpuMcuOps *ops;
    void *opaque;
    /* Cache: an interrupt can be taken, a halt was asked for, or a debugger
     * looks at each instruction. */
    bool attention;
    McuDebug debug;
    int64_t left; /* run: instructions of it */
    /* What a run ends with: until its driver has seen it. */
    bool locked_up;
    uint32_t lock_cause, lock_pc, lock_value;
    bool trapped; /* for tools: by what is no interrupt and no ecall */
    uint32_t last_cause, last_pc, last_value;
    /* Cache. */
    /* Decoded instructions, one slot a halfword of SRAM; op RV_ILLEGAL where
     * nothing is decoded. Slots [code_low, code_high) may be in use. */
    RvInsn *code;
    uint32_t code_low, code_high;
};

static inline bool mxgpu_mcu_interrupted(const MxgpuMcu *mcu)
{
    return (mcu->s.mstatus & MSTATUS_MIE) && (mcu->s.mip & mcu->s.mie);
}

/* Recomputes attention after a change of mstatus, mie, mip, halted or
 * debug.active. */
static inline void mxgpu_mcu_update(MxgpuMcu *mcu)
{
    mcu->attention =
        mcu->s.halted || mcu->debug.active || mxgpu_mcu_interrupted(mcu);
}

/* debug.c. Whether the core stops before the instruction at pc, and at an
 * exception of it. */
bool mxgpu_mcu_debug_before(MxgpuMcu *mcu);
bool mxgpu_mcu_debug_trap(MxgpuMcu *mcu, uint32_t cause);


/* history.c; the first two as in debug.h. */
bool mxgpu_mcu_history_start(MxgpuMcu *mcu, uint64_t changes);
bool mxgpu_mcu_history_length(const MxgpuMcu *mcu, uint64_t *behind,
                              uint64_t *ahead);
/* Before an instruction, if there is a history: keeps what the one before has
 * changed. This one may store len bytes at addr. */
void mxgpu_mcu_history_note(MxgpuMcu *mcu, uint32_t addr, unsigned len);
/* The core is another one. */
void mxgpu_mcu_history_clear(MxgpuMcu *mcu);
/* The user has changed it: what lies ahead is no more. */
void mxgpu_mcu_history_changed(MxgpuMcu *mcu);
/* By one instruction; false: that is where it begins, or ends. */
bool mxgpu_mcu_history_back(MxgpuMcu *mcu);
bool mxgpu_mcu_history_forward(MxgpuMcu *mcu);

/* Executes a CSR instruction; false when it is illegal. */
bool mxgpu_mcu_csr(MxgpuMcu *mcu, const RvInsn *insn);

/* Memory: an exception cause or CAUSE_NONE. len is 1, 2 or 4. */
uint32_t mxgpu_mcu_load(MxgpuMcu *mcu, uint32_t addr, unsigned len,
                        uint32_t *value);
uint32_t mxgpu_mcu_store(MxgpuMcu *mcu, uint32_t addr, unsigned len,
                         uint32_t value);
/* A word of SRAM, by its offset, without any effect on the state. */
void mxgpu_mcu_put_word(MxgpuMcu *mcu, uint32_t offset, uint32_t value);
/* LR, SC and AMOs; *value gets rd. */
uint32_t mxgpu_mcu_atomic(MxgpuMcu *mcu, const RvInsn *insn, uint32_t *value);

#endif
