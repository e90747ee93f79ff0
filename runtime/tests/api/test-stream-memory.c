/* SPDX-License-Identifier: MIT */
/* Words in memory, one and many at a time. */
#include "env.h"

typedef mcStreamBatchMemOpParams Op;

static Op wait32(void *address, uint32_t value, unsigned flags)
{
    Op op = {.waitValue = {MC_STREAM_MEM_OP_WAIT_VALUE_32, address,
                           {.value = value}, flags, NULL}};

    return op;
}

static Op write32(void *address, uint32_t value)
{
    Op op = {.writeValue = {MC_STREAM_MEM_OP_WRITE_VALUE_32, address,
                            {.value = value}, 0, NULL}};

    return op;
}

static Op wait64(void *address, uint64_t value, unsigned flags)
{
    Op op = {.waitValue = {MC_STREAM_MEM_OP_WAIT_VALUE_64, address,
                           {.value64 = value}, flags, NULL}};

    return op;
}

static Op write64(void *address, uint64_t value)
{
    Op op = {.writeValue = {MC_STREAM_MEM_OP_WRITE_VALUE_64, address,
                            {.value64 = value}, 0, NULL}};

    return op;
}

static Op plain(int operation)
{
    Op op = {.operation = (mcStreamBatchMemOpType)operation};

    return op;
}

/* Flags that ask for more than is needed, or for less. */
static void test_flags(void)
{
    uint32_t *h = env_malloc_host(64);
    mcStream_t s;
    int value;

    memset(h, 0, 64);
    ok(mcStreamCreate(&s));
    ok(mcDeviceGetAttribute(&value, mcDevAttrCanFlushRemoteWrites, 0));
    g_assert_cmpint(value, ==, 1);
    ok(mcStreamWriteValue32(s, h, 5,
                            MC_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
    ok(mcStreamWaitValue32(s, h, 4, MC_STREAM_WAIT_VALUE_GEQ |
                           MC_STREAM_WAIT_VALUE_FLUSH));
    ok(mcStreamWriteValue64(s, h + 2, 1,
                            MC_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
    ok(mcStreamWaitValue64(s, h + 2, ~1ull, MC_STREAM_WAIT_VALUE_NOR |
                           MC_STREAM_WAIT_VALUE_FLUSH));
    while (__atomic_load_n(h + 2, __ATOMIC_ACQUIRE) != 1) {
        g_thread_yield();
    }
    fails(mcErrorNotReady, mcStreamQuery(s)); /* both lack no bit */
    __atomic_store_n(h + 2, 0, __ATOMIC_RELEASE);
    ok(mcStreamSynchronize(s));
    g_assert_cmpuint(h[0], ==, 5);
    fails(mcErrorInvalidValue, mcStreamWriteValue32(s, h, 5, 2));
    fails(mcErrorInvalidValue, mcStreamWriteValue64(s, h, 5, 3));
    fails(mcErrorInvalidValue, mcStreamWaitValue32(s, h, 5, 1u << 31));
    fails(mcErrorInvalidValue, mcStreamWaitValue64(s, h, 5, 4));
    ok(mcStreamDestroy(s));
    ok(mcFreeHost(h));
}

static void test_batch(void)
{
    uint32_t *h = env_malloc_host(256), out[2];
    uint32_t *d = env_malloc(64);
    mcStream_t s;

    memset(h, 0, 256);
    ok(mcStreamCreate(&s));
    ok(mcMemset(d, 0, 64));
    ok(mcDeviceSynchronize());
    Op ops[] = {
        wait32(h, 1, MC_STREAM_WAIT_VALUE_GEQ),
        plain(MC_STREAM_MEM_OP_FLUSH_REMOTE_WRITES),
        write32(h + 1, 7),
        wait32(h + 1, 7, MC_STREAM_WAIT_VALUE_EQ),
        write64(h + 2, 1ull << 40),
        wait64(h + 2, 3ull << 40, MC_STREAM_WAIT_VALUE_AND),
        plain(MC_STREAM_MEM_OP_BARRIER),
        write32(d + 1, 9),
    };
    ok(mcStreamBatchMemOp(s, G_N_ELEMENTS(ops), ops, 0));
    memset(ops, 0xff, sizeof(ops)); /* they were read */
    fails(mcErrorNotReady, mcStreamQuery(s));
    g_assert_cmpuint(h[1], ==, 0);
    __atomic_store_n(h, 1, __ATOMIC_RELEASE);
    ok(mcStreamSynchronize(s));
    g_assert_cmpuint(h[1], ==, 7);
    g_assert_cmpuint(h[3], ==, 1 << 8);
    ok(mcMemcpy(out, d, 8, mcMemcpyDeviceToHost));
    g_assert_cmpuint(out[0], ==, 0);
    g_assert_cmpuint(out[1], ==, 9);
    ok(mcStreamBatchMemOp(s, 0, NULL, 0));

    /* The most there may be, each after the one before. */
    Op many[257];
    for (unsigned i = 0; i < 256; i++) {
        many[i] = write32(h + 4, i);
    }
    ok(mcStreamBatchMemOp(s, 256, many, 0));
    ok(mcStreamSynchronize(s));
    g_assert_cmpuint(h[4], ==, 255);
    many[256] = many[0];
    fails(mcErrorInvalidValue, mcStreamBatchMemOp(s, 257, many, 0));
    ok(mcStreamDestroy(s));
    ok(mcFreeHost(h));
    ok(mcFree(d));
}

/* One that is wrong: none is done. */
static void refused(mcStream_t s, uint32_t *h, Op bad)
{
    Op ops[] = {write32(h, 1), bad, write32(h, 2)};

    h[0] = 0;
    fails(mcErrorInvalidValue, mcStreamBatchMemOp(s, 3, ops, 0));
    ok(mcStreamSynchronize(s));
    g_assert_cmpuint(h[0], ==, 0);
}

static void test_errors(void)
{
    uint32_t *h = env_malloc_host(64), pageable = 0;
    mcStream_t s;

    ok(mcStreamCreate(&s));
    refused(s, h, plain(0));
    refused(s, h, plain(7));
    refused(s, h, write32(NULL, 1));
    refused(s, h, write32((char *)h + 2, 1));
    refused(s, h, write64(h + 1, 1));
    refused(s, h, write32(&pageable, 1));
    refused(s, h, wait32(&pageable, 1, 0));
    refused(s, h, wait32(h, 1, 4));
    refused(s, h, wait64(h, 1, 1u << 29));
    Op op = write32(h, 1);
    op.writeValue.flags = 2;
    refused(s, h, op);
    op = plain(MC_STREAM_MEM_OP_FLUSH_REMOTE_WRITES);
    op.flushRemoteWrites.flags = 1;
    refused(s, h, op);
    op = plain(MC_STREAM_MEM_OP_BARRIER);
    op.memoryBarrier.flags = 2;
    refused(s, h, op);
    op = write32(h, 1);
    fails(mcErrorInvalidValue, mcStreamBatchMemOp(s, 1, &op, 1));
    fails(mcErrorInvalidValue, mcStreamBatchMemOp(s, 1, NULL, 0));
    fails(mcErrorInvalidResourceHandle,
          mcStreamBatchMemOp((mcStream_t)&op, 1, &op, 0));
    ok(mcStreamDestroy(s));
    ok(mcFreeHost(h));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/stream-memory/flags", test_flags);
    g_test_add_func("/stream-memory/batch", test_batch);
    g_test_add_func("/stream-memory/errors", test_errors);
    return g_test_run();
}
