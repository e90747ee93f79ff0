/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every structure of the driver.
 *
 * Locks, in the order in which they may be taken:
 *   mxgpu_file.vm_lock	  an address space and its tables
 *   queue_lock		  queue numbers and who has them
 *   vram_lock		  the VRAM allocator
 *   mbox_lock		  the mailbox: one request at a time
 *   irq_lock		  (spinlock) queues[], files, as interrupts see them
 */
#ifndef MXGPU_DRV_H
#define MXGPU_DRV_H

#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_mm.h>
#include <linux/eventfd.h>
#include <linux/pci.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "mxgpu/msg.h"
#include "mxgpu/packets.h"
#include "mxgpu/pte.h"
#include "mxgpu/regs.h"
#include "uapi/mxgpu_drm.h"

#define MXGPU_FIRMWARE "mxgpu/mxgpu-fw.bin"

struct mxgpu_device;
struct mxgpu_file;

struct mxgpu_vector {
	struct mxgpu_device *mdev;
	unsigned int index;
};

struct mxgpu_queue {
	struct mxgpu_file *file;
	struct eventfd_ctx *event;	/* under irq_lock */
	unsigned int id;
};

struct mxgpu_device {
	struct drm_device drm;
	struct pci_dev *pdev;
	void __iomem *regs;
	void __iomem *vram;
	u64 vram_size;			/* that the CPU can reach */
	struct drm_mxgpu_info info;	/* what is the same for all files */

	unsigned int vectors;
	struct mxgpu_vector vector[MXGPU_MAX_VECTORS];
	wait_queue_head_t wait;		/* vector 0 */
	wait_queue_head_t queue_wait;	/* all others */

	struct mutex mbox_lock;
	u32 mbox_seq;

	bool lost;			/* since the last bring-up */
	u32 generation;			/* bring-ups */
	struct work_struct reset_work;

	struct mutex vram_lock;
	struct drm_mm vram_mm;
	u64 vram_free;

	struct mutex queue_lock;
	spinlock_t irq_lock;
	struct mxgpu_queue *queues[MXGPU_MAX_QUEUES];
	struct list_head files;
	unsigned long vmids;		/* bit n: in use */
};

/* A page of page table; in system memory, because the CPU reads it, too. */
struct mxgpu_table {
	struct page *page;
	u64 *entries;
	dma_addr_t dma;
	unsigned int level;
	unsigned int used;		/* entries that are not 0 */
	struct mxgpu_table *next_dead;
	struct mxgpu_table **child;	/* NULL at level 0 */
};

struct mxgpu_vma {
	struct drm_mm_node node;	/* of device addresses */
	struct mxgpu_bo *bo;
};

/* An open file: a client. */
struct mxgpu_file {
	struct mxgpu_device *mdev;
	struct list_head link;
	u32 generation;
	unsigned int vmid;
	struct drm_mxgpu_status *status;	/* a page, mapped by the client */
	void *sink;		/* a page: doorbells without a queue */

	struct mutex vm_lock;
	struct drm_mm vmas;
	struct mxgpu_table *root;
	struct mxgpu_table *dead;	/* may still be walked */
	atomic64_t vram_used, system_used;
};

struct mxgpu_bo {
	struct drm_gem_object base;
	u32 place;			/* MXGPU_PLACE_* */
	bool readonly;
	struct drm_mm_node vram;
	struct page **pages;
	struct sg_table sgt;
	dma_addr_t *dma;		/* of each page; NULL for VRAM */
	struct mm_struct *mm;		/* USERPTR: who is charged */
};

static inline struct mxgpu_device *to_mxgpu(struct drm_device *drm)
{
	return container_of(drm, struct mxgpu_device, drm);
}

static inline struct mxgpu_bo *to_bo(struct drm_gem_object *obj)
{
	return container_of(obj, struct mxgpu_bo, base);
}

static inline u32 mxgpu_read(struct mxgpu_device *mdev, u32 reg)
{
	return readl(mdev->regs + reg);
}

static inline void mxgpu_write(struct mxgpu_device *mdev, u32 reg, u32 value)
{
	writel(value, mdev->regs + reg);
}

/* Whether the device still is the one that the file was opened on. */
static inline bool mxgpu_file_ok(struct mxgpu_file *file)
{
	return !READ_ONCE(file->mdev->lost) &&
	       READ_ONCE(file->mdev->generation) == file->generation;
}

/* mxgpu_mcu.c: reset, firmware, mailbox */
int mxgpu_reset(struct mxgpu_device *mdev);
int mxgpu_mcu_boot(struct mxgpu_device *mdev);
/* The device stops; all files are lost, and the next ones find it anew. */
void mxgpu_lose(struct mxgpu_device *mdev, const char *why);
/* A request and its answer, as words; the answer's status as -errno. */
int mxgpu_mbox_call(struct mxgpu_device *mdev, const void *request, size_t size,
		    void *answer, size_t answer_size);

/* mxgpu_irq.c */
int mxgpu_irq_init(struct mxgpu_device *mdev);
void mxgpu_irq_enable(struct mxgpu_device *mdev);
void mxgpu_irq_fini(struct mxgpu_device *mdev);

/* mxgpu_mmu.c */
int mxgpu_vm_init(struct mxgpu_file *file);
void mxgpu_vm_fini(struct mxgpu_file *file);
int mxgpu_ioctl_vm_map(struct drm_device *drm, void *data, struct drm_file *f);
int mxgpu_ioctl_vm_unmap(struct drm_device *drm, void *data, struct drm_file *f);
int mxgpu_ioctl_vm_replace(struct drm_device *drm, void *data,
			   struct drm_file *f);

/* mxgpu_gem.c */
int mxgpu_ioctl_bo_create(struct drm_device *drm, void *data,
			  struct drm_file *f);
int mxgpu_ioctl_bo_userptr(struct drm_device *drm, void *data,
			   struct drm_file *f);
int mxgpu_ioctl_bo_info(struct drm_device *drm, void *data, struct drm_file *f);
struct drm_gem_object *
mxgpu_gem_import(struct drm_device *drm, struct dma_buf_attachment *attach,
		 struct sg_table *sgt);

/* mxgpu_queue.c */
int mxgpu_ioctl_queue_create(struct drm_device *drm, void *data,
			     struct drm_file *f);
int mxgpu_ioctl_queue_destroy(struct drm_device *drm, void *data,
			      struct drm_file *f);
int mxgpu_ioctl_queue_profile(struct drm_device *drm, void *data,
			      struct drm_file *f);
int mxgpu_ioctl_queue_launch(struct drm_device *drm, void *data,
			     struct drm_file *f);
int mxgpu_ioctl_queue_wait(struct drm_device *drm, void *data,
			   struct drm_file *f);
int mxgpu_ioctl_queue_eventfd(struct drm_device *drm, void *data,
			      struct drm_file *f);
int mxgpu_ioctl_reset(struct drm_device *drm, void *data, struct drm_file *f);
/* Destroys all queues of a file; returns how many. */
unsigned int mxgpu_queues_destroy(struct mxgpu_file *file);
unsigned int mxgpu_queue_vector(struct mxgpu_device *mdev, unsigned int id);
int mxgpu_queue_mmap(struct mxgpu_file *file, struct vm_area_struct *vma);

#endif
