/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usage: evict /dev/dri/renderD128
 *
 * More memory of VRAM than there is VRAM: who has to leave it, who does not, and
 * that nobody notices. Writes TAP.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

#define PARTS 8 /* of VRAM, an object each */
#define STRIDE (1ull << 32)
#define PACKETS 64
#define PROCESSES 4
#define PROCESS_PARTS 6

/* A client with objects of VRAM, a queue and room for one object's bytes. */
struct user {
	int fd;
	uint64_t size;		/* of an object, and of the room */
	uint8_t *system;	/* the room, ring, control block, signal */
	uint8_t *vram[PARTS];
	uint32_t handle[PARTS], queue;
	volatile uint64_t *doorbell;
	uint64_t tail;
};

static const char *path;

/* What went wrong last, for who looks for the reason. */
static struct failure {
	const char *what;
	int err;		/* of an ioctl, or 0: bytes */
	uint64_t at, found, expected;
} failure;

static int failed(const char *what, int err)
{
	failure = (struct failure){.what = what, .err = err};
	return 0;
}

static void print_failure(const char *who, unsigned int n, unsigned int i,
			  unsigned int round)
{
	const struct failure *f = &failure;

	/* Not by printf(): processes share what it has not written yet. */
	if (f->err)
		dprintf(1, "# process %u, round %u, object %u, %s: %s: %s\n",
			n, round, i, who, f->what, strerror(-f->err));
	else
		dprintf(1, "# process %u, round %u, object %u, %s: %s: %#llx at %#llx, not %#llx\n",
			n, round, i, who, f->what, (unsigned long long)f->found,
			(unsigned long long)f->at,
			(unsigned long long)f->expected);
}

static uint64_t vram_of(unsigned int i)
{
	return VA_VRAM + i * STRIDE;
}

static uint64_t ring_at(const struct user *u)
{
	return u->size;
}

static void open_user(struct user *u, uint64_t size)
{
	struct drm_mxgpu_queue_create q = {.packets = PACKETS, .priority = 3};
	uint64_t bytes = size + 3 * PAGE;
	uint32_t handle;

	*u = (struct user){.fd = open(path, O_RDWR | O_CLOEXEC), .size = size};
	if (u->fd < 0)
		bail(path);
	u->system = create(u->fd, MXGPU_PLACE_SYSTEM, bytes, &handle);
	if (!u->system || map(u->fd, handle, VA_SYSTEM, bytes))
		bail("system memory");
	q.ring = VA_SYSTEM + ring_at(u);
	q.ctl = q.ring + PAGE;
	if (call(u->fd, DRM_IOCTL_MXGPU_QUEUE_CREATE, &q))
		bail("queue");
	u->queue = q.queue;
	u->doorbell = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, u->fd,
			   (off_t)q.doorbell_offset);
	if (u->doorbell == MAP_FAILED)
		bail("doorbell");
}

static int add(struct user *u, unsigned int i)
{
	int err;

	u->vram[i] = create(u->fd, MXGPU_PLACE_VRAM, u->size, &u->handle[i]);
	if (!u->vram[i])
		return failed("an object", -errno);
	err = map(u->fd, u->handle[i], vram_of(i), u->size);
	return err ? failed("a mapping", err) : 1;
}

static void close_user(struct user *u)
{
	for (unsigned int i = 0; i < PARTS; i++)
		if (u->vram[i])
			munmap(u->vram[i], u->size);
	munmap(u->system, u->size + 3 * PAGE);
	munmap((void *)u->doorbell, PAGE);
	close(u->fd);
}

static union mxgpu_packet *next(struct user *u)
{
	union mxgpu_packet *ring = (void *)(u->system + ring_at(u));

	return &ring[u->tail++ % PACKETS];
}

static volatile uint64_t *signal_of(struct user *u)
{
	return (void *)(u->system + ring_at(u) + 2 * PAGE);
}

static void ring(struct user *u)
{
	__sync_synchronize();
	*u->doorbell = u->tail;
}

static void push_copy(struct user *u, uint64_t dst, uint64_t src)
{
	union mxgpu_packet *p = next(u);

	p->copy = (struct mxgpu_packet_copy){
		.type = MXGPU_PKT_COPY,
		.flags = MXGPU_PKT_BARRIER | MXGPU_PKT_IRQ,
		.src = src, .dst = dst, .size = u->size,
		.signal_addr = VA_SYSTEM + ring_at(u) + 2 * PAGE,
		.signal_value = u->tail,
	};
}

static int wait_for(struct user *u)
{
	struct drm_mxgpu_queue_wait w = {
		.queue = u->queue, .deadline = INT64_MAX,
	};
	int err = 0;

	while (*signal_of(u) != u->tail && (!err || err == -EINTR)) {
		err = call(u->fd, DRM_IOCTL_MXGPU_QUEUE_WAIT, &w);
		w.seen = w.count;
	}
	return err ? failed("waiting", err) : 1;
}

static int copy(struct user *u, uint64_t dst, uint64_t src)
{
	push_copy(u, dst, src);
	ring(u);
	return wait_for(u);
}

static uint64_t pattern(unsigned int seed, uint64_t at)
{
	return (at + 1) * 0x9e3779b97f4a7c15ull + seed;
}

/* By the device, as everything that the CPU does not look at. */
static int fill(struct user *u, unsigned int i, unsigned int seed)
{
	uint64_t *words = (void *)u->system;

	for (uint64_t at = 0; at < u->size / 8; at += 64)
		words[at] = pattern(seed, at);
	return copy(u, vram_of(i), VA_SYSTEM);
}

static void add_all(struct user *u, unsigned int parts, unsigned int seed)
{
	for (unsigned int i = 0; i < parts; i++)
		if (!add(u, i) || !fill(u, i, seed + i))
			bail("objects");
}

static int same(const struct user *u, const uint8_t *bytes, unsigned int seed,
		unsigned int step)
{
	const uint64_t *words = (const void *)bytes;

	for (uint64_t at = 0; at < u->size / 8; at += step) {
		uint64_t found = words[at], expected = pattern(seed, at);

		if (found == expected)
			continue;
		failure = (struct failure){
			.what = bytes == u->system ? "the device" : "the CPU",
			.at = at * 8, .found = found, .expected = expected,
		};
		return 0;
	}
	return 1;
}

/* What the device finds there, and what the CPU does. */
static int check(struct user *u, unsigned int i, unsigned int seed)
{
	memset(u->system, 0, u->size);
	return copy(u, VA_SYSTEM, vram_of(i)) &&
	       same(u, u->system, seed, 64) && same(u, u->vram[i], seed, 512);
}

static int in_vram(const struct user *u, unsigned int i)
{
	struct drm_mxgpu_bo_info info = {.handle = u->handle[i]};

	if (call(u->fd, DRM_IOCTL_MXGPU_BO_INFO, &info) ||
	    info.place != MXGPU_PLACE_VRAM)
		bail("an object of VRAM");
	return info.now == MXGPU_PLACE_VRAM;
}

static unsigned int resident(const struct user *u)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < PARTS; i++)
		n += u->vram[i] && in_vram(u, i);
	return n;
}

static uint64_t vram_total(void)
{
	struct drm_mxgpu_memory m = {0};
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 || call(fd, DRM_IOCTL_MXGPU_MEMORY, &m))
		bail("memory");
	close(fd);
	return m.vram_total;
}

/* ---- one client, and two ---- */

static void one_client(struct user *u)
{
	struct drm_mxgpu_bo_create more = {.size = PAGE};
	struct drm_mxgpu_bo_create flags = {.size = PAGE, .flags = 2};
	struct drm_mxgpu_bo_create system = {
		.size = PAGE, .place = MXGPU_PLACE_SYSTEM,
		.flags = MXGPU_BO_STAY,
	};
	int good = 1;

	for (unsigned int i = 0; i < PARTS; i++)
		good &= add(u, i) && fill(u, i, 100 + i);
	ok(good && resident(u) == PARTS, "a client may have all VRAM");
	ok(call(u->fd, DRM_IOCTL_MXGPU_BO_CREATE, &more) == -ENOMEM,
	   "but not more: ENOMEM");
	ok(call(u->fd, DRM_IOCTL_MXGPU_BO_CREATE, &flags) == -EINVAL &&
	   call(u->fd, DRM_IOCTL_MXGPU_BO_CREATE, &system) == -EINVAL,
	   "flags that are none: EINVAL");
}

static int check_all(struct user *u, unsigned int seed)
{
	int good = 1;

	for (unsigned int i = 0; i < PARTS; i++)
		good &= check(u, i, seed + i);
	return good;
}

static void two_clients(struct user *a, struct user *b)
{
	struct drm_mxgpu_memory m = {0};
	int good = 1;

	for (unsigned int i = 0; i < PARTS; i++)
		good &= add(b, i) && fill(b, i, 200 + i);
	ok(good, "another one, too");
	printf("# in VRAM: %u and %u of %u\n", resident(a), resident(b), PARTS);
	ok(resident(a) && resident(b) && resident(a) + resident(b) <= PARTS,
	   "each has some of it there");
	ok(resident(a) + resident(b) >= PARTS - 1, "and VRAM is in use");
	ok(!call(a->fd, DRM_IOCTL_MXGPU_MEMORY, &m) &&
	   m.vram_used == PARTS * a->size &&
	   m.vram_evicted >= (PARTS - resident(a) - 1) * a->size &&
	   m.vram_evicted, "MEMORY tells how much is not");
	ok(check_all(a, 100), "bytes of the first are as they were");
	ok(check_all(b, 200), "those of the second are");
	for (unsigned int i = 0; i < PARTS; i++)
		memset(a->vram[i] + PAGE, 7, PAGE);
	good = 1;
	for (unsigned int i = 0; i < PARTS; i++)
		good &= copy(a, VA_SYSTEM, vram_of(i)) &&
			a->system[PAGE] == 7 && a->system[2 * PAGE - 1] == 7;
	ok(good, "what the CPU writes there the device reads");
}

/* A WAIT that is under way when its queue is held, and all that follows. */
static void waiting_client(struct user *a, struct user *b)
{
	volatile uint64_t *flag = signal_of(a) + 1;
	union mxgpu_packet *p = next(a);

	p->wait = (struct mxgpu_packet_wait){
		.type = MXGPU_PKT_WAIT, .size = 8, .cond = MXGPU_WAIT_EQ,
		.addr = VA_SYSTEM + ring_at(a) + 2 * PAGE + 8, .value = 1,
	};
	push_copy(a, VA_SYSTEM, vram_of(3));
	ring(a);
	add_all(b, PARTS, 300);
	ok(*signal_of(a) != a->tail, "a queue that waits waits");
	ok(resident(a) < PARTS, "while its client's objects leave");
	*flag = 1;
	ok(wait_for(a) && same(a, a->system, 103, 64), "and goes on");
	ok(check_all(a, 100) && check_all(b, 300), "with the same bytes");
}

/* Used twice a second, all of it fits. */
static void comes_back(struct user *u, unsigned int seed)
{
	time_t end = time(NULL) + 20;
	int good = 1;

	while (resident(u) < PARTS && time(NULL) < end) {
		good &= check_all(u, seed);
		usleep(50000);
	}
	ok(good && resident(u) == PARTS, "what is used comes back when there is room");
	ok(check_all(u, seed), "as it was");
}

/* Who does nothing with its memory makes room for who does. */
static void idle_client(struct user *idle, struct user *u)
{
	time_t end = time(NULL) + 20;
	int good;

	good = add(u, 0) && fill(u, 0, 400);
	printf("# at first in VRAM: %u and %u\n", resident(idle), resident(u));
	while (!in_vram(u, 0) && time(NULL) < end) {
		good &= check(u, 0, 400);
		usleep(50000);
	}
	ok(good && in_vram(u, 0), "an object that is used replaces");
	ok(!in_vram(idle, 0), "one that is not");
	ok(check(idle, 0, 500) && check(u, 0, 400), "both as they were");
}

/* ---- who stays ---- */

static void *stay(int fd, uint64_t size, uint32_t *handle)
{
	struct drm_mxgpu_bo_create c = {.size = size, .flags = MXGPU_BO_STAY};
	void *p;

	if (call(fd, DRM_IOCTL_MXGPU_BO_CREATE, &c))
		return NULL;
	*handle = c.handle;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		 (off_t)c.mmap_offset);
	return p == MAP_FAILED ? NULL : p;
}

static void staying(struct user *a, struct user *b)
{
	a->vram[0] = stay(a->fd, a->size, &a->handle[0]);
	ok(a->vram[0] && !map(a->fd, a->handle[0], vram_of(0), a->size) &&
	   fill(a, 0, 600), "an object that stays");
	for (unsigned int i = 1; i < PARTS; i++)
		if (!add(a, i) || !fill(a, i, 600 + i))
			bail("objects");
	add_all(b, PARTS, 700);
	ok(in_vram(a, 0) && resident(a) < PARTS, "stays");
	ok(check_all(a, 600) && check_all(b, 700), "all as they were");
}

/* A copy that waits for a verdict which nobody gives for now. */
struct restless {
	struct drm_mxgpu_faults faults;
	struct mxgpu_fault_record record;
};

static int begin_restless(struct user *u, struct restless *r)
{
	union mxgpu_packet *p = next(u);

	*r = (struct restless){0};
	if (call(u->fd, DRM_IOCTL_MXGPU_FAULTS, &r->faults))
		bail("faults");
	p->copy = (struct mxgpu_packet_copy){
		.type = MXGPU_PKT_COPY, .flags = MXGPU_PKT_RECOVER,
		.src = vram_of(0), .dst = VA_SYSTEM - PAGE, .size = PAGE,
	};
	ring(u);
	return read(r->faults.fd, &r->record, sizeof(r->record)) ==
	       sizeof(r->record);
}

static int end_restless(struct user *u, struct restless *r)
{
	struct drm_mxgpu_resolve verdict = {
		.sequence = r->record.sequence,
		.verdict = MXGPU_RESOLVE_KILL,
	};
	int err = call(u->fd, DRM_IOCTL_MXGPU_RESOLVE, &verdict);

	close(r->faults.fd);
	return !err;
}

static void restless(struct user *a, struct user *b)
{
	struct timespec begin, end;
	struct restless r;
	double took;

	add_all(a, PARTS, 800);
	ok(begin_restless(a, &r), "a packet that does not end");
	clock_gettime(CLOCK_MONOTONIC, &begin);
	ok(add(b, 0) && fill(b, 0, 900), "others get memory");
	clock_gettime(CLOCK_MONOTONIC, &end);
	took = (double)(end.tv_sec - begin.tv_sec) +
	       1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
	printf("# after %.3f s\n", took);
	ok(resident(a) == PARTS && !in_vram(b, 0), "but not that client's");
	ok(end_restless(a, &r), "it ends");
	ok(check(b, 0, 900), "others have what they had");
}

#define MOST 3 /* as many as are asked in vain before the last one */
#define EACH (PARTS / (MOST + 1))

static unsigned int copy_engines(void)
{
	struct drm_mxgpu_info info = {0};
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 || call(fd, DRM_IOCTL_MXGPU_INFO, &info))
		bail("info");
	close(fd);
	return info.copy_engines;
}

/*
 * VRAM is full, and those are asked first who do not let go. What room the last one
 * makes is the new object's, and no other is.
 */
static void last_try(uint64_t size)
{
	struct user others[MOST + 1], *last = &others[MOST], b;
	struct restless r[MOST];
	/* Each has an engine for itself. */
	unsigned int count = copy_engines() < MOST ? copy_engines() : MOST;
	int good = 1;

	for (unsigned int n = 0; n <= MOST; n++) {
		open_user(&others[n], size);
		add_all(&others[n], EACH, 1000 + 10 * n);
	}
	open_user(&b, size);
	for (unsigned int n = 0; n < count; n++)
		good &= begin_restless(&others[n], &r[n]);
	ok(good && add(&b, 0), "memory where some do not let go of theirs");
	/* On a slow machine those are asked again before another one is. */
	printf("# %u of %u do not; %u in VRAM, and %u of the last one's\n",
	       count, MOST + 1, resident(&b), resident(last));
	for (unsigned int n = 0; n < count; n++) {
		good &= resident(&others[n]) == EACH;
		good &= end_restless(&others[n], &r[n]);
	}
	ok(good, "they have it");
	ok(fill(&b, 0, 1100) && check(&b, 0, 1100), "the object is its client's");
	for (unsigned int n = 0; n <= MOST; n++)
		for (unsigned int i = 0; i < EACH; i++)
			good &= same(&others[n], others[n].vram[i],
				     1000 + 10 * n + i, 512);
	ok(good, "and nobody else's");
	for (unsigned int n = 0; n <= MOST; n++)
		close_user(&others[n]);
	close_user(&b);
}

/* ---- many processes ---- */

static struct counts {
	volatile unsigned long rounds[PROCESSES + 1];
	volatile int ready;
} *counts;

static void child(unsigned int n, uint64_t size, unsigned int parts)
{
	struct user u;

	open_user(&u, size);
	for (unsigned int i = 0; i < parts; i++) {
		if (!add(&u, i) || !fill(&u, i, n * 1000 + i)) {
			print_failure("begin", n, i, 0);
			_exit(2);
		}
	}
	__sync_fetch_and_add(&counts->ready, 1);
	for (unsigned int round = 0;; round++) {
		unsigned int i = round % parts;
		unsigned int seed = n * 1000 + i + round / parts;

		if (!check(&u, i, seed)) {
			print_failure("check", n, i, round);
			_exit(3);
		}
		if (!fill(&u, i, seed + 1)) {
			print_failure("fill", n, i, round);
			_exit(4);
		}
		counts->rounds[n]++;
	}
}

static pid_t spawn(unsigned int n, uint64_t size, unsigned int parts)
{
	pid_t pid = fork();

	if (!pid)
		child(n, size, parts);
	return pid;
}

static int end(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGKILL;
}

static int one_has_ended(void)
{
	siginfo_t info = {0};

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) ||
	       info.si_pid;
}

/* Until each has found again all that it had. */
static void wait_rounds(unsigned int first, unsigned int last,
			unsigned long rounds)
{
	for (unsigned int n = first; n <= last; n++)
		while (n != 1 && counts->rounds[n] < rounds && !one_has_ended())
			usleep(10000);
}

/* Each wants 60 % of VRAM; one is killed in the middle, and replaced. */
static void processes(uint64_t total)
{
	const unsigned int parts = PROCESS_PARTS;
	uint64_t size = total * 6 / 10 / parts / PAGE * PAGE;
	struct drm_mxgpu_memory m = {0};
	pid_t pid[PROCESSES + 1];
	int good = 1, worked = 1, fd = open(path, O_RDWR | O_CLOEXEC);

	counts = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (unsigned int n = 0; n < PROCESSES; n++)
		pid[n] = spawn(n, size, parts);
	while (counts->ready < PROCESSES && !one_has_ended())
		usleep(10000);
	wait_rounds(0, PROCESSES - 1, 1);
	good &= end(pid[1]);
	pid[PROCESSES] = spawn(PROCESSES, size, parts);
	wait_rounds(0, PROCESSES, 2ul * parts);
	for (unsigned int n = 0; n <= PROCESSES; n++) {
		good &= n == 1 || end(pid[n]);
		worked &= n == 1 || counts->rounds[n] >= 2ul * parts;
		printf("# process %u: %lu rounds\n", n, counts->rounds[n]);
	}
	ok(good, "processes with 60 % of VRAM each find what they left");
	ok(worked, "all of it, again and again");
	for (int i = 0; i < 100 && m.vram_free != m.vram_total; i++) {
		usleep(50000);
		if (call(fd, DRM_IOCTL_MXGPU_MEMORY, &m))
			bail("memory");
	}
	ok(m.vram_free == m.vram_total, "and nothing is left of them");
	close(fd);
}

int main(int argc, char **argv)
{
	struct user a, b;
	uint64_t total, size;

	if (argc != 2) {
		fprintf(stderr, "usage: evict NODE\n");
		return 2;
	}
	path = argv[1];
	total = vram_total();
	size = total / PARTS;
	open_user(&a, size);
	open_user(&b, size);
	one_client(&a);
	two_clients(&a, &b);
	for (unsigned int i = 0; i < PARTS; i++)
		if (!fill(&a, i, 100 + i))
			bail("fill");
	close_user(&a);
	comes_back(&b, 200);
	close_user(&b);

	open_user(&a, size);
	open_user(&b, size);
	add_all(&a, PARTS, 100);
	waiting_client(&a, &b);
	close_user(&a);
	close_user(&b);

	size = total * 6 / 10 / PAGE * PAGE;
	open_user(&a, size);
	open_user(&b, size);
	add_all(&a, 1, 500);
	idle_client(&a, &b);
	close_user(&a);
	close_user(&b);

	size = total / PARTS;
	open_user(&a, size);
	open_user(&b, size);
	staying(&a, &b);
	close_user(&a);
	close_user(&b);
	open_user(&a, size);
	open_user(&b, size);
	restless(&a, &b);
	close_user(&a);
	close_user(&b);
	last_try(size);
	processes(total);
	return done();
}
