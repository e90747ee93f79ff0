# SPDX-License-Identifier: MIT
"""Tables by total time, with the columns that users of "nsys stats" know."""
import array
import statistics

COLUMNS = ["Time (%)", "Total Time (ns)", "Num Calls", "Avg (ns)", "Med (ns)",
           "Min (ns)", "Max (ns)", "StdDev (ns)", "Name"]
SIZES = ["Total (MB)", "Count", "Avg (MB)", "Med (MB)", "Min (MB)", "Max (MB)",
         "StdDev (MB)", "Operation"]
MEMORY = {"HtoD": "[memcpy Host-to-Device]", "DtoH": "[memcpy Device-to-Host]",
          "DtoD": "[memcpy Device-to-Device]", "HtoH": "[memcpy Host-to-Host]",
          "fill": "[memset]"}


def figures(values):
    """Sum, number, mean, median, least, most, standard deviation."""
    return [sum(values), len(values), statistics.fmean(values),
            statistics.median(values), min(values), max(values),
            statistics.stdev(values) if len(values) > 1 else 0.0]


def by_time(groups):
    total = sum(sum(v) for v in groups.values())
    rows = [[100 * sum(v) / total if total else 0.0, *figures(v), name]
            for name, v in groups.items()]
    return sorted(rows, key=lambda r: (-r[1], r[-1]))


def add(groups, name, value, kind="q"):
    """Eight bytes each: there may be very many."""
    groups.setdefault(name, array.array(kind)).append(value)


def tables(processes, dispatch):
    """{title: (columns, rows)}; dispatch: the type of work that is a kernel.
    Work that has not ended has no time, and does not count."""
    calls, kernels, copies, sizes = {}, {}, {}, {}
    for p in processes:
        for start, end, _, _, name in p.calls():
            add(calls, name, end - start)
        for w in (w for w in p.work() if w.done):
            if w.type == dispatch:
                add(kernels, w.kernel, w.end - w.start)
            else:
                name = MEMORY.get(w.direction, w.direction)
                add(copies, name, w.end - w.start)
                add(sizes, name, w.bytes / 1e6, "d")
    moved = sorted(([*figures(v), name] for name, v in sizes.items()),
                   key=lambda r: (-r[0], r[-1]))
    return {"API Summary": (COLUMNS, by_time(calls)),
            "Kernel Summary": (COLUMNS[:2] + ["Instances"] + COLUMNS[3:],
                               by_time(kernels)),
            "Memory Operations Summary (by Time)": (
                COLUMNS[:2] + ["Count"] + COLUMNS[3:-1] + ["Operation"],
                by_time(copies)),
            "Memory Operations Summary (by Size)": (SIZES, moved)}


def cell(value, column):
    if not isinstance(value, float):
        return str(value)
    return f"{value:.3f}" if "MB" in column else f"{value:.1f}"


def text(found):
    """Lines: numbers to the right, names to the left."""
    for title, (columns, rows) in found.items():
        yield f"\n ** {title}:\n"
        if not rows:
            yield " none"
            continue
        cells = [columns] + [[cell(v, c) for v, c in zip(row, columns)]
                             for row in rows]
        widths = [max(len(r[i]) for r in cells) for i in range(len(columns))]
        cells.insert(1, ["-" * w for w in widths])
        for row in cells:
            yield " " + "  ".join(
                [c.rjust(w) for c, w in zip(row[:-1], widths)] + [row[-1]])
