// SPDX-License-Identifier: GPL-2.0-only
/*
 * The smallest driver for mxgpu: brings the device up as a real driver does,
 * proves with one DMA round trip that it works, and offers nothing else.
 *
 * Resources are managed (devm, pcim): whatever step fails, what came before is
 * undone in reverse order, and so it is at unload. The device is stopped
 * before anything it may still write to or interrupt is released.
 */
#include <linux/interrupt.h>
#include <linux/iopoll.h>
#include <linux/module.h>

#include "stub.h"

#define RESET_TIMEOUT_US (2 * 1000 * 1000)

int stub_reset(struct stub_device *sd)
{
	u32 status;
	int err;

	stub_write(sd, MXGPU_RESET, MXGPU_RESET_MAGIC);
	err = read_poll_timeout(stub_read, status,
				!MXGPU_GET(MXGPU_RESET_STATUS_BUSY, status),
				100, RESET_TIMEOUT_US, false, sd,
				MXGPU_RESET_STATUS);
	if (err)
		dev_err(&sd->pdev->dev, "reset does not complete\n");
	return err;
}

static void stub_stop(void *data)
{
	struct stub_device *sd = data;

	if (!stub_gone(sd))
		stub_reset(sd);
}

static irqreturn_t stub_status_irq(int irq, void *data)
{
	struct stub_device *sd = data;
	u32 status = stub_read(sd, MXGPU_IRQ_STATUS);

	stub_write(sd, MXGPU_IRQ_STATUS, status);
	if (MXGPU_GET(MXGPU_IRQ_STATUS_ERROR, status)) {
		u32 error = stub_read(sd, MXGPU_ERR_STATUS);

		dev_warn_ratelimited(&sd->pdev->dev,
				     "hardware error: status %#x info %#x\n",
				     error, stub_read(sd, MXGPU_ERR_INFO));
		stub_write(sd, MXGPU_ERR_STATUS, error);
	}
	wake_up_all(&sd->wait);
	return IRQ_HANDLED;
}

static irqreturn_t stub_queue_irq(int irq, void *data)
{
	struct stub_device *sd = data;

	atomic_inc(&sd->queue_irqs);
	wake_up_all(&sd->wait);
	return IRQ_HANDLED;
}

static int stub_map(struct stub_device *sd)
{
	struct pci_dev *pdev = sd->pdev;
	u32 version;
	int err;

	if (pci_resource_len(pdev, MXGPU_BAR_REGS) < MXGPU_REGS_SIZE ||
	    pci_resource_len(pdev, MXGPU_BAR_DOORBELL) < MXGPU_DOORBELL_SIZE)
		return dev_err_probe(&pdev->dev, -ENODEV, "BARs too small\n");
	err = pcim_iomap_regions(pdev, BIT(MXGPU_BAR_REGS) |
				 BIT(MXGPU_BAR_DOORBELL), KBUILD_MODNAME);
	if (err)
		return dev_err_probe(&pdev->dev, err, "cannot map BARs\n");
	sd->regs = pcim_iomap_table(pdev)[MXGPU_BAR_REGS];
	sd->doorbells = pcim_iomap_table(pdev)[MXGPU_BAR_DOORBELL];

	version = stub_read(sd, MXGPU_VERSION);
	if (stub_gone(sd) || MXGPU_GET(MXGPU_VERSION_MAJOR, version) !=
	    MXGPU_GET(MXGPU_VERSION_MAJOR, MXGPU_INTERFACE_VERSION))
		return dev_err_probe(&pdev->dev, -ENODEV,
				     "not an interface we know: id %#x version %#x\n",
				     stub_read(sd, MXGPU_ID), version);
	return 0;
}

static int stub_irqs(struct stub_device *sd)
{
	static const irq_handler_t handlers[STUB_VECTORS] = {
		[STUB_VEC_STATUS] = stub_status_irq,
		[STUB_VEC_QUEUE] = stub_queue_irq,
	};
	struct device *dev = &sd->pdev->dev;
	int i, err;

	err = pci_alloc_irq_vectors(sd->pdev, STUB_VECTORS, STUB_VECTORS,
				    PCI_IRQ_MSIX);
	if (err < 0)
		return dev_err_probe(dev, err, "no MSI-X vectors\n");
	for (i = 0; i < STUB_VECTORS; i++) {
		err = devm_request_irq(dev, pci_irq_vector(sd->pdev, i),
				       handlers[i], 0, KBUILD_MODNAME, sd);
		if (err)
			return dev_err_probe(dev, err, "no interrupt %d\n", i);
	}
	return 0;
}

static int stub_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct device *dev = &pdev->dev;
	struct stub_selftest *test;
	struct stub_device *sd;
	int err;

	sd = devm_kzalloc(dev, sizeof(*sd), GFP_KERNEL);
	if (!sd)
		return -ENOMEM;
	sd->pdev = pdev;
	init_waitqueue_head(&sd->wait);
	mutex_init(&sd->mbox_lock);
	pci_set_drvdata(pdev, sd);

	err = pcim_enable_device(pdev);
	if (err)
		return dev_err_probe(dev, err, "cannot enable the device\n");
	err = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(52));
	if (err)
		return dev_err_probe(dev, err, "no usable DMA addresses\n");
	err = stub_map(sd);
	if (err)
		return err;
	/* Whoever had the device before may have left it running. */
	err = stub_reset(sd);
	if (err)
		return err;
	pci_set_master(pdev);
	err = stub_selftest_alloc(sd, &test);
	if (err)
		return err;
	err = stub_irqs(sd);
	if (err)
		return err;
	/* Undone first: nothing below may outlive a reset. */
	err = devm_add_action_or_reset(dev, stub_stop, sd);
	if (err)
		return err;

	stub_write(sd, MXGPU_IRQ_ENABLE,
		   MXGPU_SET(MXGPU_IRQ_STATUS_MBOX, 1) |
		   MXGPU_SET(MXGPU_IRQ_STATUS_MCU, 1) |
		   MXGPU_SET(MXGPU_IRQ_STATUS_ERROR, 1));
	err = stub_mcu_boot(sd);
	if (err)
		return err;
	err = stub_selftest_run(sd, test);
	if (err)
		return dev_err_probe(dev, err, "self-test failed\n");
	dev_info(dev, "self-test passed\n");
	return 0;
}

static ssize_t fw_version_show(struct device *dev,
			       struct device_attribute *attr, char *buf)
{
	struct stub_device *sd = dev_get_drvdata(dev);
	u32 v = sd->fw_version;

	return sysfs_emit(buf, "%u.%u.%u %*pE\n", v >> 16, v >> 8 & 0xff,
			  v & 0xff, (int)strlen(sd->fw_build), sd->fw_build);
}
static DEVICE_ATTR_RO(fw_version);

static struct attribute *stub_attrs[] = {
	&dev_attr_fw_version.attr,
	NULL
};
ATTRIBUTE_GROUPS(stub);

static const struct pci_device_id stub_ids[] = {
	{ PCI_DEVICE(MXGPU_PCI_VENDOR, MXGPU_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, stub_ids);

static struct pci_driver stub_driver = {
	.name = KBUILD_MODNAME,
	.id_table = stub_ids,
	.probe = stub_probe,
	.dev_groups = stub_groups,
};
module_pci_driver(stub_driver);

MODULE_DESCRIPTION("mxgpu: bring-up and self-test");
MODULE_LICENSE("GPL");
MODULE_FIRMWARE(STUB_FIRMWARE);
