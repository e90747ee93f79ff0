#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-source.py PROGRAM PLAIN FATBIN MX-SYMBOLIZE LLVM-SYMBOLIZER: what
failing kernels, with and without line tables, are said to be; and whether
other readers see the same source lines."""
import json
import os
import re
import subprocess
import sys
import tempfile

from tap import check, end, note

PROGRAM, PLAIN, FATBIN, SYMBOLIZE, LLVM = sys.argv[1:6]
SOURCE = os.path.join(os.path.dirname(__file__), "source.maca")
KINDS = {
    "address": ("mcErrorIllegalAddress: address not mapped (read of 0x",
                "block (2,0,0) thread (5,0,0)"),
    "misaligned": ("mcErrorMisalignedAddress: misaligned address (atomic of 0x",
                   "block (0,0,0) thread (0,0,0)"),
    "illegal": ("mcErrorIllegalInstruction: illegal instruction",
                "block (0,0,0) thread (0,0,0)"),
    "trap": ("mcErrorLaunchFailure: trap", "block (0,0,0) thread (3,0,0)"),
    "timeout": ("mcErrorLaunchTimeout: ran longer than the watchdog allows",
                ") thread "),
    "failed": ("mcErrorAssert: assertion failed", "block (0,0,0) thread (1,0,0)"),
}


def message(program, kind, **more):
    env = {**os.environ, "MXGPU_LOG": "error", "MXGPU_WATCHDOG_MS": "500",
           **more}
    done = subprocess.run([program, str(list(KINDS).index(kind))], env=env,
                          stderr=subprocess.PIPE, check=False, text=True,
                          timeout=600)
    lines = [line for line in done.stderr.splitlines() if ": kernel " in line]
    if done.returncode != 0 or len(lines) != 1:
        return f"status {done.returncode}: {done.stderr}"
    return lines[0]


def source_lines(kind):
    """Line numbers marked as those of the chain, innermost first."""
    marks = {}
    with open(SOURCE, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            found = re.search(r"/\* " + kind + r" (\d) \*/", line)
            if found:
                marks[int(found[1])] = number
    return marks


def test_messages():
    for kind, (reason, place) in KINDS.items():
        text = message(PROGRAM, kind)
        check(f"{kind}: reason and place", reason in text and place in text,
              text)
        check(f"{kind}: kernel", re.search(rf"kernel (void )?{kind}\b", text),
              text)
        # "in F at FILE:LINE:COLUMN", then as often "inlined into ..."
        chain = re.findall(r"at (\S+):(\d+):(\d+)", text.split(" thread ")[1])
        for place, line in source_lines(kind).items():
            check(f"{kind}: frame {place}", len(chain) > place and
                  chain[place][0].endswith("source.maca") and
                  int(chain[place][1]) == line and int(chain[place][2]) > 0,
                  f"line {line}: {text}")
        plain = message(PLAIN, kind)
        check(f"{kind}: without -g", reason in plain and
              re.search(r", in \S.*\+0x[0-9a-f]+$", plain), plain)
    text = message(PROGRAM, "address")
    check("address: functions", re.search(
        r"in inner\(int\*, long\) at .* inlined into middle\(int\*, long\) "
        r"at .* inlined into outer\(int\*, long\) at ", text), text)


def test_no_reader():
    """Where there is no libdw: one that cannot be loaded is found first."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "libdw.so.1"), "wb"):
            pass
        text = message(PROGRAM, "address", LD_LIBRARY_PATH=folder)
    check("without libdw", KINDS["address"][0] in text and
          re.search(r", in \S.*\+0x[0-9a-f]+$", text), text)


def test_reader():
    """Each instruction, against another reader of DWARF."""
    with open(FATBIN, "rb") as f:
        data = f.read()
    path = FATBIN + ".elf"
    with open(path, "wb") as f:
        f.write(data[data.index(b"\x7fELF"):])
    objdump = LLVM.replace("llvm-symbolizer", "llvm-objdump")
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", path],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    addresses = re.findall(r"^ +([0-9a-f]+):\s", text, re.M)
    ours = subprocess.run([SYMBOLIZE, path], input="\n".join(addresses),
                          text=True, stdout=subprocess.PIPE,
                          check=True).stdout.split("\n")
    theirs = subprocess.run(
        [LLVM, "--obj=" + path, "--inlines", "--no-demangle",
         "--output-style=JSON"] + ["0x" + a for a in addresses],
        stdout=subprocess.PIPE, text=True, check=True).stdout
    theirs = [json.loads(line) for line in theirs.strip().split("\n")]
    theirs = theirs[0] if len(theirs) == 1 else theirs
    check("as many addresses", len(addresses) > 50 and
          len(theirs) == len(addresses))
    same = known = 0
    for address, mine, other in zip(addresses, ours, theirs):
        frames = [f.split("\x1f") for f in mine.split("\t")] if mine else []
        want = other["Symbol"]
        # An entry of the kernel's name around it is left out; line 0 is the
        # line before.
        if len(want) == len(frames) + 1 and want[-1]["Column"] == 0:
            want = want[:-1]
        if not any(s["Line"] for s in want):
            continue
        known += 1
        ok = len(want) == len(frames) and all(
            f[0] == s["FunctionName"] and
            (not s["Line"] or (f[1] == s["FileName"] and
                               int(f[2]) == s["Line"] and
                               int(f[3]) == s["Column"]))
            for f, s in zip(frames, want))
        same += ok
        if not ok and known - same < 4:
            note(f"{address}: {frames} {want}")
    check("the same lines", known > 50 and same == known, f"{same} of {known}")


test_messages()
test_no_reader()
test_reader()
end()
