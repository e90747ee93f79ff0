/* SPDX-License-Identifier: MIT */
#include "kernels.h"

__device__ int helper(int x)
{
    return x * x;
}
