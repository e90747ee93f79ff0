/* SPDX-License-Identifier: GPL-2.0-only */
/* What the programs of this folder share: a client of the driver, and TAP. */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdint.h>

#include "mxgpu/packets.h"
#include "mxgpu/pte.h"
#include "uapi/mxgpu_drm.h"

#define PAGE 4096u
#define SIZE (4u << 20)
#define VA_SYSTEM 0x200000000ull
#define VA_VRAM 0x300000000ull
#define RW (MXGPU_PTE_READ | MXGPU_PTE_WRITE)

/* System memory: data there and back, then ring, control block, signal. */
#define AT_BACK SIZE
#define AT_RING (2 * SIZE)
#define AT_CTL (AT_RING + PAGE)
#define AT_SIGNAL (AT_CTL + PAGE)
#define SYSTEM_SIZE (AT_SIGNAL + PAGE)

struct client {
	int fd;
	uint8_t *system, *vram;
	uint32_t system_bo, vram_bo, queue;
	volatile uint64_t *doorbell;
	uint64_t doorbell_offset;
	const volatile struct drm_mxgpu_status *status;
};

void ok(int good, const char *what);
/* Prints the plan; what main() returns. */
int done(void);
/* Says why, and ends the program. */
void bail(const char *what);

/* An ioctl: 0 or -errno. */
int call(int fd, unsigned long request, void *args);
/* A memory object, mapped to us; NULL with errno set. */
uint8_t *create(int fd, uint32_t place, uint64_t size, uint32_t *handle);
/* The whole object at an address of the device. */
int map(int fd, uint32_t handle, uint64_t va, uint64_t size);
/* Opens the device, and gets memory and a queue; each step is a test. */
void start(struct client *c, const char *path);
/* A copy of SIZE bytes to VRAM and back, then its end and what it did. */
void submit(struct client *c, uint8_t seed);
void finish(struct client *c, uint8_t seed);

#endif
