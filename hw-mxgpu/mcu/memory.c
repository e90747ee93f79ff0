/* SPDX-License-Identifier: MIT */
/* Loads, stores and atomics: SRAM, and aligned words on the bus. */
#include "internal.h"

#include <string.h>

#include "rv/sem.h"

/* Offset of [addr, addr + len) in SRAM; false when it is not all there. */
static inline bool sram_offset(const MxgpuMcu *mcu, uint32_t addr,
                               unsigned len, uint32_t *offset)
{
    *offset = addr - mcu->sram_base;
    return *offset < mcu->sram_size && len <= mcu->sram_size - *offset;
}

uint32_t mxgpu_mcu_load(MxgpuMcu *mcu, uint32_t addr, unsigned len,
                        uint32_t *value)
{
    uint32_t offset;

    *value = 0;
    if (sram_offset(mcu, addr, len, &offset)) {
        memcpy(value, mcu->sram + offset, len);
        return CAUSE_NONE;
    }
    if (len == 4 && addr % 4 == 0 &&
        mcu->ops->read(mcu->opaque, addr, value)) {
        return CAUSE_NONE;
    }
    return CAUSE_LOAD_ACCESS;
}

/* A changed instruction is decoded again, and so is one that begins in the
 * halfword before. */
static inline void forget(MxgpuMcu *mcu, uint32_t offset, unsigned len)
{
    uint32_t first = offset / 2, last = (offset + len - 1) / 2;

    if (last < mcu->code_low || first > mcu->code_high) {
        return;
    }
    for (uint32_t i = first ? first - 1 : 0; i <= last; i++) {
        mcu->code[i].op = RV_ILLEGAL;
    }
}

static void sram_store(MxgpuMcu *mcu, uint32_t offset, unsigned len,
                       uint32_t value)
{
    uint32_t reserved = mcu->s.reserved_addr - mcu->sram_base;

    memcpy(mcu->sram + offset, &value, len);
    forget(mcu, offset, len);
    if (offset < reserved + 4 && reserved < offset + len) {
        mcu->s.reserved_addr = NO_RESERVATION;
    }
}

void mxgpu_mcu_put_word(MxgpuMcu *mcu, uint32_t offset, uint32_t value)
{
    memcpy(mcu->sram + offset, &value, 4);
    forget(mcu, offset, 4);
}

uint32_t mxgpu_mcu_store(MxgpuMcu *mcu, uint32_t addr, unsigned len,
                         uint32_t value)
{
    uint32_t offset;

    if (sram_offset(mcu, addr, len, &offset)) {
        sram_store(mcu, offset, len, value);
        return CAUSE_NONE;
    }
    if (len == 4 && addr % 4 == 0 &&
        mcu->ops->write(mcu->opaque, addr, value)) {
        return CAUSE_NONE;
    }
    return CAUSE_STORE_ACCESS;
}

static uint32_t amo_result(unsigned op, uint32_t M, uint32_t B)
{
    switch (op) {
#define AMO(id, expr)                                                          \
    case RV_AMO##id##_W:                                                       \
        return (uint32_t)(expr);
        RV_SEM_LIST_AMO(AMO, uint32_t, int32_t)
#undef AMO
    default:
        return M;
    }
}

/* Traps, interrupts and MRET keep a reservation; every SC ends it. */
uint32_t mxgpu_mcu_atomic(MxgpuMcu *mcu, const RvInsn *in, uint32_t *value)
{
    MxgpuMcuState *s = &mcu->s;
    uint32_t addr = s->x[in->rs1], operand = s->x[in->rs2], offset, old;
    bool is_load = in->op == RV_LR_W;

    if (addr % 4) {
        return is_load ? CAUSE_LOAD_MISALIGNED : CAUSE_STORE_MISALIGNED;
    }
    if (!sram_offset(mcu, addr, 4, &offset)) {
        return is_load ? CAUSE_LOAD_ACCESS : CAUSE_STORE_ACCESS;
    }
    memcpy(&old, mcu->sram + offset, 4);
    *value = old;
    if (is_load) {
        s->reserved_addr = addr;
    } else if (in->op == RV_SC_W) {
        *value = s->reserved_addr != addr;
        if (*value == 0) {
            sram_store(mcu, offset, 4, operand);
        }
        s->reserved_addr = NO_RESERVATION;
    } else {
        sram_store(mcu, offset, 4, amo_result(in->op, old, operand));
    }
    return CAUSE_NONE;
}
