# SPDX-License-Identifier: MIT
"""Packs host files, at the paths they have on the host, into an initramfs."""

import os
import re
import stat
import subprocess
import time

# Host directories that are one and the same in the guest's root.
MERGED = ("bin", "sbin", "lib", "lib64")


class PackError(Exception):
    pass


def is_elf(path):
    try:
        with open(path, "rb") as f:
            return f.read(4) == b"\x7fELF"
    except OSError:
        return False


def libraries(path):
    """Paths of the shared libraries an ELF file needs, as ld.so finds them."""
    run = subprocess.run(["ldd", path], capture_output=True, text=True,
                         check=False)
    found, missing = [], []
    for line in run.stdout.splitlines():
        if m := re.match(r"\s*(\S+) => not found", line):
            missing.append(m[1])
        elif m := re.match(r"\s*(?:\S+ => )?(/\S.*) \(0x[0-9a-f]+\)$", line):
            found.append(m[1])
    if missing:
        raise PackError(f"{path} needs {', '.join(missing)}, which is not "
                        "found on this machine (LD_LIBRARY_PATH?)")
    return found


class Archive:
    """A cpio archive ("newc"), the form of an initramfs."""

    def __init__(self, out):
        self.out = out
        self.seen = set()
        self.inode = 0
        # Files the program changes are found by their age. Who names a time
        # gets the same archive whenever it is made: the kernel that unpacks it
        # takes more instructions for a digit that is a letter.
        now = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
        self.oldest = now - 60

    def _entry(self, name, mode, data=b"", size=None, mtime=0):
        self.inode += 1
        size = len(data) if size is None else size
        raw = name.encode("utf-8", "surrogateescape") + b"\0"
        head = b"070701" + b"".join(b"%08x" % v for v in (
            self.inode, mode, 0, 0, 1, mtime & 0xffffffff, size, 0, 0, 0, 0,
            len(raw), 0)) + raw
        self.out.write(head + b"\0" * (-len(head) % 4))
        self.out.write(data)
        self.out.write(b"\0" * (-len(data) % 4))

    def directory(self, path):
        """Adds a directory and those above it."""
        if path in ("", "/") or path in self.seen:
            return
        self.directory(os.path.dirname(path))
        self.seen.add(path)
        if path.strip("/") not in MERGED:
            self._entry(path.lstrip("/"), stat.S_IFDIR | 0o755)

    def data(self, path, data, mode=0o644, mtime=0):
        self.directory(os.path.dirname(path))
        self.seen.add(path)
        self._entry(path.lstrip("/"), stat.S_IFREG | mode, data, mtime=mtime)

    def link(self, path, target):
        self.directory(os.path.dirname(path))
        self.seen.add(path)
        self._entry(path.lstrip("/"), stat.S_IFLNK | 0o777,
                    target.encode("utf-8", "surrogateescape"))

    def file(self, host, guest=None):
        """Adds a file or a tree. Without a guest path it gets the host's, and
        so do the links on the way to it."""
        if guest is None:
            # Resolve links in the directories, but keep the last component:
            # libx.so.1 -> libx.so.1.2 must exist under both names.
            host = os.path.abspath(host)
            real = os.path.join(os.path.realpath(os.path.dirname(host)),
                                os.path.basename(host))
            self._parents(os.path.dirname(host))
            host = guest = real
        if guest in self.seen:
            return
        info = os.lstat(host)
        if stat.S_ISLNK(info.st_mode):
            if guest == host:
                self.link(guest, os.readlink(host))
                self.file(os.path.join(os.path.dirname(host),
                                       os.readlink(host)))
                return
            host = os.path.realpath(host)
            info = os.stat(host)
        if stat.S_ISDIR(info.st_mode):
            self.directory(guest)
            for name in sorted(os.listdir(host)):
                self.file(os.path.join(host, name), os.path.join(guest, name))
        elif stat.S_ISREG(info.st_mode):
            with open(host, "rb") as f:
                self.data(guest, f.read(), stat.S_IMODE(info.st_mode),
                          min(int(info.st_mtime), self.oldest))
        else:
            raise PackError(f"{host} is neither a file nor a directory")

    def _parents(self, path):
        """Adds the symbolic links among the directories of a path."""
        if path == "/" or path in self.seen:
            return
        self._parents(os.path.dirname(path))
        if os.path.islink(path) and path.strip("/") not in MERGED:
            real = os.path.realpath(os.path.dirname(path))
            name = os.path.join(real, os.path.basename(path))
            if name not in self.seen:
                self.link(name, os.readlink(path))
            self.seen.add(path)

    def program(self, path, guest=None):
        """A file and, when it is a program or library, what it needs."""
        self.file(path, guest)
        if is_elf(path):
            for lib in libraries(path):
                self.file(lib)

    def close(self):
        self._entry("TRAILER!!!", 0)


def entries(archive):
    """(name, mode, size) of each regular file of an archive, which is then
    at its data. Raises PackError: the guest wrote it."""
    position = 0
    while True:
        archive.seek(position)
        head = archive.read(110)
        try:
            if head[:6] != b"070701":
                raise ValueError
            fields = [int(head[i:i + 8], 16) for i in range(6, 110, 8)]
            mode, size, name_size = fields[1], fields[6], fields[11]
            name = archive.read(name_size)[:-1].decode(
                "utf-8", "surrogateescape")
        except ValueError:
            raise PackError("the guest sent a damaged archive of files")
        if name == "TRAILER!!!":
            return
        data = (position + 110 + name_size + 3) & ~3
        position = (data + size + 3) & ~3
        archive.seek(data)
        if stat.S_ISREG(mode):
            yield name, mode, size
