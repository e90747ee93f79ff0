#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-tracks.py MX-PROF PROGRAM: what mx-prof's trace shows of firmware, packets,
faults and preemptions, and the tables of --stats."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

from tap import check, end, note

PROF, PROGRAM = map(os.path.abspath, sys.argv[1:3])
TMP = tempfile.mkdtemp(prefix="test-tracks.")


def run(*args, **more):
    done = subprocess.run([PROF, *args], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, check=False, cwd=TMP,
                          timeout=600, **more)
    note(done.stdout)
    return done


def events(path):
    """{track: [(name, begin, end, arguments)]} of a trace."""
    with open(path, encoding="utf-8") as f:
        found = json.load(f)
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in found
             if e["name"] == "thread_name"}
    tracks = {}
    for e in found:
        if e["ph"] in "Xi":
            tracks.setdefault(names[e["pid"], e["tid"]], []).append(
                (e["name"], e["ts"], e["ts"] + e.get("dur", 0), e["args"]))
    return tracks


def test_preempted():
    keep = f"{TMP}/keep"
    done = run("--firmware", "--keep", keep, "--trace", "trace", "-o", "report",
               PROGRAM, "preempted",
               env={**os.environ, "MXGPU_COMPUTE_UNITS": "2"})
    check("a preempted kernel ends", done.returncode == 0, done.stdout)
    tracks = events(f"{TMP}/trace")
    held = tracks.get("device 0 preemptions", [])
    work = {name.split("(")[0]: (begin, stop) for name, begin, stop, _ in
            tracks["device 0 kernels"] + tracks.get("device 0 kernels (2)", [])}
    low, high = work["patient"], work["urgent"]
    check("it was preempted", held and all("preempted" in h[0] for h in held),
          sorted(tracks))
    # Times of the device are put on the host's clock by two moments: what is
    # compared are both the device's.
    check("... while it ran, and the urgent one could run", any(
        low[0] <= h[1] <= high[1] and h[1] < h[2] <= low[1] for h in held),
        (held, low, high))
    packets = [p for name, group in tracks.items() for p in group
               if name.startswith("device 0 packets of queue ")]
    names = [p[0] for p in packets]
    check("packets", names.count("DISPATCH") == 2 and "FILL" in names, names)
    check("where they ran", all(
        p[3]["on"].startswith("slot ") for p in packets if p[0] == "DISPATCH"),
        packets)
    said = {name for name, _, _, _ in tracks["device 0 firmware"]}
    check("queues come and go", any(n.endswith(" CREATE") for n in said) and
          any(n.endswith(" DESTROY") for n in said), said)
    check("messages", {"HELLO", "QUEUE_CREATE"} <=
          {m[0] for m in tracks["device 0 messages"]})
    check("doorbells and interrupts", tracks["device 0 doorbells"] and
          tracks["device 0 interrupts"])
    for name, group in tracks.items():
        if name.startswith("device 0"):
            group = sorted((s for s in group if s[2] > s[1]),
                           key=lambda s: s[1:3])
            check(f"{name}: nothing overlaps", all(
                a[2] <= b[1] + .002 for a, b in zip(group, group[1:])), group)
    test_import(keep, len(packets))


def test_import(keep, packets):
    """Damaged captures give what can be read of them, never an exception."""
    record, = glob.glob(f"{keep}/*.mxprof")
    capture, = glob.glob(f"{keep}/*.pcapng")
    with open(capture, "rb") as f:
        data = f.read()
    bad, counts = [], []
    shutil.copy(record, f"{TMP}/x.mxprof")
    for n in range(12):
        cut = bytearray(data[:len(data) * n // 11 if n % 2 else len(data)])
        for i in range(n * 37, len(cut) if n else 0, 211 + 97 * n):
            cut[i] ^= 1 << n % 8
        with open(f"{TMP}/x.pcapng", "wb") as f:
            f.write(cut)
        done = run("--trace", "cut", "--import", "x.mxprof")
        if done.returncode or "Traceback" in done.stdout:
            bad.append(done.stdout)
            continue
        counts.append(sum(len(g) for name, g in events(f"{TMP}/cut").items()
                          if "packets of queue" in name))
    check("damaged captures", not bad, bad[:1])
    check("a whole one", counts[0] == packets, counts)
    with open(f"{TMP}/x.pcapng", "wb") as f:
        f.write(data[:len(data) // 2 + 1])
    run("--trace", "cut", "--import", "x.mxprof")
    check("half of one", "device 0 firmware" in events(f"{TMP}/cut"))


def test_fault():
    done = run("--firmware", "--trace", "trace", "-o", "report", PROGRAM,
               "fault")
    check("the program's status", done.returncode == 7, done.stdout)
    tracks = events(f"{TMP}/trace")
    found = tracks.get("device 0 faults", [])
    check("a fault", any(f[0] == "address not mapped" and
                         int(f[3]["address"], 16) & ~0xff == 0x5000
                         for f in found), found)
    check("its queue stops", any("ERROR" in name and "fault" in args
                                 for name, _, _, args in
                                 tracks["device 0 firmware"]))
    run("--trace", "trace", "-o", "report", PROGRAM, "fault")
    check("not without --firmware", not any(
        "firmware" in t for t in events(f"{TMP}/trace")))


def test_none():
    done = run("--firmware", "--trace", "trace", "-o", "report", PROGRAM,
               "fault", env={**os.environ, "MXGPU_DEVICE": "nonsense"})
    check("a device that is not simulated", "no device was simulated" in
          done.stdout, done.stdout)


def test_stats():
    done = run("--stats", "--no-trace", PROGRAM, "figures")
    parts = done.stdout.split("\n ** ")
    rows = {p.split(":", 1)[0]: p.splitlines()[2:] for p in parts[1:]}
    check("tables", list(rows) == [
        "API Summary", "Kernel Summary", "Memory Operations Summary (by Time)",
        "Memory Operations Summary (by Size)"], list(rows))
    kernels = [r.split(None, 8) for r in rows["Kernel Summary"][2:] if r]
    by_name = {r[8]: r for r in kernels}
    check("kernels", len(kernels) == 7 and
          abs(sum(float(r[0]) for r in kernels) - 100) < .5, kernels)
    times = [int(r[1]) for r in kernels]
    check("by time", times == sorted(times, reverse=True), times)
    row = by_name["void barriers<5>()"]
    total, count = int(row[1]), int(row[2])
    least, most = int(row[5]), int(row[6])
    check("figures of a row", count == 7 and
          abs(float(row[3]) - total / 7) <= .1 and
          least <= float(row[4]) <= most and
          0 <= float(row[7]) <= most, row)
    check("calls", any(r.endswith(" mcLaunchKernel") and r.split()[2] == "13"
                       for r in rows["API Summary"]), rows["API Summary"])
    size = [r for r in rows["Memory Operations Summary (by Size)"] if
            "[memset]" in r]
    check("sizes", len(size) == 1 and size[0].split()[:2] == ["1.049", "1"],
          size)
    done = run("--stats", "--no-trace", PROGRAM, "")
    check("nothing to tell", done.returncode == 0 and
          done.stdout.count(" none\n") == 4, done.stdout)


test_preempted()
test_fault()
test_none()
test_stats()
shutil.rmtree(TMP, ignore_errors=True)
end()
