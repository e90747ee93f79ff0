#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-synccheck.py MX-MEMCHECK PROGRAM SOURCE SAMPLE...: reports of synccheck,
and samples that are in order."""
import os
import sys

from report import at, check, clean, end, expect, find

OPTIONS = ["--tool", "synccheck"]

clean("clean", ["clean"], OPTIONS)
expect("two barriers", ["two"], "Barrier error: threads of a block wait at",
       r"at two_barriers\(int\*\) in .*",
       r"by thread .* in block \(0,0,0\)",
       r"Another one at two_barriers\(int\*\) in .*", r"by thread .* in block",
       r"in kernel two_barriers\(int\*\), grid \(1,1,1\), block \(128,1,1\)",
       "Launched at:", options=OPTIONS, count=1)
reports = expect("once more", ["more"], "Barrier error", options=OPTIONS)
text = "\n".join(find(reports, "Barrier error")[0])
check("both lines", at("extra") in text and at("common") in text or
      text.count(os.path.basename(sys.argv[3])) >= 2, text)
expect("mask", ["mask"], "Invalid mask 0xff: threads are not in the set",
       at("mask"), r"by thread \(8,0,0\) in block \(0,0,0\)",
       r"55 more of its warp, up to thread \(63,0,0\)", options=OPTIONS,
       count=1)
for sample in sys.argv[4:]:
    clean(f"sample {os.path.basename(sample)}", [], OPTIONS, sample)
end()
