# SPDX-License-Identifier: MIT
"""The trace of processes, from what they left or while they run."""
import os
import sys
import time

import annotations
import firmware
from recorded import (COUNTER, FAULTS, Events, Failure, OF_COUNTED,
                      PACKET_DISPATCH, Process, SHARE, ratio)
from tracks import Growing, Lanes, Trace

MAX_PID = 1 << 22  # of Linux
LAUNCHES = 2048    # of a thread, that wait for their call
LATE = 10**9       # ns after which work that has not ended is told


class Launches:
    """Arrows from calls to kernels: drawn when both ends are known."""

    def __init__(self, trace, pid):
        self.trace, self.pid = trace, pid
        self.waiting = {}  # of a thread: launches that no call was seen for

    def submitted(self, w):
        if w.type == PACKET_DISPATCH:
            waiting = self.waiting.setdefault(w.thread, [])
            waiting.append(w)
            del waiting[:-LAUNCHES]  # by no call that was recorded

    def call(self, start, end, thread, tid):
        waiting = self.waiting.get(thread, [])
        for w in waiting:
            if start <= w.host <= end:
                w.call = self.pid, tid, w.host
                self.draw(w)
        self.waiting[thread] = [w for w in waiting if w.host < start]

    def draw(self, w):
        if w.call and w.shown:
            self.trace.flow(w.call, w.shown)


class ProcessTrace:
    """Of one process. known: the same, of a run that has ended: it knows the
    clocks at the end, and names that were given late."""

    def __init__(self, trace, path, known=None):
        self.trace, self.process = trace, Process(path, index=False)
        self.host, self.device = self.process.pid, self.process.pid + MAX_PID
        if known:
            self.process.devices = known.devices
            self.process.annotations.names.update(known.annotations.names)
        self.events = Events(self.process, index=True)
        self.lanes, self.launches = Lanes(), Launches(trace, self.host)
        self.captures, self.named, self.last = {}, set(), self.process.start
        self.handlers = {"call": self.call, "submitted": self.submitted,
                         "done": self.done, "marked": self.marked,
                         "named": self.renamed}

    def look(self, final=True):
        """Adds what has been recorded since the last look. If that is not final,
        not all when it is very much: then it returns true."""
        begin = self.events.reader.at
        for what, found in self.events.look(final):
            self.handlers[what](found)
        if not final:
            late = time.monotonic_ns() - LATE
            self.tell_open(lambda w: w.host < late)
        behind = self.look_at_captures(None if final else SHARE)
        return behind or self.events.reader.is_behind(begin)

    def finish(self):
        self.look()
        notes = self.process.annotations
        notes.complete(self.last)
        for r in notes.unfinished():
            self.marked(r)
        self.tell_open(lambda w: True)
        for tracks in self.captures.values():
            tracks.finish()

    def name(self, pid, kind):
        if pid not in self.named:
            self.named.add(pid)
            p = self.process
            self.trace.meta("process_name", pid, 0,
                            {"name": f"{p.name} ({p.pid}): {kind}"})

    # ---- the host

    def call(self, found):
        start, end, thread, result, name = found
        self.name(self.host, "calls")
        self.last = max(self.last, end)
        tid = self.trace.track(
            self.host, thread, annotations.thread_name(self.process, thread),
            thread)
        self.trace.slice(self.host, tid, name, "call", start, end,
                         {"result": result})
        self.launches.call(start, end, thread, tid)

    def marked(self, found):
        self.name(self.host, "calls")
        annotations.add_to_trace(self.trace, self.process, found)

    def renamed(self, found):
        kind, ident = found
        if annotations.Annotations.KINDS.get(kind) == "thread":
            self.trace.rename(self.host, ident, annotations.thread_name(
                self.process, ident))

    # ---- the devices

    def submitted(self, w):
        self.last = max(self.last, w.host)
        self.launches.submitted(w)

    def queue(self, w):
        number = self.process.devices[w.context].number
        self.name(self.device, "devices")
        return self.trace.track(self.device, ("queue", (w.context, w.queue)),
                                f"device {number} queue {w.queue}", 1000)

    def tell_open(self, which):
        """Work whose end was not seen: what hangs is among it."""
        for w in self.events.open.values():
            if not w.told and which(w) and w.context in self.process.devices:
                w.told = True
                self.trace.moment(self.device, self.queue(w),
                                  f"{w.kernel or w.direction}: submitted, no "
                                  "end seen yet", w.host, {})

    def done(self, w):
        if w.context not in self.process.devices:
            return
        device = self.process.devices[w.context]
        start, end = device.host_time(w.start), device.host_time(w.end)
        if w.type == PACKET_DISPATCH:
            kind, name, args = "kernel", w.kernel, self.arguments(w)
        else:
            kind, name = "copy", w.direction
            args = {"bytes": w.bytes,
                    "GB/s": round(w.bytes / max(w.end - w.start, 1), 3)}
        queue = self.queue(w)
        self.trace.slice(self.device, queue, name, kind, start, end, args)
        for group, sort in (("kernels", 2000), ("copies", 3000)):
            if group.startswith(kind[:3]):
                tid = self.track(device, (group, w.context), group, sort,
                                 w.start, w.end)
                self.trace.slice(self.device, tid, name, kind, start, end,
                                 args)
        for unit, blocks, first, last, busy in w.units:
            tid = self.track(device, ("unit", w.context, unit), f"unit {unit}",
                             4000 + unit, first, last)
            self.trace.slice(self.device, tid, name, "unit",
                             device.host_time(first), device.host_time(last),
                             {"blocks": blocks, "busy ns": busy})
        w.shown = self.device, queue, start
        self.launches.draw(w)

    def track(self, device, key, name, sort, start, end):
        n = self.lanes.pick(key, start, end)
        more = f" ({n + 1})" if n else ""
        return self.trace.track(self.device, (*key, n),
                                f"device {device.number} {name}{more}",
                                sort + (n if sort < 4000 else 0))

    def arguments(self, w):
        named = self.process.annotations.name(5, w.stream) if w.stream else None
        args = {"stream": named or (hex(w.stream) if w.stream else "default"),
                "grid": w.grid, "block": w.block, "dynamic shared": w.shared}
        args.update((c, w.counter(c)) for c in COUNTER if c not in OF_COUNTED)
        scale = ratio(w.counter("warp_instructions"),
                      w.counter("counted_instructions"))
        if scale:
            args.update((c, round(w.counter(c) * scale)) for c in OF_COUNTED)
        if w.fault:
            args["fault"] = FAULTS.get(w.fault, w.fault)
        return args

    def look_at_captures(self, most):
        """Whether one has more than that."""
        behind = False
        last = {d.number: d for d in self.process.devices.values()}
        for number, path in self.process.captures.items():
            while number in last:
                if number not in self.captures:
                    self.captures[number] = firmware.Tracks(
                        self.trace, self.device, last[number], self.lanes,
                        FAULTS)
                begin = self.captures[number].at
                if self.captures[number].look(path, most):
                    behind |= most is not None and \
                        self.captures[number].at - begin >= most
                    break
                self.captures.pop(number).finish()
        return behind


def make_trace(processes, out, keep):
    """The trace, to a file; keep: as many events, the longest, are in it."""
    trace = Trace(min((p.start for p in processes), default=0), out, keep)
    for p in processes:
        ProcessTrace(trace, p.path, p).finish()
    trace.finish()
    return trace


class Live:
    """The trace of processes that record into a folder, to a file that can be
    read at any time."""

    def __init__(self, folder, path, keep, always):
        self.folder, self.always, self.found = folder, always, {}
        self.out = Growing(path)
        self.trace = Trace(time.monotonic_ns(), self.out, keep)
        self.failed = False

    def look(self, final=False):
        """Whether there is more by now. A trace that cannot be written is told
        once, and ends no run."""
        behind = False
        if self.failed:
            return False
        try:
            for name in sorted(os.listdir(self.folder)):
                if name.endswith(".mxprof") and name not in self.found:
                    self.begin(name)
            for one in self.found.values():
                if final:
                    one.finish()
                else:
                    behind |= one.look(final=False)
            if final and (self.trace.written or self.always):
                self.trace.finish()
            self.out.flush()
        except OSError as e:
            self.failed = True
            print(f"mx-prof: {e}", file=sys.stderr)
        return behind

    def begin(self, name):
        try:
            self.found[name] = ProcessTrace(
                self.trace, os.path.join(self.folder, name))
        except Failure:
            pass  # it has no head yet; the report tells what never has one
