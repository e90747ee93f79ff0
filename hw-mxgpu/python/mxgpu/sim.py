# SPDX-License-Identifier: MIT
"""The device in this process: libmxgpu-sim.so by ctypes (hw-mxgpu/sim/sim.h)."""
import ctypes as c
import os
import tempfile

from .errors import MxgpuError
from .host import MappingHost
from .memory import PAGE
from .tables import SIM_ABI, SIM_OPS, SimLog, SimOptions

BUS_START, BUS_END = 1 << 36, 1 << 40
_SIM, _U32, _U64, _INT = c.c_void_p, c.c_uint32, c.c_uint64, c.c_int
_PUT = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(c.c_char), c.c_size_t)
_TYPES = {
    "open": (_INT, c.POINTER(SimOptions), c.POINTER(_SIM)),
    "close": (None, _SIM),
    "read": (_U32, _SIM, _U32),
    "write": (None, _SIM, _U32, _U32),
    "doorbell": (None, _SIM, c.c_uint, _U64),
    "vram": (c.c_void_p, _SIM, c.POINTER(_U64)),
    "vram_fd": (_INT, _SIM),
    "vectors": (c.c_uint, _SIM),
    "irq_fd": (_INT, _SIM, c.c_uint),
    "dma_map": (_INT, _SIM, _U64, c.c_void_p, _U64),
    "dma_unmap": (_INT, _SIM, _U64, _U64),
    "reset": (_INT, _SIM),
    "inspect": (_INT, _SIM, c.c_char_p, _PUT, c.c_void_p),
    "pause": (None, _SIM),
    "resume": (None, _SIM),
    "save": (_INT, _SIM, _INT),
    "load": (_INT, _SIM, _INT),
}


class _Ops(c.Structure):
    _fields_ = [(name, c.CFUNCTYPE(*_TYPES[name]) if name in _TYPES
                 else c.c_void_p) for name in SIM_OPS]


def _check(status, what):
    if status < 0:
        raise MxgpuError(f"{what}: {os.strerror(-status)}")


def _options(options):
    config = SimOptions()
    known = {name for name, _ in SimOptions._fields_}
    for name, value in options.items():
        if name not in known - {"log", "opaque"}:
            raise TypeError(f"the device has no option {name}")
        setattr(config, name, value.encode() if isinstance(value, str)
                else value)
    return config


class SimHost(MappingHost):
    """What the rest of the package wants of a device."""
    name = "sim"
    HOLE = PAGE

    def __init__(self, library, **options):
        super().__init__(BUS_START, BUS_END)
        self.options = options
        entry = c.CDLL(library).mxgpu_sim_entry
        entry.restype = c.POINTER(_Ops)
        ops = entry(SIM_ABI)
        if not ops:
            raise MxgpuError(f"{library} is not of ABI {SIM_ABI}")
        self.ops = ops.contents
        self.lines = []
        self._log = SimLog(
            lambda _, line: self.lines.append(line.decode(errors="replace")))
        config = _options(options)
        config.log = self._log
        self.sim = _SIM()
        status = self.ops.open(config, self.sim)
        if status < 0:
            raise MxgpuError(f"no device: {os.strerror(-status)} "
                             + "; ".join(self.lines))
        size = _U64()
        base = self.ops.vram(self.sim, size)
        self.vram_size = size.value
        self._vram = memoryview(
            (c.c_char * self.vram_size).from_address(base)).cast("B")
        self.vectors = self.ops.vectors(self.sim)

    def close(self):
        if self.sim:
            self._vram.release()
            self.ops.close(self.sim)
            self.sim = None

    def read(self, offset):
        return self.ops.read(self.sim, offset)

    def write(self, offset, value):
        self.ops.write(self.sim, offset, value)

    def doorbell(self, queue, value):
        self.ops.doorbell(self.sim, queue, value)

    def _dma_map(self, bus, at, size):
        _check(self.ops.dma_map(self.sim, bus, at, size), "dma_map")

    def _dma_unmap(self, bus, size):
        _check(self.ops.dma_unmap(self.sim, bus, size), "dma_unmap")

    def irq_fd(self, vector):
        return self.ops.irq_fd(self.sim, vector)

    def tick(self):
        """The device's clock is the host's."""

    def reset(self):
        _check(self.ops.reset(self.sim), "reset")

    def inspect(self, command):
        parts = []
        put = _PUT(lambda _, text, size: parts.append(text[:size]))
        if self.ops.inspect(self.sim, command.encode(), put, None):
            raise ValueError(f"the device cannot show {command!r}")
        return b"".join(parts).decode(errors="replace")

    def pause(self):
        self.ops.pause(self.sim)

    def resume(self):
        self.ops.resume(self.sim)

    def save(self):
        with tempfile.TemporaryFile() as f:
            _check(self.ops.save(self.sim, f.fileno()), "save")
            f.seek(0)
            return f.read()

    def load(self, data):
        with tempfile.TemporaryFile() as f:
            f.write(data)
            f.flush()
            f.seek(0)
            _check(self.ops.load(self.sim, f.fileno()), "load")
