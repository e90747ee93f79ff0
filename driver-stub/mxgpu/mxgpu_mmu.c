// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address spaces: which device addresses belong to which memory object
 * (a drm_mm), and the page tables that say so to the device (mxgpu/pte.h).
 *
 * Everything that can fail is done first: mxgpu_pt_prepare() makes the tables
 * and splits large leaves, after which writing entries always succeeds. Each
 * entry is written by one exchange, for the device sets A and D meanwhile.
 */
#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include "mxgpu_drv.h"

#define PAGE_4K SZ_4K
#define PAGE_2M SZ_2M
#define PERMS (MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_EXECUTE | \
	       MXGPU_PTE_ATOMIC)
#define TOP (MXGPU_PT_LEVELS - 1)

/* ---- tables ---- */

static void table_free(struct mxgpu_device *mdev, struct mxgpu_table *t)
{
	if (t->page) {
		dma_unmap_page(mdev->drm.dev, t->dma, PAGE_4K,
			       DMA_BIDIRECTIONAL);
		__free_page(t->page);
	}
	kfree(t->child);
	kfree(t);
}

static struct mxgpu_table *table_new(struct mxgpu_device *mdev,
				     unsigned int level)
{
	struct mxgpu_table *t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);

	if (!t)
		return NULL;
	t->level = level;
	if (level)
		t->child = kcalloc(MXGPU_PT_ENTRIES, sizeof(*t->child),
				   GFP_KERNEL_ACCOUNT);
	t->page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if ((level && !t->child) || !t->page)
		goto fail;
	t->dma = dma_map_page(mdev->drm.dev, t->page, 0, PAGE_4K,
			      DMA_BIDIRECTIONAL);
	if (dma_mapping_error(mdev->drm.dev, t->dma))
		goto fail;
	t->entries = page_address(t->page);
	return t;

fail:
	if (t->page)
		__free_page(t->page);
	kfree(t->child);
	kfree(t);
	return NULL;
}

static u64 table_entry(const struct mxgpu_table *t)
{
	return t->dma | MXGPU_PTE_SYSTEM | MXGPU_PTE_TABLE | MXGPU_PTE_VALID;
}

static void entry_set(struct mxgpu_table *t, unsigned int i, u64 entry)
{
	u64 old = xchg(&t->entries[i], entry);

	t->used += !!entry - !!old;
}

static void tree_free(struct mxgpu_device *mdev, struct mxgpu_table *t)
{
	unsigned int i;

	for (i = 0; t->child && i < MXGPU_PT_ENTRIES; i++) {
		if (t->child[i])
			tree_free(mdev, t->child[i]);
	}
	table_free(mdev, t);
}

/* Tables that were unlinked, after the invalidation. */
static void reap(struct mxgpu_file *file)
{
	while (file->dead) {
		struct mxgpu_table *t = file->dead;

		file->dead = t->next_dead;
		table_free(file->mdev, t);
	}
}

/* The table of va at level 1, made where missing if "create". */
static struct mxgpu_table *walk(struct mxgpu_file *file, u64 va, bool create)
{
	struct mxgpu_table *t = file->root;

	while (t->level > 1) {
		unsigned int i = MXGPU_PT_INDEX(va, t->level);

		if (!t->child[i]) {
			if (!create)
				return NULL;
			t->child[i] = table_new(file->mdev, t->level - 1);
			if (!t->child[i])
				return NULL;
			entry_set(t, i, table_entry(t->child[i]));
		}
		t = t->child[i];
	}
	return t;
}

/* Level 0 below entry i of t: a large leaf becomes small ones. */
static int make_small(struct mxgpu_file *file, struct mxgpu_table *t,
		      unsigned int i)
{
	struct mxgpu_table *fine;
	u64 leaf = READ_ONCE(t->entries[i]);
	unsigned int n;

	if (t->child[i])
		return 0;
	fine = table_new(file->mdev, 0);
	if (!fine)
		return -ENOMEM;
	for (n = 0; leaf && n < MXGPU_PT_ENTRIES; n++)
		entry_set(fine, n, leaf + n * PAGE_4K);
	t->child[i] = fine;
	entry_set(t, i, table_entry(fine));
	return 0;
}

/* ---- where an object's bytes are ---- */

static u64 bo_address(const struct mxgpu_bo *bo, u64 offset)
{
	return bo->dma ? bo->dma[offset >> PAGE_SHIFT]
		       : bo->vram.start + offset;
}

/* Whether 2 MiB from offset on can be one leaf at va. */
static bool bo_large(const struct mxgpu_bo *bo, u64 va, u64 offset, u64 left)
{
	u64 addr, n;

	if (left < PAGE_2M || va % PAGE_2M)
		return false;
	addr = bo_address(bo, offset);
	if (addr % PAGE_2M)
		return false;
	for (n = PAGE_4K; bo->dma && n < PAGE_2M; n += PAGE_4K) {
		if (bo_address(bo, offset + n) != addr + n)
			return false;
	}
	return true;
}

static u64 to_boundary(u64 va, u64 end)
{
	return min(end, round_down(va, PAGE_2M) + PAGE_2M) - va;
}

/* Tables for a range that gets bo's memory. -ENOMEM leaves tables only. */
static int pt_prepare(struct mxgpu_file *file, const struct mxgpu_bo *bo,
		      u64 va, u64 offset, u64 size)
{
	u64 end = va + size, step;
	int err = 0;

	for (; va < end && !err; va += step, offset += step) {
		struct mxgpu_table *t = walk(file, va, true);

		step = to_boundary(va, end);
		if (!t)
			return -ENOMEM;
		if (!bo_large(bo, va, offset, end - va))
			err = make_small(file, t, MXGPU_PT_INDEX(va, 1));
	}
	return err;
}

static void pt_write(struct mxgpu_file *file, const struct mxgpu_bo *bo,
		     u64 va, u64 offset, u64 size, u64 perms)
{
	u64 flags = perms | MXGPU_PTE_VALID |
		    (bo->dma ? MXGPU_PTE_SYSTEM : 0);
	u64 end = va + size, step, n;

	for (; va < end; va += step, offset += step) {
		struct mxgpu_table *t = walk(file, va, false);
		unsigned int i = MXGPU_PT_INDEX(va, 1);

		step = to_boundary(va, end);
		if (!t->child[i]) {
			entry_set(t, i, bo_address(bo, offset) | flags);
			continue;
		}
		for (n = 0; n < step; n += PAGE_4K)
			entry_set(t->child[i], MXGPU_PT_INDEX(va + n, 0),
				  bo_address(bo, offset + n) | flags);
	}
}

/* Makes va a boundary between leaves. */
static int pt_split(struct mxgpu_file *file, u64 va)
{
	struct mxgpu_table *t = va % PAGE_2M ? walk(file, va, false) : NULL;
	unsigned int i = MXGPU_PT_INDEX(va, 1);

	return t && t->entries[i] ? make_small(file, t, i) : 0;
}

static void pt_clear(struct mxgpu_file *file, u64 va, u64 size)
{
	u64 end = va + size, step, n;

	for (; va < end; va += step) {
		struct mxgpu_table *t = walk(file, va, false), *fine;
		unsigned int i = MXGPU_PT_INDEX(va, 1);

		step = to_boundary(va, end);
		if (!t || !t->entries[i])
			continue;
		fine = t->child[i];
		for (n = 0; fine && n < step; n += PAGE_4K)
			entry_set(fine, MXGPU_PT_INDEX(va + n, 0), 0);
		if (fine && fine->used)
			continue;
		entry_set(t, i, 0);
		t->child[i] = NULL;
		if (fine) {
			fine->next_dead = file->dead;
			file->dead = fine;
		}
	}
}

/* ---- the firmware's part ---- */

static int vm_set(struct mxgpu_file *file, u64 root)
{
	const struct mxgpu_msg_vm_set msg = {
		.op = MXGPU_MSG_VM_SET, .vmid = file->vmid,
		.root_lo = lower_32_bits(root), .root_hi = upper_32_bits(root),
	};

	return mxgpu_mbox_call(file->mdev, &msg, sizeof(msg), NULL, 0);
}

/*
 * Without an answer nobody can tell whether old translations are in use: the
 * device is reset then, so that memory may be freed in any case.
 */
static int invalidate(struct mxgpu_file *file, u64 va, u64 size)
{
	const struct mxgpu_msg_tlb_invalidate msg = {
		.op = MXGPU_MSG_TLB_INVALIDATE, .vmid = file->vmid,
		.addr_lo = lower_32_bits(va), .addr_hi = upper_32_bits(va),
		.size_lo = lower_32_bits(size), .size_hi = upper_32_bits(size),
	};
	int err;

	if (!mxgpu_file_ok(file))
		return -ENODEV;
	err = mxgpu_mbox_call(file->mdev, &msg, sizeof(msg), NULL, 0);
	if (err && err != -ENODEV) {
		mxgpu_lose(file->mdev, "an invalidation failed");
		err = -ENODEV;
	}
	return err;
}

/* ---- mappings ---- */

static struct mxgpu_vma *vma_new(struct mxgpu_bo *bo)
{
	struct mxgpu_vma *vma = kzalloc(sizeof(*vma), GFP_KERNEL_ACCOUNT);

	if (vma) {
		drm_gem_object_get(&bo->base);
		vma->bo = bo;
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
			WARN_ON(vma_insert(file, *rest, end, stop - end));
			*rest = NULL;
		}
		if (start < va)
			WARN_ON(vma_insert(file, vma, start, va - start));
		else if (stop > end)
			WARN_ON(vma_insert(file, vma, end, stop - end));
		else
			list_add(&vma->node.node_list, gone);
	}
}

static void vma_release(struct list_head *gone)
{
	struct mxgpu_vma *vma, *next;

	list_for_each_entry_safe(vma, next, gone, node.node_list)
		vma_free(vma);
}

static bool bad_range(u64 va, u64 size)
{
	return !size || (va | size) % PAGE_4K || va >= MXGPU_VA_LIMIT ||
	       size > MXGPU_VA_LIMIT - va;
}

static int check_place(const struct drm_mxgpu_vm_map *p,
		       const struct mxgpu_bo *bo)
{
	u64 bytes = bo->base.size;

	if (bad_range(p->va, p->size) || p->reserved || !p->perms ||
	    (p->perms & ~PERMS) || p->offset % PAGE_4K || p->offset > bytes ||
	    p->size > bytes - p->offset)
		return -EINVAL;
	if (bo->readonly && (p->perms & (MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC)))
		return -EACCES;
	return 0;
}

static int map_locked(struct mxgpu_file *file, struct mxgpu_bo *bo,
		      const struct drm_mxgpu_vm_map *p)
{
	struct mxgpu_vma *vma;
	int err;

	if (!mxgpu_file_ok(file))
		return -ENODEV;
	vma = vma_new(bo);
	if (!vma)
		return -ENOMEM;
	err = vma_insert(file, vma, p->va, p->size);
	if (err) {
		vma_free(vma);
		return -EEXIST;
	}
	err = pt_prepare(file, bo, p->va, p->offset, p->size);
	if (err) {
		drm_mm_remove_node(&vma->node);
		vma_free(vma);
		return err;
	}
	pt_write(file, bo, p->va, p->offset, p->size, p->perms);
	return 0;
}

int mxgpu_ioctl_vm_map(struct drm_device *drm, void *data, struct drm_file *f)
{
	const struct drm_mxgpu_vm_map *args = data;
	struct mxgpu_file *file = f->driver_priv;
	struct drm_gem_object *obj = drm_gem_object_lookup(f, args->handle);
	int err;

	if (!obj)
		return -ENOENT;
	err = check_place(args, to_bo(obj));
	if (!err) {
		mutex_lock(&file->vm_lock);
		err = map_locked(file, to_bo(obj), args);
		mutex_unlock(&file->vm_lock);
	}
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
	err = rest ? pt_split(file, va) : -ENOMEM;
	if (!err)
		err = pt_split(file, va + size);
	if (err) {
		kfree(rest);
		return err;
	}
	vma_cut(file, va, va + size, &rest, gone);
	kfree(rest);
	pt_clear(file, va, size);
	err = invalidate(file, va, size);
	reap(file);
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
		r[i].vma = vma_new(r[i].bo);
		/* Its object is set when it is known which one it is of. */
		r[i].rest = kzalloc(sizeof(*r[i].rest), GFP_KERNEL_ACCOUNT);
		if (!r[i].vma || !r[i].rest)
			return -ENOMEM;
		err = pt_split(file, p->va);
		if (!err)
			err = pt_split(file, p->va + p->size);
		if (!err)
			err = pt_prepare(file, r[i].bo, p->va, p->offset,
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
		pt_write(file, r[i].bo, p->va, p->offset, p->size, p->perms);
		low = min(low, p->va);
		high = max(high, p->va + p->size);
	}
	return count ? invalidate(file, low, high - low) : 0;
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

int mxgpu_vm_init(struct mxgpu_file *file)
{
	int err;

	mutex_init(&file->vm_lock);
	drm_mm_init(&file->vmas, 0, MXGPU_VA_LIMIT);
	file->root = table_new(file->mdev, TOP);
	if (!file->root) {
		err = -ENOMEM;
		goto fail;
	}
	err = vm_set(file, table_entry(file->root));
	if (!err)
		return 0;
	table_free(file->mdev, file->root);
fail:
	drm_mm_takedown(&file->vmas);
	mutex_destroy(&file->vm_lock);
	return err;
}

/* No queue uses the address space any more. */
void mxgpu_vm_fini(struct mxgpu_file *file)
{
	LIST_HEAD(gone);
	int err;

	if (mxgpu_file_ok(file)) {
		err = vm_set(file, 0);
		if (err && err != -ENODEV)
			mxgpu_lose(file->mdev, "an address space stays");
	}
	vma_cut(file, 0, MXGPU_VA_LIMIT, NULL, &gone);
	vma_release(&gone);
	reap(file);
	tree_free(file->mdev, file->root);
	drm_mm_takedown(&file->vmas);
	mutex_destroy(&file->vm_lock);
}
