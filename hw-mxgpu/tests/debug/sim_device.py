# SPDX-License-Identifier: MIT
"""libmxgpu-sim.so from Python, as far as tests of debuggers need it: a device,
its registers by name, its firmware. The structures are those of sim/sim.h."""
import ctypes as c
import os
import re
import threading
import time

LOG = c.CFUNCTYPE(None, c.c_void_p, c.c_char_p)
PUT = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(c.c_char), c.c_size_t)
STATES = ("RESET", "RUNNING", "BOOT_ERROR", "CRASHED")


class Options(c.Structure):
    _fields_ = [
        ("vram_size", c.c_uint64), ("compute_units", c.c_uint),
        ("threads", c.c_uint), ("queues", c.c_uint),
        ("copy_engines", c.c_uint), ("watchdog_ms", c.c_uint),
        ("deterministic", c.c_bool), ("index", c.c_uint),
        ("private_memory", c.c_uint64), ("firmware_watchdog_ms", c.c_uint),
        ("strict_alignment", c.c_bool), ("jit", c.c_uint),
        ("log", LOG), ("opaque", c.c_void_p),
        ("log_packets", c.c_bool), ("fw_gdb", c.c_char_p),
        ("kernel_gdb", c.c_char_p),
        ("observer", c.c_void_p), ("observer_opaque", c.c_void_p)]


SIM = c.c_void_p
NAMES = ("open", "close", "read", "write", "doorbell", "vram", "vram_fd",
         "vectors", "irq_fd", "dma_map", "dma_unmap", "reset", "inspect")
TYPES = {
    "open": c.CFUNCTYPE(c.c_int, c.POINTER(Options), c.POINTER(SIM)),
    "close": c.CFUNCTYPE(None, SIM),
    "read": c.CFUNCTYPE(c.c_uint32, SIM, c.c_uint32),
    "write": c.CFUNCTYPE(None, SIM, c.c_uint32, c.c_uint32),
    "reset": c.CFUNCTYPE(c.c_int, SIM),
    "inspect": c.CFUNCTYPE(c.c_int, SIM, c.c_char_p, PUT, c.c_void_p),
}


class Ops(c.Structure):
    _fields_ = [(n, TYPES.get(n, c.c_void_p)) for n in NAMES]


def abi(regs_def):
    """Of the tree that the register table is of."""
    header = os.path.join(os.path.dirname(regs_def), "../../sim/sim.h")
    with open(header, encoding="utf-8") as f:
        return int(re.search(r"#define MXGPU_SIM_ABI (\d+)", f.read())[1])


class Device:
    def __init__(self, library, regs_def, firmware, **options):
        entry = c.CDLL(library).mxgpu_sim_entry
        entry.restype = c.POINTER(Ops)
        self.ops = entry(abi(regs_def)).contents
        self.lines = []
        self.log = LOG(lambda _, line: self.lines.append(line.decode()))
        with open(regs_def, encoding="utf-8") as f:
            self.regs = {m[1]: int(m[2], 16) for m in re.finditer(
                r"MXGPU_REG\((\w+), (0x\w+)", f.read())}
        with open(firmware, "rb") as f:
            self.image = f.read()
        config = Options(vram_size=16 << 20, log=self.log, **options)
        self.sim = SIM()
        self.error = self.ops.open(config, self.sim)
        self.sequence = 0
        self.lock = threading.Lock()

    def close(self):
        self.ops.close(self.sim)

    def read(self, reg, at=0):
        return self.ops.read(self.sim, self.regs[reg] + at)

    def write(self, reg, value, at=0):
        self.ops.write(self.sim, self.regs[reg] + at, value)

    def state(self):
        return STATES[self.read("MCU_STATUS") & 0xf]

    def ready(self):
        return bool(self.read("MCU_STATUS") & 0x10)

    def start(self):
        """Resets the device, loads the firmware and lets it go."""
        self.ops.reset(self.sim)
        self.write("MCU_SRAM_ADDR", 0)
        for i in range(0, len(self.image), 4):
            self.write("MCU_SRAM_DATA",
                       int.from_bytes(self.image[i:i + 4], "little"))
        self.write("MCU_CTRL", 1)

    def ping(self, limit=60):
        """A message to the firmware: whether it answers in time."""
        self.sequence += 1
        self.write("MBOX_CMD", 1)
        self.write("MBOX_REQ", self.sequence)
        return wait(lambda: self.read("MBOX_ACK") == self.sequence, limit)

    def inspect(self, command):
        """The text, or None when there is no such command."""
        parts = []
        put = PUT(lambda _, text, n: parts.append(text[:n]))
        if self.ops.inspect(self.sim, command.encode(), put, None):
            return None
        return b"".join(parts).decode()


def wait(condition, limit=60):
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True
