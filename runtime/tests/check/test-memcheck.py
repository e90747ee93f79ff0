#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-memcheck.py MX-MEMCHECK PROGRAM SOURCE SAMPLE...: reports of memcheck,
what mx-memcheck's options do, and samples that are in order."""
import json
import os
import sys
import tempfile

from report import at, check, clean, end, expect, find, has, line_of, run

SAMPLES = sys.argv[4:]
MADE = ["Allocated at:", at("allocated")]


def test_kinds():
    clean("clean", ["clean"], ["--leak-check", "full"])
    expect("write", ["write"], "Invalid __global__ write of size 4 bytes",
           r"at fill\(int\*, int\) in .*" + at("write"),
           r"by thread \(36,0,0\) in block \(1,0,0\)",
           r"2 more of its warp, up to thread \(38,0,0\)", "out of bounds",
           "1 bytes after the nearest allocation at 0x[0-9a-f]+ of size 400",
           *MADE, r"in kernel fill\(int\*, int\), grid \(4,1,1\)",
           "Launched at:", "Host Frame: main", count=1)
    expect("read", ["read"], "Invalid __global__ read of size 1 bytes",
           at("read"), r"by thread \(0,0,0\) in block \(0,0,0\)",
           "1 bytes after the nearest allocation", *MADE)
    expect("atomic", ["atomic"], "Invalid __global__ atomic",
           at("atomic"), "4 bytes before the nearest allocation", *MADE)
    expect("use after free", ["freed"],
           "Invalid __global__ write of size 4 bytes", at("write"),
           r"by thread \(0,0,0\) in block \(0,0,0\)",
           "0 bytes inside the device allocation .* which was freed", *MADE,
           "Freed at:", at("freed"))
    expect("use after a free in a stream", ["async"],
           "Invalid __global__ write", at("write"),
           "inside the pool allocation .* of size 4000 bytes, which was freed",
           "Allocated at:", "Freed at:")
    expect("null", ["null"], "Invalid __global__ write: address not mapped",
           at("write"), "Address 0x0 is out of bounds")
    expect("shared memory", ["shared"],
           "Invalid __shared__ write of size 4 bytes", at("shared"),
           r"by thread \(63,0,0\) in block", "0x100 is out of bounds: the block has 256 bytes")
    expect("the stack", ["local"], "Invalid __local__ write", at("local"),
           r"by thread \(0,0,0\) in block \(0,0,0\)", "outside the stack")
    expect("misaligned", ["misaligned"], "Misaligned __global__ read",
           at("misaligned"), r"by thread \(0,0,0\)", "is misaligned")


def test_host():
    expect("leak", ["leak"], "Leaked 400 bytes at", *MADE,
           options=["--leak-check", "full"], count=1)
    clean("no leaks unless asked for", ["leak"])
    expect("a second free", ["twice"], "Program hit .* API call to mcFree$",
           "Called at:", at("freed"), count=1)
    expect("a free of what is no allocation", ["inside"],
           "Program hit mcErrorInvalidDevicePointer .* API call to mcFree$",
           at("freed"), count=1)
    expect("call", ["call"],
           r"Program hit mcErrorInvalidValue \(error 1\).*mcMemcpy$",
           at("call"), count=1)
    clean("calls are not reported", ["call"], ["--report-api-errors", "no"])


def test_options():
    status, out, _ = run("write", options=["--error-exitcode", "7"])
    check("exit status of errors", status == 7, status)
    check("the program sees the error", "mcErrorIllegalAddress" in out, out)
    status, _, _ = run("clean", options=["--error-exitcode", "7"])
    check("exit status without errors", status == 0, status)
    status, _, reports = run("write", options=[
        "--kernel-name-exclude", "kns=fill", "--report-api-errors", "no"])
    check("a kernel that is not checked", not find(reports, "Invalid"))
    _, _, reports = run("write", options=["--kernel-name", "regex=^fi.l"])
    check("a kernel that is", find(reports, "Invalid"))
    _, _, reports = run("write", options=["--launch-skip", "1",
                                          "--report-api-errors", "no"])
    check("skipped launches", not find(reports, "Invalid"))
    _, _, reports = run("write", options=["--print-limit", "1"])
    check("limit", len(find(reports, "Invalid")) == 1 and
          not find(reports, "Program hit") and
          find(reports, "ERROR SUMMARY: [1-9][0-9]* of them were not"), reports)
    _, _, reports = run("write", options=["--show-backtrace=no"])
    check("no backtraces", not has(find(reports, "Invalid")[0], "Host Frame"))
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        _, _, reports = run("write", options=["--log-file", log])
        with open(log, encoding="utf-8") as f:
            text = f.read()
        check("log file", not reports and "Invalid __global__" in text and
              "ERROR SUMMARY: " in text, text)
        out = os.path.join(folder, "json")
        _, _, reports = run("write", options=["--json", out])
        with open(out, encoding="utf-8") as f:
            found = json.load(f)
        first = found["reports"][0]
        check("JSON", found["errors"] == len(found["reports"]) == 4 and
              first["places"][0]["line"] == line_of("write") and
              first["places"][0]["thread"] == [36, 0, 0] and
              first["places"][0]["block"] == [1, 0, 0] and
              first["kernel"] == "fill(int*, int)" and
              first["allocated"][0]["line"] == line_of("allocated") and
              first["launched"] and find(reports, "Invalid"), found)
        file = os.path.join(folder, "suppressions")
        with open(file, "w", encoding="utf-8") as f:
            f.write("# known\nat fill\\(int\\*, int\\) in\nProgram hit .*\n")
        status, _, reports = run("write", options=[
            "--suppressions", file, "--error-exitcode", "7"])
        check("suppressions", status == 0 and
              [r[0] for r in reports] == ["ERROR SUMMARY: 0 errors",
                                          "ERROR SUMMARY: 4 were suppressed"],
              reports)
    status, _, _ = run("clean", options=["--tool", "lockcheck"])
    check("unknown tool", status == 2, status)
    status, _, _ = run(program="/no/such/program")
    check("no such program", status == 127, status)
    status, _, reports = run("-c", "exit 3", program="/bin/sh")
    check("status is passed on", status == 3 and
          find(reports, "Target application"), reports)


def test_samples():
    for sample in SAMPLES:
        clean(f"sample {os.path.basename(sample)}", [],
              ["--leak-check", "full", "--report-api-errors", "no"], sample)


test_kinds()
test_host()
test_options()
test_samples()
end()
