/* SPDX-License-Identifier: MIT */
/*
 * The MCU's private bus as the firmware's tests play it: registers checked
 * against regs.def, 1 MiB of memory per test at FAKE_MEM, units that end when
 * the test says so, a clock that moves when the test says so. An access that
 * the hardware would refuse ends the program. With MXGPU_TEST_NO_FRONT_END in
 * the environment the hardware has no front end.
 */
#ifndef FW_TESTS_FAKE_BUS_H
#define FW_TESTS_FAKE_BUS_H

#include "fw.h"

#define FAKE_MEM       0x100000ull /* device address of mem[0] */
#define FAKE_MEM_SIZE  0x100000u
#define FAKE_PAGES     (FAKE_MEM_SIZE / 4096)
#define FAKE_QUEUES    64
#define FAKE_VECTORS   32
#define FAKE_COPIES    2
#define FAKE_SLOTS     8
#define FAKE_LOG       0x1234u   /* offset in SRAM */
#define FAKE_ROOT      0x5101ull /* a table PTE */

typedef struct FakeUnit {
    uint32_t state, fault, access;
    uint64_t fault_addr, fault_pc;
    uint32_t done; /* bytes, of a copy engine */
    bool aborted;      /* ABORT was written while busy */
    unsigned starts;
} FakeUnit;

typedef struct FakeBus {
    uint32_t regs[MXGPU_REGS_SIZE / 4];
    uint8_t mem[FAKE_MEM_SIZE];
    uint8_t readable[FAKE_PAGES], writable[FAKE_PAGES];
    FakeUnit units[FW_UNIT_KINDS][FW_MAX_UNITS];
    uint64_t mtime, mtimecmp, mem_addr;
    uint64_t db_value[MXGPU_MAX_QUEUES];
    unsigned irqs[FAKE_VECTORS], events, acks, inv_commands;
    bool inv_busy;
    bool listens;        /* to TRACE_EVENT */
    unsigned trace_accesses;
    struct {
        uint32_t event, info;
        uint64_t index, value;
    } trace[32];
    unsigned traces;
    unsigned launched, followed, retired; /* by the front end */
    bool ignore_abort;   /* ABORT has no effect */
    uint32_t context_size; /* bytes that one needs */
    MxgpuContextState context_says; /* instead of DONE, if not that */
    unsigned saves, loads; /* of contexts */
    bool finish_at_once; /* units end as soon as they are started */
    bool ready, stopped;
    unsigned waits;      /* wfi */
    unsigned accesses;   /* register reads and writes */
    const struct {
        uint32_t written;
        char text[];
    } *log; /* at FAKE_LOG */
    char console[8192];
    unsigned console_len;
} FakeBus;

extern FakeBus bus;

/* Power-on, and the firmware's start. */
void fake_reset(unsigned watchdog_ms);
/* Runs the firmware until it sleeps; false: it never did. */
bool fake_settle(void);
void fake_advance(uint64_t ns);
/* Ends a busy unit; fault 0 is success, and performs a copy or fill. */
void fake_finish(FwUnitKind kind, unsigned index, enum mxgpu_fault fault);
void fake_doorbell(unsigned queue, uint64_t value);
/* Sends a request; false: not answered yet (the firmware sleeps). */
bool fake_send(const uint32_t *words, unsigned count);
bool fake_answered(void);
static inline uint32_t fake_answer(unsigned i)
{
    return bus.regs[MXGPU_MBOX_RESP / 4 + i];
}
/* Memory as the guest sees it; the range must lie in FAKE_MEM. */
void *fake_ptr(uint64_t addr);

#endif
