/* SPDX-License-Identifier: MIT */
#include "env.h"

static const mcStreamAttrID all[] = {
    mcStreamAttributeAccessPolicyWindow,
    mcStreamAttributeSynchronizationPolicy,
    mcStreamAttributePriority,
};

static mcSynchronizationPolicy policy(mcStream_t s)
{
    mcStreamAttrValue v;

    memset(&v, 0xff, sizeof(v));
    ok(mcStreamGetAttribute(s, mcStreamAttributeSynchronizationPolicy, &v));
    return v.syncPolicy;
}

/* Each way to wait ends when the work does. */
static void test_policy(void)
{
    mcStream_t s, streams[3];
    uint64_t *gate = env_malloc_host(8);
    mcStreamAttrValue v;

    ok(mcStreamCreateWithFlags(&s, mcStreamNonBlocking));
    streams[0] = s;
    streams[1] = NULL;
    streams[2] = mcStreamPerThread;
    for (unsigned i = 0; i < 3; i++) {
        g_assert_cmpint(policy(streams[i]), ==, mcSyncPolicyAuto);
        for (int p = mcSyncPolicyBlockingSync; p >= mcSyncPolicyAuto; p--) {
            v.syncPolicy = (mcSynchronizationPolicy)p;
            ok(mcStreamSetAttribute(streams[i],
                                    mcStreamAttributeSynchronizationPolicy,
                                    &v));
            g_assert_cmpint(policy(streams[i]), ==, p);
            *gate = 0;
            for (unsigned j = 0; j < 20; j++) {
                ok(mcStreamWriteValue64(streams[i], gate, j, 0));
            }
            ok(mcStreamSynchronize(streams[i]));
            g_assert_cmpuint(*gate, ==, 19);
        }
    }
    v.syncPolicy = (mcSynchronizationPolicy)0;
    fails(mcErrorInvalidValue,
          mcStreamSetAttribute(s, mcStreamAttributeSynchronizationPolicy, &v));
    v.syncPolicy = (mcSynchronizationPolicy)5;
    fails(mcErrorInvalidValue,
          mcStreamSetAttribute(s, mcStreamAttributeSynchronizationPolicy, &v));
    g_assert_cmpint(policy(s), ==, mcSyncPolicyAuto);
    ok(mcStreamDestroy(s));
    ok(mcFreeHost(gate));
}

/* A window is not longer than the device says. */
static void test_window(void)
{
    mcStreamAttrValue v, out;
    mcStream_t s;
    int most;

    ok(mcStreamCreate(&s));
    ok(mcDeviceGetAttribute(&most, mcDevAttrMaxAccessPolicyWindowSize, 0));
    memset(&v, 0, sizeof(v));
    v.accessPolicyWindow = (mcAccessPolicyWindow){
        .base_ptr = &v,
        .num_bytes = most,
        .hitRatio = 0.5f,
        .hitProp = mcAccessPropertyPersisting,
        .missProp = mcAccessPropertyStreaming,
    };
    const mcStreamAttrValue good = v;
#define SET() mcStreamSetAttribute(s, mcStreamAttributeAccessPolicyWindow, &v)
    ok(SET());
    ok(mcStreamGetAttribute(s, mcStreamAttributeAccessPolicyWindow, &out));
    g_assert_true(out.accessPolicyWindow.base_ptr == &v);
    g_assert_cmpuint(out.accessPolicyWindow.num_bytes, ==, most);
    g_assert_cmpfloat(out.accessPolicyWindow.hitRatio, ==, 0.5f);
    g_assert_cmpint(out.accessPolicyWindow.missProp, ==,
                    mcAccessPropertyStreaming);
    v.accessPolicyWindow.num_bytes = (size_t)most + 1;
    fails(mcErrorInvalidValue, SET());
    v = good;
    v.accessPolicyWindow.hitRatio = 1.5f;
    fails(mcErrorInvalidValue, SET());
    v.accessPolicyWindow.hitRatio = -0.1f;
    fails(mcErrorInvalidValue, SET());
    v.accessPolicyWindow.hitRatio = __builtin_nanf("");
    fails(mcErrorInvalidValue, SET());
    v = good;
    v.accessPolicyWindow.hitProp = (mcAccessProperty)3;
    fails(mcErrorInvalidValue, SET());
    v = good;
    v.accessPolicyWindow.missProp = mcAccessPropertyPersisting;
    fails(mcErrorInvalidValue, SET());
#undef SET
    ok(mcStreamGetAttribute(s, mcStreamAttributeAccessPolicyWindow, &out));
    g_assert_cmpfloat(out.accessPolicyWindow.hitRatio, ==, 0.5f);
    ok(mcStreamDestroy(s));
}

static void test_priority(void)
{
    int least, greatest;
    mcStreamAttrValue v;
    mcStream_t s;

    ok(mcDeviceGetStreamPriorityRange(&least, &greatest));
    ok(mcStreamCreateWithPriority(&s, 0, greatest));
    ok(mcStreamGetAttribute(s, mcStreamAttributePriority, &v));
    g_assert_cmpint(v.priority, ==, greatest);
    ok(mcStreamSetAttribute(s, mcStreamAttributePriority, &v));
    v.priority = least + 1;
    fails(mcErrorNotSupported,
          mcStreamSetAttribute(s, mcStreamAttributePriority, &v));
    ok(mcStreamDestroy(s));
}

static void test_copy(void)
{
    mcStreamAttrValue v, out;
    mcStream_t from, to;

    ok(mcStreamCreate(&from));
    ok(mcStreamCreate(&to));
    memset(&v, 0, sizeof(v));
    v.syncPolicy = mcSyncPolicyYield;
    ok(mcStreamSetAttribute(from, mcStreamAttributeSynchronizationPolicy,
                            &v));
    memset(&v, 0, sizeof(v));
    v.accessPolicyWindow.hitRatio = 0.25f;
    ok(mcStreamSetAttribute(from, mcStreamAttributeAccessPolicyWindow, &v));
    ok(mcStreamCopyAttributes(to, from));
    g_assert_cmpint(policy(to), ==, mcSyncPolicyYield);
    ok(mcStreamGetAttribute(to, mcStreamAttributeAccessPolicyWindow, &out));
    g_assert_cmpfloat(out.accessPolicyWindow.hitRatio, ==, 0.25f);
    ok(mcStreamCopyAttributes(to, to));
    ok(mcStreamCopyAttributes(NULL, to));
    g_assert_cmpint(policy(mcStreamLegacy), ==, mcSyncPolicyYield);
    ok(mcStreamDestroy(from));
    fails(mcErrorInvalidResourceHandle, mcStreamCopyAttributes(to, from));
    fails(mcErrorInvalidResourceHandle, mcStreamCopyAttributes(from, to));
    env_two_devices();
    ok(mcSetDevice(1));
    ok(mcStreamCreate(&from));
    fails(mcErrorNotSupported, mcStreamCopyAttributes(to, from));
    ok(mcStreamDestroy(from));
    ok(mcSetDevice(0));
    ok(mcStreamDestroy(to));
}

static void test_errors(void)
{
    mcStreamAttrValue v;
    mcStream_t s;

    ok(mcStreamCreate(&s));
    memset(&v, 0, sizeof(v));
    for (int i = -1; i < 12; i++) {
        bool known = false;

        for (unsigned j = 0; j < G_N_ELEMENTS(all); j++) {
            known |= all[j] == (mcStreamAttrID)i;
        }
        if (!known) {
            fails(mcErrorInvalidValue,
                  mcStreamGetAttribute(s, (mcStreamAttrID)i, &v));
            fails(mcErrorInvalidValue,
                  mcStreamSetAttribute(s, (mcStreamAttrID)i, &v));
        }
    }
    for (unsigned j = 0; j < G_N_ELEMENTS(all); j++) {
        fails(mcErrorInvalidValue, mcStreamGetAttribute(s, all[j], NULL));
        fails(mcErrorInvalidValue, mcStreamSetAttribute(s, all[j], NULL));
        fails(mcErrorInvalidResourceHandle,
              mcStreamGetAttribute((mcStream_t)&s, all[j], &v));
        fails(mcErrorInvalidResourceHandle,
              mcStreamSetAttribute((mcStream_t)&s, all[j], &v));
    }
    ok(mcStreamDestroy(s));
}

static void test_id(void)
{
    unsigned long long ids[4], again;
    mcStream_t s[2];

    ok(mcStreamCreate(&s[0]));
    ok(mcStreamGetId(s[0], &ids[0]));
    ok(mcStreamDestroy(s[0]));
    ok(mcStreamCreate(&s[1]));
    ok(mcStreamGetId(s[1], &ids[1]));
    ok(mcStreamGetId(NULL, &ids[2]));
    ok(mcStreamGetId(mcStreamPerThread, &ids[3]));
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned j = 0; j < i; j++) {
            g_assert_cmpuint(ids[i], !=, ids[j]);
        }
    }
    ok(mcStreamGetId(mcStreamLegacy, &again));
    g_assert_cmpuint(again, ==, ids[2]);
    ok(mcStreamGetId(s[1], &again));
    g_assert_cmpuint(again, ==, ids[1]);
    fails(mcErrorInvalidResourceHandle,
          mcStreamGetId((mcStream_t)&again, &again));
    fails(mcErrorInvalidValue, mcStreamGetId(s[1], NULL));
    ok(mcStreamDestroy(s[1]));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/stream-attribute/policy", test_policy);
    g_test_add_func("/stream-attribute/window", test_window);
    g_test_add_func("/stream-attribute/priority", test_priority);
    g_test_add_func("/stream-attribute/copy", test_copy);
    g_test_add_func("/stream-attribute/errors", test_errors);
    g_test_add_func("/stream-attribute/id", test_id);
    return g_test_run();
}
