#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-stream.py MX-PROF: what mx-prof makes of a recorded file does not need more
memory when the file is larger, also when it is made meanwhile, and says the same
of each part of it."""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import time

from tap import check, end

PROF = sys.argv[1]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "../../tools/mx-prof/recorded.py")
# The layout of the file, as mx-prof has it from the C headers.
FORMATS = dict(re.findall(r'^(\w+) = struct.Struct\("(.*)"\)',
                          open(SOURCE, encoding="utf-8").read(), re.M))
LAUNCHES = 16000
SAMPLES = 64


def pack(name, *values):
    return struct.pack(FORMATS[name], *values)


def entry(kind, *parts):
    body = b"".join(parts)
    body += bytes(-len(body) % 8)
    return pack("ENTRY", 8 + len(body), kind) + body


def launch(n):
    """A call that launches; the kernel ends later than it returns."""
    at = 10_000 + 1000 * n
    counters = [0] * 32
    counters[0], counters[1] = 100, 6400
    return b"".join((
        entry(6, pack("WORK", 1, n + 1, 0, at + 10, 0x5000 + n % 2, 0, 3, 7, 3,
                      0, 0, 0, 4, 1, 1, 64, 1, 1)),
        entry(5, pack("API", at, at + 100, 7, 0), b"mcLaunchKernel\0"),
        entry(7, pack("DONE", 1, n + 1, 3, SAMPLES),
              pack("RECORD", 0, 0, 0, at + 200, at + 600, SAMPLES, 1, 1009, 0,
                   0), struct.pack("<32Q", *counters),
              pack("UNIT", 0, 4, at + 200, at + 600, 400),
              struct.pack(f"<{SAMPLES}Q", *(
                  0x9000 + 2 * (i % 16) | 64 << 48 for i in range(SAMPLES))))))


def record(path, launches, pause=1 << 30):
    with open(path, "wb") as f:
        f.write(pack("HEAD", b"MXPROF\r\n", 1, 77, 9000, 0, b"made"))
        f.write(entry(1, pack("DEVICE", 1, 0, 1, 9000, 9000, 0, b"device")))
        for i, name in enumerate((b"even\0", b"odd\0")):
            f.write(entry(4, pack("KERNEL", 1, 0, 0x5000 + i, 0x5100, 8, 0),
                          name))
        for n in range(launches):
            f.write(launch(n))
            if n % pause == pause - 1:
                f.flush()
                time.sleep(.3)
        f.write(entry(2, pack("CLOCK", 1, 10**9, 10**9)))


def prof(path, *args):
    """The most memory that mx-prof took, in bytes. It counts what this process
    has, too, when it makes the other."""
    with subprocess.Popen([PROF, "--trace", path + ".trace", "--json",
                           path + ".json", *args],
                          stdout=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    check(f"{os.path.basename(path)}: status", child.returncode == 0)
    return usage.ru_maxrss << 10


def run(folder, launches):
    """That memory, and the size of the file."""
    path = os.path.join(folder, f"{launches}.mxprof")
    record(path, launches)
    return prof(path, "--import", path), os.stat(path).st_size


def run_live(folder, launches):
    """That memory, when the file is made while mx-prof runs."""
    return prof(os.path.join(folder, f"live-{launches}"), sys.executable,
                __file__, "--write", str(launches))


def made(folder, kind):
    with open(os.path.join(folder, f"{LAUNCHES}.mxprof.{kind}"),
              encoding="utf-8") as f:
        return json.load(f)


def main():
    with tempfile.TemporaryDirectory() as folder:
        little, first = run(folder, LAUNCHES // 2)
        much, size = run(folder, LAUNCHES)
        # before this process has much itself, which would count
        growth = run_live(folder, LAUNCHES) - run_live(folder, LAUNCHES // 2)
        tables, events = made(folder, "json"), made(folder, "trace")
        with open(os.path.join(folder, f"live-{LAUNCHES}.trace"),
                  encoding="utf-8") as f:
            live = json.load(f)
    kernels = {k["kernel"]: k for k in tables["kernels"]}
    check("all launches are counted",
          {n: k["calls"] for n, k in kernels.items()} ==
          {"even": LAUNCHES // 2, "odd": LAUNCHES // 2}, kernels)
    check("their times", all(k["total_ns"] == 400 * k["calls"] and
                             k["min_ns"] == k["max_ns"] == 400
                             for k in kernels.values()))
    check("their counters", all(k["warp_instructions"] == 100 * k["calls"] and
                                k["lane_efficiency"] == 1.0
                                for k in kernels.values()))
    check("calls", tables["calls"][0]["count"] == LAUNCHES and
          tables["calls"][0]["total_ns"] == 100 * LAUNCHES)
    slices = [e for e in events if e["ph"] == "X"]
    check("slices: a call, a queue's, a kernel's and a unit's",
          len(slices) == 4 * LAUNCHES, len(slices))
    arrows = [e for e in events if e["ph"] in "sf"]
    check("each launch has its arrow", len(arrows) == 2 * LAUNCHES and all(
        a["ts"] < b["ts"] for a, b in zip(arrows[::2], arrows[1::2])))
    check("memory does not grow with the file",
          much - little < (size - first) / 2,
          f"{much - little} for {size - first} bytes more")
    check("nor when it is made meanwhile", growth < (size - first) / 2,
          f"{growth} for {size - first} bytes more")
    check("the trace is the same then", [
        (e["name"], e.get("dur"), e.get("args")) for e in live
        if e["ph"] in "Xsf"] == [
        (e["name"], e.get("dur"), e.get("args")) for e in events
        if e["ph"] in "Xsf"])
    end()


if sys.argv[1] == "--write":
    record(os.environ["MXGPU_PROFILE"].replace("%p", str(os.getpid())),
           int(sys.argv[2]), int(sys.argv[2]) // 8)
else:
    main()
