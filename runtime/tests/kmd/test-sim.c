/* SPDX-License-Identifier: MIT */
/* Firmware that misbehaves, on the whole simulated device. */
#define _GNU_SOURCE
#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "fake_device.h"

/* The directory of made-up images. */
static char *dir;
static char *bad;
static char *good;

/* An image of these instructions, as MXGPU_FIRMWARE. */
static void use_firmware(const uint32_t *code, size_t words)
{
    size_t size = sizeof(struct mxgpu_fw_header) + 4 * words;
    uint8_t *image = g_malloc(size);

    memcpy(image + sizeof(struct mxgpu_fw_header), code, 4 * words);
    fake_firmware_header(image, size);
    g_assert_true(g_file_set_contents(bad, (char *)image, (gssize)size,
                                      NULL));
    g_setenv("MXGPU_FIRMWARE", bad, TRUE);
    g_free(image);
}

static void use_good_firmware(void)
{
    g_setenv("MXGPU_FIRMWARE", good, TRUE);
}

static void check_good(void)
{
    KmdDevice *dev = NULL;

    use_good_firmware();
    g_assert_cmpint(kmd_sim_ops.open(0, &dev), ==, 0);
    kmd_sim_ops.close(dev);
}

/* The first instruction is none. */
static void test_crash_at_start(void)
{
    static const uint32_t code[] = { 0 };
    KmdDevice *dev = NULL;

    use_firmware(code, G_N_ELEMENTS(code));
    g_assert_cmpint(kmd_sim_ops.open(0, &dev), ==, -EIO);
    g_assert_null(dev);
    check_good();
}

/* Says that it is ready, and crashes at the first message. */
static void test_crash_at_message(void)
{
    static const uint32_t code[] = {
        0x400002b7, /*       lui  t0, 0x40000      registers */
        0x00100313, /*       li   t1, 1 */
        0x2062aa23, /*       sw   t1, 0x214(t0)    MCU_FW_ABI */
        0x400013b7, /*       lui  t2, 0x40001 */
        0x0063ae23, /*       sw   t1, 0x1c(t2)     FW_READY */
        0x3402ae03, /* wait: lw   t3, 0x340(t0)    MBOX_REQ */
        0xfe0e0ee3, /*       beqz t3, wait */
        0x00000000, /*       not an instruction */
    };
    KmdDevice *dev = NULL;

    use_firmware(code, G_N_ELEMENTS(code));
    g_assert_cmpint(kmd_sim_ops.open(0, &dev), ==, -ENODEV);
    g_assert_null(dev);
    check_good();
}

/* Speaks another version of the messages. */
static void test_other_abi(void)
{
    static const uint32_t code[] = {
        0x400002b7, /*       lui  t0, 0x40000 */
        0x00700313, /*       li   t1, 7 */
        0x2062aa23, /*       sw   t1, 0x214(t0)    MCU_FW_ABI */
        0x00100313, /*       li   t1, 1 */
        0x400013b7, /*       lui  t2, 0x40001 */
        0x0063ae23, /*       sw   t1, 0x1c(t2)     FW_READY */
        0x0000006f, /*       j    . */
    };
    KmdDevice *dev = NULL;

    use_firmware(code, G_N_ELEMENTS(code));
    g_assert_cmpint(kmd_sim_ops.open(0, &dev), ==, -EPROTO);
    check_good();
}

/* A device can be opened twice: each is one of its own. */
static void test_open_twice(void)
{
    KmdDevice *a = NULL, *b = NULL;
    KmdInfo ia, ib;

    use_good_firmware();
    g_setenv("MXGPU_SIM_DEVICES", "2", TRUE);
    g_assert_cmpint(kmd_sim_ops.open(0, &a), ==, 0);
    g_assert_cmpint(kmd_sim_ops.open(1, &b), ==, 0);
    kmd_sim_ops.info(a, &ia);
    kmd_sim_ops.info(b, &ib);
    g_assert_true(memcmp(ia.uuid, ib.uuid, 16) != 0);
    g_assert_cmpuint(ia.pci_bus, !=, ib.pci_bus);
    kmd_sim_ops.close(a);
    kmd_sim_ops.close(b);
    g_assert_cmpint(kmd_sim_ops.open(2, &a), ==, -ENODEV);
    g_unsetenv("MXGPU_SIM_DEVICES");
}

/* A reset from outside under a waiter whose waits are short. */
static void test_reset_under_waiter(void)
{
    KmdDevice *dev = NULL;
    KmdQueue *q;
    uint32_t req = MXGPU_MSG_PING;
    int ret;

    use_good_firmware();
    g_assert_cmpint(kmd_sim_ops.open(0, &dev), ==, 0);
    g_assert_cmpint(kmd_sim_ops.queue_create(dev, 0, 64, &q), ==, 0);
    g_assert_cmpint(dev->t->ops->reset(dev->t), ==, 0);
    do {
        ret = kmd_sim_ops.irq_wait(q, kmd_sim_ops.irq_count(q), 1000000);
    } while (ret == 0 || ret == -ETIMEDOUT);
    g_assert_cmpint(ret, ==, -ENODEV);
    kmd_sim_ops.queue_destroy(q);
    kmd_sim_ops.close(dev);

    /* And under a request. */
    g_assert_cmpint(kmd_sim_ops.open(0, &dev), ==, 0);
    g_assert_cmpint(dev->t->ops->reset(dev->t), ==, 0);
    g_assert_cmpint(kmd_mbox_call(dev, &req, 1, NULL, 0), ==, -ENODEV);
    g_assert_cmpint(kmd_sim_ops.queue_create(dev, 0, 64, &q), ==, -ENODEV);
    kmd_sim_ops.close(dev);
    check_good();
}

static unsigned threads_and_files(void)
{
    static const char *const where[] = { "/proc/self/task", "/proc/self/fd" };
    unsigned i, n = 0;

    for (i = 0; i < 2; i++) {
        GDir *d = g_dir_open(where[i], 0, NULL);

        while (g_dir_read_name(d)) {
            n++;
        }
        g_dir_close(d);
    }
    return n;
}

/* Nothing is left of a device that was closed. */
static void test_leaves_nothing(void)
{
    unsigned before, i;

    check_good();
    before = threads_and_files();
    for (i = 0; i < 20; i++) {
        check_good();
    }
    g_assert_cmpuint(threads_and_files(), ==, before);
}

int main(int argc, char **argv)
{
    int ret;

    g_test_init(&argc, &argv, NULL);
    dir = g_dir_make_tmp("mxgpu-XXXXXX", NULL);
    bad = g_build_filename(dir, "fw.bin", NULL);
    good = g_strdup(g_getenv("MXGPU_FIRMWARE"));
    g_setenv("MXGPU_VRAM", "32M", TRUE);
    g_test_add_func("/kmd/sim/crash-at-start", test_crash_at_start);
    g_test_add_func("/kmd/sim/crash-at-message", test_crash_at_message);
    g_test_add_func("/kmd/sim/other-abi", test_other_abi);
    g_test_add_func("/kmd/sim/open-twice", test_open_twice);
    g_test_add_func("/kmd/sim/reset-under-waiter", test_reset_under_waiter);
    g_test_add_func("/kmd/sim/leaves-nothing", test_leaves_nothing);
    ret = g_test_run();
    g_unlink(bad);
    g_rmdir(dir);
    g_free(dir);
    g_free(bad);
    g_free(good);
    return ret;
}
