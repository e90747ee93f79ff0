/* SPDX-License-Identifier: MIT */
/* What the microcontroller says of itself. */
#include <stdio.h>

#include "priv.h"

static const char *boot_error_text(unsigned error)
{
    switch (error) {
    case MXGPU_BOOT_BAD_MAGIC:
        return "no firmware image found in its memory";
    case MXGPU_BOOT_BAD_HEADER:
        return "bad image header";
    case MXGPU_BOOT_BAD_ISA:
        return "image for another processor";
    case MXGPU_BOOT_BAD_CRC:
        return "checksum mismatch";
    default:
        return "unknown error";
    }
}

static const char *trap_text(uint32_t cause)
{
    static const char *const exceptions[] = {
        "instruction address misaligned", "instruction access fault",
        "illegal instruction", "breakpoint", "load address misaligned",
        "load access fault", "store address misaligned", "store access fault",
        "environment call", "environment call", "reserved",
        "environment call",
    };

    if (cause & 0x80000000u) {
        return "unexpected interrupt";
    }
    if (cause < sizeof(exceptions) / sizeof(exceptions[0])) {
        return exceptions[cause];
    }
    return "firmware-defined cause";
}

void kmd_mcu_describe(KmdDevice *dev, char *text, size_t size)
{
    KmdTransport *t = dev->t;
    uint32_t status = kmd_read(t, MXGPU_MCU_STATUS);

    if (status == UINT32_MAX) {
        snprintf(text, size, "the device does not answer any more");
        return;
    }
    switch (MXGPU_GET(MXGPU_MCU_STATUS_STATE, status)) {
    case MXGPU_MCU_RESET:
        snprintf(text, size, "the MCU is in reset");
        break;
    case MXGPU_MCU_RUNNING:
        snprintf(text, size, "the firmware runs%s, pc 0x%x ra 0x%x sp 0x%x",
                 MXGPU_GET(MXGPU_MCU_STATUS_READY, status) ? ""
                 : " but never became ready", kmd_read(t, MXGPU_MCU_PC),
                 kmd_read(t, MXGPU_MCU_RA), kmd_read(t, MXGPU_MCU_SP));
        break;
    case MXGPU_MCU_BOOT_ERROR:
        snprintf(text, size, "the device refused the firmware: %s",
                 boot_error_text(MXGPU_GET(MXGPU_MCU_STATUS_BOOT_ERROR,
                                           status)));
        break;
    case MXGPU_MCU_CRASHED: {
        uint32_t cause = kmd_read(t, MXGPU_MCU_TRAP_CAUSE);

        snprintf(text, size, "the firmware crashed: %s (cause 0x%x) at 0x%x, "
                 "value 0x%x, ra 0x%x sp 0x%x", trap_text(cause), cause,
                 kmd_read(t, MXGPU_MCU_TRAP_PC),
                 kmd_read(t, MXGPU_MCU_TRAP_VALUE), kmd_read(t, MXGPU_MCU_RA),
                 kmd_read(t, MXGPU_MCU_SP));
        break;
    }
    default:
        snprintf(text, size, "the MCU is in unknown state 0x%x", status);
        break;
    }
}
