/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What the mxgpu kernel driver offers to processes.
 *
 * The driver is a DRM render node (/dev/dri/renderD*, DRM_IOCTL_VERSION names
 * it "mxgpu"). Each open file is a client: it has an address space of the
 * device of its own (a VMID), its own memory objects, queues and fault records,
 * and nothing of it outlives the file. Device virtual addresses are chosen by
 * the client, multiples of 4096 below 2^47. Work is given to queues in user
 * mode: ring and control block are memory of the client, the doorbell is a page
 * of the device that belongs to the queue alone and is mapped to the client.
 *
 * Layouts of packets, control blocks, fault records and page permissions are
 * those of the device: mxgpu/packets.h, mxgpu/pte.h.
 *
 * These come from DRM itself and are not repeated here:
 *   DRM_IOCTL_GEM_CLOSE           gives a handle up. Mappings on the device keep
 *                                 the memory until they are unmapped
 *   DRM_IOCTL_PRIME_HANDLE_TO_FD  exports a memory object as a dma-buf, which
 *                                 other processes map, or import. While another
 *                                 device has it, an object of VRAM is in system
 *                                 memory; with STAY, no other device can have it
 *   DRM_IOCTL_PRIME_FD_TO_HANDLE  imports one: of the same device it is the
 *                                 same object, of another device its memory is
 *                                 reached over the bus, or -EOPNOTSUPP. -EBUSY:
 *                                 packets that use it do not end
 *
 * Every ioctl may fail with -EINVAL (a field out of range, or a reserved field
 * or flag that is not 0), -EFAULT (a pointer), -ENOENT (no such handle), -ENOMEM,
 * -EINTR, and with -ENODEV when the device is lost to this file: it was reset,
 * crashed or taken away after the file was opened. All that is left then is to
 * close the file and open anew. Other errors stand with the ioctl. What failed
 * has changed nothing.
 */
#ifndef MXGPU_DRM_H
#define MXGPU_DRM_H

#include <linux/ioctl.h>
#include <linux/types.h>

#if defined(__cplusplus)
extern "C" {
#endif

#define MXGPU_DRM_NAME "mxgpu"

#define DRM_MXGPU_INFO		0x00
#define DRM_MXGPU_BO_CREATE	0x01
#define DRM_MXGPU_BO_USERPTR	0x02
#define DRM_MXGPU_BO_INFO	0x03
#define DRM_MXGPU_VM_MAP	0x04
#define DRM_MXGPU_VM_UNMAP	0x05
#define DRM_MXGPU_VM_REPLACE	0x06
#define DRM_MXGPU_QUEUE_CREATE	0x07
#define DRM_MXGPU_QUEUE_DESTROY	0x08
#define DRM_MXGPU_QUEUE_PROFILE	0x09
#define DRM_MXGPU_QUEUE_LAUNCH	0x0a
#define DRM_MXGPU_QUEUE_WAIT	0x0b
#define DRM_MXGPU_QUEUE_EVENTFD	0x0c
#define DRM_MXGPU_FAULTS	0x0d
#define DRM_MXGPU_RESOLVE	0x0e
#define DRM_MXGPU_STATE		0x0f
#define DRM_MXGPU_CLOCK		0x10
#define DRM_MXGPU_WHERE		0x11
#define DRM_MXGPU_MEMORY	0x12
#define DRM_MXGPU_RESET		0x13
#define DRM_MXGPU_CONTEXTS	0x14
#define DRM_MXGPU_SVM		0x15
#define DRM_MXGPU_QUEUE_FENCE	0x16

/*
 * INFO: what the device is. Only vmid changes while the file is open: a client
 * has an address space of the device while it has queues. A lost device is still
 * described; -ENODEV: the driver has let go of it.
 */
struct drm_mxgpu_info {
	__u64 vram_size;	/* bytes on the device */
	__u64 vram_visible;	/* bytes that the CPU can map */
	__u64 cu_private;	/* bytes of private memory of a compute unit */
	__u32 interface;	/* register VERSION: major << 16 | minor */
	__u32 features;		/* register FEATURES */
	__u32 compute_units;
	__u32 copy_engines;
	__u32 dispatch_slots;
	__u32 queues;		/* of all clients together */
	__u32 priorities;	/* 0 is the most urgent */
	__u32 min_priority;	/* the most urgent that this client may use */
	__u32 vectors;		/* interrupts in use; vector 0 is the device's */
	__u32 warp_size;
	__u32 cu_threads;
	__u32 cu_blocks;
	__u32 block_threads;
	__u32 cu_registers;
	__u32 cu_shared;	/* bytes */
	__u32 watchdog_ms;	/* 0: kernels may run for ever */
	__u32 packets;		/* bit n: packet type n is understood */
	__u32 fw_version;	/* major << 16 | minor << 8 | patch */
	__u32 pci_domain;
	__u32 pci_address;	/* bus << 8 | device << 3 | function */
	char fw_build[32];	/* NUL padded */
	__u8 uuid[16];
	__u32 vmid;		/* the client's address space, as in records; or 0 */
	__u32 reserved;
};

/* Where the memory of an object is. */
#define MXGPU_PLACE_VRAM	0
#define MXGPU_PLACE_SYSTEM	1	/* of the kernel: stays while mapped */
#define MXGPU_PLACE_USERPTR	2	/* the process's own, pinned */
#define MXGPU_PLACE_IMPORT	3	/* a dma-buf of somebody else */

/*
 * BO_CREATE: memory, all 0, VRAM or SYSTEM. mmap() the file at mmap_offset to
 * reach it. VRAM of 2 MiB or more is aligned to 2 MiB where it can be.
 *
 * Clients together may have more objects of VRAM than there is VRAM. Some of these
 * are in system memory then, where the device reaches them over the bus, and come
 * and go while their users' queues are held still: nobody notices but by time.
 * Addresses, mappings and contents stay. With STAY it never leaves VRAM.
 *
 * -ENOMEM: the client would have more objects of VRAM than there is VRAM (or, with
 * STAY and without CAP_IPC_LOCK, than an eighth of it that may not leave), or there
 * is no memory; with STAY, no VRAM either that others can be asked to leave.
 */
#define MXGPU_BO_STAY	1	/* flags: VRAM only */

struct drm_mxgpu_bo_create {
	__u64 size;		/* in: multiple of 4096 */
	__u32 place;		/* in: MXGPU_PLACE_VRAM or _SYSTEM */
	__u32 flags;		/* in: MXGPU_BO_* */
	__u64 mmap_offset;	/* out */
	__u32 handle;		/* out */
	__u32 reserved;
};

/*
 * BO_USERPTR: the process's memory, pinned while the object lives. It is what
 * the addresses mean at the time of the call: munmap() and fork() afterwards do
 * not change what the device sees. It counts against RLIMIT_MEMLOCK, unless the
 * caller has CAP_IPC_LOCK.
 * -EFAULT: not all of it is mapped, or writable; -ENOMEM: the limit.
 * Such an object has no mmap_offset, and cannot be exported (-EOPNOTSUPP).
 */
#define MXGPU_USERPTR_READONLY	1	/* the device cannot map it writable */

struct drm_mxgpu_bo_userptr {
	__u64 addr;		/* in: multiples of 4096 */
	__u64 size;
	__u32 flags;		/* in: MXGPU_USERPTR_* */
	__u32 handle;		/* out */
};

/*
 * BO_INFO: of any handle. mmap_offset is 0 where there is none. An object of VRAM
 * may be in system memory now, and no more when the call has returned.
 */
struct drm_mxgpu_bo_info {
	__u32 handle;		/* in */
	__u32 place;		/* out: MXGPU_PLACE_* */
	__u64 size;		/* out */
	__u64 mmap_offset;	/* out */
	__u32 now;		/* out: MXGPU_PLACE_VRAM or _SYSTEM, or as place */
	__u32 reserved;
};

/*
 * VM_MAP: [offset, offset + size) of an object at device address va. All are
 * multiples of 4096. perms is of MXGPU_PTE_READ, _WRITE, _EXECUTE and _ATOMIC,
 * at least one of them. -EEXIST: something is mapped in that range.
 * -EACCES: perms write what is read-only.
 */
struct drm_mxgpu_vm_map {
	__u32 handle;
	__u32 reserved;
	__u64 perms;
	__u64 va;
	__u64 offset;
	__u64 size;
};

/*
 * VM_UNMAP: whatever is mapped in the range, which may be nothing and may cut
 * mappings into parts. When it returns, no unit of the device uses the old
 * translations, and the memory may be used for something else.
 */
struct drm_mxgpu_vm_unmap {
	__u64 va;
	__u64 size;
};

/*
 * VM_REPLACE: other memory at addresses that are mapped, each page in one step:
 * who uses it meanwhile finds the one or the other. Several places at once cost
 * one invalidation. Complete when it returns, as VM_UNMAP. -EINVAL: not all of
 * a place is mapped, or two places overlap; nothing has changed then.
 */
#define MXGPU_REPLACE_MAX 4096

struct drm_mxgpu_vm_replace {
	__u64 places;		/* in: pointer to struct drm_mxgpu_vm_map[] */
	__u32 count;		/* in: up to MXGPU_REPLACE_MAX */
	__u32 reserved;
};

/*
 * QUEUE_CREATE: ring and control block are mapped by the client in its address
 * space first, and stay so until the queue is destroyed; where they do not, the
 * queue stops with an error of its own and nobody else notices. Then
 *
 *   doorbell = mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, doorbell_offset);
 *   *(volatile uint64_t *)doorbell = write_index;
 *
 * The page belongs to this queue alone: no other process can ring it. After
 * QUEUE_DESTROY, or when the device is lost, stores to it go nowhere.
 *
 * -ENOSPC: all queues of the device, or of this client, are in use. -EACCES: a
 * priority more urgent than info.min_priority. -EBUSY: all address spaces of the
 * device belong to other clients with queues. -EFAULT: the ring is not mapped
 * readable, or the control block not writable.
 */
struct drm_mxgpu_queue_create {
	__u64 ring;		/* in: device address, multiple of 64 */
	__u64 ctl;		/* in: the same, struct mxgpu_queue_ctl */
	__u32 packets;		/* in: power of two, 4 to 65536 */
	__u32 priority;		/* in */
	__u32 flags;		/* in: 0 */
	__u32 queue;		/* out: as records and the ioctls below name it */
	__u64 doorbell_offset;	/* out: for mmap() */
};

/* QUEUE_DESTROY: aborts what is in flight. It has ended when this returns. */
struct drm_mxgpu_queue_destroy {
	__u32 queue;
	__u32 reserved;
};

/*
 * QUEUE_PROFILE: as mxgpu_msg_queue_profile of mxgpu/msg.h. -EBUSY: packets are
 * in flight; -EFAULT: a record is not writable; -EOPNOTSUPP.
 */
struct drm_mxgpu_queue_profile {
	__u32 queue;
	__u32 log2_records;
	__u64 base;		/* device address, multiple of 64; 0: no more */
	__u32 stride;
	__u32 samples;
	__u32 interval;
	__u32 flags;		/* MXGPU_PROFILE_EXACT */
};

/*
 * QUEUE_LAUNCH: as mxgpu_msg_queue_launch. -EBUSY: the queue was used, or the
 * client has another one; -EFAULT: the ring; -EOPNOTSUPP.
 */
struct drm_mxgpu_queue_launch {
	__u32 queue;
	__u32 log2_records;	/* 3 to 16 */
	__u64 ring;		/* device address, multiple of 64 */
};

/*
 * CONTEXTS: as mxgpu_msg_contexts: memory of the client for dispatches that have
 * to leave their slot. It stays mapped as long as the client has queues, or until
 * another one is named. -ENOENT: it has none; -EBUSY: there is something in it;
 * -EOPNOTSUPP.
 */
struct drm_mxgpu_contexts {
	__u64 addr;		/* device address, multiple of 64 */
	__u64 size;		/* likewise; 0: there is none any more */
};

/*
 * QUEUE_WAIT: returns as soon as the number of interrupts of the queue differs
 * from "seen", with it in "count". Interrupts of other queues may be counted
 * too, and that of an earlier user may come late: look at memory again.
 * deadline is of CLOCK_MONOTONIC in nanoseconds: 0 asks only, INT64_MAX waits
 * for ever. -ETIME: the deadline has passed. -EINTR: a signal; because the
 * deadline is absolute, the same call may simply be made again.
 *
 * Without a call, the same number is status->irqs[queue] of the status page.
 */
struct drm_mxgpu_queue_wait {
	__u32 queue;		/* in */
	__u32 seen;		/* in */
	__s64 deadline;		/* in */
	__u32 count;		/* out */
	__u32 reserved;
};

/*
 * QUEUE_EVENTFD: each interrupt of the queue also adds 1 to an eventfd; -1 ends
 * that. It is signalled when the device is lost, too. -EBADF: no eventfd.
 */
struct drm_mxgpu_queue_eventfd {
	__u32 queue;
	__s32 fd;
};

/*
 * QUEUE_FENCE: a sync_file, as other drivers have: it is signalled when the 64-bit
 * word at a device address is at least "value", as packets of the queue write it at
 * their ends (MXGPU_PKT_IRQ has it looked at; without, it may take a quarter of a
 * second). poll() waits for it, DRM's ioctls make a syncobj or a point of a timeline
 * of it, and DMA_BUF_IOCTL_IMPORT_SYNC_FILE makes those wait for it who use a dma-buf.
 *
 * A fence ends. With an error, which SYNC_IOC_FILE_INFO tells: -ETIMEDOUT after 10
 * seconds, -ECANCELED with the queue, -ENODEV when the device is lost.
 *
 * -EFAULT: nothing is mapped at the address. -EOPNOTSUPP: an object that may move
 * (VRAM without STAY), or of another driver. -ENOSPC: 256 of the queue are open.
 */
struct drm_mxgpu_queue_fence {
	__u64 addr;		/* in: device address, multiple of 8 */
	__u64 value;		/* in */
	__u32 queue;		/* in */
	__u32 flags;		/* in: O_CLOEXEC */
	__s32 fd;		/* out */
	__u32 reserved;
};

/*
 * FAULTS: recoverable faults of this client come to a file of their own from now
 * on, and packets may have MXGPU_PKT_RECOVER. Before it, and after that file is
 * closed, such faults are killed: the packet fails.
 *
 * poll() says POLLIN when there are records, POLLHUP when the device is lost;
 * read() gives whole struct mxgpu_fault_record's of mxgpu/packets.h, as many as
 * fit and are there, and with none waits, or fails with -EAGAIN (O_NONBLOCK) or
 * -EINVAL (room for none). Each record that was read is answered by RESOLVE.
 *
 * The ring of the device is shared by all clients. A record of a client that has
 * MXGPU_FAULTS_MAX of them open waits until half of these are answered, and comes
 * again then; and when the ring is nearly full the oldest ones that nobody
 * answered are killed. -EBUSY: the client has such a file. -EOPNOTSUPP: the
 * device does not do it, and RESOLVE and SVM fail likewise.
 */
#define MXGPU_FAULTS_MAX 256

struct drm_mxgpu_faults {
	__u32 flags;		/* in: O_CLOEXEC, O_NONBLOCK */
	__s32 fd;		/* out */
};

/*
 * RESOLVE: the verdict on a record. The page was mapped and the access is done
 * again, or the packet fails with the fault. -ENOENT: no record of this client
 * has that number and is open.
 */
#define MXGPU_RESOLVE_REPLAY	0
#define MXGPU_RESOLVE_KILL	1

struct drm_mxgpu_resolve {
	__u32 sequence;		/* of the record */
	__u32 verdict;		/* MXGPU_RESOLVE_* */
};

/*
 * SVM: addresses of the process at which nothing is mapped by VM_MAP are the
 * device's, too, from now on and for good: a recoverable fault there (packets
 * with MXGPU_PKT_RECOVER) reads or writes the process's memory as one of its
 * threads would, with its rights, page by page and without pinning. What no
 * thread could do goes to FAULTS, or is killed. Instructions are not fetched so.
 * The process is the caller; a child of fork() has a memory of its own. -EBUSY:
 * the file has it already.
 */
struct drm_mxgpu_svm {
	__u32 flags;		/* in: 0 */
	__u32 reserved;
};

/*
 * STATE: whether the device is there and its firmware runs. It fails when the
 * driver has let go of the device (-ENODEV), not because of a loss. Without LOOK
 * only what is known is told; with LOOK the device is asked, however at most twice
 * a second.
 */
#define MXGPU_STATE_LOOK	1	/* flags */

#define MXGPU_STATE_LOST	1	/* state: for this file, for good */
#define MXGPU_STATE_GUILTY	2	/* this client was the reason */
#define MXGPU_STATE_GONE	4	/* there is no device any more */

struct drm_mxgpu_state {
	__u32 flags;		/* in */
	__u32 state;		/* out: MXGPU_STATE_* */
	__u32 resets;		/* out: of the device, since it was found */
	__u32 errors;		/* out: register ERR_COUNT when it was last read */
};

/* CLOCK: the device clock, ns, and CLOCK_MONOTONIC just before and after. */
struct drm_mxgpu_clock {
	__u64 clock;		/* out */
	__u64 before;		/* out */
	__u64 after;		/* out */
};

/*
 * WHERE: for each compute unit that runs a kernel of this client a device
 * address of its code, a moment old. count: in, room; out, how many.
 */
struct drm_mxgpu_where {
	__u64 pcs;		/* in: pointer to __u64[count] */
	__u32 count;
	__u32 reserved;
};

/* MEMORY: of the device, and what this client has of it. Bytes. */
struct drm_mxgpu_memory {
	__u64 vram_total;	/* that can be allocated when nothing is */
	__u64 vram_free;
	__u64 vram_used;	/* objects of VRAM of this client */
	__u64 system_used;	/* SYSTEM and USERPTR, by this client */
	__u64 vram_evicted;	/* of vram_used: now in system memory */
};

/*
 * RESET: all queues of this client are destroyed and all of its open fault
 * records killed; memory and mappings stay. Other clients do not notice. When
 * the firmware does not answer, the device is reset, which is lost to all.
 */
struct drm_mxgpu_reset {
	__u32 flags;		/* in: 0 */
	__u32 queues;		/* out: destroyed */
};

/*
 * The status page, mapped read-only at MXGPU_MMAP_STATUS: what a process looks
 * at often enough to mind a system call.
 */
#define MXGPU_MMAP_STATUS	0ull
#define MXGPU_STATUS_QUEUES	256

struct drm_mxgpu_status {
	__u32 state;		/* MXGPU_STATE_*, as known */
	__u32 reserved[15];
	__u32 irqs[MXGPU_STATUS_QUEUES];	/* interrupts, by queue number */
};

/*
 * DRM's letter and first number of a driver's own, so that drm.h, which not
 * every system has, is not needed here.
 */
#define MXGPU_IO_(dir, name, type) \
	_##dir('d', 0x40 + DRM_MXGPU_##name, struct drm_mxgpu_##type)

#define DRM_IOCTL_MXGPU_INFO		MXGPU_IO_(IOR, INFO, info)
#define DRM_IOCTL_MXGPU_BO_CREATE	MXGPU_IO_(IOWR, BO_CREATE, bo_create)
#define DRM_IOCTL_MXGPU_BO_USERPTR	MXGPU_IO_(IOWR, BO_USERPTR, bo_userptr)
#define DRM_IOCTL_MXGPU_BO_INFO		MXGPU_IO_(IOWR, BO_INFO, bo_info)
#define DRM_IOCTL_MXGPU_VM_MAP		MXGPU_IO_(IOW, VM_MAP, vm_map)
#define DRM_IOCTL_MXGPU_VM_UNMAP	MXGPU_IO_(IOW, VM_UNMAP, vm_unmap)
#define DRM_IOCTL_MXGPU_VM_REPLACE	MXGPU_IO_(IOW, VM_REPLACE, vm_replace)
#define DRM_IOCTL_MXGPU_QUEUE_CREATE \
	MXGPU_IO_(IOWR, QUEUE_CREATE, queue_create)
#define DRM_IOCTL_MXGPU_QUEUE_DESTROY \
	MXGPU_IO_(IOW, QUEUE_DESTROY, queue_destroy)
#define DRM_IOCTL_MXGPU_QUEUE_PROFILE \
	MXGPU_IO_(IOW, QUEUE_PROFILE, queue_profile)
#define DRM_IOCTL_MXGPU_QUEUE_LAUNCH	MXGPU_IO_(IOW, QUEUE_LAUNCH, queue_launch)
#define DRM_IOCTL_MXGPU_QUEUE_WAIT	MXGPU_IO_(IOWR, QUEUE_WAIT, queue_wait)
#define DRM_IOCTL_MXGPU_QUEUE_EVENTFD \
	MXGPU_IO_(IOW, QUEUE_EVENTFD, queue_eventfd)
#define DRM_IOCTL_MXGPU_FAULTS		MXGPU_IO_(IOWR, FAULTS, faults)
#define DRM_IOCTL_MXGPU_RESOLVE		MXGPU_IO_(IOW, RESOLVE, resolve)
#define DRM_IOCTL_MXGPU_STATE		MXGPU_IO_(IOWR, STATE, state)
#define DRM_IOCTL_MXGPU_CLOCK		MXGPU_IO_(IOR, CLOCK, clock)
#define DRM_IOCTL_MXGPU_WHERE		MXGPU_IO_(IOWR, WHERE, where)
#define DRM_IOCTL_MXGPU_MEMORY		MXGPU_IO_(IOR, MEMORY, memory)
#define DRM_IOCTL_MXGPU_RESET		MXGPU_IO_(IOWR, RESET, reset)
#define DRM_IOCTL_MXGPU_CONTEXTS	MXGPU_IO_(IOW, CONTEXTS, contexts)
#define DRM_IOCTL_MXGPU_SVM		MXGPU_IO_(IOW, SVM, svm)
#define DRM_IOCTL_MXGPU_QUEUE_FENCE	MXGPU_IO_(IOWR, QUEUE_FENCE, queue_fence)

#if defined(__cplusplus)
}
#endif

#endif /* MXGPU_DRM_H */
