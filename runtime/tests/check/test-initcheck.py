#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-initcheck.py MX-MEMCHECK PROGRAM SOURCE SAMPLE...: reports of initcheck,
and samples that are in order."""
import os
import sys

from report import at, clean, end, expect

OPTIONS = ["--tool", "initcheck"]
GLOBAL = "Uninitialized __global__ memory "

clean("clean", ["clean"], OPTIONS)
expect("read", ["read"], GLOBAL + "read of size 4 bytes",
       r"at copy\(int const\*, int\*\) in .*" + at("read"),
       r"by thread \(122,0,0\) in block \(1,0,0\)",
       r"5 more of its warp, up to thread \(127,0,0\)",
       "1000 bytes inside the device allocation at 0x[0-9a-f]+ of size 1024",
       "Allocated at:", at("allocated"), r"in kernel copy\(", "Launched at:",
       options=OPTIONS, count=1)
expect("memory that is used again", ["again"], GLOBAL + "read", at("read"),
       " 0 bytes inside", options=OPTIONS, count=1)
expect("atomic", ["atomic"], GLOBAL + "atomic of size 4 bytes", at("atomic"),
       r"by thread \(0,0,0\) in block \(0,0,0\)", options=OPTIONS, count=1)
expect("shared memory", ["shared"],
       "Uninitialized __shared__ memory read of size 4 bytes", at("shared"),
       r"by thread \(100,0,0\) in block \([01],0,0\)",
       r"27 more of its warp", "Address 0x[0-9a-f]+ of the block's memory",
       options=OPTIONS, count=1)
for sample in sys.argv[4:]:
    clean(f"sample {os.path.basename(sample)}", [], OPTIONS, sample)
end()
