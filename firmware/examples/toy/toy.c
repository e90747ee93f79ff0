/* SPDX-License-Identifier: MIT */
/*
 * A firmware in one file: it serves the mailbox as far as a driver needs it, and
 * one queue with the packets NOP and WRITE, one after the other. Of the firmware
 * around it it has only the access to registers, start.S and link.ld. It leaves
 * out more queues, priorities, units, packets that overlap, reserved fields.
 */
#include <stdbool.h>
#include <stddef.h>

#include "bus.h"
#include "mxgpu/msg.h"
#include "mxgpu/packets.h"

#define VERSION   0x000100u /* 0.1.0 */
#define NO_VECTOR UINT32_MAX
#define WORDS     MXGPU_MBOX_CMD_COUNT

extern const char _start[];

__attribute__((section(".header"), used))
const volatile struct mxgpu_fw_header fw_header = {
    .magic = MXGPU_FW_MAGIC,
    .header_size = sizeof(struct mxgpu_fw_header),
    .isa = MXGPU_FW_ISA_RV32IMAC,
    .entry = (uint32_t)_start,
    .version = VERSION,
    .abi = MXGPU_MSG_ABI,
    .build = "toy", /* firmware/pack.py writes over it */
};

/* It is there when size is not 0. */
static struct {
    uint32_t id, vmid, vector, size;
    uint64_t ring, ctl;
    uint64_t read_index, write_index;
    bool stopped;
} queue;

static void log_line(const char *text)
{
    while (*text) {
        reg_write(MXGPU_CONSOLE, (uint8_t)*text++);
    }
    reg_write(MXGPU_CONSOLE, '\n');
}

static uint32_t mem_access(enum mxgpu_mem_op op, uint64_t addr, uint32_t size)
{
    reg_write64(MXGPU_MEM_ADDR_LO, addr);
    reg_write(MXGPU_MEM_CMD, MXGPU_SET(MXGPU_MEM_CMD_OP, op) |
                                 MXGPU_SET(MXGPU_MEM_CMD_VMID, queue.vmid) |
                                 MXGPU_SET(MXGPU_MEM_CMD_SIZE, size));
    return reg_read(MXGPU_MEM_STATUS); /* enum mxgpu_fault */
}

static uint32_t mem_read(uint64_t addr, void *to, uint32_t size)
{
    uint32_t fault = mem_access(MXGPU_MEM_READ, addr, size);
    uint32_t *words = to;

    for (uint32_t i = 0; !fault && i < size / 4; i++) {
        words[i] = reg_read(MXGPU_MEM_BUF + i * 4);
    }
    return fault;
}

static uint32_t mem_write(uint64_t addr, const void *from, uint32_t size)
{
    const uint32_t *words = from;

    for (uint32_t i = 0; i < size / 4; i++) {
        reg_write(MXGPU_MEM_BUF + i * 4, words[i]);
    }
    return mem_access(MXGPU_MEM_WRITE, addr, size);
}

static void raise_vector(void)
{
    if (queue.vector != NO_VECTOR) {
        reg_write(MXGPU_MSIX_RAISE, queue.vector);
    }
}

/* Says why in the control block, the state last; no later packet starts. */
static void stop(uint32_t code, uint32_t fault, uint64_t addr)
{
    struct mxgpu_queue_error error = {
        .code = code, .fault = fault, .fault_addr = addr,
        .packet_index = queue.read_index ? queue.read_index - 1 : 0,
    };
    const uint32_t state = MXGPU_QUEUE_ERROR;

    queue.stopped = true;
    log_line("toy: the queue stopped");
    mem_write(queue.ctl + offsetof(struct mxgpu_queue_ctl, error), &error,
              sizeof(error));
    mem_write(queue.ctl + offsetof(struct mxgpu_queue_ctl, state), &state,
              sizeof(state));
    raise_vector();
}

static uint32_t run_write(const struct mxgpu_packet_write *p)
{
    if ((p->size != 4 && p->size != 8) || p->addr & (p->size - 1)) {
        stop(MXGPU_QERR_PACKET, 0, 0);
        return 0;
    }
#ifdef TOY_HANG
    /* A defect on purpose, which firmware/README.md finds. */
    while (!queue.stopped) {
        __asm__ volatile("" : : : "memory");
    }
#endif
    return mem_write(p->addr, &p->value, p->size);
}

static void run_packet(const union mxgpu_packet *p)
{
    uint64_t signal = p->write.signal_addr; /* as of every type */
    uint32_t fault = 0;

    if (p->header.flags & ~MXGPU_PKT_FLAGS) {
        stop(MXGPU_QERR_PACKET, 0, 0);
    } else if (p->header.type == MXGPU_PKT_WRITE) {
        fault = run_write(&p->write);
        if (fault) {
            stop(MXGPU_QERR_FAULT, fault, p->write.addr);
        }
    } else if (p->header.type != MXGPU_PKT_NOP) {
        stop(MXGPU_QERR_PACKET, 0, 0);
    }
    if (!queue.stopped && signal &&
        mem_write(signal, &p->write.signal_value, 8)) {
        stop(MXGPU_QERR_SIGNAL, 0, signal);
    }
    if (!queue.stopped && p->header.flags & MXGPU_PKT_IRQ) {
        raise_vector();
    }
}

static void serve(void)
{
    union mxgpu_packet packet;
    uint32_t fault;
    uint64_t at;

    while (!queue.stopped && queue.read_index != queue.write_index) {
        at = queue.ring + (queue.read_index & (queue.size - 1)) *
                              MXGPU_PACKET_SIZE;
        fault = mem_read(at, &packet, sizeof(packet));
        if (!fault) {
            queue.read_index++;
            fault = mem_write(queue.ctl, &queue.read_index, 8);
        }
        if (fault) {
            stop(MXGPU_QERR_FETCH, fault, at);
        } else {
            run_packet(&packet);
        }
    }
}

static void doorbell(void)
{
    uint32_t id = reg_read(MXGPU_DB_NEXT); /* clears what is pending */
    uint64_t value;

    if (!queue.size || queue.stopped || id != queue.id) {
        return;
    }
    value = reg_read64(MXGPU_DB_VALUE_LO + id * MXGPU_DB_VALUE_LO_STRIDE);
    if (value < queue.write_index || value > queue.read_index + queue.size) {
        stop(MXGPU_QERR_INDEX, 0, value);
    } else {
        queue.write_index = value;
    }
}

static uint32_t create(const struct mxgpu_msg_queue_create *msg)
{
    static const struct mxgpu_queue_ctl zero;
    uint32_t queues = MXGPU_GET(MXGPU_QUEUE_CAPS_QUEUES,
                                reg_read(MXGPU_QUEUE_CAPS));

    if (queue.size) {
        return MXGPU_MSG_BUSY;
    }
    if (msg->queue >= queues || msg->vmid >= MXGPU_NUM_VMIDS ||
        msg->log2_packets < 2 || msg->log2_packets > 16) {
        return MXGPU_MSG_BAD_ARGUMENT;
    }
    queue.id = msg->queue;
    queue.vmid = msg->vmid;
    queue.vector = msg->vector;
    queue.ring = msg->ring_lo | (uint64_t)msg->ring_hi << 32;
    queue.ctl = msg->ctl_lo | (uint64_t)msg->ctl_hi << 32;
    queue.read_index = queue.write_index = 0;
    queue.stopped = false;
    if (mem_write(queue.ctl, &zero, sizeof(zero))) {
        return MXGPU_MSG_FAULT;
    }
    queue.size = 1u << msg->log2_packets;
    reg_write(MXGPU_DB_ENABLE + queue.id / 32 * 4, 1u << queue.id % 32);
    return MXGPU_MSG_OK;
}

static uint32_t destroy(uint32_t id)
{
    if (!queue.size || id != queue.id) {
        return MXGPU_MSG_NOT_FOUND;
    }
    reg_write(MXGPU_DB_ENABLE + id / 32 * 4, 0); /* drops what is pending */
    queue.size = 0;
    return MXGPU_MSG_OK;
}

/* Drops what the units remember of a VMID, and waits for that. */
static uint32_t invalidate(uint32_t vmid)
{
    reg_write(MXGPU_MMU_INV_CMD, vmid);
    while (reg_read(MXGPU_MMU_INV_STATUS)) {
    }
    return MXGPU_MSG_OK;
}

static uint32_t answer(const uint32_t *in, uint32_t *out)
{
    switch (in[0]) {
    case MXGPU_MSG_HELLO:
        out[1] = MXGPU_MSG_ABI;
        out[2] = VERSION;
        out[3] = out[4] = 1; /* one queue, one priority */
        out[5] = 1u << MXGPU_PKT_NOP | 1u << MXGPU_PKT_WRITE;
        return in[1] == MXGPU_MSG_ABI ? MXGPU_MSG_OK : MXGPU_MSG_BAD_ABI;
    case MXGPU_MSG_VM_SET:
        if (in[1] >= MXGPU_NUM_VMIDS) {
            return MXGPU_MSG_BAD_ARGUMENT;
        }
        reg_write64(MXGPU_MMU_ROOT_LO + in[1] * MXGPU_MMU_ROOT_LO_STRIDE,
                    in[2] | (uint64_t)in[3] << 32);
        return invalidate(in[1]);
    case MXGPU_MSG_TLB_INVALIDATE:
        return invalidate(in[1]);
    case MXGPU_MSG_QUEUE_CREATE:
        return create((const struct mxgpu_msg_queue_create *)in);
    case MXGPU_MSG_QUEUE_DESTROY:
        return destroy(in[1]);
    default:
        return MXGPU_MSG_UNKNOWN_OP;
    }
}

static void mailbox(void)
{
    uint32_t in[WORDS], out[WORDS] = {0};

    for (unsigned i = 0; i < WORDS; i++) {
        in[i] = reg_read(MXGPU_MBOX_CMD + i * 4);
    }
    out[0] = answer(in, out);
    for (unsigned i = 0; i < WORDS; i++) {
        reg_write(MXGPU_MBOX_RESP + i * 4, out[i]);
    }
    reg_write(MXGPU_MBOX_ACK, reg_read(MXGPU_MBOX_REQ));
}

_Noreturn void fw_trap(uint32_t cause, uint32_t pc, uint32_t value)
{
    reg_write(MXGPU_MCU_TRAP_CAUSE, cause);
    reg_write(MXGPU_MCU_TRAP_PC, pc);
    reg_write(MXGPU_MCU_TRAP_VALUE, value);
    bus_stop();
}

_Noreturn void fw_main(void)
{
    const uint32_t mbox = MXGPU_SET(MXGPU_INT_PENDING_MBOX, 1);
    const uint32_t doorbells = MXGPU_SET(MXGPU_INT_PENDING_DOORBELL, 1);

    reg_write(MXGPU_MCU_FW_VERSION, VERSION);
    reg_write(MXGPU_MCU_FW_ABI, MXGPU_MSG_ABI);
    reg_write(MXGPU_INT_ENABLE, mbox | doorbells);
    bus_interrupts_init();
    log_line("toy: ready");
    reg_write(MXGPU_FW_READY, 1);
    for (;;) {
        uint32_t pending = reg_read(MXGPU_INT_PENDING);

        if (pending & mbox) {
            mailbox();
        } else if (pending & doorbells) {
            doorbell();
            serve();
        } else {
            bus_wait();
        }
    }
}
