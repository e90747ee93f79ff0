#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""usage: replay.py TOP SAMPLE STREAMS

Records guests that run a sample and runs them again: what they print, where
their firmware crashes, and what one finds who goes back from the middle.
STREAMS, a sample with several streams, runs into a race of a firmware that has
one. Prints TAP; with REPLAY_SHOW=1 in the environment, what gdb says as well.
"""

import filecmp
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback

TOP, SAMPLE, STREAMS = os.path.realpath(sys.argv[1]), *sys.argv[2:4]
RUN = os.path.join(TOP, "scripts/run-guest")
FIRMWARE = os.path.join(TOP, "build/firmware/mxgpu-fw.elf")
RACE = os.path.join(TOP, "build/firmware/mxgpu-fw-race.bin")
RUNTIME = os.path.join(TOP, "build/runtime/libmcruntime.so")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TOP, "scripts/guest"))
from qmp import Qmp  # noqa: E402

LIMIT = 180  # seconds that anything may take

# What guests that are alike agree in: results, interrupts, time.
LOOK = """\
"$1"
echo "status $?"
cat /proc/interrupts /proc/uptime
date
"""


def run_guest(*args, **more):
    return subprocess.run([RUN, *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=LIMIT,
                          stdin=subprocess.DEVNULL, check=False, **more)


def record(folder, *args, **env):
    script = os.path.join(os.path.dirname(folder), "look.sh")
    if not os.path.exists(script):  # guests that are alike have one file
        with open(script, "w", encoding="utf-8") as f:
            f.write(LOOK)
    return run_guest("--record", folder, "--no-copy-back", *args,
                     "--file", SAMPLE, "--script", script, "--", SAMPLE,
                     env={**os.environ, "SOURCE_DATE_EPOCH": "1790000000",
                          **env})


def expect(condition, *what):
    if not condition:
        raise AssertionError(" ".join(map(str, what)))


def test_alike(folder):
    """two records, and a replay, of the same guest"""
    first = record(f"{folder}/one")
    expect("status 0" in first.stdout and first.returncode == 0, first)
    again = run_guest("--replay", f"{folder}/one")
    expect(again.returncode == 0 and again.stdout == first.stdout,
           "replayed:", again.stdout, again.stderr, "recorded:", first.stdout)
    os.utime(f"{folder}/look.sh")  # written later, and the same archive
    second = record(f"{folder}/two")
    expect(filecmp.cmp(f"{folder}/one/initrd", f"{folder}/two/initrd", False),
           "the guests were given different archives")
    expect(second.stdout == first.stdout,
           "second:", second.stdout, "first:", first.stdout)


def symbol_offset(elf, name):
    """Where in the file a function of a 32-bit ELF file is."""
    shoff, = struct.unpack_from("<I", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 46)
    sections = [struct.unpack_from("<10I", elf, shoff + i * size)
                for i in range(count)]
    for section in sections:
        if section[1] != 2:  # SHT_SYMTAB
            continue
        names = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], 16):
            text, value, _, _, _, index = struct.unpack_from("<IIIBBH", elf, at)
            start = names + text
            if elf[start:elf.index(b"\0", start)] == name.encode():
                home = sections[index]
                return value, home[4] + value - home[3]
    raise AssertionError(f"no function {name}")


def broken_firmware(folder):
    """Stops with an illegal instruction at the first copy. Returns the image
    and the address."""
    with open(FIRMWARE, "rb") as f:
        elf = bytearray(f.read())
    address, offset = symbol_offset(elf, "copy_start_packet")
    elf[offset:offset + 4] = bytes(4)
    with open(f"{folder}/broken.elf", "wb") as f:
        f.write(elf)
    subprocess.run([os.path.join(TOP, "firmware/pack.py"),
                    f"{folder}/broken.elf", f"{folder}/broken.bin"],
                   check=True)
    return f"{folder}/broken.bin", address


def test_crash(folder):
    """a firmware that crashes does so at the same place again"""
    image, address = broken_firmware(folder)
    first = record(f"{folder}/crash", "--env", "MXGPU_LOG=error",
                   MXGPU_FIRMWARE=image)
    expect(f"{address:x}" in first.stderr, f"no crash at {address:#x}:",
           first.stdout, first.stderr)
    again = run_guest("--replay", f"{folder}/crash")
    expect(again.stdout == first.stdout, again.stdout, first.stdout)
    lines = [line for line in first.stderr.splitlines()
             if not line.startswith("run-guest")]
    expect(again.stderr.splitlines() == lines, again.stderr, first.stderr)


class Replay:
    """A replay with the ends of gdb and of the monitor, stopped at its
    start."""

    def __init__(self, folder, name):
        self.place = f"{folder}/{name}.qmp"
        self.gdb_place = f"{folder}/{name}.gdb"
        self.process = subprocess.Popen(
            [RUN, "--replay", f"{folder}/{name}", "--qemu-arg=-S",
             "--qemu-arg=-no-shutdown", "--qemu-arg=-chardev",
             "--qemu-arg=socket,id=gdb,server=on,wait=off,"
             f"path={self.gdb_place}", "--qemu-arg=-gdb",
             "--qemu-arg=chardev:gdb", "--qemu-arg=-qmp",
             f"--qemu-arg=unix:{self.place},server=on,wait=off",
             "--boot-limit=600", "--hang-limit=600"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.qmp = Qmp(self.connect(self.place))

    def connect(self, place):
        deadline = time.monotonic() + LIMIT
        while True:
            sock = socket.socket(socket.AF_UNIX)
            try:
                sock.connect(place)
                return sock
            except OSError:
                sock.close()
                expect(time.monotonic() < deadline, "no", place)
                expect(self.process.poll() is None, "run-guest ended")
                time.sleep(0.02)

    def count(self):
        return self.qmp.call("query-replay")["icount"]

    def wait_stop(self):
        deadline = time.monotonic() + LIMIT
        while self.qmp.call("query-status")["running"]:
            expect(time.monotonic() < deadline, "the replay does not stop")
            time.sleep(0.02)
        return self.count()

    def forward(self, count=None):
        """To that instruction, or to the end."""
        if count:
            self.qmp.call("replay-break", icount=count)
        self.qmp.call("cont")
        return self.wait_stop()

    def seek(self, count):
        self.qmp.call("replay-seek", icount=count)
        reached = self.wait_stop()
        expect(reached == count, "sought", count, "reached", reached)

    def hmp(self, line):
        return self.qmp.call("human-monitor-command",
                             **{"command-line": line})

    def busy(self):
        """Goes to where a program runs, late in the record, and leaves a
        snapshot shortly before."""
        end = self.forward()
        for at in range(end * 96 // 100, end, 1000003):
            self.seek(at - 1000)
            self.hmp("savevm near")
            self.seek(at)
            registers = self.hmp("info registers")
            if "CPL=3" in registers and "HLT=0" in registers:
                return at
        raise AssertionError("no program runs")

    def state(self):
        """Of the processor and of the device."""
        path = next("/machine/peripheral-anon/" + child["name"] for child in
                    self.qmp.call("qom-list",
                                  path="/machine/peripheral-anon")
                    if child["type"] == "child<mxgpu>")
        parts = [self.hmp("info registers")]
        for command in ("queues", "engines"):
            self.qmp.call("qom-set", path=path, property="x-inspect",
                          value=command)
            parts.append(self.qmp.call("qom-get", path=path,
                                       property="x-inspect"))
        return parts

    def gdb(self, *commands):
        words = ["gdb-multiarch", "-nx", "-batch", "-ex",
                 "set architecture i386:x86-64", "-ex",
                 f"target remote {self.gdb_place}"]
        for command in commands:
            words += ["-ex", command]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, timeout=LIMIT,
                              stdin=subprocess.DEVNULL, check=False)
        return done.stdout

    def close(self):
        try:
            self.qmp.call("quit")
        except Exception:  # it answers or it has gone
            pass
        self.process.wait(LIMIT)


def test_backwards(folder):
    """a replay goes back, and the device with it"""
    replay = Replay(folder, "one")
    try:
        middle = replay.busy()
        state = replay.state()
        for place in (middle - 500, middle, 1 << 30, middle):
            replay.seek(place)
        expect(replay.state() == state, "another state:", replay.state(),
               "it was", state)
        show = 'printf "pc %#lx\\n", $pc'
        out = replay.gdb(show, *["stepi", show] * 3,
                         *["reverse-stepi", show] * 3,
                         "reverse-continue", show)
        pcs = re.findall(r"^pc (0x\w+)$", out, re.M)
        expect(len(pcs) == 8 and pcs[:3] == pcs[6:3:-1], "steps:", out)
        expect(pcs[7] == "0xfff0", "not at the first instruction:", out)
    finally:
        replay.close()


# A program that hangs, and where its runtime is.
HANG = """\
"$1" &
sleep 0.2
grep -m1 libmcruntime /proc/$!/maps
wait
"""


def record_hang(folder):
    """Returns where the runtime is in the program."""
    with open(f"{folder}/hang.sh", "w", encoding="utf-8") as f:
        f.write(HANG)
    done = run_guest("--record", f"{folder}/hang", "--no-copy-back",
                     "--timeout", "4", "--append", "norandmaps", "--file",
                     STREAMS, "--script", f"{folder}/hang.sh", "--", STREAMS,
                     env={**os.environ, "SOURCE_DATE_EPOCH": "1790000000",
                          "MXGPU_FIRMWARE": RACE})
    expect(done.returncode == 124, "it does not hang:", done)
    return "0x" + done.stdout.split("-")[0]


def doorbells(queues):
    """Of "info mxgpu queues": of each queue its doorbell, and what the firmware
    has seen of it."""
    return {number: (value, seen) for number, value, seen in re.findall(
        r"^queue (\d+): doorbell (\d+)\s+.*\s+packets rung (\d+),", queues,
        re.M)}


def test_race(folder):
    """a race in a firmware is there again, and what came before the hang"""
    base = record_hang(folder)
    replay = Replay(folder, "hang")
    try:
        replay.forward()
        queues = replay.hmp("info mxgpu queues")
        rung = doorbells(queues)
        lost = [n for n, (value, seen) in rung.items() if value != seen]
        expect(len(lost) == 1, "lost doorbells:", queues)
        out = replay.gdb(
            f"add-symbol-file {RUNTIME} -o {base}", "break vfio_doorbell",
            "reverse-continue", "backtrace 4", "monitor info replay",
            "monitor info mxgpu queues")
        if os.environ.get("REPLAY_SHOW"):
            print(*("# " + line for line in (queues + out).splitlines()),
                  sep="\n")
        stop = re.search(r"^Breakpoint 1, vfio_doorbell \(.*queue=(\d+), "
                         r"value=(\d+)\)", out, re.M)
        expect(stop and stop[2] == rung[stop[1]][0], "not the last one:", out)
        before = doorbells(out)
        expect(before[stop[1]][0] != stop[2], "after it was rung:", out)
        expect(before[lost[0]] == rung[lost[0]], "lost later:", out)
    finally:
        replay.close()


def test_refused(folder):
    """what cannot be recorded is said"""
    for options, words in (
            (["--device-opt", "deterministic=off"], "deterministic=on"),
            (["--qemu-arg=-chardev", "--qemu-arg=null,id=g", "--device-opt",
              "fw-gdb=g"], "fw-gdb")):
        done = record(f"{folder}/refused", *options)
        expect(done.returncode == 123 and words in done.stderr, done)
        shutil.rmtree(f"{folder}/refused")
    done = run_guest("--replay", folder)
    expect(done.returncode == 125 and "no record" in done.stderr, done)
    done = record(f"{folder}/one")
    expect(done.returncode == 125 and "exists" in done.stderr, done)


def main():
    tests = (test_alike, test_crash, test_backwards, test_race,
             test_refused)
    with tempfile.TemporaryDirectory() as folder:
        for number, test in enumerate(tests, 1):
            try:
                test(folder)
                print(f"ok {number} - {test.__doc__}", flush=True)
            except Exception:
                print(f"not ok {number} - {test.__doc__}")
                for line in traceback.format_exc().splitlines():
                    print("# " + line[:4000])
    print(f"1..{len(tests)}")


if __name__ == "__main__":
    main()
