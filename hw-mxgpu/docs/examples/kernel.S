/* SPDX-License-Identifier: MIT */
/*
 * A kernel made by hand: the descriptor (struct mxgpu_kernel_desc) that the
 * dispatch packet points to, and the code. Linked at the address where the
 * driver puts it:
 *
 *   clang-19 --target=riscv64-unknown-elf -march=rv64im_zicsr -nostdlib \
 *       -fuse-ld=lld-19 -Wl,-Ttext=0x400000000,--oformat=binary \
 *       kernel.S -o kernel.bin
 */
        .text
        .globl _start
_start:
        .word 0x4e4b584d        /* magic */
        .word 1                 /* abi */
        .quad squares           /* entry */
        .quad name
        .quad 0                 /* descriptions of arguments, which only a */
        .word 0                 /* runtime reads: none */
        .word 8                 /* bytes of arguments */
        .word 0                 /* shared memory */
        .word 0                 /* stack: not known, so 8 KiB */
        .word 32                /* registers of 32 bits */
        .word 0                 /* most threads of a block: no bound */
        .word 0, 0
name:   .asciz "squares"

        /* out[blockIdx.x * blockDim.x + threadIdx.x] = its square */
        .balign 16
squares:
        csrr t0, 0xcc6          /* blockIdx.x */
        csrr t1, 0xcc3          /* blockDim.x */
        csrr t2, 0xcc0          /* threadIdx.x */
        mul t0, t0, t1
        add t0, t0, t2
        ld t1, 0(a0)            /* the first argument: out */
        slli t2, t0, 2
        add t1, t1, t2
        mul t0, t0, t0
        sw t0, 0(t1)
        .word 0x0000000b        /* mx.exit */
