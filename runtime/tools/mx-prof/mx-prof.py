#!/usr/bin/python3 -IS
# SPDX-License-Identifier: MIT
"""mx-prof: runs a program of mxgpu devices and reports what it did.

The runtime leaves a file for each process (profile/profile_format.h); this reads
them, with mx-symbolize for source lines. See docs/profiling.md.
"""
import csv
import json
import os
import shutil
import signal
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
from recorded import ( # pylint: disable=wrong-import-position
    Failure, PACKET_DISPATCH, Process, ratio)
from sums import Sums # pylint: disable=wrong-import-position
from timeline import Live, make_trace # pylint: disable=wrong-import-position

USAGE = """usage: mx-prof [options] PROGRAM [ARG...]
       mx-prof [options] --import FILE...

Runs PROGRAM, writes a trace while it runs, and prints tables of its kernels,
hot lines, copies and calls at its end. Its exit status is passed on.

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
  --limit SIZE      of what is recorded of a process, as 4G (256M)
  --start-paused    record nothing before mcProfilerStart
  --keep DIR        leave the recorded files in DIR
  --import          read recorded files instead of running a program
  -h, --help
"""

TRACE = "mx-prof.trace.json"
LOOK = 0.2         # seconds between two looks at what is recorded


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


# ---- running

def size(text):
    """MiB"""
    units = {"M": 1, "G": 1 << 10}
    if text[-1:] not in units or not text[:-1].isdecimal():
        raise ValueError
    return min(max(int(text[:-1]) * units[text[-1]], 1), 1 << 20)


class Options:
    def __init__(self, argv):
        self.output = self.json = self.csv = self.html = self.keep = None
        self.trace, self.limit = TRACE, None
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
                  "--samples": ("samples", int), "--limit": ("limit", size)}
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
                    raise Failure(f"{name} needs a " + (
                        "size, as 4G" if kind is size else "number")
                                  ) from None
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


def live_trace(options, folder):
    """None: it goes to what can be written to once only, at the end."""
    path = options.trace
    if not path or path == "-" or \
            os.path.exists(path) and not os.path.isfile(path):
        return None
    return Live(folder, path, page.EVENTS if options.html else 0,
                path != TRACE)


def run_program(options, folder, live):
    env = dict(os.environ)
    env["MXGPU_PROFILE"] = os.path.join(folder, "%p.mxprof")
    if options.firmware:
        env["MXGPU_CAPTURE"] = os.path.join(folder, "%p.pcapng")
        env["MXGPU_CAPTURE_KINDS"] = ",".join(firmware.KINDS)
    more = [f"interval={options.interval}", f"samples={options.samples}"]
    if options.limit:
        more.append(f"limit={options.limit}")
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
    behind = False
    while child.returncode is None:
        try:
            child.wait(None if not live else 0 if behind else LOOK)
        except subprocess.TimeoutExpired:
            behind = live.look()
    if live:
        live.look(final=True)
    restore()
    return child.returncode


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


def report(options, paths, status, live=None):
    processes = []
    for path in sorted(paths):
        try:
            p = Process(path)
        except Failure as e:
            if options.imports:
                raise
            print(f"mx-prof: {e}", file=sys.stderr)
            continue
        if p.recorded or p.annotations.ranges or p.annotations.marks or \
                options.imports:
            processes.append(p)
    if options.firmware and processes and not any(
            p.captures for p in processes):
        print("mx-prof: --firmware: no device was simulated in a process",
              file=sys.stderr)
    sums = Sums(processes)
    rows = (sums.kernel_rows(), sums.copy_rows(), sums.call_rows(),
            sums.hot_rows(options.lines) if options.lines else {},
            annotations.range_rows(processes))
    command = " ".join(options.rest)
    keep, trace = page.EVENTS if options.html else 0, None
    if live:
        trace = live.trace
        if live.failed:
            options.trace = None
    elif options.trace and (processes or options.trace != TRACE):
        def stream(f):
            nonlocal trace
            trace = make_trace(processes, f, keep)
        try:
            write(options.trace, stream)
        except OSError as e:
            print(f"mx-prof: {e}", file=sys.stderr)
            options.trace = None
    if options.html and not trace:
        trace = make_trace(processes, None, keep)
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
        data = page.data(command, rows, sums.hot_rows(None),
                         trace.events, trace.left_out)
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
            live = live_trace(options, folder)
            status = run_program(options, folder, live)
            report(options, [os.path.join(folder, f)
                             for f in os.listdir(folder)
                             if f.endswith(".mxprof")], status, live)
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
