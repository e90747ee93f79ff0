# SPDX-License-Identifier: MIT
"""The files that profiled programs leave (profile/profile_format.h)."""
import ctypes
import os
import re
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
CHUNK = 1 << 20    # bytes of a file that are in memory, or one entry
SHARE = 4 << 20    # ... that one look takes of a file that grows
NOT_ZERO = re.compile(rb"[^\0]")
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
        self.told = False
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


class Reader:
    """Entries of a recorded file, which may grow while it is read."""

    def __init__(self, path):
        self.file = open(path, "rb", buffering=0)
        self.at, self.broken = HEAD.size, False

    def read(self, size, at):
        return os.pread(self.file.fileno(), size, at)

    def head(self):
        return self.read(HEAD.size, 0).ljust(HEAD.size, b"\0")

    def look(self, final=True):
        """(kind, body) of each entry to the end of the file; if that is not
        final, to the first that is not finished, and not many: the program may
        be faster. The next look goes on there."""
        data, start, begin = b"", 0, self.at
        while final or not self.is_behind(begin):
            if len(data) - start < ENTRY.size:
                data, start = self.read(CHUNK, self.at), 0
                if len(data) < ENTRY.size:
                    return
            size, kind = ENTRY.unpack_from(data, start)
            if not final and not (size and kind):
                return
            if not size and not kind:
                if not self.skip_room():
                    return
                data, start = b"", 0
                continue
            if size < ENTRY.size or size % 8 or \
                    self.at + size > os.fstat(self.file.fileno()).st_size:
                self.broken = True
                return
            if size > len(data) - start:
                data, start = self.read(max(size, CHUNK), self.at), 0
            body = data[start + ENTRY.size:start + size]
            start += size
            self.at += size
            if kind:
                yield kind, body

    def is_behind(self, begin):
        """Whether a look from there has taken its share."""
        return self.at - begin >= SHARE

    def skip_room(self):
        """A thread that was killed when it had made room has written nothing
        there: behind it are entries of others, or the end."""
        at = self.at
        while chunk := self.read(CHUNK, at):
            found = NOT_ZERO.search(chunk)
            if found:
                self.at = at + (found.start() & ~7)
                return True
            at += len(chunk)
        return False


class Process:
    """What one process left. The file is read again for each purpose, and never
    in memory as a whole: a run may take hours."""

    def __init__(self, path, index=True):
        self.path, reader = path, Reader(path)
        magic, version, self.pid, self.start, self.dropped, name = \
            HEAD.unpack(reader.head())
        if magic != b"MXPROF\r\n":
            raise Failure(f"{path}: not a recorded file")
        if version != 1:
            raise Failure(f"{path}: version {version}")
        self.name = text(name)
        self.devices, self.modules, self.kernels = {}, {}, []
        self.broken = self.recorded = False
        self.annotations = annotations.Annotations()
        if index:
            self.annotations.complete(max(self.start, self.index(reader)))

    @property
    def captures(self):
        return captures(self.path)

    def entries(self, reader, handlers, final=True):
        """What handlers return for the entries that they are of, if anything."""
        for kind, body in reader.look(final):
            found = None
            try:
                if kind in handlers:
                    found = handlers[kind](body)
            except (struct.error, IndexError):
                self.broken = True
            if found is not None:
                yield found
        self.broken |= reader.broken

    def index(self, reader):
        """All but calls and work. Returns the last moment of the host."""
        def note(body):
            self.annotations.add(body)

        def name(body):
            self.annotations.add_name(body)
        return max(self.entries(reader, {
            1: self.device, 2: self.clock, 3: self.module, 4: self.kernel,
            5: self.call_end, 6: self.submitted, 8: note,
            9: name}), default=0)

    def call_end(self, body):
        self.recorded = True
        return API.unpack_from(body)[1]

    def submitted(self, body):
        self.recorded = True
        return WORK.unpack_from(body)[3]

    def device(self, body):
        context, number, units, host, clock, _, name = \
            DEVICE.unpack_from(body)
        if context not in self.devices:
            self.devices[context] = Device(number, units, host, clock,
                                           text(name))

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

    def calls(self):
        """(start, end, thread, result, name), as they returned."""
        return self.entries(Reader(self.path), {5: call_of})

    def events(self):
        """What Events tells, and at the end ("unfinished", work)."""
        events = Events(self)
        yield from events.look()
        for w in events.open.values():
            yield "unfinished", w

    def work(self):
        """Kernels, copies and fills, as they ended; then those that did not."""
        for what, w in self.events():
            if what in ("done", "unfinished"):
                yield w


def call_of(body):
    start, end, thread, result = API.unpack_from(body)
    return start, end, thread, result, text(body[API.size:])


class Events:
    """One pass over what a process recorded, or records: in that order
    ("call", ...), ("submitted", work), ("done", work). Only work that has not
    ended is kept. index: the process has not been indexed, this is the first
    pass; then also ("marked", range or mark) and ("named", (kind, object))."""

    def __init__(self, process, index=False):
        self.process, self.reader = process, Reader(process.path)
        self.open, self.known = {}, {}
        self.kernels = iter(process.kernels)
        self.handlers = {4: self.load, 5: lambda body: ("call", call_of(body)),
                         6: self.add, 7: self.done}
        if index:
            self.handlers.update({1: process.device, 2: process.clock,
                                  4: self.load_new, 8: self.note,
                                  9: self.name})

    def look(self, final=True):
        return self.process.entries(self.reader, self.handlers, final)

    def load(self, body):  # where another one was, perhaps
        context, _, desc, _, _, _ = KERNEL.unpack_from(body)
        self.known[context, desc] = next(self.kernels)

    def load_new(self, body):
        context, _, desc, _, _, _ = KERNEL.unpack_from(body)
        self.known[context, desc] = text(body[KERNEL.size:]), None

    def add(self, body):
        w = Work(WORK.unpack_from(body), self.process)
        if w.type == PACKET_DISPATCH:
            name, w.module = self.known.get(
                (w.context, w.desc), (f"kernel at {w.desc:#x}", None))
            w.kernel = demangle(name)
        self.open[w.context, w.queue, w.value] = w
        return "submitted", w

    def done(self, body):
        context, value, queue, room = DONE.unpack_from(body)
        w = self.open.get((context, queue, value))
        if not w:
            return None
        w.set_done(body, DONE.size, room)
        return "done", self.open.pop((context, queue, value))

    def note(self, body):
        marked = self.process.annotations.add(body)
        return marked and ("marked", marked)

    def name(self, body):
        return "named", self.process.annotations.add_name(body)


def text(raw):
    return raw.split(b"\0")[0].decode("utf-8", "replace")


def ratio(a, b):
    return a / b if b else None
