/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usage: smoke /dev/dri/renderD128
 *
 * A client of the driver from nothing but its interface: memory in VRAM and of
 * the system, a queue, a copy there and back, interrupts; each step again from
 * a second file at once; and the errors of each ioctl that are easily provoked.
 * Writes TAP; status 0 when all passed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

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

static unsigned int tests, failures;

static void ok(int good, const char *what)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++tests, what);
	failures += !good;
}

static int call(int fd, unsigned long request, void *args)
{
	return ioctl(fd, request, args) ? -errno : 0;
}

struct client {
	int fd;
	uint8_t *system, *vram;
	uint32_t system_bo, vram_bo, queue;
	volatile uint64_t *doorbell;
	const volatile struct drm_mxgpu_status *status;
};

static uint8_t *create(int fd, uint32_t place, uint64_t size, uint32_t *handle)
{
	struct drm_mxgpu_bo_create c = {.size = size, .place = place};
	void *p;

	if (call(fd, DRM_IOCTL_MXGPU_BO_CREATE, &c))
		return NULL;
	*handle = c.handle;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		 (off_t)c.mmap_offset);
	return p == MAP_FAILED ? NULL : p;
}

static int map(int fd, uint32_t handle, uint64_t va, uint64_t size)
{
	struct drm_mxgpu_vm_map m = {
		.handle = handle, .perms = RW, .va = va, .size = size,
	};

	return call(fd, DRM_IOCTL_MXGPU_VM_MAP, &m);
}

static void start(struct client *c, const char *path)
{
	struct drm_mxgpu_queue_create q = {
		.ring = VA_SYSTEM + AT_RING, .ctl = VA_SYSTEM + AT_CTL,
		.packets = 64,
	};
	void *p;

	c->fd = open(path, O_RDWR | O_CLOEXEC);
	ok(c->fd >= 0, "open");
	c->system = create(c->fd, MXGPU_PLACE_SYSTEM, SYSTEM_SIZE,
			   &c->system_bo);
	c->vram = create(c->fd, MXGPU_PLACE_VRAM, SIZE, &c->vram_bo);
	if (!c->system || !c->vram) {
		printf("Bail out! no memory\n");
		exit(1);
	}
	ok(!map(c->fd, c->system_bo, VA_SYSTEM, SYSTEM_SIZE), "map system");
	ok(!map(c->fd, c->vram_bo, VA_VRAM, SIZE), "map vram");
	ok(map(c->fd, c->vram_bo, VA_VRAM, PAGE) == -EEXIST, "map: EEXIST");
	ok(!call(c->fd, DRM_IOCTL_MXGPU_QUEUE_CREATE, &q), "queue");
	c->queue = q.queue;
	p = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, c->fd,
		 (off_t)q.doorbell_offset);
	ok(p != MAP_FAILED, "doorbell");
	c->doorbell = p;
	p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, c->fd, MXGPU_MMAP_STATUS);
	ok(p != MAP_FAILED, "status page");
	c->status = p;
}

static void submit(struct client *c, uint8_t seed)
{
	union mxgpu_packet *ring = (void *)(c->system + AT_RING);

	for (uint32_t i = 0; i < SIZE; i++)
		c->system[i] = (uint8_t)(i * 7 + (i >> 12) + seed);
	ring[0].copy = (struct mxgpu_packet_copy){
		.type = MXGPU_PKT_COPY, .src = VA_SYSTEM, .dst = VA_VRAM,
		.size = SIZE,
	};
	ring[1].copy = (struct mxgpu_packet_copy){
		.type = MXGPU_PKT_COPY,
		.flags = MXGPU_PKT_BARRIER | MXGPU_PKT_IRQ,
		.src = VA_VRAM, .dst = VA_SYSTEM + AT_BACK, .size = SIZE,
		.signal_addr = VA_SYSTEM + AT_SIGNAL, .signal_value = seed,
	};
	__sync_synchronize();
	*c->doorbell = 2;
}

static void finish(struct client *c, uint8_t seed)
{
	volatile uint64_t *signal = (void *)(c->system + AT_SIGNAL);
	struct drm_mxgpu_queue_wait w = {
		.queue = c->queue, .deadline = INT64_MAX,
	};
	int err = 0;

	while (*signal != seed && !err) {
		err = call(c->fd, DRM_IOCTL_MXGPU_QUEUE_WAIT, &w);
		w.seen = w.count;
	}
	ok(!err, "wait");
	ok(!memcmp(c->system, c->system + AT_BACK, SIZE), "copied back");
	ok(!memcmp(c->system, c->vram, SIZE), "the same in vram");
}

static void errors(struct client *c, struct client *other)
{
	struct drm_mxgpu_queue_destroy d = {.queue = other->queue};
	struct drm_mxgpu_queue_wait w = {.queue = c->queue};
	struct drm_mxgpu_bo_create b = {.size = 1};
	struct drm_mxgpu_vm_unmap u = {.va = 1, .size = PAGE};
	struct drm_mxgpu_bo_userptr p = {.addr = PAGE, .size = PAGE};

	ok(call(c->fd, DRM_IOCTL_MXGPU_QUEUE_DESTROY, &d) == -ENOENT,
	   "somebody else's queue: ENOENT");
	w.seen = c->status->irqs[c->queue];
	ok(w.seen && call(c->fd, DRM_IOCTL_MXGPU_QUEUE_WAIT, &w) == -ETIME,
	   "wait: ETIME");
	ok(call(c->fd, DRM_IOCTL_MXGPU_BO_CREATE, &b) == -EINVAL,
	   "create: EINVAL");
	b.size = 1ull << 46;
	ok(call(c->fd, DRM_IOCTL_MXGPU_BO_CREATE, &b) == -ENOMEM,
	   "create: ENOMEM");
	ok(call(c->fd, DRM_IOCTL_MXGPU_VM_UNMAP, &u) == -EINVAL,
	   "unmap: EINVAL");
	ok(call(c->fd, DRM_IOCTL_MXGPU_BO_USERPTR, &p) == -EFAULT,
	   "userptr: EFAULT");
	ok(map(c->fd, 12345, VA_VRAM * 2, PAGE) == -ENOENT, "map: ENOENT");
	ok(mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, c->fd,
		MXGPU_MMAP_STATUS) == MAP_FAILED, "status is read-only");
}

/* Cut out of the middle: what is around it stays, and can be filled again. */
static void cut(struct client *c)
{
	struct drm_mxgpu_vm_unmap u = {
		.va = VA_VRAM + PAGE, .size = 2 * PAGE,
	};

	ok(!call(c->fd, DRM_IOCTL_MXGPU_VM_UNMAP, &u), "unmap the middle");
	ok(map(c->fd, c->vram_bo, VA_VRAM, PAGE) == -EEXIST, "before it");
	ok(map(c->fd, c->vram_bo, VA_VRAM + 3 * PAGE, PAGE) == -EEXIST,
	   "behind it");
	ok(!map(c->fd, c->vram_bo, VA_VRAM + PAGE, 2 * PAGE), "filled again");
}

/* Two ranges change places with what a copy by the device finds there. */
static void replace(struct client *c)
{
	struct drm_mxgpu_vm_map p[2] = {
		{c->system_bo, 0, RW, VA_VRAM + PAGE, AT_SIGNAL, PAGE},
		{c->vram_bo, 0, RW, VA_VRAM + (2u << 20), 0, 2u << 20},
	};
	struct drm_mxgpu_vm_replace r = {
		.places = (uintptr_t)p, .count = 2,
	};
	volatile uint64_t *signal = (void *)(c->system + AT_SIGNAL);
	union mxgpu_packet *ring = (void *)(c->system + AT_RING);
	struct drm_mxgpu_queue_wait w = {
		.queue = c->queue, .deadline = INT64_MAX,
		.seen = c->status->irqs[c->queue],
	};

	ok(!call(c->fd, DRM_IOCTL_MXGPU_VM_REPLACE, &r), "replace");
	/* The signal goes through the new translation. */
	ring[2].copy = (struct mxgpu_packet_copy){
		.type = MXGPU_PKT_COPY, .flags = MXGPU_PKT_IRQ,
		.src = VA_VRAM + (2u << 20), .dst = VA_SYSTEM + AT_BACK,
		.size = 2u << 20, .signal_addr = VA_VRAM + PAGE,
		.signal_value = 77,
	};
	__sync_synchronize();
	*c->doorbell = 3;
	ok(!call(c->fd, DRM_IOCTL_MXGPU_QUEUE_WAIT, &w) && *signal == 77,
	   "the device uses a new page");
	ok(!memcmp(c->system + AT_BACK, c->vram, 2u << 20),
	   "and a new large page");
	p[1].va = VA_VRAM;
	ok(call(c->fd, DRM_IOCTL_MXGPU_VM_REPLACE, &r) == -EINVAL,
	   "replace: overlapping places");
	p[1].va = VA_VRAM + SIZE;
	ok(call(c->fd, DRM_IOCTL_MXGPU_VM_REPLACE, &r) == -EINVAL,
	   "replace: not mapped");
}

int main(int argc, char **argv)
{
	struct drm_mxgpu_reset r = {0};
	struct client a, b;

	if (argc != 2)
		return 2;
	start(&a, argv[1]);
	start(&b, argv[1]);
	submit(&a, 3);
	submit(&b, 5);
	finish(&a, 3);
	finish(&b, 5);
	errors(&a, &b);
	cut(&a);
	replace(&a);
	ok(!call(a.fd, DRM_IOCTL_MXGPU_RESET, &r) && r.queues == 1, "reset");
	*a.doorbell = 4;
	ok(1, "a doorbell without a queue goes nowhere");
	close(a.fd);
	ok(b.status->state == 0, "the other client did not notice");
	close(b.fd);
	printf("1..%u\n", tests);
	return failures != 0;
}
