# SPDX-License-Identifier: MIT
"""A device in this process with page tables and a queue, for tests of what shows
it."""
import ctypes as c
import struct

from sim_device import SIM, Device, wait

VA, VRAM = 0x40200000, 0x200000  # 2 MiB there are these of VRAM
RING, CTL, DATA = VA, VA + 0x1000, VA + 0x2000
ROOT = 0x10000
TABLE, LEAF = 0x101, 0x3d        # VALID TABLE; VALID R W X AT
DOORBELL = c.CFUNCTYPE(None, SIM, c.c_uint, c.c_uint64)
MEMORY = c.CFUNCTYPE(c.c_void_p, SIM, c.c_void_p)
passed = []


def check(name, ok, text=""):
    passed.append(bool(ok))
    print(f"{'ok' if ok else 'not ok'} {len(passed)} {name}")
    if not ok:
        print("\n".join("# " + line for line in str(text).splitlines()))


def finish():
    """The plan, and the status to exit with."""
    print(f"1..{len(passed)}")
    return not all(passed)


class Rig:
    """A device with firmware, VRAM, and a queue whose packets a test writes."""

    def __init__(self, *paths):
        self.dev = Device(*paths)
        assert not self.dev.error
        self.vram = c.cast(self.dev.ops.vram, MEMORY)(self.dev.sim, None)
        self.ring = c.cast(self.dev.ops.doorbell, DOORBELL)
        self.dev.start()
        assert wait(self.dev.ready)

    def store(self, at, data):
        c.memmove(self.vram + at, data, len(data))

    def call(self, *words):
        d = self.dev
        for i in range(16):
            d.write("MBOX_CMD", words[i] if i < len(words) else 0, 4 * i)
        d.sequence += 1
        d.write("MBOX_REQ", d.sequence)
        assert wait(lambda: d.read("MBOX_ACK") == d.sequence)
        return d.read("MBOX_RESP")

    def tables(self):
        """One large page; what is beside it is not mapped."""
        for level, at in ((3, ROOT), (2, ROOT + 0x1000)):
            index = VA >> (12 + 9 * level) & 511
            self.store(at + 8 * index, struct.pack("<Q", at + 0x1000 | TABLE))
        self.store(ROOT + 0x2000 + 8 * (VA >> 21 & 511),
                   struct.pack("<Q", VRAM | LEAF))

    def packet(self, index, data):
        self.store(VRAM + 64 * index, data.ljust(64, b"\0"))


    def queue(self):
        """VMID 5 and queue 9, a ring of 16 packets at RING."""
        check("HELLO", self.call(2, 1) == 0)
        check("VM_SET", self.call(3, 5, ROOT | TABLE, 0) == 0)
        check("QUEUE_CREATE", self.call(
            5, 9, 5, 2, RING & 0xffffffff, RING >> 32, 4, CTL & 0xffffffff,
            CTL >> 32, 0xffffffff) == 0)


def fill(signal):
    return struct.pack("<HHIQQ16sQQQ", 2, 1, 4, DATA, 4096, b"\x5a" * 16, 0,
                       DATA + 0x1000, signal)
