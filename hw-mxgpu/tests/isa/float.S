/* SPDX-License-Identifier: MIT */
/* f32, f64 and f16: results and the flags that are raised, rounding modes. */
#include "env.h"
#define NX 1
#define UF 2
#define OF 4
#define DZ 8
#define NV 16
/* want and flags of op fa3, fa0, fa1; t: w d or h */
#define FP(n, t, want, flags, a, b, insn...)                                   \
        li gp, n;                                                              \
        fsflags zero;                                                          \
        li a0, a;                                                              \
        li a1, b;                                                              \
        fmv.t.x fa0, a0;                                                       \
        fmv.t.x fa1, a1;                                                       \
        insn;                                                                  \
        fmv.x.t a4, fa3;                                                       \
        fsflags a5, zero;                                                      \
        li t2, want;                                                           \
        bne a4, t2, failed;                                                    \
        li t2, flags;                                                          \
        bne a5, t2, failed
#define TO_X(n, t, want, flags, a, b, insn...)                                 \
        li gp, n;                                                              \
        fsflags zero;                                                          \
        li a0, a;                                                              \
        li a1, b;                                                              \
        fmv.t.x fa0, a0;                                                       \
        fmv.t.x fa1, a1;                                                       \
        insn;                                                                  \
        fsflags a5, zero;                                                      \
        li t2, want;                                                           \
        bne a4, t2, failed;                                                    \
        li t2, flags;                                                          \
        bne a5, t2, failed
        BEGIN
        FP(2, w, 0x40600000, 0, 0x40200000, 0x3f800000, fadd.s fa3, fa0, fa1)
        FP(3, w, 0x3f800001, NX, 0x3f800000, 0x33c00000, fadd.s fa3, fa0, fa1)
        FP(4, w, 0x3f800000, NX, 0x3f800000, 0x33800000, fadd.s fa3, fa0, fa1)
        FP(5, w, 0x3f800001, NX, 0x3f800000, 0x33800000, fadd.s fa3, fa0, fa1, rmm)
        FP(6, w, 0x3f800001, NX, 0x3f800000, 0x33800000, fadd.s fa3, fa0, fa1, rup)
        FP(7, w, 0x3f800000, NX, 0x3f800000, 0x33c00000, fadd.s fa3, fa0, fa1, rtz)
        FP(8, w, 0x3f800000, NX, 0x3f800000, 0x33c00000, fadd.s fa3, fa0, fa1, rdn)
        FP(9, w, 0x7fc00000, NV, 0x7f800000, 0x7f800000, fsub.s fa3, fa0, fa1)
        FP(10, w, 0x7f800000, OF | NX, 0x7f7fffff, 0x7f7fffff, fmul.s fa3, fa0, fa1)
        FP(11, w, 0x00000000, UF | NX, 0x00000001, 0x3e800000, fmul.s fa3, fa0, fa1)
        FP(12, w, 0x7f800000, DZ, 0x3f800000, 0, fdiv.s fa3, fa0, fa1)
        FP(13, w, 0x7fc00000, NV, 0xbf800000, 0, fsqrt.s fa3, fa0)
        FP(14, w, 0x3fb504f3, NX, 0x40000000, 0, fsqrt.s fa3, fa0)
        FP(15, w, 0x7fc00000, 0, 0x7fc12345, 0, fadd.s fa3, fa0, fa1)
        FP(16, w, 0x7fc00000, NV, 0x7f812345, 0, fadd.s fa3, fa0, fa1)
        FP(17, w, 0, NV, 0x7f812345, 0, fmin.s fa3, fa0, fa1)
        FP(18, w, -0x80000000, 0, 0, 0x80000000, fmin.s fa3, fa0, fa1)
        FP(19, w, 0, 0, 0, 0x80000000, fmax.s fa3, fa0, fa1)
        FP(20, w, 0x40400000, 0, 0x3f800000, 0x40000000, fmadd.s fa3, fa0, fa1, fa0)
        FP(21, w, 0x3f800000, 0, 0x3f800000, 0x40000000, fmsub.s fa3, fa0, fa1, fa0)
        FP(22, w, 0xffffffffbf800000, 0, 0x3f800000, 0x40000000, fnmsub.s fa3, fa0, fa1, fa0)
        FP(23, w, 0xffffffffc0400000, 0, 0x3f800000, 0x40000000, fnmadd.s fa3, fa0, fa1, fa0)
        FP(24, w, 0xffffffffbf800000, 0, 0x3f800000, 0xc0000000, fsgnj.s fa3, fa0, fa1)
        FP(25, w, 0x3f800000, 0, 0x3f800000, 0xc0000000, fsgnjn.s fa3, fa0, fa1)
        FP(26, w, 0x3f800000, 0, 0xbf800000, 0xc0000000, fsgnjx.s fa3, fa0, fa1)
        TO_X(27, w, 0, 0, 0x7fc00000, 0, feq.s a4, fa0, fa1)
        TO_X(28, w, 0, NV, 0x7fc00000, 0, flt.s a4, fa0, fa1)
        TO_X(29, w, 1, 0, 0x80000000, 0, fle.s a4, fa0, fa1)
        TO_X(30, w, 1 << 9, 0, 0x7fc00000, 0, fclass.s a4, fa0)
        TO_X(31, w, 1 << 2, 0, 0x80000001, 0, fclass.s a4, fa0)
        TO_X(32, w, -2, NX, 0xbfc00000, 0, fcvt.w.s a4, fa0)
        TO_X(33, w, -1, NX, 0xbfc00000, 0, fcvt.w.s a4, fa0, rtz)
        TO_X(34, w, 0, NV, 0xbf800000, 0, fcvt.wu.s a4, fa0)
        TO_X(35, w, 0x7fffffff, NV, 0x7fc00000, 0, fcvt.w.s a4, fa0)
        TO_X(36, w, -1, NV, 0x4f800000, 0, fcvt.wu.s a4, fa0)
        TO_X(37, w, ~(1 << 63), NV, 0x7f800000, 0, fcvt.l.s a4, fa0)
        TO_X(38, w, 0xffffff0000000000, 0, 0x5f7fffff, 0, fcvt.lu.s a4, fa0)
        FP(39, w, 0x4b800000, NX, 0x1000001, 0, fcvt.s.w fa3, a0)
        FP(40, w, 0x5f800000, NX, -1, 0, fcvt.s.lu fa3, a0)
        FP(41, d, 0x3ff0000000000001, NX, 0x3ff0000000000000,
                0x3ca8000000000000, fadd.d fa3, fa0, fa1)
        FP(42, d, 0x3ff0000000000001, NX, 0x3ff0000000000000,
                0x3ca0000000000000, fadd.d fa3, fa0, fa1, rmm)
        FP(43, d, 0x7ff8000000000000, NV, 0x7ff0000000000001, 0, fmul.d fa3, fa0, fa1)
        FP(44, d, 0x3fd5555555555555, NX, 0x3ff0000000000000,
                0x4008000000000000, fdiv.d fa3, fa0, fa1)
        TO_X(45, d, 1 << 7, 0, 0x7ff0000000000000, 0, fclass.d a4, fa0)
        FP(46, w, 0x3f800000, NX, 0, 0, li a2, 0x3ff0000000000001;
                fmv.d.x fa2, a2; fcvt.s.d fa3, fa2)
        FP(47, d, 0x3ff0000000000000, 0, 0, 0, li a2, 0x3f800000;
                fmv.w.x fa2, a2; fcvt.d.s fa3, fa2)
        FP(48, h, 0x4000, 0, 0x3c00, 0x3c00, fadd.h fa3, fa0, fa1)
        FP(49, h, 0x7c00, OF | NX, 0x7bff, 0x7bff, fmul.h fa3, fa0, fa1)
        FP(50, h, 0x3555, NX, 0x3c00, 0x4200, fdiv.h fa3, fa0, fa1)
        FP(51, h, 0x3c01, NX, 0x3c00, 0x1000, fadd.h fa3, fa0, fa1, rmm)
        FP(52, h, 0x7e00, 0, 0x7e55, 0, fsqrt.h fa3, fa0)
        TO_X(53, h, 3, 0, 0x4200, 0, fcvt.l.h a4, fa0)
        /* boxes: an f32 that is not one is the canonical NaN */
        FP(54, w, 0x7fc00000, 0, 0, 0, li a2, 0x3f800000; fmv.d.x fa2, a2; fadd.s fa3, fa2, fa1)
        FP(55, d, 0xffffffff3f800000, 0, 0, 0, li a2, 0x3f800000; fmv.w.x fa3, a2)
        FP(56, d, 0xffffffffffff3c00, 0, 0, 0, li a2, 0x3c00; fmv.h.x fa3, a2)
        /* dynamic rounding, and flags that accumulate */
        CASE(57, a4, 3, fsrm x0, x0; li a2, 3; fsrm a2; frrm a4)
        FP(58, w, 0x3f800001, NX, 0x3f800000, 0x33800000, fadd.s fa3, fa0, fa1)
        CASE(59, a4, 0x60, frcsr a4)
        fsrm zero
        CASE(60, a4, NX | DZ, fsflags zero; li a0, 0x3f800000;
                fmv.w.x fa0, a0; li a1, 0x33800000; fmv.w.x fa1, a1;
                fadd.s fa3, fa0, fa1; fmv.w.x fa1, zero;
                fdiv.s fa3, fa0, fa1; frflags a4)
        CASE(61, a4, NX | DZ, fsflagsi a4, NV)
        CASE(62, a4, NV, frflags a4)
        /* loads and stores keep every bit */
        CASE(63, a4, 0xffffffff7f812345, la a1, cells; flw fa0, 0(a1);
                fsd fa0, 8(a1); ld a4, 8(a1))
        CASE(64, a4, 0x7ff0000000abcdef, fld fa0, 16(a1); fsd fa0, 8(a1);
                ld a4, 8(a1))
        CASE(65, a4, 0xffffffffabcdabcd, fld fa0, 24(a1); fsw fa0, 8(a1);
                lw a4, 8(a1))
        CASE(66, a4, 0xffffffffffffabcd, flh fa0, 24(a1); fsd fa0, 8(a1);
                ld a4, 8(a1))
        CASE(67, a4, 1 << 31, li a2, 0xffffffff80000000; fmv.w.x fa0, a2;
                fmv.x.w a4, fa0; slli a4, a4, 32; srli a4, a4, 32)
        END
        .data
        .balign 8
cells:  .word 0x7f812345, 0
        .dword 0
        .dword 0x7ff0000000abcdef
        .dword 0x00000000abcdabcd
