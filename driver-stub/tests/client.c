// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client.h"

static unsigned int tests, failures;

void ok(int good, const char *what)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++tests, what);
	fflush(stdout);	/* a test that hangs is the next one */
	failures += !good;
}

int done(void)
{
	printf("1..%u\n", tests);
	return failures != 0;
}

void bail(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

int call(int fd, unsigned long request, void *args)
{
	return ioctl(fd, request, args) ? -errno : 0;
}

uint8_t *create(int fd, uint32_t place, uint64_t size, uint32_t *handle)
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

int map(int fd, uint32_t handle, uint64_t va, uint64_t size)
{
	struct drm_mxgpu_vm_map m = {
		.handle = handle, .perms = RW, .va = va, .size = size,
	};

	return call(fd, DRM_IOCTL_MXGPU_VM_MAP, &m);
}

void start(struct client *c, const char *path)
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
	if (!c->system || !c->vram)
		bail("memory");
	ok(!map(c->fd, c->system_bo, VA_SYSTEM, SYSTEM_SIZE), "map system");
	ok(!map(c->fd, c->vram_bo, VA_VRAM, SIZE), "map vram");
	ok(map(c->fd, c->vram_bo, VA_VRAM, PAGE) == -EEXIST, "map: EEXIST");
	ok(!call(c->fd, DRM_IOCTL_MXGPU_QUEUE_CREATE, &q), "queue");
	c->queue = q.queue;
	c->doorbell_offset = q.doorbell_offset;
	p = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, c->fd,
		 (off_t)q.doorbell_offset);
	ok(p != MAP_FAILED, "doorbell");
	c->doorbell = p;
	p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, c->fd, MXGPU_MMAP_STATUS);
	ok(p != MAP_FAILED, "status page");
	c->status = p;
}

void submit(struct client *c, uint8_t seed)
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

void finish(struct client *c, uint8_t seed)
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
