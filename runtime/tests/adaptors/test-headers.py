#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-headers.py MXCC INCLUDE... -- CC... -- CXX...: each header of CUDA and
HIP compiles alone, as C and as C++ of the host, and all of them together with
kernels. What is not there is an error that names it."""
import os
import subprocess
import sys
import tempfile

from tap import check, end


def headers(folders, dialect):
    for folder in folders:
        if os.path.basename(folder.rstrip("/")) != dialect:
            continue
        for where, _, names in os.walk(folder):
            if "adaptor" in os.path.basename(where):
                continue
            for name in sorted(names):
                if name.endswith(".h") or name.startswith("cuda_"):
                    yield os.path.relpath(os.path.join(where, name), folder)


def compiles(argv, text, suffix):
    with tempfile.NamedTemporaryFile("w", suffix=suffix) as f:
        f.write(text)
        f.flush()
        done = subprocess.run([*argv, "-fsyntax-only", f.name], check=False,
                              encoding="utf-8", stderr=subprocess.STDOUT,
                              stdout=subprocess.PIPE)
    return done.returncode == 0, done.stdout


def alone(what, argv, names, suffix):
    bad = []
    for name in names:
        good, text = compiles(argv, f"#include <{name}>\n", suffix)
        if not good:
            bad.append(name)
            print("#", text.replace("\n", "\n# "))
    check(f"{len(names)} headers alone, {what}", names and not bad)


def main():
    mxcc, words = sys.argv[1], sys.argv[2:]
    at = words.index("--")
    folders, words = words[:at], words[at + 1:]
    at = words.index("--")
    search = [w for f in folders for w in ("-I", f)]
    cc = [*words[:at], "-std=c11", "-Wall", "-Wextra", "-Werror", *search]
    cxx = [*words[at + 1:], "-std=c++17", "-Wall", "-Wextra", "-Werror",
           *search]
    for dialect, language, missing in (
            ("cuda", "cu", "cudaGraphicsMapResources"),
            ("hip", "hip", "hipGraphicsMapResources")):
        names = list(headers(folders, dialect))
        alone(f"C, {dialect}", cc, names, ".c")
        alone(f"C++, {dialect}", cxx, names, ".cc")
        text = "".join(f"#include <{n}>\n" for n in names)
        good, out = compiles([mxcc, "-x", language], text, ".cpp")
        if not good:
            print("#", out.replace("\n", "\n# "))
        check(f"all of them with kernels, {dialect}", good)
        good, out = compiles([mxcc, "-x", language],
                             f"int main() {{ {missing}(1, 0, 0); }}\n", ".cpp")
        check(f"{missing} is an error that names it",
              not good and f"{missing} is not part of" in out)
    good, out = compiles(
        [mxcc, "-x", "maca", "-DENABLE_CUDA_TO_MACA_ADAPTOR"],
        "#include <mc_runtime.h>\n"
        "mcError_t f(void *p) { cudaError_t e = mcFree(p); return e; }\n",
        ".cpp")
    check("both names of one thing, with the vendor's switch", good)
    end()


main()
