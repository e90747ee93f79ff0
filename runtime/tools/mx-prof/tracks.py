# SPDX-License-Identifier: MIT
"""The trace that mx-prof writes, and tracks for what overlaps."""
import bisect
import json

REMEMBERED = 2048  # slices of a track
PIECE = 1 << 18    # bytes that are written at once


class Growing:
    """A file that exists once something is written to it, and that ends with a
    whole event at any time: a reader need not wait for the end."""

    def __init__(self, path):
        self.path, self.file, self.waiting, self.size = path, None, [], 0

    def write(self, text):
        self.waiting.append(text)
        self.size += len(text)
        if self.size >= PIECE:
            self.flush()

    def flush(self):
        if not self.waiting:
            return
        if not self.file:
            self.file = open(self.path, "wb", buffering=0)
        data = "".join(self.waiting).encode()
        self.waiting, self.size = [], 0
        while data:
            data = data[self.file.write(data):]


class Trace:
    """Events in the JSON form of chrome://tracing: times in microseconds. They
    go to a file as they come, in an array, which may end anywhere; as many as
    are to be kept, the longest, are in "events" at the end."""

    def __init__(self, origin, out=None, keep=0):
        self.origin, self.out, self.names = origin, out, {}
        self.events, self.keep, self.left_out = [], keep, 0
        self.flows = self.written = 0

    def put(self, event):
        if self.keep:
            self.events.append(event)
            if len(self.events) > 2 * self.keep + len(self.names):
                self.shorten()
        if self.out:
            self.out.write((",\n" if self.written else "[\n") +
                           json.dumps(event))
            self.written += 1

    def shorten(self):
        """What names tracks stays."""
        names = [e for e in self.events if e["ph"] == "M"]
        others = [e for e in self.events if e["ph"] in "Xi"]
        others.sort(key=lambda e: -e.get("dur", 0))
        self.left_out += max(len(others) - self.keep, 0)
        self.events = names + others[:self.keep]

    def finish(self):
        if self.out:
            self.out.write("\n]\n" if self.written else "[]\n")

    def track(self, pid, key, name, sort):
        if (pid, key) not in self.names:
            tid = len(self.names) + 1
            self.names[pid, key] = tid
            self.meta("thread_name", pid, tid, {"name": name})
            self.meta("thread_sort_index", pid, tid, {"sort_index": sort})
        return self.names[pid, key]

    def rename(self, pid, key, name):
        if (pid, key) in self.names:
            self.meta("thread_name", pid, self.names[pid, key], {"name": name})

    def meta(self, name, pid, tid, args):
        self.put({"ph": "M", "name": name, "pid": pid, "tid": tid,
                            "args": args})

    def micros(self, ns):
        return round((ns - self.origin) / 1e3, 3)

    def slice(self, pid, tid, name, category, start, end, args):
        self.put({
            "ph": "X", "pid": pid, "tid": tid, "name": name, "cat": category,
            "ts": self.micros(start),
            "dur": round(max(end - start, 1) / 1e3, 3), "args": args})

    def moment(self, pid, tid, name, at, args):
        self.put({"ph": "i", "pid": pid, "tid": tid, "name": name,
                            "cat": "mark", "s": "t", "ts": self.micros(at),
                            "args": args})

    def span(self, pid, ident, name, start, end, args):
        """One that need not nest: a track of its own."""
        for ph, at in (("b", start), ("e", end)):
            self.put({
                "ph": ph, "pid": pid, "tid": 0, "id": ident, "name": name,
                "cat": "range", "ts": self.micros(at), "args": args})

    def flow(self, source, target):
        self.flows += 1
        for ph, (pid, tid, at) in (("s", source), ("f", target)):
            self.put({
                "ph": ph, "id": self.flows, "name": "launch", "cat": "launch",
                "pid": pid, "tid": tid, "ts": self.micros(at),
                **({"bp": "e"} if ph == "f" else {})})


class Lanes:
    """Slices of one track must nest: what overlaps goes to a further one. They
    come in the order in which their end was seen. Of each track some are
    remembered: before these, all is taken."""

    def __init__(self):
        self.groups = {}

    def pick(self, key, start, end):
        lanes = self.groups.setdefault(key, [])
        for n, lane in enumerate(lanes):
            if lane.take(start, end):
                return n
        lanes.append(Lane())
        lanes[-1].take(start, end)
        return len(lanes) - 1


class Lane:
    def __init__(self):
        self.starts, self.ends, self.forgotten = [], [], None

    def take(self, start, end):
        i = bisect.bisect_right(self.starts, start)
        before = self.ends[i - 1] if i else self.forgotten
        if (before is not None and before > start) or \
                (i < len(self.starts) and self.starts[i] < end):
            return False
        self.starts.insert(i, start)
        self.ends.insert(i, end)
        if len(self.starts) > REMEMBERED:
            self.starts.pop(0)
            self.forgotten = self.ends.pop(0)
        return True
