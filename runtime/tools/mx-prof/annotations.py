# SPDX-License-Identifier: MIT
"""Of mx-prof: ranges, marks and names, by libmcToolsExt (toolsext/)."""
import array
import bisect
import itertools
import struct

# ---- made by scripts/gen-constants from the C headers
ANNOTATION = struct.Struct("<3Q6I")
NAME = struct.Struct("<Q2I")
# ---- made by scripts/gen-constants: end
# Of a range, by mctxPayloadType_t.
PAYLOADS = {1: "<Q", 2: "<q", 3: "<d", 4: "<I", 5: "<i", 6: "<f"}


def text(raw):
    return raw.split(b"\0")[0].decode("utf-8", "replace")


class Range:
    """What a program marked; thread is None when any may end it."""

    def __init__(self, fields, message, thread):
        (self.start, self.ident, payload, self.thread_id, _, self.domain,
         self.category, color, has) = fields
        self.end, self.message, self.thread = None, message, thread
        self.color = f"#{color & 0xffffff:06x}" if has & 1 else None
        form = PAYLOADS.get(has >> 8)
        self.payload = form and struct.unpack_from(
            form, struct.pack("<Q", payload))[0]
        self.finished = True


class Annotations:
    """Ranges and marks of one process, and names of things."""

    MARK, PUSH, POP, START, END = 1, 2, 3, 4, 5
    KINDS = {1: "domain", 2: "category", 3: "thread", 4: "device",
             5: "stream", 6: "event", 7: "context", 8: "resource"}

    def __init__(self):
        self.ranges, self.marks, self.names = [], [], {}
        self.pushed, self.started = {}, {}
        self.last = 0

    def add(self, body):
        """Returns what is complete by that: a mark, or a range."""
        fields = ANNOTATION.unpack_from(body)
        at, ident, _, thread, kind, domain = fields[:6]
        self.last = max(self.last, at)
        message = text(bytes(body[ANNOTATION.size:]))
        ended = None
        if kind == self.MARK:
            self.marks.append(Range(fields, message, thread))
            return self.marks[-1]
        if kind == self.PUSH:
            new = Range(fields, message, thread)
            self.pushed.setdefault((thread, domain), []).append(new)
            self.ranges.append(new)
        elif kind == self.POP:
            stack = self.pushed.get((thread, domain), [])
            if stack and stack[-1].ident == ident:
                ended = stack.pop()
        elif kind == self.START:
            self.started[ident] = Range(fields, message, None)
            self.ranges.append(self.started[ident])
        elif kind == self.END and ident in self.started:
            ended = self.started.pop(ident)
        if ended:
            ended.end = at
        return ended

    def add_name(self, body):
        """Returns what got a name: kind and object."""
        ident, kind, domain = NAME.unpack_from(body)
        self.names[kind, domain if kind in (2, 8) else 0, ident] = \
            text(bytes(body[NAME.size:]))
        return kind, ident

    def complete(self, last):
        """What was never ended lasts to the end of the recording."""
        for r in self.ranges:
            if r.end is None:
                r.end, r.finished = max(last, self.last, r.start), False

    def unfinished(self):
        """Complete ranges that nobody ended."""
        return [r for r in self.ranges if not r.finished]

    def name(self, kind, ident, domain=0):
        """As the program named it, or None."""
        return self.names.get((kind, domain, ident))

    def domain(self, ident):
        return "" if not ident else self.name(1, ident) or str(ident)

    def arguments(self, r):
        """What a trace says of a range or mark."""
        named = self.name(2, r.category, r.domain)
        args = {"domain": self.domain(r.domain), "payload": r.payload,
                "category": named or r.category or None, "color": r.color,
                "unfinished": None if r.finished else True}
        return {k: v for k, v in args.items() if v not in (None, "")}


# ---- tables

def kernel_time(process):
    """f(range): launches, and the time of their kernels, that the range's
    thread, or all for one of the process, made in it."""
    by_thread = {None: (array.array("q"), array.array("q"))}
    for w in process.work() if process.annotations.ranges else ():
        if w.kernel is not None:
            for thread in (None, w.thread):
                hosts, times = by_thread.setdefault(
                    thread, (array.array("q"), array.array("q")))
                hosts.append(w.host)
                times.append(w.end - w.start if w.done else 0)
    sums = {}
    for thread, (hosts, times) in by_thread.items():
        order = sorted(range(len(hosts)), key=hosts.__getitem__)
        sums[thread] = (array.array("q", (hosts[i] for i in order)),
                        array.array("q", itertools.accumulate(
                            (times[i] for i in order), initial=0)))

    def of(r):
        hosts, total = sums.get(r.thread, ([], [0]))
        first = bisect.bisect_left(hosts, r.start)
        last = bisect.bisect_right(hosts, r.end)
        return last - first, total[last] - total[first]
    return of


def range_rows(processes):
    groups = {}
    for p in processes:
        time = kernel_time(p)
        for r in p.annotations.ranges:
            key = p.annotations.domain(r.domain), r.message
            groups.setdefault(key, []).append((r, *time(r)))
    rows = []
    for (domain, message), group in groups.items():
        times = [r.end - r.start for r, _, _ in group]
        rows.append({
            "range": message, "domain": domain, "count": len(group),
            "unfinished": sum(not r.finished for r, _, _ in group),
            "total_ns": sum(times), "avg_ns": sum(times) / len(group),
            "min_ns": min(times), "max_ns": max(times),
            "kernels": sum(n for _, n, _ in group),
            "kernels_ns": sum(ns for _, _, ns in group)})
    rows.sort(key=lambda r: -r["total_ns"])
    return rows


def mark_rows(processes):
    groups = {}
    for p in processes:
        for r in p.annotations.marks:
            key = p.annotations.domain(r.domain), r.message
            groups[key] = groups.get(key, 0) + 1
    return [{"mark": m, "domain": d, "count": n}
            for (d, m), n in groups.items()]


def name_rows(processes):
    rows = []
    for p in processes:
        names = p.annotations.names
        rows += [{"kind": Annotations.KINDS.get(kind, str(kind)),
                  "domain": p.annotations.domain(domain), "object": ident,
                  "name": name}
                 for (kind, domain, ident), name in names.items()]
    return rows


# Of the report: of each range's row these, and its title.
COLUMNS = ["total", "count", "avg", "min", "max", "kernels", "of kernels",
           "range"]
FIELDS = ("total_ns", "count", "avg_ns", "min_ns", "max_ns", "kernels",
          "kernels_ns")


def title(row):
    domain = f"{row['domain']}: " if row["domain"] else ""
    more = f"  [{row['unfinished']} unfinished]" if row["unfinished"] else ""
    return domain + row["range"] + more


# ---- the trace

def add_to_trace(trace, process, r):
    """A range or mark. Ranges of a thread nest with its calls; those of another
    domain than the default one may not."""
    notes, pid = process.annotations, process.pid
    args = notes.arguments(r)
    if r.thread is None:
        trace.span(pid, r.ident, r.message, r.start, r.end, args)
        return
    key = r.thread if not r.domain else (r.thread, r.domain)
    more = f", {notes.domain(r.domain)}" if r.domain else ""
    tid = trace.track(pid, key, thread_name(process, r.thread) + more,
                      r.thread)
    if r.end is None:
        trace.moment(pid, tid, r.message, r.start, args)
    else:
        trace.slice(pid, tid, r.message, "range", r.start, r.end, args)


def thread_name(process, thread):
    name = process.annotations.name(3, thread)
    return f"thread {thread}" + (f" ({name})" if name else "")
