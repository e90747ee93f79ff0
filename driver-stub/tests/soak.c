/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usage: soak /dev/dri/renderD128 SECONDS SEED
 *
 * Eight processes that use the device all the time, each with memory and queues
 * of random sizes, and compare what comes back. One is killed now and then, in the
 * middle of whatever it does, and another takes its place; some close what they
 * have, some reset it, some just leave. In the end nothing of them may be left.
 * Writes TAP.
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

#define PROCESSES 8
#define QUEUES 3
#define PACKETS 16
#define MOST (256 * PAGE)

/* Of all processes together. */
static struct counts {
	unsigned long rounds, bytes, lives;
} *counts;

static unsigned int state;

static unsigned int number(unsigned int below)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % below;
}

static void die(const char *what, int err)
{
	fprintf(stderr, "process %d: %s: %s\n", getpid(), what, strerror(-err));
	_exit(1);
}

/* ---- a process ---- */

struct life {
	int fd;
	uint64_t size;		/* of the data: there, in VRAM, and back */
	uint8_t *vram;
	uint8_t *system;	/* data, what came back, then of each queue ... */
	uint32_t queue[QUEUES];
	volatile uint64_t *doorbell[QUEUES];
	uint64_t tail[QUEUES];
};

/* ... its ring, its control block, its signal: a page each. */
static uint64_t queue_at(const struct life *l, unsigned int q)
{
	return 2 * l->size + (uint64_t)q * 3 * PAGE;
}

static void begin(struct life *l, const char *path)
{
	uint64_t bytes;
	uint32_t handle;
	int err;

	l->fd = open(path, O_RDWR | O_CLOEXEC);
	if (l->fd < 0)
		die("open", -errno);
	l->size = (1 + number(MOST / PAGE)) * PAGE;
	bytes = queue_at(l, QUEUES);
	l->system = create(l->fd, MXGPU_PLACE_SYSTEM, bytes, &handle);
	if (!l->system)
		die("system memory", -errno);
	err = map(l->fd, handle, VA_SYSTEM, bytes);
	if (err)
		die("map system memory", err);
	l->vram = create(l->fd, MXGPU_PLACE_VRAM, l->size, &handle);
	if (!l->vram)
		die("VRAM", -errno);
	err = map(l->fd, handle, VA_VRAM, l->size);
	if (err)
		die("map VRAM", err);
	__sync_fetch_and_add(&counts->lives, 1);
}

static void begin_queue(struct life *l, unsigned int q)
{
	struct drm_mxgpu_queue_create args = {
		.ring = VA_SYSTEM + queue_at(l, q),
		.ctl = VA_SYSTEM + queue_at(l, q) + PAGE,
		.packets = PACKETS, .priority = 2 + number(6),
	};
	int err;

	memset(l->system + queue_at(l, q), 0, 3 * PAGE);
	err = call(l->fd, DRM_IOCTL_MXGPU_QUEUE_CREATE, &args);
	if (err)
		die("queue", err);
	l->queue[q] = args.queue;
	l->tail[q] = 0;
	l->doorbell[q] = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, l->fd,
			      (off_t)args.doorbell_offset);
	if (l->doorbell[q] == MAP_FAILED)
		die("doorbell", -errno);
}

static void end_queue(struct life *l, unsigned int q)
{
	struct drm_mxgpu_queue_destroy args = {.queue = l->queue[q]};
	int err = call(l->fd, DRM_IOCTL_MXGPU_QUEUE_DESTROY, &args);

	if (err)
		die("destroy", err);
	munmap((void *)l->doorbell[q], PAGE);
	l->doorbell[q] = NULL;
}

static void copy(struct life *l, unsigned int q, uint64_t dst, uint64_t src,
		 uint64_t signal)
{
	union mxgpu_packet *ring = (void *)(l->system + queue_at(l, q));

	ring[l->tail[q]++ % PACKETS].copy = (struct mxgpu_packet_copy){
		.type = MXGPU_PKT_COPY,
		.flags = MXGPU_PKT_BARRIER | MXGPU_PKT_IRQ,
		.src = src, .dst = dst, .size = l->size,
		.signal_addr = signal, .signal_value = l->tail[q],
	};
}

static void round_trip(struct life *l, unsigned int q)
{
	uint64_t at = queue_at(l, q) + 2 * PAGE;
	volatile uint64_t *signal = (void *)(l->system + at);
	struct drm_mxgpu_queue_wait w = {
		.queue = l->queue[q], .deadline = INT64_MAX,
	};
	unsigned int seed = number(256);

	for (uint64_t i = 0; i < l->size; i += 64)
		memset(l->system + i, (int)(seed + (i >> 6) + (i >> 12)), 64);
	copy(l, q, VA_VRAM, VA_SYSTEM, 0);
	copy(l, q, VA_SYSTEM + l->size, VA_VRAM, VA_SYSTEM + at);
	__sync_synchronize();
	*l->doorbell[q] = l->tail[q];
	while (*signal != l->tail[q]) {
		int err = call(l->fd, DRM_IOCTL_MXGPU_QUEUE_WAIT, &w);

		if (err && err != -EINTR)
			die("wait", err);
		w.seen = w.count;
	}
	if (memcmp(l->system, l->system + l->size, l->size) ||
	    memcmp(l->system, l->vram, l->size))
		die("other bytes came back", -EIO);
	__sync_fetch_and_add(&counts->rounds, 1);
	__sync_fetch_and_add(&counts->bytes, 2 * l->size);
}

static void live(const char *path)
{
	struct drm_mxgpu_reset reset = {0};
	struct life l = {0};

	begin(&l, path);
	for (unsigned int n = number(60); n; n--) {
		unsigned int q = number(QUEUES);

		if (!l.doorbell[q])
			begin_queue(&l, q);
		round_trip(&l, q);
		if (!number(8))
			end_queue(&l, q);
	}
	switch (number(3)) {
	case 0:
		for (unsigned int q = 0; q < QUEUES; q++)
			if (l.doorbell[q])
				end_queue(&l, q);
		break;
	case 1:
		if (call(l.fd, DRM_IOCTL_MXGPU_RESET, &reset))
			die("reset", -ENODEV);
		break;
	}
	munmap(l.system, queue_at(&l, QUEUES));
	munmap(l.vram, l.size);
	for (unsigned int q = 0; q < QUEUES; q++)
		if (l.doorbell[q])
			munmap((void *)l.doorbell[q], PAGE);
	close(l.fd);
}

/* ---- all of them ---- */

static pid_t spawn(const char *path, unsigned int seed)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	state = seed;
	for (;;)
		live(path);
}

/* Ends one; false: it had ended itself, which it does to complain. */
static int end(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGKILL;
}

static void check_left(const char *path)
{
	struct drm_mxgpu_memory m = {0};
	struct drm_mxgpu_state s = {0};
	int fd = open(path, O_RDWR | O_CLOEXEC), left = 1;

	/* The kernel closes files of the dead when it likes. */
	for (int i = 0; i < 100 && left; i++) {
		usleep(20000);
		left = call(fd, DRM_IOCTL_MXGPU_MEMORY, &m) ||
		       m.vram_free != m.vram_total;
	}
	ok(!left, "all VRAM is free again");
	ok(!call(fd, DRM_IOCTL_MXGPU_STATE, &s) && !s.state && !s.resets &&
	   !s.errors, "the device was never lost, and counted no error");
	close(fd);
}

int main(int argc, char **argv)
{
	pid_t pid[PROCESSES];
	unsigned int kills = 0, seed;
	int good = 1;
	time_t stop;

	if (argc != 4) {
		fprintf(stderr, "usage: soak NODE SECONDS SEED\n");
		return 2;
	}
	counts = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	state = seed = (unsigned int)atoi(argv[3]);
	stop = time(NULL) + atoi(argv[2]);
	for (unsigned int i = 0; i < PROCESSES; i++)
		pid[i] = spawn(argv[1], ++seed);
	while (time(NULL) < stop) {
		unsigned int i = number(PROCESSES);

		usleep(20000 + number(200000));
		good &= end(pid[i]);
		kills++;
		pid[i] = spawn(argv[1], ++seed);
	}
	for (unsigned int i = 0; i < PROCESSES; i++)
		good &= end(pid[i]);
	printf("# %lu round trips, %lu MiB, %lu clients, %u killed\n",
	       counts->rounds, counts->bytes >> 20, counts->lives, kills);
	ok(good, "eight processes, none of which complained");
	ok(counts->rounds > PROCESSES, "they did something");
	check_left(argv[1]);
	return done();
}
