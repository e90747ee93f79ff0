// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recoverable faults (the device's docs/faults.md): one ring of the device for
 * all clients, in coherent memory that VMID 0 maps and nothing else. A record
 * goes to whoever can mend it: the process's own memory (mxgpu_svm.c), or the
 * file of records that the client asked for; what nobody wants is killed.
 *
 * A record holds its place until there is a verdict on it and on all before it.
 * So what a client may have open is bounded, and what it leaves open too long
 * is decided for it when others need the room.
 */
#include <drm/drm_drv.h>
#include <linux/anon_inodes.h>
#include <linux/dma-mapping.h>
#include <linux/file.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "mxgpu_drv.h"
#include "mxgpu_trace.h"

#define LOG2_RECORDS 12
#define RECORDS BIT(LOG2_RECORDS)
#define RING_BYTES (RECORDS * sizeof(struct mxgpu_fault_record))
#define RING_VA SZ_2M		/* in VMID 0 */
#define PRESSED (RECORDS / 4 * 3)
#define FAULT_MINOR 3		/* interface versions that have the registers */

/* What read() and release() share with the client, which may end first. */
struct mxgpu_fault_fd {
	struct mxgpu_device *mdev;
	struct mxgpu_file *file;	/* NULL: has ended; under faults.lock */
};

static struct mxgpu_fault_slot *slot_of(struct mxgpu_device *mdev, u32 number)
{
	return &mdev->faults.slots[number % RECORDS];
}

/* ---- verdicts: with faults.lock held ---- */

static void advance(struct mxgpu_device *mdev)
{
	struct mxgpu_faults *f = &mdev->faults;
	u32 head = f->head;

	while (head != f->tail && slot_of(mdev, head)->state == MXGPU_SLOT_FREE)
		head++;
	if (head == f->head)
		return;
	f->head = head;
	mxgpu_write(mdev, MXGPU_FAULT_HEAD, head);
}

static void slot_free(struct mxgpu_fault_slot *slot)
{
	if (slot->state == MXGPU_SLOT_OPEN || slot->state == MXGPU_SLOT_READ)
		slot->file->faults_open--;
	list_del_init(&slot->link);
	slot->state = MXGPU_SLOT_FREE;
	slot->file = NULL;
}

static void verdict(struct mxgpu_device *mdev, struct mxgpu_fault_slot *slot,
		    u32 reg)
{
	trace_mxgpu_fault_verdict(slot->record.sequence,
				  reg == MXGPU_FAULT_KILL);
	if (reg == MXGPU_FAULT_KILL)
		mxgpu_count(mdev, MXGPU_COUNT_KILLED);
	slot_free(slot);
	if (mdev->faults.on)
		mxgpu_write(mdev, reg, slot->record.sequence);
}

static void slot_put(struct mxgpu_fault_slot *slot, struct mxgpu_file *file,
		     enum mxgpu_slot_state state)
{
	slot->file = file;
	slot->state = state;
	list_add_tail(&slot->link, &file->faults[state]);
}

/* To the client's own file of records, if it has one. */
static void deliver(struct mxgpu_device *mdev, struct mxgpu_fault_slot *slot,
		    struct mxgpu_file *file)
{
	if (!file->fault_fd) {
		verdict(mdev, slot, MXGPU_FAULT_KILL);
	} else if (file->faults_open >= MXGPU_FAULTS_MAX) {
		slot_put(slot, file, MXGPU_SLOT_EXCESS);
	} else {
		file->faults_open++;
		slot_put(slot, file, MXGPU_SLOT_OPEN);
		wake_up_all(&mdev->queue_wait);
	}
}

/* Those that had no room come again when there is some. */
static void replay_excess(struct mxgpu_file *file)
{
	struct mxgpu_fault_slot *slot, *next;

	if (file->faults_open > MXGPU_FAULTS_MAX / 2)
		return;
	list_for_each_entry_safe(slot, next, &file->faults[MXGPU_SLOT_EXCESS],
				 link)
		verdict(file->mdev, slot, MXGPU_FAULT_REPLAY);
}

static struct mxgpu_file *file_of(struct mxgpu_device *mdev, unsigned int vmid)
{
	struct mxgpu_file *file, *found = NULL;

	spin_lock_irq(&mdev->irq_lock);
	list_for_each_entry(file, &mdev->files, link) {
		if (vmid && READ_ONCE(file->vmid) == vmid && mxgpu_file_ok(file))
			found = file;
	}
	spin_unlock_irq(&mdev->irq_lock);
	return found;
}

static void take(struct mxgpu_device *mdev, struct mxgpu_fault_slot *slot)
{
	struct mxgpu_file *file = file_of(mdev, slot->record.vmid);

	if (!file) {
		verdict(mdev, slot, MXGPU_FAULT_KILL);
	} else if (mxgpu_svm_wants(file, &slot->record)) {
		slot_put(slot, file, MXGPU_SLOT_MENDED);
		queue_work(system_unbound_wq, &file->svm_work);
	} else {
		deliver(mdev, slot, file);
	}
}

/* Who leaves records open keeps all others waiting. */
static void make_room(struct mxgpu_device *mdev)
{
	struct mxgpu_faults *f = &mdev->faults;
	u32 number;

	for (number = f->head; f->tail - f->head > PRESSED &&
	     number != f->tail; number++) {
		struct mxgpu_fault_slot *slot = slot_of(mdev, number);

		if (slot->state == MXGPU_SLOT_EXCESS)
			verdict(mdev, slot, MXGPU_FAULT_REPLAY);
		else if (slot->state == MXGPU_SLOT_OPEN ||
			 slot->state == MXGPU_SLOT_READ)
			verdict(mdev, slot, MXGPU_FAULT_KILL);
		else if (slot->state == MXGPU_SLOT_MENDED)
			break;	/* soon */
		advance(mdev);
	}
}

static void serve(struct mxgpu_device *mdev)
{
	struct mxgpu_faults *f = &mdev->faults;
	u32 tail = f->on ? mxgpu_read(mdev, MXGPU_FAULT_TAIL) : f->tail;

	/* A device that is missing has another one than it can have. */
	if (tail - f->head > RECORDS)
		return;
	for (; f->tail != tail; f->tail++) {
		struct mxgpu_fault_slot *slot = slot_of(mdev, f->tail);

		slot->record = f->ring[f->tail % RECORDS];
		slot->record.sequence = f->tail;
		trace_mxgpu_fault(&slot->record);
		mxgpu_count(mdev, MXGPU_COUNT_FAULTS);
		take(mdev, slot);
	}
	make_room(mdev);
	advance(mdev);
}

/* Whatever was reported; from the interrupt's thread. */
void mxgpu_faults_serve(struct mxgpu_device *mdev)
{
	mutex_lock(&mdev->faults.lock);
	serve(mdev);
	mutex_unlock(&mdev->faults.lock);
}

/**
 * mxgpu_faults_forget() - kill what a file has open
 * @file: without VMID by now, so that what is reported from here on is not its
 */
void mxgpu_faults_forget(struct mxgpu_file *file)
{
	struct mxgpu_device *mdev = file->mdev;
	struct mxgpu_fault_slot *slot, *next;
	unsigned int state;

	mutex_lock(&mdev->faults.lock);
	serve(mdev);
	for (state = 0; state < MXGPU_SLOT_STATES; state++)
		list_for_each_entry_safe(slot, next, &file->faults[state], link)
			verdict(mdev, slot, MXGPU_FAULT_KILL);
	advance(mdev);
	mutex_unlock(&mdev->faults.lock);
}

/* ---- memory of the process ---- */

static bool mend_one(struct mxgpu_file *file)
{
	struct mxgpu_device *mdev = file->mdev;
	struct mxgpu_fault_slot *slot;
	struct mxgpu_fault_record record;
	int err;

	mutex_lock(&mdev->faults.lock);
	slot = list_first_entry_or_null(&file->faults[MXGPU_SLOT_MENDED],
					struct mxgpu_fault_slot, link);
	if (slot)
		record = slot->record;
	mutex_unlock(&mdev->faults.lock);
	if (!slot)
		return false;
	err = mxgpu_svm_fault(file, record.addr,
			      record.access != MXGPU_ACCESS_READ);
	mutex_lock(&mdev->faults.lock);
	if (slot->state == MXGPU_SLOT_MENDED && slot->file == file &&
	    slot->record.sequence == record.sequence) {
		if (err) {
			list_del_init(&slot->link);
			slot->state = MXGPU_SLOT_FREE;
			deliver(mdev, slot, file);
		} else {
			verdict(mdev, slot, MXGPU_FAULT_REPLAY);
		}
		advance(mdev);
	}
	mutex_unlock(&mdev->faults.lock);
	return true;
}

void mxgpu_faults_mend(struct work_struct *work)
{
	struct mxgpu_file *file =
		container_of(work, struct mxgpu_file, svm_work);

	while (mend_one(file))
		cond_resched();
}

/* ---- the file of records ---- */

/* Kills what its reader has not answered; with faults.lock held. */
static void fd_detach(struct mxgpu_fault_fd *fd)
{
	static const enum mxgpu_slot_state states[] = {
		MXGPU_SLOT_OPEN, MXGPU_SLOT_READ, MXGPU_SLOT_EXCESS,
	};
	struct mxgpu_file *file = fd->file;
	struct mxgpu_fault_slot *slot, *next;
	unsigned int i;

	if (!file)
		return;
	fd->file = NULL;
	file->fault_fd = NULL;
	for (i = 0; i < ARRAY_SIZE(states); i++)
		list_for_each_entry_safe(slot, next, &file->faults[states[i]],
					 link)
			verdict(fd->mdev, slot, MXGPU_FAULT_KILL);
	advance(fd->mdev);
}

static bool readable(struct mxgpu_fault_fd *fd)
{
	bool yes;

	mutex_lock(&fd->mdev->faults.lock);
	yes = !fd->file || !mxgpu_file_ok(fd->file) ||
	      !list_empty(&fd->file->faults[MXGPU_SLOT_OPEN]);
	mutex_unlock(&fd->mdev->faults.lock);
	return yes;
}

/* readable() may sleep, which what wait_event() looks at must not. */
static int wait_readable(struct mxgpu_fault_fd *fd)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int err = 0;

	add_wait_queue(&fd->mdev->queue_wait, &wait);
	while (!readable(fd)) {
		if (signal_pending(current)) {
			err = -ERESTARTSYS;
			break;
		}
		wait_woken(&wait, TASK_INTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT);
	}
	remove_wait_queue(&fd->mdev->queue_wait, &wait);
	return err;
}

/* 1: one; 0: none; -ENODEV. */
static int record_pop(struct mxgpu_fault_fd *fd,
		      struct mxgpu_fault_record *record)
{
	struct mxgpu_fault_slot *slot;
	int ret = 0;

	mutex_lock(&fd->mdev->faults.lock);
	if (!fd->file || !mxgpu_file_ok(fd->file)) {
		ret = -ENODEV;
		goto out;
	}
	slot = list_first_entry_or_null(&fd->file->faults[MXGPU_SLOT_OPEN],
					struct mxgpu_fault_slot, link);
	if (slot) {
		*record = slot->record;
		slot->state = MXGPU_SLOT_READ;
		list_move_tail(&slot->link,
			       &fd->file->faults[MXGPU_SLOT_READ]);
		ret = 1;
	}
out:
	mutex_unlock(&fd->mdev->faults.lock);
	return ret;
}

/* The open record of a file with that number, or NULL. */
static struct mxgpu_fault_slot *slot_find(struct mxgpu_file *file, u32 number)
{
	struct mxgpu_faults *f = &file->mdev->faults;
	struct mxgpu_fault_slot *slot = slot_of(file->mdev, number);

	if (number - f->head >= f->tail - f->head || slot->file != file ||
	    slot->state != MXGPU_SLOT_READ)
		return NULL;
	return slot;
}

/* It could not be given to the reader. */
static void record_push(struct mxgpu_fault_fd *fd,
			const struct mxgpu_fault_record *record)
{
	struct mxgpu_fault_slot *slot;

	mutex_lock(&fd->mdev->faults.lock);
	slot = fd->file ? slot_find(fd->file, record->sequence) : NULL;
	if (slot) {
		slot->state = MXGPU_SLOT_OPEN;
		list_move(&slot->link, &fd->file->faults[MXGPU_SLOT_OPEN]);
	}
	mutex_unlock(&fd->mdev->faults.lock);
}

static ssize_t fd_read(struct file *filp, char __user *to, size_t size,
		       loff_t *pos)
{
	struct mxgpu_fault_fd *fd = filp->private_data;
	struct mxgpu_fault_record record;
	size_t given = 0;
	int ret;

	if (size < sizeof(record))
		return -EINVAL;
	while (size - given >= sizeof(record)) {
		ret = record_pop(fd, &record);
		if (ret < 0)
			return given ? given : ret;
		if (!ret && given)
			break;
		if (!ret && (filp->f_flags & O_NONBLOCK))
			return -EAGAIN;
		if (!ret) {
			ret = wait_readable(fd);
			if (ret)
				return ret;
			continue;
		}
		/* Not under the lock: it may wait for as long as it likes. */
		if (copy_to_user(to + given, &record, sizeof(record))) {
			record_push(fd, &record);
			return given ? given : -EFAULT;
		}
		given += sizeof(record);
	}
	return given;
}

static __poll_t fd_poll(struct file *filp, poll_table *wait)
{
	struct mxgpu_fault_fd *fd = filp->private_data;
	__poll_t ready = 0;

	poll_wait(filp, &fd->mdev->queue_wait, wait);
	mutex_lock(&fd->mdev->faults.lock);
	if (!fd->file || !mxgpu_file_ok(fd->file))
		ready = EPOLLHUP;
	else if (!list_empty(&fd->file->faults[MXGPU_SLOT_OPEN]))
		ready = EPOLLIN | EPOLLRDNORM;
	mutex_unlock(&fd->mdev->faults.lock);
	return ready;
}

static int fd_release(struct inode *inode, struct file *filp)
{
	struct mxgpu_fault_fd *fd = filp->private_data;
	struct mxgpu_device *mdev = fd->mdev;

	mutex_lock(&mdev->faults.lock);
	fd_detach(fd);
	mutex_unlock(&mdev->faults.lock);
	kfree(fd);
	drm_dev_put(&mdev->drm);
	return 0;
}

static const struct file_operations fd_fops = {
	.owner = THIS_MODULE,
	.read = fd_read,
	.poll = fd_poll,
	.release = fd_release,
};

static bool fd_attach(struct mxgpu_fault_fd *fd, struct mxgpu_file *file)
{
	bool first;

	mutex_lock(&fd->mdev->faults.lock);
	first = !file->fault_fd;
	if (first) {
		fd->file = file;
		file->fault_fd = fd;
	}
	mutex_unlock(&fd->mdev->faults.lock);
	return first;
}

int mxgpu_ioctl_faults(struct drm_device *drm, void *data, struct drm_file *f)
{
	struct mxgpu_file *file = f->driver_priv;
	struct drm_mxgpu_faults *args = data;
	struct mxgpu_device *mdev = file->mdev;
	struct mxgpu_fault_fd *fd;
	struct file *filp;
	int ret;

	if (args->flags & ~(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	if (!mxgpu_file_ok(file))
		return -ENODEV;
	if (!mdev->faults.on)
		return -EOPNOTSUPP;
	fd = kzalloc(sizeof(*fd), GFP_KERNEL_ACCOUNT);
	if (!fd)
		return -ENOMEM;
	fd->mdev = mdev;
	filp = anon_inode_getfile("mxgpu-faults", &fd_fops, fd,
				  O_RDONLY | (args->flags & O_NONBLOCK));
	if (IS_ERR(filp)) {
		kfree(fd);
		return PTR_ERR(filp);
	}
	drm_dev_get(drm);	/* from here on the file frees it all */
	ret = get_unused_fd_flags(args->flags & O_CLOEXEC);
	if (ret >= 0 && !fd_attach(fd, file)) {
		put_unused_fd(ret);
		ret = -EBUSY;
	}
	if (ret < 0) {
		fput(filp);
		return ret;
	}
	args->fd = ret;
	fd_install(ret, filp);
	return 0;
}

int mxgpu_ioctl_resolve(struct drm_device *drm, void *data, struct drm_file *f)
{
	const struct drm_mxgpu_resolve *args = data;
	struct mxgpu_file *file = f->driver_priv;
	struct mxgpu_device *mdev = file->mdev;
	struct mxgpu_fault_slot *slot;

	if (args->verdict > MXGPU_RESOLVE_KILL)
		return -EINVAL;
	if (!mxgpu_file_ok(file))
		return -ENODEV;
	if (!mdev->faults.on)
		return -EOPNOTSUPP;
	mutex_lock(&mdev->faults.lock);
	slot = slot_find(file, args->sequence);
	if (slot) {
		verdict(mdev, slot, args->verdict == MXGPU_RESOLVE_KILL ?
				    MXGPU_FAULT_KILL : MXGPU_FAULT_REPLAY);
		replay_excess(file);
		advance(mdev);
	}
	mutex_unlock(&mdev->faults.lock);
	return slot ? 0 : -ENOENT;
}

/* ---- life ---- */

void mxgpu_faults_open(struct mxgpu_file *file)
{
	unsigned int state;

	for (state = 0; state < MXGPU_SLOT_STATES; state++)
		INIT_LIST_HEAD(&file->faults[state]);
	INIT_WORK(&file->svm_work, mxgpu_faults_mend);
}

/* The file of records may live on; all that it says then is the end. */
void mxgpu_faults_close(struct mxgpu_file *file)
{
	mxgpu_faults_forget(file);
	mutex_lock(&file->mdev->faults.lock);
	if (file->fault_fd)
		fd_detach(file->fault_fd);
	mutex_unlock(&file->mdev->faults.lock);
	wake_up_all(&file->mdev->queue_wait);
}

/**
 * mxgpu_faults_start() - have a device that was brought up report faults
 * @mdev: the device; its numbers begin anew with each reset
 *
 * Context: mbox_lock is held, or nobody else knows the device.
 */
int mxgpu_faults_start(struct mxgpu_device *mdev)
{
	struct mxgpu_faults *f = &mdev->faults;
	u64 root = mxgpu_pt_root(&f->space);
	const struct mxgpu_msg_vm_set msg = {
		.op = MXGPU_MSG_VM_SET, .vmid = 0,
		.root_lo = lower_32_bits(root), .root_hi = upper_32_bits(root),
	};
	int err;

	if (MXGPU_GET(MXGPU_VERSION_MINOR, mdev->info.interface) < FAULT_MINOR)
		return 0;
	err = mxgpu_mbox_ask_locked(mdev, &msg, sizeof(msg), NULL, 0);
	if (err)
		return err;
	mutex_lock(&f->lock);
	f->head = 0;
	f->tail = 0;
	mxgpu_write(mdev, MXGPU_FAULT_RING_LO, lower_32_bits(RING_VA));
	mxgpu_write(mdev, MXGPU_FAULT_RING_HI, upper_32_bits((u64)RING_VA));
	mxgpu_write(mdev, MXGPU_FAULT_CFG,
		    MXGPU_SET(MXGPU_FAULT_CFG_ENABLE, 1) |
		    MXGPU_SET(MXGPU_FAULT_CFG_LOG2_RECORDS, LOG2_RECORDS));
	f->on = true;
	mutex_unlock(&f->lock);
	return 0;
}

/* The device has stopped: what was open is nobody's any more. */
void mxgpu_faults_lost(struct mxgpu_device *mdev)
{
	struct mxgpu_faults *f = &mdev->faults;
	u32 i;

	mutex_lock(&f->lock);
	f->on = false;
	for (i = 0; i < RECORDS; i++) {
		if (f->slots[i].state != MXGPU_SLOT_FREE)
			slot_free(&f->slots[i]);
	}
	f->head = f->tail;
	mutex_unlock(&f->lock);
}

static int map_ring(struct mxgpu_device *mdev)
{
	struct mxgpu_faults *f = &mdev->faults;
	dma_addr_t pages[RING_BYTES / SZ_4K];
	struct mxgpu_bo ring = { .dma = pages };
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(pages); i++)
		pages[i] = f->ring_dma + (u64)i * SZ_4K;
	f->space.mdev = mdev;
	err = mxgpu_pt_init(&f->space);
	if (!err)
		err = mxgpu_pt_prepare(&f->space, &ring, RING_VA, 0, RING_BYTES);
	if (!err)
		mxgpu_pt_write(&f->space, &ring, RING_VA, 0, RING_BYTES,
			       MXGPU_PTE_READ | MXGPU_PTE_WRITE);
	return err;
}

int mxgpu_faults_init(struct mxgpu_device *mdev)
{
	struct mxgpu_faults *f = &mdev->faults;
	u32 i;
	int err;

	mutex_init(&f->lock);
	f->ring = dmam_alloc_coherent(mdev->drm.dev, RING_BYTES, &f->ring_dma,
				      GFP_KERNEL);
	f->slots = kvcalloc(RECORDS, sizeof(*f->slots), GFP_KERNEL);
	if (!f->slots || !f->ring) {
		kvfree(f->slots);
		return -ENOMEM;
	}
	for (i = 0; i < RECORDS; i++)
		INIT_LIST_HEAD(&f->slots[i].link);
	err = map_ring(mdev);
	if (err)
		mxgpu_faults_fini(mdev);
	return err;
}

/* The device has stopped for good. */
void mxgpu_faults_fini(struct mxgpu_device *mdev)
{
	mxgpu_pt_fini(&mdev->faults.space);
	kvfree(mdev->faults.slots);
}
