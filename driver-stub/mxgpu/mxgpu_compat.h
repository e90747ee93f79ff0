/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What kernels since 6.1 have changed of what this driver uses. The driver is
 * written for the newest; here the older ones are given what they lack. A driver
 * in the kernel's own tree has no such file.
 */
#ifndef MXGPU_COMPAT_H
#define MXGPU_COMPAT_H

#include <linux/eventfd.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/shmem_fs.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

/* These are what there is without them. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define MXGPU_PRIME_OPS \
	.prime_handle_to_fd = drm_gem_prime_handle_to_fd, \
	.prime_fd_to_handle = drm_gem_prime_fd_to_handle, \
	.gem_prime_mmap = drm_gem_prime_mmap,
#else
#define MXGPU_PRIME_OPS
#endif

/* Without it drm_open() refuses, since 6.12. */
#ifdef FOP_UNSIGNED_OFFSET
#define MXGPU_FOP_FLAGS .fop_flags = FOP_UNSIGNED_OFFSET,
#else
#define MXGPU_FOP_FLAGS
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define MXGPU_DRIVER_DATE .date = "20261123",
#else
#define MXGPU_DRIVER_DATE
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define MXGPU_IMPORT_DMA_BUF MODULE_IMPORT_NS(DMA_BUF)
#else
#define MXGPU_IMPORT_DMA_BUF MODULE_IMPORT_NS("DMA_BUF")
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
#define eventfd_signal(ctx) eventfd_signal(ctx, 1)
#endif

/* Strings of trace events know their source from __string() since then. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define mxgpu_assign_str(name, source) __assign_str(name, source)
#else
#define mxgpu_assign_str(name, source) __assign_str(name)
#endif

/* Memory for as much as is used of it. */
static inline struct file *mxgpu_shmem_file(const char *name, loff_t size)
{
#ifdef mk_vma_flags	/* 7.0 */
	return shmem_file_setup(name, size, mk_vma_flags(VMA_NORESERVE_BIT));
#else
	return shmem_file_setup(name, size, VM_NORESERVE);
#endif
}

/* is_cow_mapping(), which has another name since 7.x */
static inline bool mxgpu_is_private(const struct vm_area_struct *vma)
{
	return (vma->vm_flags & (VM_SHARED | VM_MAYWRITE)) == VM_MAYWRITE;
}

#endif
