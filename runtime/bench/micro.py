# SPDX-License-Identifier: MIT
"""scripts/bench --micro: what instructions cost, from micro/micro.maca.

A row is a class of instruction with all 64, 32 or one lane of each warp active.
Its time is the least of all runs; what it is divided by, the instructions that
warps executed, is counted by the device. Where a row has a base (computing
addresses, the loop around a branch), the base's time and instructions are taken
off first.
"""
import json
import math
import os
import random
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
OUT_OF_LINE = 4 # times the float multiply-add over as many lanes
REFERENCE = "f32.fma"
LANES = (64, 32, 1)
SHORT = 64 # the part of the iterations that --short runs
# Bars of what is not compared with the multiply-add: (prefix, suffix, unit).
ATOMIC_BARS = [(".distinct", 4.0), (".one", 2.0)]
FLOAT_ATOMIC_BAR = 8.0 # nanoseconds a lane
PAIRS = 8 # at least, of a comparison
BLOCK_BAR, THREAD_BAR, MCU_BAR = 200.0, 3.0, 250


class Build:
    """The program, compiled and run by a build of this tree or another."""

    def __init__(self, mxcc, folder):
        self.program = os.path.join(folder, "micro")
        shim = os.path.join(folder, "libcounters.so")
        include = os.path.join(TOP, "hw-mxgpu")
        source = os.path.join(HERE, "micro")
        os.makedirs(folder, exist_ok=True)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{include}",
                        f"-I{include}/include", f"{source}/counters.c", "-o",
                        shim, "-ldl"], check=True)
        subprocess.run([mxcc, "-O2", f"-I{include}/include",
                        f"{source}/micro.maca", "-o", self.program],
                       check=True)
        self.env = {**os.environ, "MXGPU_DEVICE": "sim", "MXGPU_THREADS": "1",
                    "MXGPU_SIM_LIBRARY": shim,
                    "BENCH_SIM_LIBRARY": find_library(mxcc)}
        self.env.pop("MXGPU_PROFILE", None)

    def run(self, runs, divisor, prefix):
        done = subprocess.run([self.program, str(runs), str(divisor), prefix],
                              env=self.env, stdout=subprocess.PIPE, text=True,
                              check=False)
        if done.returncode != 0:
            sys.exit(f"bench: {self.program}: status {done.returncode}")
        return parse(done.stdout)


def find_library(mxcc):
    """Of an installation, or of the build tree that mxcc stands in."""
    folder = os.path.dirname(os.path.realpath(mxcc))
    path = os.path.join(folder, "../../lib/libmxgpu-sim.so")
    while not os.path.exists(path):
        if folder == "/":
            sys.exit(f"bench: {mxcc}: no libmxgpu-sim.so of the same build")
        folder = os.path.dirname(folder)
        path = os.path.join(folder, "hw-mxgpu/sim/libmxgpu-sim.so")
    return os.path.realpath(path)


def compiler_of(build):
    """mxcc of a build directory with an install tree, or of the tree itself."""
    for below in ("install/mxgpu_llvm/bin/mxcc", "mxgpu_llvm/bin/mxcc",
                  "build/install/mxgpu_llvm/bin/mxcc"):
        path = os.path.join(build, below)
        if os.path.exists(path):
            return path
    sys.exit(f"bench: {build}: no mxgpu_llvm/bin/mxcc installed there")


# The numbers of a line, in order.
ROW = ("operations", "warp_instructions", "lane_instructions", "atomics")


def parse(text):
    """{(kind, name, lanes): entry}; seconds of an entry are the least."""
    found = {}
    for line in text.splitlines():
        kind, name, *rest = line.split()
        entry = {"name": name, "seconds": float(rest[-2]),
                 "verified": rest[-1] == "1"}
        lanes = 64
        if kind == "row":
            lanes = int(rest[1])
            entry["base"] = None if rest[0] == "-" else rest[0]
            entry["lanes"] = lanes
            entry.update(zip(ROW, map(int, rest[2:6])))
        elif kind == "start":
            entry.update(zip(("blocks", "block", "warp_instructions"),
                             map(int, rest)))
        elif kind == "launch":
            entry.update(zip(("launches", "mcu_instructions",
                              "thread_switches"), map(int, rest)))
        merge(found, (kind, name, lanes), entry)
    return found


def merge(found, key, entry):
    """Of several runs: the least time and counts, and whether all were right."""
    old = found.setdefault(key, dict(entry))
    old["verified"] = old["verified"] and entry["verified"]
    for number in ("seconds", "mcu_instructions", "thread_switches",
                   "warp_instructions", "lane_instructions"):
        if number in old:
            old[number] = min(old[number], entry[number])


def derive(found):
    """Adds nanoseconds; each by what the row's base does not cost."""
    for (kind, _, lanes), e in found.items():
        if kind == "launch":
            e["ns"] = e["seconds"] * 1e9 / e["launches"]
            e["mcu_instructions_a_launch"] = \
                e["mcu_instructions"] / e["launches"]
            e["thread_switches_a_launch"] = e["thread_switches"] / e["launches"]
        elif kind == "start":
            e["ns"] = e["seconds"] * 1e9 / e["blocks"]
            e["ns_thread"] = e["ns"] / e["block"]
        else:
            seconds, instructions = e["seconds"], e["warp_instructions"]
            base = found.get(("row", e["base"], lanes))
            if base:
                times = e["operations"] / base["operations"]
                seconds -= base["seconds"] * times
                instructions -= base["warp_instructions"] * times
            # Noise may leave nothing of a cheap one.
            e["ns_operation"] = max(seconds, 0) * 1e9 / e["operations"]
            e["instructions"] = e["warp_instructions"] / e["operations"]
            e["ns_instruction"] = max(seconds, 0) * 1e9 / \
                max(instructions, e["operations"] / 2)
    for (kind, _, lanes), e in found.items():
        reference = found.get(("row", REFERENCE, lanes))
        if kind == "row":
            e["by_fma"] = e["ns_instruction"] / reference["ns_instruction"] \
                if reference else None


def print_table(found):
    print(f"{'ns a warp instruction':34}" + "".join(
        f"{f'{n} lanes':>10}{'by fma':>8}" for n in LANES) +
        f"{'instr.':>8}{'ns each':>10}")
    names = dict.fromkeys(n for k, n, _ in found if k == "row")
    for name in names:
        line = f"{name:34}"
        for lanes in LANES:
            e = found.get(("row", name, lanes))
            if not e:
                line += f"{'':18}"
                continue
            by = "" if e["by_fma"] is None else f"{e['by_fma']:7.1f}" + \
                ("!" if e["by_fma"] > OUT_OF_LINE else " ")
            line += f"{e['ns_instruction']:10.2f}{by:>8}"
        full = found["row", name, 64]
        print(line + f"{full['instructions']:8.2f}{full['ns_operation']:10.2f}")
    for (kind, name, _), e in found.items():
        if kind == "start":
            print(f"{name:34}{e['ns']:10.1f} ns a block "
                  f"{e['ns_thread']:10.2f} ns a thread")
        elif kind == "launch":
            print(f"{name:34}{e['ns']:10.1f} ns "
                  f"{e['mcu_instructions_a_launch']:10.1f} MCU instructions "
                  f"{e['thread_switches_a_launch']:8.3f} thread switches")


def out_of_line(found):
    rows = [e for (k, *_), e in found.items()
            if k == "row" and (e["by_fma"] or 0) > OUT_OF_LINE]
    return sorted(rows, key=lambda e: -e["by_fma"])


def print_out_of_line(found):
    rows = out_of_line(found)
    print(f"out of line, above {OUT_OF_LINE} times a float multiply-add of as "
          f"many lanes: {len(rows)}")
    for e in rows:
        print(f"  {e['name']:34}{e['lanes']:3} lanes{e['by_fma']:9.1f}"
              f"{e['ns_instruction'] / e['lanes']:9.2f} ns a lane")


def bars(found):
    """(what, value, allowed) of what has a bar of its own."""
    for (kind, name, lanes), e in found.items():
        if kind == "row" and name.startswith("atomic.") and lanes == 64:
            allowed = dict(ATOMIC_BARS).get(name[name.rindex("."):])
            if allowed and ".f" in name:
                allowed = FLOAT_ATOMIC_BAR
            if allowed and "cas" not in name and "exch" not in name:
                yield f"{name} ns a lane", e["ns_operation"] / 64, allowed
        elif kind == "start" and e["block"] <= 32:
            yield f"{name} ns", e["ns"], BLOCK_BAR
        elif name == "start.block-256":
            yield f"{name} ns a thread", e["ns_thread"], THREAD_BAR
        elif name == "launch.pipelined":
            yield ("MCU instructions a pipelined launch",
                   e["mcu_instructions_a_launch"], MCU_BAR)


def print_bars(found):
    for what, value, allowed in bars(found):
        mark = "pass" if value <= allowed else "FAIL"
        print(f"{what:52}{value:9.2f}  bar {allowed:6.1f}  {mark}")


def plot(found, path):
    """Bars of the cost relative to the multiply-add, logarithmic."""
    rows = [e for (k, *_), e in found.items() if k == "row" and e["by_fma"]]
    names = list(dict.fromkeys(e["name"] for e in rows))
    colours = {64: "#2a7", 32: "#47c", 1: "#c63"}
    left, scale, height = 270, 110, 16
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="860" height="'
           f'{height * len(names) + 60}" font-family="sans-serif" '
           'font-size="11">',
           '<text x="8" y="16">time of a warp instruction by that of a float '
           'multiply-add over as many lanes (logarithmic): 64 lanes green, 32 '
           'blue, 1 red; line: 4 times</text>']
    for times in (1, OUT_OF_LINE, 10, 100, 1000):
        x = left + scale * math.log10(times * 10)
        out.append(f'<line x1="{x:.0f}" y1="36" x2="{x:.0f}" y2="'
                   f'{height * len(names) + 44}" stroke="'
                   f'{"black" if times == OUT_OF_LINE else "#ccc"}"/>'
                   f'<text x="{x:.0f}" y="32">{times}</text>')
    for i, name in enumerate(names):
        y = 40 + height * i
        out.append(f'<text x="8" y="{y + 11}">{name}</text>')
        for e in rows:
            if e["name"] == name:
                x = left + scale * max(0, math.log10(e["by_fma"] * 10))
                out.append(f'<circle cx="{x:.1f}" cy="{y + 7}" r="4" '
                           f'fill="{colours[e["lanes"]]}"/>')
    out.append("</svg>")
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")
    print(f"bench: plot in {path}")


def write_json(found, path):
    kinds = {"row": [], "start": [], "launch": []}
    for (kind, *_), e in found.items():
        kinds[kind].append(e)
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"rows": kinds["row"], "starts": kinds["start"],
                   "launches": kinds["launch"]}, f, indent=1)
        f.write("\n")


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def measure(build, rounds, divisor, prefix):
    found = {}
    for i in range(rounds):
        progress(f"round {i + 1}/{rounds}")
        for key, entry in build.run(0 if divisor > 1 else 3, divisor,
                                    prefix).items():
            merge(found, key, entry)
    progress("")
    return found


def seconds_each(entry, divisor):
    """Time of one of what a row counts, whatever the number of these."""
    return entry["seconds"] / entry.get(divisor, 1)


UNITS = {"row": "operations", "start": "blocks", "launch": "launches"}


def interval(ratios, seed=1, draws=4000):
    """99.9 % interval of the median ratio, by resampling the rounds: among
    hundreds of classes a narrower one would find many that differ by chance."""
    rng = random.Random(seed)
    logs = [math.log(r) for r in ratios]
    medians = sorted(statistics.median(rng.choices(logs, k=len(logs)))
                     for _ in range(draws))
    return (math.exp(medians[int(0.0005 * draws)]),
            math.exp(statistics.median(logs)),
            math.exp(medians[-1 - int(0.0005 * draws)]))


def compare(this, base, rounds, divisor, prefix):
    """Pairs of runs, the one first that was second before. A change is one
    whose interval has 1 on one side and whose median is 2 % off."""
    pairs = {}
    wrong = set()
    for i in range(rounds):
        progress(f"round {i + 1}/{rounds}")
        order = [(0, this), (1, base)]
        results = {}
        for which, build in order if i % 2 == 0 else reversed(order):
            results[which] = build.run(3, divisor, prefix)
            wrong |= {k[1] for k, e in results[which].items()
                      if not e["verified"]}
        for key in results[0].keys() & results[1].keys():
            unit = UNITS[key[0]]
            pairs.setdefault(key, []).append(
                seconds_each(results[0][key], unit) /
                seconds_each(results[1][key], unit))
    progress("")
    entries = []
    for key, ratios in sorted(pairs.items()):
        low, median, high = interval(ratios)
        changed = (low > 1 or high < 1) and abs(median - 1) > 0.02
        entries.append({"name": key[1], "lanes": key[2], "low": low,
                        "ratio": median, "high": high, "changed": changed})
    return entries, sorted(wrong)


def print_comparison(entries):
    print(f"{'time by that of the base':34}{'lanes':>6}{'ratio':>8}"
          "   99.9 % interval")
    for e in sorted(entries, key=lambda e: e["ratio"]):
        if e["changed"]:
            print(f"{e['name']:34}{e['lanes']:6}{e['ratio']:8.3f}"
                  f"   {e['low']:.3f} to {e['high']:.3f}")
    mean = statistics.geometric_mean(e["ratio"] for e in entries)
    changed = sum(e["changed"] for e in entries)
    print(f"{changed} of {len(entries)} differ; geometric mean of all "
          f"{mean:.3f}")


def run(args, mxcc, folder):
    """What scripts/bench --micro does; the names of rows that were wrong."""
    divisor = SHORT if args.short else 1
    rounds = 1 if args.short else args.rounds
    prefix = args.only or ""
    build = Build(mxcc, os.path.join(folder, "this"))
    if args.compare:
        base = Build(compiler_of(args.compare), os.path.join(folder, "base"))
        entries, wrong = compare(build, base, max(rounds, PAIRS), divisor,
                                 prefix)
        if not entries:
            sys.exit(f"bench: no class begins with {prefix}")
        print_comparison(entries)
        if args.json:
            with open(args.json, "w", encoding="utf-8") as f:
                json.dump({"comparison": entries}, f, indent=1)
        return wrong
    found = measure(build, rounds, divisor, prefix)
    if not found:
        sys.exit(f"bench: no class begins with {prefix}")
    if not prefix or REFERENCE.startswith(prefix):
        derive(found)
    else:
        # What all is compared with, and bases, which may have other names.
        for key, entry in measure(build, rounds, divisor, REFERENCE).items():
            found.setdefault(key, entry)
        for base in {e["base"] for e in found.values() if e.get("base")}:
            for key, entry in measure(build, rounds, divisor, base).items():
                found.setdefault(key, entry)
        derive(found)
    print_table(found)
    if not args.short:
        print_out_of_line(found)
        print_bars(found)
    if args.plot:
        plot(found, args.plot)
    if args.json:
        write_json(found, args.json)
    return sorted({e["name"] for e in found.values() if not e["verified"]})
