// SPDX-License-Identifier: MIT
// Four bytes or two halves of a word at once.
#include "program.h"

__global__ void simd(unsigned a, unsigned b, unsigned *out)
{
    int i = 0;

    out[i++] = __vadd4(a, b);
    out[i++] = __vsub4(a, b);
    out[i++] = __vaddus4(a, b);
    out[i++] = __vmaxu4(a, b);
    out[i++] = __vmins4(a, b);
    out[i++] = __vabsdiffu4(a, b);
    out[i++] = __vcmpeq4(a, b);
    out[i++] = __vsetgtu4(a, b);
    out[i++] = __vadd2(a, b);
    out[i++] = __vavgu2(a, b);
    out[i++] = __vmaxs2(a, b);
    out[i++] = __vsadu4(a, b);
}

template <typename F> static unsigned bytes(unsigned a, unsigned b, F f)
{
    unsigned r = 0;

    for (int i = 0; i < 32; i += 8) {
        r |= (f((a >> i) & 255, (b >> i) & 255) & 255u) << i;
    }
    return r;
}

int main()
{
    const unsigned a = 0x80ff7f10, b = 0x01ff9020;
    unsigned *out = device_new<unsigned>(12);

    simd<<<1, 1>>>(a, b, out);
    LAUNCHED();
    std::vector<unsigned> got = host_copy(out, 12);
    REQUIRE(got[0] == bytes(a, b, [](int x, int y) { return x + y; }));
    REQUIRE(got[1] == bytes(a, b, [](int x, int y) { return x - y; }));
    REQUIRE(got[2] == bytes(a, b, [](int x, int y) {
                return x + y > 255 ? 255 : x + y;
            }));
    REQUIRE(got[3] == bytes(a, b, [](int x, int y) { return x > y ? x : y; }));
    REQUIRE(got[4] == bytes(a, b, [](int x, int y) {
                return (signed char)x < (signed char)y ? x : y;
            }));
    REQUIRE(got[5] == bytes(a, b, [](int x, int y) { return abs(x - y); }));
    REQUIRE(got[6] == 0x00ff0000 && got[7] == 0x01000000);
    REQUIRE(got[8] == 0x82fe0f30);
    REQUIRE(got[9] == ((((0x80ffu + 0x01ff + 1) / 2) << 16) |
                       ((0x7f10u + 0x9020 + 1) / 2)));
    REQUIRE(got[10] == 0x01ff7f10);
    REQUIRE(got[11] == 0x7f + 0 + 0x11 + 0x10);
    CHECK(cudaFree(out));
    return passed();
}
