// SPDX-License-Identifier: GPL-2.0-only
/* Open files, which are the clients, and their small ioctls. */
#include <drm/drm_drv.h>
#include <drm/drm_ioctl.h>
#include <drm/drm_prime.h>
#include <linux/module.h>
#include <linux/pm_runtime.h>
#include <linux/slab.h>

#include "mxgpu_drv.h"

/* ---- ioctls ---- */

static int ioctl_info(struct drm_device *drm, void *data, struct drm_file *f)
{
	struct drm_mxgpu_info *info = data;
	struct mxgpu_file *file = f->driver_priv;

	*info = file->mdev->info;
	info->vmid = READ_ONCE(file->vmid);
	info->min_priority = mxgpu_min_priority(file->mdev);
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
	mutex_lock(&mdev->mbox_lock);
	if ((flags & MXGPU_STATE_LOOK) && mxgpu_file_ok(file) &&
	    !mxgpu_mcu_runs(mdev))
		mxgpu_lose(mdev, "its firmware does not run");
	args->state = mxgpu_file_ok(file) ? 0 : MXGPU_STATE_LOST;
	args->resets = mdev->generation - 1;
	args->errors = mxgpu_read(mdev, MXGPU_ERR_COUNT);
	mutex_unlock(&mdev->mbox_lock);
	return 0;
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
	args->clock = mxgpu_read_latched(mdev, MXGPU_CLOCK_LO);
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
		pc = mxgpu_read_latched(mdev, MXGPU_CU_PC_LO +
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

/* What the client has handles of, and what of it is its own. */
void mxgpu_client_memory(struct drm_file *f, struct mxgpu_client_memory *m)
{
	struct drm_gem_object *obj;
	int id;

	*m = (struct mxgpu_client_memory) { };
	spin_lock(&f->table_lock);
	idr_for_each_entry(&f->object_idr, obj, id) {
		const struct mxgpu_bo *bo = to_bo(obj);

		if (bo->place == MXGPU_PLACE_VRAM) {
			m->vram += obj->size;
			m->vram_resident += READ_ONCE(bo->dma) ? 0 : obj->size;
		} else if (bo->place != MXGPU_PLACE_IMPORT) {
			m->system += obj->size;
		}
	}
	spin_unlock(&f->table_lock);
}

static int ioctl_memory(struct drm_device *drm, void *data, struct drm_file *f)
{
	struct mxgpu_device *mdev = to_mxgpu(drm);
	struct drm_mxgpu_memory *args = data;
	struct mxgpu_client_memory m;

	mutex_lock(&mdev->vram_lock);
	args->vram_total = mdev->vram_size;
	args->vram_free = mdev->vram_free;
	mutex_unlock(&mdev->vram_lock);
	mxgpu_client_memory(f, &m);
	args->vram_used = m.vram;
	args->system_used = m.system;
	args->vram_evicted = m.vram - m.vram_resident;
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
	IOCTL(FAULTS, mxgpu_ioctl_faults),
	IOCTL(RESOLVE, mxgpu_ioctl_resolve),
	IOCTL(STATE, ioctl_state),
	IOCTL(CLOCK, ioctl_clock),
	IOCTL(WHERE, ioctl_where),
	IOCTL(MEMORY, ioctl_memory),
	IOCTL(RESET, mxgpu_ioctl_reset),
	IOCTL(CONTEXTS, mxgpu_ioctl_contexts),
	IOCTL(SVM, mxgpu_ioctl_svm),
	IOCTL(QUEUE_FENCE, mxgpu_ioctl_queue_fence),
};

/* ---- open files ---- */

static int file_pages(struct mxgpu_file *file)
{
	file->status = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	file->sink = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	file->share = mxgpu_share_new(file);
	return file->status && file->sink && file->share ? 0 : -ENOMEM;
}

static void file_free(struct mxgpu_file *file)
{
	free_page((unsigned long)file->status);
	free_page((unsigned long)file->sink);
	mxgpu_share_put(file->share);
	kfree(file);
}

/**
 * mxgpu_client_new() - a client, of the kernel's own or of a process
 * @mdev: the device, awake and inside of drm_dev_enter()
 *
 * Return: the client, or an ERR_PTR().
 */
struct mxgpu_file *mxgpu_client_new(struct mxgpu_device *mdev)
{
	static atomic64_t ids;
	struct mxgpu_file *file;
	int err;

	if (READ_ONCE(mdev->state) != MXGPU_UP)
		return ERR_PTR(-ENODEV);
	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return ERR_PTR(-ENOMEM);
	file->mdev = mdev;
	file->id = atomic64_inc_return(&ids);
	mxgpu_faults_open(file);
	err = file_pages(file);
	if (!err)
		err = mxgpu_vm_init(file);
	if (err) {
		file_free(file);
		return ERR_PTR(err);
	}
	mutex_lock(&mdev->client_lock);
	spin_lock_irq(&mdev->irq_lock);
	list_add(&file->link, &mdev->files);
	spin_unlock_irq(&mdev->irq_lock);
	/* A loss from here on is told to it; was there one just before? */
	file->generation = READ_ONCE(mdev->generation);
	if (!mxgpu_file_ok(file))
		file->status->state = MXGPU_STATE_LOST;
	mutex_unlock(&mdev->client_lock);
	return file;
}

static bool settled(struct mxgpu_device *mdev)
{
	enum mxgpu_state state = READ_ONCE(mdev->state);

	return state == MXGPU_UP || state == MXGPU_WEDGED;
}

static void idle(struct mxgpu_device *mdev)
{
	pm_runtime_mark_last_busy(mdev->drm.dev);
	pm_runtime_put_autosuspend(mdev->drm.dev);
}

static int open_awake(struct drm_device *drm, struct drm_file *f)
{
	struct mxgpu_device *mdev = to_mxgpu(drm);
	struct mxgpu_file *file;
	int idx, err;

	/* Who opens it after a loss wants the device that comes after it. */
	err = wait_event_interruptible(mdev->queue_wait, settled(mdev));
	if (err)
		return err;
	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	file = mxgpu_client_new(mdev);
	drm_dev_exit(idx);
	if (IS_ERR(file))
		return PTR_ERR(file);
	f->driver_priv = file;
	return 0;
}

/* Awake from the first client on until after the last. */
static int file_open(struct drm_device *drm, struct drm_file *f)
{
	int err = pm_runtime_resume_and_get(drm->dev);

	if (err)
		return err;
	err = open_awake(drm, f);
	if (err)
		idle(to_mxgpu(drm));
	return err;
}

/* Ends all that the device does for the file. It may be done twice. */
static void file_stop(struct mxgpu_file *file)
{
	mxgpu_queues_destroy(file);
	mxgpu_faults_close(file);
	mxgpu_vm_stop(file);
}

void mxgpu_client_end(struct mxgpu_file *file)
{
	struct mxgpu_device *mdev = file->mdev;

	mutex_lock(&mdev->client_lock);
	file_stop(file);
	spin_lock_irq(&mdev->irq_lock);
	list_del(&file->link);
	spin_unlock_irq(&mdev->irq_lock);
	mutex_unlock(&mdev->client_lock);
	mxgpu_vm_fini(file);
	file_free(file);
}

static void file_postclose(struct drm_device *drm, struct drm_file *f)
{
	mxgpu_client_end(f->driver_priv);
	idle(to_mxgpu(drm));
}

/* When the device has gone: what is left of files has nothing of it. */
void mxgpu_clients_fini(struct mxgpu_device *mdev)
{
	struct mxgpu_file *file;

	mutex_lock(&mdev->client_lock);
	list_for_each_entry(file, &mdev->files, link)
		file_stop(file);
	mutex_unlock(&mdev->client_lock);
}

/*
 * No ioctl meets the end of the device, but the one that may wait for ever: it
 * looks after that itself.
 */
static long mxgpu_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct drm_file *f = filp->private_data;
	struct drm_device *drm = f->minor->dev;
	long ret;
	int idx;

	if (cmd == DRM_IOCTL_MXGPU_QUEUE_WAIT)
		return drm_ioctl(filp, cmd, arg);
	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	ret = drm_ioctl(filp, cmd, arg);
	drm_dev_exit(idx);
	return ret;
}

#ifdef CONFIG_COMPAT
/* All our structures are the same for processes of 32 bits. */
static long mxgpu_compat_ioctl(struct file *filp, unsigned int cmd,
			       unsigned long arg)
{
	struct drm_file *f = filp->private_data;
	struct drm_device *drm = f->minor->dev;
	long ret;
	int idx;

	if (cmd == DRM_IOCTL_MXGPU_QUEUE_WAIT)
		return drm_compat_ioctl(filp, cmd, arg);
	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	ret = drm_compat_ioctl(filp, cmd, arg);
	drm_dev_exit(idx);
	return ret;
}
#else
#define mxgpu_compat_ioctl NULL
#endif

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
	.unlocked_ioctl = mxgpu_ioctl,
	.compat_ioctl = mxgpu_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.show_fdinfo = mxgpu_show_fdinfo,
	.mmap = file_mmap,
	MXGPU_FOP_FLAGS
};

const struct drm_driver mxgpu_drm_driver = {
	.driver_features = DRIVER_GEM | DRIVER_RENDER | DRIVER_SYNCOBJ |
			   DRIVER_SYNCOBJ_TIMELINE,
	.open = file_open,
	.postclose = file_postclose,
	.ioctls = ioctls,
	.num_ioctls = ARRAY_SIZE(ioctls),
	.fops = &fops,
	MXGPU_PRIME_OPS
	.gem_prime_import_sg_table = mxgpu_gem_import,
	.debugfs_init = mxgpu_debugfs_init,
	.name = MXGPU_DRM_NAME,
	.desc = "mxgpu compute device",
	MXGPU_DRIVER_DATE
	.major = 1,
};
