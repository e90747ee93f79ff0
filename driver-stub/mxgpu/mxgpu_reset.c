// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the device comes up, is lost, and comes back.
 *
 *	DOWN --bring-up--> UP --mxgpu_lose()--> LOST --reset_work--> DOWN
 *	  |
 *	  +--three times in vain--> WEDGED, until the function is reset by the
 *	     bus (mxgpu_release()), or the driver is bound anew
 *
 *	UP --mxgpu_doze()--> ASLEEP --mxgpu_awake()--> UP, or LOST
 *
 * A loss is for all files that are open: they find -ENODEV from then on, and
 * can only be closed. Files that are opened when the device is up again do not
 * notice. That a file belongs to the present time is told by its generation.
 */
#include <drm/drm_drv.h>
#include <linux/firmware.h>
#include <linux/iopoll.h>
#include <linux/pm_runtime.h>

#include "mxgpu_drv.h"
#include "mxgpu_trace.h"

#define RESET_TIMEOUT_US (2 * USEC_PER_SEC)
#define TRIES 3

/*
 * What a function that does not answer reads as differs: all ones on most
 * buses, 0 on some. Neither is its identity, but 0 would be the end of a reset.
 */
bool mxgpu_there(struct mxgpu_device *mdev)
{
	return mxgpu_read(mdev, MXGPU_ID) == MXGPU_ID_MAGIC;
}

/**
 * mxgpu_works() - whether it is there, and its firmware at work
 * @mdev: the device, inside of drm_dev_enter() or bound
 *
 * One that is reset behind our back raises nothing.
 */
bool mxgpu_works(struct mxgpu_device *mdev)
{
	return mxgpu_there(mdev) && mxgpu_mcu_runs(mdev);
}

static int reset(struct mxgpu_device *mdev)
{
	u32 status;
	int err;

	if (!mxgpu_there(mdev))
		return -ENODEV;
	mxgpu_write(mdev, MXGPU_RESET, MXGPU_RESET_MAGIC);
	err = read_poll_timeout(mxgpu_read, status,
				!MXGPU_GET(MXGPU_RESET_STATUS_BUSY, status),
				100, RESET_TIMEOUT_US, false, mdev,
				MXGPU_RESET_STATUS);
	return mxgpu_there(mdev) ? err : -ENODEV;
}

/* When this returns, the device neither reads nor writes memory. */
static void stop(struct mxgpu_device *mdev)
{
	if (reset(mdev))
		pci_clear_master(mdev->pdev);
}

/* With mbox_lock held, or before anybody else knows the device. */
int mxgpu_bring_up(struct mxgpu_device *mdev, const struct firmware *fw)
{
	int err = reset(mdev);

	if (!err) {
		pci_set_master(mdev->pdev);
		err = mxgpu_mcu_boot(mdev, fw);
	}
	if (err)
		stop(mdev);
	return err;
}

static void set_state(struct mxgpu_device *mdev, enum mxgpu_state state)
{
	mutex_lock(&mdev->reset_lock);
	WRITE_ONCE(mdev->state, state);
	mutex_unlock(&mdev->reset_lock);
}

/* Whoever waits for something finds that it will not come. */
static void tell(struct mxgpu_device *mdev, u32 state)
{
	struct mxgpu_file *file;
	unsigned int id;

	spin_lock_irq(&mdev->irq_lock);
	list_for_each_entry(file, &mdev->files, link)
		WRITE_ONCE(file->status->state, file->status->state | state);
	for (id = 0; id < MXGPU_MAX_QUEUES; id++) {
		if (mdev->queues[id] && mdev->queues[id]->event)
			eventfd_signal(mdev->queues[id]->event);
	}
	spin_unlock_irq(&mdev->irq_lock);
	wake_up_all(&mdev->queue_wait);
	wake_up_all(&mdev->wait);
}

static bool lose(struct mxgpu_device *mdev, const char *why, bool dump)
{
	bool was_up;

	mutex_lock(&mdev->reset_lock);
	was_up = mdev->state == MXGPU_UP;
	if (was_up) {
		/* First, so that nobody begins anything. */
		WRITE_ONCE(mdev->state, MXGPU_LOST);
		drm_err(&mdev->drm, "lost: %s\n", why);
		trace_mxgpu_lost(mdev, why);
		mxgpu_count(mdev, MXGPU_COUNT_LOST);
		if (dump)
			mxgpu_dump(mdev, why);
		stop(mdev);
		mxgpu_faults_lost(mdev);
	}
	mutex_unlock(&mdev->reset_lock);
	if (was_up)
		tell(mdev, MXGPU_STATE_LOST);
	return was_up;
}

/**
 * mxgpu_lose() - stop a device that cannot go on, for all of its files
 * @mdev: the device
 * @why: for the log
 *
 * When this returns the device has stopped, whoever it was that stopped it, and
 * uses no memory. It is brought up again behind the caller's back.
 *
 * Context: may sleep; mbox_lock and those above it may be held.
 */
void mxgpu_lose(struct mxgpu_device *mdev, const char *why)
{
	if (lose(mdev, why, true))
		schedule_work(&mdev->reset_work);
}

/**
 * mxgpu_doze() - stop a device whose state has been saved
 * @mdev: the device, with queue_lock held
 *
 * Return: 0, and it is ASLEEP; or -ENODEV: it has been lost meanwhile.
 */
int mxgpu_doze(struct mxgpu_device *mdev)
{
	bool was_up;

	mutex_lock(&mdev->reset_lock);
	was_up = mdev->state == MXGPU_UP;
	if (was_up) {
		WRITE_ONCE(mdev->state, MXGPU_ASLEEP);
		mxgpu_count(mdev, MXGPU_COUNT_SLEEPS);
		stop(mdev);
		mxgpu_faults_lost(mdev);
	}
	mutex_unlock(&mdev->reset_lock);
	return was_up ? 0 : -ENODEV;
}

/**
 * mxgpu_awake() - a device that was ASLEEP has been brought up
 * @mdev: the device, with mbox_lock held
 * @err: or has not
 */
void mxgpu_awake(struct mxgpu_device *mdev, int err)
{
	if (err) {
		drm_err(&mdev->drm, "does not wake up: %d\n", err);
		stop(mdev);
	}
	set_state(mdev, err ? MXGPU_LOST : MXGPU_UP);
	trace_mxgpu_up(mdev, err);
	if (err) {
		tell(mdev, MXGPU_STATE_LOST);
		schedule_work(&mdev->reset_work);
	}
	wake_up_all(&mdev->queue_wait);
}

/**
 * mxgpu_wait_stopped() - what to do before memory of a lost file is freed
 * @mdev: the device
 *
 * The state is written before the device has stopped, but under the same lock:
 * who saw that it is lost and then had the lock comes after the reset.
 */
void mxgpu_wait_stopped(struct mxgpu_device *mdev)
{
	mutex_lock(&mdev->reset_lock);
	mutex_unlock(&mdev->reset_lock);
}

/**
 * mxgpu_hold() - stop the device and keep it so until mxgpu_release()
 * @mdev: the device
 * @why: for the log
 *
 * For resets of the bus and the sleep of the machine.
 */
void mxgpu_hold(struct mxgpu_device *mdev, const char *why)
{
	do {
		lose(mdev, why, false);
		/* It may be that very moment that it came up. */
		cancel_work_sync(&mdev->reset_work);
	} while (READ_ONCE(mdev->state) == MXGPU_UP);
}

/**
 * mxgpu_reset_idle() - reset a device that nobody uses, and wait for it
 * @mdev: the device, awake and inside of drm_dev_enter()
 *
 * Who opens it meanwhile waits, and has the device that comes.
 *
 * Return: 0; -EBUSY: there is a client, or something in VRAM that would be lost;
 * -EIO: it does not come back.
 */
int mxgpu_reset_idle(struct mxgpu_device *mdev)
{
	bool empty;
	int err = 0;

	mutex_lock(&mdev->client_lock);
	mutex_lock(&mdev->vram_lock);
	empty = mdev->vram_free == mdev->vram_size;
	mutex_unlock(&mdev->vram_lock);
	if (!empty || !list_empty(&mdev->files)) {
		err = -EBUSY;
	} else {
		if (lose(mdev, "it is asked to reset", false))
			schedule_work(&mdev->reset_work);
		flush_work(&mdev->reset_work);
		if (READ_ONCE(mdev->state) != MXGPU_UP)
			err = -EIO;
	}
	mutex_unlock(&mdev->client_lock);
	return err;
}

/* What was given up is tried again: it may not be what it was. */
void mxgpu_release(struct mxgpu_device *mdev)
{
	mutex_lock(&mdev->reset_lock);
	if (mdev->state == MXGPU_WEDGED && mxgpu_there(mdev))
		WRITE_ONCE(mdev->state, MXGPU_LOST);
	mutex_unlock(&mdev->reset_lock);
	if (READ_ONCE(mdev->state) == MXGPU_LOST)
		schedule_work(&mdev->reset_work);
}

/* After drm_dev_unplug(): it stops, and nothing brings it up again. */
void mxgpu_gone(struct mxgpu_device *mdev)
{
	/* First, so that who is woken by the loss finds that it is for good. */
	tell(mdev, MXGPU_STATE_LOST | MXGPU_STATE_GONE);
	mxgpu_hold(mdev, "the driver is unbound");
	set_state(mdev, MXGPU_WEDGED);
	tell(mdev, MXGPU_STATE_LOST | MXGPU_STATE_GONE);
}

/*
 * The mailbox is ours all the time, so that no message is sent to a device that
 * another one was meant for. Doorbells of lost files go before the new firmware
 * comes: page faults look for a file's generation under queue_lock.
 */
static void reset_work(struct work_struct *work)
{
	struct mxgpu_device *mdev =
		container_of(work, struct mxgpu_device, reset_work);
	const struct firmware *fw;
	int idx, try, err;

	mxgpu_dump_publish(mdev);
	if (!drm_dev_enter(&mdev->drm, &idx))
		return;
	/* What wakes it up may find that there is nothing left to do. */
	pm_runtime_get_sync(mdev->drm.dev);
	if (READ_ONCE(mdev->state) != MXGPU_LOST)
		goto out;
	err = mxgpu_mcu_find(mdev, &fw) ? -ENOENT : -EAGAIN;
	mutex_lock(&mdev->queue_lock);
	mxgpu_queues_lost(mdev);
	mutex_lock(&mdev->mbox_lock);
	set_state(mdev, MXGPU_DOWN);
	for (try = 0; try < TRIES && err && fw; try++)
		err = mxgpu_bring_up(mdev, fw);
	if (err)
		drm_err(&mdev->drm, "does not come back after %d resets: %d\n",
			try, err);
	else
		WRITE_ONCE(mdev->generation, mdev->generation + 1);
	set_state(mdev, err ? MXGPU_WEDGED : MXGPU_UP);
	trace_mxgpu_up(mdev, err);
	mutex_unlock(&mdev->mbox_lock);
	mutex_unlock(&mdev->queue_lock);
	release_firmware(fw);
	wake_up_all(&mdev->queue_wait);	/* whoever opens it */
out:
	pm_runtime_mark_last_busy(mdev->drm.dev);
	pm_runtime_put_autosuspend(mdev->drm.dev);
	drm_dev_exit(idx);
}

void mxgpu_reset_init(struct mxgpu_device *mdev)
{
	mutex_init(&mdev->reset_lock);
	INIT_WORK(&mdev->reset_work, reset_work);
	mdev->generation = 1;
}
