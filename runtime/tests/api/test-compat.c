/* SPDX-License-Identifier: MIT */
/* What programs written for other runtimes rely on. */
#include "env.h"

#define SIZE 4096u

/* Nothing is copied: that nothing lies at the addresses does not matter. */
static void test_zero_bytes(void)
{
    char *d = env_malloc(SIZE), *e = env_malloc(SIZE), h[16];
    char *d_end = d + SIZE, *e_end = e + SIZE, *null = NULL;
    char *pinned = env_malloc_host(SIZE), *none = &h[0];
    /* Nothing follows it. */
    char *large = env_malloc(2 << 20), *large_end = large + (2 << 20);

    const struct {
        void *dst;
        const void *src;
        mcMemcpyKind kind;
    } copies[] = {
        {d_end, e_end, mcMemcpyDeviceToDevice},
        {d, e, mcMemcpyDeviceToDevice},
        {d_end, h, mcMemcpyHostToDevice},
        {h, d_end, mcMemcpyDeviceToHost},
        {h, d_end, mcMemcpyDefault},
        {d_end, pinned + SIZE, mcMemcpyHostToDevice},
        {pinned + SIZE, d_end, mcMemcpyDeviceToHost},
        {null, null, mcMemcpyDeviceToDevice},
        {null, d, mcMemcpyDeviceToDevice},
        {d, null, mcMemcpyDeviceToDevice},
        {null, h, mcMemcpyHostToDevice},
        {h, null, mcMemcpyDeviceToHost},
        {null, null, mcMemcpyHostToHost},
        {null, null, mcMemcpyDefault},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(copies); i++) {
        void *dst = copies[i].dst;
        const void *src = copies[i].src;
        mcMemcpyKind kind = copies[i].kind;

        ok(mcMemcpy(dst, src, 0, kind));
        ok(mcMemcpyAsync(dst, src, 0, kind, NULL));
        ok(mcMemcpyAsync(dst, src, 0, kind, mcStreamPerThread));
        ok(mcMemcpyWithStream(dst, src, 0, kind, NULL));
        ok(mcMemcpy2D(dst, 64, src, 64, 0, 4, kind));
        ok(mcMemcpy2D(dst, 64, src, 64, 64, 0, kind));
        ok(mcMemcpy2DAsync(dst, 64, src, 64, 0, 4, kind, NULL));
    }
    ok(mcMemcpyDtoD(d_end, e_end, 0));
    ok(mcMemcpyHtoD(d_end, h, 0));
    ok(mcMemcpyDtoH(h, d_end, 0));
    ok(mcMemcpyPeer(d_end, 0, e_end, 0, 0));
    ok(mcMemset(d_end, 0, 0));
    ok(mcMemset(NULL, 0, 0));
    ok(mcMemsetAsync(NULL, 0, 0, NULL));
    ok(mcMemsetD32(d_end, 0, 0));
    ok(mcMemset2D(d_end, 64, 0, 0, 4));
    ok(mcMemset2D(d_end, 64, 0, 4, 0));
    ok(mcMemset2D(large_end, 64, 0, 0, 4));
    ok(mcMemset2D(large_end, 64, 0, 4, 0));
    ok(mcMemset(large_end, 0, 0));
    ok(mcMalloc((void **)&none, 0));
    g_assert_null(none);
    ok(mcMemcpy(none, h, 0, mcMemcpyHostToDevice));

    /* What is wrong without looking at memory stays wrong. */
    fails(mcErrorInvalidMemcpyDirection, mcMemcpy(d, h, 0, (mcMemcpyKind)9));
    fails(mcErrorInvalidDevice, mcMemcpyPeer(d, 99, e, 0, 0));
    fails(mcErrorInvalidPitchValue,
          mcMemcpy2D(d, 4, h, 4, 8, 0, mcMemcpyHostToDevice));
    fails(mcErrorInvalidResourceHandle,
          mcMemcpyAsync(d, h, 0, mcMemcpyHostToDevice, (mcStream_t)d));
    /* And one byte is not none. */
    fails(mcErrorInvalidValue,
          mcMemcpy(d_end - 1, e, 2, mcMemcpyDeviceToDevice));
    fails(mcErrorInvalidValue, mcMemcpy(NULL, h, 1, mcMemcpyHostToDevice));
    ok(mcFree(d));
    ok(mcFree(e));
    ok(mcFree(large));
    ok(mcFreeHost(pinned));
}

static void test_old_names(void)
{
    size_t old, value, now;
    mcFuncCache_t cache = mcFuncCachePreferL1;
    uint32_t *p = env_malloc(SIZE);

    ok(env_launch("k_empty", 64, p, NULL));
    ok(mcThreadSynchronize());
    ok(mcDeviceGetLimit(&old, mcLimitStackSize));
    ok(mcThreadSetLimit(mcLimitStackSize, old + 1024));
    ok(mcThreadGetLimit(&value, mcLimitStackSize));
    ok(mcDeviceGetLimit(&now, mcLimitStackSize));
    g_assert_cmpuint(value, ==, old + 1024);
    g_assert_cmpuint(now, ==, value);
    ok(mcThreadSetLimit(mcLimitStackSize, old));
    fails(mcErrorUnsupportedLimit,
          mcThreadGetLimit(&value, mcLimitMaxL2FetchGranularity));
    fails(mcErrorInvalidValue, mcThreadGetLimit(NULL, mcLimitStackSize));
    ok(mcThreadSetCacheConfig(mcFuncCachePreferShared));
    fails(mcErrorInvalidValue, mcThreadSetCacheConfig((mcFuncCache_t)4));
    ok(mcThreadGetCacheConfig(&cache));
    g_assert_cmpint(cache, ==, mcFuncCachePreferNone);
    cache = mcFuncCachePreferL1;
    ok(mcDeviceGetCacheConfig(&cache));
    g_assert_cmpint(cache, ==, mcFuncCachePreferNone);
    fails(mcErrorInvalidValue, mcThreadGetCacheConfig(NULL));
    fails(mcErrorInvalidValue, mcDeviceGetCacheConfig(NULL));
    ok(mcThreadExit());
    env_forget();
    fails(mcErrorInvalidDevicePointer, mcFree(p)); /* it went with it */
}

static void test_host_alloc(void)
{
    unsigned flags;
    void *p;

    ok(mcHostAlloc(&p, SIZE, mcHostAllocPortable | mcHostAllocMapped));
    ok(mcHostGetFlags(&flags, p));
    g_assert_cmpuint(flags, ==, mcMallocHostPortable | mcMallocHostMapped);
    ok(mcMemset(p, 7, SIZE));
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(((uint8_t *)p)[SIZE - 1], ==, 7);
    ok(mcFreeHost(p));
    ok(mcHostMalloc(&p, SIZE, mcMallocHostDefault));
    ok(mcFreeHost(p));
    fails(mcErrorInvalidValue, mcHostAlloc(NULL, SIZE, 0));
    fails(mcErrorInvalidValue, mcHostAlloc(&p, SIZE, 0x100));
    fails(mcErrorInvalidValue, mcHostMalloc(NULL, SIZE, 0));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/compat/zero-bytes", test_zero_bytes);
    g_test_add_func("/compat/old-names", test_old_names);
    g_test_add_func("/compat/host-alloc", test_host_alloc);
    return g_test_run();
}
