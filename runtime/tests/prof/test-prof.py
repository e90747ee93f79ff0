#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-prof.py MX-PROF PROGRAM: what mx-prof says about a program of known
figures."""
import json
import os
import resource
import subprocess
import sys
import tempfile

from tap import bail_out, check, end, note

PROF, PROGRAM = map(os.path.abspath, sys.argv[1:3])
TMP = tempfile.mkdtemp(prefix="test-prof.")


def prof(*args, program=PROGRAM, options=()):
    """Exit status, tables, trace and report of a run."""
    for f in ("json", "trace", "report"):
        if os.path.exists(f"{TMP}/{f}"):
            os.unlink(f"{TMP}/{f}")
    done = subprocess.run(
        [PROF, "--json", f"{TMP}/json", "--trace", f"{TMP}/trace", "-o",
         f"{TMP}/report", *options, program, *args],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False, timeout=600)
    note(done.stdout)
    if not os.path.exists(f"{TMP}/json"):
        return done.returncode, None, None, done.stdout
    with open(f"{TMP}/json", encoding="utf-8") as f:
        tables = json.load(f)
    with open(f"{TMP}/trace", encoding="utf-8") as f:
        trace = json.load(f)
    with open(f"{TMP}/report", encoding="utf-8") as f:
        return done.returncode, tables, trace, f.read()


def kernel(tables, name):
    rows = [r for r in tables["kernels"] if name in r["kernel"]]
    if len(rows) != 1:
        bail_out(f"{len(rows)} rows for {name}")
    return rows[0]


def difference(tables, small, big, counter):
    return kernel(tables, big)[counter] - kernel(tables, small)[counter]


def test_figures():
    status, t, trace, report = prof("figures", options=["--interval", "7",
                                                        "--exact"])
    check("status", status == 0 and t["status"] == 0, status)
    # 10 blocks of two warps; 200 more instructions for half of the lanes
    small, big = "half<100>", "half<300>"
    check("warp instructions",
          difference(t, small, big, "warp_instructions") == 20 * 200)
    check("lane instructions",
          difference(t, small, big, "lane_instructions") == 20 * 200 * 32)
    for name in small, big:
        k = kernel(t, name)
        check(f"{name} figures", k["calls"] == 1 and k["blocks"] == 10 and
              k["warps"] == 20 and k["divergent_branches"] == 20 and
              not k["faults"] and not k["unfinished"], k)
        check(f"{name} times", 0 < k["min_ns"] == k["max_ns"] == k["avg_ns"]
              == k["total_ns"], k)
    check("lane efficiency", 0.5 < kernel(t, big)["lane_efficiency"] < 0.6,
          kernel(t, big))
    check("warps' time", all(k["busy_ns"] <= 64 * k["total_ns"]
                             for k in t["kernels"]))
    # three warps; 20 more loads of each lane
    for step, each in (4, 4), (256, 64):
        small, big = f"load<10, {step}>", f"load<30, {step}>"
        check(f"requests, step {step}",
              difference(t, small, big, "mem_requests") == 60)
        check(f"transactions, step {step}",
              difference(t, small, big, "mem_transactions") == 60 * each)
        check(f"bytes, step {step}",
              difference(t, small, big, "mem_bytes") == 60 * 256)
        check(f"pages, step {step}",
              difference(t, small, big, "tlb_lookups") ==
              60 * (1 if step == 4 else 4))
        ratio = kernel(t, big)["transactions_per_request"]
        check(f"coalescing, step {step}", 0.9 * each < ratio <= each, ratio)
    k = kernel(t, "barriers<5>")
    # 7 launches, 2 blocks, 4 warps, 5 barriers
    check("barriers", k["barrier_waits"] == 7 * 2 * 4 * 5 and
          k["calls"] == 7 and k["blocks"] == 14, k)
    check("shares", abs(sum(k["share"] for k in t["kernels"]) - 1) < 1e-6)
    hot = t["hot_lines"][kernel(t, "half<300>")["kernel"]]
    with open(os.path.join(os.path.dirname(__file__), "prof.maca"),
              encoding="utf-8") as f:
        odd = [i + 1 for i, line in enumerate(f) if "/* odd */" in line]
    check("hot line", hot[0]["line"] in odd and hot[0]["share"] > 0.8 and
          hot[0]["file"].endswith("prof.maca") and
          "/* odd */" in hot[0]["text"], hot[:2])
    check("half of the lanes", abs(hot[0]["lane_efficiency"] - 0.5) < 0.02,
          hot[:1])
    check("calls", {c["call"]: c["count"] for c in t["calls"]}.get(
        "mcLaunchKernel") == 13, t["calls"])
    for word in "half<300>", "load<30, 256>", "prof.maca:", "mcLaunchKernel":
        check(f"report has {word}", word in report, report)
    check("all is counted", "estimates" not in report and all(
        not k["estimated"] and k["counted_instructions"] ==
        k["warp_instructions"] for k in t["kernels"]), report)
    check_trace(trace, 13)


def test_estimates():
    """Without --exact a part of a large grid is counted, something of each."""
    status, t, trace, report = prof("spans")
    check("estimates: status", status == 0, status)
    k = kernel(t, "load<30, 256>")
    # 20000 warps; 31 loads each: of these one of the argument
    check("estimates: small part is counted", k["estimated"] and
          0 < k["counted_instructions"] < k["warp_instructions"] / 100, k)
    check("estimates: what is exact", k["warps"] == k["blocks"] * 4 == 20000 and
          k["warp_instructions"] % 20000 == 0, k)
    check("estimates: requests",
          abs(k["mem_requests"] / (20000 * 31) - 1) < 0.03, k)
    check("estimates: coalescing",
          abs(k["transactions_per_request"] / (30 * 64 + 1) * 31 - 1) < 0.03, k)
    k = kernel(t, "load<10, 4>")
    check("estimates: one block", k["blocks"] == 1 and
          k["counted_instructions"] > 0 and k["mem_requests"] >= 10, k)
    check("estimates: the report says so", "are estimates from" in report and
          "--exact" in report, report)
    hot = t["hot_lines"][kernel(t, "load<30, 256>")["kernel"]]
    check("estimates: hot line", hot[0]["share"] > 0.6 and
          "lw zero" in hot[0]["text"], hot[:2])
    args = [e["args"] for e in trace
            if e["name"].startswith("void load<30, 256>") and
            "mem_requests" in e.get("args", ())]
    check("estimates: in the trace", args and all(
        abs(a["mem_requests"] / (20000 * 31) - 1) < 0.03 for a in args),
          args[:1])


def check_trace(events, launches):
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events
             if e["ph"] == "M" and e["name"] == "thread_name"}
    slices = [e for e in events if e["ph"] == "X"]
    check("slices have times and tracks", slices and all(
        e["dur"] > 0 and e["ts"] >= 0 and (e["pid"], e["tid"]) in names
        for e in slices))
    for track in "queue", "kernels", "unit", "thread":
        check(f"tracks: {track}",
              any(track in names[e["pid"], e["tid"]] for e in slices))
    ends = {}
    for e in sorted(slices, key=lambda e: e["ts"]):
        key = e["pid"], e["tid"]
        if "thread" not in names[key] and "queue" not in names[key]:
            if e["ts"] < ends.get(key, 0) - 0.002:
                check("slices of a track do not overlap", False, e)
                return
            ends[key] = e["ts"] + e["dur"]
    check("slices of a track do not overlap", True)
    starts = [e["id"] for e in events if e["ph"] == "s"]
    finishes = [e["id"] for e in events if e["ph"] == "f"]
    check("arrows from launches to kernels",
          len(starts) == launches and sorted(starts) == sorted(finishes),
          f"{len(starts)} {len(finishes)}")
    arrows = {e["id"]: e["ts"] for e in events if e["ph"] == "s"}
    check("kernels begin after their launch", all(
        e["ts"] >= arrows[e["id"]] for e in events if e["ph"] == "f"))


def test_copies():
    status, t, _, report = prof("copies")
    rows = {r["direction"]: r for r in t["copies"]}
    check("copies: status", status == 0, status)
    for direction, size in (("HtoD", 3 << 20), ("DtoD", 1 << 20),
                            ("DtoH", 1000)):
        check(f"copies: {direction}", rows[direction]["bytes"] == size and
              rows[direction]["total_ns"] > 0 and
              rows[direction]["bytes_per_second"] > 0, rows)
    check("copies: fill", rows["fill"]["bytes"] == 4096, rows)
    check("copies: report", "HtoD" in report and "3.00 MiB" in report, report)


def test_graphs():
    status, t, trace, _ = prof("graphs")
    check("graphs: status", status == 0, status)
    for name, warps in ("half<100>", 20), ("half<300>", 20), ("load<10, 4>", 3):
        k = kernel(t, name)
        check(f"graphs: {name}", k["calls"] == 3 and k["unfinished"] == 0 and
              k["warps"] == 3 * warps and k["warp_instructions"] > 0, k)
    rows = {r["direction"]: r for r in t["copies"]}
    check("graphs: copies", rows["DtoD"]["bytes"] == 3 * 4096, rows)
    runs = [e for e in trace
            if e["ph"] == "X" and "half<" in e["name"]]
    check("graphs: runs in the trace", len(runs) >= 6, len(runs))


def test_threads():
    status, t, trace, _ = prof("threads", options=["--samples", "8"])
    k = kernel(t, "half<100>")
    check("threads", status == 0 and k["calls"] == 4500 and
          k["unfinished"] == 0 and k["warps"] == 4500, k)
    check("threads: nothing dropped", t["processes"][0]["dropped"] == 0)
    _, less, _, _ = prof("threads", options=["--limit", "1M"])
    check("threads: a limit of the recorded file",
          less["processes"][0]["dropped"] > 0 and
          kernel(less, "half<100>")["unfinished"] > 0, less["processes"])
    names = [e["args"]["name"] for e in trace
             if e["ph"] == "M" and e["name"] == "thread_name"]
    check("threads: a track of calls for each",
          sum(n.startswith("thread ") for n in names) >= 3, names)
    check("threads: a track for each queue",
          sum(" queue " in n for n in names) >= 3, names)


def test_ends():
    status, t, _, report = prof("fault")
    check("fault: status", status == 7, status)
    check("fault: kernel", kernel(t, "wrong")["faults"] ==
          ["address not mapped"] and kernel(t, "half<100>")["calls"] == 1,
          t["kernels"])
    check("fault: call", any(c["errors"] for c in t["calls"]), t["calls"])
    check("fault: report", "[address not mapped]" in report, report)
    status, t, _, _ = prof("crash")
    check("crash: status", status == 128 + 6, status)
    check("crash: kernels", kernel(t, "half<100>")["warps"] == 1 and
          kernel(t, "forever")["unfinished"] == 1, t["kernels"])
    status, t, _, _ = prof("leave")
    check("leave: status", status == 5, status)
    check("leave: kernels", kernel(t, "half<100>")["warps"] == 1, t["kernels"])


def test_processes():
    status, t, _, _ = prof("-c", f"{PROGRAM} fault & {PROGRAM} paused; wait; "
                           "exit 9", program="sh")
    check("processes", status == 9 and len(t["processes"]) == 2 and
          kernel(t, "half<100>")["calls"] == 2, t)
    status, t, _, report = prof(program="true")
    check("no device", status == 0 and not t["kernels"] and
          "nothing was recorded" in report, report)
    status, _, _, message = prof(program="/no/such/program")
    check("no program", status == 127 and "No such file" in message, message)
    done = subprocess.run([PROF, "--wrong"], stderr=subprocess.PIPE,
                          check=False)
    check("bad option", done.returncode == 2)
    done = subprocess.run([PROF, "-o", "/no/such/file", "echo", "it ran"],
                          text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    check("report that cannot be written", done.returncode == 2 and
          "cannot write /no/such/file" in done.stdout and
          "it ran" not in done.stdout, done.stdout)


def test_options():
    status, t, _, _ = prof("paused", options=["--start-paused"])
    check("paused", status == 0 and len(t["kernels"]) == 1 and
          kernel(t, "half<300>")["calls"] == 1, t["kernels"])
    status, t, _, _ = prof("figures", options=["--interval", "0"])
    check("no samples", status == 0 and not t["hot_lines"], t["hot_lines"])
    check("accesses without samples", all(
        k["counted_instructions"] for k in t["kernels"]), t["kernels"])
    keep = f"{TMP}/keep"
    prof("paused", options=["--keep", keep])
    files = [os.path.join(keep, f) for f in os.listdir(keep)]
    done = subprocess.run([PROF, "--csv", "-", "--no-trace", "--import",
                           *files],
                          stdout=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.splitlines()
    check("import as CSV", len(files) == 1 and lines[0].startswith("kernel,")
          and len(lines) == 3 and "half<300>" in done.stdout, done.stdout)
    # What is cut or damaged gives a report or a message, never an exception.
    with open(files[0], "rb") as f:
        data = f.read()
    bad = []
    for n in range(60):
        cut = bytearray(data[:len(data) * n // 60] if n % 2 else data)
        for i in range(n * 37 % 251, len(cut), 509 + n):
            cut[i] ^= 1 << n % 8
        path = f"{TMP}/bad.mxprof"
        with open(path, "wb") as f:
            f.write(cut)
        done = subprocess.run([PROF, "--import", path], cwd=TMP, text=True,
                              stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.STDOUT)
        if "Traceback" in done.stdout or done.returncode not in (0, 2):
            bad.append(done.stdout[-300:])
    check("damaged files", not bad, bad[:1])
    test_unwritable(files[0])
    done = subprocess.run([PROF, PROGRAM, "paused"], cwd=TMP, text=True,
                          stdout=subprocess.PIPE, check=False)
    check("trace by default", "mx-prof.trace.json" in done.stdout and
          os.path.getsize(f"{TMP}/mx-prof.trace.json") > 1000, done.stdout)


def test_unwritable(recorded):
    """An old report survives one that cannot be written; nothing is left."""
    folder = tempfile.mkdtemp(dir=TMP)
    old = f"{folder}/old"
    with open(old, "w", encoding="utf-8") as f:
        f.write("old")
    done = subprocess.run(
        [PROF, "--no-trace", "--json", old, "--import", recorded], text=True,
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8, 8)))
    with open(old, encoding="utf-8") as f:
        check("old report survives", done.returncode and f.read() == "old" and
              os.listdir(folder) == ["old"], done.stderr)


test_figures()
test_estimates()
test_copies()
test_graphs()
test_threads()
test_ends()
test_processes()
test_options()
subprocess.run(["rm", "-rf", TMP], check=False)
end()
