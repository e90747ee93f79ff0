#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""mx-gdb --host: a program under one gdb and its kernels under another, side by
side in two panes of a tmux of its own, as somebody would type it.

usage: test-host.py MX-GDB PROGRAM SOURCE"""
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

from tap import check, end

MX_GDB, PROGRAM, SOURCE = map(os.path.abspath, sys.argv[1:4])
LIMIT = 60
FILE = os.path.basename(SOURCE)
QUIET = ["set pagination off", "set width 0", "set debuginfod enabled off",
         "set confirm off", "set style enabled off"]
KERNELS, HOST = 0, 1


def line(comment):
    """The source's line with that comment."""
    with open(SOURCE, encoding="utf-8") as f:
        return next(i for i, text in enumerate(f, 1)
                    if text.rstrip().endswith("// " + comment))


class Session:
    """mx-gdb in the first pane of a server of its own."""

    def __init__(self, folder, *arguments, env=None):
        self.socket, self.said = os.path.join(folder, "tmux"), ["", ""]
        options = []
        for text in QUIET:
            options += ["-ex", text, "--host-ex", text]
        command = shlex.join([MX_GDB, "--host", *options, *arguments])
        self.status = os.path.join(folder, "status")
        # The window stays when it has ended: what it said is to be read.
        inner = f"{command}; echo ended $? > {self.status}; exec cat"
        variables = [f"{k}={v}" for k, v in {
            "MXGPU_COMPUTE_UNITS": "2", **(env or {})}.items()]
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "180", "-y",
                  "60", shlex.join(["env", *variables, "sh", "-c", inner]))

    def tmux(self, *arguments):
        return subprocess.run(
            ["tmux", "-S", self.socket, *arguments], check=False, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

    def type(self, pane, text):
        self.tmux("send-keys", "-t", f":.{pane}", "-l", text)
        self.tmux("send-keys", "-t", f":.{pane}", "Enter")

    def interrupt(self, pane):
        self.tmux("send-keys", "-t", f":.{pane}", "C-c")

    def shows(self, pane, pattern):
        """Whether that pane comes to show it."""
        until = time.monotonic() + LIMIT
        while time.monotonic() < until:
            self.said[pane] = self.tmux("capture-pane", "-p", "-J", "-S", "-",
                                        "-t", f":.{pane}")
            if re.search(pattern, self.said[pane], re.M):
                return True
            time.sleep(.1)
        return False

    def expect(self, name, pane, pattern):
        check(name, self.shows(pane, pattern),
              f"no {pattern!r} in\n{self.said[pane]}")

    def ended(self):
        until = time.monotonic() + LIMIT
        while time.monotonic() < until and not os.path.exists(self.status):
            time.sleep(.1)
        return os.path.exists(self.status)

    def close(self):
        self.tmux("kill-server")


def test_side_by_side(folder):
    one = Session(folder, "--host-ex", "break run_sum", PROGRAM)
    try:
        one.expect("the program stops at a break point of its own", HOST,
                   r"^Breakpoint 1, run_sum \(\) at .*" + re.escape(FILE))
        one.expect("... and mx-gdb tells what it waits for", KERNELS,
                   "in the other window")
        one.type(HOST, "continue")
        one.expect("its kernels are in the other one", KERNELS,
                   r"none of its kernels yet(.|\n)*^\(gdb\) *$")
        one.type(KERNELS, f"break {FILE}:{line('stores')} if "
                 "$tid_x == 5 && $ctaid_x == 0")
        one.type(KERNELS, "continue")
        one.expect("a kernel stops", KERNELS,
                   r"block \(0,0,0\) thread \(5,0,0\)\" hit (.|\n)*^\(gdb\) *$")
        one.type(KERNELS, "print pair.second + 70000")
        one.expect("... and has its variables", KERNELS, r"= 70995$")
        one.interrupt(HOST)
        one.expect("the program is stopped while it waits", HOST, "SIGINT")
        one.type(HOST, "thread 1")
        one.type(HOST, "backtrace")
        one.expect("... for its kernel", HOST, r"mcDeviceSynchronize(.|\n)*"
                   r"run_sum \(\)(.|\n)*main \(")
        one.type(HOST, "up 100")
        one.type(HOST, "print argc + 4000")
        one.expect("... and has its variables, too", HOST, r"= 4001$")
        one.type(HOST, "continue")
        one.expect("it goes on", HOST, "Continuing(.|\n)*Continuing")
        one.type(KERNELS, "delete")
        one.type(KERNELS, "continue")
        one.expect("both come to the end: of the program", HOST,
                   r"result 5 767(.|\n)*exited normally")
        one.expect("... and of its kernels", KERNELS, "exited normally")
        one.type(KERNELS, "quit")
        check("mx-gdb ends", one.ended(), one.said[KERNELS])
    finally:
        one.close()


def test_without_a_device(folder):
    """The other window ends, and with it what waits."""
    one = Session(folder, "--host-ex", "break main", "/bin/true")
    try:
        one.expect("gdb has a program without kernels", HOST,
                   r"exited normally|^\(gdb\) *$")
        one.type(HOST, "kill")
        one.type(HOST, "quit")
        check("it ends", one.ended())
        one.expect("... and mx-gdb says why", KERNELS, "opened no device")
    finally:
        one.close()


def test_environment(folder):
    """The server of tmux has another one than mx-gdb."""
    one = Session(folder, "--host-ex", "break main", PROGRAM,
                  env={"MXGPU_TEST_MARK": "a 'mark' of \"mine\""})
    try:
        one.shows(HOST, r"^\(gdb\) *$")
        one.type(HOST, "show environment MXGPU_TEST_MARK")
        one.expect("the program has mx-gdb's environment", HOST,
                   "= a 'mark' of \"mine\"$")
    finally:
        one.close()


def test_no_window(folder):
    env = {k: v for k, v in os.environ.items() if k not in ("TMUX", "DISPLAY")}
    done = subprocess.run([MX_GDB, "--host", PROGRAM], env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, cwd=folder)
    check("no window: how to do it by hand", done.returncode == 1 and
          "neither tmux nor X" in done.stdout and
          f"MXGPU_GDB=/tmp/gpu,halt gdb --args {PROGRAM}" in done.stdout,
          done.stdout)
    done = subprocess.run([MX_GDB, "--host-ex", "break main", PROGRAM],
                          text=True, stdout=subprocess.PIPE, check=False,
                          stderr=subprocess.STDOUT, timeout=LIMIT)
    check("--host-ex without --host", done.returncode == 2 and
          "--host-ex is for --host" in done.stdout, done.stdout)


for test in (test_side_by_side, test_without_a_device, test_environment,
             test_no_window):
    with tempfile.TemporaryDirectory(prefix="test-host.") as made:
        test(made)
end()
