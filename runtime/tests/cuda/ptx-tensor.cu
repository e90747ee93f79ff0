// SPDX-License-Identifier: MIT
// Inline PTX of newer programs: halves, copies to shared memory, matrices of a
// warp; and jumps, comparisons, votes as older ones have them.
#include "program.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstring>

__device__ unsigned of_shared(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

// ---- D = A * B + C, of 16 by 16, 16 by 8 and 16 by 8 numbers ----

/* Tiles come by copies that are waited for, a and b by ldmatrix. */
__global__ void product(const __half *a, const __half *b, float *d)
{
    __shared__ alignas(16) __half tile_a[16][16];
    __shared__ alignas(16) __half tile_b[16][8];
    unsigned t = threadIdx.x, x[4], y[2];
    float z[4] = {1, 2, 3, 4};

    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n"
                 ::"r"(of_shared(&tile_a[t / 2][t % 2 * 8])), "l"(a + 8 * t));
    if (t < 16) {
        asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;\n"
                     ::"r"(of_shared(tile_b[t])), "l"(b + 8 * t), "n"(16),
                     "r"(16));
    }
    asm volatile("cp.async.commit_group;\n" ::);
    asm volatile("cp.async.wait_group %0;\n" ::"n"(0));
    __syncthreads();
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
        : "r"(of_shared(&tile_a[t % 16][t / 16 * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(y[0]), "=r"(y[1])
                 : "r"(of_shared(tile_b[t % 16])));
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    for (int i = 0; i < 4; i++) {
        d[(t / 4 + i / 2 * 8) * 8 + t % 4 * 2 + i % 2] = z[i];
    }
}

/* Factors as mma wants them: a lane's own row and column. */
__global__ void products(int *bytes, float *wide, unsigned *halves)
{
    unsigned t = threadIdx.x, a[4], b[2], h[2] = {0, 0x3c003c00};
    int s[4] = {0, 0, 0, 7};
    float f[4] = {};

    for (unsigned i = 0; i < 4; i++) {
        unsigned row = t / 4 + i % 2 * 8, k = t % 4 * 4 + i / 2 * 16;
        a[i] = 0;
        for (unsigned e = 0; e < 4; e++) {
            a[i] |= (unsigned)(unsigned char)(row - k - e) << 8 * e;
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        b[i] = (t / 4 + 1) * 0x01010101u;
    }
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
        : "=r"(s[0]), "=r"(s[1]), "=r"(s[2]), "=r"(s[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
          "r"(s[0]), "r"(s[1]), "r"(s[2]), "r"(s[3]));
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0,%1,%2,%3}, {%4,%4,%5,%5}, {%6,%6}, {%0,%1,%2,%3};"
        : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])
        : "r"(__float_as_uint(t / 4 + 1.f)), "r"(__float_as_uint(.5f)),
          "r"(__float_as_uint(t / 4 + 2.f)));
    asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 "
        "{%0,%1}, {%2,%2}, {%3}, {%0,%1};"
        : "+r"(h[0]), "+r"(h[1])
        : "r"(0x3c003800u), "r"(0x40004000u)); // (0.5, 1) by (2, 2)
    for (int i = 0; i < 4; i++) {
        bytes[4 * t + i] = s[i];
        wide[4 * t + i] = f[i];
    }
    halves[2 * t] = h[0];
    halves[2 * t + 1] = h[1];
}

static void matrices()
{
    std::vector<__half> a(256), b(128);
    float *d = device_new<float>(128), *wide = device_new<float>(128);
    int *bytes = device_new<int>(128);
    unsigned *halves = device_new<unsigned>(64);

    for (int i = 0; i < 256; i++) {
        a[i] = __float2half(i % 7 - 3);
        b[i / 2] = __float2half(i / 2 % 5 - 1);
    }
    product<<<1, 32>>>(device_copy(a), device_copy(b), d);
    products<<<1, 32>>>(bytes, wide, halves);
    LAUNCHED();
    std::vector<float> got = host_copy(d, 128), f = host_copy(wide, 128);
    for (int i = 0; i < 128; i++) {
        float want = 1 + i % 2 + i / 64 * 2;
        for (int k = 0; k < 16; k++) {
            want += __half2float(a[i / 8 * 16 + k]) *
                    __half2float(b[k * 8 + i % 8]);
        }
        REQUIRE(got[i] == want);
    }
    std::vector<int> s = host_copy(bytes, 128);
    std::vector<unsigned> h = host_copy(halves, 64);
    for (int t = 0; t < 32; t++) {
        for (int i = 0; i < 4; i++) {
            int row = t / 4 + i / 2 * 8, column = t % 4 * 2 + i % 2, sum = 0;
            for (int k = 0; k < 32; k++) {
                sum += (row - k) * (column + 1);
            }
            REQUIRE(s[4 * t + i] == sum + (i == 3 ? 7 : 0));
            REQUIRE(f[4 * t + i] ==
                    4 * (t / 4 + 1.5f) * (column + 2.f));
        }
        REQUIRE(h[2 * t] == 0x4a004a00); // 12
        REQUIRE(h[2 * t + 1] == 0x4a804a80); // 13
    }
}

// ---- halves ----

__device__ unsigned short half_of(float v)
{
    unsigned short h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(v));
    return h;
}

__global__ void halves(float x, float y, unsigned *out)
{
    unsigned a, b, r, n = 0;
    unsigned short h;
    float f;

    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(a) : "f"(y), "f"(x));
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(b) : "f"(y), "f"(x));
    out[n++] = a;
    out[n++] = b;
    asm("{ .reg .f16x2 t; add.f16x2 t, %1, %1; mul.rn.f16x2 %0, t, %1; }"
        : "=r"(r) : "r"(a));
    out[n++] = r;
    asm("fma.rn.bf16x2 %0, %1, %1, %1;" : "=r"(r) : "r"(b));
    out[n++] = r;
    asm("max.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(0x40004000));
    out[n++] = r;
    asm("neg.bf16x2 %0, %1;" : "=r"(r) : "r"(b));
    out[n++] = r;
    asm("sub.f16 %0, %1, %2;" : "=h"(h) : "h"(half_of(y)), "h"(half_of(x)));
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
    out[n++] = __float_as_uint(f);
    asm("ex2.approx.f16x2 %0, %1;" : "=r"(r) : "r"(a));
    out[n++] = r;
    asm("{ .reg .pred p; setp.lt.f16 p, %1, %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(r) : "h"(half_of(-x)), "h"(half_of(x)));
    out[n++] = r;
    asm("cvt.rzi.s32.f16 %0, %1;" : "=r"(r) : "h"(half_of(-2.75f)));
    out[n++] = r;
}

static void pairs()
{
    unsigned *out = device_new<unsigned>(16);
    const float sum = 3 - 1.5f;
    unsigned bits;

    memcpy(&bits, &sum, 4);
    halves<<<1, 1>>>(1.5f, 3, out);
    LAUNCHED();
    const std::vector<unsigned> want = {
        0x42003e00, 0x40403fc0, 0x4c804480, 0x41404070, 0x42004000,
        0xc040bfc0, bits, 0x480041a8, 1, (unsigned)-2,
    };
    std::vector<unsigned> got = host_copy(out, want.size());
    for (size_t i = 0; i < want.size(); i++) {
        // (2 ** 1.5 by way of float)
        REQUIRE(got[i] == want[i]);
    }
}

// ---- the rest ----

__global__ void others(int n, float number, unsigned *out)
{
    __shared__ int words[8];
    unsigned r, t = threadIdx.x, k = 0;

    for (int i = t; i < 8; i += 32) {
        words[i] = -1;
    }
    __syncthreads();
    asm volatile("{\n\t.reg .pred p;\n\t.reg .s32 i;\n\t"
                 "mov.s32 %0, 0;\n\tmov.s32 i, 0;\n"
                 "LOOP_%=:\n\t"
                 "add.s32 %0, %0, i;\n\tadd.s32 i, i, 1;\n\t"
                 "setp.lt.s32 p, i, %1;\n\t@p bra LOOP_%=;\n\t}"
                 : "=&r"(r) : "r"(n));
    out[k++ * 32 + t] = r;
    asm("{ .reg .pred p, q, r; setp.gt.s32 r, %1, 3;\n"
        "setp.lt.and.f32 p|q, %2, 0f40000000, r;\n"
        "selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; }"
        : "=r"(r) : "r"(t), "f"(number));
    out[k++ * 32 + t] = r;
    asm("{ .reg .pred p, q; setp.ne.f32 p, %1, %1; setp.neu.f32 q, %1, %1;\n"
        "selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; }"
        : "=r"(r) : "f"(number / 0 * 0));
    out[k++ * 32 + t] = r;
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 5;\n"
                 "vote.ballot.b32 %0, p; }" : "=r"(r) : "r"(t));
    out[k++ * 32 + t] = r;
    asm volatile("shfl.idx.b32 %0, %1, 3, 31;" : "=r"(r) : "r"(t * 10));
    out[k++ * 32 + t] = r;
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 7;\n"
                 "bar.red.popc.u32 %0, 0, p; }" : "=r"(r) : "r"(t));
    out[k++ * 32 + t] = r;
    asm("{ .reg .pred p, q; isspacep.shared p, %1; isspacep.global q, %2;\n"
        "selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; }"
        : "=r"(r) : "l"(words), "l"(out));
    out[k++ * 32 + t] = r;
    if (t == 0) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16, 6;"
                     ::"r"(of_shared(words + 4)), "l"(out));
        asm volatile("cp.async.wait_all;" ::: "memory");
    }
    __syncthreads();
    out[k++ * 32 + t] = words[t % 8];
}

static void idioms()
{
    unsigned *out = device_new<unsigned>(8 * 32);

    others<<<1, 32>>>(10, 1.5f, out);
    LAUNCHED();
    std::vector<unsigned> got = host_copy(out, 8 * 32);
    const unsigned words[8] = {~0u, ~0u, ~0u, ~0u, 45, 45, 0, 0};
    for (unsigned t = 0; t < 32; t++) {
        REQUIRE(got[t] == 45);
        REQUIRE(got[32 + t] == (t > 3 ? 1 : 0));
        REQUIRE(got[64 + t] == 2);
        REQUIRE(got[96 + t] == 1u << 5);
        REQUIRE(got[128 + t] == 30);
        REQUIRE(got[160 + t] == 7);
        REQUIRE(got[192 + t] == 3);
        REQUIRE(got[224 + t] == words[t % 8]);
    }
}

int main()
{
    matrices();
    pairs();
    idioms();
    return passed();
}
