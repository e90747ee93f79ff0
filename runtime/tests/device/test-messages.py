#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-messages.py PROGRAM: what standard error says when programs fail."""
import os
import pty
import re
import subprocess
import sys

from tap import check, end

NAMES = "a_name_space_that_is_long_enough_to_be_cut_somewhere_else::"
KERNEL = "void " + NAMES + "wrong<long>(long*, long)"


def environment(**more):
    env = {k: v for k, v in os.environ.items()
           if k not in ("MXGPU_LOG", "MXLOG_LEVEL", "MXGPU_ENDLESS_MS")}
    return env | more


def run(what, **more):
    p = subprocess.run([sys.argv[1], what], env=environment(**more), text=True,
                       capture_output=True)
    return p.stdout.strip(), p.stderr


def run_on_terminal(what, **more):
    """Standard error is a terminal; all that was written to it."""
    master, slave = pty.openpty()
    p = subprocess.Popen([sys.argv[1], what], env=environment(**more),
                         stdout=subprocess.PIPE, stderr=slave, text=True)
    os.close(slave)
    text = b""
    try:
        while part := os.read(master, 4096):
            text += part
    except OSError:
        pass  # the program has closed it
    out = p.communicate()[0].strip()
    os.close(master)
    return out, text.decode()


def main():
    out, err = run("fault")
    check("a fault says once where details are to be had",
          out == "mcErrorIllegalAddress" and err.count("\n") == 1 and
          f"kernel {KERNEL} failed: mcErrorIllegalAddress" in err and
          "MXGPU_LOG=error" in err, out + err)
    out, err = run("fault", MXGPU_LOG="off")
    check("not when told not to", out == "mcErrorIllegalAddress" and not err,
          out + err)
    out, err = run("fault", MXGPU_LOG="error")
    check("the details name the kernel as the source does",
          err.count(f"kernel {KERNEL}: mcErrorIllegalAddress: address not "
                    "mapped") == 2 and " failed: " not in err, out + err)
    out, err = run("shape")
    check("errors of calls say nothing", out == "mcErrorInvalidConfiguration"
          and not err, out + err)
    out, err = run("shape", MXGPU_LOG="error")
    check("a launch that cannot be names its kernel", "kernel void " + NAMES +
          "wrong<int>(int*, int): grid 1,1,1 of blocks 5000,1,1" in err,
          out + err)
    out, err = run("query")
    check("nor do questions", not err, out + err)

    # The device's watchdog ends the kernel long after the notice is due.
    often = {"MXGPU_ENDLESS_MS": "20", "MXGPU_WATCHDOG_MS": "3000"}
    line = re.compile(re.escape(f"mxgpu: kernel {NAMES}endless(int volatile*, "
                                "int), grid 3,1,1 of blocks 64,1,1, has been "
                                "running for 20 ms, in ") +
                      r"\S*endless\(int volatile\*, int\) at "
                      r"\S*messages\.maca:(\d+):\d+ \(")
    with open(os.path.join(os.path.dirname(__file__), "messages.maca"),
              encoding="utf-8") as f:
        loop = [str(i) for i, text in enumerate(f, 1)
                if "/* endless */" in text]
    out, err = run_on_terminal("endless", **often)
    check("an endless kernel is named once on a terminal",
          out == "mcErrorLaunchTimeout" and line.findall(err) == loop,
          out + err)
    out, err = run_on_terminal("endless", **(often | {"MXGPU_ENDLESS_MS": "0"}))
    check("unless told not to", out == "mcErrorLaunchTimeout" and
          "running for" not in err, out + err)
    out, err = run("endless", **often)
    check("and not in a file", out == "mcErrorLaunchTimeout" and
          "running for" not in err, out + err)


main()
end()
