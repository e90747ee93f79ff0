/* SPDX-License-Identifier: MIT */
/*
 * The end of a firmware that went wrong. Interrupts are never taken (main.c),
 * so every trap is one: the host learns cause, pc and value, and the MCU stops
 * in state CRASHED.
 */
#include "fw.h"

_Noreturn void fw_trap(uint32_t cause, uint32_t pc, uint32_t value)
{
    reg_write(MXGPU_MCU_TRAP_CAUSE, cause);
    reg_write(MXGPU_MCU_TRAP_PC, pc);
    reg_write(MXGPU_MCU_TRAP_VALUE, value);
    fw_log(FW_LOG_ERROR, "trap: mcause 0x%x mepc 0x%x mtval 0x%x", cause, pc,
           value);
    bus_stop();
}
