/* SPDX-License-Identifier: MIT */
/* From reset to a firmware that answers, and every way it can go wrong. */
#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "fake_device.h"

#define VRAM (32ull << 20)

static KmdDevice *open_good(Fake *fake)
{
    KmdDevice *dev = NULL;

    g_assert_cmpint(kmd_device_open(&fake->base, &dev), ==, 0);
    return dev;
}

static void test_good(void)
{
    Fake *fake = fake_new(VRAM);
    uint8_t image[1024];
    uint64_t a, b;
    KmdDevice *dev;
    KmdInfo info;

    /* 32 characters without an end, one of which is none */
    memcpy(fake->build, "0123456789abcdef\nhijklmnopqrstuvw", 32);
    dev = open_good(fake);
    fake_firmware_image(image, sizeof(image));
    g_assert_cmpmem(fake->sram, sizeof(image), image, sizeof(image));
    g_assert_cmpuint(fake->sram_writes, ==, sizeof(image) / 4);
    g_assert_cmpuint(fake->starts, ==, 1);
    kmd_device_info(dev, &info);
    g_assert_cmpuint(info.vram_size, ==, VRAM);
    g_assert_cmpuint(info.compute_units, ==, 8);
    g_assert_cmpuint(info.copy_engines, ==, 2);
    g_assert_cmpuint(info.queues, ==, FAKE_QUEUES);
    g_assert_cmpuint(info.priorities, ==, 4);
    g_assert_cmpuint(info.warp_size, ==, 64);
    g_assert_cmpuint(info.cu_shared, ==, 65536);
    g_assert_cmphex(info.fw_version, ==, 0x010203);
    g_assert_cmpstr(info.fw_build, ==, "0123456789abcdef?hijklmnopqrstu");
    g_assert_cmphex(info.uuid[5], ==, 2);
    /* The root is a table, and nothing is mapped. */
    g_assert_cmphex(fake->root & 0xfff, ==, 0x101);
    g_assert_false(fake_walk(fake, 0x1000).valid);
    g_assert_false(fake_walk(fake, 0x1000).malformed);
    /* The high half of the clock belongs to the low half. */
    a = kmd_device_clock(dev);
    b = kmd_device_clock(dev);
    g_assert_cmphex(b - a, ==, 0x80000001);
    kmd_device_close(dev);
    g_assert_true(fake->closed);
    g_assert_cmpuint(fake->resets, ==, 2);
    g_assert_cmphex(fake->root, ==, 0);
    fake_free(fake);
}

/* Units that run something of this address space, and devices that tell. */
static void test_where(void)
{
    const uint64_t valid = 1ull << 63, mine = (uint64_t)KMD_VMID << 48;
    Fake *fake = fake_new(VRAM);
    KmdDevice *dev = open_good(fake);
    uint64_t pcs[8] = {0};

    g_assert_cmpuint(kmd_device_where(dev, pcs, 8), ==, 0);
    fake->unit_pc[0] = mine | 0x1000; /* its last block has just ended */
    fake->unit_pc[2] = valid | mine | 0x7fff12345678ull;
    fake->unit_pc[3] = valid | (mine ^ 1ull << 50) | 0x2000;
    fake->unit_pc[7] = valid | mine | 0x3000;
    g_assert_cmpuint(kmd_device_where(dev, pcs, 8), ==, 2);
    g_assert_cmphex(pcs[0], ==, 0x7fff12345678ull);
    g_assert_cmphex(pcs[1], ==, 0x3000);
    pcs[1] = 5;
    g_assert_cmpuint(kmd_device_where(dev, pcs, 1), ==, 1);
    g_assert_cmphex(pcs[1], ==, 5);
    kmd_device_close(dev);
    fake_free(fake);

    fake = fake_new(VRAM);
    fake->version = (MXGPU_INTERFACE_VERSION & ~0xffffu) | 1;
    fake->unit_pc[1] = valid | mine | 0x4000; /* no such register */
    dev = open_good(fake);
    g_assert_cmpuint(kmd_device_where(dev, pcs, 8), ==, 0);
    kmd_device_close(dev);
    fake_free(fake);
}

/* Opens a device with a defect. */
static void expect(Fake *fake, int error)
{
    KmdDevice *dev = NULL;

    g_assert_cmpint(kmd_device_open(&fake->base, &dev), ==, error);
    g_assert_null(dev);
    g_assert_true(fake->closed);
    g_assert_cmpuint(fake_pinned(fake), ==, 0);
    fake_free(fake);
}

static void test_identity(void)
{
    Fake *fake = fake_new(VRAM);

    fake->dead = true;
    expect(fake, -ENODEV);
    fake = fake_new(VRAM);
    fake->id = 0x12345678;
    expect(fake, -ENODEV);
    fake = fake_new(VRAM);
    fake->version = 0x00020000;
    expect(fake, -ENOTSUP);
    fake = fake_new(VRAM);
    fake->base.aperture_size = VRAM / 2;
    expect(fake, -EIO);
}

static void test_boot(void)
{
    Fake *fake = fake_new(VRAM);

    fake->boot_state = MXGPU_MCU_BOOT_ERROR;
    fake->boot_error = MXGPU_BOOT_BAD_CRC;
    expect(fake, -EIO);
    fake = fake_new(VRAM);
    fake->boot_state = MXGPU_MCU_CRASHED;
    expect(fake, -EIO);
    fake = fake_new(VRAM);
    fake->fw_abi = MXGPU_MSG_ABI + 1;
    expect(fake, -EPROTO);
}

static void test_handshake(void)
{
    Fake *fake = fake_new(VRAM);

    fake->refuse_op = MXGPU_MSG_HELLO;
    fake->refuse_status = MXGPU_MSG_BAD_ABI;
    expect(fake, -EPROTO);
    fake = fake_new(VRAM);
    fake->crash_op = MXGPU_MSG_HELLO;
    expect(fake, -ENODEV);
    fake = fake_new(VRAM);
    fake->refuse_op = MXGPU_MSG_VM_SET;
    fake->refuse_status = MXGPU_MSG_BAD_ARGUMENT;
    expect(fake, -EINVAL);
    fake = fake_new(VRAM);
    fake->refuse_op = MXGPU_MSG_VM_SET;
    fake->refuse_status = 4711;
    expect(fake, -EPROTO);
}

/* The reset's timeout is the one that takes its time. */
static void test_reset_stuck(void)
{
    Fake *fake = fake_new(VRAM);

    fake->reset_stuck = true;
    expect(fake, -ETIMEDOUT);
}

static void test_reset_function(void)
{
    Fake *fake = fake_new(VRAM);
    KmdDevice *dev;

    fake->reset_stuck = true;
    fake->function_reset_helps = true;
    dev = open_good(fake);
    g_assert_cmpuint(fake->function_resets, ==, 1);
    kmd_device_close(dev);
    fake_free(fake);
}

static void test_image_check(void)
{
    uint8_t good[512], bad[512];
    struct mxgpu_fw_header *h = (void *)bad;
    unsigned i;

    fake_firmware_image(good, sizeof(good));
    g_assert_null(kmd_firmware_check(good, sizeof(good), 4096));
    g_assert_nonnull(kmd_firmware_check(good, sizeof(good), 256));
    for (i = 0; i < sizeof(good); i++) {
        g_assert_nonnull(kmd_firmware_check(good, i, 4096));
    }
    /* Every bit that is covered matters, up to the version. */
    for (i = 0; i < sizeof(good) * 8; i++) {
        unsigned byte = i / 8;

        if (byte >= offsetof(struct mxgpu_fw_header, version) &&
            (byte < offsetof(struct mxgpu_fw_header, abi) ||
             (byte >= offsetof(struct mxgpu_fw_header, build) &&
              byte < sizeof(*h)))) {
            continue;
        }
        if (byte >= offsetof(struct mxgpu_fw_header, entry) &&
            byte < offsetof(struct mxgpu_fw_header, version)) {
            continue;
        }
        memcpy(bad, good, sizeof(bad));
        bad[byte] ^= (uint8_t)(1 << (i % 8));
        g_assert_nonnull(kmd_firmware_check(bad, sizeof(bad), 4096));
    }
    memcpy(bad, good, sizeof(bad));
    h->entry = MXGPU_MCU_SRAM_BASE + sizeof(bad);
    g_assert_nonnull(kmd_firmware_check(bad, sizeof(bad), 4096));
    h->entry = 0;
    g_assert_nonnull(kmd_firmware_check(bad, sizeof(bad), 4096));
}

static void with_firmware(const char *path, int error)
{
    Fake *fake = fake_new(VRAM);

    g_setenv("MXGPU_FIRMWARE", path, TRUE);
    expect(fake, error);
    g_setenv("MXGPU_FIRMWARE", fake_firmware_file(), TRUE);
}

static void test_firmware_files(void)
{
    char *dir = g_dir_make_tmp("mxgpu-XXXXXX", NULL);
    char *path = g_build_filename(dir, "fw.bin", NULL);
    uint8_t image[512];

    with_firmware(path, -ENOENT);
    with_firmware(dir, -EINVAL);
    fake_firmware_image(image, sizeof(image));
    g_assert_true(g_file_set_contents(path, (char *)image, 300, NULL));
    with_firmware(path, -EINVAL);
    g_assert_true(g_file_set_contents(path, "", 0, NULL));
    with_firmware(path, -EINVAL);
    image[100] ^= 1;
    g_assert_true(g_file_set_contents(path, (char *)image, 512, NULL));
    with_firmware(path, -EINVAL);
    g_unlink(path);
    g_rmdir(dir);
    g_free(path);
    g_free(dir);
}

int main(int argc, char **argv)
{
    int ret;

    g_test_init(&argc, &argv, NULL);
    g_setenv("MXGPU_FIRMWARE", fake_firmware_file(), TRUE);
    g_test_add_func("/kmd/bringup/where", test_where);
    g_test_add_func("/kmd/bringup/good", test_good);
    g_test_add_func("/kmd/bringup/identity", test_identity);
    g_test_add_func("/kmd/bringup/boot", test_boot);
    g_test_add_func("/kmd/bringup/handshake", test_handshake);
    g_test_add_func("/kmd/bringup/reset-stuck", test_reset_stuck);
    g_test_add_func("/kmd/bringup/reset-function", test_reset_function);
    g_test_add_func("/kmd/bringup/image-check", test_image_check);
    g_test_add_func("/kmd/bringup/firmware-files", test_firmware_files);
    ret = g_test_run();
    g_unlink(fake_firmware_file());
    return ret;
}
