#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-toolsext.py MX-PROF PROGRAM: annotations, and what mx-prof makes of
them."""
import json
import os
import subprocess
import sys
import tempfile

from tap import check, end, note

PROF, PROGRAM = map(os.path.abspath, sys.argv[1:3])
TMP = tempfile.mkdtemp(prefix="test-toolsext.")


def prof(mode, *options):
    """Exit status, tables, trace and report of a run."""
    done = subprocess.run(
        [PROF, "--json", f"{TMP}/json", "--trace", f"{TMP}/trace", "-o",
         f"{TMP}/report", *options, PROGRAM, mode],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False, timeout=600)
    note(done.stdout)
    with open(f"{TMP}/json", encoding="utf-8") as f:
        tables = json.load(f)
    with open(f"{TMP}/trace", encoding="utf-8") as f:
        trace = json.load(f)
    with open(f"{TMP}/report", encoding="utf-8") as f:
        return done.returncode, tables, trace, f.read()


def find(rows, key, name, domain=""):
    found = [r for r in rows if r[key] == name and r["domain"] == domain]
    return found[0] if len(found) == 1 else {}


def slices(trace, name):
    return [e for e in trace if e["ph"] == "X" and e["name"] == name]


def test_levels():
    status, t, trace, report = prof("levels")
    check("levels: status", status == 0, status)
    outer = find(t["ranges"], "range", "outer")
    inner = find(t["ranges"], "range", "inner")
    check("levels: counts", (outer["count"], inner["count"]) == (1, 3), t)
    check("levels: kernels of a range", outer["kernels"] == 3 and
          inner["kernels"] == 3, (outer, inner))
    check("levels: their time", 0 < inner["kernels_ns"] <= inner["total_ns"]
          and inner["kernels_ns"] == outer["kernels_ns"], (outer, inner))
    check("levels: one within the other",
          inner["total_ns"] <= outer["total_ns"])
    check("levels: many", find(t["ranges"], "range", "deep")["count"] == 100)
    check("levels: all were ended",
          not any(r["unfinished"] for r in t["ranges"]), t["ranges"])
    around = slices(trace, "outer")[0]
    within = slices(trace, "inner") + slices(trace, "mcLaunchKernel")[:3]
    check("levels: nested in the trace", len(within) == 6 and all(
        e["tid"] == around["tid"] and e["ts"] >= around["ts"] and
        e["ts"] + e["dur"] <= around["ts"] + around["dur"] + 0.002
        for e in within), within)
    check("levels: the report", "Ranges" in report and "outer" in report,
          report)


def test_started():
    status, t, trace, report = prof("started")
    check("started: status", status == 0, status)
    wide = "zw\u00f6lf \u20ac \U0001f600"
    for name in "first", wide:
        row = find(t["ranges"], "range", name)
        check(f"started: {ascii(name)}", row and row["count"] == 1 and
              row["unfinished"] == 0 and row["kernels"] == 1, t["ranges"])
    never = find(t["ranges"], "range", "never ended")
    check("started: one that nobody ends", never["unfinished"] == 1, never)
    check("started: the report tells", "never ended  [1 unfinished]" in report,
          report)
    pairs = [e for e in trace if e.get("cat") == "range" and e["ph"] in "be"]
    check("started: tracks of their own", len(pairs) == 6 and all(
        sum(e["id"] == i for e in pairs) == 2
        for i in {e["id"] for e in pairs}), pairs)


def test_described():
    status, t, trace, _ = prof("described")
    check("described: status", status == 0, status)
    check("described: of a domain",
          find(t["ranges"], "range", "described", "library"), t["ranges"])
    args = slices(trace, "described")[0]["args"]
    check("described: as it was said", args == {
        "domain": "library", "payload": 2.5, "category": "five",
        "color": "#102030"}, args)
    marks = [e for e in trace if e["ph"] == "i"]
    check("described: marks", [m["name"] for m in marks] ==
          ["registered", "registered", ""], marks)
    check("described: a mark's payload", marks[0]["args"]["payload"] == -7 and
          marks[0]["args"]["domain"] == "library", marks[0])
    check("described: categories are a domain's",
          marks[1]["args"]["category"] == "default five" and
          "domain" not in marks[1]["args"], marks[1])
    check("described: table of marks",
          find(t["marks"], "mark", "registered", "library").get("count") == 1,
          t["marks"])
    names = {(n["kind"], n["name"]) for n in t["names"]}
    check("described: names", names >= {
        ("domain", "library"), ("domain", "other"), ("category", "five"),
        ("thread", "main thread"), ("device", "the device"),
        ("stream", "my stream"), ("event", "my event"),
        ("resource", "lock")}, names)
    tracks = [e["args"]["name"] for e in trace if e["name"] == "thread_name"]
    check("described: the thread's track",
          any("(main thread)" in n for n in tracks), tracks)
    kernels = [e for e in trace if e.get("cat") == "kernel"]
    check("described: the kernel's stream", kernels and all(
        e["args"]["stream"] == "my stream" for e in kernels), kernels)


def test_adaptors():
    status, t, trace, _ = prof("adaptors")
    check("adaptors: status", status == 0, status)
    for name in ("cpp outer", "moved", "nvtx range", "nvtx started",
                 "roctx range", "roctx started", "adaptors"):
        row = find(t["ranges"], "range", name)
        check(f"adaptors: {name}", row and row["count"] == 1 and
              not row["unfinished"], t["ranges"])
    for name in "cpp inner", "adaptors":
        check(f"adaptors: {name} of a domain",
              find(t["ranges"], "range", name, "solver"), t["ranges"])
    for name, domain in (("cpp mark", ""), ("from a type", "solver"),
                         ("nvtx mark", ""), ("roctx mark", "")):
        check(f"adaptors: {name}", find(t["marks"], "mark", name, domain),
              t["marks"])
    args = slices(trace, "cpp inner")[0]["args"]
    check("adaptors: payload and category", args["payload"] == 42 and
          args["category"] == 3, args)
    args = slices(trace, "cpp outer")[0]["args"]
    check("adaptors: colour", args["color"] == "#010203", args)
    check("adaptors: thread", ("thread", "roctx thread") in {
        (n["kind"], n["name"]) for n in t["names"]}, t["names"])


def test_recording():
    status, t, _, _ = prof("paused", "--start-paused")
    check("paused: status", status == 0, status)
    check("paused: ranges", {(r["range"], r["unfinished"])
                             for r in t["ranges"]} ==
          {("pushed", 0), ("started", 0)}, t["ranges"])
    check("paused: marks", [m["mark"] for m in t["marks"]] == ["marked"],
          t["marks"])
    status, t, _, _ = prof("threads")
    check("threads: status", status == 0, status)
    rows = {r["range"]: (r["count"], r["unfinished"]) for r in t["ranges"]}
    check("threads: all is there", rows == {
        "thread 0": (2000, 0), "thread 1": (2000, 0), "thread 2": (2000, 0),
        "thread 3": (2000, 0), "of all": (8000, 0), "started": (8000, 0)},
          rows)
    status, t, trace, _ = prof("crash")
    check("crash: status", status == 128 + 6, status)
    check("crash: what was recorded",
          find(t["ranges"], "range", "until the crash")["unfinished"] == 1 and
          find(t["marks"], "mark", "last words"), t["ranges"])
    check("crash: in the trace",
          slices(trace, "until the crash")[0]["args"] == {"unfinished": True})
    status, t, _, _ = prof("forked")
    check("fork: status", status == 0, status)
    check("fork: the parent's only",
          [m["mark"] for m in t["marks"]] == ["parent"], t["marks"])


def test_plain():
    env = {k: v for k, v in os.environ.items() if k != "MXGPU_PROFILE"}
    done = subprocess.run([PROGRAM], env=env, check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check("not profiled", done.returncode == 0, done.stdout)


test_plain()
test_levels()
test_started()
test_described()
test_adaptors()
test_recording()
end()
