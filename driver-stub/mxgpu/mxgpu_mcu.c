// SPDX-License-Identifier: GPL-2.0-only
/* The microcontroller's firmware, and the mailbox. */
#include <linux/ctype.h>
#include <linux/firmware.h>
#include <linux/log2.h>

#include "mxgpu_drv.h"
#include "mxgpu_trace.h"

#define BOOT_TIMEOUT (20 * HZ)
#define MBOX_TIMEOUT (15 * HZ)

static int load(struct mxgpu_device *mdev, const struct firmware *fw)
{
	u32 limit = mxgpu_read(mdev, MXGPU_SRAM_SIZE);
	size_t i;

	if (fw->size < sizeof(struct mxgpu_fw_header) || fw->size > limit ||
	    fw->size % 4) {
		drm_err(&mdev->drm, "%s: impossible size %zu\n", MXGPU_FIRMWARE,
			fw->size);
		return -ENOEXEC;
	}
	mxgpu_write(mdev, MXGPU_MCU_SRAM_ADDR, 0);
	for (i = 0; i < fw->size; i += 4)
		mxgpu_write(mdev, MXGPU_MCU_SRAM_DATA,
			    le32_to_cpup((const __le32 *)(fw->data + i)));
	return 0;
}

static bool decided(struct mxgpu_device *mdev, u32 *status)
{
	*status = mxgpu_read(mdev, MXGPU_MCU_STATUS);
	return MXGPU_GET(MXGPU_MCU_STATUS_READY, *status) ||
	       MXGPU_GET(MXGPU_MCU_STATUS_STATE, *status) >=
	       MXGPU_MCU_BOOT_ERROR;
}

/* Whether firmware is at work; not for a device that is missing. */
bool mxgpu_mcu_runs(struct mxgpu_device *mdev)
{
	u32 status = mxgpu_read(mdev, MXGPU_MCU_STATUS);

	return MXGPU_GET(MXGPU_MCU_STATUS_STATE, status) == MXGPU_MCU_RUNNING;
}

static bool answered(struct mxgpu_device *mdev)
{
	return mxgpu_read(mdev, MXGPU_MBOX_ACK) == mdev->mbox_seq ||
	       !mxgpu_mcu_runs(mdev);
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

static int exchange(struct mxgpu_device *mdev, const u32 *request,
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
	if (mxgpu_read(mdev, MXGPU_MBOX_ACK) != mdev->mbox_seq) {
		mxgpu_count(mdev, MXGPU_COUNT_SILENT);
		return -ETIMEDOUT;
	}
	status = mxgpu_read(mdev, MXGPU_MBOX_RESP);
	for (i = 0; i < answer_words; i++)
		answer[i] = mxgpu_read(mdev, MXGPU_MBOX_RESP +
				       i * MXGPU_MBOX_RESP_STRIDE);
	return status_to_errno(status);
}

/* Of the driver itself; with mbox_lock held, but by probe(). */
int mxgpu_mbox_ask_locked(struct mxgpu_device *mdev, const void *request,
			  size_t size, void *answer, size_t answer_size)
{
	const u32 *words = request;
	int err = exchange(mdev, words, size / 4, answer, answer_size / 4);

	trace_mxgpu_mbox(words[0], size > 4 ? words[1] : 0, err);
	return err;
}

/**
 * mxgpu_mbox_ask() - send a request of a file to the firmware
 * @file: whose
 * @request: one of the structures of mxgpu/msg.h
 * @size: bytes of it
 * @answer: what comes back, or NULL
 * @answer_size: bytes of it
 *
 * Return: the answer's status as -errno; -ENODEV when the device is lost to the
 * file, or has just been because there was no answer.
 */
int mxgpu_mbox_ask(struct mxgpu_file *file, const void *request, size_t size,
		   void *answer, size_t answer_size)
{
	struct mxgpu_device *mdev = file->mdev;
	int err;

	mutex_lock(&mdev->mbox_lock);
	err = mxgpu_file_ok(file) ?
	      mxgpu_mbox_ask_locked(mdev, request, size, answer, answer_size) :
	      -ENODEV;
	if (err == -ETIMEDOUT) {
		mxgpu_lose(mdev, "the firmware does not answer");
		err = -ENODEV;
	}
	mutex_unlock(&mdev->mbox_lock);
	return err;
}

int mxgpu_mbox_call(struct mxgpu_file *file, const void *request, size_t size)
{
	return mxgpu_mbox_ask(file, request, size, NULL, 0);
}

static int hello(struct mxgpu_device *mdev)
{
	const struct mxgpu_msg_hello msg = {
		.op = MXGPU_MSG_HELLO, .abi = MXGPU_MSG_ABI,
	};
	struct drm_mxgpu_info *info = &mdev->info;
	struct mxgpu_msg_hello_resp resp;
	int err;

	err = mxgpu_mbox_ask_locked(mdev, &msg, sizeof(msg), &resp,
				    sizeof(resp));
	if (err)
		return err;
	if (resp.abi != MXGPU_MSG_ABI || !resp.queues || !resp.priorities)
		return -EPROTO;
	/* What an older one says nothing of is 0. */
	mdev->fw_log = resp.log;
	mdev->fw_log_size = resp.log_size;
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

static u32 sram_read(struct mxgpu_device *mdev, u32 offset)
{
	mxgpu_write(mdev, MXGPU_MCU_SRAM_ADDR, offset);
	return mxgpu_read(mdev, MXGPU_MCU_SRAM_DATA);
}

/**
 * mxgpu_mcu_log() - the last lines of the firmware
 * @mdev: the device, which is UP or was so a moment ago; with reset_lock held
 * @p: where to
 *
 * It writes on: the oldest ones may be gone when we come to them, so some are left
 * out, and what is not text is not printed.
 */
void mxgpu_mcu_log(struct mxgpu_device *mdev, struct drm_printer *p)
{
	u32 size = mdev->fw_log_size, text = mdev->fw_log + 4, written, n;
	unsigned int length = 0;
	char line[81];

	if (!mdev->fw_log || mdev->fw_log % 4 || !is_power_of_2(size) ||
	    size < SZ_1K || text > mxgpu_read(mdev, MXGPU_SRAM_SIZE) - size)
		return;
	written = sram_read(mdev, mdev->fw_log);
	n = written > size ? (written - size + SZ_256) & ~3u : 0;
	for (; n < written; n++) {
		u32 word = sram_read(mdev, text + (n & (size - 1) & ~3u));
		char c = word >> n % 4 * 8;

		if (c != '\n')
			line[length++] = isprint(c) ? c : '?';
		if (c == '\n' || length == sizeof(line) - 1) {
			line[length] = '\0';
			drm_printf(p, c == '\n' ? "%s\n" : "%s", line);
			length = 0;
		}
	}
}

/* How much it says: 0 errors to 3 everything; until it is loaded again. */
int mxgpu_mcu_log_level(struct mxgpu_device *mdev, u32 level)
{
	const struct mxgpu_msg_log_level msg = {
		.op = MXGPU_MSG_LOG_LEVEL, .level = level,
	};
	int err = -ENODEV;

	mutex_lock(&mdev->mbox_lock);
	if (READ_ONCE(mdev->state) == MXGPU_UP)
		err = mxgpu_mbox_ask_locked(mdev, &msg, sizeof(msg), NULL, 0);
	if (err == -ETIMEDOUT)
		mxgpu_lose(mdev, "the firmware does not answer");
	mutex_unlock(&mdev->mbox_lock);
	return err;
}

/**
 * mxgpu_mcu_find() - the firmware's image
 * @mdev: the device
 * @fw: out; NULL when there is none
 *
 * Context: without locks, because it allocates memory (mxgpu_drv.h).
 */
int mxgpu_mcu_find(struct mxgpu_device *mdev, const struct firmware **fw)
{
	int err = request_firmware(fw, MXGPU_FIRMWARE, mdev->drm.dev);

	if (err) {
		drm_err(&mdev->drm, "%s: %d\n", MXGPU_FIRMWARE, err);
		*fw = NULL;
	}
	return err;
}

/* After a reset: SRAM is clear. With mbox_lock held, but by probe(). */
int mxgpu_mcu_boot(struct mxgpu_device *mdev, const struct firmware *fw)
{
	u32 status;
	int err;

	err = load(mdev, fw);
	if (err)
		return err;
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
	err = hello(mdev);
	return err ? err : mxgpu_faults_start(mdev);
}
