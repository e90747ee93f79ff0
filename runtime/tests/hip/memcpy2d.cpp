// SPDX-License-Identifier: MIT
// Rows with a pitch.
#include "program.h"

int main()
{
    const int width = 33, height = 9;
    std::vector<short> in(width * height), out(width * height);
    short *image;
    size_t pitch;

    for (int i = 0; i < width * height; i++) {
        in[i] = i;
    }
    CHECK(hipMallocPitch((void **)&image, &pitch, width * sizeof(short),
                         height));
    REQUIRE(pitch >= width * sizeof(short));
    CHECK(hipMemset2D(image, pitch, 0, pitch, height));
    CHECK(hipMemcpy2D(image, pitch, in.data(), width * sizeof(short),
                      width * sizeof(short), height, hipMemcpyHostToDevice));
    CHECK(hipMemcpy2DAsync(out.data(), width * sizeof(short), image, pitch,
                           width * sizeof(short), height,
                           hipMemcpyDeviceToHost, 0));
    CHECK(hipStreamSynchronize(0));
    REQUIRE(in == out);
    CHECK(hipFree(image));
    return passed();
}
