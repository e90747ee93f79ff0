#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-capture.py LIBMXGPU-SIM REGS.DEF FIRMWARE MX-DISSECT MXGPU.LUA: a capture
as a file, what mx-dissect says of it and of files that are damaged, and the
dissector for Wireshark where there is one to load it."""
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

from sim_device import wait
from sim_rig import DATA, Rig, check, fill, finish

LUA = """
Proto = function() return {fields = {}} end
local any = setmetatable({}, {__index = function() return function(...)
  return {...} end end})
ProtoField, base, wtap = any, {}, {USER0 = 45}
local registered
DissectorTable = {get = function() return {add = function(_, encap, p)
  registered = p end} end}
local bytes
local function range(at, len)
  local r = {}
  r.uint = function() return bytes:byte(at + 1) end
  r.le_uint = function()
    local v = 0
    for i = len, 1, -1 do v = v * 256 + bytes:byte(at + i) end
    return v
  end
  r.le_uint64 = function() return {tohex = function()
    return string.format("%x", r.le_uint()) end} end
  r.len = function() return len end
  r.string = function() return bytes:sub(at + 1, at + len) end
  return setmetatable(r, {__call = function(_, o, n)
    o, n = o or 0, n or len - (o or 0)
    assert(o >= 0 and n >= 0 and o + n <= len, "outside the buffer")
    return range(at + o, n) end})
end
dofile(arg[1])
local tree = {}
tree.add = function(_, _, _, text) if text then print("  " .. text) end
  return tree end
tree.add_le = tree.add
for line in io.lines(arg[2]) do
  bytes = line:gsub("..", function(h) return string.char(tonumber(h, 16)) end)
  local pinfo = {cols = {}}
  registered.dissector(range(0, #bytes), pinfo, tree)
  print(pinfo.cols.info or "(none)")
end
"""


def blocks(data):
    """(type, body) of each block; asserts what the specification asks for."""
    at = 0
    while at < len(data):
        kind, total = struct.unpack_from("<II", data, at)
        assert total % 4 == 0 and total >= 12
        assert struct.unpack_from("<I", data, at + total - 4)[0] == total
        yield kind, data[at + 8:at + total - 4]
        at += total


def records(data):
    for kind, body in blocks(data):
        if kind == 6:
            captured = struct.unpack_from("<I", body, 12)[0]
            yield body[20:20 + captured]


def dissect(tool, path, *more):
    return subprocess.run([tool, *more, path], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=300,
                          check=False)


def make(paths, path):
    os.environ["MXGPU_CAPTURE"] = path
    try:
        r = Rig(*paths)
    finally:
        del os.environ["MXGPU_CAPTURE"]
    r.tables()
    r.queue()
    r.packet(0, fill(77))
    r.ring(r.dev.sim, 9, 1)
    check("the packet ends", wait(
        lambda: "packets rung 1, fetched 1, in units 0" in
        r.dev.inspect("queues")))
    r.ring(r.dev.sim, 8, 3)
    r.packet(1, struct.pack("<HH", 77, 0))
    r.ring(r.dev.sim, 9, 2)
    check("the queue stops", wait(lambda: "error PACKET" in
                                  r.dev.inspect("queues")))
    r.dev.close()


def test_file(path):
    with open(path, "rb") as f:
        data = f.read()
    found = list(blocks(data))
    check("section and interface", found[0] == (
        0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1)) and
          found[1][0] == 1 and
          struct.unpack_from("<HHI", found[1][1]) == (147, 0, 0) and
          struct.unpack_from("<HHB", found[1][1], 8) == (9, 1, 9) and
          b"mxgpu0" in found[1][1], found[:2])
    times = [struct.unpack_from("<II", body, 4) for kind, body in found[2:]]
    check("all others are packets", all(k == 6 for k, _ in found[2:]))
    check("there are times", all(hi << 32 | lo for hi, lo in times))
    return data


def test_text(tool, path):
    out = dissect(tool, path)
    check("mx-dissect reads all of it", out.returncode == 0 and
          not out.stderr, out.stderr)
    words = " ".join(out.stdout.split())
    for name, text in (
            ("a register by name", "WRITE 0x0200 <- 0x00000001 MCU_CTRL"
             " START"),
            ("a request", "REQUEST 1 HELLO 0x1"),
            ("an answer", "ANSWER 1 OK"),
            ("a queue", "QUEUE queue 9 created vmid 5 priority 2"),
            ("a doorbell", "DOORBELL queue 9 value 1 "),
            ("a disabled one", "DOORBELL queue 8 value 3, which is"),
            ("a packet", "PACKET_START queue 9 packet 0 FILL on engine 0: "
             f"FILL pattern_size=4 dst=0x{DATA:x} size=4096"),
            ("its end", "PACKET_END queue 9 packet 0 FILL signal 77"),
            ("an error", "QUEUE queue 9 stopped PACKET NONE at (unknown packet)"),
            ("an event", "EVENT MCU_STATE 0x1 0x0"),
            ("the console", "CONSOLE ")):
        check(name, text in words, words[-1500:])
    some = dissect(tool, path, "-k", "doorbell", "-k", "QUEUE").stdout
    check("some kinds", {line.split()[1] for line in some.splitlines()} ==
          {"DOORBELL", "QUEUE"}, some)
    check("no such kind", dissect(tool, path, "-k", "x").returncode == 2)


def test_damage(tool, data, folder):
    path = os.path.join(folder, "damaged")
    rng = random.Random(1)
    whole = list(blocks(data))

    def run(damaged):
        with open(path, "wb") as f:
            f.write(damaged)
        return dissect(tool, path)
    for name, text, damaged in (
            ("an empty file", "empty", b""),
            ("some text", "no pcapng", b"GIF89a" * 10),
            ("a short one", "no pcapng", data[:11]),
            ("the end of a block", "ends in a block", data[:-1]),
            ("another byte order", "byte order",
             data[:8] + bytes(reversed(data[8:12])) + data[12:]),
            ("a length of 0", "impossible length",
             data[:28] + struct.pack("<II", 1, 0) + data[36:]),
            ("lengths that differ", "two lengths",
             data[:24] + struct.pack("<I", 32) + data[28:])):
        out = run(damaged)
        check(name, out.returncode == 1 and text in out.stderr, out.stderr)
    # A packet that claims to be longer than its block.
    head = data[:sum(len(b) + 12 for _, b in whole[:2])]
    body = struct.pack("<IIIII", 0, 0, 0, 5000, 5000) + b"\x01" * 24
    block = struct.pack("<II", 6, len(body) + 12) + body + struct.pack(
        "<I", len(body) + 12)
    check("a packet too long", "longer than its block" in
          run(head + block).stderr)
    bad = 0
    for _ in range(60):
        damaged = bytearray(data[:4096])
        for _ in range(rng.randrange(1, 30)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        bad += run(bytes(damaged)).returncode not in (0, 1)
    check("damaged files end well", not bad, bad)


def test_lua(script, data, folder):
    lua = next((t for t in map(shutil.which, ("lua5.4", "lua5.3", "lua"))
                if t), None)
    if not lua:
        print("# no lua: the dissector is not loaded")
        return
    host, lines = (os.path.join(folder, n) for n in ("host.lua", "lines"))
    with open(host, "w", encoding="utf-8") as f:
        f.write(LUA)
    with open(lines, "w", encoding="utf-8") as f:
        f.write("\n".join(r.hex() for r in records(data)) + "\n")
        f.write("00\n" + "ff" * 24 + "\n" + "0104" + "00" * 80 + "\n")
    out = subprocess.run([lua, host, script, lines], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, timeout=300,
                         check=False)
    check("the dissector runs", out.returncode == 0, out.stdout[-2000:])
    for text in ("WRITE MCU_CTRL START <- 0x1", "REQUEST 1 HELLO",
                 "ANSWER 1 status 0", "PACKET_START queue 9 index 0 FILL",
                 "PACKET_END queue 9 index 0 FILL", f"  dst=0x{DATA:x}",
                 "  pattern[0]=0x5a", "DOORBELL queue 9 value 1",
                 "DOORBELL queue 8 value 3, which is disabled",
                 "QUEUE queue 9 ERROR index 1", "EVENT MCU_STATE 0x1 0x0"):
        check(f"the dissector says {text.strip()}",
              text + "\n" in out.stdout, out.stdout[-2000:])
    shown = [line for line in out.stdout.splitlines()
             if line.startswith("CONSOLE ")]
    check("... and the console", any("firmware" in line for line in shown),
          shown)


def test_kinds(paths, tool, folder):
    os.environ["MXGPU_CAPTURE_KINDS"] = "packet_start,Queue"
    make(paths, os.path.join(folder, "some-%p.pcapng"))
    path = os.path.join(folder, f"some-{os.getpid()}.pcapng")
    found = {line.split()[1] for line in dissect(tool, path).stdout.split("\n")
             if line}
    check("only some kinds, and the process id", found ==
          {"PACKET_START", "QUEUE"}, found)
    for text in ("packet_start,,queue", "packet", "irq,"):
        os.environ["MXGPU_CAPTURE_KINDS"] = text
        try:
            make(paths, path)
            refused = False
        except AssertionError:
            refused = True
        check(f"no kinds: {text}", refused)
    del os.environ["MXGPU_CAPTURE_KINDS"]


def main():
    paths, tool, script = sys.argv[1:4], sys.argv[4], sys.argv[5]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "capture.pcapng")
        make(paths, path)
        data = test_file(path)
        test_text(tool, path)
        test_damage(tool, data, folder)
        test_lua(script, data, folder)
        test_kinds(paths, tool, folder)
        os.environ["MXGPU_CAPTURE"] = "/nonexistent/folder/x"
        try:
            Rig(*paths)
            refused = False
        except AssertionError:
            refused = True
        check("a file that cannot be written", refused)
    return finish()


sys.exit(main())
