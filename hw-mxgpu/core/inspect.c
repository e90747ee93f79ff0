/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <inttypes.h>

#include "describe.h"
#include "inspect.h"
#include "inspect_fault.h"
#include "inspect_memory.h"
#include "inspect_queue.h"
#include "inspect_unit.h"
#include "internal.h"

#define put mxgpu_put

static uint64_t inspect64(MxgpuDevice *dev, uint32_t offset)
{
    return mxgpu_inspect_register(dev, offset) |
           (uint64_t)mxgpu_inspect_register(dev, offset + 4) << 32;
}

/* "offset value NAME FIELD=..." */
static void put_register(MxgpuDevice *dev, MxgpuText t, uint32_t offset)
{
    uint32_t value = mxgpu_inspect_register(dev, offset);
    char words[MXGPU_DESCRIBE_MAX];

    mxgpu_describe_register(offset, value, words, sizeof(words));
    put(t, "%04" PRIx32 " %08" PRIx32 " %s\n", offset, value, words);
}

/* ---- status */

static void do_status(MxgpuDevice *dev, const char *args, MxgpuText t)
{
    static const uint32_t shown[] = {
        MXGPU_RESET_STATUS, MXGPU_MCU_STATUS,   MXGPU_MCU_PC,
        MXGPU_MCU_RA,       MXGPU_MCU_SP,       MXGPU_MCU_FW_VERSION,
        MXGPU_MBOX_REQ,     MXGPU_MBOX_ACK,     MXGPU_INT_PENDING,
        MXGPU_INT_ENABLE,   MXGPU_IRQ_STATUS,   MXGPU_ERR_STATUS,
    };

    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        put_register(dev, t, shown[i]);
    }
    put(t, "firmware executed %" PRIu64 " instructions%s\n",
        (uint64_t)atomic_load(&dev->mcu.instret),
        mxgpu_mcu_debug_holds(dev) ? ", stopped by a debugger"
        : dev->debug.attached      ? ", under a debugger"
                                   : "");
}

/* ---- registers */

static bool begins(const char *name, const char *with)
{
    for (; *with; name++, with++) {
        if (toupper((unsigned char)*with) != *name) {
            return false;
        }
    }
    return true;
}

static bool is_shown(MxgpuDevice *dev, uint32_t offset)
{
    return mxgpu_regs_readable(dev, MXGPU_PARTY_MCU, offset) ||
           mxgpu_regs_readable(dev, MXGPU_PARTY_HOST, offset);
}

static void do_registers(MxgpuDevice *dev, const char *args, MxgpuText t)
{
    size_t count;
    const MxgpuRegName *r = mxgpu_describe_registers(&count);
    bool any = false;

    for (; count--; r++) {
        if (!begins(r->name, args)) {
            continue;
        }
        for (uint32_t i = 0; i < r->count; i++) {
            uint32_t offset = r->offset + i * r->stride;

            /* Of an array, only the registers that are not 0. */
            if (is_shown(dev, offset) &&
                (r->count == 1 || mxgpu_inspect_register(dev, offset))) {
                put_register(dev, t, offset);
            }
        }
        any = true;
    }
    if (!any) {
        put(t, "no register begins with %s\n", args);
    }
}

/* ---- engines and slots */

static const char *unit_state(uint32_t status)
{
    static const char *const names[] = {"idle", "busy", "done", "fault"};
    uint32_t state = MXGPU_GET(MXGPU_CE_STATUS_STATE, status);

    return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

static void put_unit(MxgpuDevice *dev, MxgpuText t, const char *name,
                     unsigned i, uint32_t status, MxgpuTraceEvent start,
                     MxgpuTraceEvent end)
{
    char words[MXGPU_DESCRIBE_MAX] = "", how[MXGPU_DESCRIBE_MAX] = "";
    uint32_t state = MXGPU_GET(MXGPU_CE_STATUS_STATE, status);

    if (state != MXGPU_UNIT_IDLE) {
        mxgpu_describe_event(dev, start, i, 0, words, sizeof(words));
    }
    if (state == MXGPU_UNIT_FAULT) {
        mxgpu_describe_event(dev, end, i,
                             MXGPU_GET(MXGPU_CE_STATUS_FAULT, status), how,
                             sizeof(how));
    }
    put(t, "%s %u: %s", name, i, unit_state(status));
    put(t, "%s%s", *words ? " " : "", words);
    put(t, "%s%s\n", *how ? " " : "", how);
}

static void do_engines(MxgpuDevice *dev, const char *args, MxgpuText t)
{
    for (unsigned i = 0; i < dev->config.copy_engines; i++) {
        uint32_t at = i * MXGPU_CE_CTRL_STRIDE;

        put_unit(dev, t, "engine", i,
                 mxgpu_inspect_register(dev, MXGPU_CE_STATUS + at),
                 MXGPU_TRACE_COPY_START, MXGPU_TRACE_COPY_END);
    }
    for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
        uint32_t at = i * MXGPU_CD_CTRL_STRIDE;

        put_unit(dev, t, "slot", i,
                 mxgpu_inspect_register(dev, MXGPU_CD_STATUS + at),
                 MXGPU_TRACE_DISPATCH_START, MXGPU_TRACE_DISPATCH_END);
    }
}

/* ---- address spaces */

static void do_vmids(MxgpuDevice *dev, const char *args, MxgpuText t)
{
    bool any = false;

    for (unsigned i = 0; i < MXGPU_NUM_VMIDS; i++) {
        uint64_t root = inspect64(dev, MXGPU_MMU_ROOT_LO +
                                           i * MXGPU_MMU_ROOT_LO_STRIDE);

        if (root & MXGPU_PTE_VALID) {
            put(t, "vmid %u: page table at 0x%" PRIx64 " of %s\n", i,
                (uint64_t)(root & MXGPU_PTE_ADDRESS),
                root & MXGPU_PTE_SYSTEM ? "system memory" : "VRAM");
            any = true;
        }
    }
    if (!any) {
        put(t, "no VMID has a page table\n");
    }
}

/* ---- the commands */

typedef struct Command {
    const char *name, *args, *help;
    void (*run)(MxgpuDevice *dev, const char *args, MxgpuText t);
} Command;

static const Command commands[] = {
    {"status", "", "firmware, mailbox, interrupts, errors", do_status},
    {"registers", "[BEGIN]",
     "registers whose names begin so, private ones among them", do_registers},
    {"queues", "", "queues, their doorbells, rings and errors",
     mxgpu_inspect_queues},
    {"ring", "QUEUE [COUNT]", "packets of a ring, > those not fetched yet",
     mxgpu_inspect_ring},
    {"engines", "", "copy engines and dispatch slots", do_engines},
    {"units", "", "compute units", mxgpu_inspect_units},
    {"warps", "[UNIT]", "resident warps: pc and lanes, what they wait for",
     mxgpu_inspect_warps},
    {"faults", "", "recoverable faults that wait to be mended",
     mxgpu_inspect_faults},
    {"counters", "", "counters of the device", mxgpu_inspect_counters},
    {"vmids", "", "address spaces", do_vmids},
    {"walk", "VMID ADDRESS", "page-table entries on the way to an address",
     mxgpu_inspect_walk},
    {"memory", "VMID ADDRESS [BYTES]", "bytes of an address space",
     mxgpu_inspect_memory},
    {"log", "", "what the firmware said last", mxgpu_inspect_log},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

void mxgpu_inspect_help(MxgpuText t)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        int n = (int)strlen(commands[i].name);

        put(t, "%s %-*s%s\n", commands[i].name, n < 29 ? 29 - n : 0,
            commands[i].args, commands[i].help);
    }
}

bool mxgpu_inspect_holds(const char *command)
{
    return strcmp(command, "warps") == 0 || strncmp(command, "warps ", 6) == 0;
}

bool mxgpu_inspect(MxgpuDevice *dev, const char *command, MxgpuText t)
{
    command = *command ? command : "status";
    for (size_t i = 0; i < COMMANDS; i++) {
        size_t n = strlen(commands[i].name);
        const char *rest = command + n;

        if (strncmp(command, commands[i].name, n) == 0 &&
            (*rest == ' ' || !*rest)) {
            commands[i].run(dev, rest + strspn(rest, " "), t);
            return true;
        }
    }
    return false;
}
