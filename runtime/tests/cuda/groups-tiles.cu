// SPDX-License-Identifier: MIT
// Cooperative groups: tiles of a block, and what they do together.
#include "program.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <int Size> __global__ void tile_sums(const int *in, int *out)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<Size> tile = cg::tiled_partition<Size>(block);
    int value = in[block.thread_rank()];

    for (int offset = tile.size() / 2; offset > 0; offset /= 2) {
        value += tile.shfl_down(value, offset);
    }
    if (tile.thread_rank() == 0) {
        out[block.thread_rank() / Size] = value;
    }
    block.sync();
    /* The last of each tile adds what its first one wrote. */
    if (tile.thread_rank() == Size - 1) {
        atomicAdd(&out[block.size() / Size],
                  out[tile.meta_group_rank()] * tile.any(value >= 0));
    }
}

template <int Size> static void run(const std::vector<int> &in)
{
    const int tiles = in.size() / Size;
    int *data = device_copy(in), *sums = device_new<int>(tiles + 1), all = 0;

    CHECK(cudaMemset(sums, 0, (tiles + 1) * sizeof(int)));
    tile_sums<Size><<<1, in.size()>>>(data, sums);
    LAUNCHED();
    std::vector<int> out = host_copy(sums, tiles + 1);
    for (int t = 0; t < tiles; t++) {
        int sum = 0;

        for (int i = 0; i < Size; i++) {
            sum += in[t * Size + i];
        }
        REQUIRE(out[t] == sum);
        all += sum;
    }
    REQUIRE(out[tiles] == all);
    CHECK(cudaFree(data));
    CHECK(cudaFree(sums));
}

int main()
{
    std::vector<int> in(256);

    for (int i = 0; i < 256; i++) {
        in[i] = i * i % 91;
    }
    run<4>(in);
    run<8>(in);
    run<16>(in);
    run<32>(in);
    return passed();
}
