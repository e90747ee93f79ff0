#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-functions-page.py RUNTIME LIBRARY: docs/adaptor-functions.md is what
gen-adaptors makes, and has each function of cuda.h that the library has."""
import os
import re
import subprocess
import sys
import tempfile

from tap import check, end

TOP, LIBRARY = sys.argv[1:]
PAGE = f"{TOP}/docs/adaptor-functions.md"


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


with tempfile.TemporaryDirectory() as folder:
    made = os.path.join(folder, "page.md")
    subprocess.run([f"{TOP}/tools/gen-adaptors", "status", f"{TOP}/api.def",
                    f"{TOP}/include", f"{TOP}/adaptors", made], check=True)
    check("the page is up to date", read(made) == read(PAGE),
          "tools/gen-adaptors status makes it anew")

# Names of versions and of the forms for the stream of a thread are not listed.
exported = {name for name in re.findall(
    r" T (cu[A-Z]\w*)$", subprocess.check_output(
        ["nm", "-D", "--defined-only", LIBRARY], encoding="utf-8"), re.M)
            if not name.endswith(("_v2", "_ptsz"))}
rows = set(re.findall(r"^\| `(\w+)` \|", read(PAGE), re.M))
check("there are functions", len(exported) > 200, exported)
check("each has a row", exported <= rows, sorted(exported - rows))
end()
