// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address spaces: which device addresses belong to which memory object (a
 * drm_mm; drm_gpuvm comes with 6.7), and who has which VMID.
 */
#include <drm/drm_print.h>
#include <linux/dma-resv.h>
#include <linux/slab.h>

#include "mxgpu_drv.h"

#define PERMS (MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_EXECUTE | \
	       MXGPU_PTE_ATOMIC)

/* ---- the firmware's part ---- */

static struct mxgpu_msg_vm_set vm_set_msg(struct mxgpu_file *file, u64 root)
{
	return (struct mxgpu_msg_vm_set) {
		.op = MXGPU_MSG_VM_SET, .vmid = file->vmid,
		.root_lo = lower_32_bits(root), .root_hi = upper_32_bits(root),
	};
}

static int vm_set(struct mxgpu_file *file, u64 root)
{
	const struct mxgpu_msg_vm_set msg = vm_set_msg(file, root);

	return mxgpu_mbox_call(file, &msg, sizeof(msg));
}

static int vm_set_locked(struct mxgpu_file *file, u64 root)
{
	const struct mxgpu_msg_vm_set msg = vm_set_msg(file, root);

	return mxgpu_mbox_ask_locked(file->mdev, &msg, sizeof(msg), NULL, 0);
}

/* ---- time ---- */

/* What the registers of the file's VMID say; with queue_lock held. */
static void vmid_time(struct mxgpu_file *file, u64 *time)
{
	static const u32 regs[MXGPU_ENGINES] = {
		[MXGPU_COMPUTE] = MXGPU_VMID_COMPUTE_NS_LO,
		[MXGPU_COPY] = MXGPU_VMID_COPY_NS_LO,
	};
	struct mxgpu_device *mdev = file->mdev;
	unsigned int i;

	mutex_lock(&mdev->mbox_lock);
	for (i = 0; i < MXGPU_ENGINES; i++)
		time[i] = mxgpu_file_ok(file) ?
			  mxgpu_read_latched(mdev, regs[i] + 8 * file->vmid) :
			  file->base[i];
	mutex_unlock(&mdev->mbox_lock);
}

static bool has_time(struct mxgpu_device *mdev)
{
	return MXGPU_GET(MXGPU_FEATURES_VMID_TIME, mdev->info.features);
}

/**
 * mxgpu_vm_used() - time that a file's work took
 * @file: inside of drm_dev_enter()
 * @used: ns, of all units of an engine together; 0 where nobody counts
 */
void mxgpu_vm_used(struct mxgpu_file *file, u64 *used)
{
	struct mxgpu_device *mdev = file->mdev;
	u64 now[MXGPU_ENGINES];
	unsigned int i;

	mutex_lock(&mdev->queue_lock);
	memcpy(now, file->base, sizeof(now));
	if (file->vmid && has_time(mdev))
		vmid_time(file, now);
	for (i = 0; i < MXGPU_ENGINES; i++)
		used[i] = file->used[i] + now[i] - file->base[i];
	mutex_unlock(&mdev->queue_lock);
}

/* The VMID goes to somebody else. */
static void keep_time(struct mxgpu_file *file)
{
	u64 now[MXGPU_ENGINES];
	unsigned int i;

	if (!has_time(file->mdev))
		return;
	vmid_time(file, now);
	for (i = 0; i < MXGPU_ENGINES; i++)
		file->used[i] += now[i] - file->base[i];
	memcpy(file->base, now, sizeof(now));
}

/* ---- VMIDs ---- */

/**
 * mxgpu_vmid_get() - make the device know a file's address space
 * @file: which is about to get a queue; may have its VMID from another one
 *
 * There are 15 VMIDs and more clients: only those with queues need one.
 *
 * Context: vm_lock and queue_lock are held.
 * Return: 0; -EBUSY when clients with queues have all of them; -ENODEV.
 */
int mxgpu_vmid_get(struct mxgpu_file *file)
{
	struct mxgpu_device *mdev = file->mdev;
	unsigned int vmid;
	int err;

	if (file->vmid)
		return 0;
	vmid = find_first_zero_bit(&mdev->vmids, MXGPU_NUM_VMIDS);
	if (vmid == MXGPU_NUM_VMIDS)
		return -EBUSY;
	WRITE_ONCE(file->vmid, vmid);
	err = vm_set(file, mxgpu_pt_root(file));
	if (err)
		WRITE_ONCE(file->vmid, 0);
	else
		__set_bit(vmid, &mdev->vmids);
	if (!err && has_time(mdev))
		vmid_time(file, file->base);
	return err;
}

/* Gives it back with the file's last queue; with the same locks held. */
void mxgpu_vmid_put(struct mxgpu_file *file)
{
	unsigned int vmid;
	int err;

	if (file->queues || !file->vmid)
		return;
	keep_time(file);
	err = vm_set(file, 0);
	if (err && err != -ENODEV)
		mxgpu_lose(file->mdev, "an address space stays");
	/* Those of a device that was lost are free already. */
	vmid = file->vmid;
	WRITE_ONCE(file->vmid, 0);
	file->contexts.op = 0;
	/* Its records are known as its own no more, nor yet as another's. */
	mxgpu_faults_forget(file);
	if (!err)
		__clear_bit(vmid, &file->mdev->vmids);
}

/* The device is about to forget the file's VMID and time; with queue_lock held. */
void mxgpu_vm_sleep(struct mxgpu_file *file)
{
	if (!file->vmid)
		return;
	keep_time(file);
	memset(file->base, 0, sizeof(file->base));
}

/* It is told again; with mbox_lock held, and so is the next one. */
int mxgpu_vm_wake(struct mxgpu_file *file)
{
	return vm_set_locked(file, mxgpu_pt_root(file));
}

/* Its queues are not there any more. */
void mxgpu_vm_drop(struct mxgpu_file *file)
{
	vm_set_locked(file, 0);
}

/*
 * Without an answer nobody can tell whether old translations are in use: the
 * device is reset then. So memory may be freed in any case when this returns.
 */
int mxgpu_vm_invalidate(struct mxgpu_file *file, u64 va, u64 size)
{
	const struct mxgpu_msg_tlb_invalidate msg = {
		.op = MXGPU_MSG_TLB_INVALIDATE, .vmid = file->vmid,
		.addr_lo = lower_32_bits(va), .addr_hi = upper_32_bits(va),
		.size_lo = lower_32_bits(size), .size_hi = upper_32_bits(size),
	};
	int err = -ENODEV;

	if (mxgpu_file_ok(file))
		err = file->vmid ? mxgpu_mbox_call(file, &msg, sizeof(msg)) : 0;
	if (err && err != -ENODEV)
		mxgpu_lose(file->mdev, "an invalidation failed");
	if (err)
		mxgpu_wait_stopped(file->mdev);
	return err ? -ENODEV : 0;
}

/* ---- mappings ---- */

static struct mxgpu_vma *vma_new(struct mxgpu_bo *bo,
				 const struct drm_mxgpu_vm_map *p)
{
	struct mxgpu_vma *vma = kzalloc(sizeof(*vma), GFP_KERNEL_ACCOUNT);

	if (vma) {
		drm_gem_object_get(&bo->base);
		vma->bo = bo;
		vma->offset = p->offset;
		vma->perms = p->perms;
	}
	return vma;
}

static void vma_free(struct mxgpu_vma *vma)
{
	if (vma) {
		drm_gem_object_put(&vma->bo->base);
		kfree(vma);
	}
}

static int vma_insert(struct mxgpu_file *file, struct mxgpu_vma *vma, u64 va,
		      u64 size)
{
	vma->node.start = va;
	vma->node.size = size;
	return drm_mm_reserve_node(&file->vmas, &vma->node);
}

static struct mxgpu_vma *vma_first(struct mxgpu_file *file, u64 va, u64 end)
{
	struct drm_mm_node *node;

	drm_mm_for_each_node_in_range(node, &file->vmas, va, end)
		return container_of(node, struct mxgpu_vma, node);
	return NULL;
}

/*
 * Takes [va, end) out of the tree; what is cut off at its ends stays. A mapping
 * that reaches over both takes *rest for the part behind. Mappings whose memory
 * is to be given up after the invalidation come to "gone".
 */
static void vma_cut(struct mxgpu_file *file, u64 va, u64 end,
		    struct mxgpu_vma **rest, struct list_head *gone)
{
	struct mxgpu_vma *vma;
	u64 start, stop;

	while ((vma = vma_first(file, va, end))) {
		start = vma->node.start;
		stop = start + vma->node.size;
		drm_mm_remove_node(&vma->node);
		if (start < va && stop > end) {
			drm_gem_object_get(&vma->bo->base);
			(*rest)->bo = vma->bo;
			(*rest)->offset = vma->offset + end - start;
			(*rest)->perms = vma->perms;
			WARN_ON(vma_insert(file, *rest, end, stop - end));
			*rest = NULL;
		}
		if (start < va) {
			WARN_ON(vma_insert(file, vma, start, va - start));
		} else if (stop > end) {
			vma->offset += end - start;
			WARN_ON(vma_insert(file, vma, end, stop - end));
		} else {
			list_add(&vma->node.node_list, gone);
		}
	}
}

static void vma_release(struct list_head *gone)
{
	struct mxgpu_vma *vma, *next;

	list_for_each_entry_safe(vma, next, gone, node.node_list)
		vma_free(vma);
}

/**
 * mxgpu_vm_hole() - what has no object around a page
 * @file: with vm_lock held
 * @page: the page
 * @start: in: where to look; out: the first page without one
 * @end: likewise, behind the last one
 *
 * Return: false: the page has one.
 */
bool mxgpu_vm_hole(struct mxgpu_file *file, u64 page, u64 *start, u64 *end)
{
	struct drm_mm_node *node;

	drm_mm_for_each_node_in_range(node, &file->vmas, *start, *end) {
		if (node->start > page) {
			*end = node->start;
			break;
		}
		if (node->start + node->size > page)
			return false;
		*start = node->start + node->size;
	}
	return true;
}

static bool bad_range(u64 va, u64 size)
{
	return !size || (va | size) % SZ_4K || va >= MXGPU_VA_LIMIT ||
	       size > MXGPU_VA_LIMIT - va;
}

static int check_place(const struct drm_mxgpu_vm_map *p,
		       const struct mxgpu_bo *bo)
{
	u64 bytes = bo->base.size;

	if (bad_range(p->va, p->size) || p->reserved || !p->perms ||
	    (p->perms & ~PERMS) || p->offset % SZ_4K || p->offset > bytes ||
	    p->size > bytes - p->offset)
		return -EINVAL;
	if (bo->readonly && (p->perms & (MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC)))
		return -EACCES;
	return 0;
}

/*
 * The exporter may be moving it still. What else others do with it they have told
 * its other users, and ours wait for that themselves: queues are in user mode.
 */
static int wait_arrived(struct mxgpu_bo *bo)
{
	long left = bo->place == MXGPU_PLACE_IMPORT ?
		    dma_resv_wait_timeout(bo->base.resv, DMA_RESV_USAGE_KERNEL,
					  true, MAX_SCHEDULE_TIMEOUT) : 0;

	return min(left, 0L);
}

static int map_locked(struct mxgpu_file *file, struct mxgpu_bo *bo,
		      const struct drm_mxgpu_vm_map *p)
{
	struct mxgpu_vma *vma;
	int err;

	if (!mxgpu_file_ok(file))
		return -ENODEV;
	vma = vma_new(bo, p);
	if (!vma)
		return -ENOMEM;
	err = vma_insert(file, vma, p->va, p->size);
	if (err) {
		vma_free(vma);
		return -EEXIST;
	}
	err = mxgpu_pt_prepare(file, bo, p->va, p->offset, p->size);
	if (err) {
		drm_mm_remove_node(&vma->node);
		vma_free(vma);
		return err;
	}
	mxgpu_svm_zap(file, p->va, p->size);
	mxgpu_pt_write(file, bo, p->va, p->offset, p->size, p->perms);
	return 0;
}

/* What of the arguments names the object is the caller's affair. */
int mxgpu_vm_map(struct mxgpu_file *file, struct mxgpu_bo *bo,
		 const struct drm_mxgpu_vm_map *args)
{
	int err = check_place(args, bo);

	if (!err)
		err = wait_arrived(bo);
	if (err)
		return err;
	mutex_lock(&file->vm_lock);
	err = map_locked(file, bo, args);
	mutex_unlock(&file->vm_lock);
	return err;
}

int mxgpu_ioctl_vm_map(struct drm_device *drm, void *data, struct drm_file *f)
{
	const struct drm_mxgpu_vm_map *args = data;
	struct drm_gem_object *obj = drm_gem_object_lookup(f, args->handle);
	int err;

	if (!obj)
		return -ENOENT;
	err = mxgpu_vm_map(f->driver_priv, to_bo(obj), args);
	drm_gem_object_put(obj);
	return err;
}

static int unmap_locked(struct mxgpu_file *file, u64 va, u64 size,
			struct list_head *gone)
{
	struct mxgpu_vma *rest;
	int err;

	if (!mxgpu_file_ok(file))
		return -ENODEV;
	if (!vma_first(file, va, va + size))
		return 0;
	/* Everything that can fail first. */
	rest = kzalloc(sizeof(*rest), GFP_KERNEL_ACCOUNT);
	err = rest ? mxgpu_pt_split(file, va) : -ENOMEM;
	if (!err)
		err = mxgpu_pt_split(file, va + size);
	if (err) {
		kfree(rest);
		return err;
	}
	vma_cut(file, va, va + size, &rest, gone);
	kfree(rest);
	mxgpu_svm_zap(file, va, size);
	mxgpu_pt_clear(file, va, size);
	err = mxgpu_vm_invalidate(file, va, size);
	mxgpu_pt_reap(file);
	return err;
}

int mxgpu_ioctl_vm_unmap(struct drm_device *drm, void *data, struct drm_file *f)
{
	const struct drm_mxgpu_vm_unmap *args = data;
	struct mxgpu_file *file = f->driver_priv;
	LIST_HEAD(gone);
	int err;

	if (bad_range(args->va, args->size))
		return -EINVAL;
	mutex_lock(&file->vm_lock);
	err = unmap_locked(file, args->va, args->size, &gone);
	mutex_unlock(&file->vm_lock);
	vma_release(&gone);
	return err;
}

/* ---- other memory at the same addresses ---- */

static bool all_mapped(struct mxgpu_file *file, u64 va, u64 size)
{
	u64 end = va + size;
	struct drm_mm_node *node;

	drm_mm_for_each_node_in_range(node, &file->vmas, va, end) {
		if (node->start > va)
			return false;
		va = node->start + node->size;
	}
	return va >= end;
}

struct replacement {
	struct drm_mxgpu_vm_map place;
	struct mxgpu_bo *bo;
	struct mxgpu_vma *vma;	/* its new mapping */
	struct mxgpu_vma *rest;	/* behind it, of one that it cuts in two */
};

static int overlaps(const struct replacement *r, u32 i)
{
	u32 n;

	for (n = 0; n < i; n++) {
		if (r[n].place.va < r[i].place.va + r[i].place.size &&
		    r[i].place.va < r[n].place.va + r[n].place.size)
			return -EINVAL;
	}
	return 0;
}

/* Everything that can fail but the invalidation. */
static int replace_prepare(struct mxgpu_file *file, struct replacement *r,
			   u32 count)
{
	int err = 0;
	u32 i;

	for (i = 0; i < count && !err; i++) {
		const struct drm_mxgpu_vm_map *p = &r[i].place;

		err = overlaps(r, i);
		if (!err && !all_mapped(file, p->va, p->size))
			err = -EINVAL;
		if (err)
			break;
		r[i].vma = vma_new(r[i].bo, p);
		/* Its object is set when it is known which one it is of. */
		r[i].rest = kzalloc(sizeof(*r[i].rest), GFP_KERNEL_ACCOUNT);
		if (!r[i].vma || !r[i].rest)
			return -ENOMEM;
		err = mxgpu_pt_split(file, p->va);
		if (!err)
			err = mxgpu_pt_split(file, p->va + p->size);
		if (!err)
			err = mxgpu_pt_prepare(file, r[i].bo, p->va, p->offset,
					       p->size);
	}
	return err;
}

static int replace_locked(struct mxgpu_file *file, struct replacement *r,
			  u32 count, struct list_head *gone)
{
	u64 low = U64_MAX, high = 0;
	int err;
	u32 i;

	if (!mxgpu_file_ok(file))
		return -ENODEV;
	err = replace_prepare(file, r, count);
	if (err)
		return err;
	for (i = 0; i < count; i++) {
		const struct drm_mxgpu_vm_map *p = &r[i].place;

		vma_cut(file, p->va, p->va + p->size, &r[i].rest, gone);
		WARN_ON(vma_insert(file, r[i].vma, p->va, p->size));
		r[i].vma = NULL;
		mxgpu_pt_write(file, r[i].bo, p->va, p->offset, p->size, p->perms);
		low = min(low, p->va);
		high = max(high, p->va + p->size);
	}
	return count ? mxgpu_vm_invalidate(file, low, high - low) : 0;
}

static int replace_lookup(struct drm_file *f, struct replacement *r, u32 count,
			  const struct drm_mxgpu_vm_map __user *places)
{
	int err = 0;
	u32 i;

	for (i = 0; i < count && !err; i++) {
		struct drm_gem_object *obj;

		if (copy_from_user(&r[i].place, &places[i],
				   sizeof(r[i].place)))
			return -EFAULT;
		obj = drm_gem_object_lookup(f, r[i].place.handle);
		if (!obj)
			return -ENOENT;
		r[i].bo = to_bo(obj);
		err = check_place(&r[i].place, r[i].bo);
		if (!err)
			err = wait_arrived(r[i].bo);
	}
	return err;
}

int mxgpu_ioctl_vm_replace(struct drm_device *drm, void *data,
			   struct drm_file *f)
{
	const struct drm_mxgpu_vm_replace *args = data;
	struct mxgpu_file *file = f->driver_priv;
	struct replacement *r;
	LIST_HEAD(gone);
	int err;
	u32 i;

	if (args->count > MXGPU_REPLACE_MAX || args->reserved)
		return -EINVAL;
	r = kvcalloc(args->count + 1, sizeof(*r), GFP_KERNEL_ACCOUNT);
	if (!r)
		return -ENOMEM;
	err = replace_lookup(f, r, args->count, u64_to_user_ptr(args->places));
	if (!err) {
		mutex_lock(&file->vm_lock);
		err = replace_locked(file, r, args->count, &gone);
		mutex_unlock(&file->vm_lock);
	}
	vma_release(&gone);
	for (i = 0; i < args->count; i++) {
		vma_free(r[i].vma);
		kfree(r[i].rest);
		if (r[i].bo)
			drm_gem_object_put(&r[i].bo->base);
	}
	kvfree(r);
	return err;
}

/**
 * mxgpu_vm_find() - the object at an address
 * @file: with vm_lock held
 * @va: the address
 * @offset: out: of it in the object
 *
 * Return: the object, with a reference; or NULL.
 */
struct mxgpu_bo *mxgpu_vm_find(struct mxgpu_file *file, u64 va, u64 *offset)
{
	struct mxgpu_vma *vma = vma_first(file, va, va + 1);

	if (!vma)
		return NULL;
	*offset = vma->offset + va - vma->node.start;
	drm_gem_object_get(&vma->bo->base);
	return vma->bo;
}

/* ---- objects that move: with vm_lock held, and client_lock ---- */

static struct mxgpu_vma *node_vma(struct drm_mm_node *node)
{
	return container_of(node, struct mxgpu_vma, node);
}

/* Whether the file has any of them mapped. */
bool mxgpu_vm_moves(struct mxgpu_file *file)
{
	struct drm_mm_node *node;

	drm_mm_for_each_node(node, &file->vmas)
		if (node_vma(node)->bo->moving)
			return true;
	return false;
}

/* Tables for them, wherever their pages come to lie. */
int mxgpu_vm_move_prepare(struct mxgpu_file *file)
{
	struct drm_mm_node *node;
	int err = 0;

	drm_mm_for_each_node(node, &file->vmas) {
		if (node_vma(node)->bo->moving)
			err = mxgpu_pt_prepare(file, NULL, node->start, 0,
					       node->size);
		if (err)
			break;
	}
	return err;
}

/* They have moved. After it come an invalidation and mxgpu_pt_reap(). */
void mxgpu_vm_move(struct mxgpu_file *file)
{
	struct drm_mm_node *node;

	drm_mm_for_each_node(node, &file->vmas) {
		const struct mxgpu_vma *vma = node_vma(node);

		if (!vma->bo->moving)
			continue;
		mxgpu_pt_write(file, vma->bo, node->start, vma->offset,
			       node->size, vma->perms);
		mxgpu_pt_merge(file, vma->bo, node->start, vma->offset,
			       node->size);
	}
}

/* Which objects of VRAM the device has used since the last time. */
void mxgpu_vm_look(struct mxgpu_file *file)
{
	struct drm_mm_node *node;
	bool any = false;

	/* What a device did that has gone is of no interest. */
	if (!mxgpu_file_ok(file))
		return;
	drm_mm_for_each_node(node, &file->vmas) {
		struct mxgpu_bo *bo = node_vma(node)->bo;

		if (bo->place != MXGPU_PLACE_VRAM ||
		    !mxgpu_pt_used(file, node->start, node->size))
			continue;
		WRITE_ONCE(bo->used, true);
		any = true;
	}
	if (any)
		mxgpu_vm_invalidate(file, 0, MXGPU_VA_LIMIT);
}

/* What is mapped in a range does not move for a while. */
void mxgpu_vm_keep(struct mxgpu_file *file, u64 va, u64 size)
{
	struct drm_mm_node *node;

	drm_mm_for_each_node_in_range(node, &file->vmas, va, va + size)
		node_vma(node)->bo->busy = jiffies + HZ;
}

/* Each mapping: addresses, what it is of, and where that lies. */
void mxgpu_vm_show(struct mxgpu_file *file, struct drm_printer *p)
{
	static const char *const places[] = {
		[MXGPU_PLACE_VRAM] = "vram", [MXGPU_PLACE_SYSTEM] = "system",
		[MXGPU_PLACE_USERPTR] = "userptr",
		[MXGPU_PLACE_IMPORT] = "import",
	};
	struct drm_mm_node *node;

	mutex_lock(&file->vm_lock);
	drm_mm_for_each_node(node, &file->vmas) {
		const struct mxgpu_bo *bo =
			container_of(node, struct mxgpu_vma, node)->bo;

		drm_printf(p, "%#014llx-%#014llx %s", node->start,
			   node->start + node->size, places[bo->place]);
		if (bo->place == MXGPU_PLACE_VRAM && bo->dma)
			drm_printf(p, " evicted object");
		else if (bo->place == MXGPU_PLACE_VRAM)
			drm_printf(p, " object at %#llx", bo->vram.start);
		drm_printf(p, " of %zu KiB\n", bo->base.size >> 10);
	}
	mutex_unlock(&file->vm_lock);
}

int mxgpu_vm_init(struct mxgpu_file *file)
{
	int err = mxgpu_pt_init(file);

	if (err)
		return err;
	mutex_init(&file->vm_lock);
	mxgpu_svm_init(file);
	drm_mm_init(&file->vmas, 0, MXGPU_VA_LIMIT);
	return 0;
}

/*
 * Takes away what the device has of it; queues are destroyed already, and the
 * VMID with them, or the device is lost.
 */
void mxgpu_vm_stop(struct mxgpu_file *file)
{
	mxgpu_svm_stop(file);
	mutex_lock(&file->vm_lock);
	mxgpu_wait_stopped(file->mdev);
	mxgpu_pt_fini(file);
	mutex_unlock(&file->vm_lock);
}

void mxgpu_vm_fini(struct mxgpu_file *file)
{
	LIST_HEAD(gone);

	vma_cut(file, 0, MXGPU_VA_LIMIT, NULL, &gone);
	vma_release(&gone);
	drm_mm_takedown(&file->vmas);
	mxgpu_svm_fini(file);
	mutex_destroy(&file->vm_lock);
}
