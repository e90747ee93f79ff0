/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usage: hold lost|gone|wedged /dev/dri/renderD128
 *        hold stop RESOURCE0
 *
 * Uses the device in every way there is, says "holding" and goes on until the
 * device is lost. Then looks at what the file can still do: for a device that
 * comes back, is gone (unbound), or neither. Writes TAP.
 *
 * stop: stops the firmware behind the driver's back.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client.h"
#include "mxgpu/regs.h"

/* As of drm.h, which not every system has. */
struct prime {
	uint32_t handle, flags;
	int32_t fd;
};
#define HANDLE_TO_FD _IOWR('d', 0x2d, struct prime)

static struct client c;
static struct drm_mxgpu_queue_create used; /* what `c' made its queue with */
static int event;

/* ---- threads that use the device until it is lost ---- */

static void *waits(void *error)
{
	struct drm_mxgpu_queue_wait w = {
		.queue = c.queue, .deadline = INT64_MAX,
	};

	do {
		*(int *)error = call(c.fd, DRM_IOCTL_MXGPU_QUEUE_WAIT, &w);
		w.seen = w.count;
	} while (!*(int *)error);
	return NULL;
}

static void *waits_for_event(void *error)
{
	struct pollfd p = {.fd = event, .events = POLLIN};

	while (!c.status->state)
		*(int *)error = poll(&p, 1, -1) == 1 ? 0 : -errno;
	return NULL;
}

static void *maps(void *error)
{
	struct drm_mxgpu_vm_unmap u = {.va = VA_VRAM * 2, .size = SIZE};

	do {
		*(int *)error = map(c.fd, c.vram_bo, VA_VRAM * 2, SIZE);
		if (!*(int *)error)
			*(int *)error = call(c.fd, DRM_IOCTL_MXGPU_VM_UNMAP,
					     &u);
	} while (!*(int *)error);
	return NULL;
}

static void *makes_queues(void *error)
{
	do {
		struct drm_mxgpu_queue_create q = used;
		struct drm_mxgpu_queue_destroy d = {0};

		*(int *)error = call(c.fd, DRM_IOCTL_MXGPU_QUEUE_CREATE, &q);
		d.queue = q.queue;
		if (!*(int *)error)
			*(int *)error = call(c.fd,
					     DRM_IOCTL_MXGPU_QUEUE_DESTROY, &d);
	} while (!*(int *)error);
	return NULL;
}

/* Faults on the doorbell's page; stores go nowhere when it is lost. */
static void *rings(void *error)
{
	uint64_t offset = used.doorbell_offset;

	*(int *)error = 0;
	while (!c.status->state) {
		volatile uint64_t *p = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED,
					    c.fd, (off_t)offset);

		if (p == MAP_FAILED)
			continue;	/* lost in this moment */
		*p = 3;
		munmap((void *)p, PAGE);
	}
	return NULL;
}

static struct {
	void *(*run)(void *error);
	const char *name;
	int expected;
	int error;
	pthread_t thread;
} user[] = {
	{waits, "waits", -ENODEV, 0, 0},
	{waits_for_event, "waits for an event", 0, 0, 0},
	{maps, "maps and unmaps", -ENODEV, 0, 0},
	{makes_queues, "makes queues", -ENODEV, 0, 0},
	{rings, "rings", 0, 0, 0},
};
#define USERS (sizeof(user) / sizeof(user[0]))

/* ---- what there is to be lost ---- */

/* A packet that waits for ever, and a second queue for who makes queues. */
static void occupy(void)
{
	union mxgpu_packet *ring = (void *)(c.system + AT_RING);
	struct drm_mxgpu_queue_eventfd e = {.queue = c.queue};

	ring[2].wait = (struct mxgpu_packet_wait){
		.type = MXGPU_PKT_WAIT, .addr = VA_SYSTEM + AT_SIGNAL,
		.value = 99, .size = 8, .cond = MXGPU_WAIT_EQ,
	};
	__sync_synchronize();
	*c.doorbell = 3;
	event = eventfd(0, EFD_CLOEXEC);
	e.fd = event;
	ok(event >= 0 && !call(c.fd, DRM_IOCTL_MXGPU_QUEUE_EVENTFD, &e),
	   "eventfd");
}

/* Memory with DMA mappings of its own: the process's, and a dma-buf. */
static int other_memory(void)
{
	struct drm_mxgpu_bo_userptr u = {.size = 16 * PAGE};
	struct prime p = {.handle = c.system_bo, .flags = O_CLOEXEC};
	void *own = mmap(NULL, u.size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	u.addr = (uintptr_t)own;
	ok(own != MAP_FAILED && !call(c.fd, DRM_IOCTL_MXGPU_BO_USERPTR, &u) &&
	   !map(c.fd, u.handle, VA_VRAM * 3, u.size), "userptr");
	ok(!call(c.fd, HANDLE_TO_FD, &p), "dma-buf");
	return p.fd;
}

/* ---- what is left ---- */

static sigjmp_buf bus_error;
static volatile sig_atomic_t expected;

static void on_bus_error(int number)
{
	if (expected)
		siglongjmp(bus_error, number);
	signal(number, SIG_DFL);
}

static int readable(volatile uint8_t *p)
{
	int yes = 0;

	expected = 1;
	if (!sigsetjmp(bus_error, 1)) {
		(void)*p;
		yes = 1;
	}
	expected = 0;
	return yes;
}

static void refused(int gone)
{
	struct drm_mxgpu_bo_create b = {.size = PAGE};
	struct drm_mxgpu_state s = {.flags = MXGPU_STATE_LOOK};
	struct drm_mxgpu_queue_destroy d = {.queue = c.queue};
	struct drm_mxgpu_queue_create q = used;
	struct drm_mxgpu_clock clock;
	int err;

	ok(call(c.fd, DRM_IOCTL_MXGPU_BO_CREATE, &b) == -ENODEV &&
	   map(c.fd, c.vram_bo, VA_VRAM * 5, SIZE) == -ENODEV &&
	   call(c.fd, DRM_IOCTL_MXGPU_QUEUE_CREATE, &q) == -ENODEV &&
	   call(c.fd, DRM_IOCTL_MXGPU_QUEUE_DESTROY, &d) == -ENODEV &&
	   call(c.fd, DRM_IOCTL_MXGPU_CLOCK, &clock) == -ENODEV,
	   "ioctls: ENODEV");
	err = call(c.fd, DRM_IOCTL_MXGPU_STATE, &s);
	ok(gone ? err == -ENODEV : !err && s.state == MXGPU_STATE_LOST,
	   "its state");
	ok(c.status->state == (MXGPU_STATE_LOST |
			       (gone ? MXGPU_STATE_GONE : 0)), "its status page");
	*c.doorbell = 1;
	ok(1, "a store to the doorbell goes nowhere");
}

int main(int argc, char **argv)
{
	struct client again = {0};
	int gone, comes_back, fd;
	uint64_t count;

	if (argc != 3)
		return 2;
	if (!strcmp(argv[1], "stop")) {
		volatile uint32_t *regs;

		fd = open(argv[2], O_RDWR);
		regs = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    0);
		if (regs == MAP_FAILED)
			bail(argv[2]);
		regs[MXGPU_MCU_CTRL / 4] = MXGPU_SET(MXGPU_MCU_CTRL_STOP, 1);
		return 0;
	}
	comes_back = !strcmp(argv[1], "lost");
	gone = !strcmp(argv[1], "gone");
	signal(SIGBUS, on_bus_error);
	start(&c, argv[2]);
	submit(&c, 3);
	finish(&c, 3);
	used = (struct drm_mxgpu_queue_create){
		.ring = VA_SYSTEM + AT_RING, .ctl = VA_SYSTEM,
		.packets = 64, .priority = 7,
		.doorbell_offset = c.doorbell_offset,
	};
	occupy();
	fd = other_memory();
	for (size_t i = 0; i < USERS; i++)
		pthread_create(&user[i].thread, NULL, user[i].run,
			       &user[i].error);
	printf("# holding\n");
	fflush(stdout);
	for (size_t i = 0; i < USERS; i++) {
		pthread_join(user[i].thread, NULL);
		printf("# %s: %s\n", user[i].name, strerror(-user[i].error));
		ok(user[i].error == user[i].expected, user[i].name);
	}
	ok(read(event, &count, 8) == 8, "the eventfd was signalled");
	/* It may be found silent some time before it is known to be gone. */
	for (int i = 0; gone && i < 500 &&
	     !(c.status->state & MXGPU_STATE_GONE); i++)
		usleep(10000);
	refused(gone);
	ok(readable(c.system) == !gone && readable(c.vram) == !gone,
	   gone ? "its memory has gone" : "its memory is there");
	if (comes_back) {
		start(&again, argv[2]);
		submit(&again, 5);
		finish(&again, 5);
		*c.doorbell = 2;
		ok(!again.status->state, "another file does not notice");
	} else {
		again.fd = open(argv[2], O_RDWR);
		ok(again.fd < 0, "it cannot be opened");
	}
	close(c.fd);
	close(fd);
	return done();
}
