/* SPDX-License-Identifier: MIT */
/* Matrix products of warps of 32 threads (nvcuda::wmma): every shape and type,
 * blocks of one warp, warps that do different things, a tiled product. */
#include "program.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

template <class T> double wide(T v) { return (double)(float)v; }
template <> double wide(double v) { return v; }

/* d = a * b + c, and twice that where more is set. */
template <int M, int N, int K, class T, class E, class S, class LayoutA,
          class LayoutB>
__global__ void multiply(const E *a, const E *b, const S *c, S *d, bool more)
{
    wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, S> fc;

    wmma::load_matrix_sync(fa, a, 40);
    wmma::load_matrix_sync(fb, b, 40);
    wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; more && i < fc.num_elements; i++) {
        fc.x[i] = fc.x[i] + fc.x[i];
    }
    wmma::store_matrix_sync(d, fc, M, wmma::mem_col_major);
}

template <class E> E small(int i) { return E((float)(i % 7 - 3)); }
template <> unsigned char small(int i) { return (unsigned char)(i % 251); }
template <> signed char small(int i) { return (signed char)(i % 251 - 125); }

template <int M, int N, int K, class T, class E, class S, class LayoutA,
          class LayoutB>
void check()
{
    const bool rows_a = std::is_same<LayoutA, wmma::row_major>::value;
    const bool rows_b = std::is_same<LayoutB, wmma::row_major>::value;
    std::vector<E> a(40 * 40), b(40 * 40);
    std::vector<S> c(M * N), d(M * N);

    for (int i = 0; i < 1600; i++) {
        a[i] = small<E>(i * 5 + i / 11);
        b[i] = small<E>(i * 3 + i / 13);
    }
    for (int i = 0; i < M * N; i++) {
        c[i] = S((float)(i % 9 - 4));
    }
    E *device_a = device_copy(a), *device_b = device_copy(b);
    S *device_c = device_copy(c), *device_d = device_copy(d);
    for (int more = 0; more < 2; more++) {
        multiply<M, N, K, T, E, S, LayoutA, LayoutB>
            <<<1, 32>>>(device_a, device_b, device_c, device_d, more);
        LAUNCHED();
        CHECK(cudaMemcpy(d.data(), device_d, M * N * sizeof(S),
                         cudaMemcpyDeviceToHost));
        for (int i = 0; i < M * N; i++) {
            int row = i / N, column = i % N;
            double sum = wide(c[i]);

            for (int k = 0; k < K; k++) {
                sum += wide(a[rows_a ? row * 40 + k : k * 40 + row]) *
                       wide(b[rows_b ? k * 40 + column : column * 40 + k]);
            }
            REQUIRE(wide(d[column * M + row]) == sum * (1 + more));
        }
    }
    CHECK(cudaFree(device_a));
    CHECK(cudaFree(device_b));
    CHECK(cudaFree(device_c));
    CHECK(cudaFree(device_d));
}

template <int M, int N, int K, class T, class E, class S> void layouts()
{
    check<M, N, K, T, E, S, wmma::row_major, wmma::row_major>();
    check<M, N, K, T, E, S, wmma::row_major, wmma::col_major>();
    check<M, N, K, T, E, S, wmma::col_major, wmma::row_major>();
}

template <class E, class S> void shapes()
{
    layouts<16, 16, 16, E, E, S>();
    layouts<32, 8, 16, E, E, S>();
    layouts<8, 32, 16, E, E, S>();
}

/* Each warp has a tile of 16 x 16 of the product of n x n matrices. */
__global__ void tiled(const half *a, const half *b, float *c, int n)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    int row = warp / (n / 16) * 16, column = warp % (n / 16) * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;

    if (row >= n || warp % 5 == 4) { /* these are left out */
        return;
    }
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(fa, a + row * n + k, n);
        wmma::load_matrix_sync(fb, b + k * n + column, n);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

void check_tiled()
{
    const int n = 80, warps = n / 16 * (n / 16);
    std::vector<half> a(n * n), b(n * n);
    std::vector<float> c(n * n, -1.0f);

    for (int i = 0; i < n * n; i++) {
        a[i] = small<half>(i * 3);
        b[i] = small<half>(i * 5 + i / 7);
    }
    half *device_a = device_copy(a), *device_b = device_copy(b);
    float *device_c = device_copy(c);
    tiled<<<(warps + 3) / 4, 128>>>(device_a, device_b, device_c, n);
    LAUNCHED();
    CHECK(cudaMemcpy(c.data(), device_c, n * n * sizeof(float),
                     cudaMemcpyDeviceToHost));
    for (int i = 0; i < n * n; i++) {
        int row = i / n, column = i % n;
        float sum = 0;

        for (int k = 0; k < n; k++) {
            sum += (float)a[row * n + k] * (float)b[k * n + column];
        }
        bool left_out = (row / 16 * (n / 16) + column / 16) % 5 == 4;
        REQUIRE(c[i] == (left_out ? -1.0f : sum));
    }
}

__global__ void round_tf32(float *v)
{
    v[threadIdx.x] = wmma::__float_to_tf32(v[threadIdx.x]);
}

void check_tf32()
{
    std::vector<float> v = {1.0f + 0x1p-11f, 1.0f + 0x1p-12f, -1.0f - 0x1p-11f,
                            INFINITY, 0.0f, 3.0f};
    float *device = device_copy(v);

    round_tf32<<<1, 6>>>(device);
    LAUNCHED();
    CHECK(cudaMemcpy(v.data(), device, 6 * sizeof(float),
                     cudaMemcpyDeviceToHost));
    REQUIRE(v[0] == 1.0f + 0x1p-10f && v[1] == 1 && v[2] == -1.0f - 0x1p-10f);
    REQUIRE(v[3] == INFINITY && v[4] == 0 && v[5] == 3);
}

int main()
{
    shapes<half, float>();
    shapes<half, half>();
    shapes<__nv_bfloat16, float>();
    shapes<signed char, int>();
    shapes<unsigned char, int>();
    layouts<16, 16, 8, wmma::precision::tf32, float, float>();
    layouts<8, 8, 4, double, double, double>();
    check_tiled();
    check_tf32();
    return passed();
}
