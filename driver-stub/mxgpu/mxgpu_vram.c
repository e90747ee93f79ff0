// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who has VRAM, and who has to leave it.
 *
 * A drm_mm gives it out. Objects that may leave are in a list in the order of
 * their use, as far as that is known: while anything is evicted, the marks that
 * the device leaves in page tables are looked at twice a second, and page faults
 * of the CPU count, too. drm_mm_scan chooses from it, the least recently used
 * first, until there is one hole that is large enough.
 *
 * A client has as much memory as there is VRAM, and not more. Room for an object
 * is made
 *   - from those that nothing has used for COLD looks, whosever they are;
 *   - from clients that have more VRAM than the object's client, with it, would
 *     have. So those who use all that they have come to have the same, and nobody
 *     throws out what would throw him out in turn.
 * If that is not enough the object begins its life in system memory. What is used
 * there comes to VRAM when one of the two has room for it.
 */
#include <drm/drm_drv.h>
#include <drm/drm_print.h>
#include <linux/memcontrol.h>
#include <linux/pm_runtime.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "mxgpu_drv.h"

#define LOOK_MS 500
#define COLD 2			/* looks */
#define REST_MS 100		/* for packets in flight */
#define PIN_MS 3000		/* ... when somebody waits for that object */
#define TRIES 4			/* other victims, when some do not rest */
#define BUDGET 8		/* a part of VRAM that comes back with a look */
#define STAY 8			/* a part of it that one client may keep */

/* ---- shares ---- */

struct mxgpu_share *mxgpu_share_new(struct mxgpu_file *file)
{
	struct mxgpu_share *share = kzalloc(sizeof(*share), GFP_KERNEL_ACCOUNT);

	if (share) {
		kref_init(&share->ref);
		share->client = file->id;
		share->memcg = get_mem_cgroup_from_mm(current->mm);
	}
	return share;
}

static void share_free(struct kref *ref)
{
	struct mxgpu_share *share = container_of(ref, struct mxgpu_share, ref);

	mem_cgroup_put(share->memcg);
	kfree(share);
}

void mxgpu_share_put(struct mxgpu_share *share)
{
	if (share)
		kref_put(&share->ref, share_free);
}

/* More than a client may have: nobody else has to make room for it. */
static int share_take(struct mxgpu_device *mdev, struct mxgpu_bo *bo)
{
	struct mxgpu_share *share = bo->share;
	u64 size = bo->base.size;
	int err = 0;

	mutex_lock(&mdev->vram_lock);
	if (size > mdev->vram_size - share->total ||
	    (bo->stay && !capable(CAP_IPC_LOCK) &&
	     share->stay + size > mdev->vram_size / STAY)) {
		err = -ENOMEM;
	} else {
		share->total += size;
		share->stay += bo->stay ? size : 0;
	}
	mutex_unlock(&mdev->vram_lock);
	return err;
}

/* ---- VRAM ---- */

static int insert(struct mxgpu_device *mdev, struct mxgpu_bo *bo)
{
	u64 size = bo->base.size;
	int err = -ENOSPC;

	mutex_lock(&mdev->vram_lock);
	if (size >= SZ_2M)
		err = drm_mm_insert_node_generic(&mdev->vram_mm, &bo->vram,
						 size, SZ_2M, 0,
						 DRM_MM_INSERT_BEST);
	if (err)
		err = drm_mm_insert_node_generic(&mdev->vram_mm, &bo->vram,
						 size, PAGE_SIZE, 0,
						 DRM_MM_INSERT_BEST);
	if (!err) {
		mdev->vram_free -= size;
		bo->share->resident += size;
	}
	mutex_unlock(&mdev->vram_lock);
	if (err)
		return -ENOMEM;
	/* It may outlive its file as a dma-buf, which can be mapped. */
	pm_runtime_get_noresume(mdev->drm.dev);
	return 0;
}

void mxgpu_vram_free(struct mxgpu_device *mdev, struct mxgpu_bo *bo)
{
	mutex_lock(&mdev->vram_lock);
	mdev->vram_free += bo->vram.size;
	bo->share->resident -= bo->vram.size;
	drm_mm_remove_node(&bo->vram);
	mutex_unlock(&mdev->vram_lock);
	pm_runtime_put_autosuspend(mdev->drm.dev);
}

/* With client_lock held. */
static bool cold(struct mxgpu_device *mdev, const struct mxgpu_bo *bo)
{
	return mdev->looks - bo->seen > COLD && !READ_ONCE(bo->used);
}

/* Whether it can be asked to leave for another one; with vram_lock held. */
static bool may_leave(struct mxgpu_device *mdev, const struct mxgpu_bo *bo,
		      const struct mxgpu_bo *other)
{
	const struct mxgpu_share *share = other->share;

	if (time_before(jiffies, bo->busy))
		return false;
	return cold(mdev, bo) ||
	       (bo->share != share && bo->share->resident >
				      share->resident + other->base.size);
}

/*
 * Those that leave for an object, with a reference each, by move_link. Which are
 * looked at and not needed are put into "rest", likewise.
 */
static bool choose(struct mxgpu_device *mdev, const struct mxgpu_bo *other,
		   struct list_head *victims, struct list_head *rest)
{
	struct mxgpu_bo *bo, *next;
	struct drm_mm_scan scan;
	bool found = false;

	mutex_lock(&mdev->vram_lock);
	drm_mm_scan_init(&scan, &mdev->vram_mm, other->base.size, PAGE_SIZE, 0,
			 DRM_MM_INSERT_BEST);
	list_for_each_entry(bo, &mdev->resident, place_link) {
		if (!may_leave(mdev, bo, other) ||
		    !kref_get_unless_zero(&bo->base.refcount))
			continue;
		/* The last one comes out first. */
		list_add(&bo->move_link, victims);
		if (drm_mm_scan_add_block(&scan, &bo->vram)) {
			found = true;
			break;
		}
	}
	list_for_each_entry_safe(bo, next, victims, move_link) {
		if (!drm_mm_scan_remove_block(&scan, &bo->vram) || !found)
			list_move(&bo->move_link, rest);
	}
	mutex_unlock(&mdev->vram_lock);
	return found;
}

static void put_all(struct list_head *bos)
{
	struct mxgpu_bo *bo, *next;

	list_for_each_entry_safe(bo, next, bos, move_link) {
		list_del(&bo->move_link);
		drm_gem_object_put(&bo->base);
	}
}

/* Queues read their packets from them all the time. With client_lock held. */
static void keep_rings(struct mxgpu_device *mdev)
{
	struct mxgpu_file *file;

	list_for_each_entry(file, &mdev->files, link) {
		mutex_lock(&file->vm_lock);
		mutex_lock(&mdev->queue_lock);
		mxgpu_queues_keep(file);
		mutex_unlock(&mdev->queue_lock);
		mutex_unlock(&file->vm_lock);
	}
}

static void kick(struct mxgpu_device *mdev)
{
	queue_delayed_work(system_freezable_wq, &mdev->balance,
			   msecs_to_jiffies(LOOK_MS));
}

/* A node for an object, of which others may have to leave. With client_lock held. */
static int make_room(struct mxgpu_device *mdev, struct mxgpu_bo *bo)
{
	int try, err = -ENOMEM;

	keep_rings(mdev);
	/* The last move, too, is followed by a look for room: who has none has no node. */
	for (try = 0; insert(mdev, bo); try++) {
		LIST_HEAD(victims);
		LIST_HEAD(others);
		bool found = try < TRIES &&
			     choose(mdev, bo, &victims, &others);

		if (found)
			err = mxgpu_move(mdev, &victims, false, REST_MS);
		put_all(&victims);
		put_all(&others);
		if (!found || (err && err != -EBUSY)) {
			mdev->refusals++;
			return err ? err : -ENOMEM;
		}
	}
	return 0;
}

/**
 * mxgpu_vram_moved() - an object has another place
 * @mdev: the device
 * @bo: of VRAM; its dma says where it is
 */
void mxgpu_vram_moved(struct mxgpu_device *mdev, struct mxgpu_bo *bo)
{
	mutex_lock(&mdev->vram_lock);
	if (bo->dma)
		mdev->evictions++;
	else
		mdev->promotions++;
	list_move_tail(&bo->place_link,
		       bo->dma ? &mdev->evicted : &mdev->resident);
	mutex_unlock(&mdev->vram_lock);
	if (bo->dma)
		kick(mdev);
}

/* Without VRAM: it is clear, and comes there when it is used. */
static int begin_outside(struct mxgpu_bo *bo)
{
	int err = mxgpu_bo_get_pages(bo);

	return err ? err : mxgpu_bo_map_pages(bo, &bo->dma);
}

/**
 * mxgpu_vram_alloc() - memory for a new object of VRAM
 * @mdev: the device
 * @bo: the object, which nobody knows yet
 *
 * Return: 0, and it is in VRAM, or outside if it need not stay there; -ENOMEM:
 * its client has as much as there is VRAM, or there is no memory at all; -ENODEV.
 */
int mxgpu_vram_alloc(struct mxgpu_device *mdev, struct mxgpu_bo *bo)
{
	int err = share_take(mdev, bo);

	if (err)
		return err;
	bo->taken = true;
	err = insert(mdev, bo);
	if (err) {
		mutex_lock(&mdev->client_lock);
		err = make_room(mdev, bo);
		mutex_unlock(&mdev->client_lock);
	}
	if (err && err != -ENODEV)
		err = bo->stay ? -ENOMEM : begin_outside(bo);
	if (err)
		return err;
	/* What another client left there is nobody's business. */
	if (!bo->dma)
		memset_io(mdev->vram + bo->vram.start, 0, bo->base.size);
	bo->seen = READ_ONCE(mdev->looks);
	if (!bo->stay) {
		mutex_lock(&mdev->vram_lock);
		list_add_tail(&bo->place_link,
			      bo->dma ? &mdev->evicted : &mdev->resident);
		mutex_unlock(&mdev->vram_lock);
	}
	if (bo->dma)
		kick(mdev);
	return 0;
}

/* The end of an object. */
void mxgpu_vram_release(struct mxgpu_device *mdev, struct mxgpu_bo *bo)
{
	mutex_lock(&mdev->vram_lock);
	list_del(&bo->place_link);
	if (bo->taken) {
		bo->share->total -= bo->base.size;
		bo->share->stay -= bo->stay ? bo->base.size : 0;
	}
	mutex_unlock(&mdev->vram_lock);
	if (drm_mm_node_allocated(&bo->vram))
		mxgpu_vram_free(mdev, bo);
	mxgpu_share_put(bo->share);
}

/**
 * mxgpu_vram_pin() - have an object in system memory, for another device
 * @mdev: the device
 * @bo: any object
 *
 * Return: 0, and it stays there until its "pins" are 0 again; -EBUSY: who uses it
 * does not let go of it; -EOPNOTSUPP: it may not leave VRAM; -ENOMEM; -ENODEV.
 */
int mxgpu_vram_pin(struct mxgpu_device *mdev, struct mxgpu_bo *bo)
{
	LIST_HEAD(one);
	int idx, err = 0;

	if (bo->place != MXGPU_PLACE_VRAM)
		return 0;
	if (bo->stay)
		return -EOPNOTSUPP;
	if (!drm_dev_enter(&mdev->drm, &idx))
		return -ENODEV;
	mutex_lock(&mdev->client_lock);
	if (!bo->dma) {
		list_add(&bo->move_link, &one);
		err = mxgpu_move(mdev, &one, false, PIN_MS);
		list_del(&bo->move_link);
	}
	if (!err)
		atomic_inc(&bo->pins);
	mutex_unlock(&mdev->client_lock);
	drm_dev_exit(idx);
	return err;
}

/* ---- what is used comes back ---- */

static void note(struct mxgpu_device *mdev, struct list_head *list)
{
	struct mxgpu_bo *bo, *next;
	LIST_HEAD(used);

	list_for_each_entry_safe(bo, next, list, place_link) {
		if (!READ_ONCE(bo->used))
			continue;
		WRITE_ONCE(bo->used, false);
		bo->seen = mdev->looks;
		list_move_tail(&bo->place_link, &used);
	}
	list_splice_tail(&used, list);
}

static void look(struct mxgpu_device *mdev)
{
	struct mxgpu_file *file;

	list_for_each_entry(file, &mdev->files, link) {
		mutex_lock(&file->vm_lock);
		mxgpu_vm_look(file);
		mutex_unlock(&file->vm_lock);
	}
	WRITE_ONCE(mdev->looks, mdev->looks + 1);
	mutex_lock(&mdev->vram_lock);
	note(mdev, &mdev->resident);
	note(mdev, &mdev->evicted);
	mutex_unlock(&mdev->vram_lock);
}

/* One that was used since the last look, and was not tried; with a reference. */
static struct mxgpu_bo *candidate(struct mxgpu_device *mdev, u64 budget)
{
	struct mxgpu_bo *bo, *found = NULL;

	mutex_lock(&mdev->vram_lock);
	list_for_each_entry_reverse(bo, &mdev->evicted, place_link) {
		if (bo->seen != mdev->looks || atomic_read(&bo->pins) ||
		    bo->tried == mdev->looks || bo->base.size > budget ||
		    time_before(jiffies, bo->busy) ||
		    !kref_get_unless_zero(&bo->base.refcount))
			continue;
		bo->tried = mdev->looks;
		found = bo;
		break;
	}
	mutex_unlock(&mdev->vram_lock);
	return found;
}

static int promote(struct mxgpu_device *mdev, struct mxgpu_bo *bo)
{
	LIST_HEAD(one);
	int err = make_room(mdev, bo);

	if (err)
		return err;
	list_add(&bo->move_link, &one);
	err = mxgpu_move(mdev, &one, true, REST_MS);
	list_del(&bo->move_link);
	return err;
}

static void promote_all(struct mxgpu_device *mdev)
{
	u64 all = mdev->vram_size, budget = all / BUDGET;
	struct mxgpu_bo *bo;
	int err = 0;

	/*
	 * One that is larger than the budget comes alone. Who does not rest is not
	 * waited for again and again: client_lock is held.
	 */
	while (err != -EBUSY &&
	       (bo = candidate(mdev, budget == all / BUDGET ? all : budget))) {
		err = promote(mdev, bo);
		if (!err)
			budget -= min_t(u64, budget, bo->base.size);
		drm_gem_object_put(&bo->base);
	}
}

static void balance(struct work_struct *work)
{
	struct mxgpu_device *mdev =
		container_of(to_delayed_work(work), struct mxgpu_device, balance);
	int idx;

	if (!drm_dev_enter(&mdev->drm, &idx))
		return;
	mutex_lock(&mdev->client_lock);
	/* Without a client it may be asleep. */
	if (READ_ONCE(mdev->state) == MXGPU_UP && !list_empty(&mdev->files)) {
		look(mdev);
		promote_all(mdev);
	}
	mutex_unlock(&mdev->client_lock);
	if (!list_empty_careful(&mdev->evicted))
		kick(mdev);
	drm_dev_exit(idx);
}

/* ---- what there is ---- */

static void show_list(struct mxgpu_device *mdev, struct list_head *list,
		      struct drm_printer *p)
{
	const struct mxgpu_bo *bo;

	list_for_each_entry(bo, list, place_link) {
		drm_printf(p, "object of client %llu: %zu KiB ",
			   bo->share->client, bo->base.size >> 10);
		if (drm_mm_node_allocated(&bo->vram))
			drm_printf(p, "vram %#llx", bo->vram.start);
		else
			drm_printf(p, "system");
		drm_printf(p, ", pins %d, unused for %u looks\n",
			   atomic_read(&bo->pins), mdev->looks - bo->seen);
	}
}

/* Which objects may move, where they are, and what is where of VRAM. */
void mxgpu_vram_show(struct mxgpu_device *mdev, struct drm_printer *p)
{
	mutex_lock(&mdev->vram_lock);
	drm_printf(p, "free: %llu of %llu bytes\n", mdev->vram_free,
		   mdev->vram_size);
	drm_printf(p, "evictions: %llu, promotions: %llu, in vain: %llu\n",
		   mdev->evictions, mdev->promotions, mdev->refusals);
	show_list(mdev, &mdev->resident, p);
	show_list(mdev, &mdev->evicted, p);
	drm_mm_print(&mdev->vram_mm, p);
	mutex_unlock(&mdev->vram_lock);
}

void mxgpu_vram_init(struct mxgpu_device *mdev)
{
	mutex_init(&mdev->vram_lock);
	INIT_LIST_HEAD(&mdev->resident);
	INIT_LIST_HEAD(&mdev->evicted);
	INIT_DELAYED_WORK(&mdev->balance, balance);
	drm_mm_init(&mdev->vram_mm, 0, mdev->vram_size);
	mdev->vram_free = mdev->vram_size;
}

/* After drm_dev_unplug(): nothing moves any more. */
void mxgpu_vram_stop(struct mxgpu_device *mdev)
{
	cancel_delayed_work_sync(&mdev->balance);
}
