/* SPDX-License-Identifier: MIT */
/*
 * What a kernel must not be able to do to whoever drives the compute units:
 * keep them, keep other warps from running, use pointers that were taken
 * back, or end a dispatch in two ways. Code is given as words.
 */
#include <pthread.h>
#include <string.h>

#include "simt/internal.h"
#include "simt_host.h"

static uint64_t *words(SimtHost *h, unsigned n)
{
    return (uint64_t *)simt_host_data(h, HOST_DATA_VA) + n;
}

static MxgpuDispatch load(SimtHost *h, const uint32_t *code, size_t size,
                          unsigned grid, unsigned block)
{
    memcpy(simt_host_data(h, HOST_CODE_VA), code, size);
    return simt_host_dispatch(HOST_CODE_VA, grid, block);
}

static void start(SimtHost *h, const MxgpuDispatch *d)
{
    h->done = 0;
    g_assert_cmpint(mxgpu_simt_start(h->simt, 0, d), ==, MXGPU_FAULT_NONE);
}

/* Threads wait for their neighbours in later warps, and then end. */
static void test_small_steps(void)
{
    static const uint32_t code[] = {
        0xcc0022f3, /* csrr t0, tid.x */
        0x00329313, /* slli t1, t0, 3 */
        0x00a30333, /* add t1, t1, a0 */
        0xcc3023f3, /* csrr t2, ntid.x */
        0x00128e13, /* addi t3, t0, 1 */
        0x007e0663, /* beq t3, t2, last */
        0x00833e83, /* wait: ld t4, 8(t1) */
        0xfe0e8ee3, /* beqz t4, wait */
        0x00100e93, /* last: li t4, 1 */
        0x01d33023, /* sd t4, (t1) */
        0x0000000b, /* exit */
    };
    SimtHost *h = simt_host_new(1);
    MxgpuDispatch d = load(h, code, sizeof(code), 1, 256);

    start(h, &d);
    for (unsigned n = 0; n < 20000 && !h->done; n++) {
        mxgpu_simt_run(h->simt, 0, 1000); /* less than a warp's turn */
    }
    g_assert_cmpuint(h->done, ==, 1);
    g_assert_cmpint(mxgpu_simt_fault(h->simt, 0).code, ==, MXGPU_FAULT_NONE);
    g_assert_cmpuint(*words(h, 0), ==, 1);
    simt_host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/simt/limits/small-steps", test_small_steps);
    return g_test_run();
}
