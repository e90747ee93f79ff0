#!/usr/bin/python3 -IS
# SPDX-License-Identifier: MIT
"""mx-prof: runs a program of mxgpu devices and reports what it did.

The runtime leaves a file for each process (profile/profile_format.h); this reads
them, with mx-symbolize for source lines. See docs/profiling.md.
"""
import bisect
import csv
import ctypes
import json
import mmap
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(HERE, "../mxgpu_llvm/lib/mx-prof"), HERE]
sys.dont_write_bytecode = True
import annotations # pylint: disable=wrong-import-position
import firmware # pylint: disable=wrong-import-position
import page # pylint: disable=wrong-import-position
import stats # pylint: disable=wrong-import-position
from tracks import Lanes, Trace # pylint: disable=wrong-import-position

USAGE = """usage: mx-prof [options] PROGRAM [ARG...]
       mx-prof [options] --import FILE...

Runs PROGRAM, prints tables of its kernels, hot lines, copies and calls, and
writes a trace. Its exit status is passed on.

  -o FILE           write the report to FILE instead of standard output
  --trace FILE      the trace, for Perfetto (ui.perfetto.dev) or
                    chrome://tracing (default: mx-prof.trace.json)
  --no-trace
  --json FILE       write the tables as JSON (-: standard output, no report)
  --csv FILE        write the table of kernels as CSV (-: likewise)
  --html FILE       write one page for a browser: a timeline, kernels, their
                    source with the samples on each line
  --lines N         source lines to show for each kernel (default 8; 0: none)
  --interval N      warp instructions of a unit between samples (default 1009;
                    0: no samples)
  --samples N       samples kept of a launch (default 256)
  --exact           count every access to memory, not a part: kernels may take
                    many times longer
  --firmware        the trace also shows packets, messages, interrupts, faults
                    and preemptions of simulated devices
  --stats           print the tables of "nsys stats" instead
  --start-paused    record nothing before mcProfilerStart
  --keep DIR        leave the recorded files in DIR
  --import          read recorded files instead of running a program
  -h, --help
"""

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
MAX_PID = 1 << 22  # of Linux
TRACE = "mx-prof.trace.json"
# Of counted_instructions, not of all.
OF_COUNTED = ("mem_requests", "mem_transactions", "mem_bytes", "tlb_lookups",
              "shared_requests", "bank_conflicts")


class Failure(Exception):
    pass


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
                 os.path.join(HERE, "../mxgpu_llvm/libexec/mx-symbolize")):
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
        self.kernel = self.module = None
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
    """What one process left."""

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
        self.devices, self.modules, self.kernels = {}, {}, {}
        self.work, self.calls, self.broken = [], [], False
        self.by_value = {}
        self.annotations = annotations.Annotations()
        self.parse()
        self.annotations.complete(max(
            [self.start] + [c[1] for c in self.calls] +
            [w.host for w in self.work]))
        self.data = None

    def parse(self):
        at = HEAD.size
        handlers = {1: self.device, 2: self.clock, 3: self.module,
                    4: self.kernel, 5: self.api, 6: self.add_work,
                    7: self.add_done, 8: self.annotations.add,
                    9: self.annotations.add_name}
        while at + ENTRY.size <= len(self.data):
            size, kind = ENTRY.unpack_from(self.data, at)
            if size < ENTRY.size or size % 8 or at + size > len(self.data):
                self.broken = size != 0
                break
            body = memoryview(self.data)[at + ENTRY.size:at + size]
            try:
                if kind in handlers:
                    handlers[kind](body)
            except (struct.error, IndexError):
                self.broken = True
            at += size

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
        context, module, desc, _, _, _ = KERNEL.unpack_from(body)
        name = text(bytes(body[KERNEL.size:]))
        self.kernels[context, desc] = (name,
                                       self.modules.get((context, module)))

    def api(self, body):
        start, end, thread, result = API.unpack_from(body)
        self.calls.append((start, end, thread, result,
                           text(bytes(body[API.size:]))))

    def add_work(self, body):
        w = Work(WORK.unpack_from(body), self)
        if w.type == PACKET_DISPATCH:
            name, w.module = self.kernels.get(
                (w.context, w.desc), (f"kernel at {w.desc:#x}", None))
            w.kernel = demangle(name)
        self.work.append(w)
        self.by_value[w.context, w.queue, w.value] = w

    def add_done(self, body):
        context, value, queue, room = DONE.unpack_from(body)
        w = self.by_value.get((context, queue, value))
        if w:
            w.set_done(body, DONE.size, room)


def text(raw):
    return raw.split(b"\0")[0].decode("utf-8", "replace")


# ---- tables

def ratio(a, b):
    return a / b if b else None


def kernel_rows(processes):
    groups = {}
    for p in processes:
        for w in p.work:
            if w.type == PACKET_DISPATCH:
                groups.setdefault(w.kernel, []).append(w)
    total = sum(w.end - w.start for g in groups.values() for w in g if w.done)
    rows = []
    for name, group in groups.items():
        done = [w for w in group if w.done]
        times = [w.end - w.start for w in done]
        sums = {c: sum(w.counter(c) for w in done) for c in COUNTER}
        counted = sums["counted_instructions"]
        scale = ratio(sums["warp_instructions"], counted)
        for c in OF_COUNTED:
            sums[c] = round(sums[c] * scale) if scale else None
        faults = sorted({w.fault for w in done if w.fault})
        rows.append({
            "kernel": name,
            "calls": len(group),
            "unfinished": len(group) - len(done),
            "faults": [FAULTS.get(f, f"fault {f}") for f in faults],
            "total_ns": sum(times),
            "avg_ns": ratio(sum(times), len(times)),
            "min_ns": min(times, default=None),
            "max_ns": max(times, default=None),
            "share": ratio(sum(times), total),
            "lane_efficiency": ratio(sums["lane_instructions"],
                                     64 * sums["warp_instructions"]),
            "transactions_per_request": ratio(sums["mem_transactions"],
                                              sums["mem_requests"]),
            "tlb_hit_rate": None if not sums["tlb_lookups"] else
            max(0.0, 1 - sums["tlb_misses"] / sums["tlb_lookups"]),
            "estimated": counted < sums["warp_instructions"],
            **sums,
        })
    rows.sort(key=lambda r: -r["total_ns"])
    return rows


def copy_rows(processes):
    groups = {}
    for p in processes:
        for w in p.work:
            if w.type != PACKET_DISPATCH:
                groups.setdefault(w.direction, []).append(w)
    rows = []
    for direction, group in groups.items():
        done = [w for w in group if w.done]
        ns = sum(w.end - w.start for w in done)
        size = sum(w.bytes for w in done)
        rows.append({"direction": direction, "count": len(group),
                     "bytes": sum(w.bytes for w in group), "total_ns": ns,
                     "bytes_per_second": ratio(size * 1e9, ns)})
    rows.sort(key=lambda r: -r["total_ns"])
    return rows


def call_rows(processes):
    groups = {}
    for p in processes:
        for start, end, _, result, name in p.calls:
            row = groups.setdefault(name, [0, 0, 0, 0])
            row[0] += 1
            row[1] += end - start
            row[2] = max(row[2], end - start)
            row[3] += result not in (0, 600)  # not ready is an answer
    rows = [{"call": n, "count": r[0], "total_ns": r[1],
             "avg_ns": r[1] / r[0], "max_ns": r[2], "errors": r[3]}
            for n, r in groups.items()]
    rows.sort(key=lambda r: -r["total_ns"])
    return rows


def source_text(path, line, cache):
    if path not in cache:
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                cache[path] = f.read(4 << 20).split("\n")
        except OSError:
            cache[path] = []
    lines = cache[path]
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def hot_rows(processes, limit):
    """Of each kernel the lines most samples fell on; functions without -g.
    A launch's samples stand for as many as all its instructions have."""
    found, cache = {}, {}
    for p in processes:
        by_module = {}
        for w in p.work:
            if w.samples and w.module:
                by_module.setdefault(id(w.module), (w.module, set()))[1].update(
                    s & 0xffffffffffff for s in w.samples)
        for module, addresses in by_module.values():
            module.lookup(sorted(addresses))
        for w in p.work:
            if not w.samples:
                continue
            weight = w.counter("warp_instructions") / len(w.samples)
            if w.interval:
                weight /= w.interval
            kernel = found.setdefault(w.kernel, {})
            for s in w.samples:
                pc = s & 0xffffffffffff
                frames = w.module.frames.get(pc) if w.module else None
                function, path, line, _, _ = frames[0] if frames else \
                    ("?", "", 0, 0, 0)
                key = (path, line) if line else function
                entry = kernel.setdefault(key, [0.0, 0.0, path, line, function])
                entry[0] += weight
                entry[1] += weight * (s >> 48 & 0xff)
    rows = {}
    for kernel, entries in found.items():
        total = sum(e[0] for e in entries.values())
        top = sorted(entries.values(), key=lambda e: -e[0])[:limit]
        rows[kernel] = [{
            "file": path, "line": line, "function": function,
            "samples": round(n), "share": n / total,
            "lane_efficiency": lanes / n / 64,
            "text": source_text(path, line, cache) if line else "",
        } for n, lanes, path, line, function in top]
    return rows


# ---- the report

def time_text(ns):
    if ns is None:
        return "-"
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= scale:
            return f"{ns / scale:.2f} {unit}"
    return f"{ns:.0f} ns"


def count_text(n):
    if n is None:
        return "-"
    for unit, scale in (("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if n >= 10 * scale:
            return f"{n / scale:.1f} {unit}"
    return str(round(n))


def percent(x):
    return "-" if x is None else f"{100 * x:.1f}%"


def bytes_text(n):
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if n is not None and n >= scale:
            return f"{n / scale:.2f} {unit}"
    return "-" if n is None else f"{n:.0f} B"


def print_table(out, title, columns, rows):
    """Columns are right-aligned, the last one goes where it likes."""
    if not rows:
        return
    print(f"\n{title}", file=out)
    cells = [columns] + rows
    widths = [max(len(r[i]) for r in cells) for i in range(len(columns) - 1)]
    for row in cells:
        left = "  ".join(c.rjust(w) for c, w in zip(row, widths))
        print(f"{left}  {row[-1]}", file=out)


def print_estimated(out, kernels):
    """How much of what accesses memory was counted, if not all."""
    some = [r for r in kernels if r["estimated"]]
    if some:
        counted = sum(r["counted_instructions"] for r in some)
        share = ratio(counted, sum(r["warp_instructions"] for r in some))
        print(f"tr/req and TLB hit are estimates from {percent(share)} of the "
              f"instructions, in {sum(r['counted_spans'] for r in some)} "
              "spans; --exact counts all", file=out)


def print_report(out, processes, rows, command, trace):
    kernels, copies, calls, hot, ranges = rows
    print(f"mx-prof: {command}", file=out)
    for p in processes:
        devices = {d.number: d.name for d in p.devices.values()}
        used = ", ".join(f"{n}: {devices[n]}" for n in sorted(devices))
        print(f"process {p.pid} ({p.name}), devices {used or 'none'}",
              file=out)
        if p.dropped or p.broken:
            print(f"  incomplete: {p.dropped} entries dropped", file=out)
    print_table(out, "Kernels", [
        "time%", "total", "calls", "avg", "min", "max", "warp instr", "lanes",
        "div.br", "tr/req", "TLB hit", "barriers", "kernel"], [[
            percent(r["share"]), time_text(r["total_ns"]), str(r["calls"]),
            time_text(r["avg_ns"]), time_text(r["min_ns"]),
            time_text(r["max_ns"]), count_text(r["warp_instructions"]),
            percent(r["lane_efficiency"]),
            count_text(r["divergent_branches"]),
            "-" if r["transactions_per_request"] is None else
            f"{r['transactions_per_request']:.2f}",
            percent(r["tlb_hit_rate"]), count_text(r["barrier_waits"]),
            r["kernel"] + "".join(f"  [{f}]" for f in r["faults"]) +
            (f"  [{r['unfinished']} unfinished]" if r["unfinished"] else "")]
            for r in kernels])
    print_estimated(out, kernels)
    for kernel, lines in hot.items():
        print_table(out, f"Hot lines of {kernel}", [
            "samples", "share", "lanes", "where", "source"], [[
                str(r["samples"]), percent(r["share"]),
                percent(r["lane_efficiency"]),
                f"{r['file']}:{r['line']}" if r["line"] else r["function"],
                r["text"]] for r in lines])
    print_table(out, "Copies", ["time", "count", "bytes", "per second",
                                "direction"], [[
        time_text(r["total_ns"]), str(r["count"]), bytes_text(r["bytes"]),
        bytes_text(r["bytes_per_second"]), r["direction"]] for r in copies])
    print_table(out, "Calls", ["total", "count", "avg", "max", "errors",
                               "call"], [[
        time_text(r["total_ns"]), str(r["count"]), time_text(r["avg_ns"]),
        time_text(r["max_ns"]), str(r["errors"]), r["call"]] for r in calls])
    print_table(out, "Ranges", annotations.COLUMNS, [
        [time_text(r[c]) if c.endswith("_ns") else str(r[c])
         for c in annotations.FIELDS] + [annotations.title(r)]
        for r in ranges])
    if trace:
        print(f"\ntrace in {trace}: open it at ui.perfetto.dev or in "
              "chrome://tracing", file=out)
    if not kernels and not copies and not calls and not ranges:
        print("nothing was recorded: does the program use libmcruntime?",
              file=out)


def print_stats(out, processes):
    for line in stats.text(stats.tables(processes, PACKET_DISPATCH)):
        print(line, file=out)


# ---- the trace

def add_device_work(trace, process, w, pid, lanes):
    device = process.devices[w.context]
    start, end = device.host_time(w.start), device.host_time(w.end)
    base = (w.context, w.queue)
    named = process.annotations.name(5, w.stream) if w.stream else None
    queue = trace.track(pid, ("queue", base),
                        f"device {device.number} queue {w.queue}", 1000)
    if w.type == PACKET_DISPATCH:
        args = {"stream": named or (hex(w.stream) if w.stream else "default"),
                "grid": w.grid, "block": w.block, "dynamic shared": w.shared}
        args.update((c, w.counter(c)) for c in COUNTER
                    if c not in OF_COUNTED)
        scale = ratio(w.counter("warp_instructions"),
                      w.counter("counted_instructions"))
        if scale:
            args.update((c, round(w.counter(c) * scale)) for c in OF_COUNTED)
        if w.fault:
            args["fault"] = FAULTS.get(w.fault, w.fault)
        kind, name = "kernel", w.kernel
    else:
        args = {"bytes": w.bytes,
                "GB/s": round(w.bytes / max(w.end - w.start, 1), 3)}
        kind, name = "copy", w.direction
    trace.slice(pid, queue, name, kind, start, end, args)
    for group, sort in (("kernels", 2000), ("copies", 3000)):
        if group.startswith(kind[:3]):
            n = lanes.pick((group, w.context), w.start, w.end)
            more = f" ({n + 1})" if n else ""
            tid = trace.track(pid, (group, w.context, n),
                              f"device {device.number} {group}{more}",
                              sort + n)
            trace.slice(pid, tid, name, kind, start, end, args)
    for unit, blocks, first, last, busy in w.units:
        n = lanes.pick(("unit", w.context, unit), first, last)
        more = f" ({n + 1})" if n else ""
        tid = trace.track(pid, ("unit", w.context, unit, n),
                          f"device {device.number} unit {unit}{more}",
                          4000 + unit)
        trace.slice(pid, tid, name, "unit", device.host_time(first),
                    device.host_time(last),
                    {"blocks": blocks, "busy ns": busy})
    return queue, start


def add_firmware(trace, process, pid, lanes):
    last = {d.number: d for d in process.devices.values()}
    for number, path in process.captures.items():
        if number in last:
            firmware.Tracks(trace, pid, last[number], lanes, FAULTS).read(path)


def make_trace(processes, out, keep):
    trace = Trace(min((p.start for p in processes), default=0), out, keep)
    for p in processes:
        host, device = p.pid, p.pid + MAX_PID
        trace.meta("process_name", host, 0,
                   {"name": f"{p.name} ({p.pid}): calls"})
        calls = {}
        for start, end, thread, result, name in sorted(p.calls):
            tid = trace.track(host, thread, annotations.thread_name(p, thread), thread)
            trace.slice(host, tid, name, "call", start, end,
                        {"result": result})
            calls.setdefault(thread, []).append((start, end, tid))
        annotations.add_to_trace(trace, p)
        if not p.devices:
            continue
        trace.meta("process_name", device, 0,
                   {"name": f"{p.name} ({p.pid}): devices"})
        lanes = Lanes()
        for w in sorted((w for w in p.work if w.done and
                         w.context in p.devices), key=lambda w: w.start):
            queue, start = add_device_work(trace, p, w, device, lanes)
            mine = calls.get(w.thread, [])
            i = bisect.bisect_right(mine, (w.host, float("inf"), 0)) - 1
            if w.type == PACKET_DISPATCH and i >= 0 and \
                    mine[i][1] >= w.host:
                trace.flow((host, mine[i][2], w.host), (device, queue, start))
        add_firmware(trace, p, device, lanes)
    trace.finish()
    return trace.events


# ---- running

class Options:
    def __init__(self, argv):
        self.output = self.json = self.csv = self.html = self.keep = None
        self.trace = TRACE
        self.lines, self.interval, self.samples = 8, 1009, 256
        self.paused = self.imports = self.exact = False
        self.firmware = self.stats = False
        self.rest = []
        self.parse(argv)

    def parse(self, argv):
        values = {"-o": ("output", str), "--output": ("output", str),
                  "--trace": ("trace", str), "--json": ("json", str),
                  "--csv": ("csv", str), "--html": ("html", str),
                  "--keep": ("keep", str),
                  "--lines": ("lines", int), "--interval": ("interval", int),
                  "--samples": ("samples", int)}
        while argv and argv[0].startswith("-") and argv[0] != "-":
            name, eq, value = argv.pop(0).partition("=")
            if name in ("-h", "--help"):
                sys.stdout.write(USAGE)
                sys.exit(0)
            elif name == "--":
                break
            elif name == "--start-paused" and not eq:
                self.paused = True
            elif name in ("--exact", "--firmware", "--stats") and not eq:
                setattr(self, name[2:], True)
            elif name == "--no-trace" and not eq:
                self.trace = None
            elif name == "--import" and not eq:
                self.imports = True
            elif name in values:
                if not eq and not argv:
                    raise Failure(f"{name} needs a value")
                field, kind = values[name]
                try:
                    setattr(self, field, kind(value if eq else argv.pop(0)))
                except ValueError:
                    raise Failure(f"{name} needs a number") from None
            else:
                raise Failure(f"unknown option {name}; see mx-prof --help")
        if not argv:
            raise Failure("no program given; see mx-prof --help")
        if min(self.lines, self.interval, self.samples) < 0:
            raise Failure("numbers cannot be negative")
        for path in (self.output, self.json, self.csv, self.html,
                     None if self.trace == TRACE else self.trace):
            if path not in (None, "-") and not writable(path):
                raise Failure(f"cannot write {path}")
        self.rest = argv


def writable(path):
    """Asked before the program runs, perhaps for hours."""
    if os.path.exists(path):
        return os.access(path, os.W_OK) and not os.path.isdir(path)
    return os.access(os.path.dirname(os.path.abspath(path)), os.W_OK)


def run_program(options, folder):
    env = dict(os.environ)
    env["MXGPU_PROFILE"] = os.path.join(folder, "%p.mxprof")
    if options.firmware:
        env["MXGPU_CAPTURE"] = os.path.join(folder, "%p.pcapng")
        env["MXGPU_CAPTURE_KINDS"] = ",".join(firmware.KINDS)
    more = [f"interval={options.interval}", f"samples={options.samples}"]
    if options.exact:
        more.append("exact")
    if options.paused:
        more.append("paused")
    env["MXGPU_PROFILE_OPTIONS"] = ",".join(more)
    # What the terminal sends is the program's; its report still comes.
    old = [(s, signal.signal(s, signal.SIG_IGN))
           for s in (signal.SIGINT, signal.SIGQUIT)]

    def restore():
        for number, handler in old:
            signal.signal(number, handler)
    try:
        child = subprocess.Popen(options.rest, env=env, preexec_fn=restore)
    except FileNotFoundError as e:
        raise Failure(f"{options.rest[0]}: {e.strerror}") from None
    signal.signal(signal.SIGTERM, lambda n, f: child.send_signal(n))
    status = child.wait()
    restore()
    return status


def write(path, what):
    """A regular file is replaced by the whole of the new one, or stays; all
    else is written to."""
    if path == "-":
        what(sys.stdout)
        sys.stdout.flush()
        return
    real = os.path.realpath(path)
    folder = os.path.dirname(real)
    if os.path.exists(path) and not os.path.isfile(path) or \
            os.path.abspath(path).startswith(("/dev/", "/proc/")) or \
            not os.access(folder, os.W_OK):
        with open(path, "w", encoding="utf-8") as f:
            what(f)
        return
    mask = os.umask(0)
    os.umask(mask)
    fd, made = tempfile.mkstemp(prefix=f".{os.path.basename(real)[:32]}.",
                                dir=folder)
    try:
        with open(fd, "w", encoding="utf-8") as f:
            what(f)
        os.chmod(made, 0o666 & ~mask)
        os.replace(made, real)
    except BaseException:
        os.unlink(made)
        raise


def write_csv(out, rows):
    if rows:
        writer = csv.DictWriter(out, rows[0].keys())
        writer.writeheader()
        for row in rows:
            writer.writerow({**row, "faults": "; ".join(row["faults"])})


def report(options, paths, status):
    processes = []
    for path in sorted(paths):
        try:
            p = Process(path)
        except Failure as e:
            if options.imports:
                raise
            print(f"mx-prof: {e}", file=sys.stderr)
            continue
        if p.calls or p.work or p.annotations.ranges or \
                p.annotations.marks or options.imports:
            processes.append(p)
    if options.firmware and processes and not any(
            p.captures for p in processes):
        print("mx-prof: --firmware: no device was simulated in a process",
              file=sys.stderr)
    rows = (kernel_rows(processes), copy_rows(processes),
            call_rows(processes),
            hot_rows(processes, options.lines) if options.lines else {},
            annotations.range_rows(processes))
    command = " ".join(options.rest)
    events = []
    if options.trace and (processes or options.trace != TRACE):
        def stream(f):
            events.extend(make_trace(processes, f, options.html) or [])
        try:
            write(options.trace, stream)
        except OSError as e:
            print(f"mx-prof: {e}", file=sys.stderr)
            options.trace = None
    if options.html and not events:
        events = make_trace(processes, None, True)
    if options.json:
        tables = {"command": options.rest, "status": status,
                  "processes": [{"pid": p.pid, "name": p.name,
                                 "dropped": p.dropped} for p in processes],
                  "kernels": rows[0], "copies": rows[1], "calls": rows[2],
                  "hot_lines": rows[3], "ranges": rows[4],
                  "marks": annotations.mark_rows(processes),
                  "names": annotations.name_rows(processes)}
        write(options.json, lambda f: print(json.dumps(tables, indent=1),
                                            file=f))
    if options.csv:
        write(options.csv, lambda f: write_csv(f, rows[0]))
    if options.html:
        data = page.data(command, rows, hot_rows(processes, None),
                         events)
        write(options.html, lambda f: f.write(page.html(data)))
    if options.output or "-" not in (options.json, options.csv, options.html,
                                     options.trace):
        write(options.output or "-",
              lambda f: print_stats(f, processes) if options.stats else
              print_report(f, processes, rows, command,
                           options.trace if processes else None))


def main():
    status = 0
    try:
        options = Options(sys.argv[1:])
        if options.imports:
            report(options, options.rest, None)
            return 0
        if options.keep:
            os.makedirs(options.keep, exist_ok=True)
        folder = options.keep or tempfile.mkdtemp(prefix="mx-prof.")
        folder = os.path.abspath(folder)
        try:
            status = run_program(options, folder)
            report(options, [os.path.join(folder, f)
                             for f in os.listdir(folder)
                             if f.endswith(".mxprof")], status)
        finally:
            if not options.keep:
                shutil.rmtree(folder, ignore_errors=True)
    except Failure as e:
        print(f"mx-prof: {e}", file=sys.stderr)
        return 127 if "No such file" in str(e) else 2
    except OSError as e:
        print(f"mx-prof: {e}", file=sys.stderr)
        status = status or 2
    return status if status >= 0 else 128 - status


sys.exit(main())
