#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-bench.py BENCH MXCC: what scripts/bench writes and refuses; it measures
nothing."""
import json
import os
import subprocess
import sys
import tempfile

from tap import check, end

BENCH, MXCC = sys.argv[1:3]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(BENCH)),
                                "runtime", "bench"))
import micro # noqa: E402
KEYS = {"work": str, "peer": str, "threads": int, "seconds": float,
        "verified": bool}


def bench(*args):
    return subprocess.run([BENCH, "--mxcc", MXCC, *args], check=False,
                          text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


def test_json(folder):
    path = os.path.join(folder, "out.json")
    done = bench("--threads", "2", "--rounds", "1", "--json", path, "hash",
                 "copy")
    check("runs", done.returncode == 0, done.stderr)
    with open(path, encoding="utf-8") as f:
        entries = json.load(f)
    check("entries", [(e["work"], e["threads"]) for e in entries] ==
          [(work, threads) for threads in (1, 2)
           for work in ("hash", "copy")], entries)
    check("keys", all({k: type(v) for k, v in e.items()} == KEYS
                      for e in entries), entries)
    check("values", all(e["peer"] == "mxgpu" and e["verified"] and
                        e["seconds"] > 0 for e in entries), entries)


def test_programs(folder):
    path = os.path.join(folder, "programs.json")
    done = bench("--programs", "--threads", "1", "--rounds", "1", "--json",
                 path, "hashTable", "fft")
    check("programs", done.returncode == 0, done.stderr)
    with open(path, encoding="utf-8") as f:
        entries = json.load(f)
    check("programs' entries", sorted((e["work"], e["peer"], e["threads"])
                                      for e in entries) ==
          [(work, peer, 1) for work in ("fft", "hashTable")
           for peer in ("c++", "mxgpu")] and
          all(e["verified"] and e["seconds"] > 0 for e in entries), entries)


def test_micro(folder):
    """All classes, so few instructions that times mean nothing; what counts is
    that each was executed as often as it says, and did what it should."""
    path = os.path.join(folder, "micro.json")
    picture = os.path.join(folder, "micro.svg")
    done = bench("--micro", "--short", "--json", path, "--plot", picture)
    check("micro", done.returncode == 0, done.stderr)
    with open(path, encoding="utf-8") as f:
        found = json.load(f)
    rows = {(row["name"], row["lanes"]): row for row in found["rows"]}
    groups = {name.split(".")[0] for name, _ in rows}
    check("micro classes", groups == {
        "int", "mul", "div", "f32", "f64", "f16", "convert", "math", "global",
        "shared", "constant", "private", "atomic", "branch", "call", "shuffle",
        "vote", "barrier"} and len(rows) > 400, groups)
    wrong = [key for key, row in rows.items() if not (
        row["verified"] and row["operations"] > 0 and
        row["warp_instructions"] >= row["operations"] and
        row["warp_instructions"] <= row["lane_instructions"] <=
        64 * row["warp_instructions"])]
    check("micro counts", not wrong, wrong)
    wrong = [name for name, lanes in rows if lanes == 1 and not
             rows[name, 1]["lane_instructions"] <
             rows[name, 32]["lane_instructions"] <
             rows[name, 64]["lane_instructions"]]
    check("micro lanes", not wrong, wrong)
    fma = rows["f32.fma", 64]["instructions"]
    check("micro instructions", 1 <= fma < 2, fma)
    wrong = [key for key, row in rows.items()
             if ".add.u32." in row["name"] and row["name"][:4] == "atom" and
             row["atomics"] != row["operations"] * row["lanes"]]
    check("micro atomics", not wrong, wrong)
    check("micro starts", [e["block"] for e in found["starts"]] ==
          [1, 32, 64, 256, 1024] and
          all(e["verified"] for e in found["starts"]), found["starts"])
    check("micro launches", [e["name"] for e in found["launches"]] ==
          ["launch.sync", "launch.pipelined"] and
          all(e["verified"] and 0 < e["mcu_instructions_a_launch"] < 1e5
              for e in found["launches"]), found["launches"])
    with open(picture, encoding="utf-8") as f:
        text = f.read()
    check("micro plot", text.startswith("<svg") and
          text.count("<circle") == sum(row["by_fma"] > 0 for row in
                                       rows.values()), len(text))


class MadeUp:
    """A build whose runs are lines that are made up."""

    def __init__(self, *seconds):
        self.seconds, self.next = seconds, 0

    def run(self, *_):
        self.next += 1
        return micro.parse("".join(
            f"row {name} - 64 100 110 7040 0 "
            f"{s * (1 + self.next * 7 % 5 / 100)} 1\n"
            for name, s in zip(("same", "slower", "noisy"), self.seconds)) +
            f"row noise - 64 100 110 7040 0 {1 + self.next % 3} "
            f"{int(self.next != 2)}\n")


def test_comparison():
    """Chance is no difference; what a base costs is taken off."""
    entries, wrong = micro.compare(MadeUp(2, 3, 5), MadeUp(2, 2, 5), 9, 1, "")
    changed = [e["name"] for e in entries if e["changed"]]
    check("comparison", changed == ["slower"] and len(entries) == 4, entries)
    slower = [e for e in entries if e["name"] == "slower"][0]
    check("interval", slower["low"] <= slower["ratio"] <= slower["high"] and
          abs(slower["ratio"] - 1.5) < 0.1 and slower["low"] > 1.3, slower)
    check("wrong in either", wrong == ["noise"], wrong)
    found = micro.parse("row f32.fma - 64 100 110 7040 0 11e-7 1\n"
                        "row base - 64 100 300 19200 0 30e-7 1\n"
                        "row load base 64 200 900 57600 0 180e-7 1\n"
                        "row load base 64 200 900 57600 0 190e-7 1\n")
    micro.derive(found)
    load = found["row", "load", 64]
    check("base", abs(load["ns_instruction"] - 40) < 1e-6 and
          abs(load["ns_operation"] - 60) < 1e-6 and
          abs(load["by_fma"] - 4) < 1e-6, load)
    found["row", "f32.fma", 64]["seconds"] /= 2
    micro.derive(found)
    check("out of line", [e["name"] for e in micro.out_of_line(found)] ==
          ["load"], found)


def test_api():
    done = bench("--api", "sim")
    calls = {line.split()[0]: float(line.split()[1])
             for line in done.stdout.splitlines()[1:]}
    check("API calls", done.returncode == 0 and
          {"stream", "malloc-256", "launch-sync", "pageable-h2d-4096",
           "pinned-d2h-16777216", "rows-set"} <= calls.keys() and
          all(us > 0 for us in calls.values()), done)


def test_refused(folder):
    for args in (["--threads", "0"], ["--rounds", "0"], ["--threads", "x"],
                 ["nothing"], ["--plot", "x.svg"], ["--json", folder],
                 ["--json", folder + "/none/out.json"], ["--mxcc", folder],
                 ["--programs", "hash"], ["fft"],
                 ["--isa", folder], ["--short"], ["--only", "int"],
                 ["--micro", "--compare", folder],
                 ["--micro", "--short", "--only", "nothing"]):
        done = bench(*args)
        check(" ".join(arg.replace(folder, "FOLDER") for arg in args),
              done.returncode in (1, 2) and "bench: " in done.stderr and
              "Traceback" not in done.stderr, done.stderr)


with tempfile.TemporaryDirectory() as temporary:
    test_json(temporary)
    test_api()
    test_comparison()
    test_programs(temporary)
    test_micro(temporary)
    test_refused(temporary)
end()
