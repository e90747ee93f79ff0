#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-pack.py PACK ELF: what pack.py writes, and what it leaves alone."""
import os
import resource
import stat
import subprocess
import sys
import tempfile

from tap import check, end

PACK, ELF = map(os.path.abspath, sys.argv[1:3])


def pack(output, elf=ELF, limit=None):
    def set_limit():
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    return subprocess.run([sys.executable, PACK, elf, output], text=True,
                          stderr=subprocess.PIPE, check=False,
                          preexec_fn=set_limit)


def read(path):
    with open(path, "rb") as f:
        return f.read()


with tempfile.TemporaryDirectory() as folder:
    old = os.path.join(folder, "old")
    pipe = os.path.join(folder, "pipe")
    with open(old, "wb") as f:
        f.write(b"old")
    done = pack(old, limit=64)
    check("an image that cannot be written", done.returncode and
          "Traceback" not in done.stderr, done.stderr)
    check("the old one survives", read(old) == b"old")
    check("no ELF file", pack(old, elf=PACK).returncode and
          read(old) == b"old")
    check("nothing is left", os.listdir(folder) == ["old"],
          os.listdir(folder))
    check("packed", pack(old).returncode == 0 and read(old)[:4] == b"MXFW",
          read(old)[:4])
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        status = pack(pipe).returncode
        check("a pipe", status == 0 and reader.stdout.read() == read(old))
    check("which stays one", stat.S_ISFIFO(os.stat(pipe).st_mode))
end()
