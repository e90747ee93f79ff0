// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of the process at its own addresses, as the device asks for it: a
 * recoverable fault where nothing was mapped by VM_MAP is to the process's
 * memory what a fault of one of its CPUs is (hmm_range_fault()), and what the
 * kernel then does to that memory (swap, fork, munmap, migration) takes it from
 * the device first: nothing is pinned.
 *
 * A chunk is what one table of level 0 maps. It has one notifier, and holds the
 * table, which memory objects may have entries of, too. Those of the process's
 * memory are in "mapped", and are not counted in the table's "used": they come
 * and go under svm_lock, which the kernel's memory management can take at any
 * time, and not under vm_lock, as everything else does that changes tables.
 */
#include <linux/dma-mapping.h>
#include <linux/hmm.h>
#include <linux/memcontrol.h>
#include <linux/mmu_notifier.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "mxgpu_drv.h"
#include "mxgpu_trace.h"

#define CHUNK SZ_2M
#define CHUNK_SHIFT 21
#define CHUNK_PAGES (CHUNK >> PAGE_SHIFT)
#define AROUND SZ_64K		/* a fault brings at most, aligned */
#define AROUND_PAGES (AROUND >> PAGE_SHIFT)
#define TRY_MS 1000		/* while others take the pages away */

struct mxgpu_svm_chunk {
	struct mmu_interval_notifier notifier;
	struct mxgpu_file *file;
	struct mxgpu_table *table;
	u64 va;
	bool unmapped;		/* all of it, by the process */
	DECLARE_BITMAP(mapped, CHUNK_PAGES);
	dma_addr_t dma[CHUNK_PAGES];
};

/* ---- taking pages away: with svm_lock held ---- */

static void chunk_zap(struct mxgpu_svm_chunk *c, u64 first, u64 end)
{
	struct device *dev = c->file->mdev->drm.dev;
	unsigned int from = (first - c->va) >> PAGE_SHIFT;
	unsigned int to = (end - c->va) >> PAGE_SHIFT;
	unsigned int i = find_next_bit(c->mapped, to, from);

	if (i >= to)
		return;
	trace_mxgpu_svm_zap(c->file, first, end);
	for_each_set_bit_from(i, c->mapped, to) {
		u64 entry = xchg(&c->table->entries[i], 0);

		if (!(entry & MXGPU_PTE_VALID))
			drm_WARN_ON_ONCE(&c->file->mdev->drm, 1);
	}
	/* Whoever finds an address space without VMID gives it no old entries. */
	mxgpu_vm_invalidate(c->file, first, end - first);
	i = from;
	for_each_set_bit_from(i, c->mapped, to)
		dma_unmap_page(dev, c->dma[i], PAGE_SIZE, DMA_BIDIRECTIONAL);
	bitmap_clear(c->mapped, from, to - from);
}

static bool invalidate(struct mmu_interval_notifier *notifier,
		       const struct mmu_notifier_range *range,
		       unsigned long seq)
{
	struct mxgpu_svm_chunk *c =
		container_of(notifier, struct mxgpu_svm_chunk, notifier);
	u64 first = max_t(u64, range->start, c->va);
	u64 end = min_t(u64, range->end, c->va + CHUNK);

	if (!mmu_notifier_range_blockable(range))
		return false;
	mutex_lock(&c->file->svm_lock);
	mmu_interval_set_seq(notifier, seq);
	if (range->event == MMU_NOTIFY_UNMAP && first == c->va &&
	    end == c->va + CHUNK)
		c->unmapped = true;
	chunk_zap(c, round_down(first, PAGE_SIZE), round_up(end, PAGE_SIZE));
	mutex_unlock(&c->file->svm_lock);
	return true;
}

static const struct mmu_interval_notifier_ops notifier_ops = {
	.invalidate = invalidate,
};

/* ---- chunks: with vm_lock held ---- */

static void chunk_free(struct mxgpu_svm_chunk *c)
{
	struct mxgpu_file *file = c->file;

	mmu_interval_notifier_remove(&c->notifier);
	mutex_lock(&file->svm_lock);
	chunk_zap(c, c->va, c->va + CHUNK);
	mutex_unlock(&file->svm_lock);
	xa_erase(&file->svm_chunks, c->va >> CHUNK_SHIFT);
	mxgpu_pt_unhold(file, c->va);
	kvfree(c);
}

/* What the process has given up, before there is more. */
static void chunks_reap(struct mxgpu_file *file)
{
	struct mxgpu_svm_chunk *c;
	unsigned long index;
	bool any = false;

	xa_for_each(&file->svm_chunks, index, c) {
		if (READ_ONCE(c->unmapped)) {
			chunk_free(c);
			any = true;
		}
	}
	if (any) {
		mxgpu_vm_invalidate(file, 0, MXGPU_VA_LIMIT);
		mxgpu_pt_reap(file);
	}
}

static struct mxgpu_svm_chunk *chunk_new(struct mxgpu_file *file, u64 va)
{
	struct mxgpu_svm_chunk *c = kvzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	int err;

	if (!c)
		return NULL;
	c->file = file;
	c->va = va;
	c->table = mxgpu_pt_hold(file, va);
	if (!c->table)
		goto fail;
	err = xa_err(xa_store(&file->svm_chunks, va >> CHUNK_SHIFT, c,
			      GFP_KERNEL_ACCOUNT));
	if (err)
		goto fail_hold;
	err = mmu_interval_notifier_insert(&c->notifier, file->svm_mm, va,
					   CHUNK, &notifier_ops);
	if (!err)
		return c;
	xa_erase(&file->svm_chunks, va >> CHUNK_SHIFT);
fail_hold:
	/* A table that nobody needs is freed with the next one that is cut. */
	mxgpu_pt_unhold(file, va);
fail:
	kvfree(c);
	return NULL;
}

static struct mxgpu_svm_chunk *chunk_get(struct mxgpu_file *file, u64 va)
{
	struct mxgpu_svm_chunk *c = xa_load(&file->svm_chunks, va >> CHUNK_SHIFT);

	if (c && !READ_ONCE(c->unmapped))
		return c;
	chunks_reap(file);
	return chunk_new(file, round_down(va, CHUNK));
}

/* ---- bringing pages ---- */

static bool chunk_has(struct mxgpu_svm_chunk *c, unsigned int i, bool write)
{
	return test_bit(i, c->mapped) &&
	       (!write || (c->table->entries[i] & MXGPU_PTE_WRITE));
}

/* With svm_lock held. A page that only gets more rights needs no invalidation. */
static int page_install(struct mxgpu_svm_chunk *c, unsigned int i,
			unsigned long pfn)
{
	struct device *dev = c->file->mdev->drm.dev;
	u64 flags = MXGPU_PTE_VALID | MXGPU_PTE_SYSTEM | MXGPU_PTE_READ;

	if (!test_bit(i, c->mapped)) {
		c->dma[i] = dma_map_page(dev, hmm_pfn_to_page(pfn), 0,
					 PAGE_SIZE, DMA_BIDIRECTIONAL);
		if (dma_mapping_error(dev, c->dma[i]))
			return -ENOMEM;
		__set_bit(i, c->mapped);
	}
	if (pfn & HMM_PFN_WRITE)
		flags |= MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC;
	xchg(&c->table->entries[i], c->dma[i] | flags);
	return 0;
}

/*
 * What lies around a page and may come with it: of the same mapping of the
 * process, and without a memory object. With mmap_lock and vm_lock held.
 */
static int around(struct mxgpu_file *file, u64 page, bool write,
		  struct hmm_range *range)
{
	struct vm_area_struct *vma = vma_lookup(file->svm_mm, page);
	u64 start = round_down(page, AROUND), end = start + AROUND;

	if (!vma || !(vma->vm_flags & (write ? VM_WRITE : VM_READ)) ||
	    !mxgpu_vm_hole(file, page, &start, &end))
		return -EFAULT;
	range->start = max_t(u64, start, vma->vm_start);
	range->end = min_t(u64, end, vma->vm_end);
	return 0;
}

static int pages_fault(struct mxgpu_file *file, u64 page, bool write,
		       struct hmm_range *range)
{
	int err;

	mmap_read_lock(file->svm_mm);
	err = around(file, page, write, range);
	if (!err)
		err = hmm_range_fault(range);
	/* A neighbour that cannot come must not keep the page itself away. */
	if (err && err != -EBUSY && range->end - range->start > PAGE_SIZE) {
		err = around(file, page, write, range);
		range->start = page;
		range->end = page + PAGE_SIZE;
		if (!err)
			err = hmm_range_fault(range);
	}
	mmap_read_unlock(file->svm_mm);
	return err;
}

static int pages_install(struct mxgpu_svm_chunk *c,
			 const struct hmm_range *range, u64 page)
{
	unsigned int first = (range->start - c->va) >> PAGE_SHIFT;
	unsigned int n = (range->end - range->start) >> PAGE_SHIFT, i;
	int err = 0;

	for (i = 0; i < n; i++) {
		int one = range->hmm_pfns[i] & HMM_PFN_VALID ?
			  page_install(c, first + i, range->hmm_pfns[i]) :
			  -EFAULT;

		if (range->start + (u64)i * PAGE_SIZE == page)
			err = one;
	}
	return err;
}

static int chunk_fault(struct mxgpu_svm_chunk *c, u64 page, bool write)
{
	unsigned long pfns[AROUND_PAGES];
	struct hmm_range range = {
		.notifier = &c->notifier,
		.hmm_pfns = pfns,
		.default_flags = HMM_PFN_REQ_FAULT |
				 (write ? HMM_PFN_REQ_WRITE : 0),
	};
	unsigned long end = jiffies + msecs_to_jiffies(TRY_MS);
	int err;

	do {
		if (time_after(jiffies, end))
			return -EBUSY;
		range.notifier_seq = mmu_interval_read_begin(&c->notifier);
		memset(pfns, 0, sizeof(pfns));
		err = pages_fault(c->file, page, write, &range);
		if (err && err != -EBUSY)
			return err;
		mutex_lock(&c->file->svm_lock);
		if (!err && mmu_interval_read_retry(&c->notifier,
						    range.notifier_seq))
			err = -EBUSY;
		if (!err)
			err = pages_install(c, &range, page);
		if (!err)
			trace_mxgpu_svm_map(c->file, range.start, range.end);
		mutex_unlock(&c->file->svm_lock);
	} while (err == -EBUSY);
	return err;
}

/* With vm_lock held. */
static int fault_locked(struct mxgpu_file *file, u64 page, bool write)
{
	struct mxgpu_svm_chunk *c;
	u64 start = page, end = page + PAGE_SIZE;
	bool there;

	if (!mxgpu_file_ok(file))
		return -ENODEV;
	/* An object was mapped meanwhile, or does not permit it. */
	if (!mxgpu_vm_hole(file, page, &start, &end))
		return mxgpu_pt_permits(file, page, write) ? 0 : -EFAULT;
	c = chunk_get(file, page);
	if (!c)
		return -ENOMEM;
	mutex_lock(&file->svm_lock);
	there = chunk_has(c, (page - c->va) >> PAGE_SHIFT, write);
	mutex_unlock(&file->svm_lock);
	return there ? 0 : chunk_fault(c, page, write);
}

/**
 * mxgpu_svm_fault() - have the device reach an address of the process
 * @file: of the client
 * @addr: which
 * @write: whether it is to be written
 *
 * Context: a kernel thread, without locks. Memory for tables is the process's.
 * Return: 0: the access may be done again; -EFAULT: a CPU could not do it.
 */
int mxgpu_svm_fault(struct mxgpu_file *file, u64 addr, bool write)
{
	struct mm_struct *mm = READ_ONCE(file->svm_mm);
	struct mem_cgroup *memcg, *old;
	int err;

	if (!mmget_not_zero(mm))
		return -EFAULT;	/* the process has ended */
	memcg = get_mem_cgroup_from_mm(mm);
	old = set_active_memcg(memcg);
	mutex_lock(&file->vm_lock);
	err = fault_locked(file, round_down(addr, PAGE_SIZE), write);
	mutex_unlock(&file->vm_lock);
	set_active_memcg(old);
	mem_cgroup_put(memcg);
	mmput(mm);
	return err;
}

/* Kernels' code is mapped by who loads it, and never the process's own. */
bool mxgpu_svm_wants(struct mxgpu_file *file,
		     const struct mxgpu_fault_record *record)
{
	return READ_ONCE(file->svm_mm) && record->addr < MXGPU_VA_LIMIT &&
	       record->access != MXGPU_ACCESS_EXECUTE;
}

/* Before a memory object is mapped there; with vm_lock held. */
void mxgpu_svm_zap(struct mxgpu_file *file, u64 va, u64 size)
{
	struct mxgpu_svm_chunk *c;
	unsigned long index = va >> CHUNK_SHIFT;
	u64 end = va + size;

	xa_for_each_range(&file->svm_chunks, index, c, va >> CHUNK_SHIFT,
			  (end - 1) >> CHUNK_SHIFT) {
		mutex_lock(&file->svm_lock);
		chunk_zap(c, max(va, c->va), min(end, c->va + CHUNK));
		mutex_unlock(&file->svm_lock);
	}
}

/* Those that the device has now. */
unsigned long mxgpu_svm_pages(struct mxgpu_file *file)
{
	struct mxgpu_svm_chunk *c;
	unsigned long index, n = 0;

	mutex_lock(&file->vm_lock);
	xa_for_each(&file->svm_chunks, index, c)
		n += bitmap_weight(c->mapped, CHUNK_PAGES);
	mutex_unlock(&file->vm_lock);
	return n;
}

int mxgpu_ioctl_svm(struct drm_device *drm, void *data, struct drm_file *f)
{
	const struct drm_mxgpu_svm *args = data;
	struct mxgpu_file *file = f->driver_priv;
	int err = 0;

	if (args->flags || args->reserved)
		return -EINVAL;
	if (!mxgpu_file_ok(file))
		return -ENODEV;
	if (!file->mdev->faults.on)
		return -EOPNOTSUPP;
	mutex_lock(&file->vm_lock);
	if (file->svm_mm) {
		err = -EBUSY;
	} else {
		mmgrab(current->mm);
		WRITE_ONCE(file->svm_mm, current->mm);
	}
	mutex_unlock(&file->vm_lock);
	return err;
}

void mxgpu_svm_init(struct mxgpu_file *file)
{
	mutex_init(&file->svm_lock);
	xa_init(&file->svm_chunks);
}

/*
 * Nothing of the process's memory is the device's from here on. Queues are
 * destroyed or the device is lost, so that no fault comes. It may be done twice.
 */
void mxgpu_svm_stop(struct mxgpu_file *file)
{
	struct mxgpu_svm_chunk *c;
	unsigned long index;

	cancel_work_sync(&file->svm_work);
	mutex_lock(&file->vm_lock);
	xa_for_each(&file->svm_chunks, index, c)
		chunk_free(c);
	mutex_unlock(&file->vm_lock);
}

void mxgpu_svm_fini(struct mxgpu_file *file)
{
	if (file->svm_mm)
		mmdrop(file->svm_mm);
	xa_destroy(&file->svm_chunks);
	mutex_destroy(&file->svm_lock);
}
