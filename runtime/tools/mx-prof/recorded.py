# SPDX-License-Identifier: MIT
"""The files that profiled programs leave (profile/profile_format.h)."""
import ctypes
import mmap
import os
import struct
import subprocess
import tempfile

import annotations

HERE = os.path.dirname(os.path.realpath(__file__))

# ---- made by scripts/gen-constants from the C headers
HEAD = struct.Struct("<8s2I2Q96s")
ENTRY = struct.Struct("<2I")
DEVICE = struct.Struct("<Q2I3Q64s")
CLOCK = struct.Struct("<3Q")
MODULE = struct.Struct("<6Q")
KERNEL = struct.Struct("<4Q2I")
API = struct.Struct("<2QIi")
WORK = struct.Struct("<6Q6I3I3I")
DONE = struct.Struct("<2Q2I")
RECORD = struct.Struct("<Q2I3Q2I2Q")
UNIT = struct.Struct("<2I3Q")
COUNTERS = 32
PACKET_COPY = 1
PACKET_FILL = 2
PACKET_DISPATCH = 3
COUNTER = {"warp_instructions": 0, "lane_instructions": 1, "blocks": 2,
    "divergent_branches": 4, "tlb_misses": 5, "warps": 11,
    "barrier_waits": 12, "atomics": 13, "busy_ns": 14, "mem_requests": 16,
    "mem_transactions": 17, "mem_bytes": 18, "tlb_lookups": 19,
    "shared_requests": 20, "bank_conflicts": 21, "counted_instructions": 22,
    "counted_spans": 23}
FAULTS = {
    1: "address not mapped",
    2: "access not permitted",
    3: "malformed page table",
    4: "not an address",
    5: "bus error",
    6: "no address space",
    7: "misaligned address",
    8: "outside shared or private memory",
    16: "illegal instruction",
    17: "trap",
    18: "unknown system call",
    19: "no thread can go on: barrier never completed",
    20: "assertion failed",
    32: "aborted",
    33: "impossible configuration",
}
# ---- made by scripts/gen-constants: end
DROP = 4 << 20     # bytes of a file that stay in memory behind us
# Of counted_instructions, not of all.
OF_COUNTED = ("mem_requests", "mem_transactions", "mem_bytes", "tlb_lookups",
              "shared_requests", "bank_conflicts")


class Failure(Exception):
    """What the user has to be told."""


# ---- names

class Demangler:
    """C++ names through the C++ library, where there is one."""

    def __init__(self):
        self.known = {}
        try:
            lib = ctypes.CDLL("libstdc++.so.6")
            self.call = getattr(lib, "__cxa_demangle")
            self.call.restype = ctypes.c_void_p
            self.call.argtypes = [ctypes.c_char_p] + [ctypes.c_void_p] * 3
            self.free = ctypes.CDLL(None).free
            self.free.argtypes = [ctypes.c_void_p]
        except (OSError, AttributeError):
            self.call = None

    def __call__(self, name):
        if name not in self.known:
            self.known[name] = self.demangle(name)
        return self.known[name]

    def demangle(self, name):
        if not self.call or not name.startswith("_Z"):
            return name
        status = ctypes.c_int()
        text = self.call(name.encode("utf-8", "replace"), None, None,
                         ctypes.addressof(status))
        if not text:
            return name
        plain = ctypes.string_at(text).decode("utf-8", "replace")
        self.free(text)
        return plain


demangle = Demangler()


def find_symbolizer():
    for path in (os.path.join(HERE, "mx-symbolize"),
                 os.path.join(HERE, "../../libexec/mx-symbolize")):
        if os.access(path, os.X_OK):
            return path
    return None


class Module:
    def __init__(self, ident, base, size, link, data):
        self.ident, self.base, self.size, self.link = ident, base, size, link
        self.data = data
        self.frames = {}

    def lookup(self, addresses):
        """Fills frames[] for addresses of the device."""
        tool = find_symbolizer()
        missing = [a for a in addresses if a not in self.frames]
        if not missing:
            return
        lines = []
        if tool and self.data:
            with tempfile.NamedTemporaryFile() as f:
                f.write(self.data)
                f.flush()
                text = "".join(f"{a - self.base + self.link:x}\n"
                               for a in missing)
                done = subprocess.run([tool, f.name], input=text, text=True,
                                      stdout=subprocess.PIPE, check=False,
                                      errors="replace")
                lines = done.stdout.split("\n")
        for i, address in enumerate(missing):
            line = lines[i] if i < len(lines) else ""
            frames = []
            for part in line.split("\t") if line else []:
                function, path, row, column, offset = part.split("\x1f")
                frames.append((demangle(function), path, int(row),
                               int(column), int(offset)))
            self.frames[address] = frames


# ---- the recorded files

class Device:
    def __init__(self, number, units, host, clock, name):
        self.number, self.units, self.name = number, units, name
        self.points = [(clock, host)]

    def host_time(self, clock):
        """Device time as host time, by the moments both are known for."""
        c0, h0 = self.points[0]
        c1, h1 = self.points[-1]
        if c1 > c0:
            return h0 + (clock - c0) * (h1 - h0) / (c1 - c0)
        return h0 + clock - c0


class Work:
    """A kernel, copy or fill."""

    def __init__(self, fields, process):
        (self.context, self.value, self.stream, self.host, self.desc,
         self.bytes, self.queue, self.thread, self.type, src, dst,
         self.shared) = fields[:12]
        self.grid, self.block = fields[12:15], fields[15:18]
        self.process = process
        self.kernel = self.module = self.call = self.shown = None
        self.direction = "fill" if self.type == PACKET_FILL else \
            "HD"[src] + "to" + "HD"[dst] if src < 2 and dst < 2 else "?"
        self.done = False
        self.start = self.end = self.fault = self.taken = 0
        self.counters = [0] * COUNTERS
        self.units, self.samples = [], []

    def set_done(self, data, at, room):
        (_, _, self.fault, self.start, self.end, self.taken, units,
         self.interval, _, _) = RECORD.unpack_from(data, at)
        at += RECORD.size
        self.done = True
        if self.type != PACKET_DISPATCH:
            return
        self.counters = struct.unpack_from(f"<{COUNTERS}Q", data, at)
        at += 8 * COUNTERS
        for _ in range(units):
            self.units.append(UNIT.unpack_from(data, at))
            at += UNIT.size
        n = min(self.taken, room)
        self.samples = struct.unpack_from(f"<{n}Q", data, at)

    def counter(self, name):
        return self.counters[COUNTER[name]]


def captures(path):
    """{device number: capture} beside a recorded file."""
    base, found = os.path.splitext(path)[0] + ".pcapng", {}
    for n in range(16):
        name = f"{base}.{n}" if n else base
        if os.path.isfile(name):
            found[n] = name
    return found


class Process:
    """What one process left. The file is read again for each purpose, and never
    in memory as a whole: a run may take hours."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = b"" if os.fstat(f.fileno()).st_size < HEAD.size else \
                mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
        if self.data[:8] != b"MXPROF\r\n":
            raise Failure(f"{path}: not a recorded file")
        self.captures = captures(path)
        _, version, self.pid, self.start, self.dropped, name = \
            HEAD.unpack_from(self.data)
        if version != 1:
            raise Failure(f"{path}: version {version}")
        self.name = text(name)
        self.devices, self.modules, self.kernels = {}, {}, []
        self.broken = self.recorded = False
        self.annotations = annotations.Annotations()
        self.annotations.complete(max(self.start, self.index()))

    def entries(self, handlers):
        """What handlers return for the entries that they are of, if anything.
        What was read leaves memory now and then."""
        at, kept = HEAD.size, 0
        while at + ENTRY.size <= len(self.data):
            size, kind = ENTRY.unpack_from(self.data, at)
            if size < ENTRY.size or size % 8 or at + size > len(self.data):
                self.broken |= size != 0
                break
            if kind in handlers:
                body = self.data[at + ENTRY.size:at + size]
                try:
                    found = handlers[kind](body)
                except (struct.error, IndexError):
                    self.broken, found = True, None
                if found is not None:
                    yield found
            at += size
            if at - kept >= DROP:
                first = kept & ~(mmap.PAGESIZE - 1)
                self.data.madvise(mmap.MADV_DONTNEED, first,
                                  (at & ~(mmap.PAGESIZE - 1)) - first)
                kept = at

    def index(self):
        """All but calls and work. Returns the last moment of the host."""
        return max(self.entries({
            1: self.device, 2: self.clock, 3: self.module, 4: self.kernel,
            5: self.call_end, 6: self.submitted, 8: self.annotations.add,
            9: self.annotations.add_name}), default=0)

    def call_end(self, body):
        self.recorded = True
        return API.unpack_from(body)[1]

    def submitted(self, body):
        self.recorded = True
        return WORK.unpack_from(body)[3]

    def device(self, body):
        context, number, units, host, clock, _, name = \
            DEVICE.unpack_from(body)
        self.devices[context] = Device(number, units, host, clock, text(name))

    def clock(self, body):
        context, host, clock = CLOCK.unpack_from(body)
        if context in self.devices:
            self.devices[context].points.append((clock, host))

    def module(self, body):
        context, ident, base, size, link, length = MODULE.unpack_from(body)
        data = bytes(body[MODULE.size:MODULE.size + length])
        self.modules[context, ident] = Module(ident, base, size, link, data)

    def kernel(self, body):
        context, module, _, _, _, _ = KERNEL.unpack_from(body)
        self.kernels.append((text(body[KERNEL.size:]),
                             self.modules.get((context, module))))

    def call(self, body):
        start, end, thread, result = API.unpack_from(body)
        return start, end, thread, result, text(body[API.size:])

    def calls(self):
        """(start, end, thread, result, name), as they returned."""
        return self.entries({5: self.call})

    def events(self):
        """What happened, in that order: ("call", ...), ("submitted", work),
        ("done", work), and at the end ("unfinished", work). Only work that has
        not ended is kept."""
        open_work, known, kernels = {}, {}, iter(self.kernels)

        def load(body):  # where another one was, perhaps
            context, _, desc, _, _, _ = KERNEL.unpack_from(body)
            known[context, desc] = next(kernels)

        def add(body):
            w = Work(WORK.unpack_from(body), self)
            if w.type == PACKET_DISPATCH:
                name, w.module = known.get(
                    (w.context, w.desc), (f"kernel at {w.desc:#x}", None))
                w.kernel = demangle(name)
            open_work[w.context, w.queue, w.value] = w
            return "submitted", w

        def done(body):
            context, value, queue, room = DONE.unpack_from(body)
            w = open_work.get((context, queue, value))
            if not w:
                return None
            w.set_done(body, DONE.size, room)
            return "done", open_work.pop((context, queue, value))
        yield from self.entries({4: load, 6: add, 7: done,
                                 5: lambda body: ("call", self.call(body))})
        for w in open_work.values():
            yield "unfinished", w

    def work(self):
        """Kernels, copies and fills, as they ended; then those that did not."""
        for what, w in self.events():
            if what in ("done", "unfinished"):
                yield w


def text(raw):
    return raw.split(b"\0")[0].decode("utf-8", "replace")


def ratio(a, b):
    return a / b if b else None
