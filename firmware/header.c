/* SPDX-License-Identifier: MIT */
/* The first bytes of the image; pack.py fills in size, checksum and build. */
#include "fw.h"

#ifdef FW_HOST
#define ENTRY 0
#else
extern const char _start[];
#define ENTRY ((uint32_t)_start)
#endif

__attribute__((section(".header"), used))
const volatile struct mxgpu_fw_header fw_header = {
    .magic = MXGPU_FW_MAGIC,
    .header_size = sizeof(struct mxgpu_fw_header),
    .isa = MXGPU_FW_ISA_RV32IMAC,
    .entry = ENTRY,
    .version = FW_VERSION,
    .abi = MXGPU_MSG_ABI,
    .build = "not packed",
};
