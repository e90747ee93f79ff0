/* SPDX-License-Identifier: MIT */
/*
 * What a debugger does to the microcontroller: break and watch points, single
 * steps, a look at memory and CSRs. Between two runs of the core, on the thread
 * that runs it. None of it is state of the machine; a reset of the core keeps
 * it.
 */
#ifndef MXGPU_MCU_DEBUG_H
#define MXGPU_MCU_DEBUG_H

#include <stdbool.h>
#include <stdint.h>

typedef struct MxgpuMcu MxgpuMcu;

#define MXGPU_MCU_POINTS 256

typedef enum MxgpuMcuPoint {
    MXGPU_MCU_BREAK,
    MXGPU_MCU_WATCH_WRITE,
    MXGPU_MCU_WATCH_READ,
    MXGPU_MCU_WATCH_ACCESS,
} MxgpuMcuPoint;

/* Why mxgpu_mcu_run() returned MXGPU_MCU_STOP_DEBUG. pc is that of the
 * instruction which comes next, and has done nothing yet. */
typedef enum MxgpuMcuDebugCause {
    MXGPU_MCU_DEBUG_STEP,
    MXGPU_MCU_DEBUG_POINT, /* kind; of a watch point addr, of data */
    MXGPU_MCU_DEBUG_TRAP,  /* it raises the exception `cause` */
    MXGPU_MCU_DEBUG_HISTORY, /* nothing is known of what was before it */
} MxgpuMcuDebugCause;

typedef struct MxgpuMcuDebugStop {
    MxgpuMcuDebugCause why;
    MxgpuMcuPoint kind;
    uint32_t addr;
    uint32_t cause;
    uint32_t pc;
} MxgpuMcuDebugStop;

/* While a debugger is there, exceptions but ecall stop the core before its
 * handler is entered. false: no points any more, nothing stops. */
void mxgpu_mcu_debug_attach(MxgpuMcu *mcu, bool attached);
/* false: there is no room, or the range is empty. Equal points may be there
 * several times. */
bool mxgpu_mcu_debug_insert(MxgpuMcu *mcu, MxgpuMcuPoint kind, uint32_t addr,
                            uint32_t len) __attribute__((warn_unused_result));
/* false: there is no such point. */
bool mxgpu_mcu_debug_remove(MxgpuMcu *mcu, MxgpuMcuPoint kind, uint32_t addr,
                            uint32_t len) __attribute__((warn_unused_result));

/*
 * How the next run goes on. step: until one instruction was executed and pc is
 * not in [low, high); a wfi waits for nothing then. pass: if the core stopped
 * at an exception, and is still there, that is taken now. An ebreak that
 * stopped the core is behind it.
 */
void mxgpu_mcu_debug_resume(MxgpuMcu *mcu, bool step, uint32_t low,
                            uint32_t high, bool pass);
/* The last stop. */
const MxgpuMcuDebugStop *mxgpu_mcu_debug_stop(const MxgpuMcu *mcu);

/*
 * The history: what instructions have changed of the core and of SRAM, from when
 * it is asked for until the debugger leaves; a reset clears it. changes: how many
 * words it has room for, a power of 2 from 1024 on (an instruction changes about
 * four); 0: none any more. false: no memory for it, and there is none.
 */
bool mxgpu_mcu_debug_record(MxgpuMcu *mcu, uint64_t changes);
/* Instructions that one can go back, and forward again; false: no history. */
bool mxgpu_mcu_debug_recorded(const MxgpuMcu *mcu, uint64_t *behind,
                              uint64_t *ahead);
/* Goes back, as a run goes forward; mxgpu_mcu_debug_stop() says why it stands. */
void mxgpu_mcu_debug_back(MxgpuMcu *mcu, bool step, uint32_t low,
                          uint32_t high);
/* After mxgpu_mcu_debug_resume(): through what lies ahead, without executing it.
 * false: it is behind, and the run can go on. */
bool mxgpu_mcu_debug_again(MxgpuMcu *mcu);
/* The state was changed: what lies ahead of it is no more. */
void mxgpu_mcu_debug_changed(MxgpuMcu *mcu);

/* CSRs by number, without the effects that instructions have on counters.
 * false: there is none, or not one to be written. */
bool mxgpu_mcu_debug_read_csr(const MxgpuMcu *mcu, unsigned csr,
                              uint32_t *value);
bool mxgpu_mcu_debug_write_csr(MxgpuMcu *mcu, unsigned csr, uint32_t value);
/* SRAM; all of [addr, addr + len) or nothing. Decoded code is forgotten. */
bool mxgpu_mcu_debug_read(const MxgpuMcu *mcu, uint32_t addr, void *buf,
                          uint32_t len);
bool mxgpu_mcu_debug_write(MxgpuMcu *mcu, uint32_t addr, const void *buf,
                           uint32_t len);

#endif
