/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usage: faults /dev/dri/renderD128
 *
 * Recoverable faults that a client answers by itself (FAULTS, RESOLVE), and
 * memory of the process by its own addresses (SVM): copies of the device from
 * and to what malloc() and mmap() gave, while the process takes it away, forks,
 * protects and maps anew. Writes TAP; status 0 when all passed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

#define VA_LATE 0x400000000ull	/* where nothing is mapped at first */
#define PACKETS 64
#define BIG (8u << 20)

static uint64_t submitted;	/* of the queue in use */

static struct mxgpu_queue_ctl *ctl_of(struct client *c)
{
	return (void *)(c->system + AT_CTL);
}

/* A recoverable copy; its end is signalled by "submitted" in the signal. */
static void copy(struct client *c, uint64_t dst, uint64_t src, uint64_t size)
{
	union mxgpu_packet *ring = (void *)(c->system + AT_RING);

	ring[submitted % PACKETS].copy = (struct mxgpu_packet_copy){
		.type = MXGPU_PKT_COPY,
		.flags = MXGPU_PKT_RECOVER | MXGPU_PKT_IRQ,
		.src = src, .dst = dst, .size = size,
		.signal_addr = VA_SYSTEM + AT_SIGNAL,
		.signal_value = submitted + 1,
	};
	submitted++;
	__sync_synchronize();
	*c->doorbell = submitted;
}

/* 0: all is done; else the queue's error. */
static int wait_copies(struct client *c)
{
	volatile uint64_t *signal = (void *)(c->system + AT_SIGNAL);
	const volatile struct mxgpu_queue_ctl *ctl = ctl_of(c);
	struct drm_mxgpu_queue_wait w = {
		.queue = c->queue, .deadline = INT64_MAX,
	};

	while (*signal != submitted && !ctl->error.code) {
		if (call(c->fd, DRM_IOCTL_MXGPU_QUEUE_WAIT, &w))
			bail("wait");
		w.seen = w.count;
	}
	return *signal == submitted ? 0 : (int)ctl->error.code;
}

static int copy_now(struct client *c, void *dst, const void *src, size_t size)
{
	copy(c, (uintptr_t)dst, (uintptr_t)src, size);
	return wait_copies(c);
}

/* A queue that stopped with an error is replaced. */
static void queue_again(struct client *c)
{
	struct drm_mxgpu_queue_destroy d = {.queue = c->queue};
	struct drm_mxgpu_queue_create q = {
		.ring = VA_SYSTEM + AT_RING, .ctl = VA_SYSTEM + AT_CTL,
		.packets = PACKETS,
	};

	munmap((void *)c->doorbell, PAGE);
	if (call(c->fd, DRM_IOCTL_MXGPU_QUEUE_DESTROY, &d))
		bail("destroy");
	memset(c->system + AT_CTL, 0, PAGE + PAGE);
	if (call(c->fd, DRM_IOCTL_MXGPU_QUEUE_CREATE, &q))
		bail("queue");
	c->queue = q.queue;
	c->doorbell = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, c->fd,
			   (off_t)q.doorbell_offset);
	if (c->doorbell == MAP_FAILED)
		bail("doorbell");
	submitted = 0;
}

/* ---- faults that the client answers ---- */

static int next_record(int fd, struct mxgpu_fault_record *record)
{
	return read(fd, record, sizeof(*record)) == sizeof(*record);
}

static int resolve(struct client *c, uint32_t number, uint32_t verdict)
{
	struct drm_mxgpu_resolve r = {.sequence = number, .verdict = verdict};

	return call(c->fd, DRM_IOCTL_MXGPU_RESOLVE, &r);
}

/* The pages of a range that is empty at first, one record each, in any case. */
static void answer(struct client *c, int fd)
{
	struct mxgpu_fault_record r;
	unsigned int records = 0, good = 1;
	struct drm_mxgpu_vm_unmap u = {.va = VA_LATE, .size = 4 * PAGE};

	memset(c->vram, 0x5a, 4 * PAGE);
	copy(c, VA_LATE, VA_VRAM, 4 * PAGE);
	while (records < 4) {
		struct drm_mxgpu_vm_map m = {
			.handle = c->system_bo, .perms = RW, .size = PAGE,
		};

		if (!next_record(fd, &r))
			bail("read");
		good &= r.addr >= VA_LATE && r.addr < VA_LATE + 4 * PAGE &&
			r.access == MXGPU_ACCESS_WRITE &&
			r.queue == c->queue;
		m.va = r.addr & ~(uint64_t)(PAGE - 1);
		m.offset = m.va - VA_LATE;
		good &= !call(c->fd, DRM_IOCTL_MXGPU_VM_MAP, &m);
		records++;
		good &= !resolve(c, r.sequence, MXGPU_RESOLVE_REPLAY);
	}
	ok(good, "a record for each page that is missing");
	ok(!wait_copies(c) && !memcmp(c->system, c->vram, 4 * PAGE),
	   "and the copy goes on when it is mapped");
	ok(resolve(c, r.sequence, MXGPU_RESOLVE_REPLAY) == -ENOENT,
	   "resolve of what is not open: ENOENT");
	ok(!call(c->fd, DRM_IOCTL_MXGPU_VM_UNMAP, &u), "unmapped");
}

static void kill_it(struct client *c, int fd)
{
	struct mxgpu_fault_record r;
	struct pollfd p = {.fd = fd, .events = POLLIN};

	copy(c, VA_LATE, VA_VRAM, PAGE);
	ok(poll(&p, 1, -1) == 1 && p.revents == POLLIN, "poll: a record");
	ok(next_record(fd, &r) &&
	   resolve(c, r.sequence, 2) == -EINVAL &&
	   !resolve(c, r.sequence, MXGPU_RESOLVE_KILL),
	   "the verdict is to kill");
	ok(wait_copies(c) == MXGPU_QERR_FAULT &&
	   ctl_of(c)->error.fault_addr == VA_LATE, "the packet fails with its fault");
	queue_again(c);
}

/* Somebody else's record is nobody's business. */
static void strangers(struct client *c, int fd, const char *path)
{
	struct mxgpu_fault_record r;
	struct drm_mxgpu_faults f = {.flags = O_NONBLOCK};
	struct drm_mxgpu_reset reset = {0};
	struct client other = {.fd = open(path, O_RDWR | O_CLOEXEC)};
	void *volatile nowhere = (void *)1; /* compilers warn of a constant */
	uint8_t byte;

	ok(!call(other.fd, DRM_IOCTL_MXGPU_FAULTS, &f) && f.fd >= 0,
	   "faults of another client");
	ok(read(f.fd, &r, sizeof(r)) == -1 && errno == EAGAIN, "it has none");
	ok(read(f.fd, &byte, 1) == -1 && errno == EINVAL,
	   "no room for a record: EINVAL");
	copy(c, VA_LATE, VA_VRAM, PAGE);
	ok(read(fd, nowhere, sizeof(r)) == -1 && errno == EFAULT,
	   "a record that cannot be given: EFAULT");
	ok(next_record(fd, &r), "comes again");
	ok(resolve(&other, r.sequence, MXGPU_RESOLVE_KILL) == -ENOENT,
	   "somebody else's record: ENOENT");
	close(other.fd);
	ok(read(f.fd, &r, sizeof(r)) == -1 && errno == ENODEV,
	   "records of a client that has ended: ENODEV");
	close(f.fd);
	ok(!call(c->fd, DRM_IOCTL_MXGPU_RESET, &reset) &&
	   resolve(c, r.sequence, MXGPU_RESOLVE_REPLAY) == -ENOENT,
	   "a reset ends what is open");
}

static void by_the_client(struct client *c, const char *path)
{
	struct drm_mxgpu_faults f = {.flags = O_CLOEXEC};
	int fd;

	copy(c, VA_LATE, VA_VRAM, PAGE);
	ok(wait_copies(c) == MXGPU_QERR_FAULT, "nobody wants it: killed");
	queue_again(c);
	f.flags = O_APPEND;
	ok(call(c->fd, DRM_IOCTL_MXGPU_FAULTS, &f) == -EINVAL,
	   "faults: EINVAL");
	f.flags = O_CLOEXEC;
	ok(!call(c->fd, DRM_IOCTL_MXGPU_FAULTS, &f), "faults");
	fd = f.fd;
	ok(call(c->fd, DRM_IOCTL_MXGPU_FAULTS, &f) == -EBUSY,
	   "faults: EBUSY");
	answer(c, fd);
	kill_it(c, fd);
	copy(c, VA_LATE, VA_VRAM, PAGE);
	close(fd);
	ok(wait_copies(c) == MXGPU_QERR_FAULT,
	   "closing the file of records kills what is open");
	queue_again(c);
	ok(!call(c->fd, DRM_IOCTL_MXGPU_FAULTS, &f), "faults again");
	strangers(c, f.fd, path);
	close(f.fd);
}

/* ---- memory of the process ---- */

static uint8_t *fresh(size_t size)
{
	uint8_t *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		bail("mmap");
	return p;
}

static void pattern(uint8_t *p, size_t size, unsigned int seed)
{
	for (size_t i = 0; i < size; i++)
		p[i] = (uint8_t)(i * 13 + (i >> 11) + seed);
}

static int all(const uint8_t *p, size_t size, uint8_t value)
{
	for (size_t i = 0; i < size; i++) {
		if (p[i] != value)
			return 0;
	}
	return 1;
}

static void heap(struct client *c)
{
	uint8_t *a = malloc(BIG), *b = malloc(BIG), *n;

	pattern(a, BIG, 1);
	ok(!copy_now(c, b + 5, a + 3, BIG - 8) &&
	   !memcmp(b + 5, a + 3, BIG - 8), "malloc to malloc");
	ok(!copy_now(c, b, (void *)(uintptr_t)VA_VRAM, SIZE) &&
	   !memcmp(b, c->vram, SIZE), "from VRAM");
	n = fresh(BIG);
	ok(!copy_now(c, b, n, BIG) && all(b, BIG, 0),
	   "what was never touched is 0");
	pattern(n, BIG, 2);
	ok(!copy_now(c, b, n, BIG) && !memcmp(b, n, BIG),
	   "what is written then is seen");
	ok(!copy_now(c, n, a, BIG) && !memcmp(n, a, BIG),
	   "what was only read is written");
	munmap(n, BIG);
	free(a);
	free(b);
}

static void comes_and_goes(struct client *c)
{
	uint8_t *p = fresh(BIG), *q = fresh(BIG), *r;

	pattern(p, BIG, 3);
	copy_now(c, q, p, BIG);
	madvise(p, BIG, MADV_DONTNEED);
	ok(!copy_now(c, q, p, BIG) && all(q, BIG, 0), "madvise: 0 again");
	pattern(p, BIG, 4);
	copy_now(c, q, p, BIG);
	r = mremap(p, BIG, BIG, MREMAP_MAYMOVE | MREMAP_FIXED, fresh(BIG));
	ok(!copy_now(c, q, r, BIG) && !memcmp(q, r, BIG), "mremap: moved");
	copy(c, (uintptr_t)q, (uintptr_t)p, BIG);
	ok(wait_copies(c) == MXGPU_QERR_FAULT &&
	   ctl_of(c)->error.fault_addr == (uintptr_t)p,
	   "and not where it was any more");
	queue_again(c);
	p = mmap(p, BIG, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memset(p, 9, BIG);
	ok(!copy_now(c, q, p, BIG) && all(q, BIG, 9),
	   "other memory at the same address");
	mprotect(p, BIG, PROT_READ);
	ok(!copy_now(c, q, p, BIG), "read-only: can be read");
	copy(c, (uintptr_t)p, (uintptr_t)q, BIG);
	ok(wait_copies(c) == MXGPU_QERR_FAULT &&
	   ctl_of(c)->error.fault_addr == (uintptr_t)p, "and not be written");
	queue_again(c);
	munmap(p, BIG);
	munmap(q, BIG);
	munmap(r, BIG);
}

/* Copy on write: a child's memory is what it was, whoever writes. */
static void forks(struct client *c)
{
	uint8_t *p = fresh(BIG), *q = fresh(BIG), byte = 0;
	int go[2], status;
	pid_t child;

	memset(p, 1, BIG);
	memset(q, 2, BIG);
	copy_now(c, p, q, BIG);	/* the device may write it */
	if (pipe(go))
		bail("pipe");
	child = fork();
	if (!child) {
		if (read(go[0], &byte, 1) != 1)
			_exit(1);
		_exit(!all(p, BIG, 2));
	}
	memset(q, 3, BIG);
	ok(!copy_now(c, p, q, BIG) && all(p, BIG, 3), "after fork: ours");
	if (write(go[1], &byte, 1) != 1)
		bail("write");
	waitpid(child, &status, 0);
	ok(!status, "after fork: the child's own");
	close(go[0]);
	close(go[1]);
	munmap(p, BIG);
	munmap(q, BIG);
}

/* A memory object among the process's pages, at an address of them. */
static void objects(struct client *c)
{
	uint8_t *p = fresh(BIG), *q = fresh(BIG);
	struct drm_mxgpu_vm_unmap u = {
		.va = (uintptr_t)p + PAGE, .size = 2 * PAGE,
	};

	memset(p, 4, BIG);
	memset(c->vram, 5, SIZE);
	copy_now(c, q, p, BIG);
	ok(!map(c->fd, c->vram_bo, u.va, 2 * PAGE), "an object over pages");
	ok(!copy_now(c, q, p, BIG) && all(q, PAGE, 4) &&
	   all(q + PAGE, 2 * PAGE, 5) && all(q + 3 * PAGE, BIG - 3 * PAGE, 4),
	   "it is what the device sees");
	ok(!call(c->fd, DRM_IOCTL_MXGPU_VM_UNMAP, &u) &&
	   !copy_now(c, q, p, BIG) && all(q, BIG, 4),
	   "and the pages again when it is unmapped");
	munmap(p, BIG);
	munmap(q, BIG);
}

static struct {
	atomic_int stop;
	uint8_t *area;
	unsigned int rounds;
} churn;

/* Takes the source away and gives it back, all the time. */
static void *churn_thread(void *unused)
{
	(void)unused;
	while (!atomic_load(&churn.stop)) {
		uint8_t *at = churn.area + churn.rounds++ % 8 * (BIG / 8);

		madvise(at, BIG / 8, MADV_DONTNEED);
		if (churn.rounds % 4 == 0)
			mmap(at, BIG / 8, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		memset(at, 7, BIG / 8);
	}
	return NULL;
}

/* A page is 0 (taken away) or 7 throughout, or partly written; nothing else. */
static int plausible(const uint8_t *p)
{
	for (size_t i = 0; i < BIG; i++) {
		if (p[i] && p[i] != 7)
			return 0;
	}
	return 1;
}

static void under_fire(struct client *c)
{
	uint8_t *q = fresh(BIG), *other = fresh(BIG);
	int good = 1, err = 0;
	pthread_t thread;

	churn.area = fresh(BIG);
	if (pthread_create(&thread, NULL, churn_thread, NULL))
		bail("thread");
	for (int i = 0; i < 6 && !err; i++) {
		err = copy_now(c, q, churn.area, BIG);
		good &= plausible(q);
		/* Memory that goes and comes elsewhere must not be hit. */
		memset(other, 7, BIG);
		good &= all(other, BIG, 7);
		munmap(other, BIG);
		other = fresh(BIG);
	}
	atomic_store(&churn.stop, 1);
	pthread_join(thread, NULL);
	ok(!err && good, "while a thread takes it away and gives it back");
	ok(churn.rounds > 1, "which it did");
	munmap(q, BIG);
	munmap(other, BIG);
	munmap(churn.area, BIG);
}

static void by_the_process(struct client *c)
{
	struct drm_mxgpu_svm s = {.flags = 1};
	uint8_t *p = fresh(PAGE);

	copy(c, (uintptr_t)p, VA_VRAM, PAGE);
	ok(wait_copies(c) == MXGPU_QERR_FAULT, "before it is asked for: killed");
	queue_again(c);
	ok(call(c->fd, DRM_IOCTL_MXGPU_SVM, &s) == -EINVAL, "svm: EINVAL");
	s.flags = 0;
	ok(!call(c->fd, DRM_IOCTL_MXGPU_SVM, &s), "svm");
	ok(call(c->fd, DRM_IOCTL_MXGPU_SVM, &s) == -EBUSY, "svm: EBUSY");
	heap(c);
	comes_and_goes(c);
	forks(c);
	objects(c);
	under_fire(c);
	copy(c, (uintptr_t)p, 8, PAGE);
	ok(wait_copies(c) == MXGPU_QERR_FAULT && ctl_of(c)->error.fault_addr == 8,
	   "what no thread could read: killed");
	munmap(p, PAGE);
}

int main(int argc, char **argv)
{
	struct client c;

	if (argc != 2)
		return 2;
	start(&c, argv[1]);
	by_the_client(&c, argv[1]);
	close(c.fd);
	munmap(c.system, SYSTEM_SIZE);
	munmap(c.vram, SIZE);
	submitted = 0;
	start(&c, argv[1]);
	by_the_process(&c);
	/* It ends with pages of ours in its tables. */
	close(c.fd);
	return done();
}
