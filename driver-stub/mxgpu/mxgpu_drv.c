// SPDX-License-Identifier: GPL-2.0-only
/* The PCI function: found, removed, reset, put to sleep. */
#include <drm/drm_drv.h>
#include <drm/drm_managed.h>
#include <linux/firmware.h>
#include <linux/module.h>
#include <linux/pm_runtime.h>

#include "mxgpu_drv.h"

#define IDLE_MS 2000	/* without a client, before it is switched off */

static void read_limits(struct mxgpu_device *mdev)
{
	struct drm_mxgpu_info *info = &mdev->info;
	struct pci_dev *pdev = mdev->pdev;
	u32 v, i;

	info->interface = mxgpu_read(mdev, MXGPU_VERSION);
	info->features = mxgpu_read(mdev, MXGPU_FEATURES);
	v = mxgpu_read(mdev, MXGPU_QUEUE_CAPS);
	info->queues = min_t(u32, MXGPU_GET(MXGPU_QUEUE_CAPS_QUEUES, v),
			     MXGPU_MAX_QUEUES);
	v = mxgpu_read(mdev, MXGPU_UNIT_CAPS);
	info->compute_units = MXGPU_GET(MXGPU_UNIT_CAPS_COMPUTE_UNITS, v);
	info->copy_engines = MXGPU_GET(MXGPU_UNIT_CAPS_COPY_ENGINES, v);
	info->dispatch_slots = MXGPU_GET(MXGPU_UNIT_CAPS_DISPATCH_SLOTS, v);
	v = mxgpu_read(mdev, MXGPU_CU_CAPS);
	info->cu_threads = MXGPU_GET(MXGPU_CU_CAPS_THREADS, v);
	info->block_threads = MXGPU_GET(MXGPU_CU_CAPS_BLOCK_THREADS, v);
	v = mxgpu_read(mdev, MXGPU_CU_CAPS2);
	info->cu_blocks = MXGPU_GET(MXGPU_CU_CAPS2_BLOCKS, v);
	info->warp_size = MXGPU_GET(MXGPU_CU_CAPS2_WARP_SIZE, v);
	info->cu_shared = MXGPU_GET(MXGPU_CU_CAPS2_SHARED_KIB, v) * SZ_1K;
	info->cu_registers = mxgpu_read(mdev, MXGPU_CU_REGS);
	info->cu_private = (u64)mxgpu_read(mdev, MXGPU_CU_PRIVATE) << 10;
	info->watchdog_ms = mxgpu_read(mdev, MXGPU_WATCHDOG_MS);
	info->vram_size = mxgpu_read(mdev, MXGPU_VRAM_SIZE_LO) |
			  (u64)mxgpu_read(mdev, MXGPU_VRAM_SIZE_HI) << 32;
	info->vram_visible = min_t(u64, info->vram_size,
				   pci_resource_len(pdev, MXGPU_BAR_VRAM));
	info->pci_domain = pci_domain_nr(pdev->bus);
	info->pci_address = pci_dev_id(pdev);
	for (i = 0; i < 4; i++) {
		v = mxgpu_read(mdev, MXGPU_UUID + i * MXGPU_UUID_STRIDE);
		memcpy(info->uuid + 4 * i, &v, 4);
	}
}

static int map_bars(struct mxgpu_device *mdev)
{
	struct pci_dev *pdev = mdev->pdev;
	int err;

	if (pci_resource_len(pdev, MXGPU_BAR_REGS) < MXGPU_REGS_SIZE ||
	    pci_resource_len(pdev, MXGPU_BAR_DOORBELL) < MXGPU_DOORBELL_SIZE)
		return -ENODEV;
	err = pcim_iomap_regions(pdev, BIT(MXGPU_BAR_REGS), KBUILD_MODNAME);
	if (err)
		return err;
	mdev->regs = pcim_iomap_table(pdev)[MXGPU_BAR_REGS];
	if (mxgpu_read(mdev, MXGPU_ID) != MXGPU_ID_MAGIC ||
	    MXGPU_GET(MXGPU_VERSION_MAJOR, mxgpu_read(mdev, MXGPU_VERSION)) !=
	    MXGPU_GET(MXGPU_VERSION_MAJOR, MXGPU_INTERFACE_VERSION))
		return -ENODEV;
	read_limits(mdev);
	mdev->vram_size = mdev->info.vram_visible;
	mdev->vram = devm_ioremap_wc(&pdev->dev,
				     pci_resource_start(pdev, MXGPU_BAR_VRAM),
				     mdev->vram_size);
	return mdev->vram ? 0 : -ENOMEM;
}

static void vram_fini(struct drm_device *drm, void *data)
{
	drm_mm_takedown(&to_mxgpu(drm)->vram_mm);
}

static int init(struct mxgpu_device *mdev)
{
	int err;

	init_waitqueue_head(&mdev->wait);
	init_waitqueue_head(&mdev->queue_wait);
	mutex_init(&mdev->mbox_lock);
	mutex_init(&mdev->bo_lock);
	mutex_init(&mdev->client_lock);
	mutex_init(&mdev->queue_lock);
	spin_lock_init(&mdev->irq_lock);
	INIT_LIST_HEAD(&mdev->files);
	INIT_LIST_HEAD(&mdev->bos);
	mxgpu_reset_init(mdev);
	err = mxgpu_dump_init(mdev);
	if (!err)
		err = mxgpu_selftest_init(mdev);
	if (err)
		return err;
	mdev->vmids = 1;	/* 0 is the kernel's */
	mxgpu_vram_init(mdev);
	mxgpu_fences_init(mdev);
	return drmm_add_action(&mdev->drm, vram_fini, NULL);
}

static int bring_up(struct mxgpu_device *mdev)
{
	const struct firmware *fw;
	int err = mxgpu_mcu_find(mdev, &fw);

	if (!err)
		err = mxgpu_bring_up(mdev, fw);
	release_firmware(fw);
	return err;
}

/* From now on it is awake for those who say so: clients, and what is in VRAM. */
static void let_sleep(struct device *dev)
{
	pm_runtime_set_autosuspend_delay(dev, IDLE_MS);
	pm_runtime_use_autosuspend(dev);
	pm_runtime_allow(dev);
	pm_runtime_mark_last_busy(dev);
	pm_runtime_put_autosuspend(dev);
}

/* It is awake when this is called: the bus has seen to that. */
static void keep_awake(struct device *dev)
{
	pm_runtime_get_noresume(dev);
	pm_runtime_forbid(dev);
	pm_runtime_dont_use_autosuspend(dev);
}

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct mxgpu_device *mdev;
	int err;

	mdev = devm_drm_dev_alloc(&pdev->dev, &mxgpu_drm_driver,
				  struct mxgpu_device, drm);
	if (IS_ERR(mdev))
		return PTR_ERR(mdev);
	mdev->pdev = pdev;
	pci_set_drvdata(pdev, mdev);
	err = pcim_enable_device(pdev);
	if (err)
		return err;
	err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(52));
	if (err)
		return err;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	err = map_bars(mdev);
	if (err)
		return dev_err_probe(&pdev->dev, err, "BARs\n");
	err = init(mdev);
	if (err)
		return err;
	err = mxgpu_irq_init(mdev);
	if (err)
		return dev_err_probe(&pdev->dev, err, "interrupts\n");
	err = mxgpu_faults_init(mdev);
	if (err)
		goto fail_irq;
	err = bring_up(mdev);
	if (err)
		goto fail;
	mdev->state = MXGPU_UP;
	pci_save_state(pdev);
	mdev->config = pci_store_saved_state(pdev);
	err = drm_dev_register(&mdev->drm, 0);
	if (!err) {
		let_sleep(&pdev->dev);
		return 0;
	}
	mxgpu_gone(mdev);
	kfree(mdev->config);
fail:
	mxgpu_faults_fini(mdev);
fail_irq:
	mxgpu_irq_fini(mdev);
	return err;
}

/*
 * Virtual functions are devices like this one, each with engines, memory and
 * firmware of its own, and the driver's, too. They are there while the physical one
 * is awake: so it stays awake. The file sriov_numvfs of sysfs calls this, under the
 * lock of the device that remove() has, too.
 */
static int sriov_configure(struct pci_dev *pdev, int number)
{
	bool had = pci_num_vf(pdev);
	int err;

	if (!number) {
		pci_disable_sriov(pdev);
		if (had)
			pm_runtime_put_autosuspend(&pdev->dev);
		return 0;
	}
	err = pm_runtime_resume_and_get(&pdev->dev);
	if (err)
		return err;
	err = pci_enable_sriov(pdev, number);
	if (err)
		pm_runtime_put_autosuspend(&pdev->dev);
	return err ? err : number;
}

/* Files may stay open: they keep the DRM device, and nothing of the real one. */
static void remove(struct pci_dev *pdev)
{
	struct mxgpu_device *mdev = pci_get_drvdata(pdev);

	sriov_configure(pdev, 0);
	keep_awake(&pdev->dev);
	drm_dev_unplug(&mdev->drm);
	mxgpu_vram_stop(mdev);
	mxgpu_gone(mdev);
	mxgpu_sleep_end(mdev);
	mxgpu_clients_fini(mdev);
	mxgpu_fences_stop(mdev);
	mxgpu_gem_fini(mdev);
	mxgpu_irq_fini(mdev);
	mxgpu_faults_fini(mdev);
	kfree(mdev->config);
	pci_clear_master(pdev);
}

/* ---- resets of the bus, and sleep ---- */

static void reset_prepare(struct pci_dev *pdev)
{
	mxgpu_hold(pci_get_drvdata(pdev), "the function is reset");
}

static void reset_done(struct pci_dev *pdev)
{
	mxgpu_release(pci_get_drvdata(pdev));
}

/*
 * What the port above reports (AER). An error that is not fatal is that of one
 * transaction, and whoever it was of knows: a packet of the device has failed with
 * a bus error, a load of a CPU has got all ones. So nobody else loses anything, if
 * the device still works. A fatal one is the link's: it is reset, and with it the
 * device, for all of its clients.
 */
static pci_ers_result_t error_detected(struct pci_dev *pdev,
				       pci_channel_state_t state)
{
	struct mxgpu_device *mdev = pci_get_drvdata(pdev);

	mxgpu_count(mdev, state == pci_channel_io_normal ?
			  MXGPU_COUNT_AER_NONFATAL : MXGPU_COUNT_AER_FATAL);
	if (state == pci_channel_io_normal)
		return PCI_ERS_RESULT_CAN_RECOVER;
	mxgpu_hold(mdev, "a fatal error of the bus");
	return state == pci_channel_io_perm_failure ?
	       PCI_ERS_RESULT_DISCONNECT : PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t mmio_enabled(struct pci_dev *pdev)
{
	struct mxgpu_device *mdev = pci_get_drvdata(pdev);

	/* Of one that sleeps nothing can be lost. */
	if (READ_ONCE(mdev->state) == MXGPU_ASLEEP || mxgpu_works(mdev))
		return PCI_ERS_RESULT_RECOVERED;
	mxgpu_hold(mdev, "an error of the bus, after which it does not work");
	return PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t slot_reset(struct pci_dev *pdev)
{
	struct mxgpu_device *mdev = pci_get_drvdata(pdev);

	/* Power management may have taken back what it had saved last. */
	pci_load_saved_state(pdev, mdev->config);
	pci_restore_state(pdev);
	return mdev->config && mxgpu_there(mdev) ? PCI_ERS_RESULT_RECOVERED :
						   PCI_ERS_RESULT_DISCONNECT;
}

static const struct pci_error_handlers error_handlers = {
	.error_detected = error_detected,
	.mmio_enabled = mmio_enabled,
	.slot_reset = slot_reset,
	.resume = reset_done,
	.reset_prepare = reset_prepare,
	.reset_done = reset_done,
};

/*
 * D3 is a reset: all that is in the device goes to memory before. A device that
 * cannot be asked is lost, which is no reason for the machine to stay awake.
 */
static int __maybe_unused suspend(struct device *dev)
{
	struct mxgpu_device *mdev = dev_get_drvdata(dev);
	int err = mxgpu_sleep(mdev);

	if (err != -ENODEV)
		return err;
	mxgpu_hold(mdev, "the machine sleeps");
	return 0;
}

static int __maybe_unused resume(struct device *dev)
{
	mxgpu_wake(dev_get_drvdata(dev));
	return 0;
}

/* Nobody has it open. One that has just been lost has to come up again first. */
static int __maybe_unused runtime_suspend(struct device *dev)
{
	return mxgpu_sleep(dev_get_drvdata(dev)) ? -EBUSY : 0;
}

static const struct dev_pm_ops pm_ops = {
	SET_SYSTEM_SLEEP_PM_OPS(suspend, resume)
	SET_RUNTIME_PM_OPS(runtime_suspend, resume, NULL)
};

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(MXGPU_PCI_VENDOR, MXGPU_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver pci_driver = {
	.name = KBUILD_MODNAME,
	.id_table = ids,
	.probe = probe,
	.remove = remove,
	.sriov_configure = sriov_configure,
	.err_handler = &error_handlers,
	.driver.pm = &pm_ops,
	.dev_groups = mxgpu_groups,
};
module_pci_driver(pci_driver);

MODULE_DESCRIPTION("mxgpu compute device");
MODULE_LICENSE("GPL");
MODULE_FIRMWARE(MXGPU_FIRMWARE);
MXGPU_IMPORT_DMA_BUF;
