/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the driver share. */
#ifndef MXGPU_STUB_H
#define MXGPU_STUB_H

#include <linux/io.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/wait.h>

#include "mxgpu/msg.h"
#include "mxgpu/packets.h"
#include "mxgpu/pte.h"
#include "mxgpu/regs.h"

#define STUB_FIRMWARE "mxgpu/mxgpu-fw.bin"

/* MSI-X vectors: 0 is the device's own, the other one the queue's. */
enum stub_vector { STUB_VEC_STATUS, STUB_VEC_QUEUE, STUB_VECTORS };

struct stub_selftest;

struct stub_device {
	struct pci_dev *pdev;
	void __iomem *regs;
	void __iomem *doorbells;

	wait_queue_head_t wait;		/* woken by both vectors */
	atomic_t queue_irqs;

	struct mutex mbox_lock;		/* one request at a time */
	u32 mbox_seq;

	u32 fw_version;
	char fw_build[32];
};

static inline u32 stub_read(struct stub_device *sd, u32 reg)
{
	return readl(sd->regs + reg);
}

static inline void stub_write(struct stub_device *sd, u32 reg, u32 value)
{
	writel(value, sd->regs + reg);
}

/* The function was unplugged, or memory decoding is off. */
static inline bool stub_gone(struct stub_device *sd)
{
	return stub_read(sd, MXGPU_ID) != MXGPU_ID_MAGIC;
}

int stub_reset(struct stub_device *sd);
int stub_mcu_boot(struct stub_device *sd);

/*
 * Sends a request and waits for the answer. words count includes the
 * operation; answer may be NULL. -EREMOTEIO for a status other than OK.
 */
int stub_mbox_call(struct stub_device *sd, const u32 *request,
		   unsigned int words, u32 *answer, unsigned int answer_words);

int stub_selftest_alloc(struct stub_device *sd, struct stub_selftest **test);
int stub_selftest_run(struct stub_device *sd, struct stub_selftest *test);

#endif
