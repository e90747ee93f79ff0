/* SPDX-License-Identifier: MIT */
/*
 * Entry of the firmware and of its trap handler. The loader has put image and
 * header into SRAM; what lies behind the image is undefined, so .bss is
 * cleared here. Interrupts stay masked in mstatus for good: they only end wfi
 * (see main.c), and any trap is a defect of the firmware.
 */
    .section .text.start, "ax"
    .globl _start
    .type _start, @function
_start:
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    la      sp, __stack_top
    la      t0, trap_entry
    csrw    mtvec, t0
    csrw    mstatus, zero
    la      t0, __bss_start
    la      t1, __bss_end
1:  bgeu    t0, t1, 2f
    sw      zero, 0(t0)
    addi    t0, t0, 4
    j       1b
2:  call    fw_main
    .size _start, . - _start

    /* The handler does not return, and the stack may be what broke. */
    .balign 4
    .globl trap_entry
    .type trap_entry, @function
trap_entry:
    la      sp, __trap_stack_top
    csrr    a0, mcause
    csrr    a1, mepc
    csrr    a2, mtval
    call    fw_trap
1:  wfi
    j       1b
    .size trap_entry, . - trap_entry
