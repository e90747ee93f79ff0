/* SPDX-License-Identifier: MIT */
/*
 * A back end of two devices on host memory: one thread a queue executes its
 * packets, addresses are translated and checked. It makes every error that a
 * device can make, on request.
 */
#ifndef MC_TESTS_FAKE_H
#define MC_TESTS_FAKE_H

#include "kmd/kmd.h"
#include "mxgpu/regs.h"

typedef struct FakeControl {
    int select_error, count_error, open_error; /* -errno, 0: none */
    unsigned count;   /* devices; default 2 */
    unsigned queues;  /* of a device; default 16 */
    uint64_t vram;    /* bytes of a device */
    unsigned delay_us; /* before each packet */
    int fail_pin, fail_alloc, fail_map; /* the nth call from now fails */
    unsigned copies; /* counts packets that copy engines execute */
    unsigned small_maps; /* counts maps of VRAM that need small pages */
    unsigned rings, sleeps, looks; /* counts doorbells, waits for interrupts,
                                      and who asks whether a device is there */
    bool lost;        /* every device */
    bool reset;       /* every device, by somebody else: it stands still and
                         only who looks finds out */
    bool fail_queues; /* queue_create fails */
    bool no_peers;    /* devices do not reach each other */
    bool no_files;    /* VRAM cannot be shared with other processes */
} FakeControl;

extern FakeControl fake;

/* Fails the next packet any queue executes. */
void fake_inject(enum mxgpu_queue_error_code code, enum mxgpu_fault fault,
                 enum mxgpu_access access, uint64_t addr);

/* Open devices, bytes and mappings that exist: to find leaks. */
unsigned fake_open_devices(void);

/* Kernels: false leaves *error set. */
typedef struct FakeDevice FakeDevice;
void *fake_translate(FakeDevice *dev, uint64_t va, uint64_t size,
                     uint64_t perms, struct mxgpu_queue_error *error);
bool fake_kernel(FakeDevice *dev, const struct mxgpu_packet_dispatch *packet,
                 const char *name, volatile bool *stop,
                 struct mxgpu_queue_error *error);

#endif
