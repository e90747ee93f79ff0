/* SPDX-License-Identifier: MIT */
/*
 * Access to the hardware: registers by their offset (mxgpu/regs.h), and the
 * idle state. The firmware proper reads and writes the MCU's private bus; built
 * for the host (FW_HOST), the same calls go to the fake bus of tests/.
 */
#ifndef FW_BUS_H
#define FW_BUS_H

#include "mxgpu/regs.h"

#ifdef FW_HOST

uint32_t fw_bus_read(uint32_t offset);
void fw_bus_write(uint32_t offset, uint32_t value);
void fw_bus_wait(void);
_Noreturn void fw_bus_stop(void);
uint32_t fw_bus_sram_offset(const void *place);

static inline uint32_t reg_read(uint32_t offset)
{
    return fw_bus_read(offset);
}

static inline void reg_write(uint32_t offset, uint32_t value)
{
    fw_bus_write(offset, value);
}

static inline uint32_t bus_sram_offset(const void *place)
{
    return fw_bus_sram_offset(place);
}

static inline void bus_interrupts_init(void)
{
}

static inline void bus_wait(void)
{
    fw_bus_wait();
}

static inline _Noreturn void bus_stop(void)
{
    fw_bus_stop();
}

#else

static inline uint32_t reg_read(uint32_t offset)
{
    return *(volatile uint32_t *)(MXGPU_MCU_REGS_BASE + offset);
}

static inline void reg_write(uint32_t offset, uint32_t value)
{
    *(volatile uint32_t *)(MXGPU_MCU_REGS_BASE + offset) = value;
}

/* Of a variable, as the host counts. */
static inline uint32_t bus_sram_offset(const void *place)
{
    return (uint32_t)place - MXGPU_MCU_SRAM_BASE;
}

/* Timer and external interrupts end wfi; mstatus.MIE stays 0, so that none is
 * ever taken and a wake-up cannot be lost between the last look and wfi. */
static inline void bus_interrupts_init(void)
{
    __asm__ volatile("csrw mie, %0" : : "r"(1u << 11 | 1u << 7));
}

static inline void bus_wait(void)
{
    __asm__ volatile("wfi" : : : "memory");
}

static inline _Noreturn void bus_stop(void)
{
    reg_write(MXGPU_FW_PANIC, 1);
    for (;;) {
        bus_wait();
    }
}

#endif

/* A pair of registers. Reading the low half latches the high half. */
static inline uint64_t reg_read64(uint32_t lo)
{
    uint32_t low = reg_read(lo);

    return low | (uint64_t)reg_read(lo + 4) << 32;
}

static inline void reg_write64(uint32_t lo, uint64_t value)
{
    reg_write(lo, (uint32_t)value);
    reg_write(lo + 4, (uint32_t)(value >> 32));
}

#endif
