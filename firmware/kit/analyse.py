# SPDX-License-Identifier: MIT
"""What a linked firmware takes: bytes of SRAM by section, and the deepest stack.

The stack is that of the code that runs, behind the link-time optimiser, where a
compiler's -fstack-usage knows no calls any more: frames are the moves of sp in
the disassembly, calls its jumps to other functions. A call through a register
may be to any function whose address is in the data."""
import os
import re
import struct
import subprocess

OBJDUMP = os.environ.get("MXGPU_OBJDUMP", "llvm-objdump-19")
FUNCTION = re.compile(r"^([0-9a-f]+) <([^>]+)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$")
TARGET = re.compile(r"<([^>+]+)(\+0x[0-9a-f]+)?>")
STT_FUNC = 2


class Elf:
    """Sections and symbols of a 32-bit little-endian ELF file."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        if self.data[:6] != b"\x7fELF\x01\x01":
            raise SystemExit(f"{path}: not a 32-bit little-endian ELF file")
        shoff, = struct.unpack_from("<I", self.data, 32)
        size, count, names = struct.unpack_from("<HHH", self.data, 46)
        rows = [struct.unpack_from("<10I", self.data, shoff + i * size)
                for i in range(count)]
        table = rows[names][4]
        self.sections = {self.text(table + r[0]): r for r in rows}
        self.symbols = dict(self._symbols())

    def text(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode()

    def _symbols(self):
        """(name, (value, type, size))"""
        rows = self.sections[".symtab"]
        strings = self.sections[".strtab"][4]
        for at in range(rows[4], rows[4] + rows[5], 16):
            name, value, size, info = struct.unpack_from("<IIIB", self.data,
                                                         at)
            yield self.text(strings + name), (value, info & 15, size)

    def words(self):
        """Of the sections that hold data with contents."""
        for name, row in self.sections.items():
            if row[1] == 1 and row[2] & 2 and name != ".text":  # PROGBITS
                end = row[4] + row[5] // 4 * 4
                for at in range(row[4], end, 4):
                    yield struct.unpack_from("<I", self.data, at)[0]

    def bytes(self):
        """Contents of the sections that hold constants."""
        row = self.sections[".rodata"]
        return self.data[row[4]:row[4] + row[5]]

    def words_at(self, address, count):
        for row in self.sections.values():
            if row[1] == 1 and row[3] <= address < row[3] + row[5]:
                return struct.unpack_from(f"<{count}I", self.data,
                                          row[4] + address - row[3])
        return ()

    def sizes(self):
        """[(section, bytes)] of what takes SRAM."""
        return [(n, r[5]) for n, r in self.sections.items()
                if r[2] & 2 and r[5]]


class Function:
    def __init__(self, name):
        self.name, self.frame = name, 0
        self.calls = set()
        self.indirect = False  # it calls, or ...
        self.jumps = False     # ... jumps through a register


def functions(path):
    """{name: Function} by the disassembly."""
    text = subprocess.run([OBJDUMP, "-d", "--no-show-raw-insn", path],
                          check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    found, now, before = {}, None, ""
    for line in text.splitlines():
        head = FUNCTION.match(line)
        if head:
            now = found.setdefault(head[2], Function(head[2]))
            continue
        m = INSTRUCTION.match(line)
        if not m or not now:
            continue
        _, name, rest = m.groups()
        move = re.match(r"sp, sp, -(0x[0-9a-f]+|\d+)$", rest)
        # Not the second half of "la sp, ...".
        if name == "addi" and move and not before.startswith("auipc sp"):
            now.frame += int(move[1], 0)
        before = f"{name} {rest}"
        for target in TARGET.finditer(rest):
            # A branch to its own start is a loop, a call is recursion.
            if target[1] != now.name or (name in ("jal", "jalr") and
                                         not target[2]):
                now.calls.add(target[1])
        if name in ("jalr", "jr") and not TARGET.search(rest) and \
                rest.strip() != "ra":
            now.indirect |= name == "jalr"
            now.jumps |= name == "jr"
    return found


class Stack:
    """The deepest stack below an entry: depth in bytes and the way there.
    bounds: {function: how often it may be under way}, 1 where it has none.
    recursion: functions that the code lets be under way more often than that,
    and that have no bound."""

    def __init__(self, elf, found, entry, bounds):
        self.found, self.recursion, self.bounds = found, set(), bounds
        starts = {v: n for n, (v, kind, _) in elf.symbols.items()
                  if kind == STT_FUNC}
        words = set(elf.words())
        self.taken = {starts[w] for w in words if w in starts}
        # A switch jumps by a table of places within its function; else the
        # jump is a call, the last thing that the function does.
        for name, function in found.items():
            value, _, size = elf.symbols.get(name, (0, 0, 0))
            if function.jumps and not any(value < w < value + size
                                          for w in words):
                function.indirect = True
        self._known = {}
        self.depth, self.path, _ = self._below(entry, ())

    def _below(self, name, above):
        """(bytes, way, whether a bound cut it short: then it is true of this
        way here only)"""
        if name in self._known:
            return self._known[name]
        if above.count(name) >= self.bounds.get(name, 1):
            if name not in self.bounds:
                self.recursion.add(name)
            return 0, (), True
        function = self.found.get(name)
        if not function:
            return 0, (), False
        targets = set(function.calls)
        if function.indirect:
            targets |= self.taken - set(above) - {name}
        below = [self._below(t, above + (name,)) for t in sorted(targets)]
        best = max(below, default=(0, (), False))
        cut = any(b[2] for b in below)
        result = (function.frame + best[0], (name,) + best[1], cut)
        if not cut:
            self._known[name] = result
        return result


def bounds_of(path):
    found = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if words:
                found[words[0]] = int(words[1])
    return found


def report(path, sram, reserved):
    """Lines for people, and what is wrong. reserved: bytes the linker script
    keeps for the stack."""
    elf, found = Elf(path), functions(path)
    sizes = elf.sizes()
    total = sum(n for _, n in sizes)
    lines = [f"{name:12} {n:8}" for name, n in sizes
             if not name.startswith(".header")]
    lines.append(f"{'in all':12} {total:8} of {sram} bytes of SRAM, "
                 f"{reserved} for the stack, "
                 f"{sram - total - reserved} free")
    stack = Stack(elf, found, "_start", bounds_of(os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "recursion.txt")))
    errors = []
    lines.append(f"stack: at most {stack.depth} of {reserved} bytes: "
                 + " > ".join(f"{n} {found[n].frame}" for n in stack.path
                              if found[n].frame))
    if stack.depth > reserved:
        errors.append(f"the stack takes {stack.depth} bytes, there are "
                      f"{reserved}")
    if stack.recursion:
        errors.append("recursion has no depth that is known: "
                      + ", ".join(sorted(stack.recursion)))
    if total + reserved > sram:
        errors.append("SRAM is full")
    return lines, errors
