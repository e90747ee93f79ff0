// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fences: what a client's queue will have done, for others to wait for. Packets
 * signal words of memory, not the driver; a fence stands for one word that is to
 * reach a value. It is a dma_fence in a sync_file, which poll() knows, which the
 * ioctls of DRM put into syncobjs and their timelines, and those of dma-bufs among
 * what other drivers wait for.
 *
 * Others may wait for it who hold up the kernel's memory management, so it ends in
 * any case: FENCE_MS after it was made, with the queue, or with the device; and
 * nothing on the way to its signal allocates memory or takes a lock under which
 * somebody else does. The word is looked at when the queue's interrupt comes, and
 * now and then for those without.
 */
#include <drm/drm_drv.h>
#include <linux/dma-fence.h>
#include <linux/file.h>
#include <linux/highmem.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sync_file.h>

#include "mxgpu_drv.h"

#define FENCE_MS 10000
#define LOOK (HZ / 4)
#define MOST 256		/* of a queue */

struct mxgpu_fence {
	struct dma_fence base;
	spinlock_t lock;	/* its own: it may outlive the device */
	struct list_head link;	/* in mxgpu_queue.fences, or fences_done */
	struct mxgpu_bo *bo;	/* which does not move */
	u64 offset;
	u64 value;
	unsigned long end;	/* jiffies */
};

static const char *driver_name(struct dma_fence *fence)
{
	return MXGPU_DRM_NAME;
}

static const char *timeline_name(struct dma_fence *fence)
{
	return "queue";
}

/* Whoever has it may call us, so the module stays as long. */
static void release(struct dma_fence *fence)
{
	dma_fence_free(fence);
	module_put(THIS_MODULE);
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = driver_name,
	.get_timeline_name = timeline_name,
	.release = release,
};

static u64 word(struct mxgpu_device *mdev, const struct mxgpu_fence *f)
{
	u64 *p, value;

	if (!f->bo->dma) {
		value = readq(mdev->vram + f->bo->vram.start + f->offset);
		/* All ones is what a device says that is not there. */
		if (value == U64_MAX &&
		    mxgpu_read(mdev, MXGPU_ID) != MXGPU_ID_MAGIC)
			value = 0;
		return value;
	}
	p = kmap_local_page(f->bo->pages[f->offset >> PAGE_SHIFT]);
	value = READ_ONCE(p[offset_in_page(f->offset) / sizeof(*p)]);
	kunmap_local(p);
	return value;
}

/* With irq_lock held; its object is given up where that may sleep. */
static void end(struct mxgpu_queue *queue, struct mxgpu_fence *f, int err)
{
	struct mxgpu_device *mdev = queue->file->mdev;

	if (err)
		dma_fence_set_error(&f->base, err);
	dma_fence_signal(&f->base);
	list_move(&f->link, &mdev->fences_done);
	queue->num_fences--;
	schedule_work(&mdev->fence_work);
}

/**
 * mxgpu_fences_look() - end those of a queue that have what they wait for
 * @queue: a queue, with irq_lock held
 */
void mxgpu_fences_look(struct mxgpu_queue *queue)
{
	struct mxgpu_device *mdev = queue->file->mdev;
	struct mxgpu_fence *f, *next;

	list_for_each_entry_safe(f, next, &queue->fences, link) {
		if (!mxgpu_file_ok(queue->file))
			end(queue, f, -ENODEV);
		else if (word(mdev, f) >= f->value)
			end(queue, f, 0);
		else if (time_after(jiffies, f->end))
			end(queue, f, -ETIMEDOUT);
	}
}

/* The queue goes; with queue_lock held. */
void mxgpu_fences_end(struct mxgpu_queue *queue)
{
	struct mxgpu_file *file = queue->file;
	struct mxgpu_fence *f, *next;

	spin_lock_irq(&file->mdev->irq_lock);
	mxgpu_fences_look(queue);
	list_for_each_entry_safe(f, next, &queue->fences, link)
		end(queue, f, -ECANCELED);
	spin_unlock_irq(&file->mdev->irq_lock);
}

static void look(struct timer_list *timer)
{
	struct mxgpu_device *mdev =
		container_of(timer, struct mxgpu_device, fence_timer);
	unsigned long flags;
	bool any = false;
	unsigned int id;

	spin_lock_irqsave(&mdev->irq_lock, flags);
	for (id = 0; id < MXGPU_MAX_QUEUES; id++) {
		struct mxgpu_queue *queue = mdev->queues[id];

		if (!queue || list_empty(&queue->fences))
			continue;
		mxgpu_fences_look(queue);
		any = true;
	}
	if (any)
		mod_timer(&mdev->fence_timer, jiffies + LOOK);
	spin_unlock_irqrestore(&mdev->irq_lock, flags);
}

static void give_up(struct work_struct *work)
{
	struct mxgpu_device *mdev =
		container_of(work, struct mxgpu_device, fence_work);
	struct mxgpu_fence *f, *next;
	LIST_HEAD(done);

	spin_lock_irq(&mdev->irq_lock);
	list_splice_init(&mdev->fences_done, &done);
	spin_unlock_irq(&mdev->irq_lock);
	list_for_each_entry_safe(f, next, &done, link) {
		drm_gem_object_put(&f->bo->base);
		dma_fence_put(&f->base);
	}
}

/* Of memory that stays where it is, for interrupts look at it. */
static struct mxgpu_fence *fence_new(struct mxgpu_file *file, u64 addr,
				     u64 value)
{
	struct mxgpu_fence *f;
	struct mxgpu_bo *bo;
	u64 offset;

	bo = mxgpu_vm_find(file, addr, &offset);
	if (!bo)
		return ERR_PTR(-EFAULT);
	f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	if (bo->place == MXGPU_PLACE_IMPORT ||
	    (bo->place == MXGPU_PLACE_VRAM && !bo->stay) || !f) {
		drm_gem_object_put(&bo->base);
		kfree(f);
		return ERR_PTR(f ? -EOPNOTSUPP : -ENOMEM);
	}
	__module_get(THIS_MODULE);
	spin_lock_init(&f->lock);
	/* Words of one client need not come in the order of its calls. */
	dma_fence_init(&f->base, &fence_ops, &f->lock,
		       dma_fence_context_alloc(1), 1);
	f->bo = bo;
	f->offset = offset;
	f->value = value;
	f->end = jiffies + msecs_to_jiffies(FENCE_MS);
	return f;
}

/* The queue's list has a reference of its own. */
static int begin(struct mxgpu_file *file, struct mxgpu_fence *f, u32 id)
{
	struct mxgpu_device *mdev = file->mdev;
	struct mxgpu_queue *queue;
	int err = -ENOENT;

	mutex_lock(&mdev->queue_lock);
	queue = mxgpu_queue_find(file, id);
	if (!mxgpu_file_ok(file)) {
		err = -ENODEV;
	} else if (queue && queue->num_fences >= MOST) {
		err = -ENOSPC;
	} else if (queue) {
		dma_fence_get(&f->base);
		spin_lock_irq(&mdev->irq_lock);
		list_add_tail(&f->link, &queue->fences);
		queue->num_fences++;
		mxgpu_fences_look(queue);
		mod_timer(&mdev->fence_timer, jiffies + LOOK);
		spin_unlock_irq(&mdev->irq_lock);
		err = 0;
	}
	mutex_unlock(&mdev->queue_lock);
	return err;
}

int mxgpu_ioctl_queue_fence(struct drm_device *drm, void *data,
			    struct drm_file *f)
{
	struct drm_mxgpu_queue_fence *args = data;
	struct mxgpu_file *file = f->driver_priv;
	struct mxgpu_fence *fence;
	struct sync_file *sync;
	int fd, err;

	if ((args->flags & ~O_CLOEXEC) || args->reserved || args->addr % sizeof(u64) ||
	    args->addr >= MXGPU_VA_LIMIT)
		return -EINVAL;
	fd = get_unused_fd_flags(args->flags);
	if (fd < 0)
		return fd;
	mutex_lock(&file->vm_lock);
	fence = fence_new(file, args->addr, args->value);
	mutex_unlock(&file->vm_lock);
	if (IS_ERR(fence)) {
		put_unused_fd(fd);
		return PTR_ERR(fence);
	}
	sync = sync_file_create(&fence->base);
	err = sync ? begin(file, fence, args->queue) : -ENOMEM;
	if (err) {
		/* Nobody else has it. */
		drm_gem_object_put(&fence->bo->base);
		dma_fence_signal(&fence->base);
		if (sync)
			fput(sync->file);
		put_unused_fd(fd);
	} else {
		fd_install(fd, sync->file);
		args->fd = fd;
	}
	dma_fence_put(&fence->base);
	return err;
}

void mxgpu_fences_init(struct mxgpu_device *mdev)
{
	INIT_LIST_HEAD(&mdev->fences_done);
	INIT_WORK(&mdev->fence_work, give_up);
	timer_setup(&mdev->fence_timer, look, 0);
}

/* All queues have gone. */
void mxgpu_fences_stop(struct mxgpu_device *mdev)
{
	del_timer_sync(&mdev->fence_timer);
	flush_work(&mdev->fence_work);
}
