// SPDX-License-Identifier: MIT
// Conway's game on a torus, in bytes.
#include "program.h"

__global__ void generation(const unsigned char *in, unsigned char *out,
                           int size)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y, around = 0;

    if (x >= size || y >= size) {
        return;
    }
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            if (dx || dy) {
                around += in[(y + dy + size) % size * size +
                             (x + dx + size) % size];
            }
        }
    }
    out[y * size + x] = around == 3 || (around == 2 && in[y * size + x]);
}

int main()
{
    const int size = 40, steps = 4 * size;
    std::vector<unsigned char> glider(size * size);

    /* After 4 generations it is one further, diagonally. */
    for (int at : {1, size + 2, 2 * size, 2 * size + 1, 2 * size + 2}) {
        glider[at] = 1;
    }
    unsigned char *a = device_copy(glider);
    unsigned char *b = device_new<unsigned char>(size * size);
    dim3 grid((size + 15) / 16, (size + 7) / 8), block(16, 8);
    for (int s = 0; s < steps; s++) {
        generation<<<grid, block>>>(a, b, size);
        std::swap(a, b);
        if (s == 3) {
            std::vector<unsigned char> now = host_copy(a, size * size);

            REQUIRE(now != glider);
            for (int i = 0; i < size * size; i++) {
                int from = (i / size + size - 1) % size * size +
                           (i % size + size - 1) % size;
                REQUIRE(now[i] == glider[from]);
            }
        }
    }
    LAUNCHED();
    REQUIRE(host_copy(a, size * size) == glider); /* once round */
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return passed();
}
