/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usage: share NODE NODE [CARD]
 *
 * Memory of one device for others: for a second one of this kind, and for a driver
 * that is not ours (vgem's CARD); and fences, for whoever uses it. Writes TAP.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "core.h"

/* A fence of the driver vgem, which has no header of its own here. */
struct vgem_attach {
	uint32_t handle, flags, fence, pad;
};

struct vgem_signal {
	uint32_t fence, flags;
};

#define VGEM_WRITE 1
#define VGEM_ATTACH _IOWR('d', 0x41, struct vgem_attach)
#define VGEM_SIGNAL _IOW('d', 0x42, struct vgem_signal)
#define BYTES (2u << 20)
#define VA_IMPORT 0x600000000ull
#define VA_STAY 0x700000000ull

static struct client a, b;
static uint64_t tails[2];

static int export(int fd, uint32_t handle)
{
	struct core_prime p = {
		.handle = handle, .flags = O_CLOEXEC | O_RDWR,
	};
	int err = call(fd, CORE_TO_FD, &p);

	return err ? err : p.fd;
}

static int import(int fd, int buf, uint32_t *handle)
{
	struct core_prime p = {.fd = buf};
	int err = call(fd, CORE_FROM_FD, &p);

	*handle = p.handle;
	return err;
}

static void forget(int fd, uint32_t handle)
{
	struct core_close c = {.handle = handle};

	if (call(fd, CORE_CLOSE, &c))
		bail("close");
}

static void unmap(int fd, uint64_t va)
{
	struct drm_mxgpu_vm_unmap u = {.va = va, .size = BYTES};

	if (call(fd, DRM_IOCTL_MXGPU_VM_UNMAP, &u))
		bail("unmap");
}

static int in_vram(const struct client *c, uint32_t handle)
{
	struct drm_mxgpu_bo_info info = {.handle = handle};

	if (call(c->fd, DRM_IOCTL_MXGPU_BO_INFO, &info))
		bail("info");
	return info.now == MXGPU_PLACE_VRAM;
}

/* ---- work: packets that signal their number ---- */

static volatile uint64_t *signal_of(struct client *c)
{
	return (void *)(c->system + AT_SIGNAL);
}

static void push(struct client *c, union mxgpu_packet p)
{
	union mxgpu_packet *ring = (void *)(c->system + AT_RING);
	uint64_t *tail = &tails[c == &b];

	p.header.flags |= MXGPU_PKT_BARRIER | MXGPU_PKT_IRQ;
	p.copy.signal_addr = VA_SYSTEM + AT_SIGNAL;
	p.copy.signal_value = *tail + 1;
	ring[(*tail)++ % 64] = p;
	__sync_synchronize();
	*c->doorbell = *tail;
}

static void settle(struct client *c)
{
	struct drm_mxgpu_queue_wait w = {
		.queue = c->queue, .deadline = INT64_MAX,
	};

	while (*signal_of(c) != tails[c == &b]) {
		if (call(c->fd, DRM_IOCTL_MXGPU_QUEUE_WAIT, &w))
			bail("wait");
		w.seen = w.count;
	}
}

static void copy(struct client *c, uint64_t dst, uint64_t src)
{
	push(c, (union mxgpu_packet){ .copy = {
		.type = MXGPU_PKT_COPY, .src = src, .dst = dst, .size = BYTES,
	}});
	settle(c);
}

/* The client's own bytes, to somewhere; and what is there. */
static void put(struct client *c, uint64_t va, int seed)
{
	for (uint32_t i = 0; i < BYTES; i++)
		c->system[i] = (uint8_t)(i * 11 + (i >> 12) + (uint32_t)seed);
	copy(c, va, VA_SYSTEM);
}

static int same(const uint8_t *p, int seed)
{
	for (uint32_t i = 0; i < BYTES; i += 61)
		if (p[i] != (uint8_t)(i * 11 + (i >> 12) + (uint32_t)seed))
			return 0;
	return 1;
}

static int has(struct client *c, uint64_t va, int seed)
{
	memset(c->system, 0, BYTES);
	copy(c, VA_SYSTEM, va);
	return same(c->system, seed);
}

/* ---- a second device ---- */

static void comes_back(uint32_t handle, int seed)
{
	time_t end = time(NULL) + 20;
	int good = 1;

	while (!in_vram(&a, handle) && time(NULL) < end) {
		good &= has(&a, VA_VRAM, seed);
		usleep(20000);
	}
	ok(good && in_vram(&a, handle), "and comes back when it may");
}

static void second_device(void)
{
	int buf = export(a.fd, a.vram_bo), stayed = 1;
	uint32_t handle;

	put(&a, VA_VRAM, 1);
	ok(in_vram(&a, a.vram_bo), "exported, it is in VRAM");
	ok(!import(b.fd, buf, &handle) && !map(b.fd, handle, VA_IMPORT, BYTES),
	   "another device imports it");
	ok(!in_vram(&a, a.vram_bo), "and it leaves VRAM");
	ok(has(&b, VA_IMPORT, 1), "the other one finds its bytes");
	put(&b, VA_IMPORT, 2);
	ok(has(&a, VA_VRAM, 2) && same(a.vram, 2),
	   "the first one what the other wrote");
	for (int i = 0; i < 8; i++) {
		stayed &= has(&a, VA_VRAM, 2) && !in_vram(&a, a.vram_bo);
		usleep(200000);
	}
	ok(stayed, "as long as that has it it stays there");
	unmap(b.fd, VA_IMPORT);
	forget(b.fd, handle);
	comes_back(a.vram_bo, 2);
	close(buf);
}

static void staying(void)
{
	struct drm_mxgpu_bo_create c = {.size = BYTES, .flags = MXGPU_BO_STAY};
	uint32_t handle;
	int buf;

	if (call(a.fd, DRM_IOCTL_MXGPU_BO_CREATE, &c) ||
	    map(a.fd, c.handle, VA_STAY, BYTES))
		bail("an object that stays");
	buf = export(a.fd, c.handle);
	ok(buf >= 0 && import(b.fd, buf, &handle) == -EOPNOTSUPP,
	   "one that stays is for no other device: EOPNOTSUPP");
	close(buf);
}

/* A copy that waits for a verdict; the queue has stopped then. */
static void restless(void)
{
	struct drm_mxgpu_resolve verdict = {.verdict = MXGPU_RESOLVE_KILL};
	struct drm_mxgpu_faults faults = {0};
	struct mxgpu_fault_record record;
	int buf = export(a.fd, a.vram_bo);
	uint32_t handle;

	if (call(a.fd, DRM_IOCTL_MXGPU_FAULTS, &faults))
		bail("faults");
	push(&a, (union mxgpu_packet){ .copy = {
		.type = MXGPU_PKT_COPY, .flags = MXGPU_PKT_RECOVER,
		.src = VA_VRAM, .dst = VA_SYSTEM - BYTES, .size = BYTES,
	}});
	if (read(faults.fd, &record, sizeof(record)) != sizeof(record))
		bail("record");
	ok(import(b.fd, buf, &handle) == -EBUSY,
	   "one in use by a packet that does not end: EBUSY");
	verdict.sequence = record.sequence;
	if (call(a.fd, DRM_IOCTL_MXGPU_RESOLVE, &verdict))
		bail("resolve");
	while (((struct mxgpu_queue_ctl *)(a.system + AT_CTL))->state !=
	       MXGPU_QUEUE_ERROR)
		usleep(1000);
	ok(!import(b.fd, buf, &handle), "when it has ended it goes");
	forget(b.fd, handle);
	close(faults.fd);
	close(buf);
}

/* ---- fences ---- */

static int fence(struct client *c, uint64_t addr, uint64_t value)
{
	struct drm_mxgpu_queue_fence f = {
		.addr = addr, .value = value, .queue = c->queue,
		.flags = O_CLOEXEC,
	};
	int err = call(c->fd, DRM_IOCTL_MXGPU_QUEUE_FENCE, &f);

	return err ? err : f.fd;
}

static int ready(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) == 1 && p.revents & POLLIN;
}

static int status(int fd)
{
	struct sync_file_info info = {0};

	if (ioctl(fd, SYNC_IOC_FILE_INFO, &info))
		bail("info of a fence");
	return info.status;
}

static union mxgpu_packet wait_packet(void)
{
	return (union mxgpu_packet){ .wait = {
		.type = MXGPU_PKT_WAIT, .size = 8, .cond = MXGPU_WAIT_EQ,
		.addr = VA_SYSTEM + AT_SIGNAL + 8, .value = 1,
	}};
}

/* A packet that is done when gate() is called, and not before. */
static int closed(struct client *c)
{
	signal_of(c)[1] = 0;
	push(c, wait_packet());
	return fence(c, VA_SYSTEM + AT_SIGNAL, tails[c == &b]);
}

static void gate(struct client *c)
{
	signal_of(c)[1] = 1;
}

static int late;

static void fences(void)
{
	struct drm_mxgpu_queue_fence bad = {
		.addr = VA_SYSTEM + AT_SIGNAL, .queue = a.queue, .flags = 1,
	};
	struct drm_mxgpu_queue_fence odd = {
		.addr = VA_SYSTEM + 4, .queue = a.queue,
	};
	int fd;

	/* For the end. */
	late = dup(fence(&a, VA_SYSTEM + AT_SIGNAL, UINT64_MAX));
	fd = closed(&a);
	ok(fd >= 0, "a fence");
	ok(!ready(fd, 300) && status(fd) == 0, "is not signalled yet");
	gate(&a);
	ok(ready(fd, -1) && status(fd) == 1, "and then is");
	close(fd);
	fd = fence(&a, VA_SYSTEM + AT_SIGNAL, tails[0]);
	ok(ready(fd, 0), "what has been done is signalled at once");
	close(fd);
	ok(call(a.fd, DRM_IOCTL_MXGPU_QUEUE_FENCE, &bad) == -EINVAL &&
	   call(a.fd, DRM_IOCTL_MXGPU_QUEUE_FENCE, &odd) == -EINVAL, "EINVAL");
	ok(fence(&a, VA_IMPORT, 1) == -EFAULT, "no word: EFAULT");
	ok(fence(&a, VA_VRAM, 1) == -EOPNOTSUPP,
	   "a word that may move: EOPNOTSUPP");
	fd = fence(&a, VA_STAY + 8, 5);
	ok(fd >= 0 && !ready(fd, 0), "one that stays");
	push(&a, (union mxgpu_packet){ .write = {
		.type = MXGPU_PKT_WRITE, .size = 8, .addr = VA_STAY + 8,
		.value = 6,
	}});
	ok(ready(fd, -1) && status(fd) == 1, "is found in VRAM");
	close(fd);
}

static void many_fences(void)
{
	int fds[300], n = 0, err = 0;

	while (n < 300 && (err = fence(&a, VA_SYSTEM + AT_SIGNAL,
				       UINT64_MAX)) >= 0)
		fds[n++] = err;
	ok(n == 256 && err == -ENOSPC, "256 of a queue: ENOSPC");
	while (n > 1)
		close(fds[--n]);
	/* The one that is left is for who looks at the queue's end. */
	dup2(fds[0], 200);
	close(fds[0]);
}

static void timeline(void)
{
	struct core_syncobj binary = {0}, line = {0};
	struct core_syncobj_fd h = {
		.flags = 1,
	};
	struct core_transfer t = {.to_point = 7};
	uint64_t point = 7;
	struct core_wait w = {
		.points = (uintptr_t)&point, .count = 1,
	};
	int fd = closed(&a);

	h.fd = fd;
	ok(!call(a.fd, CORE_SYNCOBJ, &binary) &&
	   !call(a.fd, CORE_SYNCOBJ, &line), "syncobjs");
	h.handle = binary.handle;
	t.from = binary.handle;
	t.to = line.handle;
	ok(!call(a.fd, CORE_SYNCOBJ_FD, &h) &&
	   !call(a.fd, CORE_TRANSFER, &t),
	   "a fence as a point of a timeline");
	w.handles = (uintptr_t)&line.handle;
	ok(call(a.fd, CORE_TIMELINE_WAIT, &w) == -ETIME,
	   "which is not reached");
	gate(&a);
	w.deadline = INT64_MAX;
	ok(!call(a.fd, CORE_TIMELINE_WAIT, &w), "and then is");
	close(fd);
}

static void end_of_queue(void)
{
	struct drm_mxgpu_reset r = {0};

	ok(!ready(200, 0), "a fence that is open");
	ok(!call(a.fd, DRM_IOCTL_MXGPU_RESET, &r) && ready(200, 0) &&
	   status(200) == -ECANCELED, "ends with its queue: ECANCELED");
	ok(fence(&a, VA_SYSTEM + AT_SIGNAL, 0) == -ENOENT,
	   "without a queue there is none: ENOENT");
	close(200);
}

/* ---- a driver that is not ours ---- */

static void other_imports(int card)
{
	int buf = export(a.fd, a.vram_bo);
	uint32_t handle;

	put(&a, VA_VRAM, 3);
	ok(in_vram(&a, a.vram_bo) && !import(card, buf, &handle),
	   "another driver imports VRAM");
	ok(!in_vram(&a, a.vram_bo) && has(&a, VA_VRAM, 3),
	   "which is in system memory then");
	forget(card, handle);
	comes_back(a.vram_bo, 3);
	close(buf);
}

static void other_exports(int card)
{
	struct core_create_dumb c = {
		.width = BYTES / 4 / 512, .height = 512, .bits = 32,
	};
	struct dma_buf_export_sync_file e = {.flags = DMA_BUF_SYNC_READ};
	struct dma_buf_import_sync_file i = {.flags = DMA_BUF_SYNC_WRITE};
	struct vgem_attach attach = {.flags = VGEM_WRITE};
	struct vgem_signal signal = {0};
	struct core_map_dumb m = {0};
	uint32_t handle;
	uint8_t *p;
	int buf;

	if (call(card, CORE_CREATE_DUMB, &c) || c.size != BYTES)
		bail("a buffer of another driver");
	m.handle = c.handle;
	if (call(card, CORE_MAP_DUMB, &m))
		bail("its address");
	p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, card,
		 (off_t)m.offset);
	buf = export(card, c.handle);
	ok(p != MAP_FAILED && buf >= 0 && !import(a.fd, buf, &handle) &&
	   !map(a.fd, handle, VA_IMPORT, BYTES), "memory of another driver");
	put(&a, VA_IMPORT, 4);
	ok(same(p, 4), "the device writes it");
	memset(p, 9, BYTES);
	copy(&a, VA_SYSTEM, VA_IMPORT);
	ok(a.system[0] == 9 && a.system[BYTES - 1] == 9, "and reads it");

	attach.handle = c.handle;
	ok(!call(card, VGEM_ATTACH, &attach) &&
	   !ioctl(buf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &e) && !ready(e.fd, 0),
	   "what the other driver does with it is a fence");
	signal.fence = attach.fence;
	ok(!call(card, VGEM_SIGNAL, &signal) && ready(e.fd, -1),
	   "that is signalled when it has been done");
	close(e.fd);
	i.fd = closed(&a);
	ok(!ioctl(buf, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &i) && !ready(buf, 300),
	   "what our queue does is one, too");
	gate(&a);
	ok(ready(buf, -1), "and is signalled");
	close(i.fd);
	unmap(a.fd, VA_IMPORT);
	forget(a.fd, handle);
	munmap(p, BYTES);
	close(buf);
}

int main(int argc, char **argv)
{
	int card = -1;

	if (argc < 3) {
		fprintf(stderr, "usage: share NODE NODE [CARD]\n");
		return 2;
	}
	start(&a, argv[1]);
	start(&b, argv[2]);
	second_device();
	staying();
	fences();
	timeline();
	if (argc > 3) {
		card = open(argv[3], O_RDWR | O_CLOEXEC);
		if (card < 0)
			bail(argv[3]);
		other_imports(card);
		other_exports(card);
	}
	ok(ready(late, -1) && status(late) == -ETIMEDOUT,
	   "a fence that is never signalled ends: ETIMEDOUT");
	many_fences();
	end_of_queue();
	close(a.fd);
	start(&a, argv[1]);
	tails[0] = 0;
	restless();
	return done();
}
