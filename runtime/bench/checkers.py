#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the checkers cost: CPU time of the user in programs of runtime/samples under
each tool of mx-memcheck, as a multiple of that without one, as a table. CPU time
and medians of runs in turns, since other work on the machine disturbs these
least. Needs build/.

  runtime/bench/checkers.py [--rounds N] [--seconds S] [--tool TOOL]... [PROGRAM...]

Each does its work so often that it takes S seconds (0.3) without a tool."""
import argparse
import os
import statistics
import subprocess
import sys

TOP = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                    "../.."))
SAMPLES = os.path.join(TOP, "build/runtime/samples")
CHECKER = os.path.join(TOP, "build/runtime/tools/mx-memcheck/mx-memcheck")
LIBRARIES = [os.path.join(TOP, "build", folder) for folder in
             ("hw-mxgpu/sim", "runtime")]
PROGRAMS = ["spmv", "bfs", "radixSort", "stencil", "nQueens", "smithWaterman",
            "fft", "kMeans", "hashTable", "monteCarlo"]
TOOLS = ["memcheck", "initcheck", "synccheck", "racecheck"]
# Checkers see what the interpreters do: compare with these.
ENV = {**os.environ, "MXGPU_DEVICE": "sim", "MXGPU_THREADS": "1",
       "MXGPU_JIT": "0",
       "LD_LIBRARY_PATH": ":".join(LIBRARIES)}
LIMIT = 900 # seconds of a run


def run(command):
    """Whether it ended well."""
    with subprocess.Popen(command, env=ENV, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, cwd="/tmp") as child:
        try:
            said = child.communicate(timeout=LIMIT)[1].decode()
        except subprocess.TimeoutExpired:
            child.kill()
            said = "took too long"
        if child.returncode:
            print(f"checkers: {' '.join(command)}: {said[-200:]}",
                  file=sys.stderr)
            return False
    return True


def measure(command):
    """User time of a process and all that it waited for: a child's own child
    counts."""
    before = os.times().children_user
    if not run(command):
        return None
    return os.times().children_user - before


def multiples(command, tools, rounds):
    """The least time without a tool, and of each tool the median of its times as
    multiples: of the runs right before and right behind it, as shared machines
    change their speed from minute to minute."""
    plain, ratios = [measure(command)], {tool: [] for tool in tools}
    for _ in range(rounds):
        for tool in tools:
            took = measure([CHECKER, "--tool", tool, *command])
            plain.append(measure(command))
            if None not in (took, *plain[-2:]):
                ratios[tool].append(2 * took / sum(plain[-2:]))
    return (min((t for t in plain if t is not None), default=None),
            [statistics.median(r) if len(r) == rounds else None
             for r in ratios.values()])


def long_enough(path, seconds):
    """How often the program has to do its work to take that long."""
    times, took = 1, 0
    while took is not None and took < seconds:
        took = measure([path, str(times)])
        times *= 2
    return str(times // 2)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=.3)
    parser.add_argument("--tool", action="append", choices=TOOLS)
    parser.add_argument("program", nargs="*")
    args = parser.parse_args()
    tools = args.tool or TOOLS
    print(f"| sample | seconds | {' | '.join(tools)} |")
    print("|---" * (len(tools) + 2) + "|")
    for name in args.program or PROGRAMS:
        path = os.path.join(SAMPLES, name)
        command = [path, long_enough(path, args.seconds)]
        plain, times = multiples(command, tools, args.rounds)
        cells = ["-" if time is None else f"{time:.1f}" for time in times]
        print(f"| {' '.join([name, *command[1:]])} | {plain or 0:.2f} | "
              f"{' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
