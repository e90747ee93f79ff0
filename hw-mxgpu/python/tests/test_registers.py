# SPDX-License-Identifier: MIT
"""Registers and fields by name."""
import pytest

from mxgpu.registers import REGISTERS
from mxgpu.tables import ID_MAGIC, McuState


def test_identity(gpu_off):
    assert gpu_off.reg.ID.read() == ID_MAGIC
    assert int(gpu_off.reg.ID) == ID_MAGIC
    assert gpu_off.reg.VRAM_SIZE.read() == 64 << 20
    assert gpu_off.reg.VERSION.decode()["MAJOR"] == 1
    assert gpu_off.reg.MCU_STATUS.STATE == McuState.RESET
    assert len(gpu_off.reg.UUID) == 4
    assert gpu_off.reg.UUID[3].offset == 0x3c


def test_fields_keep_their_neighbours(gpu_off):
    ring = gpu_off.reg.IRQ_ENABLE
    ring.CAUSES = 0b10101
    assert ring.read() == 0b10101
    with pytest.raises(ValueError):
        ring.CAUSES = 1 << 5
    with pytest.raises(ValueError):
        gpu_off.reg.IRQ_ENABLE = 1 << 32


def test_writing_one_clears_one(gpu_off):
    gpu_off.reg.read_at(0xfffc)  # no such register
    gpu_off.reg.ERR_STATUS.BAD_ACCESS = 0
    assert gpu_off.reg.ERR_STATUS.BAD_ACCESS == 1
    gpu_off.reg.ERR_STATUS.BAD_ACCESS = 1
    assert gpu_off.reg.ERR_STATUS.read() == 0


def test_names_that_do_not_exist(gpu_off):
    for name in ("NO_SUCH", "NO_SUCH_LO", "_LO", "__len__"):
        with pytest.raises(AttributeError):
            getattr(gpu_off.reg, name)
    with pytest.raises(AttributeError):
        gpu_off.reg.MCU_STATUS.NO_SUCH
    with pytest.raises(AttributeError):
        gpu_off.reg.MCU_STATUS.READY = 1  # RO
    with pytest.raises(IndexError):
        gpu_off.reg.UUID[4]


def test_every_register_obeys_its_access(gpu_off):
    """No read of what the host sees is an error; a read of what it does not
    see is one each."""
    for register in gpu_off.reg.visible():
        if register.host != "WO" and register.index < 2:
            register.read()
    assert gpu_off.reg.ERR_STATUS.read() == 0
    hidden = [n for n, r in REGISTERS.items() if r[3] == "NA"]
    for name in hidden:
        gpu_off.reg.read_at(REGISTERS[name][0])
    assert gpu_off.reg.ERR_COUNT.read() == len(hidden)
    assert gpu_off.reg.ERR_INFO.read() == REGISTERS[hidden[0]][0]


def test_counter_pairs(gpu):
    before = gpu.reg.COUNTER[9].read()
    assert gpu.reg.CLOCK.read() <= gpu.reg.CLOCK.read()
    assert gpu.reg.COUNTER[9].read() >= before
