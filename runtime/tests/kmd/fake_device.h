/* SPDX-License-Identifier: MIT */
/*
 * A device at register level for tests of the driver layer: it records what is
 * loaded into its SRAM, answers mailbox requests, and walks page tables with a
 * walker of its own. Each step can be made to fail.
 */
#ifndef KMD_TESTS_FAKE_DEVICE_H
#define KMD_TESTS_FAKE_DEVICE_H

#include "kmd/priv.h"

#define FAKE_VECTORS 5
#define FAKE_QUEUES  6
#define FAKE_MAPS    512

typedef struct FakeQueue {
    bool active;
    struct mxgpu_msg_queue_create create;
    uint64_t doorbell;
} FakeQueue;

typedef struct FakeMap {
    uint64_t iova, size;
    uint8_t *ptr;
} FakeMap;

typedef struct Fake {
    KmdTransport base; /* first */
    pthread_mutex_t lock;
    uint8_t *vram;
    uint64_t vram_size;
    uint8_t *sram;
    uint32_t sram_at;
    unsigned sram_writes, resets, function_resets, starts;
    uint32_t mcu_status, irq_status, irq_enable, err_status;
    uint32_t cmd[16], resp[16], ack;
    uint32_t held_seq;      /* a request that answers_sleepers holds, or 0 */
    uint32_t shown_ack;     /* before late_looks have passed */
    unsigned looks;         /* reads of MBOX_ACK since the request */
    unsigned causes_raised; /* interrupts of causes of vector 0 */
    char build[32]; /* what HELLO answers */
    int fds[FAKE_VECTORS];
    uint64_t root;
    uint64_t clock;
    uint64_t unit_pc[8]; /* CU_PC */
    FakeQueue queues[FAKE_QUEUES];
    FakeMap maps[FAKE_MAPS];
    uint64_t next_iova;
    unsigned invalidations;
    uint64_t inv_addr, inv_size;
    bool closed;

    /* failures */
    uint32_t id, version;
    bool dead;              /* reads give all ones */
    bool reset_stuck;       /* until the function is reset, if that helps */
    bool function_reset_helps;
    uint32_t boot_state;    /* state after START */
    uint32_t boot_error;
    bool never_ready;
    uint32_t fw_abi;
    unsigned silent_op;     /* gets no answer */
    unsigned late_looks;    /* reads of MBOX_ACK until it shows an answer */
    bool answers_sleepers;  /* answers when the mailbox's cause is enabled */
    unsigned crash_op;      /* crashes the firmware */
    unsigned refuse_op;     /* answered with refuse_status */
    uint32_t refuse_status;
    bool no_interrupts;
    int dma_error;
} Fake;

typedef struct FakeTranslation {
    bool valid, system, malformed;
    uint64_t addr;      /* of the byte */
    uint64_t perms;
    uint64_t page_size;
} FakeTranslation;

/* A healthy one. The transport's close() only notes that it happened. */
Fake *fake_new(uint64_t vram_size);
void fake_free(Fake *fake);
void fake_raise(Fake *fake, unsigned vector);
/* Sets causes of vector 0. */
void fake_cause(Fake *fake, uint32_t bits);
FakeTranslation fake_walk(Fake *fake, uint64_t va);
/* The memory behind a device address, or NULL. */
void *fake_memory(Fake *fake, uint64_t va);
unsigned fake_pinned(Fake *fake);
/* Tables reachable from the root. */
unsigned fake_tables(Fake *fake);

/* Writes a good image; its path is static. */
const char *fake_firmware_file(void);
/* The header of an image whose code is there already; and all of one. */
void fake_firmware_header(uint8_t *image, size_t size);
void fake_firmware_image(uint8_t *image, size_t size);

#endif
