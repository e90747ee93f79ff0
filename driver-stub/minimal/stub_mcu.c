// SPDX-License-Identifier: GPL-2.0-only
/*
 * The microcontroller: loading and starting its firmware, and the mailbox.
 */
#include <linux/firmware.h>

#include "stub.h"

#define BOOT_TIMEOUT_US (20 * 1000 * 1000)
#define MBOX_TIMEOUT (15 * HZ)

static const char *stub_boot_error(u32 error)
{
	switch (error) {
	case MXGPU_BOOT_BAD_MAGIC:
		return "not a firmware image";
	case MXGPU_BOOT_BAD_HEADER:
		return "bad header or truncated";
	case MXGPU_BOOT_BAD_ISA:
		return "for another processor";
	case MXGPU_BOOT_BAD_CRC:
		return "bad checksum";
	default:
		return "unknown reason";
	}
}

/* Says why the firmware does not run, if so. */
static int stub_mcu_check(struct stub_device *sd, u32 status)
{
	struct device *dev = &sd->pdev->dev;

	switch (MXGPU_GET(MXGPU_MCU_STATUS_STATE, status)) {
	case MXGPU_MCU_RUNNING:
		return 0;
	case MXGPU_MCU_BOOT_ERROR:
		dev_err(dev, "%s: refused by the device: %s\n", STUB_FIRMWARE,
			stub_boot_error(MXGPU_GET(MXGPU_MCU_STATUS_BOOT_ERROR,
						  status)));
		return -ENOEXEC;
	case MXGPU_MCU_CRASHED:
		dev_err(dev, "firmware crashed: cause %#x pc %#x value %#x\n",
			stub_read(sd, MXGPU_MCU_TRAP_CAUSE),
			stub_read(sd, MXGPU_MCU_TRAP_PC),
			stub_read(sd, MXGPU_MCU_TRAP_VALUE));
		return -EIO;
	default:
		dev_err(dev, "firmware is not running: status %#x\n", status);
		return -EIO;
	}
}

static int stub_mcu_load(struct stub_device *sd)
{
	u32 limit = stub_read(sd, MXGPU_SRAM_SIZE);
	struct device *dev = &sd->pdev->dev;
	const struct firmware *fw;
	size_t i;
	int err;

	err = request_firmware(&fw, STUB_FIRMWARE, dev);
	if (err)
		return dev_err_probe(dev, err, "%s: cannot be read\n",
				     STUB_FIRMWARE);
	if (fw->size < sizeof(struct mxgpu_fw_header) || fw->size > limit ||
	    fw->size % 4) {
		dev_err(dev, "%s: impossible size %zu\n", STUB_FIRMWARE,
			fw->size);
		release_firmware(fw);
		return -ENOEXEC;
	}
	stub_write(sd, MXGPU_MCU_SRAM_ADDR, 0);
	for (i = 0; i < fw->size; i += 4)
		stub_write(sd, MXGPU_MCU_SRAM_DATA,
			   le32_to_cpup((const __le32 *)(fw->data + i)));
	/* No rest of an earlier image may complete a truncated one. */
	for (; i < limit; i += 4)
		stub_write(sd, MXGPU_MCU_SRAM_DATA, 0);
	release_firmware(fw);
	return 0;
}

static int stub_mcu_hello(struct stub_device *sd)
{
	const struct mxgpu_msg_hello hello = {
		.op = MXGPU_MSG_HELLO, .abi = MXGPU_MSG_ABI,
	};
	const u32 need = BIT(MXGPU_PKT_COPY);
	struct mxgpu_msg_hello_resp resp;
	struct device *dev = &sd->pdev->dev;
	int err;

	err = stub_mbox_call(sd, (const u32 *)&hello, sizeof(hello) / 4,
			     (u32 *)&resp, sizeof(resp) / 4);
	if (err)
		return dev_err_probe(dev, err, "no handshake with firmware\n");
	if (resp.abi != MXGPU_MSG_ABI || !resp.queues ||
	    (resp.packets & need) != need)
		return dev_err_probe(dev, -EPROTO,
				     "firmware speaks message version %u\n",
				     resp.abi);
	sd->fw_version = resp.version;
	strscpy(sd->fw_build, resp.build, sizeof(sd->fw_build));
	dev_info(dev, "firmware %u.%u.%u %*pE, %u queues\n",
		 resp.version >> 16, resp.version >> 8 & 0xff,
		 resp.version & 0xff, (int)strlen(sd->fw_build), sd->fw_build,
		 resp.queues);
	return 0;
}

static bool stub_mcu_decided(struct stub_device *sd, u32 *status)
{
	*status = stub_read(sd, MXGPU_MCU_STATUS);
	return MXGPU_GET(MXGPU_MCU_STATUS_READY, *status) ||
	       MXGPU_GET(MXGPU_MCU_STATUS_STATE, *status) >=
	       MXGPU_MCU_BOOT_ERROR;
}

int stub_mcu_boot(struct stub_device *sd)
{
	u32 status;
	int err;

	err = stub_mcu_load(sd);
	if (err)
		return err;
	stub_write(sd, MXGPU_MCU_CTRL, MXGPU_SET(MXGPU_MCU_CTRL_START, 1));
	/* Both verdicts on an image raise IRQ_STATUS.MCU. */
	if (!wait_event_timeout(sd->wait, stub_mcu_decided(sd, &status),
				usecs_to_jiffies(BOOT_TIMEOUT_US)))
		err = -ETIMEDOUT;
	if (!err)
		err = stub_mcu_check(sd, status);
	else
		dev_err(&sd->pdev->dev, "firmware does not get ready\n");
	return err ?: stub_mcu_hello(sd);
}

static bool stub_mbox_done(struct stub_device *sd)
{
	return stub_read(sd, MXGPU_MBOX_ACK) == sd->mbox_seq ||
	       MXGPU_GET(MXGPU_MCU_STATUS_STATE,
			 stub_read(sd, MXGPU_MCU_STATUS)) != MXGPU_MCU_RUNNING;
}

int stub_mbox_call(struct stub_device *sd, const u32 *request,
		   unsigned int words, u32 *answer, unsigned int answer_words)
{
	unsigned int i;
	u32 status;
	int err = 0;

	mutex_lock(&sd->mbox_lock);
	for (i = 0; i < MXGPU_MBOX_CMD_COUNT; i++)
		stub_write(sd, MXGPU_MBOX_CMD + i * MXGPU_MBOX_CMD_STRIDE,
			   i < words ? request[i] : 0);
	sd->mbox_seq = stub_read(sd, MXGPU_MBOX_ACK) + 1;
	stub_write(sd, MXGPU_MBOX_REQ, sd->mbox_seq);
	wait_event_timeout(sd->wait, stub_mbox_done(sd), MBOX_TIMEOUT);

	if (stub_read(sd, MXGPU_MBOX_ACK) != sd->mbox_seq) {
		err = stub_mcu_check(sd, stub_read(sd, MXGPU_MCU_STATUS));
		if (!err)
			err = -ETIMEDOUT;
		goto out;
	}
	status = stub_read(sd, MXGPU_MBOX_RESP);
	if (status != MXGPU_MSG_OK) {
		dev_err(&sd->pdev->dev, "request %u: status %u\n", request[0],
			status);
		err = -EREMOTEIO;
		goto out;
	}
	for (i = 0; i < answer_words; i++)
		answer[i] = stub_read(sd, MXGPU_MBOX_RESP +
				      i * MXGPU_MBOX_RESP_STRIDE);
out:
	mutex_unlock(&sd->mbox_lock);
	return err;
}
