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
_Static_assert(R_COUNT <= 256, "reg_index is 8 bits wide");

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
     * read, or written through mask (0: all bits). */
    uint32_t (*read)(MxgpuDevice *dev, const MxgpuAccess *a);
    void (*write)(MxgpuDevice *dev, const MxgpuAccess *a, uint32_t value);
    uint32_t mask;
    bool clock;    /* the hook needs a->now */
    bool unlocked; /* touched by the MCU's thread alone */
} RegHooks;

static uint32_t clock_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    if (!a->peek) {
        dev->latch[a->party].clock_hi = (uint32_t)(a->now >> 32);
    }
    return (uint32_t)a->now;
}

static uint32_t clock_hi_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return a->peek ? (uint32_t)(a->now >> 32) : dev->latch[a->party].clock_hi;
}

static uint32_t instret_lo_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    uint64_t value = atomic_load(&dev->mcu.instret);

    if (!a->peek) {
        *mxgpu_reg(dev, MXGPU_MCU_INSTRET_HI) = (uint32_t)(value >> 32);
    }
    return (uint32_t)value;
}

static uint32_t instret_hi_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return a->peek ? (uint32_t)(atomic_load(&dev->mcu.instret) >> 32)
                   : *mxgpu_reg(dev, a->offset);
}

static void mbox_write(MxgpuDevice *dev, const MxgpuAccess *a, uint32_t value)
{
    *mxgpu_reg(dev, a->offset) = value;
    mxgpu_mbox_update(dev);
    if (a->party == MXGPU_PARTY_MCU) {
        mxgpu_irq_set(dev, 1u << MXGPU_IRQ_STATUS_MBOX_SHIFT);
    }
}

static uint32_t int_pending_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return mxgpu_int_pending(dev);
}

static void fw_ready_write(MxgpuDevice *dev, const MxgpuAccess *a,
                           uint32_t value)
{
    uint32_t *status = mxgpu_reg(dev, MXGPU_MCU_STATUS);

    if ((value & 1) && !MXGPU_GET(MXGPU_MCU_STATUS_READY, *status)) {
        *status |= MXGPU_SET(MXGPU_MCU_STATUS_READY, 1);
        mxgpu_irq_set(dev, 1u << MXGPU_IRQ_STATUS_MCU_SHIFT);
    }
}

static void msix_raise_write(MxgpuDevice *dev, const MxgpuAccess *a,
                             uint32_t value)
{
    if (value < dev->config.vectors) {
        mxgpu_out_vector(dev, value);
    } else {
        mxgpu_err_set(dev, 1u << MXGPU_ERR_STATUS_BAD_ACCESS_SHIFT, a->offset,
                      value);
    }
}

static void event_raise_write(MxgpuDevice *dev, const MxgpuAccess *a,
                              uint32_t value)
{
    mxgpu_irq_set(dev, 1u << MXGPU_IRQ_STATUS_EVENT_SHIFT);
}

static void mmu_root_write(MxgpuDevice *dev, const MxgpuAccess *a,
                           uint32_t value)
{
    *mxgpu_reg(dev, a->offset) = value;
    mxgpu_mmu_set_root(dev->mmu, a->index, mxgpu_reg64(dev, a->offset - 4));
    mxgpu_out_trace(dev, MXGPU_TRACE_INVALIDATE, a->index, 0);
}

/* Every TLB is dropped whole: a stale entry is never kept, and one dropped
 * without need is loaded again. */
static void mmu_inv_write(MxgpuDevice *dev, const MxgpuAccess *a,
                          uint32_t value)
{
    mxgpu_mmu_invalidate(dev->mmu);
    mxgpu_out_trace(dev, MXGPU_TRACE_INVALIDATE, value, 0);
}

static uint32_t mmu_inv_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return MXGPU_SET(MXGPU_MMU_INV_STATUS_BUSY,
                     mxgpu_mmu_invalidate_busy(dev->mmu));
}

static const RegHooks hooks[R_COUNT] = {
    [R_CLOCK_LO] = {.read = clock_read, .clock = true},
    [R_CLOCK_HI] = {.read = clock_hi_read, .clock = true},
    [R_RESET] = {.write = mxgpu_reset_write},
    [R_MCU_CTRL] = {.write = mxgpu_mcu_ctrl_write},
    [R_MCU_SRAM_ADDR] = {.mask = MXGPU_MCU_SRAM_SIZE - 4},
    [R_MCU_SRAM_DATA] = {.read = mxgpu_sram_data_read,
                         .write = mxgpu_sram_data_write},
    [R_MCU_INSTRET_LO] = {.read = instret_lo_read},
    [R_MCU_INSTRET_HI] = {.read = instret_hi_read},
    [R_MCU_PC] = {.read = mxgpu_mcu_pc_read},
    [R_MCU_RA] = {.read = mxgpu_mcu_ra_read},
    [R_MCU_SP] = {.read = mxgpu_mcu_sp_read},
    [R_MBOX_REQ] = {.write = mbox_write},
    [R_MBOX_ACK] = {.write = mbox_write},
    [R_IRQ_ENABLE] = {.write = mxgpu_irq_enable_write},
    [R_COUNTER_LO] = {.read = mxgpu_counter_read},
    [R_COUNTER_HI] = {.read = mxgpu_counter_hi_read},
    [R_PROFILE_CTRL] = {.mask = 1},
    [R_MTIME_LO] = {.read = mxgpu_mtime_read, .clock = true},
    [R_MTIMECMP_LO] = {.write = mxgpu_mtimecmp_write, .clock = true},
    [R_MTIMECMP_HI] = {.write = mxgpu_mtimecmp_write, .clock = true},
    [R_INT_PENDING] = {.read = int_pending_read},
    [R_INT_ENABLE] = {.mask = 0xf},
    [R_CONSOLE] = {.write = mxgpu_console_write, .unlocked = true},
    [R_FW_READY] = {.write = fw_ready_write},
    [R_FW_PANIC] = {.write = mxgpu_fw_panic_write, .unlocked = true},
    [R_MSIX_RAISE] = {.write = msix_raise_write},
    [R_EVENT_RAISE] = {.write = event_raise_write},
    [R_DB_PENDING] = {.read = mxgpu_db_pending_read,
                      .write = mxgpu_db_pending_write},
    [R_DB_ENABLE] = {.read = mxgpu_db_enable_read,
                     .write = mxgpu_db_enable_write},
    [R_DB_VALUE_LO] = {.read = mxgpu_db_value_read},
    [R_MEM_ADDR_LO] = {.unlocked = true},
    [R_MEM_ADDR_HI] = {.unlocked = true},
    [R_MEM_CMD] = {.write = mxgpu_mem_cmd_write, .unlocked = true},
    [R_MEM_STATUS] = {.unlocked = true},
    [R_MEM_BUF] = {.unlocked = true},
    [R_CE_CTRL] = {.write = mxgpu_ce_ctrl_write},
    [R_MMU_ROOT_HI] = {.write = mmu_root_write},
    [R_MMU_INV_CMD] = {.write = mmu_inv_write},
    [R_MMU_INV_STATUS] = {.read = mmu_inv_read},
    [R_CD_CTRL] = {.write = mxgpu_cd_ctrl_write,
                   .clock = true,
                   .unlocked = true},
    [R_CP_SAMPLES_LO] = {.read = mxgpu_cp_samples_read},
    [R_CP_UNIT] = {.write = mxgpu_cp_unit_write},
    [R_CP_COUNTER_LO] = {.read = mxgpu_cp_counter_read},
    [R_CU_COUNTER_LO] = {.read = mxgpu_cu_counter_read},
    [R_CU_COUNTER_HI] = {.read = mxgpu_cu_counter_hi_read},
};

void mxgpu_regs_init(MxgpuDevice *dev)
{
    for (unsigned r = R_NONE + 1; r < R_COUNT; r++) {
        for (unsigned i = 0; i < descs[r].count; i++) {
            unsigned offset = descs[r].offset + i * descs[r].stride;

            /* Engines and units that are not there have no registers. */
            if ((descs[r].offset >= MXGPU_CE_SRC_LO &&
                 descs[r].offset < MXGPU_MMU_ROOT_LO &&
                 i >= dev->config.copy_engines) ||
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
        MXGPU_SET(MXGPU_FEATURES_DETERMINISTIC, c->deterministic);
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

void mxgpu_bad_access(MxgpuDevice *dev, uint64_t offset, unsigned size,
                      bool write)
{
    mxgpu_lock(dev);
    mxgpu_out_trace(dev, MXGPU_TRACE_BAD_ACCESS, offset,
                    size | (unsigned)write << 8);
    mxgpu_err_set(dev, 1u << MXGPU_ERR_STATUS_BAD_ACCESS_SHIFT,
                  (uint32_t)offset, 0);
    mxgpu_unlock(dev);
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
        .now = hooks[r].clock ? mxgpu_now(dev) : 0,
    };

    return a;
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
    value = hooks[r].read ? hooks[r].read(dev, &a) : *mxgpu_reg(dev, offset);
    mxgpu_unlock(dev);
    return value;
}

uint32_t mxgpu_regs_peek(MxgpuDevice *dev, uint32_t offset)
{
    unsigned r = lookup(dev, MXGPU_PARTY_HOST, offset, false);
    MxgpuAccess a;
    uint32_t value;

    if (r == R_NONE || descs[r].access[MXGPU_PARTY_HOST] == WO) {
        return 0;
    }
    a = make_access(dev, MXGPU_PARTY_HOST, r, offset);
    a.peek = true;
    mxgpu_lock(dev);
    value = hooks[r].read ? hooks[r].read(dev, &a) : *mxgpu_reg(dev, offset);
    mxgpu_unlock(dev);
    return value;
}

static void store(MxgpuDevice *dev, const MxgpuAccess *a, unsigned r,
                  uint32_t value)
{
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
