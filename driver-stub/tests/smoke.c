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
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client.h"

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
	p.size = 1ull << 46;
	ok(call(c->fd, DRM_IOCTL_MXGPU_BO_USERPTR, &p) == -ENOMEM,
	   "userptr of more than there is: ENOMEM");
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
	return done();
}
