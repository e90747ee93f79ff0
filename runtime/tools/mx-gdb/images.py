# SPDX-License-Identifier: MIT
"""Images of kernels in a file, and where one of them was loaded.

A file is a program or a library that mxcc made, a container of images (see
mxgpu/fatbin.h) or an image alone. Nothing in it is trusted."""
import struct

MAGIC = b"MXGPUFB\0"
TARGET = b"riscv64-mxgpu"
HEADER = struct.Struct("<8sIIQ")   # magic, version, entries, size
ENTRY = struct.Struct("<QQ32s")    # offset, size, target
ENTRIES = 64
ELF = struct.Struct("<16sHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")  # type, flags, offset, vaddr, paddr, ...
RISCV, LOAD, EXECUTE = 243, 1, 1
PAGE = 4096


class Image:
    """An ELF file for the device: its bytes, and its code's address in them
    and as it was linked."""

    def __init__(self, data):
        self.data = data
        self.code = self.link = self.size = 0
        try:
            fields = ELF.unpack_from(data)
        except struct.error:
            raise ValueError("no ELF file") from None
        ident, machine, table = fields[0], fields[2], fields[5]
        step, count = fields[9], fields[10]
        if ident[:5] != b"\x7fELF\2" or machine != RISCV:
            raise ValueError("not for this device")
        for i in range(count):
            if step < SEGMENT.size or table + i * step + SEGMENT.size > len(data):
                raise ValueError("its segments are not in the file")
            kind, flags, offset, link, _, size, _, _ = SEGMENT.unpack_from(
                data, table + i * step)
            if kind == LOAD and flags & EXECUTE and size > self.size:
                if offset + size > len(data):
                    raise ValueError("its code is not in the file")
                self.code, self.link, self.size = offset, link, size
        if not self.size:
            raise ValueError("there is no code in it")

    def find(self, pc, read):
        """How far from where it was linked its code is in memory, if that pc is
        in it; None: it is not. read(address, size) gives bytes of memory, fewer
        where there are none. The loader keeps an address's place in its
        page."""
        code = self.data[self.code:self.code + self.size]
        here = read(pc, 16)
        first = (pc - self.link) % PAGE
        for at in range(first, self.size, PAGE):
            if (here and code[at:at + len(here)] == here[:self.size - at]
                    and read(pc - at, self.size) == code):
                return pc - at - self.link
        return None


def container(data, at):
    """The images of the container there."""
    try:
        magic, _, count, total = HEADER.unpack_from(data, at)
    except struct.error:
        return
    if magic != MAGIC or count > ENTRIES or total > len(data) - at:
        return
    for i in range(count):
        entry = at + HEADER.size + i * ENTRY.size
        if entry + ENTRY.size > at + total:
            return
        offset, size, target = ENTRY.unpack_from(data, entry)
        if target.rstrip(b"\0") == TARGET and offset + size <= total:
            yield data[at + offset:at + offset + size]


def images(data):
    """All that can be used, and what is wrong with the others."""
    found, wrong = [], []
    candidates = [data] if data[:4] == b"\x7fELF" else []
    at = data.find(MAGIC)
    while at >= 0:
        candidates += container(data, at)
        at = data.find(MAGIC, at + len(MAGIC))
    for candidate in candidates:
        try:
            found.append(Image(candidate))
        except ValueError as e:
            wrong.append(str(e))
    return found, wrong
