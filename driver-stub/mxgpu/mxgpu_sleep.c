// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sleep, of the machine or of the device alone: what the device would lose goes to
 * memory of the system, and comes back, so that clients do not notice.
 *
 * Processes are frozen by then: nobody rings. Queues are held still, packets that
 * are in flight get DRAIN_MS to end. A client whose packets do not is lost to it
 * (its kernel may be an endless one, or wait for a verdict on a fault that no
 * process gives now); the others are not. Then VRAM is saved (mxgpu_move.c), and
 * the device reset. Page tables and what else is in the system's memory, evicted
 * objects of VRAM among it, stay where they are.
 *
 * The way back: reset, firmware, VRAM, address spaces, queues, each of which goes
 * on with the packet that is next. A queue that had stopped is not made again:
 * its control block says why it stopped, and that is all it is good for.
 */
#include <linux/delay.h>
#include <linux/firmware.h>

#include "mxgpu_drv.h"
#include "mxgpu_trace.h"

#define DRAIN_MS 3000
#define POLL_US 500

/* ---- queues ---- */

static bool is_launch(const struct mxgpu_queue *queue)
{
	return queue->launch.op;
}

/* Grids that wait for those of a launch queue need it: it comes last. */
static int drain(struct mxgpu_device *mdev, bool launch)
{
	ktime_t end = ktime_add_ms(ktime_get(), DRAIN_MS);
	struct mxgpu_queue *queue;
	unsigned int id;
	int n;

	while ((n = mxgpu_queues_hold(mdev, launch)) > 0 &&
	       ktime_before(ktime_get(), end))
		usleep_range(POLL_US, 2 * POLL_US);
	for (id = 0; n > 0 && id < MXGPU_MAX_QUEUES; id++) {
		queue = mdev->queues[id];
		if (queue && is_launch(queue) == launch && mxgpu_queue_is_busy(queue)) {
			drm_warn(&mdev->drm, "client %llu: queue %u does not rest\n",
				 queue->file->id, id);
			mxgpu_file_lose(queue->file);
		}
	}
	return min(n, 0);
}

static void note_stopped(struct mxgpu_device *mdev)
{
	unsigned int id;

	for (id = 0; id < MXGPU_MAX_QUEUES; id++) {
		struct mxgpu_queue *queue = mdev->queues[id];

		if (queue && queue->at.state == MXGPU_HOLD_ERROR)
			queue->stopped = true;
	}
}

static int tell(struct mxgpu_device *mdev, const void *msg, size_t size)
{
	return mxgpu_mbox_ask_locked(mdev, msg, size, NULL, 0);
}

static int queue_wake(struct mxgpu_device *mdev, struct mxgpu_queue *queue)
{
	const struct mxgpu_msg_queue_hold hold = {
		.op = MXGPU_MSG_QUEUE_HOLD, .queue = queue->id,
	};
	const struct mxgpu_msg_queue_resume resume = {
		.op = MXGPU_MSG_QUEUE_RESUME, .queue = queue->id,
		.index_lo = queue->at.index_lo, .index_hi = queue->at.index_hi,
		.tail_lo = queue->at.tail_lo, .tail_hi = queue->at.tail_hi,
		.inner = queue->at.inner, .head = queue->at.head,
	};
	int err = tell(mdev, &queue->create, sizeof(queue->create));

	queue->held = false;
	if (!err && queue->profile.op)
		err = tell(mdev, &queue->profile, sizeof(queue->profile));
	if (!err && queue->launch.op)
		err = tell(mdev, &queue->launch, sizeof(queue->launch));
	if (!err)
		err = tell(mdev, &hold, sizeof(hold));
	return err ? err : tell(mdev, &resume, sizeof(resume));
}

static int queues_wake(struct mxgpu_file *file, bool launch)
{
	struct mxgpu_device *mdev = file->mdev;
	unsigned int id;
	int err = 0;

	for (id = 0; !err && id < MXGPU_MAX_QUEUES; id++) {
		struct mxgpu_queue *queue = mdev->queues[id];

		if (queue && queue->file == file && !queue->stopped &&
		    is_launch(queue) == launch)
			err = queue_wake(mdev, queue);
	}
	return err;
}

/* Launch queues first: kernels of the others may look for them at once. */
static int file_wake(struct mxgpu_file *file)
{
	int err = mxgpu_vm_wake(file);

	if (!err && file->contexts.op)
		err = tell(file->mdev, &file->contexts, sizeof(file->contexts));
	if (!err)
		err = queues_wake(file, true);
	return err ? err : queues_wake(file, false);
}

/* ---- VRAM ---- */

/* Memory for it; later there may be none. */
static int bo_reserve(struct mxgpu_device *mdev, struct mxgpu_bo *bo)
{
	return mxgpu_bo_get_pages(bo);
}

static int bo_save(struct mxgpu_device *mdev, struct mxgpu_bo *bo)
{
	mxgpu_bo_copy(mdev, bo, true);
	return 0;
}

static int bo_restore(struct mxgpu_device *mdev, struct mxgpu_bo *bo)
{
	mxgpu_bo_copy(mdev, bo, false);
	return 0;
}

static int bo_forget(struct mxgpu_device *mdev, struct mxgpu_bo *bo)
{
	mxgpu_bo_put_pages(bo);
	return 0;
}

/*
 * For each object of VRAM, with client_lock held. Nobody makes, moves or frees any,
 * for processes are frozen; vram_lock, under which nothing allocates memory, is
 * held only to find them.
 */
static int each_bo(struct mxgpu_device *mdev,
		   int (*what)(struct mxgpu_device *, struct mxgpu_bo *))
{
	struct mxgpu_bo *bo, *next;
	struct drm_mm_node *node;
	LIST_HEAD(all);
	int err = 0;

	mutex_lock(&mdev->vram_lock);
	drm_mm_for_each_node(node, &mdev->vram_mm) {
		bo = container_of(node, struct mxgpu_bo, vram);
		if (kref_get_unless_zero(&bo->base.refcount))
			list_add_tail(&bo->move_link, &all);
	}
	mutex_unlock(&mdev->vram_lock);
	list_for_each_entry_safe(bo, next, &all, move_link) {
		if (!err)
			err = what(mdev, bo);
		list_del(&bo->move_link);
		drm_gem_object_put(&bo->base);
	}
	return err;
}

/* ---- there and back ---- */

/* With client_lock and queue_lock held. */
static int put_to_sleep(struct mxgpu_device *mdev)
{
	struct mxgpu_file *file;
	int err;

	list_for_each_entry(file, &mdev->files, link)
		file->moving = true;
	err = drain(mdev, false);
	if (!err)
		err = drain(mdev, true);
	if (!err)
		err = each_bo(mdev, bo_save);
	if (err)
		return err;
	note_stopped(mdev);
	list_for_each_entry(file, &mdev->files, link)
		mxgpu_vm_sleep(file);
	return mxgpu_doze(mdev);
}

/**
 * mxgpu_sleep_end() - give back what sleep has taken
 * @mdev: the device, which is awake or will never be
 */
void mxgpu_sleep_end(struct mxgpu_device *mdev)
{
	mutex_lock(&mdev->client_lock);
	each_bo(mdev, bo_forget);
	mutex_unlock(&mdev->client_lock);
	release_firmware(mdev->sleep_fw);
	mdev->sleep_fw = NULL;
}

/**
 * mxgpu_sleep() - be prepared for the loss of all that is in the device
 * @mdev: the device
 *
 * Context: processes are frozen, or there is no client.
 * Return: 0; -ENODEV when the device is lost or has just been; another -errno,
 * and all is as before.
 */
int mxgpu_sleep(struct mxgpu_device *mdev)
{
	int err;

	if (READ_ONCE(mdev->state) != MXGPU_UP)
		return -ENODEV;
	/* Where it comes from may not be there when it is needed. */
	err = mxgpu_mcu_find(mdev, &mdev->sleep_fw);
	mutex_lock(&mdev->client_lock);
	if (!err)
		err = each_bo(mdev, bo_reserve);
	if (err) {
		mutex_unlock(&mdev->client_lock);
		mxgpu_sleep_end(mdev);
		return err;
	}
	mutex_lock(&mdev->queue_lock);
	err = put_to_sleep(mdev);
	mutex_unlock(&mdev->queue_lock);
	mutex_unlock(&mdev->client_lock);
	if (!err)
		return 0;
	mxgpu_sleep_end(mdev);
	mxgpu_lose(mdev, "its state cannot be saved");
	return -ENODEV;
}

/* Of a file that does not come back, in the firmware. */
static void file_drop(struct mxgpu_file *file)
{
	struct mxgpu_device *mdev = file->mdev;
	unsigned int id;

	for (id = 0; id < MXGPU_MAX_QUEUES; id++) {
		const struct mxgpu_msg_queue_destroy msg = {
			.op = MXGPU_MSG_QUEUE_DESTROY, .queue = id,
		};

		if (mdev->queues[id] && mdev->queues[id]->file == file)
			tell(mdev, &msg, sizeof(msg));
	}
	mxgpu_vm_drop(file);
	mxgpu_file_lose(file);
}

/* With client_lock, queue_lock and mbox_lock held. */
static int restore(struct mxgpu_device *mdev)
{
	struct mxgpu_file *file;
	int err = mxgpu_bring_up(mdev, mdev->sleep_fw);

	if (!err)
		err = each_bo(mdev, bo_restore);
	if (err)
		return err;
	list_for_each_entry(file, &mdev->files, link) {
		if (!file->vmid)
			continue;
		err = file_wake(file);
		if (err == -ETIMEDOUT)
			return err;
		if (err) {
			drm_err(&mdev->drm, "client %llu does not come back: %d\n",
				file->id, err);
			file_drop(file);
		}
	}
	return 0;
}

/**
 * mxgpu_wake() - what mxgpu_sleep() has put away comes back
 * @mdev: the device
 *
 * A device that does not is lost to all of its clients, and brought up as after
 * any other loss.
 */
void mxgpu_wake(struct mxgpu_device *mdev)
{
	if (READ_ONCE(mdev->state) != MXGPU_ASLEEP) {
		mxgpu_release(mdev);
		return;
	}
	mutex_lock(&mdev->client_lock);
	mutex_lock(&mdev->queue_lock);
	mutex_lock(&mdev->mbox_lock);
	mxgpu_awake(mdev, restore(mdev));
	mutex_unlock(&mdev->mbox_lock);
	mutex_unlock(&mdev->queue_lock);
	mutex_unlock(&mdev->client_lock);
	mxgpu_sleep_end(mdev);
}
