#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""checkers.py RUN-GUEST MX-MEMCHECK TESTS TOOL: what a tool says of programs in a
guest, all in one, is what it says of them in the process: the same mistakes at
the same lines, by the same threads. And while one process is checked, another one
says that it is not. TESTS has check-*, programs with a mistake for each
argument."""
import json
import os
import re
import subprocess
import sys
import tempfile

RUN, MEMCHECK, TESTS, TOOL = sys.argv[1:]
PROGRAM, KINDS = {
    "memcheck": ("check-memory", "clean write read atomic freed async null "
                 "shared local misaligned leak twice inside call"),
    "racecheck": ("check-race", "clean swap war lanes last count blocks near"),
    "initcheck": ("check-init", "clean read again atomic shared"),
    "synccheck": ("check-sync", "clean two more mask"),
}[TOOL]
KINDS = KINDS.split()
OPTIONS = ["--tool", TOOL] + ["--leak-check=full"] * (TOOL == "memcheck")


def essence(report):
    """Without addresses, and what depends on who comes first."""
    first = re.sub(r" of size.*|:.*|0x[0-9a-f]+", "", report["message"])
    return (first, tuple(sorted(
        (p["function"], p.get("line")) for p in report["places"])))


def in_process(kind, folder):
    out = os.path.join(folder, "json")
    subprocess.run([MEMCHECK, *OPTIONS, "--json", out,
                    os.path.join(TESTS, PROGRAM), kind], check=False,
                   env=dict(os.environ, MXGPU_DEVICE="sim"),
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(out, encoding="utf-8") as f:
        return json.load(f)


def in_guest(folder):
    """Of all kinds together; then of one while the shell has the port, as a
    process that is checked would, and of the same when it has not."""
    out, script = os.path.join(folder, "json"), os.path.join(folder, "script")
    program = os.path.join(TESTS, PROGRAM)
    with open(script, "w", encoding="utf-8") as f:
        for kind in KINDS:
            f.write(f"{program} {kind}\n")
        f.write(f"""for port in /sys/class/virtio-ports/*; do
    if [ "$(cat $port/name)" = org.mxgpu.check ]; then
        exec 9<>/dev/${{port##*/}}
        echo taken
    fi
done
{program} {KINDS[1]} 9>&-
echo given; exec 9>&-
{program} clean
echo done
exit 0
""")
    done = subprocess.run(
        [MEMCHECK, *OPTIONS, "--json", out, "--error-exitcode", "77", RUN,
         "--script", script, "--file", program],
        check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True)
    with open(out, encoding="utf-8") as f:
        return done, json.load(f)


def main():
    with tempfile.TemporaryDirectory() as folder:
        expected = [in_process(kind, folder) for kind in KINDS]
        done, got = in_guest(folder)
    want = {essence(r) for e in expected for r in e["reports"]}
    have = {essence(r) for r in got["reports"]}
    traced = all(r["text"][-1].startswith("Host Frame") or
                 "in kernel" in r["text"][-1] for r in got["reports"])
    second = re.search("^taken$(.*)^given$(.*)^done$", done.stdout, re.M | re.S)
    message = "nothing of this process is checked: port org.mxgpu.check: " \
        "another process has it"
    alone = second and message in second[1] and message not in second[2] and \
        "Invalid" not in second[1] and done.stdout.count(message) == 1
    if want and want == have and traced and alone and done.returncode == 77:
        return 0
    print(done.stdout, done.returncode)
    print("only in the process:", *sorted(want - have), sep="\n  ")
    print("only in the guest:", *sorted(have - want), sep="\n  ")
    return 1


sys.exit(main())
