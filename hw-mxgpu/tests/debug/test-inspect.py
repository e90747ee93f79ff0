#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-inspect.py LIBMXGPU-SIM REGS.DEF FIRMWARE: what inspect() of a device in
this process shows of registers, queues, rings, page tables and memory, and that
looking changes nothing."""
import ctypes as c
import re
import struct
import sys

from sim_device import wait
from sim_rig import (CTL, DATA, LEAF, RING, ROOT, TABLE, VA, VRAM, Rig, check,
                     fill, finish)

ABI = 1  # MXGPU_KERNEL_ABI


def test_queues(r):
    show = r.dev.inspect
    check("no queue yet", "no queue" in show("queues"), show("queues"))
    r.tables()
    r.queue()
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


def test_warps(r):
    """A kernel that never ends: two warps of a block, of 64 and of 6 lanes."""
    show = r.dev.inspect
    code = VA + 0x9000
    check("QUEUE_DESTROY", r.call(6, 9) == 0)
    r.queue()
    r.store(VRAM + 0x9000, struct.pack("<I", 0x0000006f))  # j .
    r.store(VRAM + 0x8000, struct.pack(
        "<IIQQQIIIIIIII", 0x4e4b584d, ABI, code, 0, 0, 0, 0, 0, 0, 32, 0, 0,
        0))
    r.packet(0, struct.pack("<HHIQQIIIHHHHIQQ", 3, 0, 0, VA + 0x8000,
                            VA + 0xa000, 1, 1, 1, 70, 1, 1, 0, 0, 0, 0))
    r.ring(r.dev.sim, 9, 1)
    check("it runs", wait(lambda: f"pc 0x{code:x}" in show("warps")),
          show("queues") + show("engines"))
    text = show("warps")
    check("its warps", f"vmid 5 block 0,0,0 threads 0.. pc 0x{code:x} lanes "
          "ffffffffffffffff" in text and "threads 64.. pc "
          f"0x{code:x} lanes 000000000000003f" in text, text)
    check("its slot", "slot 0: busy vmid 5 grid 1x1x1 block 70x1x1" in
          show("engines"), show("engines"))
    check("its unit", f"vmid 5 pc 0x{code:x}" in show("units"), show("units"))
    check("of a unit that does not exist", show("warps 999") ==
          "no warp is resident\n", show("warps 999"))


def test_contexts(r):
    """A ninth endless kernel of one level: one of them is in memory, in turns."""
    show = r.dev.inspect
    area = VA + 0x100000
    check("CONTEXTS", r.call(11, 5, area & 0xffffffff, area >> 32, 0xff000,
                             0) == 0)
    for q in range(20, 29):
        at = 0x20000 + 0x2000 * q
        check(f"queue {q}", r.call(
            5, q, 5, 3, VA + at & 0xffffffff, VA + at >> 32, 4,
            VA + at + 0x1000 & 0xffffffff, VA + at + 0x1000 >> 32,
            0xffffffff) == 0)
        r.store(VRAM + at, struct.pack(
            "<HHIQQIIIHHHHIQQ", 3, 0, 0, VA + 0x8000, VA + 0xa000, 1, 1, 1, 1,
            1, 1, 0, 0, 0, 0))
        r.ring(r.dev.sim, q, 1)
    check("one has left its slot", wait(lambda: re.search(
        r"packet 0 has left its slot, waits for another one: [1-9]\d* bytes at "
        r"0x403", show("queues"))), show("queues"))
    check("QUEUE_HOLD", r.call(12, 20) == 0)
    check("a queue that is held", "in units 1, held still" in show("queues"),
          show("queues"))


def main():
    r = Rig(*sys.argv[1:4])
    test_queues(r)
    test_memory(r)
    test_rest(r)
    test_warps(r)
    test_contexts(r)
    r.dev.start()
    check("firmware that has just been loaded", wait(r.dev.ready) and
          "no queue" in r.dev.inspect("queues"))
    r.dev.ops.reset(r.dev.sim)
    check("no firmware at all", "does not tell" in r.dev.inspect("ring 9"))
    r.dev.close()
    return finish()


sys.exit(main())
