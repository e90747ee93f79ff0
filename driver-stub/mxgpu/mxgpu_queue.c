// SPDX-License-Identifier: GPL-2.0-only
/*
 * User-mode queues. The driver names the ring to the firmware and hands the
 * doorbell's page out; work never passes through it, which is why there is no
 * drm_sched here: the firmware schedules.
 */
#include <drm/drm_drv.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "mxgpu_drv.h"
#include "mxgpu_trace.h"

#define DOORBELL_OFFSET 0x1000000ull	/* of doorbell 0, for mmap() */
#define LOOK (HZ / 2)

/* Vector 0 is the device's own; the others go round. */
unsigned int mxgpu_queue_vector(struct mxgpu_device *mdev, unsigned int id)
{
	return mdev->vectors > 1 ? 1 + id % (mdev->vectors - 1) : 0;
}

/* The most urgent levels are for who may disturb others. */
unsigned int mxgpu_min_priority(struct mxgpu_device *mdev)
{
	return capable(CAP_SYS_NICE) ? 0 : mdev->info.priorities / 4;
}

/* Half of all for one client, so that others find some. */
static unsigned int queue_limit(struct mxgpu_device *mdev)
{
	return DIV_ROUND_UP(mdev->info.queues, 2);
}

static int queue_tell(struct mxgpu_queue *queue,
		      const struct drm_mxgpu_queue_create *args)
{
	struct mxgpu_file *file = queue->file;

	queue->create = (struct mxgpu_msg_queue_create) {
		.op = MXGPU_MSG_QUEUE_CREATE, .queue = queue->id,
		.vmid = file->vmid, .priority = args->priority,
		.ring_lo = lower_32_bits(args->ring),
		.ring_hi = upper_32_bits(args->ring),
		.log2_packets = ilog2(args->packets),
		.ctl_lo = lower_32_bits(args->ctl),
		.ctl_hi = upper_32_bits(args->ctl),
		.vector = mxgpu_queue_vector(file->mdev, queue->id),
	};
	return mxgpu_mbox_call(file, &queue->create, sizeof(queue->create));
}

static void queue_publish(struct mxgpu_device *mdev, unsigned int id,
			  struct mxgpu_queue *queue)
{
	spin_lock_irq(&mdev->irq_lock);
	mdev->queues[id] = queue;
	spin_unlock_irq(&mdev->irq_lock);
}

static void queue_free(struct mxgpu_queue *queue)
{
	struct mxgpu_device *mdev = queue->file->mdev;

	trace_mxgpu_queue_destroy(queue);
	mxgpu_fences_end(queue);
	queue_publish(mdev, queue->id, NULL);
	queue->file->queues--;
	if (queue->event)
		eventfd_ctx_put(queue->event);
	kfree(queue);
}

/* With vm_lock and queue_lock held. */
static int queue_create(struct mxgpu_file *file,
			struct drm_mxgpu_queue_create *args)
{
	struct mxgpu_device *mdev = file->mdev;
	struct mxgpu_queue *queue;
	unsigned int id;
	int err;

	if (!mxgpu_file_ok(file))
		return -ENODEV;
	for (id = 0; id < mdev->info.queues && mdev->queues[id]; id++)
		;
	if (id == mdev->info.queues || file->queues >= queue_limit(mdev))
		return -ENOSPC;
	err = mxgpu_vmid_get(file);
	if (err)
		return err;
	queue = kzalloc(sizeof(*queue), GFP_KERNEL_ACCOUNT);
	if (!queue) {
		mxgpu_vmid_put(file);
		return -ENOMEM;
	}
	queue->file = file;
	queue->id = id;
	INIT_LIST_HEAD(&queue->fences);
	file->queues++;
	/* Known first: its interrupts may come before the answer does. */
	queue_publish(mdev, id, queue);
	err = queue_tell(queue, args);
	if (err) {
		queue_free(queue);
		mxgpu_vmid_put(file);
		return err;
	}
	trace_mxgpu_queue_create(file, args, id);
	args->queue = id;
	args->doorbell_offset = DOORBELL_OFFSET + (u64)id * PAGE_SIZE;
	return 0;
}

int mxgpu_queue_create(struct mxgpu_file *file,
		       struct drm_mxgpu_queue_create *args)
{
	struct mxgpu_device *mdev = file->mdev;
	int err;

	mutex_lock(&file->vm_lock);
	mutex_lock(&mdev->queue_lock);
	err = queue_create(file, args);
	mutex_unlock(&mdev->queue_lock);
	mutex_unlock(&file->vm_lock);
	return err;
}

int mxgpu_ioctl_queue_create(struct drm_device *drm, void *data,
			     struct drm_file *f)
{
	struct mxgpu_device *mdev = to_mxgpu(drm);
	struct drm_mxgpu_queue_create *args = data;

	if (!is_power_of_2(args->packets) || args->packets < 4 ||
	    args->packets > 65536 || args->flags ||
	    (args->ring | args->ctl) % 64 || args->ring >= MXGPU_VA_LIMIT ||
	    args->ctl >= MXGPU_VA_LIMIT ||
	    args->priority >= mdev->info.priorities)
		return -EINVAL;
	if (args->priority < mxgpu_min_priority(mdev))
		return -EACCES;
	return mxgpu_queue_create(f->driver_priv, args);
}

/* The client's own queue of that number, or NULL; with queue_lock held. */
struct mxgpu_queue *mxgpu_queue_find(struct mxgpu_file *file, u32 id)
{
	struct mxgpu_queue *queue;

	if (id >= MXGPU_MAX_QUEUES)
		return NULL;
	queue = file->mdev->queues[id];
	return queue && queue->file == file ? queue : NULL;
}

/* With vm_lock and queue_lock held. On failure the device has been reset. */
static int queue_destroy(struct mxgpu_queue *queue)
{
	struct mxgpu_file *file = queue->file;
	struct mxgpu_device *mdev = file->mdev;
	const struct mxgpu_msg_queue_destroy msg = {
		.op = MXGPU_MSG_QUEUE_DESTROY, .queue = queue->id,
	};
	u64 doorbell = DOORBELL_OFFSET + (u64)queue->id * PAGE_SIZE;
	int err = queue->stopped && mxgpu_file_ok(file) ? 0 :
		  mxgpu_mbox_call(file, &msg, sizeof(msg));

	if (err && err != -ENODEV) {
		mxgpu_lose(mdev, "a queue could not be destroyed");
		err = -ENODEV;
	}
	queue_free(queue);
	/* The next fault of who still has the page finds the sink. */
	unmap_mapping_range(mdev->drm.anon_inode->i_mapping, doorbell,
			    PAGE_SIZE, 1);
	mxgpu_vmid_put(file);
	return err;
}

int mxgpu_ioctl_queue_destroy(struct drm_device *drm, void *data,
			      struct drm_file *f)
{
	struct drm_mxgpu_queue_destroy *args = data;
	struct mxgpu_device *mdev = to_mxgpu(drm);
	struct mxgpu_file *file = f->driver_priv;
	struct mxgpu_queue *queue;
	int err = -ENOENT;

	if (args->reserved)
		return -EINVAL;
	mutex_lock(&file->vm_lock);
	mutex_lock(&mdev->queue_lock);
	queue = mxgpu_queue_find(file, args->queue);
	if (queue)
		err = queue_destroy(queue);
	else if (!mxgpu_file_ok(file))
		err = -ENODEV;
	mutex_unlock(&mdev->queue_lock);
	mutex_unlock(&file->vm_lock);
	return err;
}

/* Destroys all queues of a file; returns how many. */
unsigned int mxgpu_queues_destroy(struct mxgpu_file *file)
{
	struct mxgpu_device *mdev = file->mdev;
	struct mxgpu_queue *queue;
	unsigned int id, n = 0;

	mutex_lock(&file->vm_lock);
	mutex_lock(&mdev->queue_lock);
	for (id = 0; id < MXGPU_MAX_QUEUES; id++) {
		queue = mxgpu_queue_find(file, id);
		if (queue) {
			queue_destroy(queue);
			n++;
		}
	}
	mutex_unlock(&mdev->queue_lock);
	mutex_unlock(&file->vm_lock);
	return n;
}

/* The device has been reset: it has no queues. With queue_lock held. */
void mxgpu_queues_lost(struct mxgpu_device *mdev)
{
	unsigned int id;

	for (id = 0; id < MXGPU_MAX_QUEUES; id++) {
		if (mdev->queues[id])
			queue_free(mdev->queues[id]);
	}
	mdev->vmids = 1;	/* 0 is nobody's */
	unmap_mapping_range(mdev->drm.anon_inode->i_mapping, DOORBELL_OFFSET,
			    MXGPU_DOORBELL_SIZE, 1);
}

/* What the firmware reads by itself does not move; with vm_lock and queue_lock. */
void mxgpu_queues_keep(struct mxgpu_file *file)
{
	unsigned int id;

	for (id = 0; id < MXGPU_MAX_QUEUES; id++) {
		const struct mxgpu_queue *queue = mxgpu_queue_find(file, id);
		const struct mxgpu_msg_queue_create *c;

		if (!queue)
			continue;
		c = &queue->create;
		mxgpu_vm_keep(file, c->ring_lo | (u64)c->ring_hi << 32,
			      sizeof(union mxgpu_packet) << c->log2_packets);
		mxgpu_vm_keep(file, c->ctl_lo | (u64)c->ctl_hi << 32,
			      sizeof(struct mxgpu_queue_ctl));
	}
}

/**
 * mxgpu_file_lose() - the device is lost to one file
 * @file: whose queues the device has no more, or will not have for long
 *
 * Context: queue_lock is held.
 */
void mxgpu_file_lose(struct mxgpu_file *file)
{
	struct mxgpu_device *mdev = file->mdev;
	struct mxgpu_queue *queue;
	unsigned int id;

	mxgpu_count(mdev, MXGPU_COUNT_CLIENT_LOST);
	WRITE_ONCE(file->generation, 0);
	WRITE_ONCE(file->status->state, file->status->state | MXGPU_STATE_LOST);
	for (id = 0; id < MXGPU_MAX_QUEUES; id++) {
		queue = mxgpu_queue_find(file, id);
		if (!queue)
			continue;
		if (queue->event)
			eventfd_signal(queue->event);
		queue_free(queue);
		unmap_mapping_range(mdev->drm.anon_inode->i_mapping,
				    DOORBELL_OFFSET + (u64)id * PAGE_SIZE,
				    PAGE_SIZE, 1);
	}
	if (file->vmid)
		__clear_bit(file->vmid, &mdev->vmids);
	WRITE_ONCE(file->vmid, 0);
	wake_up_all(&mdev->queue_wait);
}

int mxgpu_ioctl_reset(struct drm_device *drm, void *data, struct drm_file *f)
{
	struct drm_mxgpu_reset *args = data;
	struct mxgpu_file *file = f->driver_priv;

	if (args->flags)
		return -EINVAL;
	args->queues = mxgpu_queues_destroy(file);
	return mxgpu_file_ok(file) ? 0 : -ENODEV;
}

/*
 * A message about one of the client's queues, which remembers it at an offset of
 * its structure.
 */
static int queue_call(struct mxgpu_file *file, u32 id, const void *msg,
		      size_t size, size_t at)
{
	struct mxgpu_device *mdev = file->mdev;
	struct mxgpu_queue *queue;
	int err = -ENOENT;

	mutex_lock(&mdev->queue_lock);
	queue = mxgpu_queue_find(file, id);
	if (!mxgpu_file_ok(file))
		err = -ENODEV;
	else if (queue)
		err = mxgpu_mbox_call(file, msg, size);
	if (!err)
		memcpy((void *)queue + at, msg, size);
	mutex_unlock(&mdev->queue_lock);
	return err;
}

int mxgpu_ioctl_queue_profile(struct drm_device *drm, void *data,
			      struct drm_file *f)
{
	const struct drm_mxgpu_queue_profile *args = data;
	const struct mxgpu_msg_queue_profile msg = {
		.op = MXGPU_MSG_QUEUE_PROFILE, .queue = args->queue,
		.base_lo = lower_32_bits(args->base),
		.base_hi = upper_32_bits(args->base),
		.log2_records = args->log2_records, .stride = args->stride,
		.samples = args->samples, .interval = args->interval,
		.flags = args->flags,
	};

	return queue_call(f->driver_priv, args->queue, &msg, sizeof(msg),
			  offsetof(struct mxgpu_queue, profile));
}

int mxgpu_ioctl_queue_launch(struct drm_device *drm, void *data,
			     struct drm_file *f)
{
	const struct drm_mxgpu_queue_launch *args = data;
	const struct mxgpu_msg_queue_launch msg = {
		.op = MXGPU_MSG_QUEUE_LAUNCH, .queue = args->queue,
		.ring_lo = lower_32_bits(args->ring),
		.ring_hi = upper_32_bits(args->ring),
		.log2_records = args->log2_records,
	};

	return queue_call(f->driver_priv, args->queue, &msg, sizeof(msg),
			  offsetof(struct mxgpu_queue, launch));
}

int mxgpu_ioctl_contexts(struct drm_device *drm, void *data,
			 struct drm_file *f)
{
	const struct drm_mxgpu_contexts *args = data;
	struct mxgpu_file *file = f->driver_priv;
	struct mxgpu_device *mdev = file->mdev;
	struct mxgpu_msg_contexts msg = {
		.op = MXGPU_MSG_CONTEXTS,
		.addr_lo = lower_32_bits(args->addr),
		.addr_hi = upper_32_bits(args->addr),
		.size_lo = lower_32_bits(args->size),
		.size_hi = upper_32_bits(args->size),
	};

	int err = -ENOENT;

	mutex_lock(&mdev->queue_lock);
	if (!mxgpu_file_ok(file)) {
		err = -ENODEV;
	} else if (file->vmid) {
		msg.vmid = file->vmid;
		err = mxgpu_mbox_call(file, &msg, sizeof(msg));
		if (!err)
			file->contexts = msg;
	}
	mutex_unlock(&mdev->queue_lock);
	return err;
}

/* A device that is reset behind our back, or pulled out, raises nothing. */
static bool device_there(struct mxgpu_file *file)
{
	bool there = false;
	int idx;

	if (drm_dev_enter(&file->mdev->drm, &idx)) {
		there = mxgpu_file_ok(file) && mxgpu_works(file->mdev);
		if (!there && mxgpu_file_ok(file))
			mxgpu_lose(file->mdev, "it has stopped working");
		drm_dev_exit(idx);
	}
	return there;
}

/* Not inside of drm_dev_enter(), as all other ioctls are: it may take for ever. */
int mxgpu_ioctl_queue_wait(struct drm_device *drm, void *data,
			   struct drm_file *f)
{
	struct drm_mxgpu_queue_wait *args = data;
	struct mxgpu_device *mdev = to_mxgpu(drm);
	struct mxgpu_file *file = f->driver_priv;
	bool found;
	u32 *count;

	if (args->reserved || args->deadline < 0)
		return -EINVAL;
	mutex_lock(&mdev->queue_lock);
	found = mxgpu_queue_find(file, args->queue);
	mutex_unlock(&mdev->queue_lock);
	if (!found)
		return mxgpu_file_ok(file) ? -ENOENT : -ENODEV;
	count = &file->status->irqs[args->queue];
	for (;;) {
		s64 left = args->deadline - ktime_get_ns();
		long ret;

		args->count = READ_ONCE(*count);
		if (args->count != args->seen)
			return 0;
		if (!device_there(file))
			return -ENODEV;
		if (left <= 0)
			return -ETIME;
		left = min_t(u64, left, jiffies_to_nsecs(LOOK));
		ret = wait_event_interruptible_timeout(mdev->queue_wait,
						       READ_ONCE(*count) !=
						       args->seen ||
						       !mxgpu_file_ok(file),
						       nsecs_to_jiffies(left) + 1);
		if (ret < 0)
			return ret;
	}
}

int mxgpu_ioctl_queue_eventfd(struct drm_device *drm, void *data,
			      struct drm_file *f)
{
	const struct drm_mxgpu_queue_eventfd *args = data;
	struct mxgpu_device *mdev = to_mxgpu(drm);
	struct eventfd_ctx *event = NULL;
	struct mxgpu_queue *queue;

	if (args->fd >= 0) {
		event = eventfd_ctx_fdget(args->fd);
		if (IS_ERR(event))
			return -EBADF;
	} else if (args->fd != -1) {
		return -EINVAL;
	}
	mutex_lock(&mdev->queue_lock);
	queue = mxgpu_queue_find(f->driver_priv, args->queue);
	if (queue) {
		spin_lock_irq(&mdev->irq_lock);
		swap(queue->event, event);
		spin_unlock_irq(&mdev->irq_lock);
	}
	mutex_unlock(&mdev->queue_lock);
	if (event)
		eventfd_ctx_put(event);
	if (queue)
		return 0;
	return mxgpu_file_ok(f->driver_priv) ? -ENOENT : -ENODEV;
}

/* ---- doorbells and the status page ---- */

static vm_fault_t page_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct mxgpu_file *file = vma->vm_private_data;
	struct mxgpu_device *mdev = file->mdev;
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	unsigned long pfn = page_to_pfn(virt_to_page(file->status));
	vm_fault_t ret;
	bool there;
	int idx;

	/*
	 * drm_dev_unplug(), queue_destroy() and the work after a loss unmap
	 * when they have made sure that what is seen here is the sink.
	 */
	there = drm_dev_enter(&mdev->drm, &idx);
	mutex_lock(&mdev->queue_lock);
	if (offset >= DOORBELL_OFFSET) {
		u64 at = offset - DOORBELL_OFFSET;

		if (there && mxgpu_file_ok(file) &&
		    mxgpu_queue_find(file, at >> PAGE_SHIFT))
			pfn = (pci_resource_start(mdev->pdev,
						  MXGPU_BAR_DOORBELL) + at) >>
			      PAGE_SHIFT;
		else
			pfn = page_to_pfn(virt_to_page(file->sink));
	}
	ret = vmf_insert_pfn(vma, vmf->address, pfn);
	mutex_unlock(&mdev->queue_lock);
	if (there)
		drm_dev_exit(idx);
	return ret;
}

static const struct vm_operations_struct page_vm_ops = {
	.fault = page_fault,
};

int mxgpu_queue_mmap(struct mxgpu_file *file, struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	bool found;

	if (vma->vm_end - vma->vm_start != PAGE_SIZE ||
	    mxgpu_is_private(vma))
		return -EINVAL;
	if (offset == MXGPU_MMAP_STATUS) {
		if (vma->vm_flags & VM_WRITE)
			return -EACCES;
		vm_flags_clear(vma, VM_MAYWRITE);
	} else {
		if (offset < DOORBELL_OFFSET)
			return -EINVAL;
		mutex_lock(&file->mdev->queue_lock);
		found = mxgpu_queue_find(file, (offset - DOORBELL_OFFSET) >>
					 PAGE_SHIFT);
		mutex_unlock(&file->mdev->queue_lock);
		if (!found)
			return -ENOENT;
		vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	}
	vm_flags_set(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTDUMP |
			  VM_DONTCOPY);
	vma->vm_ops = &page_vm_ops;
	vma->vm_private_data = file;
	return 0;
}
