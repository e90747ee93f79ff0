/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "fake_bus.h"

FakeBus bus;

typedef enum Access { NA, RO, RW, W1C, WO } Access;

typedef struct RegInfo {
    const char *name;
    uint32_t offset, count, stride;
    Access mcu;
} RegInfo;

static const RegInfo reg_info[] = {
#define MXGPU_REG(name, offset, count, stride, host, mcu, reset, doc)          \
    {#name, offset, count, stride, mcu},
#define MXGPU_FIELD(reg, name, shift, width, doc)
#include "mxgpu/regs.def"
#undef MXGPU_REG
#undef MXGPU_FIELD
};

static void check_access(uint32_t offset, bool write)
{
    bus.accesses++;
    for (unsigned i = 0; i < G_N_ELEMENTS(reg_info); i++) {
        const RegInfo *r = &reg_info[i];

        if (offset < r->offset || (offset - r->offset) % r->stride ||
            (offset - r->offset) / r->stride >= r->count) {
            continue;
        }
        if (r->mcu == NA || (write ? r->mcu == RO : r->mcu == WO)) {
            g_error("firmware %s %s", write ? "writes" : "reads", r->name);
        }
        return;
    }
    g_error("firmware accesses 0x%x", offset);
}

static bool in_array(uint32_t offset, uint32_t reg, uint32_t count,
                     uint32_t stride, unsigned *index)
{
    if (offset < reg || (offset - reg) % stride ||
        (offset - reg) / stride >= count) {
        return false;
    }
    *index = (offset - reg) / stride;
    return true;
}

/* ---- units ---- */

static uint32_t ce_reg(uint32_t reg, unsigned index)
{
    return bus.regs[(reg + index * 0x80) / 4];
}

static bool in_memory(uint64_t addr, uint64_t size)
{
    return addr >= FAKE_MEM && size <= FAKE_MEM_SIZE &&
           addr - FAKE_MEM <= FAKE_MEM_SIZE - size;
}

/* A row, or a linear operation. */
static void perform_row(unsigned index, uint64_t dst, uint64_t src,
                        uint64_t size, unsigned pattern_size)
{
    const uint32_t *pattern =
        &bus.regs[(MXGPU_CE_PATTERN + index * 0x80) / 4];

    if (!in_memory(dst, size)) {
        return;
    }
    if (pattern_size) {
        for (uint64_t i = 0; i < size; i++) {
            bus.mem[dst - FAKE_MEM + i] =
                ((const uint8_t *)pattern)[i % pattern_size];
        }
    } else if (in_memory(src, size)) {
        memmove(fake_ptr(dst), fake_ptr(src), size);
    }
}

static void perform_copy(unsigned index)
{
    const uint32_t *r = &bus.regs[(MXGPU_CE_SRC_LO + index * 0x80) / 4];
    uint64_t src = r[0] | (uint64_t)r[1] << 32;
    uint64_t dst = r[2] | (uint64_t)r[3] << 32;
    uint64_t size = r[4] | (uint64_t)r[5] << 32;
    uint32_t cfg = ce_reg(MXGPU_CE_CFG, index);
    uint32_t height = 1, depth = 1, limit = 1000;
    unsigned n = 0;

    switch (MXGPU_GET(MXGPU_CE_CFG_OP, cfg)) {
    case MXGPU_COPY_FILL:
        n = MXGPU_GET(MXGPU_CE_CFG_PATTERN_SIZE, cfg);
        break;
    case MXGPU_COPY_FILL_RECT:
        n = 16; /* fall through */
    case MXGPU_COPY_RECT:
        height = ce_reg(MXGPU_CE_HEIGHT, index);
        depth = ce_reg(MXGPU_CE_DEPTH, index);
        break;
    }
    for (uint64_t z = 0; z < depth; z++) {
        for (uint64_t y = 0; y < height && limit; y++, limit--) {
            perform_row(index,
                        dst + (z * ce_reg(MXGPU_CE_DST_SLICE, index) + y) *
                                  ce_reg(MXGPU_CE_DST_PITCH, index),
                        src + (z * ce_reg(MXGPU_CE_SRC_SLICE, index) + y) *
                                  ce_reg(MXGPU_CE_SRC_PITCH, index),
                        size, n);
        }
        if (!limit) {
            break;
        }
    }
}

void fake_finish(FwUnitKind kind, unsigned index, enum mxgpu_fault fault)
{
    FakeUnit *unit = &bus.units[kind][index];

    g_assert_cmpuint(unit->state, ==, MXGPU_UNIT_BUSY);
    unit->state = fault ? MXGPU_UNIT_FAULT : MXGPU_UNIT_DONE;
    unit->fault = fault;
    if (!fault && kind == FW_UNIT_COPY) {
        perform_copy(index);
    }
}

static void unit_ctrl(FwUnitKind kind, unsigned index, uint32_t value)
{
    FakeUnit *unit = &bus.units[kind][index];

    if (value & 1) { /* START */
        g_assert_cmpuint(unit->state, ==, MXGPU_UNIT_IDLE);
        unit->state = MXGPU_UNIT_BUSY;
        unit->aborted = false;
        unit->starts++;
        if (bus.finish_at_once) {
            fake_finish(kind, index, MXGPU_FAULT_NONE);
        }
    } else if (value & 2) { /* ACK */
        g_assert_cmpuint(unit->state, >=, MXGPU_UNIT_DONE);
        unit->state = MXGPU_UNIT_IDLE;
    } else if (value & 4 && unit->state == MXGPU_UNIT_BUSY) { /* ABORT */
        unit->aborted = true;
        if (!bus.ignore_abort) {
            fake_finish(kind, index, MXGPU_FAULT_ABORTED);
        }
    }
}

static uint32_t int_pending(void)
{
    uint32_t pending = bus.listens ? FW_BIT(MXGPU_INT_PENDING_TRACE) : 0;

    if (bus.regs[MXGPU_MBOX_REQ / 4] != bus.regs[MXGPU_MBOX_ACK / 4]) {
        pending |= FW_BIT(MXGPU_INT_PENDING_MBOX);
    }
    for (unsigned i = 0; i < 8; i++) {
        if (bus.regs[MXGPU_DB_PENDING / 4 + i]) {
            pending |= FW_BIT(MXGPU_INT_PENDING_DOORBELL);
        }
    }
    for (unsigned i = 0; i < FW_MAX_UNITS; i++) {
        if (bus.units[FW_UNIT_COPY][i].state >= MXGPU_UNIT_DONE) {
            pending |= FW_BIT(MXGPU_INT_PENDING_COPY);
        }
        if (bus.units[FW_UNIT_SLOT][i].state >= MXGPU_UNIT_DONE) {
            pending |= FW_BIT(MXGPU_INT_PENDING_DISPATCH);
        }
    }
    return pending;
}

/* ---- memory ---- */

void *fake_ptr(uint64_t addr)
{
    g_assert_true(addr >= FAKE_MEM && addr < FAKE_MEM + FAKE_MEM_SIZE);
    return &bus.mem[addr - FAKE_MEM];
}

static uint32_t mem_command(uint32_t value)
{
    unsigned size = MXGPU_GET(MXGPU_MEM_CMD_SIZE, value);
    unsigned vmid = MXGPU_GET(MXGPU_MEM_CMD_VMID, value);
    bool write = MXGPU_GET(MXGPU_MEM_CMD_OP, value) == MXGPU_MEM_WRITE;
    uint64_t addr = bus.mem_addr;

    g_assert_true(size >= 1 && size <= 128);
    if (!bus.regs[MXGPU_MMU_ROOT_LO / 4 + vmid * 2]) {
        return MXGPU_FAULT_NO_VMID;
    }
    for (unsigned i = 0; i < size; i++) {
        uint64_t page = (addr + i - FAKE_MEM) / 4096;

        if (page >= FAKE_PAGES || !bus.readable[page]) {
            return MXGPU_FAULT_NOT_PRESENT;
        }
        if (write && !bus.writable[page]) {
            return MXGPU_FAULT_PERMISSION;
        }
    }
    if (write) {
        memcpy(fake_ptr(addr), &bus.regs[MXGPU_MEM_BUF / 4], size);
    } else {
        memcpy(&bus.regs[MXGPU_MEM_BUF / 4], fake_ptr(addr), size);
    }
    return MXGPU_FAULT_NONE;
}

/* ---- register access ---- */

static bool unit_read(uint32_t offset, uint32_t *value)
{
    const FakeUnit *unit;
    unsigned i;

    if (in_array(offset, MXGPU_CE_STATUS, 8, 0x80, &i)) {
        unit = &bus.units[FW_UNIT_COPY][i];
        *value = unit->state | unit->fault << 8 |
                 (unit->access == MXGPU_ACCESS_WRITE) << 16;
    } else if (in_array(offset, MXGPU_CE_FAULT_LO, 8, 0x80, &i)) {
        *value = (uint32_t)bus.units[FW_UNIT_COPY][i].fault_addr;
    } else if (in_array(offset, MXGPU_CE_DONE_LO, 8, 0x80, &i)) {
        *value = bus.units[FW_UNIT_COPY][i].done;
    } else if (in_array(offset, MXGPU_CD_STATUS, 8, 0x80, &i)) {
        unit = &bus.units[FW_UNIT_SLOT][i];
        *value = unit->state | unit->fault << 8 | unit->access << 16;
    } else if (in_array(offset, MXGPU_CD_FAULT_ADDR_LO, 8, 0x80, &i)) {
        *value = (uint32_t)bus.units[FW_UNIT_SLOT][i].fault_addr;
    } else if (in_array(offset, MXGPU_CD_FAULT_PC_LO, 8, 0x80, &i)) {
        *value = (uint32_t)bus.units[FW_UNIT_SLOT][i].fault_pc;
    } else if (in_array(offset, MXGPU_CD_FAULT_THREAD, 8, 0x80, &i)) {
        *value = 77;
    } else if (in_array(offset, MXGPU_CD_FAULT_BLOCK_Y, 8, 0x80, &i)) {
        *value = 3;
    } else {
        return false;
    }
    return true;
}

uint32_t fw_bus_read(uint32_t offset)
{
    uint32_t value;
    unsigned i;

    check_access(offset, false);
    if (unit_read(offset, &value)) {
        return value;
    }
    if (offset == MXGPU_INT_PENDING) {
        return int_pending();
    }
    if (offset == MXGPU_MTIME_LO || offset == MXGPU_CLOCK_LO) {
        bus.regs[offset / 4 + 1] = bus.mtime >> 32;
        return (uint32_t)bus.mtime;
    }
    if (offset == MXGPU_MMU_INV_STATUS) {
        return bus.inv_busy;
    }
    if (in_array(offset, MXGPU_DB_VALUE_LO, 256, 8, &i)) {
        bus.regs[offset / 4 + 1] = bus.db_value[i] >> 32;
        return (uint32_t)bus.db_value[i];
    }
    return bus.regs[offset / 4];
}

static uint64_t pair(uint32_t lo)
{
    return bus.regs[lo / 4] | (uint64_t)bus.regs[lo / 4 + 1] << 32;
}

static void trace_event_written(uint32_t event)
{
    unsigned n = bus.traces++;

    g_assert_cmpuint(n, <, G_N_ELEMENTS(bus.trace));
    bus.trace[n].event = event;
    bus.trace[n].info = bus.regs[MXGPU_TRACE_INFO / 4];
    bus.trace[n].index = pair(MXGPU_TRACE_INDEX_LO);
    bus.trace[n].value = pair(MXGPU_TRACE_VALUE_LO);
}

static void side_effects(uint32_t offset, uint32_t value)
{
    bus.trace_accesses +=
        offset >= MXGPU_TRACE_INFO && offset <= MXGPU_TRACE_EVENT;
    switch (offset) {
    case MXGPU_MEM_ADDR_HI:
        bus.mem_addr = bus.regs[MXGPU_MEM_ADDR_LO / 4] | (uint64_t)value << 32;
        break;
    case MXGPU_MEM_CMD:
        bus.regs[MXGPU_MEM_STATUS / 4] = mem_command(value);
        break;
    case MXGPU_MTIMECMP_HI:
        bus.mtimecmp =
            bus.regs[MXGPU_MTIMECMP_LO / 4] | (uint64_t)value << 32;
        break;
    case MXGPU_MSIX_RAISE:
        g_assert_cmpuint(value, <, FAKE_VECTORS);
        bus.irqs[value]++;
        break;
    case MXGPU_EVENT_RAISE:
        bus.events++;
        break;
    case MXGPU_TRACE_EVENT:
        trace_event_written(value);
        break;
    case MXGPU_MBOX_ACK:
        bus.acks++;
        break;
    case MXGPU_MMU_INV_CMD:
        g_assert_cmpuint(value, <, MXGPU_NUM_VMIDS);
        bus.inv_commands++;
        break;
    case MXGPU_CONSOLE:
        bus.console[bus.console_len++ % (sizeof(bus.console) - 1)] =
            (char)value;
        break;
    case MXGPU_FW_READY:
        bus.ready = true;
        break;
    default:
        break;
    }
}

void fw_bus_write(uint32_t offset, uint32_t value)
{
    unsigned i;

    check_access(offset, true);
    if (in_array(offset, MXGPU_DB_PENDING, 8, 4, &i)) {
        bus.regs[offset / 4] &= ~value;
        return;
    }
    if (in_array(offset, MXGPU_DB_ENABLE, 8, 4, &i)) {
        for (unsigned bit = 0; bit < 32; bit++) {
            if (value & ~bus.regs[offset / 4] & 1u << bit) {
                bus.db_value[i * 32 + bit] = 0;
            }
        }
    }
    bus.regs[offset / 4] = value;
    if (in_array(offset, MXGPU_CE_CTRL, FAKE_COPIES, 0x80, &i)) {
        unit_ctrl(FW_UNIT_COPY, i, value);
    } else if (in_array(offset, MXGPU_CD_CTRL, FAKE_SLOTS, 0x80, &i)) {
        unit_ctrl(FW_UNIT_SLOT, i, value);
    } else {
        side_effects(offset, value);
    }
}

void fw_bus_wait(void)
{
    bus.waits++;
}

_Noreturn void fw_bus_stop(void)
{
    g_error("firmware stopped: %s", bus.console);
}

/* ---- the test's side ---- */

void fake_reset(unsigned watchdog_ms)
{
    memset(&bus, 0, sizeof(bus));
    memset(&fw, 0, sizeof(fw));
    memset(bus.readable, 1, sizeof(bus.readable));
    memset(bus.writable, 1, sizeof(bus.writable));
    bus.mtime = 1000000;
    bus.mtimecmp = FW_NEVER;
    bus.regs[MXGPU_QUEUE_CAPS / 4] = FAKE_QUEUES | FAKE_VECTORS << 16;
    bus.regs[MXGPU_UNIT_CAPS / 4] = 4 | FAKE_COPIES << 16 | FAKE_SLOTS << 24;
    bus.regs[MXGPU_CU_CAPS / 4] = 2048 | 1024u << 16;
    bus.regs[MXGPU_CU_CAPS2 / 4] = 16 | 64 << 8 | 64 << 16;
    bus.regs[MXGPU_CU_REGS / 4] = 131072;
    bus.regs[MXGPU_WATCHDOG_MS / 4] = watchdog_ms;
    fw_init();
    g_assert_true(bus.ready);
}

bool fake_settle(void)
{
    for (unsigned i = 0; i < 100000; i++) {
        if (fw_step()) {
            continue;
        }
        fw_sleep();
        if (bus.mtime < bus.mtimecmp &&
            !(int_pending() & bus.regs[MXGPU_INT_ENABLE / 4])) {
            return true;
        }
        bus.mtime += 10; /* time passes even for a firmware in a hurry */
    }
    return false;
}

void fake_advance(uint64_t ns)
{
    uint64_t end = bus.mtime + ns;

    while (bus.mtimecmp < end) {
        bus.mtime = MAX(bus.mtime, bus.mtimecmp);
        g_assert_true(fake_settle());
    }
    bus.mtime = MAX(bus.mtime, end);
    g_assert_true(fake_settle());
}

void fake_doorbell(unsigned queue, uint64_t value)
{
    if (bus.regs[MXGPU_DB_ENABLE / 4 + queue / 32] & 1u << queue % 32) {
        bus.db_value[queue] = value;
        bus.regs[MXGPU_DB_PENDING / 4 + queue / 32] |= 1u << queue % 32;
    }
}

bool fake_answered(void)
{
    return bus.regs[MXGPU_MBOX_REQ / 4] == bus.regs[MXGPU_MBOX_ACK / 4];
}

bool fake_send(const uint32_t *words, unsigned count)
{
    g_assert_true(fake_answered());
    for (unsigned i = 0; i < 16; i++) {
        bus.regs[MXGPU_MBOX_CMD / 4 + i] = i < count ? words[i] : 0;
    }
    bus.regs[MXGPU_MBOX_REQ / 4]++;
    g_assert_true(fake_settle());
    return fake_answered();
}
