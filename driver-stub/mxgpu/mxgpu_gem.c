// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory objects. VRAM is given out by a drm_mm and reached through BAR 2;
 * there is no eviction, so TTM would have nothing to do. System memory is
 * shmem's (drm_gem_get_pages), a process's own pages, or another's dma-buf.
 */
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_prime.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/file.h>
#include <linux/pm_runtime.h>
#include <linux/sched/mm.h>

#include "mxgpu_drv.h"

static void vram_free(struct mxgpu_device *mdev, struct mxgpu_bo *bo)
{
	mutex_lock(&mdev->vram_lock);
	mdev->vram_free += bo->vram.size;
	drm_mm_remove_node(&bo->vram);
	mutex_unlock(&mdev->vram_lock);
	pm_runtime_put_autosuspend(mdev->drm.dev);
}

static void userptr_free(struct mxgpu_bo *bo)
{
	unsigned long n = bo->base.size >> PAGE_SHIFT;

	unpin_user_pages_dirty_lock(bo->pages, n, !bo->readonly);
	kvfree(bo->pages);
	account_locked_vm(bo->mm, n, false);
	mmdrop(bo->mm);
}

/*
 * DMA mappings end with the object or with the device, whichever is first: for
 * dma-bufs that others hold outlive it.
 */
static void bo_mapped(struct mxgpu_device *mdev, struct mxgpu_bo *bo,
		      struct sg_table *sgt)
{
	mutex_lock(&mdev->bo_lock);
	bo->sgt = sgt;
	list_add(&bo->link, &mdev->bos);
	mutex_unlock(&mdev->bo_lock);
}

/* With bo_lock held. */
static void bo_unmap(struct mxgpu_bo *bo)
{
	struct drm_gem_object *obj = &bo->base;

	if (!bo->sgt)
		return;
	list_del(&bo->link);
	if (bo->place == MXGPU_PLACE_IMPORT) {
		/* The exporter may keep the mapping until we detach. */
		bo->buf = obj->import_attach->dmabuf;
		dma_buf_unmap_attachment(obj->import_attach, bo->sgt,
					 DMA_BIDIRECTIONAL);
		dma_buf_detach(bo->buf, obj->import_attach);
		obj->import_attach = NULL;
	} else {
		dma_unmap_sgtable(obj->dev->dev, bo->sgt, DMA_BIDIRECTIONAL, 0);
		sg_free_table(bo->sgt);
		kfree(bo->sgt);
	}
	bo->sgt = NULL;
}

/* The device has stopped for good, and objects may live on for a while. */
void mxgpu_gem_fini(struct mxgpu_device *mdev)
{
	struct mxgpu_bo *bo, *next;

	mutex_lock(&mdev->bo_lock);
	list_for_each_entry_safe(bo, next, &mdev->bos, link)
		bo_unmap(bo);
	mutex_unlock(&mdev->bo_lock);
}

static void bo_free(struct drm_gem_object *obj)
{
	struct mxgpu_device *mdev = to_mxgpu(obj->dev);
	struct mxgpu_bo *bo = to_bo(obj);

	mutex_lock(&mdev->bo_lock);
	bo_unmap(bo);
	mutex_unlock(&mdev->bo_lock);
	/* Not under the lock: it may be of another device like this one. */
	if (bo->buf)
		dma_buf_put(bo->buf);
	if (bo->saved)
		fput(bo->saved);
	if (drm_mm_node_allocated(&bo->vram))
		vram_free(mdev, bo);
	if (bo->place == MXGPU_PLACE_USERPTR && bo->pages)
		userptr_free(bo);
	else if (bo->pages)
		drm_gem_put_pages(obj, bo->pages, true, true);
	kvfree(bo->dma);
	drm_gem_object_release(obj);
	kfree(bo);
}

static struct sg_table *bo_get_sg_table(struct drm_gem_object *obj)
{
	struct mxgpu_bo *bo = to_bo(obj);

	/* The BAR of another device is no struct page. */
	if (!bo->pages)
		return ERR_PTR(-EOPNOTSUPP);
	return drm_prime_pages_to_sg(obj->dev, bo->pages,
				     obj->size >> PAGE_SHIFT);
}

static struct dma_buf *bo_export(struct drm_gem_object *obj, int flags)
{
	if (to_bo(obj)->place == MXGPU_PLACE_USERPTR)
		return ERR_PTR(-EOPNOTSUPP);
	return drm_gem_prime_export(obj, flags);
}

static vm_fault_t bo_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct drm_gem_object *obj = vma->vm_private_data;
	struct mxgpu_bo *bo = to_bo(obj);
	pgoff_t page = (vmf->address - vma->vm_start) >> PAGE_SHIFT;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	unsigned long pfn;
	int idx;

	page += vma->vm_pgoff - drm_vma_node_start(&obj->vma_node);
	if (page >= obj->size >> PAGE_SHIFT || !drm_dev_enter(obj->dev, &idx))
		return VM_FAULT_SIGBUS;
	if (bo->pages)
		pfn = page_to_pfn(bo->pages[page]);
	else
		pfn = (pci_resource_start(to_mxgpu(obj->dev)->pdev,
					  MXGPU_BAR_VRAM) +
		       bo->vram.start) / PAGE_SIZE + page;
	ret = vmf_insert_pfn(vma, vmf->address, pfn);
	drm_dev_exit(idx);
	return ret;
}

static const struct vm_operations_struct bo_vm_ops = {
	.fault = bo_fault,
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
};

static int bo_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	struct mxgpu_bo *bo = to_bo(obj);

	if (bo->place != MXGPU_PLACE_VRAM && bo->place != MXGPU_PLACE_SYSTEM)
		return -EOPNOTSUPP;
	/* A private copy would need pages, which a BAR has not. */
	if (is_cow_mapping(vma->vm_flags))
		return -EINVAL;
	vma->vm_flags |= VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP;
	if (!bo->pages) {
		vma->vm_flags |= VM_IO;
		vma->vm_page_prot =
			pgprot_writecombine(vm_get_page_prot(vma->vm_flags));
	}
	return 0;
}

static const struct drm_gem_object_funcs bo_funcs = {
	.free = bo_free,
	.export = bo_export,
	.get_sg_table = bo_get_sg_table,
	.mmap = bo_mmap,
	.vm_ops = &bo_vm_ops,
};

static struct mxgpu_bo *bo_new(struct drm_device *drm, u64 size, u32 place)
{
	struct mxgpu_bo *bo = kzalloc(sizeof(*bo), GFP_KERNEL_ACCOUNT);
	int err = 0;

	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->place = place;
	bo->base.funcs = &bo_funcs;
	if (place == MXGPU_PLACE_SYSTEM)
		err = drm_gem_object_init(drm, &bo->base, size);
	else
		drm_gem_private_object_init(drm, &bo->base, size);
	if (err) {
		kfree(bo);
		return ERR_PTR(err);
	}
	return bo;
}

/* The bus address of each page, which is what page tables want. */
static int bo_addresses(struct mxgpu_bo *bo, struct sg_table *sgt)
{
	unsigned long n = bo->base.size >> PAGE_SHIFT, i = 0;
	struct sg_dma_page_iter page;

	bo->dma = kvmalloc_array(n, sizeof(*bo->dma),
				 GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!bo->dma)
		return -ENOMEM;
	for_each_sgtable_dma_page(sgt, &page, 0) {
		if (i == n)
			break;
		bo->dma[i++] = sg_page_iter_dma_address(&page);
	}
	/* A table shorter than the buffer is said to be. */
	return i == n ? 0 : -EINVAL;
}

static int bo_map_pages(struct mxgpu_bo *bo)
{
	struct drm_gem_object *obj = &bo->base;
	struct sg_table *sgt = kzalloc(sizeof(*sgt), GFP_KERNEL_ACCOUNT);
	int err;

	if (!sgt)
		return -ENOMEM;
	err = sg_alloc_table_from_pages(sgt, bo->pages,
					obj->size >> PAGE_SHIFT, 0, obj->size,
					GFP_KERNEL_ACCOUNT);
	if (err)
		goto fail;
	err = dma_map_sgtable(obj->dev->dev, sgt, DMA_BIDIRECTIONAL, 0);
	if (err)
		goto fail_map;
	bo_mapped(to_mxgpu(obj->dev), bo, sgt);
	return bo_addresses(bo, sgt);

fail_map:
	sg_free_table(sgt);
fail:
	kfree(sgt);
	return err;
}

static int vram_alloc(struct mxgpu_device *mdev, struct mxgpu_bo *bo)
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
	if (!err)
		mdev->vram_free -= size;
	mutex_unlock(&mdev->vram_lock);
	if (err)
		return -ENOMEM;
	/* It may outlive its file as a dma-buf, which can be mapped. */
	pm_runtime_get_noresume(mdev->drm.dev);
	/* What another client left there is nobody's business. */
	memset_io(mdev->vram + bo->vram.start, 0, size);
	return 0;
}

static int bo_handle(struct drm_file *f, struct mxgpu_bo *bo, u32 *handle,
		     u64 *mmap_offset)
{
	int err = 0;

	if (mmap_offset)
		err = drm_gem_create_mmap_offset(&bo->base);
	if (!err && mmap_offset)
		*mmap_offset = drm_vma_node_offset_addr(&bo->base.vma_node);
	if (!err)
		err = drm_gem_handle_create(f, &bo->base, handle);
	/* The handle has its own reference, or the object goes. */
	drm_gem_object_put(&bo->base);
	return err;
}

int mxgpu_ioctl_bo_create(struct drm_device *drm, void *data,
			  struct drm_file *f)
{
	struct drm_mxgpu_bo_create *args = data;
	struct mxgpu_file *file = f->driver_priv;
	struct mxgpu_bo *bo;
	int err;

	if (!args->size || args->size % SZ_4K || args->flags ||
	    args->reserved || args->place > MXGPU_PLACE_SYSTEM)
		return -EINVAL;
	if (!mxgpu_file_ok(file))
		return -ENODEV;
	/* More than all there is; shmem would say so only page by page. */
	if (args->size > (args->place == MXGPU_PLACE_VRAM ?
			  file->mdev->vram_size :
			  (u64)totalram_pages() << PAGE_SHIFT))
		return -ENOMEM;
	bo = bo_new(drm, args->size, args->place);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	if (args->place == MXGPU_PLACE_VRAM) {
		err = vram_alloc(file->mdev, bo);
	} else {
		bo->pages = drm_gem_get_pages(&bo->base);
		err = PTR_ERR_OR_ZERO(bo->pages);
		if (err)
			bo->pages = NULL;
		else
			err = bo_map_pages(bo);
	}
	if (err) {
		drm_gem_object_put(&bo->base);
		return err;
	}
	return bo_handle(f, bo, &args->handle, &args->mmap_offset);
}

static int userptr_pin(struct mxgpu_bo *bo, u64 addr)
{
	unsigned long n = bo->base.size >> PAGE_SHIFT;
	unsigned int gup = FOLL_LONGTERM | (bo->readonly ? 0 : FOLL_WRITE);
	long done = 0, got = 0;
	struct page **pages;
	int err;

	/* The limit first, for the array's size is the caller's choice, too. */
	if (n > totalram_pages())
		return -ENOMEM;
	err = account_locked_vm(current->mm, n, true);
	if (err)
		return err;
	pages = kvmalloc_array(n, sizeof(*pages),
			       GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!pages) {
		account_locked_vm(current->mm, n, false);
		return -ENOMEM;
	}
	for (; done < n; done += got) {
		got = pin_user_pages_fast(addr + done * PAGE_SIZE,
					  min_t(long, n - done, INT_MAX), gup,
					  pages + done);
		if (got <= 0)
			break;
	}
	if (done < n) {
		unpin_user_pages(pages, done);
		account_locked_vm(current->mm, n, false);
		kvfree(pages);
		return got < 0 ? got : -EFAULT;
	}
	bo->pages = pages;
	bo->mm = current->mm;
	mmgrab(bo->mm);
	return 0;
}

int mxgpu_ioctl_bo_userptr(struct drm_device *drm, void *data,
			   struct drm_file *f)
{
	struct drm_mxgpu_bo_userptr *args = data;
	struct mxgpu_bo *bo;
	int err;

	if (!args->size || (args->addr | args->size) % PAGE_SIZE ||
	    (args->flags & ~MXGPU_USERPTR_READONLY))
		return -EINVAL;
	if (!access_ok((void __user *)(uintptr_t)args->addr, args->size))
		return -EFAULT;
	if (!mxgpu_file_ok(f->driver_priv))
		return -ENODEV;
	bo = bo_new(drm, args->size, MXGPU_PLACE_USERPTR);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	bo->readonly = args->flags & MXGPU_USERPTR_READONLY;
	err = userptr_pin(bo, args->addr);
	if (!err)
		err = bo_map_pages(bo);
	if (err) {
		drm_gem_object_put(&bo->base);
		return err;
	}
	return bo_handle(f, bo, &args->handle, NULL);
}

int mxgpu_ioctl_bo_info(struct drm_device *drm, void *data, struct drm_file *f)
{
	struct drm_mxgpu_bo_info *args = data;
	struct drm_gem_object *obj = drm_gem_object_lookup(f, args->handle);

	if (!obj)
		return -ENOENT;
	args->place = to_bo(obj)->place;
	args->size = obj->size;
	args->mmap_offset = 0;
	if (args->place <= MXGPU_PLACE_SYSTEM)
		args->mmap_offset = drm_vma_node_offset_addr(&obj->vma_node);
	drm_gem_object_put(obj);
	return 0;
}

struct drm_gem_object *
mxgpu_gem_import(struct drm_device *drm, struct dma_buf_attachment *attach,
		 struct sg_table *sgt)
{
	struct mxgpu_bo *bo;
	int err;

	if (!attach->dmabuf->size || attach->dmabuf->size % SZ_4K)
		return ERR_PTR(-EOPNOTSUPP);
	bo = bo_new(drm, attach->dmabuf->size, MXGPU_PLACE_IMPORT);
	if (IS_ERR(bo))
		return ERR_CAST(bo);
	err = bo_addresses(bo, sgt);
	if (err) {
		/* The caller unmaps and detaches what it attached. */
		kvfree(bo->dma);
		drm_gem_object_release(&bo->base);
		kfree(bo);
		return ERR_PTR(err);
	}
	bo_mapped(to_mxgpu(drm), bo, sgt);
	return &bo->base;
}
