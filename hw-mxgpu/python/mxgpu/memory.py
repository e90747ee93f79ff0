# SPDX-License-Identifier: MIT
"""Memory that the device reaches: VRAM, and system memory on the bus."""
import struct

from .tables import PAGE_SHIFT

PAGE = 1 << PAGE_SHIFT


def align_up(value, to):
    return (value + to - 1) // to * to


class Pages:
    """Which parts of a range are taken: first fit, in whole pages."""

    def __init__(self, start, end):
        self.free = [(start, end)]

    def take(self, size, align=PAGE):
        size = align_up(max(size, 1), PAGE)
        for i, (start, end) in enumerate(self.free):
            at = align_up(start, align)
            if at + size <= end:
                self.free[i:i + 1] = [r for r in ((start, at), (at + size, end))
                                      if r[0] < r[1]]
                return at
        raise MemoryError(f"no {size:#x} bytes at once")

    def give(self, at, size):
        ranges = sorted([*self.free, (at, at + align_up(max(size, 1), PAGE))])
        self.free = ranges[:1]
        for start, end in ranges[1:]:
            if start == self.free[-1][1]:
                self.free[-1] = (self.free[-1][0], end)
            else:
                self.free.append((start, end))


class Memory:
    """A piece of memory: system or VRAM, address there, and size. Reads and
    writes of the program; the device has them when it is mapped (paging.py) or
    by the address on the bus."""
    system = False

    def __init__(self, address, size):
        self.address, self.size = address, size

    def _range(self, offset, size):
        if offset < 0 or size < 0 or offset + size > self.size:
            raise IndexError(f"{size} bytes at {offset:#x} of {self.size:#x}")

    def read(self, offset=0, size=None):
        size = self.size - offset if size is None else size
        self._range(offset, size)
        return self._load(offset, size)

    def write(self, data, offset=0):
        data = bytes(data)
        self._range(offset, len(data))
        self._store(offset, data)

    def fill(self, byte=0):
        self.write(bytes([byte]) * self.size)

    def read_u64(self, offset=0):
        return struct.unpack("<Q", self.read(offset, 8))[0]

    def write_u64(self, value, offset=0):
        self.write(struct.pack("<Q", value), offset)

    def read_u32(self, offset=0):
        return struct.unpack("<I", self.read(offset, 4))[0]

    def write_u32(self, value, offset=0):
        self.write(struct.pack("<I", value), offset)

    def get(self, struct_class, offset=0):
        """An object of a structure from there."""
        import ctypes
        return struct_class.unpack(self.read(offset,
                                             ctypes.sizeof(struct_class)))

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        if isinstance(index, slice):
            start, stop, step = index.indices(self.size)
            return self.read(start, max(stop - start, 0))[::step]
        return self.read(index, 1)[0]

    def __setitem__(self, index, value):
        if isinstance(index, slice):
            start, stop, step = index.indices(self.size)
            value = bytes(value)
            if step != 1 or len(value) != stop - start:
                raise ValueError("not as many bytes as the slice")
            self.write(value, start)
        else:
            self.write(bytes([value]), index)

    def __repr__(self):
        return (f"<{'system' if self.system else 'VRAM'} memory, "
                f"{self.size:#x} bytes at {self.address:#x}>")


class Vram(Memory):
    """address: offset into VRAM."""

    def __init__(self, host, address, size):
        super().__init__(address, size)
        self._host = host

    def _load(self, offset, size):
        return self._host.vram_read(self.address + offset, size)

    def _store(self, offset, data):
        self._host.vram_write(self.address + offset, data)


class System(Memory):
    """address: on the bus. The bytes are those of a buffer."""
    system = True

    def __init__(self, address, buffer):
        super().__init__(address, len(buffer))
        self.buffer = buffer

    def _load(self, offset, size):
        return bytes(self.buffer[offset:offset + size])

    def _store(self, offset, data):
        self.buffer[offset:offset + len(data)] = data
