/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usage: limits /dev/dri/renderD128
 *
 * What a client can ask for, and where it ends: address spaces, queues,
 * priorities, ranges as large as numbers get. Run as root; it gives that up.
 * Writes TAP.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client.h"

#define FILES 40
#define VMIDS 15 /* for clients */

static struct drm_mxgpu_info info;

struct small {
	int fd;
	uint32_t queue;
};

static int queue(int fd, uint32_t priority, uint32_t *id)
{
	struct drm_mxgpu_queue_create q = {
		.ring = VA_SYSTEM, .ctl = VA_SYSTEM + PAGE, .packets = 4,
		.priority = priority,
	};
	int err = call(fd, DRM_IOCTL_MXGPU_QUEUE_CREATE, &q);

	*id = q.queue;
	return err;
}

/* A file with two pages for a queue. */
static int open_small(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	uint32_t handle;
	uint8_t *memory;

	if (fd < 0)
		bail(path);
	memory = create(fd, MXGPU_PLACE_SYSTEM, 2 * PAGE, &handle);
	if (!memory || map(fd, handle, VA_SYSTEM, 2 * PAGE))
		bail("memory");
	munmap(memory, 2 * PAGE);
	return fd;
}

static void address_spaces(const char *path)
{
	struct drm_mxgpu_queue_destroy d;
	struct small f[FILES];
	int got = 0, busy = 0;

	for (int i = 0; i < FILES; i++) {
		int err;

		f[i].fd = open_small(path);
		err = queue(f[i].fd, info.priorities - 1, &f[i].queue);
		got += !err;
		busy += err == -EBUSY;
	}
	ok(got == VMIDS && busy == FILES - VMIDS,
	   "more clients than address spaces: EBUSY for a queue");
	d = (struct drm_mxgpu_queue_destroy){.queue = f[0].queue};
	ok(!call(f[0].fd, DRM_IOCTL_MXGPU_QUEUE_DESTROY, &d), "destroy");
	ok(!queue(f[VMIDS].fd, info.priorities - 1, &f[VMIDS].queue),
	   "whose address space another client gets");
	for (int i = 0; i < FILES; i++)
		close(f[i].fd);
}

static void queues(int fd)
{
	uint32_t id, n = 0;
	int err;

	while (!(err = queue(fd, info.priorities - 1, &id)))
		n++;
	ok(err == -ENOSPC && n == (info.queues + 1) / 2,
	   "half of the queues for one client: ENOSPC");
}

static void ranges(int fd)
{
	struct drm_mxgpu_vm_unmap all = {.size = MXGPU_PTE_ADDRESS};
	struct drm_mxgpu_bo_userptr u = {.size = 1ull << 40};
	struct drm_mxgpu_vm_map m = {.handle = 1, .perms = RW};
	struct drm_mxgpu_vm_replace r = {.count = MXGPU_REPLACE_MAX + 1};
	void *reserved;

	ok(call(fd, DRM_IOCTL_MXGPU_VM_UNMAP, &all) == -EINVAL,
	   "unmap beyond the end: EINVAL");
	all.size = MXGPU_VA_LIMIT;
	ok(!call(fd, DRM_IOCTL_MXGPU_VM_UNMAP, &all), "unmap everything");
	ok(!map(fd, 1, MXGPU_VA_LIMIT - 2 * PAGE, 2 * PAGE),
	   "map the last pages");
	m.va = MXGPU_VA_LIMIT - PAGE;
	m.size = 2 * PAGE;
	ok(call(fd, DRM_IOCTL_MXGPU_VM_MAP, &m) == -EINVAL,
	   "and one more: EINVAL");
	m.va = 0;
	m.offset = -(uint64_t)PAGE;
	ok(call(fd, DRM_IOCTL_MXGPU_VM_MAP, &m) == -EINVAL,
	   "an offset that wraps: EINVAL");
	ok(call(fd, DRM_IOCTL_MXGPU_VM_REPLACE, &r) == -EINVAL,
	   "too many places: EINVAL");
	r.count = 1;
	ok(call(fd, DRM_IOCTL_MXGPU_VM_REPLACE, &r) == -EFAULT,
	   "places that are not there: EFAULT");
	/* A terabyte that is reserved and not there. */
	reserved = mmap(NULL, u.size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	u.addr = (uintptr_t)reserved;
	ok(reserved != MAP_FAILED &&
	   call(fd, DRM_IOCTL_MXGPU_BO_USERPTR, &u) == -ENOMEM,
	   "a terabyte of the process's memory: ENOMEM");
}

static void priorities(const char *path)
{
	uint32_t id;
	int fd;

	ok(info.min_priority == 0, "all priorities for root");
	fd = open_small(path);
	ok(!queue(fd, 0, &id), "the most urgent one, too");
	if (setgid(65534) || setuid(65534))
		bail("setuid");
	if (call(fd, DRM_IOCTL_MXGPU_INFO, &info))
		bail("info");
	ok(info.min_priority > 0 && info.min_priority < info.priorities,
	   "not all for others");
	ok(queue(fd, info.min_priority - 1, &id) == -EACCES,
	   "more urgent than that: EACCES");
	ok(!queue(fd, info.min_priority, &id), "that one");
	close(fd);
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 2)
		return 2;
	fd = open_small(argv[1]);
	if (call(fd, DRM_IOCTL_MXGPU_INFO, &info))
		bail("info");
	ok(info.vmid == 0, "no address space before the first queue");
	queues(fd);
	if (call(fd, DRM_IOCTL_MXGPU_INFO, &info))
		bail("info");
	ok(info.vmid != 0, "one with queues");
	close(fd);
	address_spaces(argv[1]);
	fd = open_small(argv[1]);
	ranges(fd);
	close(fd);
	priorities(argv[1]);
	return done();
}
