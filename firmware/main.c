/* SPDX-License-Identifier: MIT */
/*
 * Start and main loop of the command processor.
 *
 * The loop looks at the pending interrupt sources, does what they ask for,
 * serves one queue, and starts over; when nothing is left it waits in wfi.
 * Interrupts are enabled in mie but masked in mstatus: they end wfi without a
 * trap, which costs nothing on the way from a doorbell to a dispatch, needs no
 * locking, and cannot lose a wake-up, as every source is a level: a last look at
 * them before wfi would find what ends wfi anyway.
 */
#include "fw.h"

FwState fw;

const uint8_t fw_bit_table[32] = {
    0,  1,  28, 2,  29, 14, 24, 3, 30, 22, 20, 15, 25, 17, 4,  8,
    31, 27, 13, 23, 21, 19, 16, 7, 26, 12, 18, 6,  11, 5,  10, 9,
};

#define INT_MBOX     FW_BIT(MXGPU_INT_PENDING_MBOX)
#define INT_DOORBELL FW_BIT(MXGPU_INT_PENDING_DOORBELL)
#define INT_COPY     FW_BIT(MXGPU_INT_PENDING_COPY)
#define INT_DISPATCH FW_BIT(MXGPU_INT_PENDING_DISPATCH)

static void read_limits(void)
{
    uint32_t queues = reg_read(MXGPU_QUEUE_CAPS);
    uint32_t caps = reg_read(MXGPU_CU_CAPS);
    uint32_t caps2 = reg_read(MXGPU_CU_CAPS2);

    fw.num_queues = MXGPU_GET(MXGPU_QUEUE_CAPS_QUEUES, queues);
    if (fw.num_queues > MXGPU_MAX_QUEUES) {
        fw.num_queues = MXGPU_MAX_QUEUES;
    }
    fw.num_vectors = MXGPU_GET(MXGPU_QUEUE_CAPS_VECTORS, queues);
    fw.block_threads = MXGPU_GET(MXGPU_CU_CAPS_BLOCK_THREADS, caps);
    fw.cu_shared = MXGPU_GET(MXGPU_CU_CAPS2_SHARED_KIB, caps2) * 1024;
    fw.cu_registers = reg_read(MXGPU_CU_REGS);
    fw.compute_units = MXGPU_GET(MXGPU_UNIT_CAPS_COMPUTE_UNITS,
                                 reg_read(MXGPU_UNIT_CAPS));
    fw.watchdog = reg_read(MXGPU_WATCHDOG_MS) * FW_MS;
}

void fw_init(void)
{
    log_init();
    fw.alarm = FW_NEVER;
    reg_write64(MXGPU_MTIMECMP_LO, FW_NEVER);
    reg_write(MXGPU_MCU_FW_VERSION, FW_VERSION);
    reg_write(MXGPU_MCU_FW_ABI, MXGPU_MSG_ABI);
    read_limits();

    /* An earlier firmware may have left anything behind. */
    for (unsigned vmid = 0; vmid < MXGPU_NUM_VMIDS; vmid++) {
        reg_write64(MXGPU_MMU_ROOT_LO + vmid * MXGPU_MMU_ROOT_LO_STRIDE, 0);
    }
    sched_init();
    queue_init();
    unit_init();
    slice_init();
    context_init();
    front_init();
    tlb_init();
    mailbox_init();

    fw.int_enable = INT_MBOX | INT_DOORBELL | INT_COPY | INT_DISPATCH;
    reg_write(MXGPU_INT_ENABLE, fw.int_enable);
    bus_interrupts_init();
    fw_log(FW_LOG_INFO, "firmware %u.%u.%u: %u queues, %u copy engines",
           FW_VERSION_MAJOR, FW_VERSION_MINOR, FW_VERSION_PATCH, fw.num_queues,
           (unsigned)MXGPU_GET(MXGPU_UNIT_CAPS_COPY_ENGINES,
                               reg_read(MXGPU_UNIT_CAPS)));
    reg_write(MXGPU_FW_READY, 1);
}

#ifdef FW_RACE
/*
 * A defect on purpose, which hw-mxgpu/docs/replay.md finds: while a kernel runs
 * doorbells do not interrupt, and when it has ended their causes are cleared. One
 * that was rung meanwhile is forgotten.
 */
static void hush_doorbells(void)
{
    bool busy = fw.units[FW_UNIT_SLOT].busy != 0;
    bool hushed = !(fw.int_enable & INT_DOORBELL);

    if (busy == hushed) {
        return;
    }
    for (unsigned i = 0; !busy && i < MXGPU_DB_PENDING_COUNT; i++) {
        reg_write(MXGPU_DB_PENDING + i * 4, 0xffffffff);
    }
    fw.int_enable ^= INT_DOORBELL;
    reg_write(MXGPU_INT_ENABLE, fw.int_enable);
}
#else
static inline void hush_doorbells(void)
{
}
#endif

bool fw_step(void)
{
    uint32_t state = reg_read(MXGPU_INT_PENDING);
    uint32_t pending = state & fw.int_enable;
    bool work = pending != 0;

    if (unlikely(fw.trace != MXGPU_GET(MXGPU_INT_PENDING_TRACE, state))) {
        fw.trace = !fw.trace;
        front_consider();
    }
    if (pending & INT_DOORBELL) {
        queue_doorbells(pending == INT_DOORBELL);
    }
    if (pending & INT_DISPATCH) {
        if (fw.front_end) {
            front_collect(MXGPU_GET(MXGPU_INT_PENDING_SLOTS, state),
                          pending == INT_DISPATCH);
        } else {
            unit_collect(FW_UNIT_SLOT);
        }
    }
    if (pending & INT_COPY) {
        unit_collect(FW_UNIT_COPY);
    }
    if (pending & INT_MBOX) {
        mailbox_receive();
    }
    work |= sched_step();
    hush_doorbells();

    /* The clock costs bus accesses: look at it when there is nothing else to
     * do, and now and then while there is. */
    fw.ticks++;
    if ((!work || !(fw.ticks & 15)) && time_needed()) {
        time_poll();
    }
    return sched_more();
}

void fw_sleep(void)
{
    time_arm();
    bus_wait();
}

_Noreturn void fw_main(void)
{
    fw_init();
    for (;;) {
        if (!fw_step()) {
            fw_sleep();
        }
    }
}
