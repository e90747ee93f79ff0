/* SPDX-License-Identifier: MIT */
/*
 * gdb on the firmware: what debug/gdb.h asks of the MCU. All of it runs as the
 * service of the MCU's stepper (stepper.h), so that the MCU stands between two
 * instructions, and under dev->control, so that no reset, pause or walk of the
 * state does. A debugger that takes its time holds none of these meanwhile.
 */
#include <stdio.h>
#include <stdlib.h>

#include "debug.h"
#include "debug/gdb.h"
#include "inspect.h"
#include "internal.h"
#include "mcu/debug.h"
#include "rv/csr.h"

/* Numbers of registers: x0 to x31, pc, and CSRs behind those of floating
 * point, as other servers have them. */
#define GDB_PC        32
#define GDB_REGISTERS 33
#define GDB_CSR       65

#define DOCUMENT_MAX 16384

static const char *const x_names[32] = {
    "zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "fp", "s1", "a0",
    "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
    "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};

typedef struct CsrName {
    unsigned number;
    const char *name;
} CsrName;

static const CsrName csr_names[] = {
    {CSR_MSTATUS, "mstatus"},     {CSR_MISA, "misa"},
    {CSR_MIE, "mie"},             {CSR_MTVEC, "mtvec"},
    {CSR_MSCRATCH, "mscratch"},   {CSR_MEPC, "mepc"},
    {CSR_MCAUSE, "mcause"},       {CSR_MTVAL, "mtval"},
    {CSR_MIP, "mip"},             {CSR_MCYCLE, "mcycle"},
    {CSR_MCYCLEH, "mcycleh"},     {CSR_MINSTRET, "minstret"},
    {CSR_MINSTRETH, "minstreth"}, {CSR_MVENDORID, "mvendorid"},
    {CSR_MARCHID, "marchid"},     {CSR_MIMPID, "mimpid"},
    {CSR_MHARTID, "mhartid"},     {CSR_PMPCFG0, "pmpcfg0"},
    {CSR_PMPCFG0 + 1, "pmpcfg1"}, {CSR_PMPCFG0 + 2, "pmpcfg2"},
    {CSR_PMPCFG0 + 3, "pmpcfg3"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- run control */

static void hold(MxgpuDevice *dev, bool halted)
{
    dev->debug.halted = halted;
    if (!halted) {
        /* What stood for minutes is not stuck. */
        dev->mcu.progress = true;
        mxgpu_wake(dev, MXGPU_STEPPER_MCU);
    }
}

static bool mcu_in(MxgpuDevice *dev, enum mxgpu_mcu_state state)
{
    return MXGPU_GET(MXGPU_MCU_STATUS_STATE,
                     mxgpu_regs_peek(dev, MXGPU_PARTY_HOST,
                                     MXGPU_MCU_STATUS)) == state;
}

static MxgpuGdbStop gdb_attach(void *opaque)
{
    MxgpuDevice *dev = opaque;
    MxgpuGdbStop stop = {.signal = MXGPU_GDB_SIGINT,
                         .point = MXGPU_GDB_POINTS};

    if (dev->debug.halted) {
        stop.signal = MXGPU_GDB_SIGTRAP;
    } else if (mcu_in(dev, MXGPU_MCU_CRASHED)) {
        stop.signal = MXGPU_GDB_SIGABRT;
    }
    dev->debug.attached = true;
    mxgpu_mcu_debug_attach(dev->mcu.mcu, true);
    hold(dev, true);
    return stop;
}

static void gdb_detach(void *opaque)
{
    MxgpuDevice *dev = opaque;

    dev->debug.attached = false;
    mxgpu_mcu_debug_attach(dev->mcu.mcu, false);
    hold(dev, false);
}

static MxgpuGdbStop stop_of(MxgpuDevice *dev);

/* What has been recorded takes no time: it has stopped already. */
static void gdb_resume(void *opaque, const MxgpuGdbResume *how)
{
    MxgpuDevice *dev = opaque;
    MxgpuMcu *mcu = dev->mcu.mcu;
    uint32_t low = how->range ? (uint32_t)how->low : 0;
    uint32_t high = how->range ? (uint32_t)how->high : 0;
    MxgpuGdbStop stop;

    if (how->back) {
        mxgpu_mcu_debug_back(mcu, how->step, low, high);
    } else {
        mxgpu_mcu_debug_resume(mcu, how->step, low, high, how->signal != 0);
        if (!mxgpu_mcu_debug_again(mcu)) {
            hold(dev, false);
            return;
        }
    }
    stop = stop_of(dev);
    mxgpu_gdb_stopped(dev->debug.port.gdb, &stop);
}

static uint64_t gdb_halt(void *opaque)
{
    hold(opaque, true);
    return 1;
}

static unsigned trap_signal(uint32_t cause)
{
    switch (cause) {
    case 2: /* illegal instruction */
        return MXGPU_GDB_SIGILL;
    case 3: /* ebreak */
        return MXGPU_GDB_SIGTRAP;
    case 4: /* misaligned */
    case 6:
        return MXGPU_GDB_SIGBUS;
    default:
        return MXGPU_GDB_SIGSEGV;
    }
}

static MxgpuGdbStop stop_of(MxgpuDevice *dev)
{
    static const MxgpuGdbPoint points[] = {
        [MXGPU_MCU_BREAK] = MXGPU_GDB_BREAK_SOFTWARE,
        [MXGPU_MCU_WATCH_WRITE] = MXGPU_GDB_WATCH_WRITE,
        [MXGPU_MCU_WATCH_READ] = MXGPU_GDB_WATCH_READ,
        [MXGPU_MCU_WATCH_ACCESS] = MXGPU_GDB_WATCH_ACCESS,
    };
    const MxgpuMcuDebugStop *s = mxgpu_mcu_debug_stop(dev->mcu.mcu);
    MxgpuGdbStop stop = {.signal = MXGPU_GDB_SIGTRAP,
                         .point = MXGPU_GDB_POINTS,
                         .addr = s->addr};

    if (s->why == MXGPU_MCU_DEBUG_POINT) {
        stop.point = points[s->kind];
    } else if (s->why == MXGPU_MCU_DEBUG_TRAP) {
        stop.signal = trap_signal(s->cause);
    }
    stop.oldest = s->why == MXGPU_MCU_DEBUG_HISTORY;
    return stop;
}

static void tell_events(MxgpuDevice *dev, uint32_t events)
{
    MxgpuGdbStop stop = {.signal = MXGPU_GDB_SIGTRAP,
                         .point = MXGPU_GDB_POINTS};

    if (events & MXGPU_DEBUG_RESET) {
        mxgpu_gdb_say(dev->debug.port.gdb, "mxgpu: the device was reset");
    }
    if (events & MXGPU_DEBUG_STOPPED) {
        stop = stop_of(dev);
    } else if (events & MXGPU_DEBUG_LOCKUP) {
        stop.signal = MXGPU_GDB_SIGSEGV;
        mxgpu_gdb_say(dev->debug.port.gdb, "mxgpu: the MCU has locked up");
    } else if (events & MXGPU_DEBUG_PANIC) {
        stop.signal = MXGPU_GDB_SIGABRT;
        mxgpu_gdb_say(dev->debug.port.gdb, "mxgpu: the firmware has panicked");
    }
    if (dev->debug.halted) {
        mxgpu_gdb_stopped(dev->debug.port.gdb, &stop);
    }
}

/* ---- registers */

static bool is_named(unsigned csr)
{
    for (size_t i = 0; i < COUNT(csr_names); i++) {
        if (csr_names[i].number == csr) {
            return true;
        }
    }
    return csr >= CSR_PMPADDR0 && csr < CSR_PMPADDR0 + MCU_PMP_ENTRIES;
}

static bool gdb_read_register(void *opaque, unsigned number, uint64_t *value)
{
    uint32_t csr;
    MxgpuDevice *dev = opaque;
    const MxgpuMcuState *s = mxgpu_mcu_state(dev->mcu.mcu);

    if (number < 32) {
        *value = s->x[number];
    } else if (number == GDB_PC) {
        *value = s->pc;
    } else {
        if (number < GDB_CSR || !is_named(number - GDB_CSR) ||
            !mxgpu_mcu_debug_read_csr(dev->mcu.mcu, number - GDB_CSR, &csr)) {
            return false;
        }
        *value = csr;
    }
    return true;
}

static bool gdb_write_register(void *opaque, unsigned number, uint64_t wide)
{
    MxgpuDevice *dev = opaque;
    uint32_t value = (uint32_t)wide;
    MxgpuMcuState *s = mxgpu_mcu_state(dev->mcu.mcu);

    mxgpu_mcu_debug_changed(dev->mcu.mcu);
    if (number < 32) {
        s->x[number] = number ? value : 0;
    } else if (number == GDB_PC) {
        s->pc = value & ~1u;
    } else {
        return number >= GDB_CSR && is_named(number - GDB_CSR) &&
               mxgpu_mcu_debug_write_csr(dev->mcu.mcu, number - GDB_CSR, value);
    }
    return true;
}

/* ---- memory */

static uint8_t register_byte(MxgpuDevice *dev, uint32_t offset)
{
    return (uint8_t)(mxgpu_inspect_register(dev, offset & ~3u) >>
                     offset % 4 * 8);
}

static size_t gdb_read_memory(void *opaque, uint64_t from, uint8_t *buf,
                              size_t len)
{
    MxgpuDevice *dev = opaque;
    uint32_t addr = (uint32_t)from;
    size_t n = 0;

    for (; n < len; n++, addr++) {
        uint32_t offset = addr - MXGPU_MCU_REGS_BASE;

        if (offset < MXGPU_REGS_SIZE) {
            buf[n] = register_byte(dev, offset);
        } else if (!mxgpu_mcu_debug_read(dev->mcu.mcu, addr, buf + n, 1)) {
            break;
        }
    }
    return n;
}

/* Registers as the firmware would write them. Not while the device is paused:
 * that would have it start work. */
static bool write_registers(MxgpuDevice *dev, uint32_t addr,
                            const uint8_t *buf, size_t len)
{
    uint32_t end = MXGPU_MCU_REGS_BASE + MXGPU_REGS_SIZE;

    if (addr % 4 || len % 4 || len > end - addr ||
        atomic_load(&dev->steppers[MXGPU_STEPPER_MCU].held)) {
        return false;
    }
    for (size_t i = 0; i < len; i += 4) {
        uint32_t value = buf[i] | buf[i + 1] << 8 | buf[i + 2] << 16 |
                         (uint32_t)buf[i + 3] << 24;

        if (!mxgpu_mcu_bus.write(dev, addr + (uint32_t)i, value)) {
            return false;
        }
    }
    mxgpu_wake(dev, MXGPU_STEPPER_MCU); /* it may have been FW_PANIC */
    return true;
}

static bool gdb_write_memory(void *opaque, uint64_t at, const uint8_t *buf,
                             size_t len)
{
    MxgpuDevice *dev = opaque;
    uint32_t addr = (uint32_t)at;

    if (addr - MXGPU_MCU_REGS_BASE < MXGPU_REGS_SIZE) {
        return write_registers(dev, addr, buf, len);
    }
    return mxgpu_mcu_debug_write(dev->mcu.mcu, addr, buf, (uint32_t)len);
}

/* ---- points */

static MxgpuMcuPoint point_kind(MxgpuGdbPoint point)
{
    switch (point) {
    case MXGPU_GDB_WATCH_WRITE:
        return MXGPU_MCU_WATCH_WRITE;
    case MXGPU_GDB_WATCH_READ:
        return MXGPU_MCU_WATCH_READ;
    case MXGPU_GDB_WATCH_ACCESS:
        return MXGPU_MCU_WATCH_ACCESS;
    default: /* code is never patched: soft and hard ones are the same */
        return MXGPU_MCU_BREAK;
    }
}

static bool gdb_insert(void *opaque, MxgpuGdbPoint point, uint64_t addr,
                       uint64_t len, MxgpuGdbConditions when)
{
    MxgpuDevice *dev = opaque;

    return mxgpu_mcu_debug_insert(dev->mcu.mcu, point_kind(point),
                                  (uint32_t)addr, (uint32_t)len);
}

static bool gdb_remove(void *opaque, MxgpuGdbPoint point, uint64_t addr,
                       uint64_t len)
{
    MxgpuDevice *dev = opaque;

    return mxgpu_mcu_debug_remove(dev->mcu.mcu, point_kind(point),
                                  (uint32_t)addr, (uint32_t)len);
}

/* ---- documents */

static size_t add_register(char *text, size_t n, const char *name,
                           unsigned number, const char *type)
{
    int len = snprintf(text + n, DOCUMENT_MAX - n,
                       "<reg name=\"%s\" bitsize=\"32\" regnum=\"%u\" "
                       "type=\"%s\"/>", name, number, type);

    return len > 0 && (size_t)len < DOCUMENT_MAX - n ? n + (size_t)len : n;
}

static size_t add_text(char *text, size_t n, const char *more)
{
    int len = snprintf(text + n, DOCUMENT_MAX - n, "%s", more);

    return len > 0 && (size_t)len < DOCUMENT_MAX - n ? n + (size_t)len : n;
}

static char *document(MxgpuDevice *dev)
{
    if (!dev->debug.port.text) {
        dev->debug.port.text = malloc(DOCUMENT_MAX);
    }
    return dev->debug.port.text;
}

static const char *gdb_description(void *opaque)
{
    char *text = document(opaque), name[16];
    size_t n;

    if (!text) {
        return NULL;
    }
    n = add_text(text, 0,
                 "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM "
                 "\"gdb-target.dtd\"><target version=\"1.0\">"
                 "<architecture>riscv:rv32</architecture>"
                 "<feature name=\"org.gnu.gdb.riscv.cpu\">");
    for (unsigned i = 0; i < 32; i++) {
        n = add_register(text, n, x_names[i], i,
                         i == 1               ? "code_ptr"
                         : i >= 2 && i <= 4   ? "data_ptr"
                         : i == 8             ? "data_ptr"
                                              : "int");
    }
    n = add_register(text, n, "pc", GDB_PC, "code_ptr");
    n = add_text(text, n, "</feature><feature name=\"org.gnu.gdb.riscv.csr\">");
    for (size_t i = 0; i < COUNT(csr_names); i++) {
        n = add_register(text, n, csr_names[i].name,
                         GDB_CSR + csr_names[i].number, "int");
    }
    for (unsigned i = 0; i < MCU_PMP_ENTRIES; i++) {
        snprintf(name, sizeof(name), "pmpaddr%u", i);
        n = add_register(text, n, name, GDB_CSR + CSR_PMPADDR0 + i, "int");
    }
    add_text(text, n, "</feature></target>");
    return text;
}

static const char *gdb_memory_map(void *opaque)
{
    char *text = document(opaque);

    if (text) {
        snprintf(text, DOCUMENT_MAX,
                 "<?xml version=\"1.0\"?><memory-map>"
                 "<memory type=\"ram\" start=\"0x%x\" length=\"0x%x\"/>"
                 "<memory type=\"ram\" start=\"0x%x\" length=\"0x%x\"/>"
                 "</memory-map>", MXGPU_MCU_SRAM_BASE, MXGPU_MCU_SRAM_SIZE,
                 MXGPU_MCU_REGS_BASE, MXGPU_REGS_SIZE);
    }
    return text;
}

/* ---- the user's commands */

static void put(MxgpuGdbText text, const char *line)
{
    text.put(text.opaque, line, strlen(line));
}

/* Words that an instruction changes, and how many instructions are kept. */
#define HISTORY_WORDS 4u
#define HISTORY       (2u << 20)
#define HISTORY_LEAST 256u
#define HISTORY_MOST  (64u << 20)

static uint64_t history_words(uint64_t instructions)
{
    uint64_t n = HISTORY_LEAST;

    while (n < instructions && n < HISTORY_MOST) {
        n *= 2;
    }
    return n * HISTORY_WORDS;
}

static void record(MxgpuMcu *mcu, const char *what, MxgpuGdbText text)
{
    unsigned long long count = HISTORY;
    uint64_t behind, ahead;
    char line[120];

    if (!strcmp(what, "off")) {
        (void)mxgpu_mcu_debug_record(mcu, 0);
    } else if (!strcmp(what, "on") || sscanf(what, "on %llu", &count) == 1) {
        if (!mxgpu_mcu_debug_record(mcu, history_words(count))) {
            put(text, "there is no memory for it\n");
        }
    } else if (strcmp(what, "status")) {
        put(text, "record on [INSTRUCTIONS], off, or status\n");
    } else if (mxgpu_mcu_debug_recorded(mcu, &behind, &ahead)) {
        snprintf(line, sizeof(line),
                 "%llu instructions behind, %llu ahead\n",
                 (unsigned long long)behind, (unsigned long long)ahead);
        put(text, line);
    } else {
        put(text, "nothing is recorded\n");
    }
}

static void gdb_monitor(void *opaque, const char *command, MxgpuGdbText text)
{
    MxgpuDevice *dev = opaque;
    MxgpuText sink = {text.put, text.opaque};

    command += strspn(command, " ");
    if (!*command || !strcmp(command, "help")) {
        put(text, "reset               resets the device, as its driver may\n"
                  "halt-at-start on    stops before the firmware's first "
                  "instruction\n"
                  "halt-at-start off\n"
                  "record on [COUNT]   keeps what so many instructions change, "
                  "for reverse-step and its kin\n"
                  "record off\n"
                  "record status\n");
        mxgpu_inspect_help(sink);
    } else if (!strcmp(command, "reset")) {
        mxgpu_regs_write(dev, MXGPU_PARTY_HOST, MXGPU_RESET,
                         MXGPU_RESET_MAGIC);
    } else if (!strcmp(command, "halt-at-start on")) {
        atomic_store(&dev->debug.halt_at_start, true);
    } else if (!strcmp(command, "halt-at-start off")) {
        atomic_store(&dev->debug.halt_at_start, false);
    } else if (!strncmp(command, "record ", strlen("record "))) {
        record(dev->mcu.mcu, command + strlen("record "), text);
    } else if (!mxgpu_inspect(dev, command, sink)) {
        put(text, "no such command; \"monitor help\" lists them\n");
    }
}

/* ---- the service */

static void gdb_output(void *opaque, const void *bytes, size_t len)
{
    mxgpu_debug_port_output(&((MxgpuDevice *)opaque)->debug.port, bytes, len);
}

static const MxgpuGdbOps gdb_ops = {
    .attach = gdb_attach,
    .detach = gdb_detach,
    .resume = gdb_resume,
    .halt = gdb_halt,
    .word = 4,
    .registers = GDB_REGISTERS,
    .reverses = true,
    .read_register = gdb_read_register,
    .write_register = gdb_write_register,
    .read_memory = gdb_read_memory,
    .write_memory = gdb_write_memory,
    .insert = gdb_insert,
    .remove = gdb_remove,
    .monitor = gdb_monitor,
    .description = gdb_description,
    .memory_map = gdb_memory_map,
    .output = gdb_output,
};

static void service(MxgpuDevice *dev)
{
    MxgpuDebugPort *port = &dev->debug.port;
    uint8_t in[sizeof(port->in)];
    bool closed;
    size_t len = mxgpu_debug_port_take(port, in, &closed);

    pthread_mutex_lock(&dev->control);
    if (closed) {
        mxgpu_gdb_close(port->gdb);
    }
    tell_events(dev, atomic_exchange(&dev->debug.events, 0));
    mxgpu_gdb_input(port->gdb, in, len);
    pthread_mutex_unlock(&dev->control);
}

bool mxgpu_device_gdb_open(MxgpuDevice *dev, const MxgpuDebugOps *ops,
                           void *host, bool halt)
{
    MxgpuDebugPort *port = &dev->debug.port;

    if (!port->gdb) {
        port->gdb = mxgpu_gdb_new(&gdb_ops, dev);
    }
    if (!port->gdb) {
        return false;
    }
    port->ops = ops;
    port->host = host;
    port->service = service;
    dev->steppers[MXGPU_STEPPER_MCU].service = mxgpu_gdb_service;
    atomic_store(&dev->debug.halt_at_start, halt);
    return true;
}
