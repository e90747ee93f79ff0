// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory objects. VRAM (mxgpu_vram.c) is reached through BAR 2. System memory is
 * shmem's (drm_gem_get_pages), which objects of VRAM get when they have to leave,
 * a process's own pages, or another's dma-buf.
 */
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_prime.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/sched/mm.h>
#include <linux/shmem_fs.h>

#include "mxgpu_drv.h"

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
		dma_buf_unmap_attachment_unlocked(obj->import_attach, bo->sgt,
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
	if (bo->place == MXGPU_PLACE_VRAM)
		mxgpu_vram_release(mdev, bo);
	if (bo->place == MXGPU_PLACE_USERPTR && bo->pages)
		userptr_free(bo);
	else if (bo->pages)
		drm_gem_put_pages(obj, bo->pages, true, true);
	kvfree(bo->dma);
	mutex_destroy(&bo->place_lock);
	drm_gem_object_release(obj);
	kfree(bo);
}

static struct sg_table *bo_get_sg_table(struct drm_gem_object *obj)
{
	struct mxgpu_bo *bo = to_bo(obj);

	/* Of another driver; or in VRAM, whose BAR is no struct page. */
	if (!bo->dma || !bo->pages)
		return ERR_PTR(-EOPNOTSUPP);
	return drm_prime_pages_to_sg(obj->dev, bo->pages,
				     obj->size >> PAGE_SHIFT);
}

/* Another device attaches itself: what it cannot reach goes where it can. */
static int bo_pin(struct drm_gem_object *obj)
{
	return mxgpu_vram_pin(to_mxgpu(obj->dev), to_bo(obj));
}

/* Without locks: who detaches may be inside of another device like this one. */
static void bo_unpin(struct drm_gem_object *obj)
{
	if (to_bo(obj)->place == MXGPU_PLACE_VRAM)
		atomic_dec(&to_bo(obj)->pins);
}

static struct dma_buf *bo_export(struct drm_gem_object *obj, int flags)
{
	if (to_bo(obj)->place == MXGPU_PLACE_USERPTR)
		return ERR_PTR(-EOPNOTSUPP);
	return drm_gem_prime_export(obj, flags);
}

/* With place_lock held. */
static vm_fault_t insert_page(struct mxgpu_bo *bo, struct vm_fault *vmf,
			      pgoff_t page)
{
	struct mxgpu_device *mdev = to_mxgpu(bo->base.dev);
	pgprot_t prot = vm_get_page_prot(vmf->vma->vm_flags);
	unsigned long pfn;

	if (bo->dma)
		return vmf_insert_pfn_prot(vmf->vma, vmf->address,
					   page_to_pfn(bo->pages[page]), prot);
	pfn = (pci_resource_start(mdev->pdev, MXGPU_BAR_VRAM) +
	       bo->vram.start) / PAGE_SIZE + page;
	return vmf_insert_pfn_prot(vmf->vma, vmf->address, pfn,
				   pgprot_writecombine(prot));
}

static vm_fault_t bo_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct drm_gem_object *obj = vma->vm_private_data;
	struct mxgpu_bo *bo = to_bo(obj);
	pgoff_t page = (vmf->address - vma->vm_start) >> PAGE_SHIFT;
	vm_fault_t ret;
	int idx;

	page += vma->vm_pgoff - drm_vma_node_start(&obj->vma_node);
	if (page >= obj->size >> PAGE_SHIFT || !drm_dev_enter(obj->dev, &idx))
		return VM_FAULT_SIGBUS;
	mutex_lock(&bo->place_lock);
	ret = insert_page(bo, vmf, page);
	mutex_unlock(&bo->place_lock);
	WRITE_ONCE(bo->used, true);
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
	if (mxgpu_is_private(vma))
		return -EINVAL;
	vm_flags_set(vma, VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	if (bo->place == MXGPU_PLACE_VRAM)
		vm_flags_set(vma, VM_IO);
	return 0;
}

static const struct drm_gem_object_funcs bo_funcs = {
	.free = bo_free,
	.export = bo_export,
	.pin = bo_pin,
	.unpin = bo_unpin,
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
	bo->busy = jiffies;
	mutex_init(&bo->place_lock);
	INIT_LIST_HEAD(&bo->place_link);
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
static int bo_addresses(struct mxgpu_bo *bo, struct sg_table *sgt,
			dma_addr_t **out)
{
	unsigned long n = bo->base.size >> PAGE_SHIFT, i = 0;
	struct sg_dma_page_iter page;
	dma_addr_t *dma;

	dma = kvmalloc_array(n, sizeof(*dma),
			     GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!dma)
		return -ENOMEM;
	for_each_sgtable_dma_page(sgt, &page, 0) {
		if (i == n)
			break;
		dma[i++] = sg_page_iter_dma_address(&page);
	}
	/* A table shorter than the buffer is said to be. */
	if (i < n) {
		kvfree(dma);
		return -EINVAL;
	}
	*out = dma;
	return 0;
}

/**
 * mxgpu_bo_map_pages() - have the device reach the pages of an object
 * @bo: the object
 * @dma: out, on success: the bus address of each page
 *
 * After a failure, too, mxgpu_bo_unmap_pages() or the end of the object undoes it.
 */
int mxgpu_bo_map_pages(struct mxgpu_bo *bo, dma_addr_t **dma)
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
	return bo_addresses(bo, sgt, dma);

fail_map:
	sg_free_table(sgt);
fail:
	kfree(sgt);
	return err;
}

void mxgpu_bo_unmap_pages(struct mxgpu_bo *bo)
{
	struct mxgpu_device *mdev = to_mxgpu(bo->base.dev);

	mutex_lock(&mdev->bo_lock);
	bo_unmap(bo);
	mutex_unlock(&mdev->bo_lock);
}

static int get_pages(struct mxgpu_bo *bo)
{
	struct page **pages = drm_gem_get_pages(&bo->base);

	if (IS_ERR(pages))
		return PTR_ERR(pages);
	bo->pages = pages;
	return 0;
}

/**
 * mxgpu_bo_get_pages() - memory for what is in VRAM
 * @bo: an object of VRAM without pages
 *
 * Whose memory that is pays for it, whoever is the reason.
 */
int mxgpu_bo_get_pages(struct mxgpu_bo *bo)
{
	struct file *filp = mxgpu_shmem_file("mxgpu vram", bo->base.size);
	struct mem_cgroup *old;
	int err;

	if (IS_ERR(filp))
		return PTR_ERR(filp);
	bo->base.filp = filp;
	old = set_active_memcg(bo->share->memcg);
	err = get_pages(bo);
	set_active_memcg(old);
	if (err)
		mxgpu_bo_put_pages(bo);
	return err;
}

void mxgpu_bo_put_pages(struct mxgpu_bo *bo)
{
	if (bo->pages)
		drm_gem_put_pages(&bo->base, bo->pages, false, false);
	bo->pages = NULL;
	if (bo->base.filp)
		fput(bo->base.filp);
	bo->base.filp = NULL;
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

/**
 * mxgpu_bo_create() - memory for a client
 * @file: the client
 * @size: bytes, a multiple of 4096
 * @place: MXGPU_PLACE_VRAM or MXGPU_PLACE_SYSTEM
 * @flags: MXGPU_BO_*
 *
 * Return: the object, with the one reference that is the caller's; or an ERR_PTR().
 */
struct mxgpu_bo *mxgpu_bo_create(struct mxgpu_file *file, u64 size, u32 place,
				 u32 flags)
{
	struct mxgpu_device *mdev = file->mdev;
	struct mxgpu_bo *bo;
	int err;

	if (!mxgpu_file_ok(file))
		return ERR_PTR(-ENODEV);
	/* More than all there is; shmem would say so only page by page. */
	if (size > (place == MXGPU_PLACE_VRAM ?
		    mdev->vram_size : (u64)totalram_pages() << PAGE_SHIFT))
		return ERR_PTR(-ENOMEM);
	bo = bo_new(&mdev->drm, size, place);
	if (IS_ERR(bo))
		return bo;
	if (place == MXGPU_PLACE_VRAM) {
		kref_get(&file->share->ref);
		bo->share = file->share;
		bo->stay = flags & MXGPU_BO_STAY;
		err = mxgpu_vram_alloc(mdev, bo);
	} else {
		err = get_pages(bo);
		if (!err)
			err = mxgpu_bo_map_pages(bo, &bo->dma);
	}
	if (err) {
		drm_gem_object_put(&bo->base);
		return ERR_PTR(err);
	}
	return bo;
}

int mxgpu_ioctl_bo_create(struct drm_device *drm, void *data,
			  struct drm_file *f)
{
	struct drm_mxgpu_bo_create *args = data;
	struct mxgpu_bo *bo;

	if (!args->size || args->size % SZ_4K || args->reserved ||
	    (args->flags & ~MXGPU_BO_STAY) ||
	    (args->flags && args->place != MXGPU_PLACE_VRAM) ||
	    args->place > MXGPU_PLACE_SYSTEM)
		return -EINVAL;
	bo = mxgpu_bo_create(f->driver_priv, args->size, args->place,
			     args->flags);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
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
		err = mxgpu_bo_map_pages(bo, &bo->dma);
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
	args->now = args->place;
	args->reserved = 0;
	if (args->place == MXGPU_PLACE_VRAM && READ_ONCE(to_bo(obj)->dma))
		args->now = MXGPU_PLACE_SYSTEM;
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
	err = bo_addresses(bo, sgt, &bo->dma);
	if (err) {
		/* The caller unmaps and detaches what it attached. */
		drm_gem_object_release(&bo->base);
		kfree(bo);
		return ERR_PTR(err);
	}
	bo_mapped(to_mxgpu(drm), bo, sgt);
	return &bo->base;
}
