/* SPDX-License-Identifier: MIT */
/*
 * Drives the MCU: start, stop, the bus, interrupt lines, sleep in WFI, crash.
 * Everything here but the MCU_CTRL and SRAM registers runs on the thread that
 * steps the MCU.
 */
#include "internal.h"

#include <limits.h>
#include <stdlib.h>

static void console_flush(MxgpuDevice *dev)
{
    if (dev->mcu.line_len) {
        mxgpu_console_log_add(&dev->console_log, dev->mcu.line,
                              dev->mcu.line_len);
        dev->ops->console(dev->host, dev->mcu.line, dev->mcu.line_len);
        dev->mcu.line_len = 0;
    }
}

void mxgpu_console_write(MxgpuDevice *dev, const MxgpuAccess *a, uint32_t value)
{
    MxgpuMcuDriver *m = &dev->mcu;
    unsigned char c = (unsigned char)value;

    if (c == '\n') {
        if (!m->line_len) {
            mxgpu_console_log_add(&dev->console_log, "", 0);
            dev->ops->console(dev->host, "", 0);
        }
        console_flush(dev);
        return;
    }
    if (c == '\r') {
        return;
    }
    if (m->line_len == sizeof(m->line)) {
        console_flush(dev);
    }
    /* The line may end on a terminal. */
    m->line[m->line_len++] = c == '\t' || (c >= ' ' && c < 0x7f) ? (char)c
                                                                 : '?';
}

void mxgpu_fw_ready_write(MxgpuDevice *dev, const MxgpuAccess *a,
                          uint32_t value)
{
    uint32_t *status = mxgpu_reg(dev, MXGPU_MCU_STATUS);

    if ((value & 1) && !MXGPU_GET(MXGPU_MCU_STATUS_READY, *status)) {
        *status |= MXGPU_SET(MXGPU_MCU_STATUS_READY, 1);
        mxgpu_irq_set(dev, 1u << MXGPU_IRQ_STATUS_MCU_SHIFT);
    }
}

void mxgpu_fw_panic_write(MxgpuDevice *dev, const MxgpuAccess *a,
                          uint32_t value)
{
    dev->mcu.panic = true;
    mxgpu_mcu_halt(dev->mcu.mcu);
}

/* ---- state ---------------------------------------------------------------- */

static uint32_t state_of(MxgpuDevice *dev)
{
    return MXGPU_GET(MXGPU_MCU_STATUS_STATE, *mxgpu_reg(dev, MXGPU_MCU_STATUS));
}

/* Under the lock. Every change of the MCU's state clears READY. */
static void set_state(MxgpuDevice *dev, enum mxgpu_mcu_state state,
                      enum mxgpu_boot_error error, uint32_t info)
{
    *mxgpu_reg(dev, MXGPU_MCU_STATUS) =
        MXGPU_SET(MXGPU_MCU_STATUS_STATE, state) |
        MXGPU_SET(MXGPU_MCU_STATUS_BOOT_ERROR, error);
    mxgpu_out_trace(dev, MXGPU_TRACE_MCU_STATE, state, info);
    mxgpu_irq_set(dev, 1u << MXGPU_IRQ_STATUS_MCU_SHIFT);
}

void mxgpu_mcu_ctrl_write(MxgpuDevice *dev, const MxgpuAccess *a,
                          uint32_t value)
{
    if (MXGPU_GET(MXGPU_MCU_CTRL_STOP, value)) {
        dev->mcu.start = false;
        dev->mcu.stop = true;
    } else if (MXGPU_GET(MXGPU_MCU_CTRL_START, value) &&
               state_of(dev) != MXGPU_MCU_RUNNING && !dev->mcu.stop) {
        /* The verdict on the last image must not be taken for this one's. */
        *mxgpu_reg(dev, MXGPU_MCU_STATUS) = MXGPU_MCU_RESET;
        dev->mcu.start = true;
    } else {
        return;
    }
    mxgpu_wake(dev, MXGPU_STEPPER_MCU);
}

static uint32_t *sram_word(MxgpuDevice *dev, bool advance)
{
    uint32_t *addr = mxgpu_reg(dev, MXGPU_MCU_SRAM_ADDR);
    uint32_t *word = (uint32_t *)(dev->mcu.sram + *addr);

    if (advance) {
        *addr = (*addr + 4) & (MXGPU_MCU_SRAM_SIZE - 4);
    }
    return word;
}

uint32_t mxgpu_sram_data_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return __atomic_load_n(sram_word(dev, !a->peek), __ATOMIC_RELAXED);
}

void mxgpu_sram_data_write(MxgpuDevice *dev, const MxgpuAccess *a,
                           uint32_t value)
{
    if (state_of(dev) == MXGPU_MCU_RUNNING || dev->mcu.start ||
        dev->mcu.stop) {
        mxgpu_err_set(dev, 1u << MXGPU_ERR_STATUS_BAD_ACCESS_SHIFT, a->offset,
                      0);
        return;
    }
    *sram_word(dev, true) = value;
}

/* ---- the bus --------------------------------------------------------------- */

/*
 * After each access. What firmware starts is work of the step that it runs in:
 * it is charged in instructions, and a step that somebody waits for ends here.
 */
void mxgpu_mcu_bus_accessed(MxgpuDevice *dev)
{
    if (atomic_load_explicit(&dev->steppers[MXGPU_STEPPER_MCU].held,
                             memory_order_relaxed)) {
        mxgpu_mcu_charge(dev->mcu.mcu, UINT_MAX);
    }
}

static void update_external(MxgpuDevice *dev)
{
    dev->mcu.external =
        mxgpu_int_pending(dev) & *mxgpu_reg(dev, MXGPU_INT_ENABLE);
    mxgpu_mcu_set_lines(dev->mcu.mcu, dev->mcu.timer, dev->mcu.external);
}

static void update_timer(MxgpuDevice *dev, uint64_t now)
{
    dev->mcu.timer = now - dev->mcu.start_time >=
                     mxgpu_reg64(dev, MXGPU_MTIMECMP_LO);
}

uint64_t mxgpu_mtime_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return a->now - dev->mcu.start_time;
}

uint64_t mxgpu_instret_read(MxgpuDevice *dev, const MxgpuAccess *a)
{
    return atomic_load(&dev->mcu.instret);
}

void mxgpu_mtimecmp_write(MxgpuDevice *dev, const MxgpuAccess *a,
                          uint32_t value)
{
    *mxgpu_reg(dev, a->offset) = value;
    update_timer(dev, a->now);
}

void mxgpu_mcu_bus_written(MxgpuDevice *dev, uint32_t offset)
{
    mxgpu_mcu_watch_write(dev, offset);
    /* Registers of the memory port, which are written most often, cannot
     * change an interrupt line: they need no look at all sources. */
    if (offset < MXGPU_MEM_ADDR_LO || offset >= MXGPU_CE_SRC_LO) {
        update_external(dev);
    }
    mxgpu_mcu_bus_accessed(dev);
}

/* ---- steps ----------------------------------------------------------------- */

static void boot(MxgpuDevice *dev)
{
    enum mxgpu_boot_error error;
    uint32_t entry = 0;
    uint64_t now = mxgpu_now(dev);

    error = mxgpu_boot_check(dev->mcu.sram, &entry);
    mxgpu_lock(dev);
    dev->mcu.start = false;
    if (error != MXGPU_BOOT_OK) {
        set_state(dev, MXGPU_MCU_BOOT_ERROR, error, error);
        mxgpu_unlock(dev);
        return;
    }
    /* The local block and the doorbells start as after a reset. */
    mxgpu_set_reg64(dev, MXGPU_MTIMECMP_LO, UINT64_MAX);
    *mxgpu_reg(dev, MXGPU_INT_ENABLE) = 0;
    for (uint32_t reg = MXGPU_MCU_FW_VERSION; reg <= MXGPU_MCU_TRAP_VALUE;
         reg += 4) {
        *mxgpu_reg(dev, reg) = 0;
    }
    mxgpu_db_reset(dev);
    dev->mcu.start_time = now;
    dev->mcu.timer = dev->mcu.panic = false;
    dev->mcu.line_len = 0;
    atomic_store(&dev->mcu.instret, 0);
    mxgpu_mcu_reset(dev->mcu.mcu, entry);
    mxgpu_mcu_watch_start(dev, entry, now);
    set_state(dev, MXGPU_MCU_RUNNING, MXGPU_BOOT_OK, 0);
    mxgpu_unlock(dev);
    mxgpu_mcu_debug_started(dev);
}

static void crash(MxgpuDevice *dev, bool lockup)
{
    uint32_t cause, pc;

    console_flush(dev);
    mxgpu_lock(dev);
    if (lockup) {
        mxgpu_mcu_lockup(dev->mcu.mcu, mxgpu_reg(dev, MXGPU_MCU_TRAP_CAUSE),
                         mxgpu_reg(dev, MXGPU_MCU_TRAP_PC),
                         mxgpu_reg(dev, MXGPU_MCU_TRAP_VALUE));
    }
    mxgpu_mcu_watch_crash(dev);
    cause = *mxgpu_reg(dev, MXGPU_MCU_TRAP_CAUSE);
    pc = *mxgpu_reg(dev, MXGPU_MCU_TRAP_PC);
    set_state(dev, MXGPU_MCU_CRASHED, MXGPU_BOOT_OK, cause);
    mxgpu_err_set(dev, 1u << MXGPU_ERR_STATUS_MCU_CRASH_SHIFT, cause, pc);
    mxgpu_out_error(dev);
    mxgpu_unlock(dev);
    mxgpu_mcu_debug_crashed(dev, lockup);
}

/* Does what MCU_CTRL asked for; returns whether the MCU runs then. */
static bool take_commands(MxgpuDevice *dev)
{
    bool start, stop, running;

    mxgpu_lock(dev);
    start = dev->mcu.start;
    stop = dev->mcu.stop;
    mxgpu_unlock(dev);
    if (stop) {
        console_flush(dev);
        mxgpu_lock(dev);
        dev->mcu.stop = false;
        set_state(dev, MXGPU_MCU_RESET, MXGPU_BOOT_OK, 0);
        mxgpu_unlock(dev);
    } else if (start) {
        boot(dev);
    }
    mxgpu_lock(dev);
    running = state_of(dev) == MXGPU_MCU_RUNNING;
    mxgpu_unlock(dev);
    return running;
}

/* The MCU waits for an interrupt: until when, or not at all. */
static bool sleep_until(MxgpuDevice *dev, uint64_t *deadline)
{
    bool timer = dev->mcu.timer, external = dev->mcu.external;
    uint64_t cmp = mxgpu_reg64(dev, MXGPU_MTIMECMP_LO);

    update_timer(dev, mxgpu_now(dev));
    update_external(dev);
    if (dev->mcu.timer != timer || dev->mcu.external != external) {
        return true;
    }
    if (!timer && cmp < UINT64_MAX - dev->mcu.start_time) {
        cmp += dev->mcu.start_time;
        *deadline = cmp < *deadline ? cmp : *deadline;
    }
    return false;
}

bool mxgpu_mcu_step(void *opaque, unsigned index, unsigned budget,
                    uint64_t *deadline)
{
    MxgpuDevice *dev = opaque;
    MxgpuMcuStop stop;

    if (!take_commands(dev) || mxgpu_mcu_debug_holds(dev)) {
        return false;
    }
    update_timer(dev, mxgpu_now(dev));
    update_external(dev);
    stop = mxgpu_mcu_run(dev->mcu.mcu, budget);
    atomic_store(&dev->mcu.instret, mxgpu_mcu_state(dev->mcu.mcu)->instret);
    mxgpu_mcu_watch(dev, stop == MXGPU_MCU_STOP_WFI, deadline);
    switch (stop) {
    case MXGPU_MCU_STOP_BUDGET:
        return true;
    case MXGPU_MCU_STOP_WFI:
        return sleep_until(dev, deadline);
    case MXGPU_MCU_STOP_DEBUG:
        mxgpu_mcu_debug_stopped(dev);
        return false;
    case MXGPU_MCU_STOP_LOCKUP:
        crash(dev, true);
        return false;
    default:
        crash(dev, !dev->mcu.panic);
        return false;
    }
}

/* ---- life ------------------------------------------------------------------- */

bool mxgpu_mcu_driver_init(MxgpuDevice *dev, const MxgpuMcuOps *ops)
{
    dev->mcu.sram = calloc(1, MXGPU_MCU_SRAM_SIZE);
    if (!dev->mcu.sram) {
        return false;
    }
    dev->mcu.mcu =
        mxgpu_mcu_new(dev->mcu.sram, MXGPU_MCU_SRAM_SIZE, ops, dev);
    mxgpu_mmu_client_add(dev->mmu, &dev->memport.client);
    return dev->mcu.mcu != NULL;
}

void mxgpu_mcu_driver_free(MxgpuDevice *dev)
{
    if (dev->memport.client.mmu) {
        mxgpu_mmu_client_remove(&dev->memport.client);
    }
    if (dev->mcu.mcu) {
        mxgpu_mcu_free(dev->mcu.mcu);
    }
    free(dev->mcu.sram);
}

void mxgpu_mcu_driver_reset(MxgpuDevice *dev)
{
    MxgpuMcuDriver *m = &dev->mcu;

    m->start = m->stop = m->panic = false;
    m->timer = m->external = false;
    m->line_len = 0;
    atomic_store(&m->instret, 0);
    mxgpu_mcu_watch_start(dev, 0, 0);
    memset(m->sram, 0, MXGPU_MCU_SRAM_SIZE);
    mxgpu_mcu_reset(m->mcu, MXGPU_MCU_SRAM_BASE);
    mxgpu_mcu_debug_reset(dev);
}
