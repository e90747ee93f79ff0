// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device tried from inside of the kernel (debugfs: selftest), when no program is
 * at hand or none is trusted. Names that are written there run, "all" stands for
 * those that disturb nobody; the write fails as the first one that fails. A read
 * tells of the last run, as TAP.
 *
 * A test is a client like those of processes, with an address space and a queue of
 * its own, and comes and goes with its run. So others only notice that there is one
 * more; sleep, resets and eviction treat it as they treat anybody; and what it leaves
 * behind when a signal ends it is what a process that is killed leaves.
 *
 * The last one, "reset", would take the device from everybody. It is refused while
 * somebody has it.
 */
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_managed.h>
#include <linux/debugfs.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/module.h>
#include <linux/pm_runtime.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>

#include "mxgpu/kernel.h"
#include "mxgpu_drv.h"

#define TIMEOUT (10 * HZ)	/* for packets */
#define LOOK (HZ / 2)
#define PACKETS 16
#define BYTES SZ_64K
#define WORDS (BYTES / 4)
#define BLOCK 64

/* Device addresses. */
#define SYSTEM_VA 0x100000000ull
#define VRAM_VA 0x200000000ull
#define NOTHING_VA 0x300000000ull	/* where nothing is mapped */
#define VA(member) (SYSTEM_VA + offsetof(struct test_memory, member))

struct mxgpu_selftest_result {
	int err;
	bool ran;
	char why[96];
};

/* What the device reads and writes in system memory. */
struct test_memory {
	union mxgpu_packet ring[PACKETS];
	struct mxgpu_queue_ctl ctl;
	struct mxgpu_kernel_desc desc;
	u64 args[2];		/* of the kernel: where it writes to */
	u64 signal;
	u32 code[16];
	char name[16];
	u32 src[WORDS] __aligned(SZ_4K);
	u32 dst[WORDS];
};

/* A client. */
struct test_client {
	struct mxgpu_device *mdev;
	struct mxgpu_selftest_result *result;
	struct mxgpu_file *file;
	struct mxgpu_bo *system, *vram;
	struct test_memory *memory;	/* system, as the CPU sees it */
	u32 __iomem *vram_words;
	void __iomem *doorbell;
	unsigned int queue;
	u64 tail;			/* packets that were sent */
};

/* out[i] = 3 * i + 1, i being the thread's number in the grid */
static const u32 kernel_code[] = {
	0x00053583,	/* ld a1, (a0) */
	0xcc602673,	/* csrr a2, blockIdx.x */
	0xcc3026f3,	/* csrr a3, blockDim.x */
	0xcc002773,	/* csrr a4, threadIdx.x */
	0x02d60633,	/* mul a2, a2, a3 */
	0x00e60633,	/* add a2, a2, a4 */
	0x00261693,	/* slli a3, a2, 2 */
	0x00d585b3,	/* add a1, a1, a3 */
	0x00161713,	/* slli a4, a2, 1 */
	0x00e60633,	/* add a2, a2, a4 */
	0x00160613,	/* addi a2, a2, 1 */
	0x00c5a023,	/* sw a2, (a1) */
	0x0000000b,	/* mx.exit */
};

/* ---- a client ---- */

static __printf(3, 4) int fail(struct test_client *c, int err,
			       const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vscnprintf(c->result->why, sizeof(c->result->why), format, args);
	va_end(args);
	return err;
}

static int map(struct test_client *c, struct mxgpu_bo *bo, u64 va, u64 perms)
{
	const struct drm_mxgpu_vm_map args = {
		.va = va, .size = bo->base.size,
		.perms = perms | MXGPU_PTE_READ | MXGPU_PTE_WRITE,
	};

	return mxgpu_vm_map(c->file, bo, &args);
}

static int queue_new(struct test_client *c)
{
	struct drm_mxgpu_queue_create args = {
		.ring = VA(ring), .ctl = VA(ctl), .packets = PACKETS,
		.priority = c->mdev->info.priorities / 2,
	};
	int err = mxgpu_queue_create(c->file, &args);

	if (err)
		return fail(c, err, "no queue");
	c->queue = args.queue;
	c->tail = 0;
	WRITE_ONCE(c->memory->signal, 0);
	c->doorbell = ioremap(pci_resource_start(c->mdev->pdev,
						 MXGPU_BAR_DOORBELL) +
			      args.queue * MXGPU_DOORBELL_STRIDE, 8);
	return c->doorbell ? 0 : fail(c, -ENOMEM, "no doorbell");
}

static void queue_end(struct test_client *c)
{
	if (c->doorbell)
		iounmap(c->doorbell);
	c->doorbell = NULL;
	mxgpu_queues_destroy(c->file);
}

static int memory_new(struct test_client *c)
{
	struct mxgpu_bo *bo;
	int err;

	bo = mxgpu_bo_create(c->file, PAGE_ALIGN(sizeof(*c->memory)),
			     MXGPU_PLACE_SYSTEM, 0);
	if (IS_ERR(bo))
		return fail(c, PTR_ERR(bo), "no memory");
	c->system = bo;
	c->memory = vmap(bo->pages, bo->base.size >> PAGE_SHIFT, VM_MAP,
			 PAGE_KERNEL);
	if (!c->memory)
		return fail(c, -ENOMEM, "no memory");
	bo = mxgpu_bo_create(c->file, BYTES, MXGPU_PLACE_VRAM, MXGPU_BO_STAY);
	if (IS_ERR(bo))
		return fail(c, PTR_ERR(bo), "no VRAM");
	c->vram = bo;
	c->vram_words = c->mdev->vram + bo->vram.start;
	err = map(c, c->system, SYSTEM_VA, MXGPU_PTE_EXECUTE);
	if (!err)
		err = map(c, c->vram, VRAM_VA, 0);
	return err ? fail(c, err, "an address space that does not map") : 0;
}

static void client_end(struct test_client *c)
{
	if (IS_ERR_OR_NULL(c->file))
		return;
	queue_end(c);
	mxgpu_client_end(c->file);
	if (c->memory)
		vunmap(c->memory);
	if (c->vram)
		drm_gem_object_put(&c->vram->base);
	if (c->system)
		drm_gem_object_put(&c->system->base);
	c->file = NULL;
}

static int client_new(struct test_client *c, struct mxgpu_device *mdev,
		      struct mxgpu_selftest_result *result)
{
	int err;

	*c = (struct test_client) { .mdev = mdev, .result = result };
	c->file = mxgpu_client_new(mdev);
	if (IS_ERR(c->file))
		return fail(c, PTR_ERR(c->file), "no client");
	err = memory_new(c);
	if (!err)
		err = queue_new(c);
	if (err)
		client_end(c);
	return err;
}

/* ---- packets ---- */

static u32 interrupts(struct test_client *c)
{
	return READ_ONCE(c->file->status->irqs[c->queue]);
}

static bool stopped(struct test_client *c)
{
	return READ_ONCE(c->memory->ctl.state) == MXGPU_QUEUE_ERROR;
}

static bool done(struct test_client *c, u32 seen)
{
	return (READ_ONCE(c->memory->signal) == c->tail || stopped(c)) &&
	       interrupts(c) != seen;
}

/* Whether it is done, or will never be. Not longer, for remove() waits for us. */
static int wait_done(struct test_client *c, u32 seen)
{
	struct mxgpu_device *mdev = c->mdev;
	unsigned long end = jiffies + TIMEOUT;

	while (!done(c, seen)) {
		int err;

		if (!mxgpu_file_ok(c->file) ||
		    drm_dev_is_unplugged(&mdev->drm))
			return fail(c, -ENODEV, "the device is lost");
		if (time_after(jiffies, end))
			return fail(c, -ETIMEDOUT,
				    "packet %llu of %llu, signal %llu, interrupts %u",
				    READ_ONCE(c->memory->ctl.read_index),
				    c->tail, READ_ONCE(c->memory->signal),
				    interrupts(c) - seen);
		err = wait_event_interruptible_timeout(mdev->queue_wait,
						       done(c, seen) ||
						       !mxgpu_file_ok(c->file),
						       LOOK);
		if (err < 0)
			return fail(c, err, "interrupted");
	}
	return 0;
}

static void put(struct test_client *c, const void *packet)
{
	memcpy(&c->memory->ring[c->tail++ % PACKETS], packet,
	       sizeof(union mxgpu_packet));
}

/* Sends those that were put, and waits. The last one has the signal. */
static int ring(struct test_client *c)
{
	struct mxgpu_packet_copy *last =
		&c->memory->ring[(c->tail - 1) % PACKETS].copy;
	u32 seen = interrupts(c);

	last->flags |= MXGPU_PKT_BARRIER | MXGPU_PKT_IRQ;
	last->signal_addr = VA(signal);
	last->signal_value = c->tail;
	/* The packets are in memory before that is: writeq orders. */
	writeq(c->tail, c->doorbell);
	return wait_done(c, seen);
}

static int run(struct test_client *c)
{
	const struct mxgpu_queue_error *error = &c->memory->ctl.error;
	int err = ring(c);

	if (!err && stopped(c))
		err = fail(c, -EIO, "the queue stops: error %u, fault %u at %#llx",
			   error->code, error->fault, error->fault_addr);
	return err;
}

static int compare(struct test_client *c, const char *what, u32 word, u32 got,
		   u32 want)
{
	return got == want ? 0 : fail(c, -EIO, "%s: word %u is %#x, not %#x",
				      what, word, got, want);
}

static void put_copy(struct test_client *c, u64 dst, u64 src)
{
	const struct mxgpu_packet_copy packet = {
		.type = MXGPU_PKT_COPY, .flags = MXGPU_PKT_BARRIER,
		.src = src, .dst = dst, .size = BYTES,
	};

	put(c, &packet);
}

/* ---- tests ---- */

/* To VRAM and back; the CPU finds there what the copy engine has written. */
static int test_copy(struct test_client *c)
{
	u32 i;
	int err;

	get_random_bytes(c->memory->src, BYTES);
	memset(c->memory->dst, 0, BYTES);
	put_copy(c, VRAM_VA, VA(src));
	put_copy(c, VA(dst), VRAM_VA);
	err = run(c);
	for (i = 0; !err && i < WORDS; i++) {
		u32 want = c->memory->src[i];

		err = compare(c, "VRAM", i, readl(c->vram_words + i), want);
		if (!err)
			err = compare(c, "the copy of VRAM", i,
				      c->memory->dst[i], want);
	}
	return err;
}

/* The middle of VRAM that is all ones before. */
static int test_fill(struct test_client *c)
{
	struct mxgpu_packet_fill packet = {
		.type = MXGPU_PKT_FILL, .flags = MXGPU_PKT_BARRIER,
		.pattern_size = 8, .dst = VRAM_VA + SZ_4K,
		.size = BYTES - 2 * SZ_4K,
	};
	u32 i, pattern[2];
	int err;

	get_random_bytes(pattern, sizeof(pattern));
	memcpy(packet.pattern, pattern, sizeof(pattern));
	for (i = 0; i < WORDS; i++)
		writel(U32_MAX, c->vram_words + i);
	put(c, &packet);
	err = run(c);
	for (i = 0; !err && i < WORDS; i++) {
		bool inside = i >= SZ_4K / 4 && i < WORDS - SZ_4K / 4;

		err = compare(c, "VRAM", i, readl(c->vram_words + i),
			      inside ? pattern[i % 2] : U32_MAX);
	}
	return err;
}

static int test_dispatch(struct test_client *c)
{
	struct test_memory *memory = c->memory;
	const struct mxgpu_packet_dispatch packet = {
		.type = MXGPU_PKT_DISPATCH, .flags = MXGPU_PKT_BARRIER,
		.kernel = VA(desc), .args = VA(args),
		.grid = { WORDS / BLOCK, 1, 1 }, .block = { BLOCK, 1, 1 },
	};
	u32 i;
	int err;

	BUILD_BUG_ON(sizeof(kernel_code) > sizeof(memory->code));
	BUILD_BUG_ON(offsetof(struct test_memory, ctl) % 64);
	BUILD_BUG_ON(offsetof(struct test_memory, args) % 16);
	memcpy(memory->code, kernel_code, sizeof(kernel_code));
	strscpy(memory->name, "selftest", sizeof(memory->name));
	memory->desc = (struct mxgpu_kernel_desc) {
		.magic = MXGPU_KERNEL_MAGIC, .abi = MXGPU_KERNEL_ABI,
		.entry = VA(code), .name = VA(name),
		.arg_size = sizeof(memory->args), .registers = 64,
	};
	memory->args[0] = VA(dst);
	memset(memory->dst, 0xff, BYTES);
	put(c, &packet);
	err = run(c);
	for (i = 0; !err && i < WORDS; i++)
		err = compare(c, "what threads have written", i, memory->dst[i],
			      3 * i + 1);
	return err;
}

/* Of one of two clients: the other one does not notice, and the one comes back. */
static int test_fault(struct test_client *c)
{
	const struct mxgpu_queue_error *error = &c->memory->ctl.error;
	struct test_client other;
	int err;

	err = client_new(&other, c->mdev, c->result);
	if (err)
		return err;
	put_copy(c, VA(dst), NOTHING_VA);
	err = ring(c);
	if (!err && (!stopped(c) || error->code != MXGPU_QERR_FAULT ||
		     error->fault_addr != NOTHING_VA))
		err = fail(c, -EIO, "queue %s, error %u at %#llx",
			   stopped(c) ? "stopped" : "goes on", error->code,
			   error->fault_addr);
	if (!err)
		err = test_copy(&other);
	client_end(&other);
	if (err)
		return err;
	queue_end(c);
	err = queue_new(c);
	return err ? err : test_copy(c);
}

/* Without a client, and with one afterwards. */
static int test_reset(struct test_client *c)
{
	struct mxgpu_selftest_result *result = c->result;
	struct mxgpu_device *mdev = c->mdev;
	u32 before = READ_ONCE(mdev->generation);
	int err;

	client_end(c);
	err = mxgpu_reset_idle(mdev);
	if (err)
		return fail(c, err, err == -EBUSY ? "somebody has the device" :
						    "the device does not come back");
	err = client_new(c, mdev, result);
	if (err)
		return err;
	if (READ_ONCE(mdev->generation) == before)
		return fail(c, -EIO, "it was not reset");
	return test_copy(c);
}

static const struct {
	const char *name;
	int (*run)(struct test_client *c);
	bool alone;	/* not among "all" */
} tests[] = {
	{ "copy", test_copy },
	{ "fill", test_fill },
	{ "dispatch", test_dispatch },
	{ "fault", test_fault },
	{ "reset", test_reset, true },
};

struct mxgpu_selftest {
	struct mutex lock;	/* one run at a time */
	struct mxgpu_selftest_result result[ARRAY_SIZE(tests)];
};

/* ---- runs ---- */

static int run_test(struct mxgpu_device *mdev, unsigned int i)
{
	struct mxgpu_selftest_result *result = &mdev->selftest->result[i];
	struct test_client c;
	int err;

	*result = (struct mxgpu_selftest_result) { .ran = true };
	err = client_new(&c, mdev, result);
	if (!err) {
		err = tests[i].run(&c);
		client_end(&c);
	}
	result->err = err;
	return err;
}

/* Those of a mask; with the lock held. What a signal has ended goes no further. */
static int run_tests(struct mxgpu_device *mdev, unsigned long which)
{
	int err = 0, idx;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tests); i++)
		mdev->selftest->result[i].ran = false;
	if (!drm_dev_enter(&mdev->drm, &idx))
		return -ENODEV;
	for_each_set_bit(i, &which, ARRAY_SIZE(tests)) {
		int ret = run_test(mdev, i);

		if (!err || ret == -ERESTARTSYS)
			err = ret;
		if (ret == -ERESTARTSYS)
			break;
	}
	drm_dev_exit(idx);
	return err;
}

static unsigned long which_tests(const char *name)
{
	unsigned long which = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		if (!strcmp(name, tests[i].name) ||
		    (!strcmp(name, "all") && !tests[i].alone))
			which |= BIT(i);
	}
	return which;
}

static int parse(char *line, unsigned long *which)
{
	char *word;

	*which = 0;
	while ((word = strsep(&line, "\n "))) {
		unsigned long more = *word ? which_tests(word) : 0;

		if (*word && !more)
			return -EINVAL;
		*which |= more;
	}
	return *which ? 0 : -EINVAL;
}

static ssize_t selftest_write(struct file *filp, const char __user *text,
			      size_t size, loff_t *pos)
{
	struct mxgpu_device *mdev =
		((struct seq_file *)filp->private_data)->private;
	struct device *dev = mdev->drm.dev;
	unsigned long which;
	char line[64];
	int err;

	if (!size || size >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, text, size))
		return -EFAULT;
	line[size] = '\0';
	err = parse(line, &which);
	if (err)
		return err;
	err = mutex_lock_interruptible(&mdev->selftest->lock);
	if (err)
		return err;
	err = pm_runtime_resume_and_get(dev);
	if (!err) {
		err = run_tests(mdev, which);
		pm_runtime_mark_last_busy(dev);
		pm_runtime_put_autosuspend(dev);
	}
	mutex_unlock(&mdev->selftest->lock);
	return err ? err : size;
}

static int selftest_show(struct seq_file *m, void *unused)
{
	struct mxgpu_device *mdev = m->private;
	struct mxgpu_selftest *st = mdev->selftest;
	unsigned int i, n = 0;
	int err;

	err = mutex_lock_interruptible(&st->lock);
	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		const struct mxgpu_selftest_result *result = &st->result[i];

		if (!result->ran)
			continue;
		n++;
		if (result->err)
			seq_printf(m, "not ok %u - %s: %s (%d)\n", n,
				   tests[i].name, result->why, result->err);
		else
			seq_printf(m, "ok %u - %s\n", n, tests[i].name);
	}
	seq_printf(m, "1..%u\n", n);
	mutex_unlock(&st->lock);
	return 0;
}

static int selftest_open(struct inode *inode, struct file *filp)
{
	return single_open(filp, selftest_show, inode->i_private);
}

static const struct file_operations selftest_fops = {
	.owner = THIS_MODULE,
	.open = selftest_open,
	.read = seq_read,
	.write = selftest_write,
	.llseek = seq_lseek,
	.release = single_release,
};

void mxgpu_selftest_debugfs(struct drm_minor *minor)
{
	debugfs_create_file("selftest", 0600, minor->debugfs_root,
			    to_mxgpu(minor->dev), &selftest_fops);
}

int mxgpu_selftest_init(struct mxgpu_device *mdev)
{
	struct mxgpu_selftest *st =
		drmm_kzalloc(&mdev->drm, sizeof(*st), GFP_KERNEL);

	if (!st)
		return -ENOMEM;
	mutex_init(&st->lock);
	mdev->selftest = st;
	return 0;
}
