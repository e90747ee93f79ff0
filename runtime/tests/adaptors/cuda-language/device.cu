/* SPDX-License-Identifier: MIT */
__device__ int squared(int x)
{
    return x * x;
}
