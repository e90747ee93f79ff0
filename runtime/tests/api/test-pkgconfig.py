#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-pkgconfig.py MCRUNTIME.PC LIBRARY INCLUDE COMPILER...: an installation
that was moved compiles programs, and they find the library, without a variable.
"""
import os
import subprocess
import sys
import tempfile

from tap import check, end

PROGRAM = r"""
#include <mc_runtime_api.h>
#include <stdio.h>
int main(void)
{
    int version = 0;
    mcError_t error = mcRuntimeGetVersion(&version);
    printf("%d %d\n", (int)error, version > 0);
    return 0;
}
"""


def main():
    pc, library, include = map(os.path.abspath, sys.argv[1:4])
    compiler = sys.argv[4:]
    with tempfile.TemporaryDirectory() as top:
        place = os.path.join(top, "moved")
        os.makedirs(os.path.join(place, "lib/pkgconfig"))
        os.symlink(include, os.path.join(place, "include"))
        os.symlink(library, os.path.join(place, "lib/libmcruntime.so"))
        with open(pc) as f, open(os.path.join(
                place, "lib/pkgconfig/mcruntime.pc"), "w") as g:
            g.write(f.read())
        with open(os.path.join(top, "p.c"), "w") as f:
            f.write(PROGRAM)
        env = os.environ | {"PKG_CONFIG_PATH": place + "/lib/pkgconfig"}
        env.pop("LD_LIBRARY_PATH", None)
        tool = ["pkg-config", "--cflags", "--libs", "mcruntime"]
        flags = subprocess.run(tool, env=env, check=True, text=True,
                               stdout=subprocess.PIPE).stdout.split()
        subprocess.run(compiler + [top + "/p.c", "-o", top + "/p"] + flags,
                       check=True)
        out = subprocess.run([top + "/p"], env=env, text=True,
                             capture_output=True)
        good = out.returncode == 0 and out.stdout == "0 1\n"
        check("programs of a moved installation", good, f"{flags} {out}")
        mxcc = subprocess.run(["pkg-config", "--variable=mxcc", "mcruntime"],
                              env=env, check=True, text=True,
                              stdout=subprocess.PIPE).stdout.strip()
        there = os.path.normpath(mxcc) == place + "/mxgpu_llvm/bin/mxcc"
        check("and its mxcc", there, mxcc)


main()
end()
