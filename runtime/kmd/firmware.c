/* SPDX-License-Identifier: MIT */
/* Finding, reading and checking the firmware file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "priv.h"

#define FIRMWARE_NAME "mxgpu-fw.bin"

bool kmd_own_directory(char *dir, size_t size)
{
    Dl_info info;
    char *real, *slash;
    bool ok;

    if (!dladdr((void *)(uintptr_t)kmd_own_directory, &info) ||
        !info.dli_fname) {
        return false;
    }
    /* For the main program dli_fname is what it was called by, which need
     * not be a path. */
    real = realpath(strchr(info.dli_fname, '/') ? info.dli_fname
                                                : "/proc/self/exe", NULL);
    if (!real) {
        return false;
    }
    slash = strrchr(real, '/');
    *slash = '\0';
    ok = snprintf(dir, size, "%s", real) < (int)size;
    free(real);
    return ok;
}

/* CRC-32 as in IEEE 802.3, reflected. */
static uint32_t crc32_ieee(const uint8_t *data, size_t size)
{
    uint32_t crc = 0xffffffffu;
    size_t i;
    int bit;

    for (i = 0; i < size; i++) {
        crc ^= data[i];
        for (bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        }
    }
    return ~crc;
}

const char *kmd_firmware_check(const void *data, uint64_t size,
                               uint32_t sram_size)
{
    struct mxgpu_fw_header h;

    if (size < sizeof(h)) {
        return "shorter than its header";
    }
    memcpy(&h, data, sizeof(h));
    if (h.magic != MXGPU_FW_MAGIC) {
        return "not an mxgpu firmware image";
    }
    if (h.header_size != sizeof(h)) {
        return "header of an unknown size";
    }
    if (h.isa != MXGPU_FW_ISA_RV32IMAC) {
        return "made for another processor";
    }
    if (h.image_size < sizeof(h) || h.image_size % 4) {
        return "impossible image size";
    }
    if (h.image_size > size) {
        return "truncated";
    }
    if (h.image_size > sram_size) {
        return "larger than the memory of the MCU";
    }
    if (h.entry < MXGPU_MCU_SRAM_BASE + sizeof(h) ||
        h.entry >= MXGPU_MCU_SRAM_BASE + h.image_size) {
        return "entry point outside the image";
    }
    if (h.abi != MXGPU_MSG_ABI) {
        return "speaks another version of the host messages";
    }
    if (crc32_ieee((const uint8_t *)data + sizeof(h),
                   h.image_size - sizeof(h)) != h.crc32) {
        return "checksum mismatch";
    }
    return NULL;
}

/* The whole file as words. -ENOENT quietly: the caller may try elsewhere. */
static int firmware_read(const char *path, uint32_t sram_size, KmdFirmware *fw)
{
    const char *problem;
    struct stat st;
    size_t have = 0;
    uint8_t *data;
    ssize_t n;
    int fd, ret;

    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        ret = -errno;
        if (ret != -ENOENT && ret != -ENOTDIR) {
            mc_error("firmware %s: %s", path, strerror(-ret));
            return ret;
        }
        return -ENOENT;
    }
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        mc_error("firmware %s: not a regular file", path);
        close(fd);
        return -EINVAL;
    }
    /* A little more than fits is enough to say that it does not. */
    data = calloc(1, (size_t)sram_size + 8);
    if (!data) {
        close(fd);
        return -ENOMEM;
    }
    while (have < (size_t)sram_size + 4) {
        n = read(fd, data + have, (size_t)sram_size + 4 - have);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break;
        }
        have += (size_t)n;
    }
    close(fd);
    problem = kmd_firmware_check(data, have, sram_size);
    if (problem) {
        mc_error("firmware %s: %s", path, problem);
        free(data);
        return -EINVAL;
    }
    fw->words = (uint32_t *)(void *)data;
    fw->size = ((const struct mxgpu_fw_header *)(void *)data)->image_size;
    snprintf(fw->path, sizeof(fw->path), "%s", path);
    return 0;
}

int kmd_firmware_load(uint32_t sram_size, KmdFirmware *fw)
{
    /* Installed beside lib/; in a build tree; where the system keeps it. */
    static const char *const beside[] = {
        "../lib/firmware/mxgpu/" FIRMWARE_NAME,
        "../firmware/" FIRMWARE_NAME,
        "../../../firmware/" FIRMWARE_NAME,
    };
    static const char *const system = "/lib/firmware/mxgpu/" FIRMWARE_NAME;
    const char *env = getenv("MXGPU_FIRMWARE");
    char dir[256], path[512];
    size_t i;
    int ret;

    memset(fw, 0, sizeof(*fw));
    if (sram_size < sizeof(struct mxgpu_fw_header) || sram_size > 16u << 20) {
        mc_error("the device claims %u bytes of MCU memory", sram_size);
        return -EIO;
    }
    if (env && *env) {
        ret = firmware_read(env, sram_size, fw);
        if (ret == -ENOENT) {
            mc_error("firmware %s (MXGPU_FIRMWARE): no such file", env);
        }
        return ret;
    }
    if (kmd_own_directory(dir, sizeof(dir))) {
        for (i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
            snprintf(path, sizeof(path), "%s/%s", dir, beside[i]);
            ret = firmware_read(path, sram_size, fw);
            if (ret != -ENOENT) {
                return ret;
            }
        }
    } else {
        dir[0] = '\0';
    }
    ret = firmware_read(system, sram_size, fw);
    if (ret == -ENOENT) {
        mc_error("no firmware: not at %s/%s, not at %s; MXGPU_FIRMWARE names "
                 "another file", dir, beside[0], system);
    }
    return ret;
}

void kmd_firmware_free(KmdFirmware *fw)
{
    free(fw->words);
    fw->words = NULL;
}
