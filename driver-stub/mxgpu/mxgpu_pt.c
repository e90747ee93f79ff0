// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page tables of a file (mxgpu/pte.h), in coherent memory of the system: the
 * device reads entries when it likes, and sets A and D in them, so each entry is
 * written by one exchange.
 *
 * Everything that can fail is done first: mxgpu_pt_prepare() makes the tables
 * and mxgpu_pt_split() splits large leaves, after which writing entries always
 * succeeds. All with vm_lock held.
 */
#include <drm/drm_print.h>
#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include "mxgpu_drv.h"

#define PAGE_4K SZ_4K
#define PAGE_2M SZ_2M
#define TOP (MXGPU_PT_LEVELS - 1)

static void table_free(struct mxgpu_device *mdev, struct mxgpu_table *t)
{
	if (t->entries)
		dma_free_coherent(mdev->drm.dev, PAGE_4K, t->entries, t->dma);
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
	t->entries = dma_alloc_coherent(mdev->drm.dev, PAGE_4K, &t->dma,
					GFP_KERNEL_ACCOUNT);
	if ((level && !t->child) || !t->entries) {
		table_free(mdev, t);
		return NULL;
	}
	return t;
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

/* Takes the table below entry i out; it is freed after the invalidation. */
static void unlink_child(struct mxgpu_file *file, struct mxgpu_table *t,
			 unsigned int i)
{
	t->child[i]->next_dead = file->dead;
	file->dead = t->child[i];
	t->child[i] = NULL;
	entry_set(t, i, 0);
}

/* Frees the tables that were unlinked: no unit walks them any more. */
void mxgpu_pt_reap(struct mxgpu_file *file)
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

/**
 * mxgpu_pt_hold() - the table of level 0 of an address, which stays
 * @file: whose
 * @va: multiple of 2 MiB
 *
 * Return: the table, with one more in use than it has entries; or NULL.
 */
struct mxgpu_table *mxgpu_pt_hold(struct mxgpu_file *file, u64 va)
{
	struct mxgpu_table *t = walk(file, va, true);
	unsigned int i = MXGPU_PT_INDEX(va, 1);

	if (!t || make_small(file, t, i))
		return NULL;
	t->child[i]->used++;
	return t->child[i];
}

/* After it come an invalidation and mxgpu_pt_reap(). */
void mxgpu_pt_unhold(struct mxgpu_file *file, u64 va)
{
	struct mxgpu_table *t = walk(file, va, false);
	unsigned int i = MXGPU_PT_INDEX(va, 1);

	t->child[i]->used--;
	if (!t->child[i]->used)
		unlink_child(file, t, i);
}

/**
 * mxgpu_pt_show() - the entries by which the device translates an address
 * @file: whose
 * @va: the address
 * @p: where to; one line a level
 */
void mxgpu_pt_show(struct mxgpu_file *file, u64 va, struct drm_printer *p)
{
	struct mxgpu_table *t = file->root;

	while (t) {
		unsigned int i = MXGPU_PT_INDEX(va, t->level);
		u64 e = READ_ONCE(t->entries[i]);

		drm_printf(p, "level %u: entry %u of %pad: %#018llx%s%s%s%s%s%s%s%s%s\n",
			   t->level, i, &t->dma, e,
			   e & MXGPU_PTE_VALID ? " valid" : "",
			   e & MXGPU_PTE_TABLE && t->level ? " table" : "",
			   e & MXGPU_PTE_SYSTEM ? " system" : " vram",
			   e & MXGPU_PTE_READ ? " read" : "",
			   e & MXGPU_PTE_WRITE ? " write" : "",
			   e & MXGPU_PTE_EXECUTE ? " execute" : "",
			   e & MXGPU_PTE_ATOMIC ? " atomic" : "",
			   e & MXGPU_PTE_ACCESSED ? " accessed" : "",
			   e & MXGPU_PTE_DIRTY ? " dirty" : "");
		t = t->child ? t->child[i] : NULL;
	}
}

/* Whether an object is mapped there, and may be read or written. */
bool mxgpu_pt_permits(struct mxgpu_file *file, u64 va, bool write)
{
	struct mxgpu_table *t = walk(file, va, false);
	unsigned int i = MXGPU_PT_INDEX(va, 1);
	u64 entry;

	if (!t)
		return false;
	entry = t->child[i] ? t->child[i]->entries[MXGPU_PT_INDEX(va, 0)]
			    : t->entries[i];
	return entry & (write ? MXGPU_PTE_WRITE : MXGPU_PTE_READ);
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

/*
 * Tables for a range that gets bo's memory; NULL: small leaves, for it may come
 * from anywhere. -ENOMEM leaves tables only.
 */
int mxgpu_pt_prepare(struct mxgpu_file *file, const struct mxgpu_bo *bo,
		     u64 va, u64 offset, u64 size)
{
	u64 end = va + size, step;
	int err = 0;

	for (; va < end && !err; va += step, offset += step) {
		struct mxgpu_table *t = walk(file, va, true);

		step = to_boundary(va, end);
		if (!t)
			return -ENOMEM;
		if (!bo || !bo_large(bo, va, offset, end - va))
			err = make_small(file, t, MXGPU_PT_INDEX(va, 1));
	}
	return err;
}

void mxgpu_pt_write(struct mxgpu_file *file, const struct mxgpu_bo *bo,
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

/*
 * Small leaves of a range of bo's memory become large ones where they can.
 * After it come an invalidation and mxgpu_pt_reap().
 */
void mxgpu_pt_merge(struct mxgpu_file *file, const struct mxgpu_bo *bo,
		    u64 va, u64 offset, u64 size)
{
	u64 end = va + size, step;

	for (; va < end; va += step, offset += step) {
		struct mxgpu_table *t = walk(file, va, false);
		unsigned int i = MXGPU_PT_INDEX(va, 1);
		u64 leaf;

		step = to_boundary(va, end);
		/* One that is held, too, has a use more than it has entries. */
		if (!t->child[i] || t->child[i]->used != MXGPU_PT_ENTRIES ||
		    !bo_large(bo, va, offset, end - va))
			continue;
		leaf = t->child[i]->entries[0];
		unlink_child(file, t, i);
		entry_set(t, i, leaf);
	}
}

static bool take_mark(u64 *entry)
{
	return READ_ONCE(*entry) & MXGPU_PTE_ACCESSED &&
	       atomic64_fetch_andnot(MXGPU_PTE_ACCESSED,
				     (atomic64_t *)entry) &
	       MXGPU_PTE_ACCESSED;
}

/**
 * mxgpu_pt_used() - whether the device has used a range
 * @file: whose
 * @va: what is mapped
 * @size: bytes
 *
 * Return: since it was asked last. For the next time an invalidation must follow:
 * who has a translation sets no mark.
 */
bool mxgpu_pt_used(struct mxgpu_file *file, u64 va, u64 size)
{
	u64 end = va + size, step, n;
	bool used = false;

	for (; va < end; va += step) {
		struct mxgpu_table *t = walk(file, va, false);
		unsigned int i = MXGPU_PT_INDEX(va, 1);

		step = to_boundary(va, end);
		if (!t->child[i]) {
			used |= take_mark(&t->entries[i]);
			continue;
		}
		for (n = 0; n < step; n += PAGE_4K)
			used |= take_mark(&t->child[i]->entries
					  [MXGPU_PT_INDEX(va + n, 0)]);
	}
	return used;
}

/* Makes va a boundary between leaves. */
int mxgpu_pt_split(struct mxgpu_file *file, u64 va)
{
	struct mxgpu_table *t = va % PAGE_2M ? walk(file, va, false) : NULL;
	unsigned int i = MXGPU_PT_INDEX(va, 1);

	return t && t->entries[i] ? make_small(file, t, i) : 0;
}

/* Entries [va, end) of t, which lies at va rounded down to what t spans. */
static void clear(struct mxgpu_file *file, struct mxgpu_table *t, u64 va,
		  u64 end)
{
	u64 span = 1ull << MXGPU_PT_SHIFT(t->level), next;

	for (; va < end; va = next) {
		unsigned int i = MXGPU_PT_INDEX(va, t->level);
		struct mxgpu_table *child = t->child ? t->child[i] : NULL;

		next = round_down(va, span) + span;
		if (!child) {
			if (t->entries[i])
				entry_set(t, i, 0);
			continue;
		}
		clear(file, child, va, min(end, next));
		if (!child->used)
			unlink_child(file, t, i);
	}
}

/* After it come an invalidation and mxgpu_pt_reap(). */
void mxgpu_pt_clear(struct mxgpu_file *file, u64 va, u64 size)
{
	clear(file, file->root, va, va + size);
}

u64 mxgpu_pt_root(struct mxgpu_file *file)
{
	return table_entry(file->root);
}

int mxgpu_pt_init(struct mxgpu_file *file)
{
	file->root = table_new(file->mdev, TOP);
	return file->root ? 0 : -ENOMEM;
}

/* The device does not use them any more. It may be called twice. */
void mxgpu_pt_fini(struct mxgpu_file *file)
{
	mxgpu_pt_reap(file);
	if (file->root)
		tree_free(file->mdev, file->root);
	file->root = NULL;
}
