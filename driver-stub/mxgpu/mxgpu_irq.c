// SPDX-License-Identifier: GPL-2.0-only
/* MSI-X: vector 0 is the device's own, the others are shared by queues. */
#include <linux/interrupt.h>

#include "mxgpu_drv.h"
#include "mxgpu_trace.h"

#define CAUSES (MXGPU_SET(MXGPU_IRQ_STATUS_MBOX, 1) | \
		MXGPU_SET(MXGPU_IRQ_STATUS_MCU, 1) | \
		MXGPU_SET(MXGPU_IRQ_STATUS_FAULT, 1) | \
		MXGPU_SET(MXGPU_IRQ_STATUS_ERROR, 1))

static void count_queues(struct mxgpu_device *mdev, unsigned int vector)
{
	unsigned long flags;
	unsigned int id;

	spin_lock_irqsave(&mdev->irq_lock, flags);
	for (id = 0; id < mdev->info.queues; id++) {
		struct mxgpu_queue *queue = mdev->queues[id];
		u32 *count;

		if (!queue || mxgpu_queue_vector(mdev, id) != vector)
			continue;
		count = &queue->file->status->irqs[id];
		WRITE_ONCE(*count, *count + 1);
		trace_mxgpu_queue_irq(queue, *count);
		mxgpu_fences_look(queue);
		if (queue->event)
			eventfd_signal(queue->event);
	}
	spin_unlock_irqrestore(&mdev->irq_lock, flags);
	wake_up_all(&mdev->queue_wait);
}

static irqreturn_t queue_irq(int irq, void *data)
{
	struct mxgpu_vector *vector = data;

	count_queues(vector->mdev, vector->index);
	return IRQ_HANDLED;
}

static irqreturn_t device_irq(int irq, void *data)
{
	struct mxgpu_vector *vector = data;
	struct mxgpu_device *mdev = vector->mdev;
	u32 status = mxgpu_read(mdev, MXGPU_IRQ_STATUS);

	/* The function does not answer, whatever it was that was sent. */
	if (status == U32_MAX)
		return IRQ_NONE;
	/* Cleared first, then looked at: what comes meanwhile comes again. */
	mxgpu_write(mdev, MXGPU_IRQ_STATUS, status);
	if (MXGPU_GET(MXGPU_IRQ_STATUS_ERROR, status)) {
		u32 error = mxgpu_read(mdev, MXGPU_ERR_STATUS);

		mxgpu_count_errors(mdev, error);
		dev_warn_ratelimited(mdev->drm.dev,
				     "hardware error: status %#x info %#x\n",
				     error, mxgpu_read(mdev, MXGPU_ERR_INFO));
		mxgpu_write(mdev, MXGPU_ERR_STATUS, error);
	}
	wake_up_all(&mdev->wait);
	if (mdev->vectors == 1)
		count_queues(mdev, 0);
	return MXGPU_GET(MXGPU_IRQ_STATUS_MCU, status) ||
	       MXGPU_GET(MXGPU_IRQ_STATUS_FAULT, status) ? IRQ_WAKE_THREAD :
							   IRQ_HANDLED;
}

/* A crash of the firmware is told to clients at once; faults are shown. */
static irqreturn_t device_irq_thread(int irq, void *data)
{
	struct mxgpu_vector *vector = data;
	struct mxgpu_device *mdev = vector->mdev;

	mxgpu_faults_serve(mdev);
	mutex_lock(&mdev->mbox_lock);
	if (READ_ONCE(mdev->state) == MXGPU_UP && !mxgpu_mcu_runs(mdev))
		mxgpu_lose(mdev, "its firmware has stopped");
	mutex_unlock(&mdev->mbox_lock);
	return IRQ_HANDLED;
}

int mxgpu_irq_init(struct mxgpu_device *mdev)
{
	int i, err, n;

	n = pci_alloc_irq_vectors(mdev->pdev, 1, MXGPU_MAX_VECTORS,
				  PCI_IRQ_MSIX);
	if (n < 0)
		return n;
	for (i = 0; i < n; i++) {
		mdev->vector[i].mdev = mdev;
		mdev->vector[i].index = i;
		err = request_threaded_irq(pci_irq_vector(mdev->pdev, i),
					   i ? queue_irq : device_irq,
					   i ? NULL : device_irq_thread, 0,
					   KBUILD_MODNAME, &mdev->vector[i]);
		if (err)
			goto fail;
		mdev->vectors++;
	}
	mdev->info.vectors = n;
	return 0;

fail:
	mxgpu_irq_fini(mdev);
	return err;
}

void mxgpu_irq_enable(struct mxgpu_device *mdev)
{
	mxgpu_write(mdev, MXGPU_IRQ_ENABLE, CAUSES);
}

void mxgpu_irq_fini(struct mxgpu_device *mdev)
{
	while (mdev->vectors) {
		mdev->vectors--;
		free_irq(pci_irq_vector(mdev->pdev, mdev->vectors),
			 &mdev->vector[mdev->vectors]);
	}
	pci_free_irq_vectors(mdev->pdev);
}
