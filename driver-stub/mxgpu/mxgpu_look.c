// SPDX-License-Identifier: GPL-2.0-only
/*
 * What can be seen of the device from outside: debugfs (dri/N/...), sysfs, fdinfo
 * of clients, and a dump of the moment in which it was lost (devcoredump).
 */
#include <drm/drm_debugfs.h>
#include <drm/drm_drv.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>
#include <linux/debugfs.h>
#include <linux/devcoredump.h>
#include <linux/module.h>
#include <linux/pm_runtime.h>
#include <linux/vmalloc.h>

#include "mxgpu_drv.h"

/* ---- registers ---- */

struct reg {
	const char *name;
	u32 offset, count, stride;
};

/* Those that the host may read; of long arrays, which are counters, nothing. */
#define READ_NA(name, offset, count, stride)
#define READ_WO(name, offset, count, stride)
#define READ_RO(name, offset, count, stride) { name, offset, count, stride },
#define READ_RW(name, offset, count, stride) { name, offset, count, stride },
#define READ_W1C(name, offset, count, stride) { name, offset, count, stride },
#define MXGPU_REG(name, offset, count, stride, host, mcu, reset, doc) \
	READ_##host(#name, offset, count, stride)
#define MXGPU_FIELD(reg, name, shift, width, doc)
static const struct reg regs[] = {
#include "mxgpu/regs.def"
};

#undef MXGPU_REG
#undef MXGPU_FIELD

#define ARRAY_MAX 32

static void print_registers(struct mxgpu_device *mdev, struct drm_printer *p)
{
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(regs); i++) {
		const struct reg *reg = &regs[i];

		/* Reading it moves the address on. */
		if (reg->count > ARRAY_MAX ||
		    reg->offset == MXGPU_MCU_SRAM_DATA)
			continue;
		for (k = 0; k < reg->count; k++) {
			u32 at = reg->offset + k * reg->stride;

			if (reg->count > 1)
				drm_printf(p, "%s[%u]: 0x%08x\n", reg->name, k,
					   mxgpu_read(mdev, at));
			else
				drm_printf(p, "%s: 0x%08x\n", reg->name,
					   mxgpu_read(mdev, at));
		}
	}
}

/* ---- clients ---- */

/* With irq_lock held. */
static void print_clients(struct mxgpu_device *mdev, struct drm_printer *p)
{
	struct mxgpu_file *file;
	unsigned int id;

	list_for_each_entry(file, &mdev->files, link)
		drm_printf(p, "client %llu: vmid %u, queues %u%s\n", file->id,
			   file->vmid, file->queues,
			   mxgpu_file_ok(file) ? "" : ", lost");
	for (id = 0; id < MXGPU_MAX_QUEUES; id++)
		if (mdev->queues[id])
			drm_printf(p, "queue %u: client %llu, interrupts %u\n",
				   id, mdev->queues[id]->file->id,
				   mdev->queues[id]->file->status->irqs[id]);
}

static void show_engines(struct seq_file *m, struct mxgpu_file *file)
{
	const struct drm_mxgpu_info *info = &file->mdev->info;
	u64 used[MXGPU_ENGINES];

	if (!MXGPU_GET(MXGPU_FEATURES_VMID_TIME, info->features))
		return;
	mxgpu_vm_used(file, used);
	seq_printf(m, "drm-engine-compute:\t%llu ns\n", used[MXGPU_COMPUTE]);
	seq_printf(m, "drm-engine-capacity-compute:\t%u\n",
		   info->compute_units);
	seq_printf(m, "drm-engine-copy:\t%llu ns\n", used[MXGPU_COPY]);
	seq_printf(m, "drm-engine-capacity-copy:\t%u\n", info->copy_engines);
}

/* Of an object of VRAM: where it would be, and where it is. */
static void show_memory_of(struct seq_file *m, const char *region, u64 total,
			   u64 resident)
{
	seq_printf(m, "drm-total-%s:\t%llu KiB\n", region, total >> 10);
	seq_printf(m, "drm-resident-%s:\t%llu KiB\n", region, resident >> 10);
	/* What tools look for that are older than these. */
	seq_printf(m, "drm-memory-%s:\t%llu KiB\n", region, resident >> 10);
}

/**
 * mxgpu_show_fdinfo() - /proc/PID/fdinfo/N of a client
 * @m: where to
 * @filp: the open file
 *
 * Keys of drm-usage-stats. Work does not pass through the driver: the device
 * itself counts what each address space took, of all units together. A device
 * that has gone, or is too old, tells no time.
 */
void mxgpu_show_fdinfo(struct seq_file *m, struct file *filp)
{
	struct drm_file *f = filp->private_data;
	struct mxgpu_file *file = f->driver_priv;
	struct mxgpu_device *mdev = file->mdev;
	struct mxgpu_client_memory memory;
	u64 evicted;
	int idx;

	mxgpu_client_memory(f, &memory);
	evicted = memory.vram - memory.vram_resident;
	seq_printf(m, "drm-driver:\t%s\n", MXGPU_DRM_NAME);
	seq_printf(m, "drm-pdev:\t%s\n", pci_name(mdev->pdev));
	seq_printf(m, "drm-client-id:\t%llu\n", file->id);
	show_memory_of(m, "vram", memory.vram, memory.vram_resident);
	show_memory_of(m, "system", memory.system + evicted,
		       memory.system + evicted);
	if (drm_dev_enter(&mdev->drm, &idx)) {
		show_engines(m, file);
		drm_dev_exit(idx);
	}
	seq_printf(m, "mxgpu-queues:\t%u\n", READ_ONCE(file->queues));
	seq_printf(m, "mxgpu-vmid:\t%u\n", READ_ONCE(file->vmid));
}

/* ---- debugfs ---- */

static struct mxgpu_device *device_of(struct seq_file *m)
{
	struct drm_info_node *node = m->private;

	return to_mxgpu(node->minor->dev);
}

static int show_registers(struct seq_file *m, void *unused)
{
	struct drm_printer p = drm_seq_file_printer(m);
	struct mxgpu_device *mdev = device_of(m);
	int idx, err;

	if (!drm_dev_enter(&mdev->drm, &idx))
		return -ENODEV;
	err = pm_runtime_resume_and_get(mdev->drm.dev);
	if (!err) {
		mutex_lock(&mdev->mbox_lock); /* for what is latched */
		print_registers(mdev, &p);
		mutex_unlock(&mdev->mbox_lock);
		pm_runtime_put_autosuspend(mdev->drm.dev);
	}
	drm_dev_exit(idx);
	return err;
}

static int show_queues(struct seq_file *m, void *unused)
{
	struct drm_printer p = drm_seq_file_printer(m);
	struct mxgpu_device *mdev = device_of(m);

	spin_lock_irq(&mdev->irq_lock);
	print_clients(mdev, &p);
	spin_unlock_irq(&mdev->irq_lock);
	return 0;
}

static int show_memory(struct seq_file *m, void *unused)
{
	struct drm_printer p = drm_seq_file_printer(m);

	mxgpu_vram_show(device_of(m), &p);
	return 0;
}

static int show_firmware(struct seq_file *m, void *unused)
{
	struct mxgpu_device *mdev = device_of(m);
	static const char *const states[] = {
		[MXGPU_DOWN] = "comes up", [MXGPU_UP] = "up",
		[MXGPU_ASLEEP] = "asleep",
		[MXGPU_LOST] = "lost", [MXGPU_WEDGED] = "wedged",
	};
	u32 version = mdev->info.fw_version;

	seq_printf(m, "version: %u.%u.%u\n", version >> 16, version >> 8 & 255,
		   version & 255);
	seq_printf(m, "build: %.32s\n", mdev->info.fw_build);
	seq_printf(m, "state: %s\n", states[READ_ONCE(mdev->state)]);
	seq_printf(m, "resets: %u\n", READ_ONCE(mdev->generation) - 1);
	return 0;
}

static int show_mappings(struct seq_file *m, void *unused)
{
	struct drm_printer p = drm_seq_file_printer(m);
	struct mxgpu_device *mdev = device_of(m);
	struct mxgpu_file *file;

	mutex_lock(&mdev->client_lock);
	list_for_each_entry(file, &mdev->files, link) {
		drm_printf(&p, "client %llu: vmid %u, %lu pages of the process\n",
			   file->id, READ_ONCE(file->vmid),
			   mxgpu_svm_pages(file));
		mxgpu_vm_show(file, &p);
	}
	mutex_unlock(&mdev->client_lock);
	return 0;
}

static int show_log(struct seq_file *m, void *unused)
{
	struct drm_printer p = drm_seq_file_printer(m);
	struct mxgpu_device *mdev = m->private;
	int idx, err;

	if (!drm_dev_enter(&mdev->drm, &idx))
		return -ENODEV;
	err = pm_runtime_resume_and_get(mdev->drm.dev);
	if (err)
		goto out;
	mutex_lock(&mdev->reset_lock);
	if (mdev->state == MXGPU_UP)
		mxgpu_mcu_log(mdev, &p);
	else
		err = -ENODEV;
	mutex_unlock(&mdev->reset_lock);
	pm_runtime_put_autosuspend(mdev->drm.dev);
out:
	drm_dev_exit(idx);
	return err;
}

static int log_open(struct inode *inode, struct file *filp)
{
	return single_open(filp, show_log, inode->i_private);
}

static ssize_t log_write(struct file *filp, const char __user *text,
			 size_t size, loff_t *pos)
{
	struct mxgpu_device *mdev =
		((struct seq_file *)filp->private_data)->private;
	unsigned int level;
	int idx, err;

	err = kstrtouint_from_user(text, size, 0, &level);
	if (err)
		return err;
	if (!drm_dev_enter(&mdev->drm, &idx))
		return -ENODEV;
	err = pm_runtime_resume_and_get(mdev->drm.dev);
	if (!err) {
		err = mxgpu_mcu_log_level(mdev, level);
		pm_runtime_put_autosuspend(mdev->drm.dev);
	}
	drm_dev_exit(idx);
	return err ? err : size;
}

static const struct file_operations log_fops = {
	.owner = THIS_MODULE,
	.open = log_open,
	.read = seq_read,
	.write = log_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* What was written there last is looked up: a client's number, an address. */
static int show_walk(struct seq_file *m, void *unused)
{
	struct drm_printer p = drm_seq_file_printer(m);
	struct mxgpu_device *mdev = m->private;
	struct mxgpu_file *file;
	int err = -ENOENT;

	mutex_lock(&mdev->client_lock);
	list_for_each_entry(file, &mdev->files, link) {
		if (file->id != mdev->walk_client)
			continue;
		mutex_lock(&file->vm_lock);
		mxgpu_pt_show(file, mdev->walk_va, &p);
		mutex_unlock(&file->vm_lock);
		err = 0;
	}
	mutex_unlock(&mdev->client_lock);
	return err;
}

static int walk_open(struct inode *inode, struct file *filp)
{
	return single_open(filp, show_walk, inode->i_private);
}

static ssize_t walk_write(struct file *filp, const char __user *text,
			  size_t size, loff_t *pos)
{
	struct mxgpu_device *mdev =
		((struct seq_file *)filp->private_data)->private;
	unsigned long long client, va;
	char line[64];

	if (!size || size >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, text, size))
		return -EFAULT;
	line[size] = '\0';
	if (sscanf(line, "%llu %llx", &client, &va) != 2 ||
	    va >= MXGPU_VA_LIMIT)
		return -EINVAL;
	mutex_lock(&mdev->client_lock);
	mdev->walk_client = client;
	mdev->walk_va = va;
	mutex_unlock(&mdev->client_lock);
	return size;
}

static const struct file_operations walk_fops = {
	.owner = THIS_MODULE,
	.open = walk_open,
	.read = seq_read,
	.write = walk_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static const struct drm_info_list files[] = {
	{ "registers", show_registers },
	{ "queues", show_queues },
	{ "memory", show_memory },
	{ "firmware", show_firmware },
	{ "mappings", show_mappings },
};

void mxgpu_debugfs_init(struct drm_minor *minor)
{
	drm_debugfs_create_files(files, ARRAY_SIZE(files), minor->debugfs_root,
				 minor);
	debugfs_create_file("walk", 0600, minor->debugfs_root,
			    to_mxgpu(minor->dev), &walk_fops);
	debugfs_create_file("log", 0600, minor->debugfs_root,
			    to_mxgpu(minor->dev), &log_fops);
	mxgpu_count_debugfs(minor);
	mxgpu_selftest_debugfs(minor);
}

/* ---- sysfs ---- */

static struct mxgpu_device *of_dev(struct device *dev)
{
	return dev_get_drvdata(dev);
}

static ssize_t firmware_version_show(struct device *dev,
				     struct device_attribute *attr, char *buf)
{
	u32 version = of_dev(dev)->info.fw_version;

	return sysfs_emit(buf, "%u.%u.%u\n", version >> 16, version >> 8 & 255,
			  version & 255);
}
static DEVICE_ATTR_RO(firmware_version);

static ssize_t firmware_build_show(struct device *dev,
				   struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%.32s\n", of_dev(dev)->info.fw_build);
}
static DEVICE_ATTR_RO(firmware_build);

static ssize_t resets_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(of_dev(dev)->generation) - 1);
}
static DEVICE_ATTR_RO(resets);

static ssize_t vram_total_show(struct device *dev,
			       struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", of_dev(dev)->vram_size);
}
static DEVICE_ATTR_RO(vram_total);

static ssize_t vram_used_show(struct device *dev, struct device_attribute *attr,
			      char *buf)
{
	struct mxgpu_device *mdev = of_dev(dev);
	u64 used;

	mutex_lock(&mdev->vram_lock);
	used = mdev->vram_size - mdev->vram_free;
	mutex_unlock(&mdev->vram_lock);
	return sysfs_emit(buf, "%llu\n", used);
}
static DEVICE_ATTR_RO(vram_used);

static struct attribute *attributes[] = {
	&dev_attr_firmware_version.attr,
	&dev_attr_firmware_build.attr,
	&dev_attr_resets.attr,
	&dev_attr_vram_total.attr,
	&dev_attr_vram_used.attr,
	NULL,
};

static const struct attribute_group group = { .attrs = attributes };

/* The driver core makes them after probe() and takes them before remove(). */
const struct attribute_group *mxgpu_groups[] = { &group, NULL };

/* ---- what it was like ---- */

#define DUMP_BYTES SZ_64K

static void dump_free(struct drm_device *drm, void *data)
{
	vfree(to_mxgpu(drm)->dump);
}

int mxgpu_dump_init(struct mxgpu_device *mdev)
{
	mdev->dump = vzalloc(DUMP_BYTES);
	return mdev->dump ? drmm_add_action_or_reset(&mdev->drm, dump_free,
						     NULL) : -ENOMEM;
}

/**
 * mxgpu_dump() - write down what a device is like that is being lost
 * @mdev: the device, which has not been stopped yet
 * @why: the first line
 *
 * Context: reset_lock is held: nothing is allocated (mxgpu_drv.h). Of losses
 * that follow one another faster than they are shown, the last one stays.
 */
void mxgpu_dump(struct mxgpu_device *mdev, const char *why)
{
	struct drm_print_iterator out = { .remain = DUMP_BYTES };
	struct drm_printer p;

	if (!mdev->dump)
		return;
	out.data = mdev->dump;
	p = drm_coredump_printer(&out);
	drm_printf(&p, "mxgpu %s: %s\n", pci_name(mdev->pdev), why);
	drm_printf(&p, "firmware %.32s, resets %u\n", mdev->info.fw_build,
		   mdev->generation - 1);
	spin_lock_irq(&mdev->irq_lock);
	print_clients(mdev, &p);
	spin_unlock_irq(&mdev->irq_lock);
	if (mxgpu_read(mdev, MXGPU_ID) == MXGPU_ID_MAGIC) {
		drm_printf(&p, "the firmware's last words:\n");
		mxgpu_mcu_log(mdev, &p);
		print_registers(mdev, &p);
	} else {
		drm_printf(&p, "it does not answer\n");
	}
	mdev->dump_bytes = DUMP_BYTES - out.remain;
}

/**
 * mxgpu_dump_publish() - show what mxgpu_dump() wrote as a devcoredump
 * @mdev: the device
 *
 * /sys/class/devcoredump/devcdN/data has it until somebody writes there, at most
 * five minutes. Without memory there is none.
 */
void mxgpu_dump_publish(struct mxgpu_device *mdev)
{
	char *next = vzalloc(DUMP_BYTES), *data = NULL;
	size_t bytes;

	mutex_lock(&mdev->reset_lock);
	bytes = mdev->dump_bytes;
	mdev->dump_bytes = 0;
	if (bytes && next) {
		data = mdev->dump;
		mdev->dump = next;
		next = NULL;
	}
	mutex_unlock(&mdev->reset_lock);
	vfree(next);
	if (data)
		dev_coredumpv(mdev->drm.dev, data, bytes, GFP_KERNEL);
}
