// SPDX-License-Identifier: MIT
// A kernel template with dynamic shared memory of its type.
#include "program.h"

template <typename T> struct SharedMemory {
    __device__ operator T *()
    {
        extern __shared__ __align__(16) unsigned char bytes[];

        return reinterpret_cast<T *>(bytes);
    }
};

template <typename T> __global__ void rotate(T *data, int by)
{
    T *tile = SharedMemory<T>();
    int i = threadIdx.x;

    tile[i] = data[i];
    __syncthreads();
    data[i] = tile[(i + by) % blockDim.x];
}

template <typename T> static void run(int n, int by)
{
    std::vector<T> in(n);

    for (int i = 0; i < n; i++) {
        in[i] = T(i) / 2;
    }
    T *data = device_copy(in);
    rotate<T><<<1, n, n * sizeof(T)>>>(data, by);
    LAUNCHED();
    std::vector<T> out = host_copy(data, n);
    for (int i = 0; i < n; i++) {
        REQUIRE(out[i] == in[(i + by) % n]);
    }
    CHECK(cudaFree(data));
}

int main()
{
    run<char>(60, 7);
    run<float>(200, 13);
    run<double>(96, 95);
    run<long long>(33, 0);
    return passed();
}
