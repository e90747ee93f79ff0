/* SPDX-License-Identifier: MIT */
/* Stands for mcu/ in tests of the core: the test itself is the firmware, and
 * uses the bus as the MCU would. */
#include "mcu/debug.h"
#include "test_host.h"

struct MxgpuMcu {
    MxgpuMcuState state;
};

FakeMcu fake_mcu;

MxgpuMcu *mxgpu_mcu_new(uint8_t *sram, uint32_t size, const MxgpuMcuOps *ops,
                        void *opaque)
{
    memset(&fake_mcu, 0, sizeof(fake_mcu));
    fake_mcu.ops = *ops;
    fake_mcu.opaque = opaque;
    return g_new0(MxgpuMcu, 1);
}

void mxgpu_mcu_free(MxgpuMcu *mcu)
{
    g_free(mcu);
}

void mxgpu_mcu_reset(MxgpuMcu *mcu, uint32_t entry)
{
    fake_mcu.resets++;
    fake_mcu.entry = entry;
    memset(&mcu->state, 0, sizeof(mcu->state));
}

MxgpuMcuState *mxgpu_mcu_state(MxgpuMcu *mcu)
{
    return &mcu->state;
}

void mxgpu_mcu_set_lines(MxgpuMcu *mcu, bool timer, bool external)
{
    fake_mcu.timer = timer;
    fake_mcu.external = external;
}

void mxgpu_mcu_halt(MxgpuMcu *mcu)
{
    mcu->state.halted = true;
}

void mxgpu_mcu_charge(MxgpuMcu *mcu, unsigned instructions)
{
    fake_mcu.charged += instructions;
}

MxgpuMcuStop mxgpu_mcu_run(MxgpuMcu *mcu, unsigned budget)
{
    fake_mcu.runs++;
    fake_mcu.budget += budget;
    mcu->state.instret += 0x180000000ull;
    if (fake_mcu.program) {
        MxgpuMcuStop stop = fake_mcu.program(&fake_mcu);

        return mcu->state.halted ? MXGPU_MCU_STOP_HALT : stop;
    }
    return MXGPU_MCU_STOP_WFI;
}

void mxgpu_mcu_lockup(const MxgpuMcu *mcu, uint32_t *cause, uint32_t *pc,
                      uint32_t *value)
{
    *cause = 2;
    *pc = 0x20000100;
    *value = 0xdead;
}

uint32_t mcu_read(TestHost *h, uint32_t reg)
{
    uint32_t value = 0xcccccccc;

    g_assert_true(fake_mcu.ops.read(fake_mcu.opaque,
                                    MXGPU_MCU_REGS_BASE + reg, &value));
    return value;
}

void mcu_write(TestHost *h, uint32_t reg, uint32_t value)
{
    g_assert_true(fake_mcu.ops.write(fake_mcu.opaque,
                                     MXGPU_MCU_REGS_BASE + reg, value));
}

void mcu_write64(TestHost *h, uint32_t reg, uint64_t value)
{
    mcu_write(h, reg, (uint32_t)value);
    mcu_write(h, reg + 4, (uint32_t)(value >> 32));
}

bool mxgpu_mcu_restore(MxgpuMcu *mcu, const MxgpuMcuState *state)
{
    *mxgpu_mcu_state(mcu) = *state;
    return true;
}

void mxgpu_mcu_forget(MxgpuMcu *mcu)
{
}

void mxgpu_mcu_debug_attach(MxgpuMcu *mcu, bool attached)
{
}

bool mxgpu_mcu_debug_insert(MxgpuMcu *mcu, MxgpuMcuPoint kind, uint32_t addr,
                            uint32_t len)
{
    return false;
}

bool mxgpu_mcu_debug_remove(MxgpuMcu *mcu, MxgpuMcuPoint kind, uint32_t addr,
                            uint32_t len)
{
    return false;
}

void mxgpu_mcu_debug_resume(MxgpuMcu *mcu, bool step, uint32_t low,
                            uint32_t high, bool pass)
{
}

const MxgpuMcuDebugStop *mxgpu_mcu_debug_stop(const MxgpuMcu *mcu)
{
    static const MxgpuMcuDebugStop none;

    return &none;
}

bool mxgpu_mcu_debug_record(MxgpuMcu *mcu, uint64_t changes)
{
    return true;
}

bool mxgpu_mcu_debug_recorded(const MxgpuMcu *mcu, uint64_t *behind,
                              uint64_t *ahead)
{
    *behind = *ahead = 0;
    return false;
}

void mxgpu_mcu_debug_back(MxgpuMcu *mcu, bool step, uint32_t low,
                          uint32_t high)
{
}

bool mxgpu_mcu_debug_again(MxgpuMcu *mcu)
{
    return false;
}

void mxgpu_mcu_debug_changed(MxgpuMcu *mcu)
{
}

bool mxgpu_mcu_debug_read_csr(const MxgpuMcu *mcu, unsigned csr,
                              uint32_t *value)
{
    return false;
}

bool mxgpu_mcu_debug_write_csr(MxgpuMcu *mcu, unsigned csr, uint32_t value)
{
    return false;
}

bool mxgpu_mcu_debug_read(const MxgpuMcu *mcu, uint32_t addr, void *buf,
                          uint32_t len)
{
    return false;
}

bool mxgpu_mcu_debug_write(MxgpuMcu *mcu, uint32_t addr, const void *buf,
                           uint32_t len)
{
    return false;
}
