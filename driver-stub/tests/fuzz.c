/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usage: fuzz /dev/dri/renderD128 STEPS [SEED]
 *
 * Random calls by several threads on several files: ioctls with fields that are
 * plausible, at their limits, or anything; mappings; files that are closed under
 * the others. Nothing is expected of a call but that it returns: the kernel log
 * tells the rest, and that the device works for others afterwards. Writes TAP.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client.h"
#include "core.h"

#define THREADS 3
#define FILES 3
#define HANDLES 8
#define AREA (64u * PAGE) /* of the process, to be pinned */

static const char *path;
static _Atomic int files[FILES];
static _Atomic uint32_t handles[HANDLES], queues[HANDLES];
static _Atomic uint64_t offsets[HANDLES]; /* for mmap() */
static _Atomic int dma_bufs[HANDLES];
static _Atomic long steps, worked;
static uint8_t *area;

struct thread {
	pthread_t thread;
	uint64_t random;
};

static uint64_t any(struct thread *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random;
}

static unsigned below(struct thread *t, unsigned n)
{
	return (any(t) >> 20) % n;
}

static uint64_t size(struct thread *t)
{
	static const uint64_t sizes[] = {
		0, 1, PAGE - 1, PAGE, PAGE, PAGE, 2 * PAGE, 2 * PAGE, 16 * PAGE,
		2u << 20, (2u << 20) + PAGE, 4u << 20, 12u << 20, 24u << 20, 1u << 28, 1ull << 32,
		1ull << 46, 1ull << 47, 1ull << 63, ~0ull, -(uint64_t)PAGE,
	};

	return below(t, 20) ? sizes[below(t, sizeof(sizes) / sizeof(*sizes))]
			    : any(t);
}

static uint64_t address(struct thread *t)
{
	switch (below(t, 8)) {
	case 0:
		return any(t);
	case 1:
		return (1ull << 47) - size(t);
	case 2:
		return (uintptr_t)area + below(t, AREA / PAGE) * PAGE;
	default:
		return VA_SYSTEM + below(t, 64) * PAGE +
		       below(t, 3) * (2ull << 20);
	}
}

static uint32_t number(struct thread *t, _Atomic uint32_t *known)
{
	return below(t, 10) ? known[below(t, HANDLES)] : (uint32_t)any(t);
}

static uint32_t flags(struct thread *t)
{
	return below(t, 8) ? 0 : (uint32_t)any(t) >> below(t, 32);
}

static uint64_t perms(struct thread *t)
{
	return below(t, 8) ? any(t) & (RW | MXGPU_PTE_EXECUTE | MXGPU_PTE_ATOMIC)
			   : any(t);
}

static int ask(int fd, unsigned long request, void *args)
{
	int ret = ioctl(fd, request, args);

	worked += ret == 0;
	return ret;
}

/* ---- what a client does, with other numbers ---- */

static void memory_step(struct thread *t, int fd)
{
	unsigned keep = below(t, HANDLES);
	struct drm_mxgpu_bo_create bo = {
		.size = size(t), .place = below(t, 3),
		.flags = below(t, 4) ? 0 : flags(t) | MXGPU_BO_STAY,
	};
	struct drm_mxgpu_bo_userptr user = {
		.addr = address(t), .size = size(t), .flags = below(t, 3),
	};
	struct drm_mxgpu_bo_info info = { .handle = number(t, handles) };
	struct core_close gone = { number(t, handles), 0 };

	switch (below(t, 4)) {
	case 0:
		if (!ask(fd, DRM_IOCTL_MXGPU_BO_CREATE, &bo)) {
			handles[keep] = bo.handle;
			offsets[keep] = bo.mmap_offset;
		}
		break;
	case 1:
		/* Only this: what the device writes is nobody else's. */
		if (user.addr >= (uintptr_t)area &&
		    user.addr < (uintptr_t)area + AREA &&
		    !ask(fd, DRM_IOCTL_MXGPU_BO_USERPTR, &user))
			handles[keep] = user.handle;
		break;
	case 2:
		ask(fd, DRM_IOCTL_MXGPU_BO_INFO, &info);
		break;
	default:
		ask(fd, CORE_CLOSE, &gone);
	}
}

static void vm_step(struct thread *t, int fd)
{
	struct drm_mxgpu_vm_map places[4];
	struct drm_mxgpu_vm_unmap unmap = { address(t), size(t) };
	struct drm_mxgpu_vm_replace replace = {
		.places = below(t, 16) ? (uintptr_t)places : any(t),
		.count = below(t, 16) ? below(t, 5) : (uint32_t)any(t),
	};
	unsigned i;

	for (i = 0; i < 4; i++)
		places[i] = (struct drm_mxgpu_vm_map){
			.handle = number(t, handles), .reserved = !below(t, 50),
			.perms = perms(t), .va = address(t),
			.offset = below(t, 4) ? 0 : size(t), .size = size(t),
		};
	switch (below(t, 5)) {
	case 0:
		ask(fd, DRM_IOCTL_MXGPU_VM_UNMAP, &unmap);
		break;
	case 1:
		ask(fd, DRM_IOCTL_MXGPU_VM_REPLACE, &replace);
		break;
	default:
		ask(fd, DRM_IOCTL_MXGPU_VM_MAP, &places[0]);
	}
}

static void ring(struct thread *t, int fd, uint64_t offset)
{
	volatile uint64_t *page = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, fd,
				       (off_t)offset);

	if (page == MAP_FAILED)
		return;
	page[0] = below(t, 2) ? below(t, 5) : any(t);
	munmap((void *)page, PAGE);
}

static void queue_step(struct thread *t, int fd)
{
	unsigned keep = below(t, HANDLES);
	struct drm_mxgpu_queue_create create = {
		.ring = address(t), .ctl = address(t),
		.packets = below(t, 4) ? 4u << below(t, 6) : (uint32_t)any(t),
		.priority = below(t, 6), .flags = flags(t),
	};
	struct drm_mxgpu_queue_destroy destroy = { .queue = number(t, queues) };
	struct drm_mxgpu_queue_profile profile = {
		.queue = number(t, queues), .log2_records = below(t, 14),
		.base = address(t), .stride = below(t, 2) ? 256 : size(t),
		.samples = below(t, 1000), .interval = size(t),
		.flags = flags(t),
	};
	struct drm_mxgpu_queue_launch launch = {
		.queue = number(t, queues), .log2_records = below(t, 18),
		.ring = address(t),
	};
	struct drm_mxgpu_contexts contexts = {
		.addr = address(t), .size = size(t),
	};
	struct drm_mxgpu_queue_wait wait = {
		.queue = number(t, queues), .seen = below(t, 3),
		.deadline = below(t, 4) ? 0 : 1,
	};
	struct drm_mxgpu_queue_fence fence = {
		.addr = address(t), .value = size(t),
		.queue = number(t, queues), .flags = below(t, 4) ? O_CLOEXEC
								 : flags(t),
	};
	struct drm_mxgpu_queue_eventfd event = {
		.queue = number(t, queues), .fd = (int)below(t, 12) - 1,
	};

	switch (below(t, 9)) {
	case 0:
	case 1:
		if (!ask(fd, DRM_IOCTL_MXGPU_QUEUE_CREATE, &create)) {
			queues[keep] = create.queue;
			ring(t, fd, create.doorbell_offset);
		}
		break;
	case 2:
		ask(fd, DRM_IOCTL_MXGPU_QUEUE_DESTROY, &destroy);
		break;
	case 3:
		ask(fd, DRM_IOCTL_MXGPU_QUEUE_PROFILE, &profile);
		break;
	case 4:
		ask(fd, DRM_IOCTL_MXGPU_QUEUE_LAUNCH, &launch);
		ask(fd, DRM_IOCTL_MXGPU_CONTEXTS, &contexts);
		break;
	case 5:
		ask(fd, DRM_IOCTL_MXGPU_QUEUE_WAIT, &wait);
		break;
	case 6:
		ask(fd, DRM_IOCTL_MXGPU_QUEUE_EVENTFD, &event);
		break;
	case 7:
		if (!ask(fd, DRM_IOCTL_MXGPU_QUEUE_FENCE, &fence))
			close(fence.fd);
		break;
	default:
		ring(t, fd, 0x1000000ull + below(t, 70) * PAGE);
	}
}

static void share_step(struct thread *t, int fd)
{
	unsigned keep = below(t, HANDLES);
	struct core_prime prime = {
		number(t, handles), below(t, 2) ? O_CLOEXEC | O_RDWR : flags(t),
		dma_bufs[below(t, HANDLES)],
	};

	if (below(t, 2)) {
		if (!ask(fd, CORE_TO_FD, &prime)) {
			int old = atomic_exchange(&dma_bufs[keep], prime.fd);

			if (old > 0)
				close(old);
		}
	} else if (!ask(fd, CORE_FROM_FD, &prime)) {
		handles[keep] = prime.handle;
	}
}

static void map_step(struct thread *t, int fd)
{
	uint64_t bytes = below(t, 4) ? PAGE : size(t) & 0xffffff;
	uint8_t *p = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE,
			  below(t, 8) ? MAP_SHARED : MAP_PRIVATE, fd,
			  (off_t)(below(t, 8) ? offsets[below(t, HANDLES)]
					      : size(t) & ~0xfffull));

	if (p != MAP_FAILED) {
		/* Of the object's own size nothing is known: no access. */
		munmap(p, bytes ? bytes : 1);
	}
}

static void fault_step(struct thread *t, int fd)
{
	struct drm_mxgpu_faults faults = {
		.flags = below(t, 4) ? O_CLOEXEC | O_NONBLOCK : flags(t),
	};
	struct drm_mxgpu_resolve resolve = {
		.sequence = below(t, 4) ? below(t, 8) : (uint32_t)any(t),
		.verdict = below(t, 3),
	};
	struct drm_mxgpu_svm svm = { .flags = flags(t) };
	struct mxgpu_fault_record records[2];

	switch (below(t, 3)) {
	case 0:
		if (ask(fd, DRM_IOCTL_MXGPU_FAULTS, &faults))
			break;
		/* It must not wait for what nobody sends. */
		fcntl(faults.fd, F_SETFL, O_NONBLOCK);
		worked += read(faults.fd, records, below(t, 130)) > 0;
		close(faults.fd);
		break;
	case 1:
		ask(fd, DRM_IOCTL_MXGPU_RESOLVE, &resolve);
		break;
	default:
		ask(fd, DRM_IOCTL_MXGPU_SVM, &svm);
	}
}

/* Any bytes, for any of the driver's calls. */
static void wild_step(struct thread *t, int fd)
{
	static const unsigned long requests[] = {
		DRM_IOCTL_MXGPU_INFO, DRM_IOCTL_MXGPU_BO_INFO,
		DRM_IOCTL_MXGPU_VM_MAP, DRM_IOCTL_MXGPU_VM_UNMAP,
		DRM_IOCTL_MXGPU_VM_REPLACE, DRM_IOCTL_MXGPU_QUEUE_CREATE,
		DRM_IOCTL_MXGPU_QUEUE_DESTROY, DRM_IOCTL_MXGPU_QUEUE_PROFILE,
		DRM_IOCTL_MXGPU_QUEUE_LAUNCH, DRM_IOCTL_MXGPU_QUEUE_EVENTFD,
		DRM_IOCTL_MXGPU_RESOLVE, DRM_IOCTL_MXGPU_SVM,
		DRM_IOCTL_MXGPU_STATE, DRM_IOCTL_MXGPU_CLOCK,
		DRM_IOCTL_MXGPU_WHERE, DRM_IOCTL_MXGPU_MEMORY,
		DRM_IOCTL_MXGPU_RESET, DRM_IOCTL_MXGPU_CONTEXTS,
		DRM_IOCTL_MXGPU_QUEUE_FENCE,
		_IOWR('d', 0x7f, uint64_t),
	};
	uint64_t words[64], pcs[16];
	unsigned i;

	for (i = 0; i < 64; i++)
		words[i] = below(t, 3) ? any(t) >> below(t, 64) : 0;
	i = below(t, sizeof(requests) / sizeof(*requests));
	if (requests[i] == DRM_IOCTL_MXGPU_WHERE) {
		words[0] = (uintptr_t)pcs; /* it writes there */
		words[1] = below(t, 17);
	}
	ask(fd, requests[i], words);
}

static void *thread_main(void *opaque)
{
	struct thread *t = opaque;

	while (steps-- > 0) {
		unsigned which = below(t, FILES);
		int fd = files[which];

		switch (below(t, 13)) {
		case 0:
		case 1:
		case 2:
			memory_step(t, fd);
			break;
		case 3:
		case 4:
		case 5:
			vm_step(t, fd);
			break;
		case 6:
		case 7:
			queue_step(t, fd);
			break;
		case 8:
			share_step(t, fd);
			break;
		case 9:
			map_step(t, fd);
			break;
		case 10:
			fault_step(t, fd);
			break;
		default:
			wild_step(t, fd);
		}
		/* The number stays, so that nobody gets another file. */
		if (below(t, 500) == 0) {
			int again = open(path, O_RDWR | O_CLOEXEC);

			if (again >= 0) {
				dup3(again, fd, O_CLOEXEC);
				close(again);
			}
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct thread threads[THREADS];
	char text[80];
	long all, i;

	if (argc < 3)
		bail("usage: fuzz /dev/dri/renderD128 STEPS [SEED]");
	path = argv[1];
	steps = all = atol(argv[2]);
	area = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < FILES; i++) {
		files[i] = open(path, O_RDWR | O_CLOEXEC);
		if (files[i] < 0)
			bail(path);
	}
	for (i = 0; i < THREADS; i++) {
		threads[i].random = (argc > 3 ? strtoull(argv[3], NULL, 0) : 1) *
				    0x9e3779b97f4a7c15ull + (uint64_t)i + 1;
		pthread_create(&threads[i].thread, NULL, thread_main,
			       &threads[i]);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i].thread, NULL);
	printf("# %ld of %ld calls and more worked\n", (long)worked, all);
	snprintf(text, sizeof(text), "%ld random steps", all);
	ok(worked > all / 50, text);
	return done();
}
