// SPDX-License-Identifier: MIT
// Objects of the device with virtual functions; new and delete.
#include "program.h"

struct Shape {
    __device__ virtual ~Shape() {}
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const { return 0; }
};

struct Circle : Shape {
    float r;
    __device__ explicit Circle(float r) : r(r) {}
    __device__ float area() const override { return 3 * r * r; }
};

struct Box : Shape {
    float w, h;
    __device__ Box(float w, float h) : w(w), h(h) {}
    __device__ float area() const override { return w * h; }
    __device__ int corners() const override { return 4; }
};

struct Square final : Box {
    __device__ explicit Square(float w) : Box(w, w) {}
    __device__ float area() const override { return Box::area() + 1000; }
};

__global__ void create(Shape **shapes)
{
    int i = threadIdx.x;

    switch (i % 3) {
    case 0:
        shapes[i] = new Circle(i);
        break;
    case 1:
        shapes[i] = new Box(i, 2);
        break;
    default:
        shapes[i] = new Square(i);
    }
}

__global__ void measure(Shape **shapes, float *out)
{
    out[threadIdx.x] = shapes[threadIdx.x]->area() +
                       0.25f * shapes[threadIdx.x]->corners();
}

__global__ void destroy(Shape **shapes)
{
    delete shapes[threadIdx.x];
}

int main()
{
    const int n = 48;
    Shape **shapes = device_new<Shape *>(n);
    float *out = device_new<float>(n);

    create<<<1, n>>>(shapes);
    measure<<<1, n>>>(shapes, out);
    destroy<<<1, n>>>(shapes);
    LAUNCHED();
    std::vector<float> got = host_copy(out, n);
    for (int i = 0; i < n; i++) {
        REQUIRE(got[i] == (i % 3 == 0   ? 3.0f * i * i
                           : i % 3 == 1 ? 2.0f * i + 1
                                        : 1.0f * i * i + 1001));
    }
    CHECK(cudaFree(shapes));
    CHECK(cudaFree(out));
    return passed();
}
