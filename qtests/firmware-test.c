/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loading firmware: good, wrong, truncated, crashing; loading it again. */
#include "qemu/osdep.h"
#include "driver.h"

static unsigned boot_error(MxDevice *dev)
{
    return MXGPU_GET(MXGPU_MCU_STATUS_BOOT_ERROR,
                     mx_read(dev, MXGPU_MCU_STATUS));
}

static void expect_refused(MxDevice *dev, const void *image, size_t size,
                           enum mxgpu_boot_error error)
{
    mx_load(dev, image, size);
    MX_WAIT(dev, mx_mcu_state(dev) == MXGPU_MCU_BOOT_ERROR);
    g_assert_cmpuint(boot_error(dev), ==, error);
    g_assert_false(MXGPU_GET(MXGPU_MCU_STATUS_READY,
                             mx_read(dev, MXGPU_MCU_STATUS)));
}

static void test_versions(MxDevice *dev)
{
    g_autofree uint8_t *image = NULL;
    struct mxgpu_fw_header header;
    struct mxgpu_msg_ping ping = { MXGPU_MSG_PING, { 1, 2, 3 } };
    uint32_t response[16];
    size_t size;

    mx_firmware(&image, &size);
    memcpy(&header, image, sizeof(header));
    g_assert_cmphex(mx_read(dev, MXGPU_MCU_FW_VERSION), ==, header.version);
    g_assert_cmphex(mx_read(dev, MXGPU_MCU_FW_ABI), ==, header.abi);
    mx_call(dev, &ping, sizeof(ping), response);
    g_assert_cmpuint(response[1], ==, 1);
    g_assert_cmpuint(response[3], ==, 3);
}

static void test_no_hello(MxDevice *dev)
{
    struct mxgpu_msg_log_level level = { MXGPU_MSG_LOG_LEVEL, 1 };
    struct mxgpu_msg_hello hello = { MXGPU_MSG_HELLO, 0xbad };
    struct mxgpu_msg_ping unknown = { 0x7777 };
    g_autofree uint8_t *image = NULL;
    size_t size;

    mx_firmware(&image, &size);
    mx_load(dev, image, size);
    MX_WAIT(dev, MXGPU_GET(MXGPU_MCU_STATUS_READY,
                           mx_read(dev, MXGPU_MCU_STATUS)));
    g_assert_cmpuint(mx_call(dev, &level, sizeof(level), NULL), ==,
                     MXGPU_MSG_NO_HELLO);
    g_assert_cmpuint(mx_call(dev, &hello, sizeof(hello), NULL), ==,
                     MXGPU_MSG_BAD_ABI);
    hello.abi = MXGPU_MSG_ABI;
    g_assert_cmpuint(mx_call(dev, &hello, sizeof(hello), NULL), ==,
                     MXGPU_MSG_OK);
    g_assert_cmpuint(mx_call(dev, &unknown, sizeof(unknown), NULL), ==,
                     MXGPU_MSG_UNKNOWN_OP);
    g_assert_cmpuint(mx_call(dev, &level, sizeof(level), NULL), ==,
                     MXGPU_MSG_OK);
}

static void test_wrong(MxDevice *dev)
{
    g_autofree uint8_t *image = NULL;
    struct mxgpu_fw_header *header;
    size_t size;

    mx_firmware(&image, &size);
    header = (struct mxgpu_fw_header *)image;

    header->magic ^= 1;
    expect_refused(dev, image, size, MXGPU_BOOT_BAD_MAGIC);
    header->magic ^= 1;

    header->isa ^= 0x80;
    expect_refused(dev, image, size, MXGPU_BOOT_BAD_ISA);
    header->isa ^= 0x80;

    header->entry = MXGPU_MCU_SRAM_BASE + MXGPU_MCU_SRAM_SIZE;
    expect_refused(dev, image, size, MXGPU_BOOT_BAD_HEADER);
    mx_firmware(&image, &size);
    header = (struct mxgpu_fw_header *)image;

    header->image_size = MXGPU_MCU_SRAM_SIZE + 4;
    expect_refused(dev, image, size, MXGPU_BOOT_BAD_HEADER);
    mx_firmware(&image, &size);

    image[size / 2] ^= 0x10;
    expect_refused(dev, image, size, MXGPU_BOOT_BAD_CRC);
    image[size / 2] ^= 0x10;

    /* and then the right one */
    mx_boot(dev);
}

static void test_truncated(MxDevice *dev)
{
    g_autofree uint8_t *image = NULL;
    size_t size;

    mx_firmware(&image, &size);
    expect_refused(dev, image, size / 2, MXGPU_BOOT_BAD_CRC);
    mx_boot(dev);
}

void mx_load_code(MxDevice *dev, const uint32_t *words, unsigned count)
{
    uint32_t image[128] = { 0 };
    struct mxgpu_fw_header header = {
        .magic = MXGPU_FW_MAGIC,
        .header_size = sizeof(header),
        .image_size = sizeof(header) + 4 * count,
        .isa = MXGPU_FW_ISA_RV32IMAC,
        .entry = MXGPU_MCU_SRAM_BASE + sizeof(header),
        .abi = MXGPU_MSG_ABI,
    };
    uint32_t crc = ~0u;

    for (unsigned i = 0; i < 4 * count; i++) {
        crc ^= ((const uint8_t *)words)[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        }
    }
    header.crc32 = ~crc;
    memcpy(image, &header, sizeof(header));
    memcpy((uint8_t *)image + sizeof(header), words, 4 * count);
    mx_load(dev, image, header.image_size);
}

static void test_crash(MxDevice *dev)
{
    static const uint32_t illegal[] = {
        0x00000013, /* nop */
        0xffffffff, /* no instruction */
    };
    static const uint32_t bad_load[] = {
        0x00002503, /* lw a0, 0(zero): nothing is there */
    };

    mx_msix_enable(dev);
    mx_write(dev, MXGPU_IRQ_ENABLE, MXGPU_SET(MXGPU_IRQ_STATUS_MCU, 1));
    mx_load_code(dev, illegal, 2);
    MX_WAIT(dev, mx_mcu_state(dev) == MXGPU_MCU_CRASHED);
    g_assert_cmpuint(mx_read(dev, MXGPU_MCU_TRAP_CAUSE), ==, 2);
    g_assert_cmphex(mx_read(dev, MXGPU_MCU_TRAP_PC), ==,
                    MXGPU_MCU_SRAM_BASE + sizeof(struct mxgpu_fw_header) + 4);
    g_assert_cmphex(mx_read(dev, MXGPU_ERR_STATUS) &
                    MXGPU_SET(MXGPU_ERR_STATUS_MCU_CRASH, 1), !=, 0);
    MX_WAIT(dev, qtest_readl(dev->qts, mx_msix_target(dev, 0)) ==
                 MX_MSI_DATA);
    /* start over without a reset, crash in another way, start over */
    mx_load_code(dev, bad_load, 1);
    MX_WAIT(dev, mx_mcu_state(dev) == MXGPU_MCU_CRASHED &&
                 mx_read(dev, MXGPU_MCU_TRAP_CAUSE) == 5);
    mx_boot(dev);
}

/* Endless firmware neither stops QEMU nor a reset. */
static void test_endless(MxDevice *dev)
{
    static const uint32_t loop[] = { 0x0000006f };

    mx_load_code(dev, loop, 1);
    MX_WAIT(dev, mx_mcu_state(dev) == MXGPU_MCU_RUNNING);
    MX_WAIT(dev, mx_read(dev, MXGPU_MCU_PC) ==
                 MXGPU_MCU_SRAM_BASE + sizeof(struct mxgpu_fw_header));
    g_assert_cmphex(mx_read(dev, MXGPU_ID), ==, MXGPU_ID_MAGIC);
    qtest_clock_step(dev->qts, 1000000000);
    MX_WAIT(dev, MXGPU_GET(MXGPU_ERR_STATUS_MCU_STUCK,
                           mx_read(dev, MXGPU_ERR_STATUS)));
    mx_write(dev, MXGPU_MCU_CTRL, MXGPU_SET(MXGPU_MCU_CTRL_STOP, 1));
    MX_WAIT(dev, mx_mcu_state(dev) == MXGPU_MCU_RESET);
    mx_load_code(dev, loop, 1);
    MX_WAIT(dev, mx_mcu_state(dev) == MXGPU_MCU_RUNNING);
    mx_write(dev, MXGPU_RESET, MXGPU_RESET_MAGIC);
    MX_WAIT(dev, !MXGPU_GET(MXGPU_RESET_STATUS_BUSY,
                            mx_read(dev, MXGPU_RESET_STATUS)));
    mx_boot(dev);
    /* left running: QEMU has to end all the same */
    mx_write(dev, MXGPU_MCU_CTRL, MXGPU_SET(MXGPU_MCU_CTRL_STOP, 1));
    MX_WAIT(dev, mx_mcu_state(dev) == MXGPU_MCU_RESET);
    mx_load_code(dev, loop, 1);
    MX_WAIT(dev, mx_mcu_state(dev) == MXGPU_MCU_RUNNING);
}

/* SRAM of a running MCU is not the host's to write. */
static void test_sram_locked(MxDevice *dev)
{
    uint32_t word;

    mx_write(dev, MXGPU_MCU_SRAM_ADDR, 0);
    word = mx_read(dev, MXGPU_MCU_SRAM_DATA);
    g_assert_cmphex(word, ==, MXGPU_FW_MAGIC);
    g_assert_cmphex(mx_read(dev, MXGPU_MCU_SRAM_ADDR), ==, 4);
    mx_write(dev, MXGPU_MCU_SRAM_ADDR, 0);
    mx_write(dev, MXGPU_MCU_SRAM_DATA, 0x12345678);
    mx_write(dev, MXGPU_MCU_SRAM_ADDR, 0);
    g_assert_cmphex(mx_read(dev, MXGPU_MCU_SRAM_DATA), ==, MXGPU_FW_MAGIC);
}

void mx_firmware_tests(void)
{
    mx_test("firmware/versions", MX_BOOTED, test_versions);
    mx_test("firmware/hello", MX_BARE, test_no_hello);
    mx_test("firmware/wrong", MX_BARE, test_wrong);
    mx_test("firmware/truncated", MX_BARE, test_truncated);
    mx_test("firmware/crash", MX_BARE, test_crash);
    mx_test("firmware/endless", MX_BARE, test_endless);
    mx_test("firmware/sram-locked", MX_BOOTED, test_sram_locked);
}
