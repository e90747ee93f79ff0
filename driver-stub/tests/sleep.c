/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usage: sleep /dev/dri/renderD128 STATE LEVEL
 *
 * The machine goes to sleep (mem, disk: /sys/power/state) while one client has
 * queues in every condition there is, and another one work that does not end.
 * The first must not notice; the other is told. LEVEL is how far it goes and
 * comes back by itself (/sys/power/pm_test), or "none", and then a clock wakes
 * it, or who has started it wakes it from its swap. Writes TAP.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client.h"

#define VA_QUEUES 0x500000000ull
#define VA_NOWHERE 0x600000000ull
#define QUEUES 5
#define QUEUE_PAGES 3 /* ring, control block and list, signals and flags */

/* A queue of its own, in VRAM: all that it needs is lost if nobody saves it. */
struct queue {
	int fd;
	uint32_t id;
	union mxgpu_packet *ring, *list;
	volatile struct mxgpu_queue_ctl *ctl;
	volatile uint64_t *words, *doorbell;
	uint64_t va, tail;
};

static uint8_t *queue_memory;

static uint64_t word_va(const struct queue *q, unsigned int i)
{
	return q->va + 2 * PAGE + i * 8;
}

static void queue(struct client *c, struct queue *q, unsigned int n)
{
	uint8_t *memory = queue_memory + n * QUEUE_PAGES * PAGE;
	uint64_t va = VA_QUEUES + n * QUEUE_PAGES * PAGE;
	struct drm_mxgpu_queue_create args = {
		.ring = va, .ctl = va + PAGE, .packets = 64, .priority = 3,
	};

	if (call(c->fd, DRM_IOCTL_MXGPU_QUEUE_CREATE, &args))
		bail("queue");
	*q = (struct queue){
		.fd = c->fd, .id = args.queue, .va = va,
		.ring = (void *)memory, .ctl = (void *)(memory + PAGE),
		.list = (void *)(memory + PAGE + 1024),
		.words = (void *)(memory + 2 * PAGE),
	};
	q->doorbell = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, c->fd,
			   (off_t)args.doorbell_offset);
	if (q->doorbell == MAP_FAILED)
		bail("doorbell");
}

static void push(struct queue *q, const union mxgpu_packet *p)
{
	q->ring[q->tail++ % 64] = *p;
	__sync_synchronize();
	*q->doorbell = q->tail;
}

static union mxgpu_packet wait_packet(const struct queue *q, unsigned int word)
{
	return (union mxgpu_packet){ .wait = {
		.type = MXGPU_PKT_WAIT, .size = 8, .cond = MXGPU_WAIT_EQ,
		.addr = word_va(q, word), .value = 1,
	}};
}

/* A NOP that says that it was there. */
static union mxgpu_packet mark(const struct queue *q, unsigned int word,
			       uint64_t value)
{
	return (union mxgpu_packet){ .write = {
		.type = MXGPU_PKT_NOP, .flags = MXGPU_PKT_IRQ,
		.signal_addr = word_va(q, word), .signal_value = value,
	}};
}

/* Interrupts of a queue are counted since it was created. */
static int becomes(const struct queue *q, unsigned int word, uint64_t value)
{
	struct drm_mxgpu_queue_wait w = {
		.queue = q->id, .deadline = INT64_MAX,
	};
	int err = 0;

	while (q->words[word] != value && !err) {
		err = call(q->fd, DRM_IOCTL_MXGPU_QUEUE_WAIT, &w);
		w.seen = w.count;
	}
	return !err;
}

/* ---- before ---- */

static struct client quiet, endless;
static struct queue idle, waiting, listed, failed, launch;
static int lost_event;

static void prepare_quiet(const char *path)
{
	const uint64_t bytes = QUEUES * QUEUE_PAGES * PAGE;
	struct drm_mxgpu_queue_launch l = {.log2_records = 3};
	union mxgpu_packet bad = {.header = {.type = 99}}, p;
	uint32_t handle;

	start(&quiet, path);
	submit(&quiet, 3);
	finish(&quiet, 3);
	queue_memory = create(quiet.fd, MXGPU_PLACE_VRAM, bytes, &handle);
	if (!queue_memory || map(quiet.fd, handle, VA_QUEUES, bytes))
		bail("memory of queues");
	queue(&quiet, &idle, 0);
	queue(&quiet, &waiting, 1);
	queue(&quiet, &listed, 2);
	queue(&quiet, &failed, 3);
	queue(&quiet, &launch, 4);

	p = mark(&idle, 0, 1);
	push(&idle, &p);
	ok(becomes(&idle, 0, 1), "a queue that is idle");

	p = wait_packet(&waiting, 1);
	push(&waiting, &p);
	p = mark(&waiting, 0, 1);
	push(&waiting, &p);

	listed.list[0] = mark(&listed, 2, 7);
	listed.list[1] = wait_packet(&listed, 1);
	listed.list[2] = mark(&listed, 3, 7);
	p = (union mxgpu_packet){ .indirect = {
		.type = MXGPU_PKT_INDIRECT, .flags = MXGPU_PKT_IRQ, .count = 3,
		.list = listed.va + PAGE + 1024,
		.signal_addr = word_va(&listed, 0), .signal_value = 1,
	}};
	push(&listed, &p);
	ok(becomes(&listed, 2, 7), "one that waits in the middle of a list");
	listed.words[2] = 0;

	push(&failed, &bad);
	while (failed.ctl->state != MXGPU_QUEUE_ERROR)
		usleep(1000);
	ok(failed.ctl->error.code == MXGPU_QERR_PACKET,
	   "one that has stopped");

	l.queue = launch.id;
	l.ring = word_va(&launch, 0);
	ok(!call(quiet.fd, DRM_IOCTL_MXGPU_QUEUE_LAUNCH, &l),
	   "one for what kernels launch");
}

/* A copy that waits for a verdict which nobody gives. */
static void prepare_endless(const char *path)
{
	struct drm_mxgpu_faults faults = {0};
	struct drm_mxgpu_queue_eventfd e;
	union mxgpu_packet *ring;
	struct pollfd p;

	start(&endless, path);
	ring = (void *)(endless.system + AT_RING);
	if (call(endless.fd, DRM_IOCTL_MXGPU_FAULTS, &faults))
		bail("faults");
	lost_event = eventfd(0, EFD_NONBLOCK);
	e = (struct drm_mxgpu_queue_eventfd){
		.queue = endless.queue, .fd = lost_event,
	};
	if (call(endless.fd, DRM_IOCTL_MXGPU_QUEUE_EVENTFD, &e))
		bail("eventfd");
	ring[0].copy = (struct mxgpu_packet_copy){
		.type = MXGPU_PKT_COPY, .flags = MXGPU_PKT_RECOVER,
		.src = VA_VRAM, .dst = VA_NOWHERE, .size = PAGE,
	};
	__sync_synchronize();
	*endless.doorbell = 1;
	p = (struct pollfd){.fd = faults.fd, .events = POLLIN};
	ok(poll(&p, 1, -1) == 1, "another client's copy does not end");
}

/* ---- the night ---- */

static int set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY), good;

	good = fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value);
	if (fd >= 0)
		close(fd);
	return good;
}

static void night(const char *state, const char *level)
{
	ok(set("/sys/power/pm_test", level), "how far it goes");
	if (!strcmp(level, "none") && !strcmp(state, "mem"))
		ok(set("/sys/class/rtc/rtc0/wakealarm", "0") &&
		   set("/sys/class/rtc/rtc0/wakealarm", "+9"), "an alarm clock");
	ok(set("/sys/power/state", state), "the machine sleeps and wakes up");
}

/* ---- after ---- */

static void check_lost(const char *path)
{
	struct drm_mxgpu_queue_wait w = {.queue = endless.queue};
	struct drm_mxgpu_state s = {0};
	uint64_t count;
	int fd;

	ok(!call(endless.fd, DRM_IOCTL_MXGPU_STATE, &s) &&
	   s.state & MXGPU_STATE_LOST &&
	   endless.status->state & MXGPU_STATE_LOST,
	   "whose work did not end is told");
	ok(read(lost_event, &count, sizeof(count)) == sizeof(count),
	   "by its event, too");
	ok(call(endless.fd, DRM_IOCTL_MXGPU_QUEUE_WAIT, &w) == -ENODEV,
	   "and has no queue");
	*endless.doorbell = 2;
	ok(1, "its doorbell does no harm");
	close(endless.fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ok(fd >= 0 && !call(fd, DRM_IOCTL_MXGPU_STATE, &s) && !s.state &&
	   !s.resets, "a new client finds a device that was not reset");
	close(fd);
}

static void check_quiet(void)
{
	struct drm_mxgpu_queue_destroy d = {.queue = failed.id};
	struct drm_mxgpu_state s = {0};
	union mxgpu_packet p;

	ok(!call(quiet.fd, DRM_IOCTL_MXGPU_STATE, &s) && !s.state &&
	   !quiet.status->state, "the other one has lost nothing");
	ok(!memcmp(quiet.vram, quiet.system, SIZE), "VRAM is as it was");
	ok(idle.ctl->read_index == 1 && idle.ctl->state != MXGPU_QUEUE_ERROR,
	   "and control blocks are");
	p = mark(&idle, 0, 2);
	push(&idle, &p);
	ok(becomes(&idle, 0, 2), "the idle queue works");

	ok(!waiting.words[0] && waiting.ctl->read_index == 0,
	   "the one that waits waits");
	waiting.words[1] = 1;
	ok(becomes(&waiting, 0, 1), "until it need not");

	listed.words[1] = 1;
	ok(becomes(&listed, 0, 1) && listed.words[3] == 7,
	   "the list goes on");
	ok(!listed.words[2], "where it was");

	ok(failed.ctl->state == MXGPU_QUEUE_ERROR &&
	   failed.ctl->error.code == MXGPU_QERR_PACKET,
	   "what had stopped still says why");
	ok(!call(quiet.fd, DRM_IOCTL_MXGPU_QUEUE_DESTROY, &d) &&
	   call(quiet.fd, DRM_IOCTL_MXGPU_QUEUE_DESTROY, &d) == -ENOENT,
	   "and can be destroyed");
	queue(&quiet, &failed, 3);
	p = mark(&failed, 0, 9);
	push(&failed, &p);
	ok(becomes(&failed, 0, 9), "and made again");
	d.queue = launch.id;
	ok(!call(quiet.fd, DRM_IOCTL_MXGPU_QUEUE_DESTROY, &d),
	   "the launch queue is there");
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: sleep NODE STATE LEVEL\n");
		return 2;
	}
	prepare_quiet(argv[1]);
	prepare_endless(argv[1]);
	night(argv[2], argv[3]);
	check_quiet();
	check_lost(argv[1]);
	return done();
}
