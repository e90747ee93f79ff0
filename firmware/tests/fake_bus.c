/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "fake_bus.h"
#include "mxgpu/dispatch.h"

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

static void chain_follow(unsigned slot);
static void set_pair(uint32_t lo, uint64_t value);

void fake_finish(FwUnitKind kind, unsigned index, enum mxgpu_fault fault)
{
    FakeUnit *unit = &bus.units[kind][index];

    g_assert_cmpuint(unit->state, ==, MXGPU_UNIT_BUSY);
    unit->state = fault ? MXGPU_UNIT_FAULT : MXGPU_UNIT_DONE;
    unit->fault = fault;
    if (!fault && kind == FW_UNIT_COPY) {
        perform_copy(index);
    }
    if (kind == FW_UNIT_SLOT) {
        chain_follow(index);
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
        if (kind == FW_UNIT_SLOT) {
            set_pair(MXGPU_CD_START_LO + index * 0x80, bus.mtime);
        }
        if (bus.finish_at_once) {
            fake_finish(kind, index, MXGPU_FAULT_NONE);
        }
    } else if (value & 2) { /* ACK */
        g_assert_cmpuint(unit->state, >=, MXGPU_UNIT_DONE);
        unit->state = MXGPU_UNIT_IDLE;
    } else if (value & 4 && unit->state == MXGPU_UNIT_BUSY) { /* ABORT */
        unit->aborted = true;
        if (kind == FW_UNIT_SLOT) {
            bus.regs[MXGPU_FE_CHAIN / 4 + index] &= ~0xffffu;
        }
        if (!bus.ignore_abort) {
            fake_finish(kind, index, MXGPU_FAULT_ABORTED);
        }
    }
}

/* A context is the slot's GRID_X behind a number. */
#define CONTEXT 0xc0ffeeull

static uint32_t context_command(uint32_t value)
{
    unsigned slot = MXGPU_GET(MXGPU_CX_CTRL_SLOT, value);
    FakeUnit *unit = &bus.units[FW_UNIT_SLOT][slot];
    uint32_t *x = &bus.regs[(MXGPU_CD_GRID_X + slot * 0x80) / 4];
    uint64_t *at = fake_ptr(bus.regs[MXGPU_CX_ADDR_LO / 4]);
    uint32_t *holds = &bus.regs[MXGPU_CD_HOLD / 4];

    g_assert_cmpuint(slot, <, FAKE_SLOTS);
    if (bus.context_says) {
        return bus.context_says;
    }
    if (value & FW_BIT(MXGPU_CX_CTRL_LOAD)) {
        g_assert_cmpuint(unit->state, ==, MXGPU_UNIT_IDLE);
        if (at[0] != CONTEXT) {
            return MXGPU_CONTEXT_REFUSED;
        }
        *x = (uint32_t)at[1];
        unit->state = MXGPU_UNIT_BUSY;
        unit->aborted = false;
        *holds |= 1u << slot;
        bus.loads++;
        return MXGPU_CONTEXT_DONE;
    }
    g_assert_cmpuint(unit->state, ==, MXGPU_UNIT_BUSY);
    bus.regs[MXGPU_CX_USED / 4] = bus.context_size;
    if (!(*holds >> slot & 1)) {
        return MXGPU_CONTEXT_BUSY;
    }
    if (bus.regs[MXGPU_CX_SIZE / 4] < bus.context_size) {
        return MXGPU_CONTEXT_ROOM;
    }
    at[0] = CONTEXT;
    at[1] = *x;
    unit->state = MXGPU_UNIT_IDLE;
    *holds &= ~(1u << slot);
    bus.regs[MXGPU_FE_JOB / 4 + slot] = 0;
    bus.saves++;
    return MXGPU_CONTEXT_DONE;
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
            pending |= FW_BIT(MXGPU_INT_PENDING_DISPATCH) |
                       MXGPU_SET(MXGPU_INT_PENDING_SLOTS, 1u << i);
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

static uint32_t move(unsigned vmid, uint64_t addr, void *buf, unsigned size,
                     bool write)
{
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
        memcpy(fake_ptr(addr), buf, size);
    } else {
        memcpy(buf, fake_ptr(addr), size);
    }
    return MXGPU_FAULT_NONE;
}

static uint32_t mem_command(uint32_t value)
{
    unsigned size = MXGPU_GET(MXGPU_MEM_CMD_SIZE, value);

    g_assert_true(size >= 1 && size <= 128);
    return move(MXGPU_GET(MXGPU_MEM_CMD_VMID, value), bus.mem_addr,
                &bus.regs[MXGPU_MEM_BUF / 4], size,
                MXGPU_GET(MXGPU_MEM_CMD_OP, value) == MXGPU_MEM_WRITE);
}

/* ---- the front end ---- */

static uint64_t pair(uint32_t lo)
{
    return bus.regs[lo / 4] | (uint64_t)bus.regs[lo / 4 + 1] << 32;
}

static void set_pair(uint32_t lo, uint64_t value)
{
    bus.regs[lo / 4] = (uint32_t)value;
    bus.regs[lo / 4 + 1] = (uint32_t)(value >> 32);
}

static void program_slot(unsigned slot, uint32_t cfg,
                         const struct mxgpu_packet_dispatch *p,
                         const struct mxgpu_kernel_desc *desc)
{
    uint32_t base = slot * 0x80;

    set_pair(MXGPU_CD_ENTRY_LO + base, desc->entry);
    set_pair(MXGPU_CD_ARGS_LO + base, p->args);
    for (unsigned i = 0; i < 3; i++) {
        bus.regs[(MXGPU_CD_GRID_X + base) / 4 + i] = p->grid[i];
    }
    bus.regs[(MXGPU_CD_BLOCK_XY + base) / 4] =
        p->block[0] | (uint32_t)p->block[1] << 16;
    bus.regs[(MXGPU_CD_BLOCK_Z + base) / 4] = p->block[2];
    bus.regs[(MXGPU_CD_SHARED + base) / 4] =
        desc->static_shared + p->dynamic_shared;
    bus.regs[(MXGPU_CD_SHARED_STATIC + base) / 4] = desc->static_shared;
    bus.regs[(MXGPU_CD_PRIVATE + base) / 4] = mxgpu_dispatch_private(p, desc);
    bus.regs[(MXGPU_CD_QUEUE + base) / 4] = MXGPU_GET(MXGPU_FE_CFG_QUEUE, cfg);
    bus.regs[(MXGPU_CD_CFG + base) / 4] =
        MXGPU_GET(MXGPU_FE_CFG_VMID, cfg) |
        MXGPU_GET(MXGPU_FE_CFG_PRIORITY, cfg) << 4 | desc->registers << 8 |
        MXGPU_SET(MXGPU_CD_CFG_FP_FLAGS, desc->flags) |
        MXGPU_SET(MXGPU_CD_CFG_STRICT_ALIGN,
                  p->flags / MXGPU_PKT_STRICT_ALIGN) |
        MXGPU_SET(MXGPU_CD_CFG_RECOVER, p->flags / MXGPU_PKT_RECOVER);
    set_pair(MXGPU_FE_SIGNAL_LO + slot * 16, p->signal_addr);
    set_pair(MXGPU_FE_VALUE_LO + slot * 16, p->signal_value);
    bus.regs[MXGPU_FE_JOB / 4 + slot] =
        MXGPU_GET(MXGPU_FE_CFG_VMID, cfg) | FW_BIT(MXGPU_FE_JOB_STARTED) |
        MXGPU_SET(MXGPU_FE_JOB_HAS_VECTOR,
                  MXGPU_GET(MXGPU_FE_CFG_HAS_VECTOR, cfg)) |
        MXGPU_SET(MXGPU_FE_JOB_VECTOR, MXGPU_GET(MXGPU_FE_CFG_VECTOR, cfg)) |
        MXGPU_SET(MXGPU_FE_JOB_RAISE,
                  p->flags & MXGPU_PKT_IRQ &&
                      MXGPU_GET(MXGPU_FE_CFG_HAS_VECTOR, cfg));
}

static bool front_read(unsigned vmid, uint64_t addr,
                       struct mxgpu_packet_dispatch *p,
                       struct mxgpu_kernel_desc *desc)
{
    return !move(vmid, addr, p, sizeof(*p), false) &&
           p->type == MXGPU_PKT_DISPATCH &&
           !(p->flags & ~(MXGPU_PKT_FLAGS | MXGPU_PKT_STRICT_ALIGN |
                          MXGPU_PKT_RECOVER)) &&
           (!(p->flags & MXGPU_PKT_RECOVER) ||
            MXGPU_GET(MXGPU_FAULT_CFG_ENABLE,
                      bus.regs[MXGPU_FAULT_CFG / 4])) &&
           !(p->signal_addr & 7) &&
           mxgpu_dispatch_check(p, 1024) == UINT32_MAX &&
           !move(vmid, p->kernel, desc, sizeof(*desc), false) &&
           mxgpu_kernel_valid(desc) &&
           mxgpu_dispatch_fits(p, desc, bus.regs[MXGPU_CU_REGS / 4], 65536) ==
               UINT32_MAX;
}

/* How many may follow a packet that was put into the slot. */
static void chain_set(unsigned slot, const struct mxgpu_packet_dispatch *p,
                      uint64_t next, uint32_t left, uint32_t done)
{
    if (p->signal_addr || MXGPU_GET(MXGPU_FE_JOB_RAISE,
                                    bus.regs[MXGPU_FE_JOB / 4 + slot])) {
        left = 0;
    }
    set_pair(MXGPU_FE_NEXT_LO + slot * 8, next);
    bus.regs[MXGPU_FE_CHAIN / 4 + slot] = left | done << 16;
}

/* The slot has ended: what follows is started at once. */
static void chain_follow(unsigned slot)
{
    uint32_t chain = bus.regs[MXGPU_FE_CHAIN / 4 + slot];
    uint32_t job = bus.regs[MXGPU_FE_JOB / 4 + slot];
    uint32_t left = chain & 0xffff, done = chain >> 16, cfg;
    uint64_t next = pair(MXGPU_FE_NEXT_LO + slot * 8);
    struct mxgpu_packet_dispatch p;
    struct mxgpu_kernel_desc desc;

    if (!left) {
        return;
    }
    if (bus.units[FW_UNIT_SLOT][slot].state != MXGPU_UNIT_DONE ||
        !front_read(job & 0xf, next, &p, &desc) ||
        !(p.flags & MXGPU_PKT_BARRIER)) {
        bus.regs[MXGPU_FE_CHAIN / 4 + slot] = done << 16;
        return;
    }
    cfg = (job & 0xf) | (bus.regs[(MXGPU_CD_CFG + slot * 0x80) / 4] & 0xf0) |
          MXGPU_SET(MXGPU_FE_CFG_QUEUE,
                    bus.regs[(MXGPU_CD_QUEUE + slot * 0x80) / 4]) |
          MXGPU_SET(MXGPU_FE_CFG_VECTOR, MXGPU_GET(MXGPU_FE_JOB_VECTOR, job)) |
          MXGPU_SET(MXGPU_FE_CFG_HAS_VECTOR,
                    MXGPU_GET(MXGPU_FE_JOB_HAS_VECTOR, job));
    unit_ctrl(FW_UNIT_SLOT, slot, FW_BIT(MXGPU_CD_CTRL_ACK));
    program_slot(slot, cfg, &p, &desc);
    chain_set(slot, &p, next + 64, left - 1, done + 1);
    bus.followed++;
    unit_ctrl(FW_UNIT_SLOT, slot, FW_BIT(MXGPU_CD_CTRL_START));
}

static uint32_t front_launch(uint32_t command)
{
    const uint32_t cfg = bus.regs[MXGPU_FE_CFG / 4];
    const unsigned vmid = MXGPU_GET(MXGPU_FE_CFG_VMID, cfg);
    const uint32_t slots = MXGPU_GET(MXGPU_FE_LAUNCH_SLOTS, command);
    uint32_t chain = MXGPU_GET(MXGPU_FE_LAUNCH_CHAIN, command);
    uint64_t index = pair(MXGPU_FE_INDEX_LO), at = pair(MXGPU_FE_PACKET_LO);
    struct mxgpu_packet_header next;
    struct mxgpu_packet_dispatch p;
    struct mxgpu_kernel_desc desc;
    unsigned slot;

    if (!front_read(vmid, at, &p, &desc)) {
        return MXGPU_FRONT_OTHER;
    }
    if (MXGPU_GET(MXGPU_FE_LAUNCH_BUSY, command)) {
        chain = 0;
        if (p.flags & MXGPU_PKT_BARRIER) {
            return MXGPU_FRONT_BARRIER;
        }
    }
    if (!slots) {
        return MXGPU_FRONT_NO_SLOT;
    }
    slot = lowest_bit(slots);
    if (bus.units[FW_UNIT_SLOT][slot].state != MXGPU_UNIT_IDLE ||
        (MXGPU_GET(MXGPU_FE_LAUNCH_PUBLISH, command) &&
         move(vmid, pair(MXGPU_FE_CTL_LO), &index, 8, true))) {
        return MXGPU_FRONT_OTHER;
    }
    program_slot(slot, cfg, &p, &desc);
    if (chain && (move(vmid, at + 64, &next, sizeof(next), false) ||
                  next.type != MXGPU_PKT_DISPATCH ||
                  !(next.flags & MXGPU_PKT_BARRIER))) {
        chain = 0;
    }
    chain_set(slot, &p, at + 64, chain, 0);
    chain = bus.regs[MXGPU_FE_CHAIN / 4 + slot] & 0xffff;
    unit_ctrl(FW_UNIT_SLOT, slot, FW_BIT(MXGPU_CD_CTRL_START));
    bus.launched++;
    return (chain ? MXGPU_FRONT_CHAINED : MXGPU_FRONT_LAUNCHED) | slot << 8 |
           (uint32_t)p.flags << 16;
}

static uint32_t front_retire(uint32_t slot)
{
    uint32_t *job = &bus.regs[MXGPU_FE_JOB / 4 + slot];
    uint64_t addr = pair(MXGPU_FE_SIGNAL_LO + slot * 16);
    uint64_t value = pair(MXGPU_FE_VALUE_LO + slot * 16);

    g_assert_cmpuint(slot, <, FAKE_SLOTS);
    if (bus.units[FW_UNIT_SLOT][slot].state != MXGPU_UNIT_DONE ||
        !MXGPU_GET(MXGPU_FE_JOB_STARTED, *job) ||
        (addr && move(MXGPU_GET(MXGPU_FE_JOB_VMID, *job), addr, &value, 8,
                      true))) {
        return MXGPU_FRONT_OTHER;
    }
    if (MXGPU_GET(MXGPU_FE_JOB_RAISE, *job)) {
        bus.irqs[MXGPU_GET(MXGPU_FE_JOB_VECTOR, *job)]++;
    }
    *job = bus.regs[MXGPU_FE_CHAIN / 4 + slot] = 0;
    unit_ctrl(FW_UNIT_SLOT, slot, FW_BIT(MXGPU_CD_CTRL_ACK));
    bus.retired++;
    return MXGPU_FRONT_RETIRED;
}

static uint32_t doorbell_next(void)
{
    for (unsigned i = 0; i < FAKE_QUEUES; i++) {
        uint32_t *pending = &bus.regs[MXGPU_DB_PENDING / 4 + i / 32];

        if (*pending & 1u << i % 32) {
            *pending &= ~(1u << i % 32);
            return i;
        }
    }
    return UINT32_MAX;
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
    if (offset == MXGPU_DB_NEXT) {
        return doorbell_next();
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
    case MXGPU_CX_CTRL:
        bus.regs[MXGPU_CX_RESULT / 4] = context_command(value);
        break;
    case MXGPU_MEM_CMD:
        bus.regs[MXGPU_MEM_STATUS / 4] = mem_command(value);
        break;
    case MXGPU_FE_LAUNCH:
        bus.regs[MXGPU_FE_RESULT / 4] = front_launch(value);
        break;
    case MXGPU_FE_RETIRE:
        bus.regs[MXGPU_FE_RESULT / 4] = front_retire(value);
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

uint32_t fw_bus_sram_offset(const void *place)
{
    bus.log = place;
    return FAKE_LOG;
}

_Noreturn void fw_bus_stop(void)
{
    g_error("firmware stopped: %s", bus.console);
}

/* ---- the test's side ---- */

void fake_reset(unsigned watchdog_ms)
{
    bool without = g_getenv("MXGPU_TEST_NO_FRONT_END") != NULL;

    memset(&bus, 0, sizeof(bus));
    bus.regs[MXGPU_FEATURES / 4] =
        MXGPU_SET(MXGPU_FEATURES_FRONT_END, !without) |
        MXGPU_SET(MXGPU_FEATURES_HOLD, 1) |
        MXGPU_SET(MXGPU_FEATURES_CONTEXTS, 1) |
        MXGPU_SET(MXGPU_FEATURES_CU_SLOTS, 1);
    bus.context_size = 0x100;
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
