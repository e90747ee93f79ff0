#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-inspect.py LIBMXGPU-SIM REGS.DEF FIRMWARE: what inspect() of a device in
this process shows of registers, queues, rings, page tables and memory, and that
looking changes nothing."""
import ctypes as c
import struct
import sys

from sim_device import SIM, Device, wait

VA, VRAM = 0x40200000, 0x200000  # 2 MiB there are these of VRAM
RING, CTL, DATA = VA, VA + 0x1000, VA + 0x2000
ROOT = 0x10000
TABLE, LEAF = 0x101, 0x3d        # VALID TABLE; VALID R W X AT
DOORBELL = c.CFUNCTYPE(None, SIM, c.c_uint, c.c_uint64)
MEMORY = c.CFUNCTYPE(c.c_void_p, SIM, c.c_void_p)
done = 0
failed = 0


def check(name, ok, text=""):
    global done, failed
    done += 1
    failed += not ok
    print(f"{'ok' if ok else 'not ok'} {done} {name}")
    if not ok:
        print("\n".join("# " + line for line in str(text).splitlines()))


class Rig:
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


def fill(signal):
    return struct.pack("<HHIQQ16sQQQ", 2, 1, 4, DATA, 4096, b"\x5a" * 16, 0,
                       DATA + 0x1000, signal)


def test_queues(r):
    show = r.dev.inspect
    check("no queue yet", "no queue" in show("queues"), show("queues"))
    r.tables()
    check("HELLO", r.call(2, 1) == 0)
    check("VM_SET", r.call(3, 5, ROOT | TABLE, 0) == 0)
    check("QUEUE_CREATE", r.call(5, 9, 5, 2, RING & 0xffffffff, RING >> 32, 4,
                                 CTL & 0xffffffff, CTL >> 32,
                                 0xffffffff) == 0)
    text = show("queues")
    check("its ring and control block", "queue 9: doorbell 0" in text and
          f"active, vmid 5 priority 2, ring 0x{RING:x} of 16 packets, "
          f"control block 0x{CTL:x}" in text, text)
    r.packet(0, fill(77))
    r.ring(r.dev.sim, 9, 1)
    done_at = r.vram + VRAM + 0x3000
    check("the packet ends", wait(
        lambda: c.c_uint64.from_address(done_at).value == 77))
    text = show("ring 9")
    check("a packet in words", "  0: FILL pattern_size=4 "
          f"dst=0x{DATA:x} size=4096 pattern=" + "5a" * 16 +
          f" signal *0x{DATA + 0x1000:x}=77 BARRIER" in text, text)
    # A WAIT for what does not come, and a packet behind it.
    r.packet(1, struct.pack("<HHHHQQ", 5, 0, 8, 1, DATA + 0x1000, 78))
    r.packet(2, struct.pack("<HH", 0, 2))
    r.ring(r.dev.sim, 9, 3)
    check("a wait is fetched, the next is not", wait(
        lambda: "  1: WAIT size=8 cond=1" in show("ring 9")) and
        "> 2: NOP IRQ" in show("ring 9"), show("ring 9"))
    check("as many as wanted", "WAIT" not in show("ring 9 1"),
          show("ring 9 1"))
    r.packet(3, struct.pack("<HH", 99, 0))
    c.c_uint64.from_address(done_at).value = 78
    r.ring(r.dev.sim, 9, 4)
    check("its error", wait(lambda: "error PACKET NONE at packet 3"
                            in show("queues")), show("queues"))
    check("a packet of no type", "3: (unknown packet) type=99" in
          show("ring 9"), show("ring 9"))
    check("no such queue", "ring QUEUE" in show("ring 100000"))
    check("none there", "there is no queue 3" in show("ring 3"))


def test_memory(r):
    show = r.dev.inspect
    entry = r.vram + ROOT + 0x2000 + 8 * (VA >> 21 & 511)
    c.c_uint64.from_address(entry).value = VRAM | LEAF  # neither A nor D
    text = show(f"walk 5 0x{VA + 0x123456:x}")
    check("the levels of a walk", [line.split(":")[0] for line in
                                   text.splitlines()[:3]] ==
          ["level 3", "level 2", "level 1"], text)
    check("where it leads", f"VRAM 0x{VRAM + 0x123456:x}, page of 2048 KiB"
          in text and "R W X AT\n" in text, text)
    check("it sets no bit",
          c.c_uint64.from_address(entry).value == VRAM | LEAF)
    text = show("walk 5 0x1000")
    check("not mapped", "fault NOT_PRESENT" in text and
          text.splitlines()[-2].endswith("not present"), text)
    check("an address that is none", "fault NON_CANONICAL" in
          show("walk 5 0x800000000000"))
    check("no page table", "fault NO_VMID" in show("walk 6 0"))
    check("no such VMID", "walk VMID" in show("walk 16 0"))
    check("bytes", f"{DATA:012x}:" + " 5a" * 16 + "\n" ==
          show(f"memory 5 0x{DATA:x} 16"), show(f"memory 5 0x{DATA:x} 16"))
    check("the end of a page", "fault NOT_PRESENT" in
          show(f"memory 5 0x{VA + 0x1ffff8:x} 32"))
    check("at most 4 KiB", show(f"memory 5 0x{VA:x} 0xffffffffffff").count(
        "\n") == 256)
    # A table outside VRAM.
    c.c_uint64.from_address(entry).value = 0xffffffff000 | TABLE
    check("a table behind VRAM", "fault TABLE" in show(f"walk 5 0x{VA:x}"),
          show(f"walk 5 0x{VA:x}"))
    c.c_uint64.from_address(entry).value = VRAM | LEAF


def test_rest(r):
    show = r.dev.inspect
    before = r.dev.read("ERR_STATUS")
    text = show("registers DB_ENABLE")
    check("a private register", "DB_ENABLE" in text, text)
    text = show("counters")
    check("counters", "DOORBELLS            3\n" in text and
          "COPIES               1\n" in text, text)
    check("units", show("units").startswith("unit 0: idle, 0 blocks"),
          show("units"))
    check("warps", show("warps") == "no warp is resident\n", show("warps"))
    text = show("log")
    check("the firmware's log", "firmware" in text.lower() and
          text.endswith("\n"), text)
    check("no error was counted", r.dev.read("ERR_STATUS") == before)
    check("it works as before", r.dev.ping())
    for command in ("ring", "ring -1", "ring 9 99999999999999999999999",
                    "walk", "walk 5", "walk x y", "memory", "memory 99 0 0",
                    "warps 4294967296", "log 1", "ring 9 0x"):
        check(f"\"{command}\" is answered", show(command) is not None)


def main():
    r = Rig(*sys.argv[1:4])
    test_queues(r)
    test_memory(r)
    test_rest(r)
    r.dev.start()
    check("firmware that has just been loaded", wait(r.dev.ready) and
          "no queue" in r.dev.inspect("queues"))
    r.dev.ops.reset(r.dev.sim)
    check("no firmware at all", "does not tell" in r.dev.inspect("ring 9"))
    r.dev.close()
    print(f"1..{done}")
    return failed != 0


sys.exit(main())
