# SPDX-License-Identifier: MIT
"""One page for a browser with all that mx-prof has found: nothing is loaded from
elsewhere, and it can be sent to somebody as it is.

Names of kernels, files and ranges are a program's: they are in the page as JSON
that cannot end its element, and reach the document as text only."""
import html as markup
import json
import os

HERE = os.path.dirname(os.path.realpath(__file__))
PLACES = (HERE, os.path.join(HERE, "../mxgpu_llvm/lib/mx-prof"))
EVENTS = 200000    # of the timeline: more make a browser slow
SOURCE = 4 << 20   # bytes of a file of source that are read
AROUND = 3         # lines around those with samples
LINE_BYTES = 64    # of a transaction

HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
      content="default-src 'none'; style-src 'unsafe-inline'; \
script-src 'unsafe-inline'">
<title>{title}</title>
<style>
{css}</style>
</head>
<body>
<h1>{title}</h1>
<noscript>This page draws what it shows: it needs JavaScript.</noscript>
<div id="page"></div>
<script type="application/json" id="data">{data}</script>
<script>
{js}</script>
</body>
</html>
"""


def part(name):
    for place in PLACES:
        path = os.path.join(place, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                return f.read()
    raise OSError(f"{name} of mx-prof is not installed")


# ---- the timeline

def timeline(events, left_out=0):
    """Tracks in the trace's order, each with its slices: start and length in
    microseconds, name, category. The longest are kept if there are too many."""
    names, sort, slices = {}, {}, {}
    processes = {e["pid"]: e["args"]["name"] for e in events
                 if e["ph"] == "M" and e["name"] == "process_name"}
    for e in events:
        key = e["pid"], e["tid"]
        if e["ph"] == "M" and e["name"] == "thread_name":
            names[key] = e["args"]["name"]
        elif e["ph"] == "M" and e["name"] == "thread_sort_index":
            sort[key] = e["args"]["sort_index"]
        elif e["ph"] == "X":
            slices.setdefault(key, []).append(
                [e["ts"], e["dur"], e["name"], e["cat"]])
        elif e["ph"] == "i":
            slices.setdefault(key, []).append([e["ts"], 0, e["name"], "mark"])
    lengths = sorted((s[1] for group in slices.values() for s in group),
                     reverse=True)
    least = lengths[EVENTS] if len(lengths) > EVENTS else -1.0
    return {
        "left_out": left_out + sum(n <= least for n in lengths),
        "tracks": [{
            "process": processes.get(key[0], ""),
            "name": names.get(key, str(key[1])),
            "slices": sorted(s for s in slices[key] if s[1] > least),
        } for key in sorted(slices, key=lambda k: (k[0], sort.get(k, 0), k[1]))],
    }


# ---- kernels

def intensity(row):
    """Lane instructions for each byte from or to memory; None: no memory."""
    return row["lane_instructions"] / row["mem_bytes"] \
        if row["mem_bytes"] else None


def rate(amount, row):
    return amount / row["total_ns"] if amount and row["total_ns"] else None


def kernel(row):
    moved = (row["mem_transactions"] or 0) * LINE_BYTES
    return {
        **{name: row[name] for name in (
            "kernel", "calls", "total_ns", "avg_ns", "share", "faults",
            "lane_efficiency", "transactions_per_request", "tlb_hit_rate",
            "warp_instructions", "divergent_branches", "estimated")},
        "memory_efficiency":
            min(1.0, row["mem_bytes"] / moved) if moved else None,
        "lane_instructions_per_byte": intensity(row),
        "lane_instructions_per_ns": rate(row["lane_instructions"], row),
        "bytes_per_ns": rate(row["mem_bytes"], row),
    }


# ---- source

def lines_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read(SOURCE).split("\n")
    except OSError:
        return []


def source(hot):
    """Files with the lines that have samples and those around them. The heat of
    a line is its part of the samples of all kernels."""
    files, functions, total = {}, {}, 0
    for rows in hot.values():
        for r in rows:
            total += r["samples"]
            into = files.setdefault(r["file"], {}) if r["line"] else functions
            entry = into.setdefault(r["line"] or r["function"], [0, 0.0])
            entry[0] += r["samples"]
            entry[1] += r["samples"] * r["lane_efficiency"]
    found = []
    for path, heat in files.items():
        text = lines_of(path)
        shown = sorted({n for line in heat
                        for n in range(line - AROUND, line + AROUND + 1)
                        if n in heat or 0 < n <= len(text)})
        found.append({
            "file": path,
            "samples": sum(h[0] for h in heat.values()),
            "lines": [[n, text[n - 1] if n <= len(text) else "",
                       heat[n][0] if n in heat else 0,
                       heat[n][1] / heat[n][0] if n in heat and heat[n][0]
                       else None] for n in shown],
        })
    found.sort(key=lambda f: -f["samples"])
    return {"total": total, "files": found,
            "functions": sorted(([n, e[0], e[1] / e[0] if e[0] else None]
                                 for n, e in functions.items()),
                                key=lambda f: -f[1])}


# ---- the page

def data(command, rows, hot, events, left_out=0):
    """All that the page shows. rows: kernels, copies, calls, some hot lines,
    ranges; hot: all lines with samples; events: of the trace, and how many of
    its slices are not among them."""
    return {
        "command": command,
        "timeline": timeline(events, left_out),
        "kernels": [kernel(r) for r in rows[0]],
        "copies": rows[1],
        "calls": rows[2],
        "source": source(hot),
    }


def html(content):
    encoded = json.dumps(content, ensure_ascii=True)
    for c in "<>&":
        encoded = encoded.replace(c, f"\\u{ord(c):04x}")
    return HEAD.format(title=markup.escape("mx-prof: " + content["command"]),
                       css=part("page.css"), js=part("page.js"), data=encoded)
