/* SPDX-License-Identifier: MIT */
/* Inline PTX in a header of a program. */
__device__ inline unsigned from_header(unsigned v)
{
    unsigned r;

    __asm__("{ .reg .u32 t<2>;\n\t"
            "mul.lo.u32 t0, %1, 8;\n\t"
            "mov.b32 t1, %1; // once too often\n\t"
            "sub.u32 %[out], t0, t1; }"
            : [out] "=r"(r)
            : "r"(v));
    return r;
}
