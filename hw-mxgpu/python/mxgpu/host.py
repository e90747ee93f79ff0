# SPDX-License-Identifier: MIT
"""What hosts share whose device reaches memory of this process: buffers that are
mapped on its bus, VRAM in sight, interrupts as eventfds."""
import ctypes as c
import mmap
import os

from .memory import PAGE, Pages, System, align_up


class MappingHost:
    """A subclass has _vram (a memoryview), irq_fd(), and
    _dma_map(bus address, address here, size), _dma_unmap(bus address, size)."""
    HOLE = 0  # bytes of the bus behind each buffer that are never mapped

    def __init__(self, start, end):
        self._bus = Pages(start, end)
        self._maps = {}

    def vram_read(self, offset, size):
        return bytes(self._vram[offset:offset + size])

    def vram_write(self, offset, data):
        self._vram[offset:offset + len(data)] = data

    def alloc_system(self, size):
        size = align_up(max(size, 1), PAGE)
        return self._map(self._bus.take(size + self.HOLE), size)

    def _map(self, bus, size):
        buffer = mmap.mmap(-1, size)
        self._dma_map(bus, c.addressof(c.c_char.from_buffer(buffer)), size)
        self._maps[bus] = (buffer, size)
        return System(bus, memoryview(buffer))

    def free_system(self, memory):
        buffer, size = self._maps.pop(memory.address)
        self._dma_unmap(memory.address, size)
        self._bus.give(memory.address, size + self.HOLE)
        memory.buffer = None
        del buffer

    def system_memory(self):
        """{bus address: buffer} of all that is mapped."""
        return {at: buffer for at, (buffer, _) in self._maps.items()}

    def interrupts(self, vector):
        """How many came since this was asked last."""
        try:
            return int.from_bytes(os.read(self.irq_fd(vector), 8), "little")
        except BlockingIOError:
            return 0
