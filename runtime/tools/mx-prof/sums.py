# SPDX-License-Identifier: MIT
"""Tables of what was recorded: one pass, and nothing kept of single launches."""
from recorded import (COUNTER, COUNTERS, FAULTS, OF_COUNTED, PACKET_DISPATCH,
                      ratio)


class KernelSums:
    """Of all launches of a kernel."""

    def __init__(self):
        self.calls = self.total = 0
        self.least = self.most = None
        self.done, self.faults = 0, set()
        self.counters = [0] * COUNTERS
        self.places = {}  # (module, pc): [samples, lanes]

    def add(self, w):
        self.calls += 1
        if not w.done:
            return
        time = w.end - w.start
        self.done += 1
        self.total += time
        self.least = time if self.least is None else min(self.least, time)
        self.most = time if self.most is None else max(self.most, time)
        self.counters = [a + b for a, b in zip(self.counters, w.counters)]
        if w.fault:
            self.faults.add(w.fault)
        if w.samples:
            self.add_samples(w)

    def add_samples(self, w):
        """They stand for as many as all its instructions have."""
        weight = w.counter("warp_instructions") / len(w.samples)
        if w.interval:
            weight /= w.interval
        for sample in w.samples:
            place = self.places.setdefault(
                (w.module, sample & 0xffffffffffff), [0.0, 0.0])
            place[0] += weight
            place[1] += weight * (sample >> 48 & 0xff)

    def row(self, name, total):
        sums = {c: self.counters[COUNTER[c]] for c in COUNTER}
        counted = sums["counted_instructions"]
        scale = ratio(sums["warp_instructions"], counted)
        for c in OF_COUNTED:
            sums[c] = round(sums[c] * scale) if scale else None
        return {
            "kernel": name,
            "calls": self.calls,
            "unfinished": self.calls - self.done,
            "faults": [FAULTS.get(f, f"fault {f}")
                       for f in sorted(self.faults)],
            "total_ns": self.total,
            "avg_ns": ratio(self.total, self.done),
            "min_ns": self.least,
            "max_ns": self.most,
            "share": ratio(self.total, total),
            "lane_efficiency": ratio(sums["lane_instructions"],
                                     64 * sums["warp_instructions"]),
            "transactions_per_request": ratio(sums["mem_transactions"],
                                              sums["mem_requests"]),
            "tlb_hit_rate": None if not sums["tlb_lookups"] else
            max(0.0, 1 - sums["tlb_misses"] / sums["tlb_lookups"]),
            "estimated": counted < sums["warp_instructions"],
            **sums,
        }


class Sums:
    """What the tables are made of: one pass through what was recorded."""

    def __init__(self, processes):
        self.kernels, self.copies, self.calls = {}, {}, {}
        for p in processes:
            for what, found in p.events():
                if what == "call":
                    self.add_call(*found)
                elif what == "submitted":
                    pass
                elif found.type == PACKET_DISPATCH:
                    self.kernels.setdefault(found.kernel,
                                            KernelSums()).add(found)
                else:
                    self.add_copy(found)

    def add_call(self, start, end, _, result, name):
        row = self.calls.setdefault(name, [0, 0, 0, 0])
        row[0] += 1
        row[1] += end - start
        row[2] = max(row[2], end - start)
        row[3] += result not in (0, 600)  # not ready is an answer

    def add_copy(self, w):
        row = self.copies.setdefault(w.direction, [0, 0, 0, 0])
        row[0] += 1
        row[1] += w.bytes
        if w.done:
            row[2] += w.end - w.start
            row[3] += w.bytes

    def kernel_rows(self):
        total = sum(k.total for k in self.kernels.values())
        return by_total(k.row(name, total)
                        for name, k in self.kernels.items())

    def copy_rows(self):
        return by_total({
            "direction": direction, "count": r[0], "bytes": r[1],
            "total_ns": r[2], "bytes_per_second": ratio(r[3] * 1e9, r[2])}
            for direction, r in self.copies.items())

    def call_rows(self):
        return by_total({
            "call": n, "count": r[0], "total_ns": r[1],
            "avg_ns": r[1] / r[0], "max_ns": r[2], "errors": r[3]}
            for n, r in self.calls.items())

    def hot_rows(self, limit):
        """Of each kernel the lines most samples fell on; functions without
        -g."""
        rows, cache = {}, {}
        self.look_up()
        for name, kernel in self.kernels.items():
            lines = {}
            for (module, pc), (samples, lanes) in kernel.places.items():
                frames = module.frames.get(pc) if module else None
                function, path, line, _, _ = frames[0] if frames else \
                    ("?", "", 0, 0, 0)
                entry = lines.setdefault((path, line) if line else function,
                                         [0.0, 0.0, path, line, function])
                entry[0] += samples
                entry[1] += lanes
            total = sum(e[0] for e in lines.values())
            if not total:
                continue
            top = sorted(lines.values(), key=lambda e: -e[0])[:limit]
            rows[name] = [{
                "file": path, "line": line, "function": function,
                "samples": round(n), "share": n / total,
                "lane_efficiency": lanes / n / 64,
                "text": source_text(path, line, cache) if line else "",
            } for n, lanes, path, line, function in top if n]
        return rows

    def look_up(self):
        wanted = {}
        for kernel in self.kernels.values():
            for module, pc in kernel.places:
                if module:
                    wanted.setdefault(module, set()).add(pc)
        for module, addresses in wanted.items():
            module.lookup(sorted(addresses))


def by_total(rows):
    return sorted(rows, key=lambda r: -r["total_ns"])


def source_text(path, line, cache):
    if path not in cache:
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                cache[path] = f.read(4 << 20).split("\n")
        except OSError:
            cache[path] = []
    lines = cache[path]
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""
