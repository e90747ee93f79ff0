// SPDX-License-Identifier: MIT
// Intrinsics on bits, bytes and wide products.
#include "program.h"

__global__ void intrinsics(unsigned x, unsigned y, long long *out)
{
    unsigned long long wide = (unsigned long long)x << 32 | y;
    int i = 0;

    out[i++] = __popc(x);
    out[i++] = __popcll(wide);
    out[i++] = __clz(x);
    out[i++] = __clzll(wide >> 5);
    out[i++] = __ffs(x);
    out[i++] = __ffs(0);
    out[i++] = __ffsll(1ll << 40);
    out[i++] = __brev(x);
    out[i++] = __byte_perm(x, y, 0x6143);
    out[i++] = __funnelshift_l(x, y, 8);
    out[i++] = __funnelshift_r(x, y, 12);
    out[i++] = __mul24(0x1234567, 3);
    out[i++] = __umul24(0xff000002, 5);
    out[i++] = __mulhi((int)x, (int)y);
    out[i++] = __umulhi(x, y);
    out[i++] = __mul64hi((long long)wide, 1ll << 40);
    out[i++] = __sad(-5, 10, 100);
    out[i++] = __usad(3, 10, 1);
    out[i++] = __hadd(-3, 6);
    out[i++] = __rhadd(-3, 6);
    out[i++] = min((int)x, -2) + max(3u, y);
    out[i++] = abs(-7) + llabs(-70ll);
    out[i++] = __float2int_rd(-1.5f) * 100 + __float2int_ru(1.2f) * 10 +
               __float2int_rz(-3.9f);
    out[i++] = __float_as_int(1.0f) + __double2ll_rn(2.5);
    out[i++] = (long long)(__int_as_float(0x40490fdb) * 1e6f);
    out[i++] = __dp4a(0x01020304, 0x05060708, 10);
}

int main()
{
    const unsigned x = 0x90abcdef, y = 0x12345678;
    const unsigned long long wide = (unsigned long long)x << 32 | y;
    const long long want[] = {
        __builtin_popcount(x),
        __builtin_popcountll(wide),
        0,
        5,
        1,
        0,
        41,
        0xf7b3d509,
        0x34cd7890,
        0x34567890,
        0x67890abc,
        0x69d035,
        10,
        (long long)(int)x * (int)y >> 32,
        (long long)((unsigned long long)x * y >> 32),
        (long long)wide >> 24,
        115,
        8,
        1,
        2,
        (long long)(unsigned)((int)x + (unsigned)y),
        77,
        -200 + 20 - 3,
        0x3f800000 + 2,
        3141592,
        10 + 5 + 12 + 21 + 32,
    };
    const int n = sizeof(want) / sizeof(want[0]);
    long long *out = device_new<long long>(n);

    intrinsics<<<1, 1>>>(x, y, out);
    LAUNCHED();
    std::vector<long long> got = host_copy(out, n);
    for (int i = 0; i < n; i++) {
        if (got[i] != want[i]) {
            fprintf(stderr, "%d: %#llx, expected %#llx\n", i, got[i], want[i]);
            return 1;
        }
    }
    CHECK(cudaFree(out));
    return passed();
}
