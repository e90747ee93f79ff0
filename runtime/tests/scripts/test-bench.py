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
                 ["--isa", folder]):
        done = bench(*args)
        check(" ".join(arg.replace(folder, "FOLDER") for arg in args),
              done.returncode in (1, 2) and "bench: " in done.stderr and
              "Traceback" not in done.stderr, done.stderr)


with tempfile.TemporaryDirectory() as temporary:
    test_json(temporary)
    test_api()
    test_refused(temporary)
end()
