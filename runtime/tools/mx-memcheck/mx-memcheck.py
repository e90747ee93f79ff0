#!/usr/bin/python3 -IS
# SPDX-License-Identifier: MIT
"""mx-memcheck: runs a program and reports what its kernels do wrong.

The runtime itself looks and reports (runtime/check), in every process that the
program starts; this sets it up and sums up. See docs/mx-memcheck.md.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

USAGE = """usage: mx-memcheck [options] PROGRAM [ARG...]

Runs PROGRAM on the simulator of this process and reports mistakes of its
kernels and calls. Its exit status is passed on, unless --error-exitcode says
otherwise. With scripts/run-guest -- PROGRAM it runs in a virtual machine.

  --tool TOOL           memcheck (the default): accesses out of bounds, after
                        a free, misaligned; leaks; errors of calls
                        racecheck: accesses that race with each other
                        initcheck: reads of memory that nobody wrote
                        synccheck: wrong use of barriers
  --leak-check full|no  memcheck: device memory that was not freed (no)
  --report-api-errors all|explicit|no
                        memcheck: calls that return an error (explicit)
  --error-exitcode N    the status when the program ended well but there were
                        errors (0)
  --check-exit-code yes|no  a status of the program that is not 0 is passed on
                        (yes)
  --kernel-name FILTER, --kernel-name-exclude FILTER
                        only kernels, or none, of that name:
                        kernel_name=NAME or kne=NAME, kernel_substring=TEXT or
                        kns=TEXT, regex=EXPRESSION; may be repeated
  --launch-skip N, --launch-count N
                        of these, skip the first N, and check N (0: all)
  --print-limit N       reports that are shown of a process (100; 0: all)
  --show-backtrace yes|host|device|no
                        calls of the host, inlined functions of kernels (yes)
  --log-file FILE       reports go there, not to standard error; %p is the
                        number of the process
  --suppressions FILE   expressions, one a line (# begins a comment): reports
                        of which a line fits one are not errors
  --json FILE           reports and the summary, for programs
  --quiet               no summary unless there were errors
  --version, --help
"""

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
BACKTRACES = {"no": 0, "host": 1, "device": 2, "yes": 3}
API = {"no": 0, "explicit": 1, "all": 2}
FILTERS = {"kernel_name": "kne", "kne": "kne", "kernel_substring": "kns",
           "kns": "kns", "regex": "regex", "kernel_regex": "regex"}


class Failure(Exception):
    """What the user has to be told."""


def number(text):
    if not re.fullmatch("[0-9]{1,9}", text):
        raise ValueError
    return int(text)


def one_of(*words):
    def check(text):
        if text not in words:
            raise ValueError
        return text
    return check


def kernel_filter(text):
    kind, eq, value = re.sub("^(regex):", r"\1=", text).partition("=")
    if not eq or kind not in FILTERS or not value or "\n" in value:
        raise ValueError
    return f"{FILTERS[kind]}={value}"


class Options:
    """As the command line has them."""

    VALUES = {
        "--tool": ("tool", one_of(*TOOLS)),
        "--leak-check": ("leaks", one_of("full", "no")),
        "--report-api-errors": ("api", one_of("all", "explicit", "no")),
        "--error-exitcode": ("exitcode", number),
        "--check-exit-code": ("pass_on", one_of("yes", "no")),
        "--kernel-name": ("kernels", kernel_filter),
        "--kernel-regex": ("kernels", kernel_filter),
        "-k": ("kernels", kernel_filter),
        "--kernel-name-exclude": ("excluded", kernel_filter),
        "--kernel-regex-exclude": ("excluded", kernel_filter),
        "--launch-skip": ("skip", number), "-s": ("skip", number),
        "--launch-count": ("count", number), "-c": ("count", number),
        "--print-limit": ("limit", number),
        "--show-backtrace": ("backtrace", one_of(*BACKTRACES)),
        "--log-file": ("log", str),
        "--suppressions": ("suppressions", str),
        "--json": ("json", str),
    }

    def __init__(self, argv):
        self.tool, self.leaks, self.api = "memcheck", "no", "explicit"
        self.exitcode, self.pass_on = 0, "yes"
        self.kernels, self.excluded = [], []
        self.skip = self.count = 0
        self.limit, self.backtrace, self.log = 100, "yes", None
        self.suppressions = self.json = None
        self.quiet = False
        self.parse(argv)

    def parse(self, argv):
        while argv and argv[0].startswith("-") and argv[0] != "-":
            name, eq, value = argv.pop(0).partition("=")
            if name in ("-h", "--help"):
                sys.stdout.write(USAGE)
                sys.exit(0)
            elif name == "--version":
                print("mx-memcheck, of mxgpu")
                sys.exit(0)
            elif name == "--quiet":
                self.quiet = True
            elif name == "--":
                break
            elif name in self.VALUES:
                if not eq and not argv:
                    raise Failure(f"{name} needs a value")
                self.set(name, value if eq else argv.pop(0))
            else:
                raise Failure(f"unknown option {name}; see mx-memcheck --help")
        if not argv:
            raise Failure("no program given; see mx-memcheck --help")
        if self.suppressions and not os.access(self.suppressions, os.R_OK):
            raise Failure(f"{self.suppressions}: cannot be read")
        if self.json and self.log and "%p" in self.log:
            raise Failure("--json needs one log file, without %p")
        if self.exitcode > 255:
            raise Failure("--error-exitcode is at most 255")
        self.rest = argv

    def set(self, name, text):
        field, kind = self.VALUES[name]
        try:
            value = kind(text)
        except ValueError:
            raise Failure(f"{name}: {text} is not understood; see "
                          "mx-memcheck --help") from None
        if isinstance(getattr(self, field), list):
            getattr(self, field).append(value)
        else:
            setattr(self, field, value)

    def environment(self, status):
        env = dict(os.environ)
        env.update({
            "MXGPU_MEMCHECK": self.tool,
            "MXGPU_MEMCHECK_STATUS": status,
            "MXGPU_MEMCHECK_KERNEL": "\n".join(self.kernels),
            "MXGPU_MEMCHECK_EXCLUDE": "\n".join(self.excluded),
            "MXGPU_MEMCHECK_SUPPRESSIONS":
                os.path.abspath(self.suppressions) if self.suppressions else "",
            "MXGPU_MEMCHECK_LOG": os.path.abspath(self.log) if self.log else "",
            "MXGPU_MEMCHECK_OPTIONS": ",".join((
                f"leaks={int(self.leaks == 'full' and self.tool == TOOLS[0])}",
                f"api={self.tool == TOOLS[0] and API[self.api] or 0}",
                f"backtrace={BACKTRACES[self.backtrace]}",
                f"limit={self.limit}", f"skip={self.skip}",
                f"count={self.count}")),
        })
        env.setdefault("MXGPU_DEVICE", "sim")
        env.pop("MXGPU_PROFILE", None)
        return env


def run(options, status):
    # What the terminal sends is the program's; the summary still comes.
    old = [(s, signal.signal(s, signal.SIG_IGN))
           for s in (signal.SIGINT, signal.SIGQUIT)]

    def restore():
        for what, handler in old:
            signal.signal(what, handler)
    try:
        child = subprocess.Popen(options.rest, preexec_fn=restore,
                                 env=options.environment(status))
    except OSError as e:
        raise Failure(f"{options.rest[0]}: {e.strerror}") from None
    signal.signal(signal.SIGTERM, lambda n, f: child.send_signal(n))
    code = child.wait()
    restore()
    return code if code >= 0 else 128 - code


def say(options, text):
    line = f"========= {text}\n"
    if options.log and "%p" not in options.log:
        with open(options.log, "a", encoding="utf-8") as f:
            f.write(line)
    else:
        sys.stderr.write(line)


FIELDS = (
    ("place", r"(?:[A-Z]\w+|[Aa]nother one|One)? ?at (?P<function>.*?)"
              r"(?: in (?P<file>.*):(?P<line>\d+):\d+)?$"),
    ("thread", r"by thread \((?P<thread>[\d,]+)\) in block "
               r"\((?P<block>[\d,]+)\)$"),
    ("kernel", r"in kernel (?P<kernel>.*), grid \((?P<grid>[\d,]+)\), block "
               r"\((?P<size>[\d,]+)\)$"),
    ("address", r"Address (?P<address>0x[0-9a-f]+) (?P<where>.*)$"),
)
HOST = re.compile(r"Host Frame: (?P<function>.*?)(?: at (?P<file>.*?):"
                  r"(?P<line>\d+):\d+(?:, inlined .*)?)? \[(?P<pc>0x[0-9a-f]+)\]$")


def typed(match):
    """What was found: numbers as such, without what is not there."""
    out = {}
    for name, text in match.groupdict().items():
        if text is None:
            continue
        if name == "line":
            out[name] = int(text)
        elif name in ("thread", "block", "grid", "size"):
            out[name] = [int(n) for n in text.split(",")]
        else:
            out[name] = text
    return out


def structured(lines):
    """A report for programs."""
    report, frames = {"message": lines[0], "places": []}, None
    for line in lines[1:]:
        host = HOST.match(line)
        if host and frames is not None:
            frames.append(typed(host))
            continue
        if line.endswith(" at:"):
            frames = report.setdefault(line[:-4].lower(), [])
            continue
        for name, pattern in FIELDS:
            match = re.match(pattern, line)
            if match and name == "place":
                report["places"].append(typed(match))
            elif match and name == "thread" and report["places"]:
                report["places"][-1].update(typed(match))
            elif match:
                report.update(typed(match))
            if match:
                break
    report["text"] = lines
    return report


def reports_of(text):
    reports, now = [], None
    for line in text.splitlines():
        if not line.startswith("========= "):
            continue
        line = line[10:]
        if line.startswith(" ") and now is not None:
            now.append(line.strip())
        elif line and not line.startswith(" "):
            now = [line]
            reports.append(now)
    # Without an indented line it is a note; a summary is one, too.
    return [structured(r) for r in reports if len(r) > 1]


def write_json(options, code, seen, text):
    with open(options.json, "w", encoding="utf-8") as f:
        json.dump({"tool": options.tool, "command": options.rest,
                   "status": code, "errors": seen.count(b"E"),
                   "suppressed": seen.count(b"S"),
                   "reports": reports_of(text)}, f, indent=1)
        f.write("\n")


def sum_up(options, code, seen):
    """The exit status; seen: a letter for each process, error and mute."""
    errors, muted = seen.count(b"E"), seen.count(b"M")
    if b"U" in seen:
        say(options, "Not supported: mx-memcheck looks at kernels on the "
            "simulator in the program's process (MXGPU_DEVICE=sim), or in a "
            "guest of scripts/run-guest, not on other PCI devices")
        return code or 2
    if b"P" not in seen:
        say(options, "Target application ended before it used the runtime, or "
            "does not use it: nothing was checked")
    if errors or not options.quiet:
        say(options, f"ERROR SUMMARY: {errors} "
            f"error{'' if errors == 1 else 's'}")
    if b"S" in seen:
        say(options, f"ERROR SUMMARY: {seen.count(b'S')} were suppressed")
    if muted:
        say(options, f"ERROR SUMMARY: {muted} of them were not printed; use "
            "--print-limit to adjust the number of printed errors")
    if code and options.pass_on == "yes":
        return code
    return options.exitcode if errors else 0


def run_for_json(options, status):
    """The reports are read from the log: the user's, or one for this."""
    with tempfile.NamedTemporaryFile(prefix="mx-memcheck.") as log:
        options.log, own = options.log or log.name, options.log
        code = run(options, status.name)
        seen = status.read()
        with open(options.log, encoding="utf-8", errors="replace") as f:
            text = f.read()
        write_json(options, code, seen, text)
        options.log = own
        if not own:
            sys.stderr.write(text)
        return sum_up(options, code, seen)


def main():
    try:
        options = Options(sys.argv[1:])
        with tempfile.NamedTemporaryFile(prefix="mx-memcheck.") as status:
            if options.log and "%p" not in options.log:
                with open(options.log, "w", encoding="utf-8"):
                    pass
            if options.json:
                return run_for_json(options, status)
            code = run(options, status.name)
            return sum_up(options, code, status.read())
    except (Failure, OSError) as e:
        print(f"mx-memcheck: {e}", file=sys.stderr)
        return 127 if "No such file" in str(e) else 2


sys.exit(main())
