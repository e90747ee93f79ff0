#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs a program on the simulated device with gdb on its kernels, or attaches
gdb to those of a virtual machine's device."""
import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
COMMANDS = [os.path.join(HERE, "commands.py"),
            os.path.join(HERE, "../mxgpu_llvm/lib/mx-gdb/commands.py")]
SETTINGS = [
    "set confirm off",
    "set sysroot",                   # files of kernels are here
    "set breakpoint pending on",     # they are loaded when the program does
    "set print thread-events off",   # there is one for each lane
    "set remotetimeout 60",          # a busy host answers late, but once
]
BEGUN = ("The program has begun, and none of its kernels yet. What is unknown "
         "until then is pending: set break points, then continue.\\n")
POLL = 0.02


def arguments():
    parser = argparse.ArgumentParser(
        prog="mx-gdb", description=__doc__,
        usage="mx-gdb [option]... program [argument]...\n"
              "       mx-gdb --attach PLACE [option]... [program]...")
    parser.add_argument("-ex", action="append", default=[], metavar="COMMAND",
                        help="a command of gdb; may be repeated")
    parser.add_argument("-x", action="append", default=[], metavar="FILE",
                        help="a file of commands, before those of -ex")
    parser.add_argument("-batch", "--batch", action="store_true",
                        help="end when the commands have been done")
    parser.add_argument("--host", action="store_true",
                        help="the program under a gdb of its own, in another "
                             "window (tmux or x-terminal-emulator)")
    parser.add_argument("--host-ex", action="append", default=[],
                        metavar="COMMAND",
                        help="a command of that gdb, before it runs the "
                             "program; may be repeated")
    parser.add_argument("--attach", metavar="PLACE",
                        help="to the device whose gdb on kernels is at "
                             "HOST:PORT or at this Unix socket; the kernels "
                             "are those of the programs")
    parser.add_argument("program", nargs="?")
    parser.add_argument("argument", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.attach and options.host:
        parser.error("--host is for a program that is run here")
    if options.host_ex and not options.host:
        parser.error("--host-ex is for --host")
    if not options.attach and options.program is None:
        parser.error("which program?")
    return options


def fail(text):
    sys.exit(f"mx-gdb: {text}")


def find_gdb(*names):
    for name in names:
        if shutil.which(name):
            return name
    fail("gdb-multiarch is not installed (Debian's package of that name)")


# What the other window runs: gdb where this is, with this one's environment,
# which a server of tmux or a terminal has not. It tells when that has ended.
WINDOW = """import json, os, subprocess, sys
with open(sys.argv[1]) as f:
    what = json.load(f)
try:
    os.chdir(what["folder"])
    subprocess.call(what["command"], env=what["env"])
finally:
    if os.path.exists(sys.argv[1]):
        open(sys.argv[1] + ".ended", "w").close()
"""


def host_gdb(options, env):
    """The command line and environment of the gdb on the program."""
    command = [find_gdb("gdb", "gdb-multiarch"), "-q"]
    if "LD_PRELOAD" in env:  # it is for the program
        command += ["-ex", f"set environment LD_PRELOAD {env['LD_PRELOAD']}"]
    for text in options.host_ex:
        command += ["-ex", text]
    return command + ["-ex", "run", "--args", options.program,
                      *options.argument], {
                          name: value for name, value in env.items()
                          if name != "LD_PRELOAD"}


def open_window(options, folder, env):
    """Runs the program under gdb in another window, without waiting for it."""
    command, env = host_gdb(options, env)
    file = os.path.join(folder, "window")
    with open(file, "w", encoding="utf-8") as f:
        json.dump({"folder": os.getcwd(), "command": command, "env": env}, f)
    inner = [sys.executable, "-c", WINDOW, file]
    if os.environ.get("TMUX") and shutil.which("tmux"):
        opener = ["tmux", "split-window", "-d", "-h", shlex.join(inner)]
    elif os.environ.get("DISPLAY") and shutil.which("x-terminal-emulator"):
        opener = ["x-terminal-emulator", "-e"] + inner
    else:
        fail("no other window: this is neither tmux nor X. By hand, in two "
             "terminals:\n"
             "  MXGPU_DEVICE=sim MXGPU_GDB=/tmp/gpu,halt gdb --args "
             f"{shlex.join([options.program, *options.argument])}\n"
             "  gdb-multiarch -ex 'set sysroot' -ex 'target remote /tmp/gpu'")
    return subprocess.Popen(opener)


def start(options, path, env):
    """The process that is waited for; of another window that is not the
    program."""
    command = [options.program] + options.argument
    if options.host:
        return open_window(options, os.path.dirname(path), env)
    try:
        # Ctrl-C is gdb's: the program is in no group of this terminal.
        return subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL,
                                start_new_session=True)
    except OSError as e:
        fail(f"{options.program}: {e.strerror}")


def wait_for_device(process, path, window):
    """Whether the program has opened its device. The command that opens a window
    ends before that does."""
    ended = os.path.join(os.path.dirname(path), "window.ended")
    while not os.path.exists(path):
        code = process.poll()
        if os.path.exists(ended) or \
                code is not None and not (window and code == 0):
            return False
        time.sleep(POLL)
    return True


def quote(name):
    """As gdb.string_to_argv() takes it apart."""
    return '"' + re.sub(r'(["\\])', r"\\\1", name) + '"'


def gdb_command(options, path):
    script = next((c for c in COMMANDS if os.path.exists(c)), None)
    # All symbols at once: what gdb reads first has no inlined functions, and
    # the program's end takes the file along.
    command = [find_gdb("gdb-multiarch", "gdb"), "-q", "-readnow"] + (["-batch"] if options.batch else [])
    for text in SETTINGS:
        command += ["-ex", text]
    command += ["-ex", f"target remote {path}",
                "-ex", "set scheduler-locking step"]  # of one lane
    if script:
        command += ["-ex", f"source {script}"]
    if options.attach:
        for name in filter(None, [options.program, *options.argument]):
            command += ["-ex", f"mx-symbols {quote(name)}"]
    else:
        command += ["-ex", f"echo {BEGUN}"]
    for name in options.x:
        command += ["-x", name]
    for text in options.ex:
        command += ["-ex", text]
    return command


def gdb_env():
    """What is loaded in front of a program's libraries is for the program:
    gdb, and its Python, are slow or fail with the run-time libraries of
    sanitizers."""
    return {name: value for name, value in os.environ.items()
            if name != "LD_PRELOAD"}


def take_signals():
    """Ctrl-C stops the kernels, not this; and what ends this ends gdb and the
    program, too. gdb begins with the signals as they were: these are
    functions."""
    signal.signal(signal.SIGINT, lambda number, frame: None)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(143))


def end_program(process):
    if process.poll() is None:
        process.terminate()
        process.wait()


def run(options, folder):
    path = os.path.join(folder, "gdb")
    env = dict(os.environ, MXGPU_DEVICE="sim", MXGPU_GDB=path + ",halt")
    command = gdb_command(options, path)
    process = start(options, path, env)
    if options.host:
        print("mx-gdb: the program is in the other window; its kernels are here "
              "once it opens a device", flush=True)
    try:
        if not wait_for_device(process, path, options.host):
            print("mx-gdb: the program has ended, and opened no device",
                  file=sys.stderr)
            return process.wait()
        take_signals()
        code = subprocess.call(command, env=gdb_env())
        if options.host:
            return code
        if process.poll() is None and code == 0 and options.batch:
            # "detach" in a script lets it go on; what was stopped runs now.
            return process.wait()
        if process.poll() is None:
            return code
        return process.returncode
    finally:
        if not options.host:
            end_program(process)


def attach(options):
    """A place without a colon and a slash is a port."""
    place = options.attach
    if place.isdigit():
        place = ":" + place
    command = gdb_command(options, place)
    take_signals()
    return subprocess.call(command, env=gdb_env())


def main():
    options = arguments()
    if options.attach:
        sys.exit(attach(options))
    if os.sep not in options.program:
        options.program = shutil.which(options.program) or options.program
    try:
        with tempfile.TemporaryDirectory(prefix="mx-gdb.") as folder:
            code = run(options, folder)
    except KeyboardInterrupt:  # before gdb was there
        code = 130
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
