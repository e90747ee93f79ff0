/* SPDX-License-Identifier: MIT */
/*
 * The register file. regs.def says what exists and who may do what; hooks[]
 * names the registers whose access does more than move the stored value.
 */
#include "internal.h"

enum {
    R_NONE, /* no register at this offset */
#define MXGPU_REG(name, ...) R_##name,
#define MXGPU_FIELD(...)
#include "mxgpu/regs.def"
#undef MXGPU_REG
#undef MXGPU_FIELD
    R_COUNT
};
_Static_assert(R_COUNT <= 256, "reg_index is 8 bits wide, fields[] has 256");

typedef enum RegAccess { NA, RO, RW, W1C, WO } RegAccess;

typedef struct RegDesc {
    uint16_t offset, count, stride;
    uint8_t access[MXGPU_PARTIES];
    uint32_t reset;
} RegDesc;

static const RegDesc descs[R_COUNT] = {
#define MXGPU_REG(name, offset, count, stride, host, mcu, reset, doc)          \
    [R_##name] = {(offset), (count), (stride), {host, mcu}, (reset)},
#define MXGPU_FIELD(...)
#include "mxgpu/regs.def"
#undef MXGPU_REG
#undef MXGPU_FIELD
};

typedef struct RegHooks {
    /* Under dev->lock unless "unlocked"; without one the stored value is
     * read, or written through mask (0: all bits); "fields": only the bits
     * of its fields can be set, also for a hook. */
    uint32_t (*read)(MxgpuDevice *dev, const MxgpuAccess *a);
    /* Of a _LO register: all 64 bits, whose upper half the reader's _HI keeps;
     * the hooks of that name the _LO. */
    uint64_t (*read64)(MxgpuDevice *dev, const MxgpuAccess *a);
    unsigned high_of;
    void (*write)(MxgpuDevice *dev, const MxgpuAccess *a, uint32_t value);
    uint32_t mask;
    bool fields;
    bool listens;  /* ... a->listens */
    bool clock;    /* the hook needs a->now */
    bool unlocked; /* touched by the MCU's thread alone */
} RegHooks;

static uint64_t clock_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return a->now;
}

#define WIDE(name, ...)                                                        \
    [R_##name##_LO] = {.read64 = __VA_ARGS__},                                 \
    [R_##name##_HI] = {.high_of = R_##name##_LO}

static const RegHooks hooks[R_COUNT] = {
    WIDE(CLOCK, clock_read, .clock = true),
    [R_RESET] = {.write = mxgpu_reset_write},
    [R_MCU_CTRL] = {.write = mxgpu_mcu_ctrl_write},
    [R_MCU_SRAM_ADDR] = {.mask = MXGPU_MCU_SRAM_SIZE - 4},
    [R_MCU_SRAM_DATA] = {.read = mxgpu_sram_data_read,
                         .write = mxgpu_sram_data_write},
    WIDE(MCU_INSTRET, mxgpu_instret_read),
    [R_MCU_PC] = {.read = mxgpu_mcu_pc_read},
    [R_MCU_RA] = {.read = mxgpu_mcu_ra_read},
    [R_MCU_SP] = {.read = mxgpu_mcu_sp_read},
    [R_MBOX_REQ] = {.write = mxgpu_mbox_write},
    [R_MBOX_ACK] = {.write = mxgpu_mbox_write},
    [R_IRQ_ENABLE] = {.write = mxgpu_irq_enable_write, .fields = true},
    WIDE(COUNTER, mxgpu_counter_read),
    WIDE(VMID_COMPUTE_NS, mxgpu_vmid_compute_read),
    WIDE(VMID_COPY_NS, mxgpu_vmid_copy_read),
    [R_PROFILE_CTRL] = {.fields = true},
    [R_FAULT_RING_LO] = {.write = mxgpu_fault_ring_write},
    [R_FAULT_RING_HI] = {.write = mxgpu_fault_ring_write},
    [R_FAULT_CFG] = {.write = mxgpu_fault_cfg_write, .fields = true},
    [R_FAULT_HEAD] = {.write = mxgpu_fault_head_write},
    [R_FAULT_STATUS] = {.read = mxgpu_fault_status_read},
    [R_FAULT_REPLAY] = {.write = mxgpu_fault_replay_write},
    [R_FAULT_KILL] = {.write = mxgpu_fault_kill_write},
    WIDE(MTIME, mxgpu_mtime_read, .clock = true),
    [R_MTIMECMP_LO] = {.write = mxgpu_mtimecmp_write, .clock = true},
    [R_MTIMECMP_HI] = {.write = mxgpu_mtimecmp_write, .clock = true},
    [R_INT_PENDING] = {.read = mxgpu_int_pending_read, .listens = true},
    [R_INT_ENABLE] = {.fields = true},
    [R_CONSOLE] = {.write = mxgpu_console_write, .unlocked = true},
    [R_FW_READY] = {.write = mxgpu_fw_ready_write},
    [R_FW_PANIC] = {.write = mxgpu_fw_panic_write, .unlocked = true},
    [R_MSIX_RAISE] = {.write = mxgpu_msix_raise_write},
    [R_EVENT_RAISE] = {.write = mxgpu_event_raise_write},
    [R_TRACE_INFO] = {.unlocked = true},
    [R_TRACE_INDEX_LO] = {.unlocked = true},
    [R_TRACE_INDEX_HI] = {.unlocked = true},
    [R_TRACE_VALUE_LO] = {.unlocked = true},
    [R_TRACE_VALUE_HI] = {.unlocked = true},
    [R_TRACE_EVENT] = {.write = mxgpu_trace_event_write, .unlocked = true},
    [R_DB_PENDING] = {.read = mxgpu_db_pending_read,
                      .write = mxgpu_db_pending_write},
    [R_DB_ENABLE] = {.read = mxgpu_db_enable_read,
                     .write = mxgpu_db_enable_write},
    [R_DB_NEXT] = {.read = mxgpu_db_next_read},
    WIDE(DB_VALUE, mxgpu_db_value_read),
    [R_FE_PACKET_LO] = {.unlocked = true},
    [R_FE_PACKET_HI] = {.unlocked = true},
    [R_FE_CTL_LO] = {.unlocked = true},
    [R_FE_CTL_HI] = {.unlocked = true},
    [R_FE_INDEX_LO] = {.unlocked = true},
    [R_FE_INDEX_HI] = {.unlocked = true},
    [R_FE_CFG] = {.unlocked = true, .fields = true},
    [R_FE_LAUNCH] = {.write = mxgpu_fe_launch_write,
                     .clock = true,
                     .unlocked = true},
    [R_FE_RETIRE] = {.write = mxgpu_fe_retire_write, .unlocked = true},
    [R_FE_RESULT] = {.unlocked = true},
    [R_MEM_ADDR_LO] = {.unlocked = true},
    [R_MEM_ADDR_HI] = {.unlocked = true},
    [R_MEM_CMD] = {.write = mxgpu_mem_cmd_write, .unlocked = true},
    [R_MEM_STATUS] = {.unlocked = true},
    [R_MEM_BUF] = {.unlocked = true},
    [R_CE_CTRL] = {.write = mxgpu_ce_ctrl_write},
    [R_MMU_ROOT_HI] = {.write = mxgpu_mmu_root_write},
    [R_MMU_INV_CMD] = {.write = mxgpu_mmu_inv_write},
    [R_MMU_INV_STATUS] = {.read = mxgpu_mmu_inv_read},
    [R_CD_CTRL] = {.write = mxgpu_cd_ctrl_write,
                   .clock = true,
                   .unlocked = true},
    [R_CD_HOLD] = {.read = mxgpu_cd_hold_read,
                   .write = mxgpu_cd_hold_write,
                   .fields = true},
    [R_CD_WAITS] = {.read = mxgpu_cd_waits_read},
    [R_CD_SPENT] = {.read = mxgpu_cd_spent_read},
    [R_CX_CTRL] = {.write = mxgpu_cx_ctrl_write,
                   .clock = true,
                   .unlocked = true},
    [R_CU_SLOTS] = {.read = mxgpu_cu_slots_read},
    WIDE(CP_SAMPLES, mxgpu_cp_samples_read),
    [R_CP_UNIT] = {.write = mxgpu_cp_unit_write},
    WIDE(CP_COUNTER, mxgpu_cp_counter_read),
    WIDE(CU_PC, mxgpu_cu_pc_read),
    WIDE(CU_COUNTER, mxgpu_cu_counter_read),
};

static void init_fields(MxgpuDevice *dev)
{
#define MXGPU_REG(...)
#define MXGPU_FIELD(reg, name, shift, width, doc)                              \
    dev->fields[R_##reg] |= ((1u << (width)) - 1) << (shift);
#include "mxgpu/regs.def"
#undef MXGPU_REG
#undef MXGPU_FIELD
}

void mxgpu_regs_init(MxgpuDevice *dev)
{
    init_fields(dev);
    for (unsigned r = R_NONE + 1; r < R_COUNT; r++) {
        for (unsigned i = 0; i < descs[r].count; i++) {
            unsigned offset = descs[r].offset + i * descs[r].stride;

            /* Engines and units that are not there have no registers. */
            if ((descs[r].offset >= MXGPU_CE_SRC_LO &&
                 descs[r].offset < MXGPU_MMU_ROOT_LO &&
                 i >= dev->config.copy_engines) ||
                ((r == R_CU_PC_LO || r == R_CU_PC_HI || r == R_CU_SLOTS) &&
                 i >= dev->config.compute_units) ||
                (descs[r].offset >= MXGPU_CU_COUNTER_LO &&
                 i / MXGPU_COUNTERS >= dev->config.compute_units)) {
                continue;
            }
            dev->reg_index[offset / 4] = (uint8_t)r;
        }
    }
}

static void set_identity(MxgpuDevice *dev)
{
    const MxgpuConfig *c = &dev->config;

    *mxgpu_reg(dev, MXGPU_FEATURES) =
        MXGPU_SET(MXGPU_FEATURES_DETERMINISTIC, c->deterministic) |
        MXGPU_SET(MXGPU_FEATURES_FRONT_END, 1) |
        MXGPU_SET(MXGPU_FEATURES_HOLD, 1) |
        MXGPU_SET(MXGPU_FEATURES_CONTEXTS, 1) |
        MXGPU_SET(MXGPU_FEATURES_VMID_TIME, 1) |
        MXGPU_SET(MXGPU_FEATURES_CU_SLOTS, 1);
    *mxgpu_reg(dev, MXGPU_QUEUE_CAPS) =
        MXGPU_SET(MXGPU_QUEUE_CAPS_QUEUES, c->queues) |
        MXGPU_SET(MXGPU_QUEUE_CAPS_VECTORS, c->vectors);
    *mxgpu_reg(dev, MXGPU_UNIT_CAPS) =
        MXGPU_SET(MXGPU_UNIT_CAPS_COMPUTE_UNITS, c->compute_units) |
        MXGPU_SET(MXGPU_UNIT_CAPS_COPY_ENGINES, c->copy_engines) |
        MXGPU_SET(MXGPU_UNIT_CAPS_DISPATCH_SLOTS, MXGPU_DISPATCH_SLOTS);
    *mxgpu_reg(dev, MXGPU_CU_CAPS) =
        MXGPU_SET(MXGPU_CU_CAPS_THREADS, MXGPU_CU_THREADS) |
        MXGPU_SET(MXGPU_CU_CAPS_BLOCK_THREADS, MXGPU_BLOCK_THREADS);
    *mxgpu_reg(dev, MXGPU_CU_CAPS2) =
        MXGPU_SET(MXGPU_CU_CAPS2_BLOCKS, MXGPU_CU_BLOCKS) |
        MXGPU_SET(MXGPU_CU_CAPS2_WARP_SIZE, MXGPU_WARP_SIZE) |
        MXGPU_SET(MXGPU_CU_CAPS2_SHARED_KIB, MXGPU_SHARED_MAX / 1024);
    *mxgpu_reg(dev, MXGPU_CU_REGS) = MXGPU_CU_REGISTERS;
    *mxgpu_reg(dev, MXGPU_CU_PRIVATE) =
        (uint32_t)(mxgpu_cu_private(dev) / 1024);
    mxgpu_set_reg64(dev, MXGPU_VRAM_SIZE_LO, c->vram_size);
    memcpy(mxgpu_reg(dev, MXGPU_UUID), c->uuid, sizeof(c->uuid));
    *mxgpu_reg(dev, MXGPU_WATCHDOG_MS) = c->watchdog_ms;
}

void mxgpu_regs_reset(MxgpuDevice *dev)
{
    uint32_t status = *mxgpu_reg(dev, MXGPU_RESET_STATUS);

    memset(dev->regs, 0, sizeof(dev->regs));
    memset(dev->latch, 0, sizeof(dev->latch));
    for (unsigned r = R_NONE + 1; r < R_COUNT; r++) {
        for (unsigned i = 0; i < descs[r].count; i++) {
            *mxgpu_reg(dev, descs[r].offset + i * descs[r].stride) =
                descs[r].reset;
        }
    }
    set_identity(dev);
    *mxgpu_reg(dev, MXGPU_RESET_STATUS) = status;
}

/* Bits that no write leaves in a register. */
static uint32_t never_set(const MxgpuDevice *dev, unsigned r)
{
    return (hooks[r].mask ? ~hooks[r].mask : 0) |
           (hooks[r].fields ? ~dev->fields[r] : 0);
}

bool mxgpu_regs_load(MxgpuDevice *dev, const uint32_t *image)
{
    for (unsigned r = R_NONE + 1; r < R_COUNT; r++) {
        for (unsigned i = 0; i < descs[r].count; i++) {
            uint32_t offset = descs[r].offset + i * descs[r].stride;
            uint32_t value = image[offset / 4];

            if ((offset < MXGPU_RESET && value != *mxgpu_reg(dev, offset)) ||
                (value & never_set(dev, r))) {
                return false;
            }
            *mxgpu_reg(dev, offset) = value;
        }
    }
    return true;
}

/* The register at offset, R_NONE when party must not access it so. */
static unsigned lookup(MxgpuDevice *dev, MxgpuParty party, uint32_t offset,
                       bool write)
{
    unsigned r;

    if (offset >= MXGPU_REGS_SIZE || offset % 4) {
        return R_NONE;
    }
    r = dev->reg_index[offset / 4];
    if (descs[r].access[party] == NA ||
        (write && descs[r].access[party] == RO)) {
        return R_NONE;
    }
    return r;
}

static MxgpuAccess make_access(MxgpuDevice *dev, MxgpuParty party, unsigned r,
                               uint32_t offset)
{
    MxgpuAccess a = {
        .party = party,
        .index = (offset - descs[r].offset) / descs[r].stride,
        .offset = offset,
        .now = hooks[r].clock || hooks[hooks[r].high_of].clock ? mxgpu_now(dev)
                                                               : 0,
        .listens = hooks[r].listens && mxgpu_trace_listens(dev),
    };

    return a;
}

/* Under the lock. */
static uint32_t load(MxgpuDevice *dev, const MxgpuAccess *a, unsigned r)
{
    uint32_t *latch = dev->latch[a->party];
    uint64_t value;

    if (hooks[r].read) {
        return hooks[r].read(dev, a);
    }
    if (hooks[r].read64) {
        value = hooks[r].read64(dev, a);
        if (!a->peek) {
            latch[a->offset / 4 + 1] = (uint32_t)(value >> 32);
        }
        return (uint32_t)value;
    }
    if (hooks[r].high_of) {
        return a->peek ? (uint32_t)(hooks[hooks[r].high_of].read64(dev, a) >> 32)
                       : latch[a->offset / 4];
    }
    return *mxgpu_reg(dev, a->offset);
}

uint32_t mxgpu_regs_read(MxgpuDevice *dev, MxgpuParty party, uint32_t offset)
{
    unsigned r = lookup(dev, party, offset, false);
    MxgpuAccess a;
    uint32_t value;

    if (r == R_NONE) {
        mxgpu_bad_access(dev, offset, 4, false);
        return 0;
    }
    if (descs[r].access[party] == WO) {
        return 0;
    }
    if (hooks[r].unlocked) {
        return *mxgpu_reg(dev, offset);
    }
    a = make_access(dev, party, r, offset);
    mxgpu_lock(dev);
    value = load(dev, &a, r);
    mxgpu_unlock(dev);
    return value;
}

bool mxgpu_regs_readable(MxgpuDevice *dev, MxgpuParty party, uint32_t offset)
{
    unsigned r = lookup(dev, party, offset, false);

    return r != R_NONE && descs[r].access[party] != WO;
}

uint32_t mxgpu_regs_peek(MxgpuDevice *dev, MxgpuParty party, uint32_t offset)
{
    unsigned r = lookup(dev, party, offset, false);
    MxgpuAccess a;
    uint32_t value;

    if (r == R_NONE || descs[r].access[party] == WO) {
        return 0;
    }
    a = make_access(dev, party, r, offset);
    a.peek = true;
    mxgpu_lock(dev);
    value = load(dev, &a, r);
    mxgpu_unlock(dev);
    return value;
}

static void store(MxgpuDevice *dev, const MxgpuAccess *a, unsigned r,
                  uint32_t value)
{
    value &= hooks[r].fields ? dev->fields[r] : UINT32_MAX;
    if (hooks[r].write) {
        hooks[r].write(dev, a, value);
    } else if (descs[r].access[a->party] == W1C) {
        *mxgpu_reg(dev, a->offset) &= ~value;
    } else {
        *mxgpu_reg(dev, a->offset) = hooks[r].mask ? value & hooks[r].mask
                                                   : value;
    }
}

void mxgpu_regs_write(MxgpuDevice *dev, MxgpuParty party, uint32_t offset,
                      uint32_t value)
{
    unsigned r = lookup(dev, party, offset, true);
    MxgpuAccess a;

    if (r == R_NONE) {
        mxgpu_bad_access(dev, offset, 4, true);
        return;
    }
    a = make_access(dev, party, r, offset);
    if (hooks[r].unlocked) {
        store(dev, &a, r, value);
        return;
    }
    mxgpu_lock(dev);
    store(dev, &a, r, value);
    mxgpu_unlock(dev);
}
