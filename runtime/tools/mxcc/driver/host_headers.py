# SPDX-License-Identifier: MIT
"""#pragma clang force_cuda_host_device begin, and headers of the system in it.

libmcrtc puts it in front of a source whose functions are the device's too
(-default-device). In headers of the C and C++ libraries it makes functions of
both sides beside others of the same name that are of one side alone, which
clang refuses. When it has, the preprocessed text is compiled, in which what
comes from the system's headers is outside of the pragma.
"""
import re

REFUSED = re.compile(r"__host__ __device__ function '.*' cannot overload "
                     r"__(host|device)__ function|"
                     r"__(host|device)__ function '.*' cannot overload "
                     r"__host__ __device__ function")
PRAGMA = re.compile(r"\s*#\s*pragma\s+clang\s+force_cuda_host_device\s+"
                    r"(begin|end)\s*$")
MARKER = re.compile(r'#\s*\d+\s+"(?:\\.|[^"\\])*"((?:\s+\d)*)\s*$')


def rewrite(text):
    out, forced, system = [], 0, False
    for line in text.splitlines(keepends=True):
        marker = MARKER.match(line)
        if marker:
            before, system = system, "3" in marker[1].split()
            if forced and before != system: # its line is not counted
                out.append("#pragma clang force_cuda_host_device "
                           f"{'end' if system else 'begin'}\n")
        elif not system:
            pragma = PRAGMA.match(line)
            if pragma:
                forced += 1 if pragma[1] == "begin" else -1
        out.append(line)
    return "".join(out)
