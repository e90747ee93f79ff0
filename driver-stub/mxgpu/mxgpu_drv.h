/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every structure of the driver.
 *
 * Locks, in the order in which they may be taken:
 *   client_lock	  who has the device open; what moves from or to VRAM
 *   mxgpu_file.vm_lock	  an address space and its tables; of several files only
 *			  under client_lock
 *   queue_lock		  queue numbers, VMIDs, and who has them
 *   mxgpu_bo.place_lock  where an object's bytes are, for page faults of the CPU
 *   bo_lock		  which objects have DMA mappings
 *   mbox_lock		  the mailbox: one request at a time; the generation
 *   reset_lock		  mxgpu_device.state
 *   faults.lock	  the ring of recoverable faults
 *   vram_lock		  the VRAM allocator
 *   irq_lock		  (spinlock) queues[], files, as interrupts see them
 *
 * mxgpu_file.svm_lock, what of the process's memory is mapped, comes before
 * mbox_lock. It is taken by the kernel's memory management whenever pages go,
 * which may be to find some for who holds vm_lock or queue_lock: so nothing
 * allocates memory that has svm_lock or one of those that come after it.
 *
 * The kernel's mmap_lock comes between vm_lock (faults of the device look into
 * the process) and place_lock (faults of the process look for an object): who
 * waits for mmap_lock has no place_lock, and who moves an object has the
 * vm_lock of all files before he takes its place_lock.
 *
 * An object of VRAM moves (mxgpu_move.c) with client_lock, every vm_lock and
 * queue_lock held, while the queues of those who have it mapped are held still:
 * so each one of vm_lock, queue_lock and place_lock keeps it where it is.
 *
 * Life: drm_dev_unplug() in remove() waits for whoever is inside of
 * drm_dev_enter(): all ioctls (mxgpu_ioctl() does it for them), page faults, and
 * the work that brings the device up. What may come later, which is the end of
 * a file and of a memory object, takes client_lock or bo_lock, under which
 * remove() has taken back all that is the device's: DMA mappings and tables.
 */
#ifndef MXGPU_DRV_H
#define MXGPU_DRV_H

#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_mm.h>
#include <drm/drm_print.h>
#include <linux/eventfd.h>
#include <linux/pci.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "mxgpu_compat.h"
#include "mxgpu/msg.h"
#include "mxgpu/packets.h"
#include "mxgpu/pte.h"
#include "mxgpu/regs.h"
#include "uapi/mxgpu_drm.h"

#define MXGPU_FIRMWARE "mxgpu/mxgpu-fw.bin"

struct drm_printer;
struct firmware;
struct mxgpu_device;
struct mxgpu_file;
struct mxgpu_selftest;
struct mem_cgroup;

/* What a client's time is told of. */
enum mxgpu_engine {
	MXGPU_COMPUTE,
	MXGPU_COPY,
	MXGPU_ENGINES,
};

/* What is counted since the driver was bound. */
enum mxgpu_count {
	MXGPU_COUNT_LOST,
	MXGPU_COUNT_CLIENT_LOST,
	MXGPU_COUNT_SILENT,
	MXGPU_COUNT_FAULTS,
	MXGPU_COUNT_KILLED,
	MXGPU_COUNT_AER_NONFATAL,
	MXGPU_COUNT_AER_FATAL,
	MXGPU_COUNT_SLEEPS,
	MXGPU_COUNTS,
};

#define MXGPU_ERRORS 6	/* bits of ERR_STATUS */

/* A record between the ring's head and tail. */
enum mxgpu_slot_state {
	MXGPU_SLOT_FREE,	/* there is a verdict */
	MXGPU_SLOT_OPEN,	/* for the client to read */
	MXGPU_SLOT_READ,	/* for the client to answer */
	MXGPU_SLOT_EXCESS,	/* more than a client may have: comes again */
	MXGPU_SLOT_MENDED,	/* by the driver: the process's memory */
	MXGPU_SLOT_STATES,
};

/* Written under reset_lock. */
enum mxgpu_state {
	MXGPU_DOWN,	/* is being brought up */
	MXGPU_UP,
	MXGPU_ASLEEP,	/* ... with what it had saved: files belong to it */
	MXGPU_LOST,	/* has stopped, will be brought up */
	MXGPU_WEDGED,	/* did not come up, or was taken away */
};

/* The device's clock and what its engines had to do by then, ns. */
struct mxgpu_times {
	u64 clock, engine[MXGPU_ENGINES];
};

struct mxgpu_vector {
	struct mxgpu_device *mdev;
	unsigned int index;
};

struct mxgpu_queue {
	struct mxgpu_file *file;
	struct eventfd_ctx *event;	/* under irq_lock */
	unsigned int id;
	/* What makes it again after sleep; without an op it was not sent. */
	struct mxgpu_msg_queue_create create;
	struct mxgpu_msg_queue_profile profile;
	struct mxgpu_msg_queue_launch launch;
	struct mxgpu_msg_queue_hold_resp at;
	struct list_head fences;	/* under irq_lock */
	unsigned int num_fences;
	bool held;		/* to be resumed when objects have moved */
	bool stopped;		/* before sleep: the firmware has none */
};

struct mxgpu_fault_slot {
	struct list_head link;		/* in mxgpu_file.faults[state] */
	struct mxgpu_file *file;
	enum mxgpu_slot_state state;
	struct mxgpu_fault_record record;
};

/* A page of page table; in system memory, because the CPU reads it, too. */
struct mxgpu_table {
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
	u64 offset;			/* of the first one in the object */
	u64 perms;
};

/*
 * A client's share of VRAM, which its objects keep when it has gone. Numbers
 * are under vram_lock.
 */
struct mxgpu_share {
	struct kref ref;
	u64 client;
	struct mem_cgroup *memcg;	/* who pays for what is moved out; or NULL */
	u64 total;		/* bytes of objects of VRAM, wherever they are */
	u64 resident;		/* ... that are there */
	u64 stay;		/* ... that may not be moved */
};

/* An open file: a client. */
struct mxgpu_file {
	struct mxgpu_device *mdev;
	struct list_head link;
	u64 id;			/* never used again */
	u32 generation;
	unsigned int vmid;	/* 0: none, for there are no queues */
	unsigned int queues;	/* under queue_lock */
	/* Time of units, ns, under queue_lock: until it got its VMID, and what
	 * the registers of the VMID said then.
	 */
	u64 used[MXGPU_ENGINES], base[MXGPU_ENGINES];
	struct mxgpu_msg_contexts contexts;	/* as sent for the VMID */
	struct drm_mxgpu_status *status;	/* a page, mapped by the client */
	void *sink;		/* a page: doorbells without a queue */

	struct mxgpu_share *share;
	bool moving;		/* maps what is to move; under client_lock */

	struct mutex vm_lock;		/* the address space and its tables */
	struct drm_mm vmas;
	struct mxgpu_table *root;
	struct mxgpu_table *dead;	/* may still be walked */

	/* Under faults.lock. */
	struct mxgpu_fault_fd *fault_fd;
	struct list_head faults[MXGPU_SLOT_STATES];
	unsigned int faults_open;	/* OPEN and READ */

	/* The process's own memory at its own addresses. */
	struct mm_struct *svm_mm;	/* set once, under vm_lock; or NULL */
	struct xarray svm_chunks;	/* under vm_lock */
	struct mutex svm_lock;		/* what of them is mapped */
	struct work_struct svm_work;
};

/* Numbers are counted since reset: f->head <= n < f->tail. */
struct mxgpu_faults {
	struct mutex lock;		/* the ring, and where its records are */
	bool on;
	u32 head;		/* the first without a verdict */
	u32 tail;		/* those that were looked at */
	struct mxgpu_fault_slot *slots;		/* by number, modulo */
	struct mxgpu_fault_record *ring;
	dma_addr_t ring_dma;
	struct mxgpu_file space;		/* VMID 0: the ring */
};

struct mxgpu_device {
	struct drm_device drm;
	struct pci_dev *pdev;
	struct pci_saved_state *config;	/* after a reset of the slot */
	void __iomem *regs;
	void __iomem *vram;
	u64 vram_size;			/* that the CPU can reach */
	struct drm_mxgpu_info info;	/* what is the same for all files */

	unsigned int vectors;
	struct mxgpu_vector vector[MXGPU_MAX_VECTORS];
	wait_queue_head_t wait;		/* vector 0 */
	wait_queue_head_t queue_wait;	/* all others */

	struct mutex mbox_lock;		/* the mailbox; registers that latch */
	u32 mbox_seq;

	struct mutex reset_lock;	/* state */
	enum mxgpu_state state;
	u32 generation;			/* bring-ups */
	struct work_struct reset_work;
	u32 fw_log, fw_log_size;	/* as HELLO has told */
	atomic_t counts[MXGPU_COUNTS], errors[MXGPU_ERRORS];
	struct mxgpu_times last_times;	/* that were shown; under mbox_lock */
	u64 walk_client, walk_va;	/* debugfs: what to look up */
	const struct firmware *sleep_fw;	/* for the next morning */
	struct mxgpu_selftest *selftest;
	char *dump;			/* a buffer for the next loss */
	size_t dump_bytes;		/* that are in it; under reset_lock */

	struct mutex vram_lock;		/* who has VRAM */
	struct drm_mm vram_mm;
	u64 vram_free;
	struct list_head resident;	/* that may move; last used at the end */
	struct list_head evicted;	/* likewise */
	u64 evictions, promotions, refusals;	/* for debugfs */

	struct delayed_work balance;	/* while something is evicted */
	unsigned int looks;		/* at what is used; under client_lock */

	struct mutex bo_lock;		/* who has DMA mappings */
	struct list_head bos;		/* with DMA mappings */

	struct list_head fences_done;	/* under irq_lock */
	struct work_struct fence_work;
	struct timer_list fence_timer;

	struct mxgpu_faults faults;

	struct mutex client_lock;	/* files */
	struct mutex queue_lock;	/* queues, VMIDs */
	spinlock_t irq_lock;		/* queues and files, for interrupts */
	struct mxgpu_queue *queues[MXGPU_MAX_QUEUES];
	struct list_head files;		/* under client_lock and irq_lock */
	unsigned long vmids;		/* bit n: in use */
};

struct mxgpu_bo {
	struct drm_gem_object base;
	u32 place;			/* MXGPU_PLACE_* */
	bool readonly;
	bool stay;			/* VRAM: never moves */
	struct drm_mm_node vram;
	struct page **pages;		/* of VRAM: while it sleeps or is evicted */
	struct list_head link;		/* in mxgpu_device.bos */
	struct sg_table *sgt;		/* as mapped for the device, or NULL */
	struct dma_buf *buf;		/* IMPORT: when it is detached */
	dma_addr_t *dma;		/* of each page; NULL: it is in VRAM */
	struct mm_struct *mm;		/* USERPTR: who is charged */

	/* Of VRAM. */
	struct mxgpu_share *share;
	struct mutex place_lock;	/* dma */
	struct list_head place_link;	/* in resident or evicted: vram_lock */
	atomic_t pins;			/* > 0: stays in system memory. Grows under
					 * client_lock
					 */
	/* Under client_lock. */
	struct list_head move_link;	/* what is about to move */
	dma_addr_t *away;		/* dma, before it moves or after */
	bool moving;
	bool used;			/* since the look before this one */
	bool taken;			/* of its share */
	unsigned int seen;		/* the last look that found it used */
	unsigned int tried;		/* ... in which it was to come back */
	unsigned long busy;		/* jiffies: not before, whoever uses it did
					 * not rest
					 */
};

static inline struct mxgpu_device *to_mxgpu(struct drm_device *drm)
{
	return container_of(drm, struct mxgpu_device, drm);
}

static inline void mxgpu_count(struct mxgpu_device *mdev,
			       enum mxgpu_count what)
{
	atomic_inc(&mdev->counts[what]);
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

/* Reading a low half latches the high half: mbox_lock keeps them together. */
static inline u64 mxgpu_read_latched(struct mxgpu_device *mdev, u32 reg)
{
	u64 lo;

	lockdep_assert_held(&mdev->mbox_lock);
	lo = mxgpu_read(mdev, reg);
	return lo | (u64)mxgpu_read(mdev, reg + 4) << 32;
}

/* Whether the device still is the one that the file was opened on. */
static inline bool mxgpu_file_ok(struct mxgpu_file *file)
{
	return READ_ONCE(file->mdev->state) == MXGPU_UP &&
	       READ_ONCE(file->mdev->generation) == file->generation;
}

/* mxgpu_reset.c: from bring-up to loss and back */
void mxgpu_reset_init(struct mxgpu_device *mdev);
int mxgpu_bring_up(struct mxgpu_device *mdev, const struct firmware *fw);
void mxgpu_lose(struct mxgpu_device *mdev, const char *why);
void mxgpu_hold(struct mxgpu_device *mdev, const char *why);
void mxgpu_release(struct mxgpu_device *mdev);
int mxgpu_reset_idle(struct mxgpu_device *mdev);
void mxgpu_gone(struct mxgpu_device *mdev);
void mxgpu_wait_stopped(struct mxgpu_device *mdev);
bool mxgpu_there(struct mxgpu_device *mdev);
bool mxgpu_works(struct mxgpu_device *mdev);
int mxgpu_doze(struct mxgpu_device *mdev);
void mxgpu_awake(struct mxgpu_device *mdev, int err);

/* mxgpu_sleep.c: sleep of the machine */
int mxgpu_sleep(struct mxgpu_device *mdev);
void mxgpu_wake(struct mxgpu_device *mdev);
void mxgpu_sleep_end(struct mxgpu_device *mdev);

/* mxgpu_mcu.c: firmware, mailbox */
int mxgpu_mcu_find(struct mxgpu_device *mdev, const struct firmware **fw);
int mxgpu_mcu_boot(struct mxgpu_device *mdev, const struct firmware *fw);
bool mxgpu_mcu_runs(struct mxgpu_device *mdev);
int mxgpu_mbox_ask(struct mxgpu_file *file, const void *request, size_t size,
		   void *answer, size_t answer_size);
int mxgpu_mbox_ask_locked(struct mxgpu_device *mdev, const void *request,
			  size_t size, void *answer, size_t answer_size);
int mxgpu_mbox_call(struct mxgpu_file *file, const void *request, size_t size);

void mxgpu_mcu_log(struct mxgpu_device *mdev, struct drm_printer *p);
int mxgpu_mcu_log_level(struct mxgpu_device *mdev, u32 level);

/* mxgpu_count.c: errors and utilisation */
void mxgpu_count_errors(struct mxgpu_device *mdev, unsigned long status);
void mxgpu_count_debugfs(struct drm_minor *minor);

/* mxgpu_irq.c */
int mxgpu_irq_init(struct mxgpu_device *mdev);
void mxgpu_irq_enable(struct mxgpu_device *mdev);
void mxgpu_irq_fini(struct mxgpu_device *mdev);

/* mxgpu_client.c: open files, ioctls */
extern const struct drm_driver mxgpu_drm_driver;

struct mxgpu_client_memory {
	u64 vram;		/* bytes of objects that would be there */
	u64 vram_resident;	/* ... that are */
	u64 system;		/* SYSTEM, USERPTR */
};

void mxgpu_client_memory(struct drm_file *f, struct mxgpu_client_memory *m);
struct mxgpu_file *mxgpu_client_new(struct mxgpu_device *mdev);
void mxgpu_client_end(struct mxgpu_file *file);
void mxgpu_clients_fini(struct mxgpu_device *mdev);

/* mxgpu_look.c: debugfs, sysfs, fdinfo, devcoredump */
extern const struct attribute_group *mxgpu_groups[];
void mxgpu_show_fdinfo(struct seq_file *m, struct file *filp);
void mxgpu_debugfs_init(struct drm_minor *minor);
int mxgpu_dump_init(struct mxgpu_device *mdev);
void mxgpu_dump(struct mxgpu_device *mdev, const char *why);
void mxgpu_dump_publish(struct mxgpu_device *mdev);

/* mxgpu_selftest.c: the device tried from inside of the kernel */
int mxgpu_selftest_init(struct mxgpu_device *mdev);
void mxgpu_selftest_debugfs(struct drm_minor *minor);

/* mxgpu_pt.c: page tables */
int mxgpu_pt_init(struct mxgpu_file *file);
void mxgpu_pt_fini(struct mxgpu_file *file);
u64 mxgpu_pt_root(struct mxgpu_file *file);
void mxgpu_pt_merge(struct mxgpu_file *file, const struct mxgpu_bo *bo,
		    u64 va, u64 offset, u64 size);
bool mxgpu_pt_used(struct mxgpu_file *file, u64 va, u64 size);
int mxgpu_pt_prepare(struct mxgpu_file *file, const struct mxgpu_bo *bo,
		     u64 va, u64 offset, u64 size);
void mxgpu_pt_write(struct mxgpu_file *file, const struct mxgpu_bo *bo,
		    u64 va, u64 offset, u64 size, u64 perms);
int mxgpu_pt_split(struct mxgpu_file *file, u64 va);
void mxgpu_pt_clear(struct mxgpu_file *file, u64 va, u64 size);
void mxgpu_pt_reap(struct mxgpu_file *file);
struct mxgpu_table *mxgpu_pt_hold(struct mxgpu_file *file, u64 va);
void mxgpu_pt_unhold(struct mxgpu_file *file, u64 va);
void mxgpu_pt_show(struct mxgpu_file *file, u64 va, struct drm_printer *p);
bool mxgpu_pt_permits(struct mxgpu_file *file, u64 va, bool write);

/* mxgpu_vm.c: address spaces */
int mxgpu_vm_init(struct mxgpu_file *file);
void mxgpu_vm_stop(struct mxgpu_file *file);
void mxgpu_vm_fini(struct mxgpu_file *file);
int mxgpu_vmid_get(struct mxgpu_file *file);
void mxgpu_vmid_put(struct mxgpu_file *file);
void mxgpu_vm_sleep(struct mxgpu_file *file);
int mxgpu_vm_wake(struct mxgpu_file *file);
void mxgpu_vm_drop(struct mxgpu_file *file);
int mxgpu_vm_map(struct mxgpu_file *file, struct mxgpu_bo *bo,
		 const struct drm_mxgpu_vm_map *args);
int mxgpu_ioctl_vm_map(struct drm_device *drm, void *data, struct drm_file *f);
int mxgpu_ioctl_vm_unmap(struct drm_device *drm, void *data, struct drm_file *f);
int mxgpu_ioctl_vm_replace(struct drm_device *drm, void *data,
			   struct drm_file *f);

struct mxgpu_bo *mxgpu_vm_find(struct mxgpu_file *file, u64 va, u64 *offset);
bool mxgpu_vm_moves(struct mxgpu_file *file);
int mxgpu_vm_move_prepare(struct mxgpu_file *file);
void mxgpu_vm_move(struct mxgpu_file *file);
void mxgpu_vm_look(struct mxgpu_file *file);
void mxgpu_vm_keep(struct mxgpu_file *file, u64 va, u64 size);
void mxgpu_vm_show(struct mxgpu_file *file, struct drm_printer *p);
void mxgpu_vm_used(struct mxgpu_file *file, u64 *used);
bool mxgpu_vm_hole(struct mxgpu_file *file, u64 page, u64 *start, u64 *end);
int mxgpu_vm_invalidate(struct mxgpu_file *file, u64 va, u64 size);

/* mxgpu_fault.c: recoverable faults */
int mxgpu_faults_init(struct mxgpu_device *mdev);
void mxgpu_faults_fini(struct mxgpu_device *mdev);
int mxgpu_faults_start(struct mxgpu_device *mdev);
void mxgpu_faults_lost(struct mxgpu_device *mdev);
void mxgpu_faults_serve(struct mxgpu_device *mdev);
void mxgpu_faults_mend(struct work_struct *work);
void mxgpu_faults_open(struct mxgpu_file *file);
void mxgpu_faults_forget(struct mxgpu_file *file);
void mxgpu_faults_close(struct mxgpu_file *file);
int mxgpu_ioctl_faults(struct drm_device *drm, void *data, struct drm_file *f);
int mxgpu_ioctl_resolve(struct drm_device *drm, void *data, struct drm_file *f);

/* mxgpu_svm.c: memory of the process at its own addresses */
void mxgpu_svm_init(struct mxgpu_file *file);
void mxgpu_svm_stop(struct mxgpu_file *file);
void mxgpu_svm_fini(struct mxgpu_file *file);
bool mxgpu_svm_wants(struct mxgpu_file *file,
		     const struct mxgpu_fault_record *record);
int mxgpu_svm_fault(struct mxgpu_file *file, u64 addr, bool write);
void mxgpu_svm_zap(struct mxgpu_file *file, u64 va, u64 size);
unsigned long mxgpu_svm_pages(struct mxgpu_file *file);
int mxgpu_ioctl_svm(struct drm_device *drm, void *data, struct drm_file *f);

/* mxgpu_gem.c: memory objects */
void mxgpu_gem_fini(struct mxgpu_device *mdev);
struct mxgpu_bo *mxgpu_bo_create(struct mxgpu_file *file, u64 size, u32 place,
				 u32 flags);
int mxgpu_ioctl_bo_create(struct drm_device *drm, void *data,
			  struct drm_file *f);
int mxgpu_ioctl_bo_userptr(struct drm_device *drm, void *data,
			   struct drm_file *f);
int mxgpu_ioctl_bo_info(struct drm_device *drm, void *data, struct drm_file *f);
struct drm_gem_object *
mxgpu_gem_import(struct drm_device *drm, struct dma_buf_attachment *attach,
		 struct sg_table *sgt);

int mxgpu_bo_get_pages(struct mxgpu_bo *bo);
void mxgpu_bo_put_pages(struct mxgpu_bo *bo);
int mxgpu_bo_map_pages(struct mxgpu_bo *bo, dma_addr_t **dma);
void mxgpu_bo_unmap_pages(struct mxgpu_bo *bo);

/* mxgpu_vram.c: who has VRAM, and who has to leave it */
struct mxgpu_share *mxgpu_share_new(struct mxgpu_file *file);
void mxgpu_share_put(struct mxgpu_share *share);
void mxgpu_vram_init(struct mxgpu_device *mdev);
void mxgpu_vram_stop(struct mxgpu_device *mdev);
int mxgpu_vram_alloc(struct mxgpu_device *mdev, struct mxgpu_bo *bo);
void mxgpu_vram_free(struct mxgpu_device *mdev, struct mxgpu_bo *bo);
void mxgpu_vram_release(struct mxgpu_device *mdev, struct mxgpu_bo *bo);
void mxgpu_vram_moved(struct mxgpu_device *mdev, struct mxgpu_bo *bo);
int mxgpu_vram_pin(struct mxgpu_device *mdev, struct mxgpu_bo *bo);
void mxgpu_vram_show(struct mxgpu_device *mdev, struct drm_printer *p);

/* mxgpu_move.c: objects from VRAM to system memory, and back */
void mxgpu_bo_copy(struct mxgpu_device *mdev, struct mxgpu_bo *bo, bool save);
int mxgpu_move(struct mxgpu_device *mdev, struct list_head *bos, bool to_vram,
	       unsigned int ms);
int mxgpu_queues_hold(struct mxgpu_device *mdev, bool launch);
bool mxgpu_queue_is_busy(const struct mxgpu_queue *queue);

/* mxgpu_fence.c: what queues will have done, for others */
void mxgpu_fences_init(struct mxgpu_device *mdev);
void mxgpu_fences_stop(struct mxgpu_device *mdev);
void mxgpu_fences_look(struct mxgpu_queue *queue);
void mxgpu_fences_end(struct mxgpu_queue *queue);
int mxgpu_ioctl_queue_fence(struct drm_device *drm, void *data,
			    struct drm_file *f);

/* mxgpu_queue.c: queues, doorbells, the status page */
int mxgpu_queue_create(struct mxgpu_file *file,
		       struct drm_mxgpu_queue_create *args);
int mxgpu_ioctl_queue_create(struct drm_device *drm, void *data,
			     struct drm_file *f);
int mxgpu_ioctl_queue_destroy(struct drm_device *drm, void *data,
			      struct drm_file *f);
int mxgpu_ioctl_queue_profile(struct drm_device *drm, void *data,
			      struct drm_file *f);
int mxgpu_ioctl_contexts(struct drm_device *drm, void *data,
			 struct drm_file *f);
int mxgpu_ioctl_queue_launch(struct drm_device *drm, void *data,
			     struct drm_file *f);
int mxgpu_ioctl_queue_wait(struct drm_device *drm, void *data,
			   struct drm_file *f);
int mxgpu_ioctl_queue_eventfd(struct drm_device *drm, void *data,
			      struct drm_file *f);
int mxgpu_ioctl_reset(struct drm_device *drm, void *data, struct drm_file *f);
unsigned int mxgpu_queues_destroy(struct mxgpu_file *file);
void mxgpu_queues_lost(struct mxgpu_device *mdev);
struct mxgpu_queue *mxgpu_queue_find(struct mxgpu_file *file, u32 id);
void mxgpu_queues_keep(struct mxgpu_file *file);
void mxgpu_file_lose(struct mxgpu_file *file);
unsigned int mxgpu_queue_vector(struct mxgpu_device *mdev, unsigned int id);
unsigned int mxgpu_min_priority(struct mxgpu_device *mdev);
int mxgpu_queue_mmap(struct mxgpu_file *file, struct vm_area_struct *vma);

#endif
