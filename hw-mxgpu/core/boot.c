/* SPDX-License-Identifier: MIT */
/* The check of a firmware image before its first instruction. */
#include <zlib.h>

#include "internal.h"

enum mxgpu_boot_error mxgpu_boot_check(const uint8_t *sram, uint32_t *entry)
{
    struct mxgpu_fw_header h;

    memcpy(&h, sram, sizeof(h));
    if (h.magic != MXGPU_FW_MAGIC) {
        return MXGPU_BOOT_BAD_MAGIC;
    }
    if (h.header_size != sizeof(h) || h.image_size < sizeof(h) ||
        h.image_size > MXGPU_MCU_SRAM_SIZE || h.image_size % 4) {
        return MXGPU_BOOT_BAD_HEADER;
    }
    if (h.entry < MXGPU_MCU_SRAM_BASE + sizeof(h) || h.entry % 2 ||
        h.entry >= MXGPU_MCU_SRAM_BASE + h.image_size) {
        return MXGPU_BOOT_BAD_HEADER;
    }
    if (h.isa != MXGPU_FW_ISA_RV32IMAC) {
        return MXGPU_BOOT_BAD_ISA;
    }
    if (crc32(0, sram + sizeof(h), h.image_size - (uInt)sizeof(h)) != h.crc32) {
        return MXGPU_BOOT_BAD_CRC;
    }
    *entry = h.entry;
    return MXGPU_BOOT_OK;
}
