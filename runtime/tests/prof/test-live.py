#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-live.py MX-PROF PROGRAM: the trace is there while the program runs, and
whatever is killed; so is what a killed program recorded."""
import glob
import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

from tap import check, end, note

PROF, PROGRAM = map(os.path.abspath, sys.argv[1:3])
TMP = tempfile.mkdtemp(prefix="test-live.")
PATIENCE = 60


def events(path):
    """What a viewer reads of an array that may end anywhere. Here it ends with
    a whole event."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        text = f.read()
    return json.loads(text if text.endswith("]\n") else text + "]")


def kernels(found, name="half<100>"):
    """Their slices in the tracks of kernels."""
    tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in found
              if e["name"] == "thread_name"}
    return [e for e in found if e["ph"] == "X" and name in e["name"] and
            " kernels" in tracks[e["pid"], e["tid"]]]


def open_work(found):
    return [e["name"] for e in found if e["ph"] == "i" and
            "no end seen" in e["name"]]


class Run:
    """A run of its own process group, under way."""

    def __init__(self, mode, *options):
        self.folder = tempfile.mkdtemp(dir=TMP)
        self.trace, self.keep = f"{self.folder}/trace", f"{self.folder}/keep"
        self.child = subprocess.Popen(
            [PROF, "--trace", self.trace, "--keep", self.keep, *options,
             PROGRAM, mode], stdout=subprocess.PIPE, text=True,
            stderr=subprocess.STDOUT, start_new_session=True, cwd=self.folder)

    def wait_for(self, enough):
        """Events of the trace once they are enough. A write may be under way while
        the file is read: what is not whole then is read again."""
        limit = time.monotonic() + PATIENCE
        while time.monotonic() < limit and self.child.poll() is None:
            try:
                found = events(self.trace)
            except json.JSONDecodeError:
                found = []
            if enough(found):
                return found
            time.sleep(.05)
        return []

    def program(self):
        record, = glob.glob(f"{self.keep}/*.mxprof")
        return int(os.path.basename(record).split(".")[0])

    def finish(self):
        said = self.child.communicate(timeout=PATIENCE)[0]
        note(said)
        return said

    def imported(self):
        """Tables and trace of what was left."""
        record, = glob.glob(f"{self.keep}/*.mxprof")
        done = subprocess.run(
            [PROF, "--json", f"{self.folder}/json", "--trace",
             f"{self.folder}/again", "-o", f"{self.folder}/report", "--import",
             record], check=False, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        note(done.stdout)
        with open(f"{self.folder}/json", encoding="utf-8") as f:
            return json.load(f), events(f"{self.folder}/again")


def test_program_killed():
    run = Run("endless")
    during = run.wait_for(lambda found: len(kernels(found)) >= 20)
    check("kernels are in the trace while the program runs", during)
    arrows = [e for e in during if e["ph"] in "sf"]
    check("... and arrows", len(arrows) >= 40, len(arrows))
    os.kill(run.program(), signal.SIGKILL)
    said = run.finish()
    check("the program's status", run.child.returncode == 128 + 9 and
          "half<100>" in said, said)
    after = events(run.trace)
    check("what was there stays, more follows", after[:len(during)] == during
          and len(kernels(after)) >= len(kernels(during)))
    with open(run.trace, encoding="utf-8") as f:
        check("the array is closed", json.load(f) == after)
    tables, again = run.imported()
    check("the record has as much", tables["kernels"][0]["calls"] -
          tables["kernels"][0]["unfinished"] == len(kernels(after)) ==
          len(kernels(again)), tables["kernels"][0])


def test_group_killed():
    run = Run("endless")
    during = run.wait_for(lambda found: len(kernels(found)) >= 20)
    os.killpg(run.child.pid, signal.SIGKILL)
    run.finish()
    after = events(run.trace)
    check("all are killed: the trace has what it had", during and
          after[:len(during)] == during, len(after))
    tables, again = run.imported()
    check("... and the record at least that", len(kernels(again)) >=
          len(kernels(after)) >= 20 and tables["kernels"][0]["calls"] -
          tables["kernels"][0]["unfinished"] == len(kernels(again)))


def test_hang():
    run = Run("hang")
    during = run.wait_for(open_work)
    check("what hangs is told", any("forever" in name
                                    for name in open_work(during)), during)
    os.kill(run.program(), signal.SIGKILL)
    run.finish()
    names = open_work(events(run.trace))
    check("... once", sum("forever" in n for n in names) == 1, names)
    _, again = run.imported()
    check("... and by what was recorded", any(
        "forever" in name for name in open_work(again)), open_work(again))


def test_firmware():
    run = Run("endless", "--firmware")
    during = run.wait_for(lambda found: any(
        e["name"] == "DISPATCH" for e in found))
    check("packets are in the trace while the program runs", during)
    os.killpg(run.child.pid, signal.SIGKILL)
    run.finish()


def test_faster_than_we_are():
    """A program that records more than can be read meanwhile starves nothing."""
    run = Run("flood", "--firmware")
    done = run.wait_for(lambda found: any(
        e["name"] == "DISPATCH" for e in found))
    check("of a flood there are calls and packets", done and kernels(done))
    os.kill(run.program(), signal.SIGKILL)
    said = run.finish()
    check("... and its end is seen", run.child.returncode == 128 + 9, said)


def test_room():
    """A thread that was killed before it wrote to its room hides nothing."""
    run = Run("figures")
    run.finish()
    before, _ = run.imported()
    record, = glob.glob(f"{run.keep}/*.mxprof")
    with open(record, "rb") as f:
        data = f.read()
    sizes, at = [], 128
    while at + 8 <= len(data):
        size, kind = struct.unpack_from("<2I", data, at)
        if not size:
            break
        sizes.append((at, size, kind))
        at += size
    calls = [(at, size) for at, size, kind in sizes if kind == 5]
    lost, room = calls[len(calls) // 2]
    for name in "room", "large room", "type":
        bad = bytearray(data)
        if name == "type":
            bad[lost + 4:lost + 8] = bytes(4)
        else:
            bad[lost:lost + room] = bytes(room)
            if name == "large room":
                bad[lost:lost] = bytes(3 << 20)
        with open(record, "wb") as f:
            f.write(bad)
        tables, _ = run.imported()
        check(f"unwritten {name}: one call less",
              sum(c["count"] for c in tables["calls"]) ==
              sum(c["count"] for c in before["calls"]) - 1 and
              tables["kernels"] == before["kernels"], tables["calls"])


def test_unwritable():
    """A trace that cannot be written ends no program."""
    done = subprocess.run(
        [PROF, "--trace", f"{TMP}/full", "-o", f"{TMP}/report", "sh", "-c",
         f"ulimit -f unlimited; {PROGRAM} figures; exit 3"], check=False,
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY)))
    check("the trace is full", done.returncode == 3 and
          "File too large" in done.stdout and "Traceback" not in done.stdout,
          done.stdout)


test_program_killed()
test_group_killed()
test_hang()
test_firmware()
test_faster_than_we_are()
test_room()
test_unwritable()
shutil.rmtree(TMP, ignore_errors=True)
end()
