/* SPDX-License-Identifier: MIT */
/*
 * The memory port: the firmware's window on memory, and the front end's. It
 * runs on the MCU's thread, inside the write to MEM_CMD, and keeps no
 * translation.
 */
#include "internal.h"

#define MEM_MAX 128

/* In instructions of the MCU. */
#define COST_WALK 8
#define COST_BUS  16 /* an operation of the host */

enum mxgpu_fault mxgpu_memport_move(MxgpuDevice *dev, unsigned vmid,
                                    uint64_t va, void *buf, unsigned size,
                                    bool write, uint64_t *fault_addr)
{
    enum mxgpu_access access = write ? MXGPU_ACCESS_WRITE : MXGPU_ACCESS_READ;
    enum mxgpu_fault fault;
    MxgpuTranslation t[2];
    unsigned part[2];

    /* Translates both pages first: a command that faults has moved nothing. */
    part[0] = 4096 - (unsigned)(va & 4095);
    part[0] = part[0] < size ? part[0] : size;
    part[1] = size - part[0];
    for (unsigned i = 0; i < 2 && part[i]; i++) {
        *fault_addr = va + (i ? part[0] : 0);
        fault = mxgpu_mmu_translate(dev->mmu, vmid, *fault_addr, access, &t[i]);
        mxgpu_mcu_charge(dev->mcu.mcu,
                         COST_WALK + COST_BUS * (t[i].host_ops + 1));
        if (fault != MXGPU_FAULT_NONE) {
            return fault;
        }
    }
    for (unsigned i = 0; i < 2 && part[i]; i++) {
        uint8_t *p = (uint8_t *)buf + (i ? part[0] : 0);

        *fault_addr = va + (i ? part[0] : 0);
        fault = write ? mxgpu_mmu_write(dev->mmu, &t[i], p, part[i])
                      : mxgpu_mmu_read(dev->mmu, &t[i], p, part[i]);
        if (fault != MXGPU_FAULT_NONE) {
            return fault;
        }
    }
    return MXGPU_FAULT_NONE;
}

void mxgpu_mem_cmd_write(MxgpuDevice *dev, const MxgpuAccess *a, uint32_t value)
{
    unsigned op = MXGPU_GET(MXGPU_MEM_CMD_OP, value);
    unsigned size = MXGPU_GET(MXGPU_MEM_CMD_SIZE, value);
    unsigned vmid = MXGPU_GET(MXGPU_MEM_CMD_VMID, value);
    uint64_t va = mxgpu_reg64(dev, MXGPU_MEM_ADDR_LO);
    uint64_t fault_addr = va;
    enum mxgpu_fault fault = MXGPU_FAULT_CONFIG;

    if (op <= MXGPU_MEM_WRITE && size >= 1 && size <= MEM_MAX) {
        mxgpu_mmu_client_begin(&dev->memport.client);
        fault = mxgpu_memport_move(dev, vmid, va, mxgpu_reg(dev, MXGPU_MEM_BUF),
                                   size, op == MXGPU_MEM_WRITE, &fault_addr);
        mxgpu_mmu_client_end(&dev->memport.client);
    }
    *mxgpu_reg(dev, MXGPU_MEM_STATUS) = fault;
    if (fault != MXGPU_FAULT_NONE) {
        mxgpu_lock(dev);
        mxgpu_err_fault(dev, fault,
                        op == MXGPU_MEM_WRITE ? MXGPU_ACCESS_WRITE
                                              : MXGPU_ACCESS_READ,
                        fault_addr);
        mxgpu_unlock(dev);
    }
}
