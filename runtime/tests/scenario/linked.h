/* SPDX-License-Identifier: MIT */
/* What linked.maca uses of linked-parts.maca. */
#ifndef MC_TESTS_SCENARIO_LINKED_H
#define MC_TESTS_SCENARIO_LINKED_H

#include <mc_runtime.h>

enum class Operation { Double, PlusOne };

typedef float (*Function)(float);

extern __device__ Function table[2];
extern __constant__ float shared_offsets[4];

extern texture<float> shared_numbers;

__device__ float apply(Operation which, float x);
__global__ void other_kernel(float *data);

class Shape {
public:
    __device__ virtual ~Shape() {}
    __device__ virtual float area() const = 0;
};

__device__ Shape *make_shape(int kind, float size);
__device__ void destroy_shape(Shape *shape);

void *address_of_offsets();
mcError_t add_offsets(float *data, int n);
mcError_t bind_numbers(const float *data, int n);
mcError_t fetch_numbers(const float *from, float *to, int n);

#endif
