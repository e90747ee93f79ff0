// SPDX-License-Identifier: GPL-2.0-only
/* Reset, the microcontroller's firmware, and the mailbox. */
#include <linux/firmware.h>
#include <linux/iopoll.h>

#include "mxgpu_drv.h"

#define RESET_TIMEOUT_US (2 * USEC_PER_SEC)
#define BOOT_TIMEOUT (20 * HZ)
#define MBOX_TIMEOUT (15 * HZ)

int mxgpu_reset(struct mxgpu_device *mdev)
{
	u32 status;

	mxgpu_write(mdev, MXGPU_RESET, MXGPU_RESET_MAGIC);
	return read_poll_timeout(mxgpu_read, status,
				 !MXGPU_GET(MXGPU_RESET_STATUS_BUSY, status),
				 100, RESET_TIMEOUT_US, false, mdev,
				 MXGPU_RESET_STATUS);
}

/*
 * The reset comes before anything that the device could still use is freed.
 * The firmware is started again by the work, for files to come.
 */
void mxgpu_lose(struct mxgpu_device *mdev, const char *why)
{
	struct mxgpu_file *file;
	unsigned int id;

	if (xchg(&mdev->lost, true))
		return;
	drm_err(&mdev->drm, "lost: %s\n", why);
	if (mxgpu_reset(mdev))
		pci_clear_master(mdev->pdev);	/* no more DMA, then */
	spin_lock_irq(&mdev->irq_lock);
	list_for_each_entry(file, &mdev->files, link)
		WRITE_ONCE(file->status->state, MXGPU_STATE_LOST);
	for (id = 0; id < MXGPU_MAX_QUEUES; id++) {
		if (mdev->queues[id] && mdev->queues[id]->event)
			eventfd_signal(mdev->queues[id]->event, 1);
	}
	spin_unlock_irq(&mdev->irq_lock);
	wake_up_all(&mdev->queue_wait);
	wake_up_all(&mdev->wait);
	schedule_work(&mdev->reset_work);
}

static int load(struct mxgpu_device *mdev)
{
	u32 limit = mxgpu_read(mdev, MXGPU_SRAM_SIZE);
	const struct firmware *fw;
	size_t i;
	int err;

	err = request_firmware(&fw, MXGPU_FIRMWARE, mdev->drm.dev);
	if (err)
		return err;
	if (fw->size < sizeof(struct mxgpu_fw_header) || fw->size > limit ||
	    fw->size % 4) {
		drm_err(&mdev->drm, "%s: impossible size %zu\n", MXGPU_FIRMWARE,
			fw->size);
		release_firmware(fw);
		return -ENOEXEC;
	}
	mxgpu_write(mdev, MXGPU_MCU_SRAM_ADDR, 0);
	for (i = 0; i < fw->size; i += 4)
		mxgpu_write(mdev, MXGPU_MCU_SRAM_DATA,
			    le32_to_cpup((const __le32 *)(fw->data + i)));
	release_firmware(fw);
	return 0;
}

static bool decided(struct mxgpu_device *mdev, u32 *status)
{
	*status = mxgpu_read(mdev, MXGPU_MCU_STATUS);
	return MXGPU_GET(MXGPU_MCU_STATUS_READY, *status) ||
	       MXGPU_GET(MXGPU_MCU_STATUS_STATE, *status) >=
	       MXGPU_MCU_BOOT_ERROR;
}

static int hello(struct mxgpu_device *mdev)
{
	const struct mxgpu_msg_hello msg = {
		.op = MXGPU_MSG_HELLO, .abi = MXGPU_MSG_ABI,
	};
	struct drm_mxgpu_info *info = &mdev->info;
	struct mxgpu_msg_hello_resp resp;
	int err;

	err = mxgpu_mbox_call(mdev, &msg, sizeof(msg), &resp, sizeof(resp));
	if (err)
		return err;
	if (resp.abi != MXGPU_MSG_ABI || !resp.queues || !resp.priorities)
		return -EPROTO;
	info->queues = min(info->queues, resp.queues);
	info->priorities = resp.priorities;
	info->packets = resp.packets;
	info->fw_version = resp.version;
	strscpy_pad(info->fw_build, resp.build, sizeof(info->fw_build));
	drm_info(&mdev->drm, "firmware %u.%u.%u %*pE, %u queues\n",
		 resp.version >> 16, resp.version >> 8 & 0xff,
		 resp.version & 0xff, (int)strlen(info->fw_build),
		 info->fw_build, info->queues);
	return 0;
}

/* After a reset; SRAM is clear. */
int mxgpu_mcu_boot(struct mxgpu_device *mdev)
{
	u32 status;
	int err;

	err = load(mdev);
	if (err) {
		drm_err(&mdev->drm, "%s: %d\n", MXGPU_FIRMWARE, err);
		return err;
	}
	mdev->mbox_seq = 0;
	mxgpu_irq_enable(mdev);
	mxgpu_write(mdev, MXGPU_MCU_CTRL, MXGPU_SET(MXGPU_MCU_CTRL_START, 1));
	wait_event_timeout(mdev->wait, decided(mdev, &status), BOOT_TIMEOUT);
	if (!MXGPU_GET(MXGPU_MCU_STATUS_READY, status) ||
	    MXGPU_GET(MXGPU_MCU_STATUS_STATE, status) != MXGPU_MCU_RUNNING) {
		drm_err(&mdev->drm, "firmware does not run: status %#x\n",
			status);
		return -EIO;
	}
	return hello(mdev);
}

static bool answered(struct mxgpu_device *mdev)
{
	u32 status = mxgpu_read(mdev, MXGPU_MCU_STATUS);

	return mxgpu_read(mdev, MXGPU_MBOX_ACK) == mdev->mbox_seq ||
	       MXGPU_GET(MXGPU_MCU_STATUS_STATE, status) != MXGPU_MCU_RUNNING;
}

static int status_to_errno(u32 status)
{
	static const int table[] = {
		[MXGPU_MSG_OK] = 0,
		[MXGPU_MSG_UNKNOWN_OP] = -EOPNOTSUPP,
		[MXGPU_MSG_BAD_ABI] = -EPROTO,
		[MXGPU_MSG_NO_HELLO] = -EPROTO,
		[MXGPU_MSG_BAD_ARGUMENT] = -EINVAL,
		[MXGPU_MSG_BUSY] = -EBUSY,
		[MXGPU_MSG_NOT_FOUND] = -ENOENT,
		[MXGPU_MSG_FAULT] = -EFAULT,
	};

	return status < ARRAY_SIZE(table) ? table[status] : -EPROTO;
}

static int call_locked(struct mxgpu_device *mdev, const u32 *request,
		       size_t words, u32 *answer, size_t answer_words)
{
	u32 status;
	size_t i;

	for (i = 0; i < MXGPU_MBOX_CMD_COUNT; i++)
		mxgpu_write(mdev, MXGPU_MBOX_CMD + i * MXGPU_MBOX_CMD_STRIDE,
			    i < words ? request[i] : 0);
	/* All ones is what a missing device answers, 0 what a fresh one does. */
	if (++mdev->mbox_seq >= U32_MAX)
		mdev->mbox_seq = 1;
	mxgpu_write(mdev, MXGPU_MBOX_REQ, mdev->mbox_seq);
	wait_event_timeout(mdev->wait, answered(mdev), MBOX_TIMEOUT);
	if (mxgpu_read(mdev, MXGPU_MBOX_ACK) != mdev->mbox_seq)
		return -ETIMEDOUT;
	status = mxgpu_read(mdev, MXGPU_MBOX_RESP);
	for (i = 0; i < answer_words; i++)
		answer[i] = mxgpu_read(mdev, MXGPU_MBOX_RESP +
				       i * MXGPU_MBOX_RESP_STRIDE);
	return status_to_errno(status);
}

int mxgpu_mbox_call(struct mxgpu_device *mdev, const void *request, size_t size,
		    void *answer, size_t answer_size)
{
	int err;

	mutex_lock(&mdev->mbox_lock);
	err = READ_ONCE(mdev->lost) ? -ENODEV :
	      call_locked(mdev, request, size / 4, answer, answer_size / 4);
	if (err == -ETIMEDOUT) {
		mxgpu_lose(mdev, "the firmware does not answer");
		err = -ENODEV;
	}
	mutex_unlock(&mdev->mbox_lock);
	return err;
}
