# SPDX-License-Identifier: MIT
"""What tests of mx-memcheck share: programs with one mistake a run, and reports
that are looked for."""
import os
import re
import subprocess
import sys

from tap import check, end, note

TOOL, PROGRAM, SOURCE = map(os.path.abspath, sys.argv[1:4])


def line_of(mark):
    """The number of the line of the source that is marked with "line: MARK"."""
    with open(SOURCE, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if re.search(rf"line: {mark}\b", line):
                return number
    raise KeyError(mark)


def run(*args, options=(), program=None, env=None):
    """Exit status, what the program printed, reports as lists of lines."""
    done = subprocess.run(
        [TOOL, *options, program or PROGRAM, *args], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, check=False, timeout=600,
        env=dict(os.environ, MXGPU_LOG="off", **(env or {})))
    note(done.stdout + done.stderr)
    reports, now = [], []
    for line in done.stderr.splitlines():
        if line.startswith("========= "):
            line = line[10:]
            if line.startswith(" "):
                now.append(line.strip())
            elif line:
                now = [line]
                reports.append(now)
    return done.returncode, done.stdout, reports


def find(reports, first):
    return [r for r in reports if re.match(first, r[0])]


def has(report, *patterns):
    """Whether lines match these, in that order."""
    lines = iter(report)
    return all(any(re.search(p, line) for line in lines) for p in patterns)


def at(mark):
    return rf"{os.path.basename(SOURCE)}:{line_of(mark)}:"


def expect(name, args, first, *patterns, options=(), count=None, env=None):
    """A run whose first report of that kind has lines as these."""
    _, _, reports = run(*args, options=options, env=env)
    found = find(reports, first)
    check(name, found and has(found[0], *patterns) and
          (count is None or len(found) == count), reports)
    return reports


def clean(name, args, options=(), program=None, env=None):
    """A run that must not be reported."""
    status, _, reports = run(*args, options=options, program=program, env=env)
    check(name, status == 0 and
          [r[0] for r in reports] == ["ERROR SUMMARY: 0 errors"], reports)


__all__ = ["at", "check", "clean", "end", "expect", "find", "has", "line_of",
           "run"]
