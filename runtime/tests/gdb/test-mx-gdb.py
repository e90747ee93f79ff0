#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""gdb on kernels: scripted sessions of mx-gdb with a program on the simulator,
and the protocol where gdb would have to be interrupted.

usage: test-mx-gdb.py MX-GDB PROGRAM OPTIMISED SOURCE"""
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "../../../scripts"))
from tap import check, end, note  # noqa: E402

MX_GDB, PROGRAM, OPTIMISED, SOURCE = sys.argv[1:5]
LIMIT = 60
ENV = dict(os.environ, MXGPU_DEVICE="sim", MXGPU_COMPUTE_UNITS="2")
FILE = os.path.basename(SOURCE)


def line(comment):
    """The source's line with that comment."""
    with open(SOURCE, encoding="utf-8") as f:
        return next(i for i, text in enumerate(f, 1)
                    if text.rstrip().endswith("// " + comment))


def session(script, *arguments, program=PROGRAM, interrupt_at=None, **more):
    """What gdb and the program say, one after the other. With interrupt_at,
    Ctrl-C is pressed when they have said that line."""
    with tempfile.NamedTemporaryFile("w", suffix=".gdb") as f:
        f.write("set width 0\nset pagination off\n"
                "set debuginfod enabled off\n" + script)
        f.flush()
        with subprocess.Popen(
                [MX_GDB, "-batch", "-x", f.name, program, *arguments],
                env={**ENV, **more}, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, start_new_session=True) as process:
            said = ""
            if interrupt_at:
                said = until(process, interrupt_at)
                os.killpg(process.pid, signal.SIGINT)
            return said + all_of(process)


def until(process, line_wanted):
    """What it says up to that line; if it never does, meson ends the test."""
    said = ""
    for text in process.stdout:
        said += text
        if text.rstrip() == line_wanted:
            break
    return said


def all_of(process):
    """What it says; one that hangs is ended by mx-gdb with all it started."""
    try:
        return process.communicate(timeout=LIMIT)[0]
    except subprocess.TimeoutExpired:
        process.terminate()
        return f"{process.communicate()[0]}\nhung for {LIMIT} s\n"


def expect(name, out, *patterns):
    at = 0
    for p in patterns:
        m = re.compile(p, re.M).search(out, at)
        if not m:
            check(name, False, f"no {p!r} behind character {at} of:\n{out}")
            return
        at = m.end()
    check(name, True)


# The program's line: gdb's of the program's end may have begun before it.
RESULT = r"result 5 767$"

LANES = f"""
info mx-blocks
echo [condition]\\n
break 'twice(int)' if $tid_x == 69 && $ctaid_x == 1
continue
print value
info mx-blocks
info mx-warps
echo [lanes]\\n
mx-lane 70
print value
mx-lane 1,0,0 69,0,0
up
print me
print pair
print $ntid_x * 1000 + $nctaid_x
echo [backtrace]\\n
backtrace
echo [return]\\n
delete
tbreak {FILE}:{line("even")} if $ctaid_x == 1 && $tid_x == 70
continue
print/x $mask
print *in@3
x/2dw 0xffffffffe0000000
print $sp > 0xfffffffff0000000
echo [end]\\n
delete
continue
"""


def test_lanes(name, **more):
    out = session(LANES, **more)
    expect(name + "nothing runs at first", out, "^no kernel runs$",
           r"\[condition\]")
    expect(name + "a condition holds for one lane of a warp", out,
           r"\[condition\]", r"block \(1,0,0\) thread \(69,0,0\)\" hit",
           r"in twice", r"= 198$", r"unit  block +threads",
           r"^\* +\d+  1,0,0 +128$")
    expect(name + "warps are where their lanes are", out,
           r"block \(1,0,0\) warp 1\n    lanes f{16} runs +pc 0x\w+ "
           + re.escape(FILE) + ":")
    expect(name + "lanes have their own variables", out, r"\[lanes\]",
           "^#0  twice", "= 199$", "^#0  twice", "^#1 .*sum", "= 197$",
           r"= \{first = 197, second = -197\}$", "= 128002$")
    expect(name + "backtrace", out, r"\[backtrace\]", r"^#0  twice \(value=198",
           r"^#1 .* sum \(in=0x\w+, out=0x\w+, n=256\) at ")
    expect(name + "diverged lanes; global, shared and private memory", out,
           r"\[return\]", r"thread \(70,0,0\)\" hit", "= 0x5555555555555555$",
           r"= \{1, 2, 3\}$", r"^0xffffffffe0000000:\s+258\s+260$", "= true$")
    expect(name + "... and the program goes on", out, r"\[end\]", RESULT)


STEPS = f"""
break {FILE}:{line("calls")} if $ctaid_x == 0 && $tid_x == 3
continue
info mx-warps
echo [into]\\n
step
step
print result
print $tid_x
info mx-warps
echo [out]\\n
finish
print $
echo [over]\\n
next
print $tid_x
echo [barrier]\\n
next
print $tid_x
print $ctaid_x
set $before = $pc
delete
stepi
print $pc - $before
echo [write]\\n
tbreak {FILE}:{line("stores")} if $ctaid_x == 0 && $tid_x == 1
continue
set var pair.first = 1000
print pair.first
set $fa0.double = 2.5
print $fa0.double
continue
"""


def test_steps():
    out = session(STEPS)
    expect("a step goes into a function, with others held", out, r"\[into\]",
           r"^twice \(value=4\)", "= 8$", "= 3$")
    warps = re.search(r"\[into\](.*?)\[out\]", out, re.S)
    before = re.search(r"hit Breakpoint.*?\[into\]", out, re.S)
    moved = []
    if warps and before:
        where = [dict(re.findall(r"(block \(.*?\) warp \d)\n.*?pc (0x\w+)",
                                 part[0])) for part in (before, warps)]
        moved = [w for w in where[0] if where[0][w] != where[1].get(w)]
    check("... and no other warp has moved", moved == ["block (0,0,0) warp 0"],
          f"{moved} {out}")
    expect("finish", out, r"\[out\]", "Value returned", "= 8$")
    expect("next, over a call and over a barrier", out, r"\[over\]", "= 3$",
           r"\[barrier\]", "= 3$", "= 0$", r"= [24]$")
    expect("variables and registers of one lane are written", out,
           r"\[write\]", "= 1000$", "= 2.5$", r"^result 1004 767$")


# gdb evaluates these itself, so it steps each group over each of them; a barrier
# is among them.
EVERY = f"""
python
import collections
hits = collections.Counter()
def number(text):
    return int(gdb.parse_and_eval(text)) & (1 << 64) - 1
class Counted(gdb.Breakpoint):
    def stop(self):
        place = gdb.selected_frame().find_sal().line
        hits[place] += bin(number("$mask")).count("1")
        return False
for place in {[line(c) for c in ("calls", "barrier", "even", "odd", "stores",
                                 "in twice")]}:
    Counted("{FILE}:%d" % place)
gdb.execute("continue")
print("hits", [hits[place] for place in sorted(hits)])
end
"""

PC = f"""
break {FILE}:{line("returns")} if $ctaid_x == 0 && $tid_x == 1
continue
print result
set var value = 50
python
gdb.execute("set $pc = %d" %
            gdb.decode_line("{FILE}:{line("in twice")}")[1][0].pc)
print("[moved]")
gdb.execute("print/x $mask")
gdb.execute("frame")
try:
    gdb.execute("set $pc = $pc + 1")
except gdb.error as e:
    print(e)
end
continue
print result
delete
continue
"""


def test_points():
    for mode in ({}, {"MXGPU_DETERMINISTIC": "1"}, {"MXGPU_COMPUTE_UNITS": "1"}):
        out = session(EVERY, **mode)
        expect(f"no lane misses a break point {mode or ''}", out, RESULT,
               r"^hits \[256, 256, 256, 128, 128, 256\]$")


def test_pc():
    out = session(PC)
    expect("pc is written for one lane, which goes on there", out,
           "= 4$", r"\[moved\]", "= 0x2$", rf"{FILE}:{line('in twice')}",
           "Could not write register", "= 100$", r"^result 101 767$")


OPTIMISED_LANES = f"""
break twice if $tid_x == 69 && $ctaid_x == 1
continue
print value
backtrace
up
info locals
delete
tbreak {FILE}:{line("stores")} if $ctaid_x == 1 && $tid_x == 70
continue
print $tid_x
print me
print pair
continue
info line twice
"""


def test_optimised():
    out = session(OPTIMISED_LANES, program=OPTIMISED)
    expect("an inlined function of an optimised kernel", out,
           r"thread \(69,0,0\)\" hit Breakpoint 1, twice \(value=198\)",
           "= 198$", r"^#0  twice \(value=198\)",
           r"^#1 .*sum \(in=.*, n=256\) at .*" + str(line("calls")),
           r"^pair = \{first = 197, second = -197\}$", "^me = 197$")
    expect("... its lines", out, r"^me = 197$", r"hit Temporary breakpoint",
           "= 70$", "= 198$", r"= \{first = \d+, second", RESULT)
    expect("gdb has the symbols when the program has gone", out, RESULT,
           rf'^Line {line("in twice")} of ".*{FILE}"')


WATCH = f"""
break {FILE}:{line("calls")} if $ctaid_x == 0 && $tid_x == 64
continue
delete
echo [device]\\n
watch -location *(out + 66)
continue
print $ctaid_x * 1000 + $tid_x
delete
info breakpoints
continue
"""

# Without -location gdb heeds the lane that the variables are of only.
EXPRESSION = f"""
break {FILE}:{line("calls")} if $ctaid_x == 0 && $tid_x == 66
continue
delete
watch *(out + 66)
continue
print $ctaid_x * 1000 + $tid_x
delete
continue
"""

LOCAL = f"""
break {FILE}:{line("barrier")} if $ctaid_x == 0 && $tid_x == 7
continue
delete
watch pair.second
continue
print $tid_x
delete
awatch *(int *)0xffffffffe0000004
continue
print $ctaid_x
delete
continue
"""


def test_watch():
    out = session(WATCH)
    expect("a watch point on device memory", out, r"\[device\]",
           r"Hardware watchpoint", r"Old value = ",
           r"New value = 336", "= 66$", RESULT)
    out = session(EXPRESSION)
    expect("... on an expression with variables of a lane", out,
           r"Hardware watchpoint", "New value = 336", "= 66$", RESULT)
    out = session(LOCAL)
    expect("on a variable of one lane, and on shared memory", out,
           r"Hardware watchpoint", r"Old value = -7", "New value = 993",
           "= 7$")
    expect("... of its block", out,
           r"access.*watchpoint \d+: \*\(int \*\)0xf{8}e0000004", "= 0$",
           RESULT)


def test_launch_and_fault():
    out = session("monitor launch on\ncontinue\ninfo mx-blocks\n"
                  "monitor launch off\ncontinue\ncontinue\n")
    expect("a stop at each launch", out, r"received signal SIGTRAP|SIGTRAP",
           r"unit  block", RESULT)
    out = session("continue\nbacktrace 1\nprint at\nprint $tid_x\n"
                  "signal 0\ncontinue\n", "wild")
    expect("a fault stops before its grid ends", out,
           r"received signal SIGSEGV", rf"{FILE}:{line('faults')}",
           "= .*0x1000$", "= 0$", "received signal SIGSEGV", "error 700$")


def test_detach():
    out = session(f"break {FILE}:{line('stores')}\ncontinue\ndetach\n")
    # The program's line may come in the middle of gdb's.
    check("detach in the midst of a kernel", "hit Breakpoint" in out and
          "detached" in out and "result 5 767" in out, out)
    out = session("continue\n", MXGPU_DEBUG_UNUSED="1")
    expect("the end of the program is the end of the session", out,
           "exited normally")
    done = subprocess.run([MX_GDB, "-batch", "/bin/echo", "no device"],
                          env=ENV, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=LIMIT,
                          check=False)
    check("a program without kernels", done.returncode == 0 and
          "opened no device" in done.stdout, done.stdout)


CTRL_C = f"""
continue
echo [stopped]\\n
info mx-blocks
mx-lane 5
frame function spin
print *flag
set var *flag = 1
continue
"""


def test_ctrl_c():
    for mode in ({}, {"MXGPU_DETERMINISTIC": "1"}):
        out = session(CTRL_C, "spin", interrupt_at="spinning", **mode)
        expect("Ctrl-C stops a kernel that runs" +
               (": deterministic" if mode else ""), out, "^spinning$",
               "received signal SIGINT", r"\[stopped\]",
               r"^\* +\d+  0,0,0 +64$", r"spin \(flag=0x", "= 0$", "spun 0$")


# ---- the protocol

class Connection:
    def __init__(self, path, process):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(LIMIT)
        while not os.path.exists(path) and process.poll() is None:
            time.sleep(0.01)
        self.socket.connect(path)
        self.bytes = b""

    def send(self, text):
        self.socket.sendall(b"$%s#%02x" % (text, sum(text) % 256))

    def reply(self):
        while True:
            m = re.search(rb"\$([^#]*)#..", self.bytes)
            if m:
                self.bytes = self.bytes[m.end():]
                try:
                    self.socket.sendall(b"+")
                except OSError:  # it was the last one
                    pass
                return m[1].decode()
            more = self.socket.recv(65536)
            if not more:
                return ""
            self.bytes += more

    def ask(self, text):
        self.send(text)
        return self.reply()


@contextlib.contextmanager
def running(command, **more):
    """A process that does not outlive the test, whatever comes."""
    with subprocess.Popen(command, env={**ENV, **more},
                          stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_interrupt():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "gdb")
        with running([PROGRAM, "spin"], MXGPU_GDB=path) as process:
            for turn in range(3):
                c = Connection(path, process)
                stop = c.ask(b"?")
                while not re.fullmatch(r"T0[25]thread:[0-9a-f]{3,};", stop):
                    # it has not begun, or its module is new
                    c.ask(b"qXfer:libraries:read::0,ff0")
                    c.send(b"vCont;c")
                    c.socket.sendall(b"\x03")
                    stop = c.reply()
                check(f"connection {turn}: a lane of what spins", True)
                pcs = c.ask(b"p20")
                thread = re.search("thread:([0-9a-f]+)", stop)[1].encode()
                check("... with its pc", re.fullmatch("[0-9a-f]{16}", pcs) and
                      int(pcs, 16), pcs)
                c.send(b"vCont;s:" + thread)
                check("... is stepped", c.reply().startswith("T05thread:" +
                      thread.decode()), "")
                check("... and alive", c.ask(b"T" + thread) == "OK")
                check("no other is", c.ask(b"T7fffffff").startswith("E"))
                if turn == 2:
                    # a0 of the kernel's first frame is behind the ISA's; the
                    # flag's address is an argument
                    args = int.from_bytes(bytes.fromhex(argument(c)), "little")
                    check("memory is written", c.ask(
                        b"M%x,4:01000000" % args) == "OK")
                    c.send(b"vCont;c")
                    check("the kernel ends with the program",
                          c.reply() == "W00", "")
                c.socket.close()
            out = process.communicate(timeout=LIMIT)[0]
        check("a debugger that goes away leaves it running", "spun 0" in out,
              out)


def argument(c):
    """The kernel's first one, from its block of arguments."""
    threads = c.ask(b"qXfer:threads:read::0,ff0")
    note(threads[:200])
    sp = int.from_bytes(bytes.fromhex(c.ask(b"p2")), "little")
    for offset in range(0, 128, 8):  # -O0 keeps it on the stack
        word = c.ask(b"m%x,8" % (sp + offset))
        value = int.from_bytes(bytes.fromhex(word), "little")
        if value % 4096 == 0 and 0 < value < 1 << 47 and c.ask(
                b"m%x,4" % value) == "00000000":
            return word
    return "00"


def main():
    if not shutil.which("gdb-multiarch"):
        print("1..0 # SKIP gdb-multiarch is not installed")
        return
    test_lanes("")
    test_lanes("deterministic: ", MXGPU_DETERMINISTIC="1")
    test_steps()
    test_points()
    test_pc()
    test_optimised()
    test_watch()
    test_launch_and_fault()
    test_detach()
    test_ctrl_c()
    test_interrupt()
    end()


main()
