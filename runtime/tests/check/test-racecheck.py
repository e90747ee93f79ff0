#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-racecheck.py MX-MEMCHECK PROGRAM SOURCE SAMPLE...: reports of racecheck,
and samples that are in order."""
import os
import sys

from report import at, check, clean, end, expect, find

OPTIONS = ["--tool", "racecheck"]
SHARED = "Race on __shared__ memory: "
GLOBAL = "Race on __global__ memory: "


def race(name, first, was, now, *more):
    """The two lines in either order: who comes first is not known."""
    reports = expect(name, [name], first, *more, options=OPTIONS)
    text = "\n".join(find(reports, "Race")[0]) if find(reports, "Race") else ""
    check(name + ": both lines", at(was) in text and at(now) in text, text)


clean("clean", ["clean"], OPTIONS)
THREADS = [r"by thread \(\d+,0,0\) in block \(0,0,0\)"] * 2
race("swap", SHARED + "Read after Write", "swap-write", "swap-read",
     r"Write at swap\(int\*\) in ", THREADS[0], r"Read at swap\(int\*\) in ",
     THREADS[1], "of the block's memory",
     r"in kernel swap\(int\*\), grid \(1,1,1\)", "Launched at:")
race("war", SHARED, "war-read", "war-write", *THREADS)
race("lanes", SHARED, "lanes-write", "lanes-read", *THREADS)
race("last", SHARED + "Write after Write", "last-write", "last-write",
     at("last-write"), THREADS[0], at("last-write"), THREADS[1])
race("count", SHARED, "count-write", "count-atomic", *THREADS)
race("blocks", GLOBAL + "Write after Write", "blocks-write", "blocks-write",
     at("blocks-write"), at("blocks-write"),
     "0 bytes inside the device allocation at 0x[0-9a-f]+ of size 4096 bytes",
     "Allocated at:")
race("members", SHARED, "members-write", "members-read", *THREADS)
race("after", SHARED, "after-write", "after-read", *THREADS)
race("reread", GLOBAL, "reread-read", "reread-write", *THREADS)
race("scatter", GLOBAL, "scatter-read", "scatter-write", *THREADS)
race("near", GLOBAL, "near-write", "near-read", "bytes inside the device")
for sample in sys.argv[4:]:
    clean(f"sample {os.path.basename(sample)}", [], OPTIONS, sample)
end()
