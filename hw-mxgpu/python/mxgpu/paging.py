# SPDX-License-Identifier: MIT
"""Address spaces: page tables in VRAM, as hw-mxgpu/include/mxgpu/pte.h says."""
import contextlib

from .memory import PAGE, Pages, align_up
from .tables import (PT_ENTRIES, PT_LEVEL_BITS, PT_LEVELS, PAGE_SHIFT,
                     PTE_ADDRESS, PTE_ATOMIC, PTE_EXECUTE, PTE_READ,
                     PTE_SYSTEM, PTE_TABLE, PTE_VALID, PTE_WRITE, VA_LIMIT,
                     MsgTlbInvalidate, MsgVmSet)

RIGHTS = {"r": PTE_READ, "w": PTE_WRITE, "x": PTE_EXECUTE, "a": PTE_ATOMIC}
FIRST_VA = 1 << 32
HUGE_LEVEL = 2 # 1 GiB, the largest leaf


def rights(text):
    bits = 0
    for letter in text:
        bits |= RIGHTS[letter]
    return bits


def level_shift(level):
    return PAGE_SHIFT + PT_LEVEL_BITS * level


class AddressSpace:
    """The page tables of a VMID. A context: the device knows them inside.

        with gpu.address_space() as vm:
            va = vm.map(memory, "rw")
    """

    def __init__(self, gpu, vmid):
        self.gpu, self.vmid = gpu, vmid
        self._tables = {}  # offset in VRAM: Vram
        self._ranges = Pages(FIRST_VA, VA_LIMIT)
        self._taken = {}   # va: size, of those that map() chose
        self.root = self._new_table()

    def __enter__(self):
        self.gpu.message(MsgVmSet(vmid=self.vmid,
                                  root=self.root | PTE_VALID | PTE_TABLE))
        self.gpu.spaces[self.vmid] = self
        return self

    def rebuild(self, gpu, saved):
        """One that the device knows already, by checkpoint.describe()."""
        self.gpu, self.vmid, self.root = gpu, saved["vmid"], saved["root"]
        self._tables = {at: gpu.vram(at, PAGE) for at in saved["tables"]}
        self._ranges = Pages(FIRST_VA, VA_LIMIT)
        self._ranges.free = [tuple(r) for r in saved["ranges"]]
        self._taken = dict(saved["taken"])

    def __exit__(self, kind, *_):
        try:
            tell = self.gpu.farewell if kind else self.gpu.message
            tell(MsgVmSet(vmid=self.vmid))
        finally:
            for table in self._tables.values():
                self.gpu.free(table)
            self._tables.clear()
            self.gpu.vmids.discard(self.vmid)
            self.gpu.spaces.pop(self.vmid, None)

    def _new_table(self):
        table = self.gpu.alloc_vram(PAGE)
        table.fill(0)
        self._tables[table.address] = table
        return table.address

    def _slot(self, va, level, make):
        """Table and offset in it of the entry of va; None: no such table."""
        table = self._tables[self.root]
        for upper in range(PT_LEVELS - 1, level, -1):
            at = (va >> level_shift(upper)) % PT_ENTRIES * 8
            pte = table.read_u64(at)
            if not pte & PTE_TABLE:
                if pte or not make:
                    if make:
                        raise ValueError(f"{va:#x} lies in a larger page")
                    return None
                pte = self._new_table() | PTE_VALID | PTE_TABLE
                table.write_u64(pte, at)
            table = self._tables[pte & PTE_ADDRESS]
        return table, (va >> level_shift(level)) % PT_ENTRIES * 8

    def entry(self, va, level=0):
        """The raw entry at a level; 0 where there is no table."""
        slot = self._slot(va, level, False)
        return slot[0].read_u64(slot[1]) if slot else 0

    def set_entry(self, va, value, level=0):
        """Writes a raw entry, malformed ones too; invalidates nothing."""
        table, at = self._slot(va, level, True)
        table.write_u64(value, at)

    def walk(self, va):
        """[(level, entry)] from the root to a leaf, or to what is missing."""
        steps = []
        for level in range(PT_LEVELS - 1, -1, -1):
            pte = self.entry(va, level)
            steps.append((level, pte))
            if not pte & PTE_TABLE:
                break
        return steps

    def translate(self, va):
        """(whether it is of the system, address there, entry), or None."""
        level, pte = self.walk(va)[-1]
        if not pte & PTE_VALID or pte & PTE_TABLE:
            return None
        offset = va & (1 << level_shift(level)) - 1
        return bool(pte & PTE_SYSTEM), (pte & PTE_ADDRESS) + offset, pte

    def map(self, memory, access="rw", va=None, offset=0, size=None,
            largest=HUGE_LEVEL):
        """Maps memory from offset on, with the rights of the letters r, w, x, a;
        returns the address. Pages are as large as addresses permit, up to that
        level."""
        size = align_up(memory.size - offset if size is None else size, PAGE)
        bits = PTE_VALID | rights(access) | (PTE_SYSTEM if memory.system else 0)
        address = memory.address + offset
        if va is None:
            step = 1 << level_shift(min(largest, 1)) if size >= 2 << 20 else PAGE
            va = self._ranges.take(size, step)
            self._taken[va] = size
        if (va | address) % PAGE:
            raise ValueError(f"{va:#x} to {address:#x}: not of whole pages")
        done = 0
        while done < size:
            level = largest
            while level and ((va + done | address + done) %
                             (1 << level_shift(level)) or
                             size - done < 1 << level_shift(level)):
                level -= 1
            self.set_entry(va + done, bits | address + done, level)
            done += 1 << level_shift(level)
        return va

    def unmap(self, va, size):
        """Takes pages away and has the device forget them."""
        end, at = va + align_up(size, PAGE), va
        while at < end:
            level, pte = self.walk(at)[-1]
            if pte:
                self.set_entry(at, 0, level)
            at += 1 << level_shift(level)
        if self._taken.get(va) == end - va:
            self._ranges.give(va, self._taken.pop(va))
        self.invalidate(va, end - va)

    @contextlib.contextmanager
    def mapped(self, memory, access="rw", **where):
        """The same as a context, which gives the address."""
        va = self.map(memory, access, **where)
        try:
            yield va
        finally:
            self.unmap(va, where.get("size") or memory.size)

    def invalidate(self, va=0, size=0):
        """Size 0: everything. Returns when no unit uses an old translation."""
        self.gpu.message(MsgTlbInvalidate(vmid=self.vmid, addr=va, size=size))

    def queue(self, **options):
        from .queue import Queue
        return Queue(self, **options)
