// SPDX-License-Identifier: GPL-2.0-only
/*
 * What has gone wrong since the driver was bound, and how busy the device is: two
 * files of debugfs. What packets do wrong is told to who sent them, in the control
 * block of the queue, and is not counted here but where the device itself does.
 */
#include <drm/drm_debugfs.h>
#include <drm/drm_drv.h>
#include <linux/debugfs.h>
#include <linux/math64.h>
#include <linux/pm_runtime.h>
#include <linux/seq_file.h>

#include "mxgpu_drv.h"

static struct mxgpu_device *device_of(struct seq_file *m)
{
	struct drm_info_node *node = m->private;

	return to_mxgpu(node->minor->dev);
}

/* ---- errors ---- */

static const char *const names[MXGPU_COUNTS] = {
	[MXGPU_COUNT_LOST] = "device lost",
	[MXGPU_COUNT_CLIENT_LOST] = "device lost to one client",
	[MXGPU_COUNT_SILENT] = "firmware does not answer",
	[MXGPU_COUNT_FAULTS] = "recoverable faults",
	[MXGPU_COUNT_KILLED] = "... that were not mended",
	[MXGPU_COUNT_AER_NONFATAL] = "errors of the bus, not fatal",
	[MXGPU_COUNT_AER_FATAL] = "errors of the bus, fatal",
	[MXGPU_COUNT_SLEEPS] = "device asleep",
};

/* Bits of ERR_STATUS. */
static const char *const errors[MXGPU_ERRORS] = {
	[MXGPU_ERR_STATUS_BAD_ACCESS_SHIFT] = "bad accesses to registers",
	[MXGPU_ERR_STATUS_BAD_DOORBELL_SHIFT] = "doorbells without a queue",
	[MXGPU_ERR_STATUS_BUS_SHIFT] = "DMA that failed",
	[MXGPU_ERR_STATUS_FAULT_SHIFT] = "addresses that were not translated",
	[MXGPU_ERR_STATUS_MCU_CRASH_SHIFT] = "firmware crashed",
	[MXGPU_ERR_STATUS_MCU_STUCK_SHIFT] = "firmware did not move (watchdog)",
};

/* From the interrupt, which comes once for several of a kind. */
void mxgpu_count_errors(struct mxgpu_device *mdev, unsigned long status)
{
	unsigned int bit;

	for_each_set_bit(bit, &status, MXGPU_ERRORS)
		atomic_inc(&mdev->errors[bit]);
}

static int show_errors(struct seq_file *m, void *unused)
{
	struct mxgpu_device *mdev = device_of(m);
	unsigned int i;

	for (i = 0; i < MXGPU_COUNTS; i++)
		seq_printf(m, "%s: %d\n", names[i],
			   atomic_read(&mdev->counts[i]));
	for (i = 0; i < MXGPU_ERRORS; i++)
		seq_printf(m, "%s: %d\n", errors[i],
			   atomic_read(&mdev->errors[i]));
	mutex_lock(&mdev->vram_lock);
	seq_printf(m, "objects that left VRAM: %llu\n", mdev->evictions);
	seq_printf(m, "objects that came back: %llu\n", mdev->promotions);
	seq_printf(m, "objects whose queues did not rest: %llu\n",
		   mdev->refusals);
	mutex_unlock(&mdev->vram_lock);
	return 0;
}

/* ---- utilisation ---- */

static const struct {
	const char *name;
	unsigned int counter;
} counters[] = {
	{ "dispatches", MXGPU_COUNTER_DISPATCHES },
	{ "blocks", MXGPU_COUNTER_BLOCKS },
	{ "warp instructions", MXGPU_COUNTER_WARP_INSTRUCTIONS },
	{ "copies and fills", MXGPU_COUNTER_COPIES },
	{ "bytes of them", MXGPU_COUNTER_COPY_BYTES },
	{ "doorbells", MXGPU_COUNTER_DOORBELLS },
	{ "interrupts", MXGPU_COUNTER_INTERRUPTS },
	{ "faults", MXGPU_COUNTER_FAULTS },
};

/* Of all address spaces, ns of all units together; with mbox_lock held. */
static void read_times(struct mxgpu_device *mdev, struct mxgpu_times *t)
{
	unsigned int vmid;

	*t = (struct mxgpu_times) {
		.clock = mxgpu_read_latched(mdev, MXGPU_CLOCK_LO),
	};
	for (vmid = 0; vmid < MXGPU_NUM_VMIDS; vmid++) {
		t->engine[MXGPU_COMPUTE] +=
			mxgpu_read_latched(mdev, MXGPU_VMID_COMPUTE_NS_LO + 8 * vmid);
		t->engine[MXGPU_COPY] +=
			mxgpu_read_latched(mdev, MXGPU_VMID_COPY_NS_LO + 8 * vmid);
	}
}

static void show_share(struct seq_file *m, const char *name, u64 ns, u64 time,
		       u32 units)
{
	u64 tenths = div64_u64(1000 * ns, max_t(u64, time * units, 1));

	seq_printf(m, "%s: %llu.%llu %% of %u units\n", name, tenths / 10,
		   tenths % 10, units);
}

/* With mbox_lock held. What was read last is of this life of the device or of none. */
static void show_times(struct seq_file *m, struct mxgpu_device *mdev)
{
	const struct drm_mxgpu_info *info = &mdev->info;
	struct mxgpu_times now, *last = &mdev->last_times;
	u64 time;

	read_times(mdev, &now);
	if (now.clock < last->clock ||
	    now.engine[MXGPU_COMPUTE] < last->engine[MXGPU_COMPUTE] ||
	    now.engine[MXGPU_COPY] < last->engine[MXGPU_COPY])
		*last = (struct mxgpu_times) { };
	time = now.clock - last->clock;
	seq_printf(m, "in the last: %llu us\n", div_u64(time, 1000));
	show_share(m, "compute",
		   now.engine[MXGPU_COMPUTE] - last->engine[MXGPU_COMPUTE],
		   time, info->compute_units);
	show_share(m, "copy", now.engine[MXGPU_COPY] - last->engine[MXGPU_COPY],
		   time, info->copy_engines);
	*last = now;
}

static int show_utilisation(struct seq_file *m, void *unused)
{
	struct mxgpu_device *mdev = device_of(m);
	unsigned int i;
	int idx, err;

	if (!drm_dev_enter(&mdev->drm, &idx))
		return -ENODEV;
	err = pm_runtime_resume_and_get(mdev->drm.dev);
	if (err)
		goto out;
	mutex_lock(&mdev->mbox_lock);
	if (MXGPU_GET(MXGPU_FEATURES_VMID_TIME, mdev->info.features))
		show_times(m, mdev);
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		seq_printf(m, "%s: %llu\n", counters[i].name,
			   mxgpu_read_latched(mdev, MXGPU_COUNTER_LO +
					      MXGPU_COUNTER_LO_STRIDE *
					      counters[i].counter));
	mutex_unlock(&mdev->mbox_lock);
	pm_runtime_put_autosuspend(mdev->drm.dev);
out:
	drm_dev_exit(idx);
	return err;
}

static const struct drm_info_list files[] = {
	{ "errors", show_errors },
	{ "utilisation", show_utilisation },
};

void mxgpu_count_debugfs(struct drm_minor *minor)
{
	drm_debugfs_create_files(files, ARRAY_SIZE(files), minor->debugfs_root,
				 minor);
}
