// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory objects that move from VRAM to system memory and back: one by one when
 * VRAM is short (mxgpu_vram.c) or another device is to reach them, all of them
 * when the device sleeps (mxgpu_sleep.c).
 *
 * Work does not pass through the driver, which so cannot know what a packet is
 * about to use. It asks the firmware to hold the queues of all clients that have
 * such an object mapped, waits until the packets in flight have ended, moves the
 * bytes, writes the page tables anew and lets the queues go on: what was moved
 * out is reached over the bus, at the same addresses. A packet that does not end
 * in time keeps its client's objects where they are.
 *
 * The CPU copies, for the driver has no queue of its own, and the part of VRAM
 * that it gives out is the one that the CPU reaches.
 */
#include <linux/delay.h>
#include <linux/highmem.h>
#include <linux/io.h>
#include <linux/slab.h>

#include "mxgpu_drv.h"
#include "mxgpu_trace.h"

#define POLL_US 500

/* ---- queues ---- */

static bool is_launch(const struct mxgpu_queue *queue)
{
	return queue->launch.op;
}

bool mxgpu_queue_is_busy(const struct mxgpu_queue *queue)
{
	return !queue->stopped && queue->at.state == MXGPU_HOLD_BUSY;
}

static int hold(struct mxgpu_queue *queue)
{
	const struct mxgpu_msg_queue_hold msg = {
		.op = MXGPU_MSG_QUEUE_HOLD, .queue = queue->id,
	};
	int err;

	if (queue->stopped)
		return 0;
	err = mxgpu_mbox_ask(queue->file, &msg, sizeof(msg), &queue->at,
			     sizeof(queue->at));
	if (!err)
		queue->held = true;
	return err;
}

/**
 * mxgpu_queues_hold() - hold the queues of those files that are "moving"
 * @mdev: the device, with client_lock and queue_lock held
 * @launch: those that run what kernels launch, or the others. Grids that wait for
 * those of a launch queue need it: it comes last
 *
 * Return: how many have packets in flight, and the call is to be made again; or
 * -errno.
 */
int mxgpu_queues_hold(struct mxgpu_device *mdev, bool launch)
{
	unsigned int id;
	int err, n = 0;

	for (id = 0; id < MXGPU_MAX_QUEUES; id++) {
		struct mxgpu_queue *queue = mdev->queues[id];

		if (!queue || !queue->file->moving ||
		    is_launch(queue) != launch)
			continue;
		err = hold(queue);
		if (err)
			return err;
		n += mxgpu_queue_is_busy(queue);
	}
	return n;
}

/* Where it is now, not where it was when it was held: packets may have ended. */
static int resume(struct mxgpu_queue *queue)
{
	const struct mxgpu_msg_queue_resume msg = {
		.op = MXGPU_MSG_QUEUE_RESUME, .queue = queue->id,
		.index_lo = lower_32_bits(MXGPU_RESUME_HERE),
		.index_hi = upper_32_bits(MXGPU_RESUME_HERE),
	};
	int err;

	queue->held = false;
	/* One that has stopped is not resumed. */
	err = mxgpu_mbox_call(queue->file, &msg, sizeof(msg));
	return err == -EBUSY ? 0 : err;
}

/* Launch queues first: kernels of the others may look for them at once. */
static void resume_all(struct mxgpu_device *mdev)
{
	unsigned int id, launch;
	int err = 0;

	mutex_lock(&mdev->queue_lock);
	for (launch = 2; launch--;) {
		for (id = 0; id < MXGPU_MAX_QUEUES; id++) {
			struct mxgpu_queue *queue = mdev->queues[id];

			if (queue && queue->held && is_launch(queue) == launch)
				err = resume(queue) ?: err;
		}
	}
	mutex_unlock(&mdev->queue_lock);
	if (err && err != -ENODEV)
		mxgpu_lose(mdev, "a queue does not go on");
}

/* ---- bytes ---- */

/**
 * mxgpu_bo_copy() - copy an object between VRAM and its pages
 * @mdev: the device
 * @bo: has both
 * @save: from VRAM to the pages, or back
 */
void mxgpu_bo_copy(struct mxgpu_device *mdev, struct mxgpu_bo *bo, bool save)
{
	void __iomem *vram = mdev->vram + bo->vram.start;
	unsigned long i;

	for (i = 0; i < bo->base.size >> PAGE_SHIFT; i++) {
		void *p = kmap_local_page(bo->pages[i]);

		if (save)
			memcpy_fromio(p, vram + i * PAGE_SIZE, PAGE_SIZE);
		else
			memcpy_toio(vram + i * PAGE_SIZE, p, PAGE_SIZE);
		kunmap_local(p);
		cond_resched();
	}
	/* Before the device is told that it may look. */
	wmb();
}

/* ---- moving ---- */

/* Addresses of files may change, and nobody maps or makes queues. */
static void lock_all(struct mxgpu_device *mdev)
{
	struct mxgpu_file *file;

	list_for_each_entry(file, &mdev->files, link)
		mutex_lock_nest_lock(&file->vm_lock, &mdev->client_lock);
	mutex_lock(&mdev->queue_lock);
}

static void unlock_all(struct mxgpu_device *mdev)
{
	struct mxgpu_file *file;

	mutex_unlock(&mdev->queue_lock);
	list_for_each_entry(file, &mdev->files, link)
		mutex_unlock(&file->vm_lock);
}

/* Objects of who does not rest are left alone for a while. */
static void note_busy(struct mxgpu_device *mdev)
{
	unsigned int id;

	for (id = 0; id < MXGPU_MAX_QUEUES; id++) {
		struct mxgpu_queue *queue = mdev->queues[id];

		if (queue && queue->held && mxgpu_queue_is_busy(queue))
			mxgpu_vm_keep(queue->file, 0, MXGPU_VA_LIMIT);
	}
}

static int hold_users(struct mxgpu_device *mdev)
{
	struct mxgpu_file *file;
	int n;

	list_for_each_entry(file, &mdev->files, link)
		file->moving = mxgpu_vm_moves(file);
	n = mxgpu_queues_hold(mdev, false);
	return n ? n : mxgpu_queues_hold(mdev, true);
}

/*
 * 0: nobody uses what is "moving", and lock_all() has been done. No lock but
 * client_lock is held while packets are waited for, which may need it to end.
 */
static int rest(struct mxgpu_device *mdev, unsigned int ms)
{
	ktime_t end = ktime_add_ms(ktime_get(), ms);
	int n;

	for (;;) {
		lock_all(mdev);
		n = hold_users(mdev);
		if (!n)
			return 0;
		if (n > 0 && !ktime_before(ktime_get(), end)) {
			note_busy(mdev);
			n = -EBUSY;
		}
		unlock_all(mdev);
		if (n < 0)
			return n;
		usleep_range(POLL_US, 2 * POLL_US);
	}
}

static int prepare(struct mxgpu_device *mdev)
{
	struct mxgpu_file *file;
	int err = 0;

	list_for_each_entry(file, &mdev->files, link) {
		if (file->moving)
			err = mxgpu_vm_move_prepare(file);
		if (err)
			break;
	}
	return err;
}

static void move(struct mxgpu_device *mdev, struct mxgpu_bo *bo, bool to_vram)
{
	mutex_lock(&bo->place_lock);
	/* Who touches it meanwhile waits for place_lock. */
	drm_vma_node_unmap(&bo->base.vma_node, mdev->drm.anon_inode->i_mapping);
	mxgpu_bo_copy(mdev, bo, !to_vram);
	swap(bo->dma, bo->away);
	mutex_unlock(&bo->place_lock);
	trace_mxgpu_move(bo, to_vram);
}

static int move_all(struct mxgpu_device *mdev, struct list_head *bos,
		    bool to_vram)
{
	struct mxgpu_file *file;
	struct mxgpu_bo *bo;
	int err = prepare(mdev);

	if (err)
		return err;
	list_for_each_entry(bo, bos, move_link)
		move(mdev, bo, to_vram);
	list_for_each_entry(file, &mdev->files, link) {
		if (!file->moving)
			continue;
		mxgpu_vm_move(file);
		/* A device that does not obey has been stopped. */
		mxgpu_vm_invalidate(file, 0, MXGPU_VA_LIMIT);
		mxgpu_pt_reap(file);
	}
	return 0;
}

/* Pages for those that leave VRAM. */
static int find_room(struct list_head *bos)
{
	struct mxgpu_bo *bo;
	int err;

	list_for_each_entry(bo, bos, move_link) {
		err = mxgpu_bo_get_pages(bo);
		if (!err)
			err = mxgpu_bo_map_pages(bo, &bo->away);
		if (err)
			return err;
	}
	return 0;
}

/* What an object has where it is not. */
static void give_up_other(struct mxgpu_device *mdev, struct mxgpu_bo *bo)
{
	if (bo->dma) {
		mxgpu_vram_free(mdev, bo);
		return;
	}
	mxgpu_bo_unmap_pages(bo);
	kvfree(bo->away);
	bo->away = NULL;
	mxgpu_bo_put_pages(bo);
}

/**
 * mxgpu_move() - move objects of VRAM
 * @mdev: the device, inside of drm_dev_enter()
 * @bos: which, by move_link; to VRAM, with a node there. Somebody has a reference
 * @to_vram: to it, or from it to system memory
 * @ms: how long to wait for packets in flight
 *
 * Context: client_lock is held.
 * Return: 0; -EBUSY: not all packets of those who use them have ended; -ENOMEM;
 * -ENODEV. All have moved or none has.
 */
int mxgpu_move(struct mxgpu_device *mdev, struct list_head *bos, bool to_vram,
	       unsigned int ms)
{
	struct mxgpu_file *file;
	struct mxgpu_bo *bo;
	int err = to_vram ? 0 : find_room(bos);

	list_for_each_entry(bo, bos, move_link)
		bo->moving = true;
	if (!err)
		err = rest(mdev, ms);
	if (!err) {
		err = move_all(mdev, bos, to_vram);
		unlock_all(mdev);
	}
	resume_all(mdev);
	list_for_each_entry(file, &mdev->files, link)
		file->moving = false;
	list_for_each_entry(bo, bos, move_link) {
		bo->moving = false;
		give_up_other(mdev, bo);
		if (!err)
			mxgpu_vram_moved(mdev, bo);
	}
	return err;
}
