/* SPDX-License-Identifier: MIT */
/* From a function on the bus to firmware that answers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "priv.h"

#define RESET_TIMEOUT_NS (2ull * 1000000000)
#define BOOT_TIMEOUT_NS  (20ull * 1000000000)

static uint64_t read_pair(KmdTransport *t, uint32_t lo)
{
    uint64_t low = kmd_read(t, lo);

    return low | (uint64_t)kmd_read(t, lo + 4) << 32;
}

static void read_limits(KmdDevice *dev)
{
    KmdTransport *t = dev->t;
    KmdInfo *info = &dev->info;
    uint32_t v;
    unsigned i;

    v = kmd_read(t, MXGPU_QUEUE_CAPS);
    info->queues = MXGPU_GET(MXGPU_QUEUE_CAPS_QUEUES, v);
    info->vectors = t->vectors; /* the system may give fewer than there are */
    v = kmd_read(t, MXGPU_UNIT_CAPS);
    info->compute_units = MXGPU_GET(MXGPU_UNIT_CAPS_COMPUTE_UNITS, v);
    info->copy_engines = MXGPU_GET(MXGPU_UNIT_CAPS_COPY_ENGINES, v);
    v = kmd_read(t, MXGPU_CU_CAPS);
    info->cu_threads = MXGPU_GET(MXGPU_CU_CAPS_THREADS, v);
    info->block_threads = MXGPU_GET(MXGPU_CU_CAPS_BLOCK_THREADS, v);
    v = kmd_read(t, MXGPU_CU_CAPS2);
    info->cu_blocks = MXGPU_GET(MXGPU_CU_CAPS2_BLOCKS, v);
    info->warp_size = MXGPU_GET(MXGPU_CU_CAPS2_WARP_SIZE, v);
    info->cu_shared = MXGPU_GET(MXGPU_CU_CAPS2_SHARED_KIB, v) * 1024;
    info->cu_registers = kmd_read(t, MXGPU_CU_REGS);
    info->cu_private = (uint64_t)kmd_read(t, MXGPU_CU_PRIVATE) << 10;
    info->watchdog_ms = kmd_read(t, MXGPU_WATCHDOG_MS);
    info->vram_size = read_pair(t, MXGPU_VRAM_SIZE_LO);
    for (i = 0; i < 4; i++) {
        v = kmd_read(t, MXGPU_UUID + i * MXGPU_UUID_STRIDE);
        memcpy(info->uuid + 4 * i, &v, 4);
    }
    info->pci_domain = t->pci_domain;
    info->pci_bus = t->pci_bus;
    info->pci_device = t->pci_device;
    info->pci_function = t->pci_function;
    info->simulated = t->simulated;
    snprintf(info->name, sizeof(info->name), "MXGPU %u CU%s",
             info->compute_units, t->simulated ? " (simulated)" : "");
}

int kmd_bringup_identify(KmdDevice *dev)
{
    KmdTransport *t = dev->t;
    uint32_t id = kmd_read(t, MXGPU_ID);
    uint32_t version;

    if (id == UINT32_MAX) {
        mc_error("the device does not answer: registers read all ones");
        return -ENODEV;
    }
    if (id != MXGPU_ID_MAGIC) {
        mc_error("identity register reads 0x%08x: not an mxgpu", id);
        return -ENODEV;
    }
    version = kmd_read(t, MXGPU_VERSION);
    if (MXGPU_GET(MXGPU_VERSION_MAJOR, version) !=
        MXGPU_INTERFACE_VERSION >> 16) {
        mc_error("the device has interface version %u.%u, this library knows "
                 "%u.x", MXGPU_GET(MXGPU_VERSION_MAJOR, version),
                 MXGPU_GET(MXGPU_VERSION_MINOR, version),
                 MXGPU_INTERFACE_VERSION >> 16);
        return -ENOTSUP;
    }
    dev->minor = MXGPU_GET(MXGPU_VERSION_MINOR, version);
    read_limits(dev);
    if (dev->info.queues == 0 || dev->info.queues > MXGPU_MAX_QUEUES ||
        dev->info.vram_size == 0 || dev->info.vram_size % KMD_PAGE_SIZE) {
        mc_error("the device claims %u queues and %llu bytes of VRAM",
                 dev->info.queues, (unsigned long long)dev->info.vram_size);
        return -EIO;
    }
    if (dev->info.vram_size > t->aperture_size) {
        mc_error("the aperture reaches %llu of %llu bytes of VRAM",
                 (unsigned long long)t->aperture_size,
                 (unsigned long long)dev->info.vram_size);
        return -EIO;
    }
    return 0;
}

/* The device's own reset. */
static int reset_register(KmdTransport *t)
{
    uint64_t deadline = kmd_now_ns() + RESET_TIMEOUT_NS;
    uint32_t status;

    kmd_write(t, MXGPU_RESET, MXGPU_RESET_MAGIC);
    for (;;) {
        status = kmd_read(t, MXGPU_RESET_STATUS);
        if (status == UINT32_MAX) {
            mc_error("the device vanished during its reset");
            return -ENODEV;
        }
        if (!MXGPU_GET(MXGPU_RESET_STATUS_BUSY, status)) {
            return 0;
        }
        if (kmd_now_ns() > deadline) {
            mc_error("the reset did not complete within %llu s",
                     RESET_TIMEOUT_NS / 1000000000);
            return -ETIMEDOUT;
        }
        kmd_sleep_ns(100000);
    }
}

int kmd_bringup_reset(KmdDevice *dev)
{
    KmdTransport *t = dev->t;
    /* Whatever an earlier user left running ends here. */
    int ret = reset_register(t);

    if (ret && t->ops->reset && (ret = t->ops->reset(t)) == 0) {
        ret = reset_register(t);
    }
    memset(dev->mbox_shadow, 0, sizeof(dev->mbox_shadow));
    dev->mbox_seq = 0;
    return ret;
}

static int wait_ready(KmdDevice *dev)
{
    uint64_t deadline = kmd_now_ns() + BOOT_TIMEOUT_NS;
    uint64_t pause = 20000;
    char text[160];

    for (;;) {
        uint32_t status = kmd_read(dev->t, MXGPU_MCU_STATUS);
        unsigned state = MXGPU_GET(MXGPU_MCU_STATUS_STATE, status);
        bool late = kmd_now_ns() > deadline;

        if (status != UINT32_MAX && !late &&
            (state == MXGPU_MCU_RUNNING || state == MXGPU_MCU_RESET)) {
            if (MXGPU_GET(MXGPU_MCU_STATUS_READY, status)) {
                return 0;
            }
            kmd_sleep_ns(pause);
            pause = pause < 1000000 ? pause * 2 : pause;
            continue;
        }
        kmd_mcu_describe(dev, text, sizeof(text));
        mc_error("starting the firmware: %s", text);
        return status == UINT32_MAX ? -ENODEV : late ? -ETIMEDOUT : -EIO;
    }
}

int kmd_bringup_firmware(KmdDevice *dev)
{
    KmdTransport *t = dev->t;
    KmdFirmware fw;
    uint32_t i, abi;
    int ret;

    ret = kmd_firmware_load(kmd_read(t, MXGPU_SRAM_SIZE), &fw);
    if (ret) {
        return ret;
    }
    kmd_write(t, MXGPU_MCU_SRAM_ADDR, 0);
    for (i = 0; i < fw.size / 4; i++) {
        kmd_write(t, MXGPU_MCU_SRAM_DATA, fw.words[i]);
    }
    mc_info("firmware %s: %u bytes", fw.path, fw.size);
    kmd_firmware_free(&fw);
    kmd_write(t, MXGPU_MCU_CTRL, MXGPU_SET(MXGPU_MCU_CTRL_START, 1));
    ret = wait_ready(dev);
    if (ret) {
        return ret;
    }
    dev->info.fw_version = kmd_read(t, MXGPU_MCU_FW_VERSION);
    abi = kmd_read(t, MXGPU_MCU_FW_ABI);
    if (abi != MXGPU_MSG_ABI) {
        mc_error("the firmware speaks version %u of the host messages, this "
                 "library %u", abi, MXGPU_MSG_ABI);
        return -EPROTO;
    }
    return 0;
}

/* With MXGPU_LOG=debug the firmware is told to log as much as it can, too. */
static void raise_log_level(KmdDevice *dev)
{
    struct mxgpu_msg_log_level req = { MXGPU_MSG_LOG_LEVEL, 3 };

    if (mc_log_enabled(MC_LOG_DEBUG)) {
        (void)kmd_mbox_call(dev, &req, sizeof(req) / 4, NULL, 0);
    }
}

/* The firmware's text: whatever it is, it can be printed. */
static void take_build(KmdInfo *info, const char *build)
{
    unsigned i;

    for (i = 0; i < sizeof(info->fw_build) - 1 && build[i]; i++) {
        info->fw_build[i] = build[i] > ' ' && build[i] < 0x7f ? build[i] : '?';
    }
    info->fw_build[i] = '\0';
}

int kmd_bringup_hello(KmdDevice *dev)
{
    struct mxgpu_msg_hello req = { MXGPU_MSG_HELLO, MXGPU_MSG_ABI };
    struct mxgpu_msg_hello_resp resp;
    int ret;

    /* Causes of the time before are of no interest. */
    kmd_write(dev->t, MXGPU_ERR_STATUS, UINT32_MAX);
    kmd_write(dev->t, MXGPU_IRQ_STATUS, UINT32_MAX);
    kmd_write(dev->t, MXGPU_IRQ_ENABLE, KMD_IRQ_CAUSES);
    ret = kmd_mbox_call(dev, &req, sizeof(req) / 4, &resp, sizeof(resp) / 4);
    if (ret) {
        return ret;
    }
    if (resp.abi != MXGPU_MSG_ABI || resp.queues == 0 ||
        resp.priorities == 0) {
        mc_error("the firmware's greeting makes no sense: ABI %u, %u queues, "
                 "%u priorities", resp.abi, resp.queues, resp.priorities);
        return -EPROTO;
    }
    if (~resp.packets & ((1u << MXGPU_PKT_TYPES) - 1)) {
        mc_error("firmware %u.%u.%u is too old: it knows packet types 0x%x, "
                 "not 0x%x", resp.version >> 16, resp.version >> 8 & 0xff,
                 resp.version & 0xff, resp.packets,
                 (1u << MXGPU_PKT_TYPES) - 1);
        return -EPROTO;
    }
    if (resp.queues < dev->info.queues) {
        dev->info.queues = resp.queues;
    }
    dev->info.priorities = resp.priorities;
    dev->packet_types = resp.packets;
    take_build(&dev->info, resp.build);
    mc_info("firmware %u.%u.%u %s ready: %u queues, %u priorities",
            resp.version >> 16, resp.version >> 8 & 0xff,
            resp.version & 0xff, dev->info.fw_build, dev->info.queues,
            resp.priorities);
    raise_log_level(dev);
    return 0;
}
