/* SPDX-License-Identifier: MIT */
/*
 * usage: driver DEVICE FIRMWARE KERNEL
 *
 * A whole driver: boots the firmware, makes an address space and a queue, has
 * the device copy memory, and runs a kernel made by hand (kernel.S). DEVICE is
 * what gpu_open() takes. The limits of time are those of docs/overview.md.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gpu.h"
#include "mxgpu/msg.h"
#include "mxgpu/packets.h"
#include "mxgpu/pte.h"
#include "mxgpu/regs.h"

/* The address space of VMID 1, and what is where. */
#define VRAM_VA 0x400000000ull /* 2 MiB of VRAM; the kernel is linked here */
#define SYS_VA  0x100000000ull /* the memory of this process */
#define TABLES  0x400000u      /* page tables, in VRAM behind them */
#define RING    0u             /* in the memory of this process */
#define CTL     0x1000u
#define SIGNAL  0x2000u
#define ARGS    0x3000u
#define DATA    0x4000u
#define BYTES   0x10000u
#define THREADS 256u

#define LEAF (MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_WRITE)

static uint32_t sequence;
static uint64_t write_index, next_table = TABLES;

void die(const char *what)
{
    fprintf(stderr, "driver: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void fail(const char *what)
{
    fprintf(stderr, "driver: %s\n", what);
    exit(1);
}

static void wait_for(Gpu *gpu, uint32_t reg, uint32_t mask, uint32_t value,
                     unsigned seconds)
{
    const struct timespec pause = {.tv_nsec = 100000};

    for (unsigned i = 0; (gpu->read(gpu, reg) & mask) != value; i++) {
        if (i > seconds * 10000) {
            fprintf(stderr, "register %#x is %#x\n", reg, gpu->read(gpu, reg));
            fail("no answer in time");
        }
        nanosleep(&pause, NULL);
    }
}

static uint32_t *read_file(const char *path, size_t *words)
{
    FILE *f = fopen(path, "rb");
    uint32_t *data = calloc(1, MXGPU_MCU_SRAM_SIZE);

    if (!f || !data) {
        die(path);
    }
    *words = (fread(data, 1, MXGPU_MCU_SRAM_SIZE, f) + 3) / 4;
    fclose(f);
    return data;
}

/* A request of the mailbox; the answer's words come back in place of it. */
static void message(Gpu *gpu, uint32_t words[16])
{
    for (unsigned i = 0; i < 16; i++) {
        gpu->write(gpu, MXGPU_MBOX_CMD + 4 * i, words[i]);
    }
    gpu->write(gpu, MXGPU_MBOX_REQ, ++sequence);
    wait_for(gpu, MXGPU_MBOX_ACK, UINT32_MAX, sequence, 15);
    for (unsigned i = 0; i < 16; i++) {
        words[i] = gpu->read(gpu, MXGPU_MBOX_RESP + 4 * i);
    }
    if (words[0] != MXGPU_MSG_OK) {
        fail("the firmware refused a message");
    }
}

static void boot(Gpu *gpu, const char *path)
{
    const uint32_t ready = MXGPU_MCU_RUNNING |
                           MXGPU_SET(MXGPU_MCU_STATUS_READY, 1);
    uint32_t hello[16] = {MXGPU_MSG_HELLO, MXGPU_MSG_ABI};
    size_t words;
    uint32_t *image = read_file(path, &words);

    if (gpu->read(gpu, MXGPU_ID) != MXGPU_ID_MAGIC) {
        fail("this is no mxgpu");
    }
    gpu->write(gpu, MXGPU_RESET, MXGPU_RESET_MAGIC);
    wait_for(gpu, MXGPU_RESET_STATUS, MXGPU_SET(MXGPU_RESET_STATUS_BUSY, 1), 0,
             2);
    gpu->write(gpu, MXGPU_MCU_SRAM_ADDR, 0);
    for (size_t i = 0; i < words; i++) {
        gpu->write(gpu, MXGPU_MCU_SRAM_DATA, image[i]);
    }
    free(image);
    gpu->write(gpu, MXGPU_MCU_CTRL, MXGPU_SET(MXGPU_MCU_CTRL_START, 1));
    wait_for(gpu, MXGPU_MCU_STATUS, ready, ready, 20);
    message(gpu, hello);
    printf("firmware %.32s\n", (const char *)&hello[6]);
}

static uint64_t new_table(Gpu *gpu)
{
    uint64_t table = next_table;

    memset((uint8_t *)gpu->vram + table, 0, 4096);
    next_table += 4096;
    return table | MXGPU_PTE_VALID | MXGPU_PTE_TABLE;
}

/* Level 0: a page of 4 KiB, level 1: of 2 MiB. */
static void map(Gpu *gpu, uint64_t root, uint64_t va, unsigned level,
                uint64_t leaf)
{
    uint64_t table = root;

    for (unsigned l = MXGPU_PT_LEVELS - 1;; l--) {
        volatile uint64_t *pte =
            (volatile uint64_t *)(gpu->vram + (table & MXGPU_PTE_ADDRESS)) +
            MXGPU_PT_INDEX(va, l);

        if (l == level) {
            *pte = leaf;
            return;
        }
        if (!*pte) {
            *pte = new_table(gpu);
        }
        table = *pte;
    }
}

static void make_address_space(Gpu *gpu)
{
    uint64_t root = new_table(gpu);
    uint32_t vm[16] = {MXGPU_MSG_VM_SET, 1, (uint32_t)root,
                       (uint32_t)(root >> 32)};

    map(gpu, root, VRAM_VA, 1, LEAF | MXGPU_PTE_EXECUTE);
    for (uint32_t at = 0; at < SYS_SIZE; at += 4096) {
        map(gpu, root, SYS_VA + at, 0,
            LEAF | MXGPU_PTE_SYSTEM | (SYS_IOVA + at));
    }
    message(gpu, vm);
}

static void make_queue(Gpu *gpu)
{
    union {
        struct mxgpu_msg_queue_create create;
        uint32_t words[16];
    } u = {.create = {
        .op = MXGPU_MSG_QUEUE_CREATE, .queue = 0, .vmid = 1, .priority = 0,
        .ring_lo = (uint32_t)(SYS_VA + RING), .ring_hi = SYS_VA >> 32,
        .log2_packets = 6, .vector = 1,
        .ctl_lo = (uint32_t)(SYS_VA + CTL), .ctl_hi = SYS_VA >> 32,
    }};

    message(gpu, u.words);
}

/* Pushes a packet and sleeps until its interrupt says that it is complete. */
static void run(Gpu *gpu, const union mxgpu_packet *packet)
{
    const struct mxgpu_queue_ctl *ctl = (const void *)(gpu->sys + CTL);
    struct pollfd irq = {.fd = gpu->irq_fd[1], .events = POLLIN};
    uint64_t *signal = (uint64_t *)(gpu->sys + SIGNAL), count;

    memcpy(gpu->sys + RING + write_index++ % 64 * sizeof(*packet), packet,
           sizeof(*packet));
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* the packet, then the doorbell */
    gpu->doorbell(gpu, write_index);
    if (poll(&irq, 1, 60000) != 1 ||
        read(irq.fd, &count, sizeof(count)) != sizeof(count)) {
        fail("no interrupt");
    }
    if (__atomic_load_n(&ctl->state, __ATOMIC_ACQUIRE) != MXGPU_QUEUE_ACTIVE) {
        fprintf(stderr, "error %u, fault %u at %#llx\n", ctl->error.code,
                ctl->error.fault, (unsigned long long)ctl->error.fault_addr);
        fail("the queue stopped");
    }
    if (__atomic_load_n(signal, __ATOMIC_ACQUIRE) != write_index) {
        fail("an interrupt without a signal");
    }
}

static void copy(Gpu *gpu)
{
    union mxgpu_packet packet = {.copy = {
        .type = MXGPU_PKT_COPY, .flags = MXGPU_PKT_IRQ,
        .src = SYS_VA + DATA, .dst = VRAM_VA + 0x100000, .size = BYTES,
        .signal_addr = SYS_VA + SIGNAL, .signal_value = write_index + 1,
    }};

    for (unsigned i = 0; i < BYTES; i++) {
        gpu->sys[DATA + i] = (uint8_t)(i * 7 + i / 256);
    }
    run(gpu, &packet);
    if (memcmp((uint8_t *)gpu->vram + 0x100000, gpu->sys + DATA, BYTES) != 0) {
        fail("copied wrong");
    }
    printf("copied %u bytes to VRAM\n", BYTES);
}

static void dispatch(Gpu *gpu, const char *path)
{
    union mxgpu_packet packet = {.dispatch = {
        .type = MXGPU_PKT_DISPATCH, .flags = MXGPU_PKT_IRQ,
        .kernel = VRAM_VA, .args = SYS_VA + ARGS,
        .grid = {THREADS / 64, 1, 1}, .block = {64, 1, 1},
        .signal_addr = SYS_VA + SIGNAL, .signal_value = write_index + 1,
    }};
    const uint32_t *out = (const uint32_t *)(gpu->sys + DATA);
    size_t words;
    uint32_t *kernel = read_file(path, &words);

    for (size_t i = 0; i < words; i++) {
        ((volatile uint32_t *)gpu->vram)[i] = kernel[i];
    }
    free(kernel);
    memset(gpu->sys + DATA, 0, BYTES);
    *(uint64_t *)(gpu->sys + ARGS) = SYS_VA + DATA;
    run(gpu, &packet);
    for (unsigned i = 0; i < THREADS; i++) {
        if (out[i] != i * i) {
            fail("computed wrong");
        }
    }
    printf("%u threads wrote their squares\n", THREADS);
}

int main(int argc, char **argv)
{
    Gpu gpu;

    if (argc != 4) {
        fail("usage: driver DEVICE FIRMWARE KERNEL");
    }
    gpu_open(&gpu, argv[1]);
    memset(gpu.sys, 0, SYS_SIZE);
    boot(&gpu, argv[2]);
    make_address_space(&gpu);
    make_queue(&gpu);
    copy(&gpu);
    dispatch(&gpu, argv[3]);
    gpu_close(&gpu);
    return 0;
}
