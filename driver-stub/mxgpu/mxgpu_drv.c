// SPDX-License-Identifier: GPL-2.0-only
/* The PCI function, the DRM device, open files, and small ioctls. */
#include <drm/drm_drv.h>
#include <drm/drm_ioctl.h>
#include <drm/drm_managed.h>
#include <drm/drm_prime.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "mxgpu_drv.h"

/* ---- ioctls ---- */

static int ioctl_info(struct drm_device *drm, void *data, struct drm_file *f)
{
	struct drm_mxgpu_info *info = data;
	struct mxgpu_file *file = f->driver_priv;

	*info = file->mdev->info;
	info->vmid = file->vmid;
	return 0;
}

static int ioctl_state(struct drm_device *drm, void *data, struct drm_file *f)
{
	struct drm_mxgpu_state *args = data;
	struct mxgpu_file *file = f->driver_priv;
	struct mxgpu_device *mdev = file->mdev;
	u32 flags = args->flags;

	if (flags & ~MXGPU_STATE_LOOK)
		return -EINVAL;
	if ((flags & MXGPU_STATE_LOOK) && mxgpu_file_ok(file)) {
		u32 status = mxgpu_read(mdev, MXGPU_MCU_STATUS);

		mutex_lock(&mdev->mbox_lock);
		if (MXGPU_GET(MXGPU_MCU_STATUS_STATE, status) !=
		    MXGPU_MCU_RUNNING && mxgpu_file_ok(file))
			mxgpu_lose(mdev, "its firmware does not run");
		mutex_unlock(&mdev->mbox_lock);
	}
	args->state = mxgpu_file_ok(file) ? 0 : MXGPU_STATE_LOST;
	args->resets = READ_ONCE(mdev->generation) - 1;
	args->errors = mxgpu_read(mdev, MXGPU_ERR_COUNT);
	return 0;
}

/* Reading a low half latches the high half: mbox_lock keeps them together. */
static u64 read_latched(struct mxgpu_device *mdev, u32 reg)
{
	u64 lo;

	lockdep_assert_held(&mdev->mbox_lock);
	lo = mxgpu_read(mdev, reg);
	return lo | (u64)mxgpu_read(mdev, reg + 4) << 32;
}

static int ioctl_clock(struct drm_device *drm, void *data, struct drm_file *f)
{
	struct mxgpu_file *file = f->driver_priv;
	struct mxgpu_device *mdev = file->mdev;
	struct drm_mxgpu_clock *args = data;

	if (!mxgpu_file_ok(file))
		return -ENODEV;
	mutex_lock(&mdev->mbox_lock);
	args->before = ktime_get_ns();
	args->clock = read_latched(mdev, MXGPU_CLOCK_LO);
	args->after = ktime_get_ns();
	mutex_unlock(&mdev->mbox_lock);
	return 0;
}

static int ioctl_where(struct drm_device *drm, void *data, struct drm_file *f)
{
	struct mxgpu_file *file = f->driver_priv;
	struct mxgpu_device *mdev = file->mdev;
	struct drm_mxgpu_where *args = data;
	u64 __user *pcs = u64_to_user_ptr(args->pcs);
	u32 room = args->count, n = 0, unit;

	if (args->reserved)
		return -EINVAL;
	if (!mxgpu_file_ok(file))
		return -ENODEV;
	for (unit = 0; unit < mdev->info.compute_units && n < room &&
	     unit < MXGPU_CU_PC_LO_COUNT; unit++) {
		u64 pc;
		u32 hi;

		mutex_lock(&mdev->mbox_lock);
		pc = read_latched(mdev, MXGPU_CU_PC_LO +
					unit * MXGPU_CU_PC_LO_STRIDE);
		mutex_unlock(&mdev->mbox_lock);
		hi = pc >> 32;
		if (!MXGPU_GET(MXGPU_CU_PC_HI_VALID, hi) ||
		    MXGPU_GET(MXGPU_CU_PC_HI_VMID, hi) != file->vmid)
			continue;
		if (put_user(lower_32_bits(pc) |
			     (u64)MXGPU_GET(MXGPU_CU_PC_HI_PC, hi) << 32,
			     pcs + n))
			return -EFAULT;
		n++;
	}
	args->count = n;
	return 0;
}

static int ioctl_memory(struct drm_device *drm, void *data, struct drm_file *f)
{
	struct mxgpu_device *mdev = to_mxgpu(drm);
	struct drm_mxgpu_memory *args = data;
	struct drm_gem_object *obj;
	int id;

	args->vram_used = 0;
	args->system_used = 0;
	mutex_lock(&mdev->vram_lock);
	args->vram_total = mdev->vram_size;
	args->vram_free = mdev->vram_free;
	mutex_unlock(&mdev->vram_lock);
	spin_lock(&f->table_lock);
	idr_for_each_entry(&f->object_idr, obj, id) {
		if (to_bo(obj)->place == MXGPU_PLACE_VRAM)
			args->vram_used += obj->size;
		else if (to_bo(obj)->place != MXGPU_PLACE_IMPORT)
			args->system_used += obj->size;
	}
	spin_unlock(&f->table_lock);
	return 0;
}

#define IOCTL(name, func) \
	DRM_IOCTL_DEF_DRV(MXGPU_##name, func, DRM_RENDER_ALLOW)
static const struct drm_ioctl_desc ioctls[] = {
	IOCTL(INFO, ioctl_info),
	IOCTL(BO_CREATE, mxgpu_ioctl_bo_create),
	IOCTL(BO_USERPTR, mxgpu_ioctl_bo_userptr),
	IOCTL(BO_INFO, mxgpu_ioctl_bo_info),
	IOCTL(VM_MAP, mxgpu_ioctl_vm_map),
	IOCTL(VM_UNMAP, mxgpu_ioctl_vm_unmap),
	IOCTL(VM_REPLACE, mxgpu_ioctl_vm_replace),
	IOCTL(QUEUE_CREATE, mxgpu_ioctl_queue_create),
	IOCTL(QUEUE_DESTROY, mxgpu_ioctl_queue_destroy),
	IOCTL(QUEUE_PROFILE, mxgpu_ioctl_queue_profile),
	IOCTL(QUEUE_LAUNCH, mxgpu_ioctl_queue_launch),
	IOCTL(QUEUE_WAIT, mxgpu_ioctl_queue_wait),
	IOCTL(QUEUE_EVENTFD, mxgpu_ioctl_queue_eventfd),
	IOCTL(STATE, ioctl_state),
	IOCTL(CLOCK, ioctl_clock),
	IOCTL(WHERE, ioctl_where),
	IOCTL(MEMORY, ioctl_memory),
	IOCTL(RESET, mxgpu_ioctl_reset),
};

/* ---- open files ---- */

static int file_pages(struct mxgpu_file *file)
{
	file->status = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	file->sink = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	return file->status && file->sink ? 0 : -ENOMEM;
}

static void file_free(struct mxgpu_file *file)
{
	free_page((unsigned long)file->status);
	free_page((unsigned long)file->sink);
	kfree(file);
}

static int vmid_get(struct mxgpu_device *mdev)
{
	int vmid;

	do {
		vmid = find_first_zero_bit(&mdev->vmids, MXGPU_NUM_VMIDS);
		if (vmid == MXGPU_NUM_VMIDS)
			return -EBUSY;
	} while (test_and_set_bit(vmid, &mdev->vmids));
	return vmid;
}

static int file_open(struct drm_device *drm, struct drm_file *f)
{
	struct mxgpu_device *mdev = to_mxgpu(drm);
	struct mxgpu_file *file;
	int err;

	flush_work(&mdev->reset_work);
	if (READ_ONCE(mdev->lost))
		return -ENODEV;
	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;
	file->mdev = mdev;
	file->generation = READ_ONCE(mdev->generation);
	err = file_pages(file);
	if (err)
		goto fail;
	err = vmid_get(mdev);
	if (err < 0)
		goto fail;
	file->vmid = err;
	err = mxgpu_vm_init(file);
	if (err) {
		clear_bit(file->vmid, &mdev->vmids);
		goto fail;
	}
	spin_lock_irq(&mdev->irq_lock);
	list_add(&file->link, &mdev->files);
	spin_unlock_irq(&mdev->irq_lock);
	f->driver_priv = file;
	return 0;

fail:
	file_free(file);
	return err;
}

/* All that the device does for the file ends before its memory goes. */
static void file_postclose(struct drm_device *drm, struct drm_file *f)
{
	struct mxgpu_file *file = f->driver_priv;
	struct mxgpu_device *mdev = file->mdev;

	mxgpu_queues_destroy(file);
	mxgpu_vm_fini(file);
	spin_lock_irq(&mdev->irq_lock);
	list_del(&file->link);
	spin_unlock_irq(&mdev->irq_lock);
	clear_bit(file->vmid, &mdev->vmids);
	file_free(file);
}

static int file_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct drm_file *f = filp->private_data;

	if (drm_dev_is_unplugged(f->minor->dev))
		return -ENODEV;
	if (vma->vm_pgoff < DRM_FILE_PAGE_OFFSET_START)
		return mxgpu_queue_mmap(f->driver_priv, vma);
	return drm_gem_mmap(filp, vma);
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = drm_open,
	.release = drm_release,
	.unlocked_ioctl = drm_ioctl,
	.compat_ioctl = drm_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = file_mmap,
};

static const struct drm_driver driver = {
	.driver_features = DRIVER_GEM | DRIVER_RENDER,
	.open = file_open,
	.postclose = file_postclose,
	.ioctls = ioctls,
	.num_ioctls = ARRAY_SIZE(ioctls),
	.fops = &fops,
	.prime_handle_to_fd = drm_gem_prime_handle_to_fd,
	.prime_fd_to_handle = drm_gem_prime_fd_to_handle,
	.gem_prime_import_sg_table = mxgpu_gem_import,
	.gem_prime_mmap = drm_gem_prime_mmap,
	.name = MXGPU_DRM_NAME,
	.desc = "mxgpu compute device",
	.date = "20261123",
	.major = 1,
};

/* ---- the function ---- */

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

static int bring_up(struct mxgpu_device *mdev)
{
	int err = mxgpu_reset(mdev);

	if (!err) {
		pci_set_master(mdev->pdev);
		err = mxgpu_mcu_boot(mdev);
	}
	return err;
}

/* After a loss. Files that were open before stay lost: their generation. */
static void reset_work(struct work_struct *work)
{
	struct mxgpu_device *mdev =
		container_of(work, struct mxgpu_device, reset_work);
	int idx;

	if (!drm_dev_enter(&mdev->drm, &idx))
		return;
	mutex_lock(&mdev->queue_lock);
	WRITE_ONCE(mdev->generation, mdev->generation + 1);
	WRITE_ONCE(mdev->lost, false);
	if (bring_up(mdev)) {
		drm_err(&mdev->drm, "does not come back after a reset\n");
		WRITE_ONCE(mdev->lost, true);
	}
	mutex_unlock(&mdev->queue_lock);
	drm_dev_exit(idx);
}

static void vram_fini(struct drm_device *drm, void *data)
{
	drm_mm_takedown(&to_mxgpu(drm)->vram_mm);
}

static int init(struct mxgpu_device *mdev)
{
	init_waitqueue_head(&mdev->wait);
	init_waitqueue_head(&mdev->queue_wait);
	mutex_init(&mdev->mbox_lock);
	mutex_init(&mdev->vram_lock);
	mutex_init(&mdev->queue_lock);
	spin_lock_init(&mdev->irq_lock);
	INIT_LIST_HEAD(&mdev->files);
	INIT_WORK(&mdev->reset_work, reset_work);
	mdev->generation = 1;
	mdev->vmids = 1;	/* 0 is the kernel's */
	drm_mm_init(&mdev->vram_mm, 0, mdev->vram_size);
	mdev->vram_free = mdev->vram_size;
	return drmm_add_action(&mdev->drm, vram_fini, NULL);
}

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct mxgpu_device *mdev;
	int err;

	mdev = devm_drm_dev_alloc(&pdev->dev, &driver, struct mxgpu_device,
				  drm);
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
	/* Whoever had the device before may have left it running. */
	err = mxgpu_reset(mdev);
	if (err)
		return dev_err_probe(&pdev->dev, err, "reset\n");
	err = mxgpu_irq_init(mdev);
	if (err)
		return dev_err_probe(&pdev->dev, err, "interrupts\n");
	err = bring_up(mdev);
	if (!err)
		err = drm_dev_register(&mdev->drm, 0);
	if (err) {
		mxgpu_reset(mdev);
		mxgpu_irq_fini(mdev);
	}
	return err;
}

static void remove(struct pci_dev *pdev)
{
	struct mxgpu_device *mdev = pci_get_drvdata(pdev);

	drm_dev_unplug(&mdev->drm);
	cancel_work_sync(&mdev->reset_work);
	/* Files may stay open: all they do from here on fails. */
	WRITE_ONCE(mdev->lost, true);
	if (mxgpu_read(mdev, MXGPU_ID) == MXGPU_ID_MAGIC)
		mxgpu_reset(mdev);
	pci_clear_master(pdev);
	wake_up_all(&mdev->queue_wait);
	mxgpu_irq_fini(mdev);
}

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
};
module_pci_driver(pci_driver);

MODULE_DESCRIPTION("mxgpu compute device");
MODULE_LICENSE("GPL");
MODULE_FIRMWARE(MXGPU_FIRMWARE);
