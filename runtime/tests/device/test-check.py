#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-check.py PROGRAM: what programs that do wrong get with MXGPU_CHECK, and
without."""
import os
import re
import subprocess
import sys

number = 0
failed = False


def check(name, good, text):
    global number, failed
    number += 1
    print(f"{'ok' if good else 'not ok'} {number} - {name}")
    if not good:
        failed = True
        print("".join(f"# {line}\n" for line in text.splitlines()), end="")


def run(what, **more):
    env = {k: v for k, v in os.environ.items()
           if k not in ("MXGPU_LOG", "MXLOG_LEVEL", "MXGPU_CHECK")}
    p = subprocess.run([sys.argv[1], what], env=env | more, text=True,
                       capture_output=True)
    return p.stdout.strip(), p.stderr


def overrun(what, first):
    out, err = run(what, MXGPU_CHECK="1")
    line = (r"overrun of the 1000 bytes at 0x[0-9a-f]+ from mcMalloc, called "
            r"in .*main at \S*check\.maca:\d+:\d+: 1 bytes around it were "
            f"written, at offsets {first} to {first}$")
    check(f"a byte {what} is found", out == "mcErrorIllegalAddress" and
          len(re.findall(line, err, re.M)) == 1, out + err)
    out, err = run(what, MXGPU_CHECK="1", MXGPU_LOG="off")
    check("quietly, if that is wanted", out == "mcErrorIllegalAddress" and
          not err, out + err)
    for env in {}, {"MXGPU_CHECK": "0"}, {"MXGPU_CHECK": ""}:
        out, err = run(what, **env)
        check(f"not with {env}", out == "mcSuccess" and not err, out + err)


def misaligned(what, kernel):
    out, err = run(what, MXGPU_CHECK="1")
    line = (f"kernel .*{kernel}.*: mcErrorMisalignedAddress: misaligned "
            r"address \((read|write) of 0x[0-9a-f]+\) .*"
            r"thread \(0,0,0\), in .*check\.maca:\d+")
    check(f"misaligned, {what}", out == "mcErrorMisalignedAddress" and
          re.search(line, err), out + err)
    out, err = run(what)
    check("works without", out == "mcSuccess" and not err, out + err)
    out, err = run(what, MXGPU_STRICT_ALIGNMENT="1")
    check("but not on a device that is strict",
          out == "mcErrorMisalignedAddress", out + err)


def main():
    overrun("behind", 1000)
    overrun("before", -1)
    misaligned("global", "load<int>")
    misaligned("double", "load<double>")
    misaligned("shared", "in_shared")
    misaligned("stack", "in_stack")
    out, err = run("packed", MXGPU_CHECK="1")
    check("packed structures are right", out == "mcSuccess" and not err,
          out + err)
    print(f"1..{number}")
    return failed


sys.exit(main())
