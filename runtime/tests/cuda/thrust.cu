// SPDX-License-Identifier: MIT
// Thrust as it is packaged: vectors, and the algorithms that programs use most.
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

#include "program.h"

#include <algorithm>
#include <numeric>
#include <vector>

static unsigned state = 1;

static std::vector<int> numbers(int count, int range)
{
    std::vector<int> out(count);

    for (int &n : out) {
        state = state * 1664525 + 1013904223;
        n = (int)(state >> 8) % range;
    }
    return out;
}

template <class T>
static bool same(const thrust::device_vector<T> &device,
                 const std::vector<T> &host)
{
    thrust::host_vector<T> copy = device;

    return copy.size() == host.size() &&
           std::equal(host.begin(), host.end(), copy.begin());
}

struct Odd {
    __host__ __device__ bool operator()(int n) const { return n % 2 != 0; }
};

struct Square {
    __host__ __device__ long operator()(int n) const { return (long)n * n; }
};

static void reductions(const std::vector<int> &host)
{
    thrust::device_vector<int> v(host);
    long squares = 0;

    for (int n : host) {
        squares += (long)n * n;
    }
    REQUIRE(thrust::reduce(v.begin(), v.end()) ==
          std::accumulate(host.begin(), host.end(), 0));
    REQUIRE(thrust::reduce(v.begin(), v.end(), 0, thrust::maximum<int>()) ==
          *std::max_element(host.begin(), host.end()));
    REQUIRE(thrust::transform_reduce(v.begin(), v.end(), Square(), 0l,
                                   thrust::plus<long>()) == squares);
    REQUIRE(thrust::inner_product(v.begin(), v.end(), v.begin(), 0l) == squares);
    REQUIRE(thrust::count_if(v.begin(), v.end(), Odd()) ==
          std::count_if(host.begin(), host.end(), Odd()));
    REQUIRE(thrust::min_element(v.begin(), v.end()) - v.begin() ==
          std::min_element(host.begin(), host.end()) - host.begin());
}

static void scans(const std::vector<int> &host)
{
    thrust::device_vector<int> v(host), out(host.size());
    std::vector<int> right(host.size());

    thrust::inclusive_scan(v.begin(), v.end(), out.begin());
    std::partial_sum(host.begin(), host.end(), right.begin());
    REQUIRE(same(out, right));
    thrust::exclusive_scan(v.begin(), v.end(), out.begin(), 5);
    right.insert(right.begin(), 0);
    right.pop_back();
    for (int &n : right) {
        n += 5;
    }
    REQUIRE(same(out, right));
}

static void sorts(std::vector<int> host)
{
    thrust::device_vector<int> v(host), places(host.size());
    std::vector<int> order(host.size());

    thrust::sequence(places.begin(), places.end());
    std::iota(order.begin(), order.end(), 0);
    thrust::stable_sort_by_key(v.begin(), v.end(), places.begin());
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return host[a] < host[b]; });
    std::sort(host.begin(), host.end());
    REQUIRE(same(v, host));
    REQUIRE(same(places, order));
    // by comparison, where that is not the keys' own order
    thrust::sort(v.begin(), v.end(), thrust::greater<int>());
    std::reverse(host.begin(), host.end());
    REQUIRE(same(v, host));

    thrust::device_vector<float> f(v.begin(), v.end());
    thrust::sort(thrust::device, f.begin(), f.end());
    REQUIRE(f.front() == host.back() && f.back() == host.front());
}

static void selections(std::vector<int> host)
{
    thrust::device_vector<int> v(host), out(host.size());
    std::vector<int> right(host.size());

    out.resize(thrust::copy_if(v.begin(), v.end(), out.begin(), Odd()) -
               out.begin());
    right.resize(std::copy_if(host.begin(), host.end(), right.begin(), Odd()) -
                 right.begin());
    REQUIRE(same(out, right));
    out.assign(v.begin(), v.end());
    out.erase(thrust::remove_if(out.begin(), out.end(), Odd()), out.end());
    right = host;
    right.erase(std::remove_if(right.begin(), right.end(), Odd()), right.end());
    REQUIRE(same(out, right));

    thrust::sort(v.begin(), v.end());
    std::sort(host.begin(), host.end());
    thrust::device_vector<int> keys(v.size()), counts(v.size());
    auto ends = thrust::reduce_by_key(v.begin(), v.end(),
                                      thrust::constant_iterator<int>(1),
                                      keys.begin(), counts.begin());
    size_t groups = ends.first - keys.begin();
    REQUIRE(thrust::reduce(counts.begin(), counts.begin() + groups) ==
          (int)host.size());
    REQUIRE(thrust::lower_bound(v.begin(), v.end(), 50) - v.begin() ==
          std::lower_bound(host.begin(), host.end(), 50) - host.begin());
    v.erase(thrust::unique(v.begin(), v.end()), v.end());
    host.erase(std::unique(host.begin(), host.end()), host.end());
    REQUIRE(same(v, host));
    REQUIRE(groups == host.size());
}

static void transforms(const std::vector<int> &host)
{
    thrust::device_vector<int> x(host), y(host.size(), 7);
    std::vector<int> right(host);
    const int a = 3;

    thrust::transform(x.begin(), x.end(), y.begin(), y.begin(),
                      [=] __device__(int l, int r) { return a * l + r; });
    for (int &n : right) {
        n = 3 * n + 7;
    }
    REQUIRE(same(y, right));
    thrust::device_vector<int> back(host.size());
    thrust::gather(thrust::make_counting_iterator(0),
                   thrust::make_counting_iterator((int)host.size()), y.begin(),
                   back.begin());
    REQUIRE(same(back, right));
    thrust::for_each_n(thrust::make_zip_iterator(
                           thrust::make_tuple(x.begin(), back.begin())),
                       host.size(), [] __device__(thrust::tuple<int &, int &> t) {
                           thrust::get<1>(t) -= thrust::get<0>(t) * 3;
                       });
    REQUIRE(thrust::count(back.begin(), back.end(), 7) == (long)host.size());
    // of memory that the runtime gave
    int *raw;
    CHECK(cudaMalloc((void **)&raw, 100 * sizeof(int)));
    thrust::device_ptr<int> p(raw);
    thrust::fill(p, p + 100, 9);
    REQUIRE(thrust::reduce(p, p + 100) == 900 && p[99] == 9);
    CHECK(cudaFree(raw));
}

int main()
{
    try {
        for (int count : {1, 31, 1000, 70001}) {
            reductions(numbers(count, 100));
            scans(numbers(count, 100));
            sorts(numbers(count, 1000000));
            selections(numbers(count, 200));
            transforms(numbers(count, 1000));
        }
    } catch (const std::exception &e) { // how Thrust tells of errors
        fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return passed();
}
