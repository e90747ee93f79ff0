#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-makefile.py BUILD PROGRAM MESON...: what is installed, at another place
than it was built for, builds a program whose makefile knows MACA_PATH only, and
that runs without a variable.
"""
import os
import shutil
import subprocess
import sys
import tempfile

from tap import check, end


def run(argv, where, env=None):
    done = subprocess.run(argv, cwd=where, env=env, encoding="utf-8",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    for line in done.stdout.splitlines():
        print("#", line)
    return done.returncode, done.stdout


def installed_below(folder):
    """The folder that MACA_PATH has to name."""
    for path, folders, _ in os.walk(folder):
        if "mxgpu_llvm" in folders:
            return path
    return ""


def main():
    build, program = map(os.path.abspath, sys.argv[1:3])
    meson = sys.argv[3:]
    env = {name: value for name, value in os.environ.items()
           if name not in ("LD_LIBRARY_PATH", "MACA_PATH", "MAKEFLAGS")}
    with tempfile.TemporaryDirectory() as top:
        status, _ = run([*meson, "install", "-C", build, "--no-rebuild",
                         "--quiet", "--destdir", os.path.join(top, "root")],
                        top)
        root = installed_below(os.path.join(top, "root"))
        check("it is installed", status == 0 and root)
        place = shutil.copytree(program, os.path.join(top, "program"))
        status, _ = run(["make", "MACA_PATH=" + root], place, env)
        check("make MACA_PATH=... builds the program", status == 0)
        for name in ("single", "parts"):
            status, text = run([os.path.join(place, name)], top, env)
            check(f"{name} runs", status == 0 and f"{name} passed" in text)
        status, text = run(
            ["sh", "-c", ". $MACA_PATH/etc/environment.sh && "
             "mxcc -x maca single.cpp -o by-path && ./by-path"], place,
            env | {"MACA_PATH": root})
        check("etc/environment.sh names all", status == 0 and
              "single passed" in text)
        status, _ = run(["make", "clean"], place, env)
        check("make clean", status == 0 and not os.path.exists(
            os.path.join(place, "single")))
    end()


main()
