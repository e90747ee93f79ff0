/* SPDX-License-Identifier: MIT */
/* Which kernels a thread that waits runs itself, while a worker was woken and does not
 * come: here it has no thread. */
#include "core/internal.h"
#include "test_host.h"

#define US 1000ull

static MxgpuStepper *worker;

static TestHost *new_host(void)
{
    TestHost *h = test_host_new(true);

    worker = &h->dev->steppers[mxgpu_worker(h->dev, 0)];
    test_run(h);
    worker->has_thread = true; /* that is said to sleep */
    worker->pauses = true;
    return h;
}

static void free_host(TestHost *h)
{
    worker->has_thread = false;
    test_host_free(h);
}

/* Of so many blocks of 64 threads; whether one who waits ran it, which takes so
 * long. */
static bool helps(TestHost *h, uint64_t entry, uint32_t blocks, uint64_t ns)
{
    unsigned runs = fake_simt.runs;
    bool stands, ran;

    mcu_write64(h, MXGPU_CD_ENTRY_LO, entry);
    mcu_write(h, MXGPU_CD_GRID_X, blocks);
    mcu_write(h, MXGPU_CD_GRID_Y, 1);
    mcu_write(h, MXGPU_CD_GRID_Z, 1);
    mcu_write(h, MXGPU_CD_BLOCK_XY, MXGPU_SET(MXGPU_CD_BLOCK_XY_X, 64) |
                                        MXGPU_SET(MXGPU_CD_BLOCK_XY_Y, 1));
    mcu_write(h, MXGPU_CD_BLOCK_Z, 1);
    mcu_write(h, MXGPU_CD_CTRL, MXGPU_SET(MXGPU_CD_CTRL_START, 1));
    stands = mxgpu_stepper_sleeps(worker);
    mxgpu_device_help(h->dev);
    ran = fake_simt.runs != runs;
    g_assert_cmpint(ran, ==, stands);
    g_assert_true(mxgpu_stepper_stands(worker) != ran);
    h->clock += ns;
    fake_simt_finish(0, (MxgpuDispatchFault){0});
    mcu_write(h, MXGPU_CD_CTRL, MXGPU_SET(MXGPU_CD_CTRL_ACK, 1));
    worker->work = worker->called = false; /* as when its thread had come */
    return ran;
}

/* At first, those with few threads; then, as long as they take, for each kernel and
 * number of blocks. */
static void test_short(void)
{
    TestHost *h = new_host();

    g_assert_true(helps(h, 0x1000, 64, 10 * US));
    g_assert_false(helps(h, 0x1000, 65, 10 * US));
    g_assert_true(helps(h, 0x1000, 65, 90 * US));
    g_assert_false(helps(h, 0x1000, 65, 10 * US));
    g_assert_true(helps(h, 0x1000, 64, 90 * US));
    g_assert_true(helps(h, 0x2000, 64, 10 * US));
    g_assert_false(helps(h, 0x1000, 64, 10 * US));
    g_assert_true(helps(h, 0x1000, 64, 10 * US));
    free_host(h);
}

/* Not what its own thread is at. */
static void test_awake(void)
{
    TestHost *h = new_host();

    worker->pauses = false;
    g_assert_false(helps(h, 0x1000, 1, 10 * US));
    worker->pauses = true;
    g_assert_true(helps(h, 0x1000, 1, 10 * US));
    free_host(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/help/short", test_short);
    g_test_add_func("/help/awake", test_awake);
    return g_test_run();
}
