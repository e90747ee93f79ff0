/* SPDX-License-Identifier: MIT */
/* f registers that are off; what user mode may not do, and may when let. */
#include "traps.h"
#define FS 0x6000
#define FS_OFF                                                                 \
        li a0, FS;                                                             \
        csrc mstatus, a0
#define FS_ON                                                                  \
        li a0, FS;                                                             \
        csrs mstatus, a0
#define TO_USER                                                                \
        li a0, 0x1800;                                                         \
        csrc mstatus, a0;                                                      \
        la a0, 1f;                                                             \
        csrw mepc, a0;                                                         \
        mret;                                                                  \
1:
        .option norvc
        BEGIN_MODE(3)
        la s7, cell
        li s8, 10
        FS_ON
        fcvt.d.w fs0, zero
        li a0, 1
        fcvt.d.w fs1, a0
again:  /* lanes that started apart are on and off at the same time */
        fadd.d fs0, fs0, fs1
        CASE(2, a0, 0, csrr a0, mstatus; bgez a0, failed; li a0, 0)
        fsrmi 2
        csrwi fflags, 9
        FS_OFF
        CASE(3, a0, 0, csrr a0, mstatus; bltz a0, failed; li a1, FS;
                and a0, a0, a1)
        TRAPS(4, 2, fadd.d fs0, fs0, fs1)
        CASE(5, s4, 0x02947453, nop) /* mtval: the instruction */
        TRAPS(6, 2, fmv.x.d a0, fs0)
        TRAPS(7, 2, fmv.w.x fs0, zero)
        TRAPS(8, 2, fsgnjn.s fs0, fs0, fs0)
        TRAPS(9, 2, fclass.h a0, fs0)
        TRAPS(10, 2, fcvt.l.s a0, fs0)
        TRAPS(11, 2, feq.d a0, fs0, fs0)
        TRAPS(12, 2, fmadd.h fs0, fs0, fs0, fs0)
        TRAPS(13, 2, fld fs0, 0(s7))
        TRAPS(14, 2, fsd fs1, 0(s7))
        TRAPS(15, 2, flh fs0, 0(s7))
        TRAPS(16, 2, fsw fs0, 0(zero)) /* illegal before anything else */
        TRAPS(17, 2, csrr a0, fcsr)
        TRAPS(18, 2, csrw frm, zero)
        TRAPS(19, 2, csrsi fflags, 1)
        .option rvc
        TRAPS(20, 2, c.fsdsp fs0, 0(sp); .option norvc)
        .option norvc
        CASE(21, a0, 0x5555, ld a0, 0(s7)) /* nothing was stored */
        FS_ON
        CASE(22, a0, 0x49, csrr a0, fcsr)
        csrwi fcsr, 0
        addi s8, s8, -1
        bnez s8, again
        CASE(23, a0, 10, fcvt.l.d a0, fs0)
        /* faults of f loads, while other lanes may have theirs off */
        li a1, 16
        TRAPS(24, 5, fld fs0, 0(a1))
        CASE(25, s4, 16, nop)
        TRAPS(26, 2, .word 0x02945453) /* rounding mode 5 */
        /* mret to user mode ends MPRV */
        li a0, 0x20000
        csrs mstatus, a0
        csrw mcounteren, zero
        TO_USER
        TRAPS(30, 2, csrr a0, cycle)
        TRAPS(31, 2, csrr a0, time)
        TRAPS(32, 2, csrr a0, instret)
        TRAPS(33, 2, csrr a0, hpmcounter3)
        TRAPS(34, 2, csrw pmpaddr0, zero)
        TRAPS(35, 2, csrr a0, misa)
        TRAPS(36, 3, ebreak)
        CASE(37, s6, 0, nop)
        li gp, 38
        wfi
        fadd.d fs0, fs0, fs1
        li s9, 0x1800
        TRAPS(39, 3, ebreak) /* back to machine mode */
        li s9, 0
        CASE(40, a0, 0, csrr a0, mstatus; li a1, 0x20000; and a0, a0, a1)
        csrwi mcounteren, 5 /* cycle and instret */
        li a0, 0x200000 /* TW */
        csrs mstatus, a0
        FS_OFF
        TO_USER
        CASE(41, a1, 3, csrr a0, instret; nop; nop; csrr a1, instret;
                sub a1, a1, a0)
        CASE(42, a1, 1, csrr a0, cycle; nop; csrr a1, cycle; sltu a1, a0, a1)
        TRAPS(43, 2, csrr a0, time)
        TRAPS(44, 2, wfi)
        TRAPS(45, 2, fadd.d fs0, fs0, fs1)
        /* what compute units know besides is not RISC-V */
        TRAPS(46, 2, .word 0x0000000b) /* mx.exit */
        TRAPS(47, 2, csrr a0, 0xcc0)
        END
        TRAP_HANDLER
        .data
        .balign 8
cell:   .dword 0x5555
