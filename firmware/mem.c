/* SPDX-License-Identifier: MIT */
/* The memory port: reads and writes through the MMU, up to 128 bytes. */
#include "fw.h"

static uint32_t mem_access(enum mxgpu_mem_op op, uint32_t vmid, uint64_t addr,
                           uint32_t size)
{
    reg_write64(MXGPU_MEM_ADDR_LO, addr);
    reg_write(MXGPU_MEM_CMD, MXGPU_SET(MXGPU_MEM_CMD_OP, op) |
                                 MXGPU_SET(MXGPU_MEM_CMD_VMID, vmid) |
                                 MXGPU_SET(MXGPU_MEM_CMD_SIZE, size));
    return reg_read(MXGPU_MEM_STATUS);
}

uint32_t mem_load(uint32_t vmid, uint64_t addr, uint32_t size)
{
    return mem_access(MXGPU_MEM_READ, vmid, addr, size);
}

uint32_t mem_store(uint32_t vmid, uint64_t addr, uint32_t size)
{
    return mem_access(MXGPU_MEM_WRITE, vmid, addr, size);
}

uint32_t mem_write32(uint32_t vmid, uint64_t addr, uint32_t value)
{
    reg_write(MXGPU_MEM_BUF, value);
    return mem_store(vmid, addr, 4);
}

uint32_t mem_write64(uint32_t vmid, uint64_t addr, uint64_t value)
{
    reg_write64(MXGPU_MEM_BUF, value);
    return mem_store(vmid, addr, 8);
}

uint32_t mem_write_words(uint32_t vmid, uint64_t addr, const uint32_t *words,
                         unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        reg_write(MXGPU_MEM_BUF + i * 4, words[i]);
    }
    return mem_store(vmid, addr, count * 4);
}
