/* SPDX-License-Identifier: MIT */
/*
 * Kernel images and the environment a kernel starts in.
 *
 * An image is an ELF64 little-endian position-independent shared object for
 * RISC-V (EM_RISCV, ET_DYN), loaded at any 4 KiB-aligned address; its only
 * dynamic relocations are R_RISCV_RELATIVE and R_RISCV_64. PT_LOAD segments
 * carry the permissions their pages get. A note of owner MXGPU_NOTE_OWNER and
 * type MXGPU_NOTE_KERNELS holds struct mxgpu_kernel_note: where the table of
 * kernel descriptors is.
 */
#ifndef MXGPU_KERNEL_H
#define MXGPU_KERNEL_H

#include "types.h"

#define MXGPU_NOTE_OWNER   "MXGPU"
#define MXGPU_NOTE_KERNELS 1
#define MXGPU_KERNEL_ABI   1

struct mxgpu_kernel_note {
    uint32_t abi;          /* MXGPU_KERNEL_ABI */
    uint32_t desc_size;    /* sizeof(struct mxgpu_kernel_desc) */
    uint32_t count;        /* descriptors */
    uint32_t reserved;
    uint64_t descs;        /* link-time address of the first one */
};
MXGPU_ASSERT_SIZE(struct mxgpu_kernel_note, 24);

/* One kernel, named by a dispatch packet. Loading relocates its addresses. */
#define MXGPU_KERNEL_MAGIC 0x4e4b584du /* "MXKN" */
struct mxgpu_kernel_desc {
    uint32_t magic;
    uint32_t abi;           /* MXGPU_KERNEL_ABI */
    uint64_t entry;         /* first instruction */
    uint64_t name;          /* NUL-terminated symbol name */
    uint64_t args;          /* struct mxgpu_kernel_arg[arg_count] */
    uint32_t arg_count;
    uint32_t arg_size;      /* bytes of the argument block */
    uint32_t static_shared; /* bytes, also the offset of dynamic shared */
    uint32_t private_bytes; /* stack of a thread, at least; 0: not known */
    uint32_t registers;     /* 32-bit registers a thread needs, 1 to 255 */
    uint32_t max_threads;   /* of a block; 0: no bound given */
    uint32_t flags;         /* MXGPU_KERNEL_* below; others must be 0 */
    uint32_t reserved;
};
MXGPU_ASSERT_SIZE(struct mxgpu_kernel_desc, 64);

/* The kernel reads fflags or fcsr: exceptions of its floating-point operations
 * are recorded, which takes several times longer. Without it such a read is an
 * illegal instruction. */
#define MXGPU_KERNEL_FP_FLAGS 1u

/* Argument i lies at offset in the argument block, with its C layout. */
struct mxgpu_kernel_arg {
    uint32_t offset;
    uint32_t size;
    uint32_t align;
    uint32_t reserved;
};
MXGPU_ASSERT_SIZE(struct mxgpu_kernel_arg, 16);

/*
 * What only the runtime wants to know of a kernel: an image may have the
 * symbol MXGPU_KERNEL_FACTS, a table with an entry for each descriptor.
 */
#define MXGPU_KERNEL_FACTS "__mx_kernel_facts"
struct mxgpu_kernel_facts {
    uint32_t uses;           /* MXGPU_KERNEL_USES_* */
    uint32_t constant_bytes; /* of the constant variables it reaches */
};
MXGPU_ASSERT_SIZE(struct mxgpu_kernel_facts, 8);

#define MXGPU_KERNEL_USES_FIFO 1u /* printf, assert */
#define MXGPU_KERNEL_USES_HEAP 2u /* malloc */
#define MXGPU_KERNEL_USES_LAUNCH 4u /* launches kernels (launch.h) */
#define MXGPU_KERNEL_USES_MULTIMEM 8u /* memory of multicast objects */

/*
 * Windows in the upper half of the address space, the same in every VMID.
 * Shared: the block's shared memory, offset 0 first. Private: the thread's own
 * memory of CD_PRIVATE bytes, ending at MXGPU_PRIVATE_END. Accesses outside
 * the block's or thread's size fault with MXGPU_FAULT_WINDOW. Instructions are
 * not fetched from windows. Addresses are reachable with one lui.
 */
#define MXGPU_SHARED_BASE  0xffffffffe0000000ull
#define MXGPU_SHARED_MAX   0x0000000000010000ull /* 64 KiB */
#define MXGPU_PRIVATE_END  0xfffffffff8000000ull
#define MXGPU_PRIVATE_MAX  0x0000000000100000ull /* 1 MiB a thread */
#define MXGPU_PRIVATE_DEFAULT_KIB 8

/*
 * State at kernel entry, per thread: pc = entry, x10 (a0) = address of the
 * argument block, x2 (sp) = MXGPU_PRIVATE_END, every other register 0, fcsr 0.
 * A thread ends by mx.exit (isa.h).
 */

/* Read-only CSRs of the kernel ISA, in addition to cycle, time, instret. */
enum mxgpu_csr {
    MXGPU_CSR_TID_X = 0xcc0, /* threadIdx */
    MXGPU_CSR_TID_Y = 0xcc1,
    MXGPU_CSR_TID_Z = 0xcc2,
    MXGPU_CSR_NTID_X = 0xcc3, /* blockDim */
    MXGPU_CSR_NTID_Y = 0xcc4,
    MXGPU_CSR_NTID_Z = 0xcc5,
    MXGPU_CSR_CTAID_X = 0xcc6, /* blockIdx */
    MXGPU_CSR_CTAID_Y = 0xcc7,
    MXGPU_CSR_CTAID_Z = 0xcc8,
    MXGPU_CSR_NCTAID_X = 0xcc9, /* gridDim */
    MXGPU_CSR_NCTAID_Y = 0xcca,
    MXGPU_CSR_NCTAID_Z = 0xccb,
    MXGPU_CSR_LANE = 0xccc,       /* lane in the warp, 0 to 63 */
    MXGPU_CSR_WARP = 0xccd,       /* warp in the block */
    MXGPU_CSR_SHARED_SIZE = 0xcce,/* bytes of shared memory of the block */
    MXGPU_CSR_SHARED_DYN = 0xccf, /* offset of its dynamic part */
    MXGPU_CSR_CU = 0xcd0,         /* compute unit */
    MXGPU_CSR_ARGS = 0xcd1,       /* address of the argument block */
    MXGPU_CSR_PRIVATE_SIZE = 0xcd2,
    MXGPU_CSR_COOPERATIVE = 0xcd3, /* 1 in a cooperative dispatch, else 0 */
};

#endif
