#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""gdb on the firmware: scripted sessions of gdb-multiarch with the device in
this process, and the protocol byte by byte.

usage: test-fw-gdb.py LIBMXGPU-SIM FIRMWARE.bin FIRMWARE.elf REGS.DEF"""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(HERE, "../../../scripts")]
from sim_device import Device, wait  # noqa: E402
from tap import bail_out, check, end, note  # noqa: E402

LIBRARY, IMAGE, ELF, REGS = sys.argv[1:5]
GDB = shutil.which("gdb-multiarch")
LIMIT = 120


def open_device(folder, halt=False, **options):
    path = os.path.join(folder, "gdb")
    dev = Device(LIBRARY, REGS, IMAGE,
                 fw_gdb=(path + (",halt" if halt else "")).encode(), **options)
    if dev.error:
        bail_out(f"no device: {dev.error} {dev.lines}")
    return dev, path


def gdb(folder, path, script, meanwhile=None):
    """The output of a session; meanwhile(process) runs beside it."""
    file = os.path.join(folder, "script")
    with open(file, "w", encoding="utf-8") as f:
        f.write("set pagination off\nset confirm off\nset width 0\n"
                "set debuginfod enabled off\n"
                "set remotetimeout 60\n"
                f"target remote {path}\n" + script)
    with subprocess.Popen([GDB, "-nx", "-batch", "-x", file, ELF],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as process:
        timer = threading.Timer(LIMIT, process.kill)
        timer.start()
        thread = threading.Thread(target=meanwhile or (lambda _: None),
                                  args=(process,))
        thread.start()
        out = process.stdout.read()
        thread.join()
        timer.cancel()
    return out


def expect(name, out, *patterns):
    at = 0
    for p in patterns:
        m = re.compile(p, re.M).search(out, at)
        if not m:
            check(name, False, f"no {p!r} behind character {at} of:\n{out}")
            return
        at = m.end()
    check(name, True)


# ---- a session from the first instruction on

FIRST = r"""
echo [at-start]\n
x/i $pc
info registers pc mstatus misa
echo [code]\n
break handle_ping
hbreak fw_log
continue
echo [log]\n
backtrace
delete 2
continue
echo [ping]\n
backtrace
frame 1
info symbol $pc
p/x *(unsigned *)0x40000000
p/x $mtvec
set $mscratch = 0x1234
p/x $mscratch
p fw.num_queues
set var fw.ticks = 77
p fw.ticks
echo [step]\n
set $before = $minstret
stepi
p $minstret - $before
next
step
echo [watch]\n
delete
watch fw.ticks
continue
backtrace 1
delete
awatch fw.int_enable
continue
delete
rwatch fw.int_enable
continue
delete
echo [monitor]\n
monitor help
monitor status
monitor registers MCU_
monitor engines
monitor queues
monitor nonsense
echo [detach]\n
detach
"""


def test_first(folder, deterministic):
    name = "deterministic: " if deterministic else ""
    dev, path = open_device(folder, halt=True, deterministic=deterministic)
    dev.start()
    check(name + "halt: no instruction is executed",
          wait(lambda: dev.state() == "RUNNING") and
          not dev.read("MCU_INSTRET_LO") and not dev.ready())
    pings = []

    def meanwhile(process):
        wait(dev.ready, LIMIT)
        while process.poll() is None:
            pings.append(dev.ping(LIMIT))
            time.sleep(0.05)

    out = gdb(folder, path, FIRST, meanwhile)
    part = {m[1]: m[2] for m in re.finditer(
        r"^\[([a-z-]+)\]$(.*?)(?=^\[[a-z-]+\]$|\Z)", out, re.M | re.S)}
    expect(name + "connects before the first instruction, source line",
           out, r"^(0x20000040 in )?_start \(\) at .*start\.S:\d+$")
    expect(name + "registers and CSRs", part.get("at-start", out),
           r"=> 0x20000040 <_start>:", r"^pc +0x20000040",
           r"^mstatus +0x1800", r"^misa +0x40001105")
    expect(name + "hardware breakpoint", part.get("code", out),
           r"Breakpoint 2, fw_log \(.*level=.*\) at .*log\.c:\d+")
    expect(name + "backtrace", part.get("log", out),
           r"#0 +fw_log", r"#\d+ .*fw_(init|main) \(\) at .*main\.c:\d+")
    expect(name + "software breakpoint", part.get("log", out),
           r"Breakpoint 1, handle_ping")
    expect(name + "frames, memory, CSRs, variables", part.get("ping", out),
           r"#1 .* in handle ", r"^fw_main \+ ",
           r"^\$1 = 0x[0-9a-f]+$", r"^\$2 = 0x2000[0-9a-f]+$", r"^\$3 = 0x1234$",
           r"^\$4 = 64$", r"^\$5 = 77$")
    expect(name + "a step is one instruction", part.get("step", out),
           r"^\$6 = 1$")
    expect(name + "watchpoints", part.get("watch", out),
           r"Hardware watchpoint 3: fw\.ticks", r"Old value = 77",
           r"New value = 78", r"#0 .*main\.c:\d+",
           r"Hardware access \(read/write\) watchpoint 4: fw\.int_enable",
           r"Value = \d+",
           r"Hardware read watchpoint 5: fw\.int_enable", r"Value = \d+")
    expect(name + "monitor", part.get("monitor", out), r"^halt-at-start on",
           r"^registers \[BEGIN\] ", r"MCU_STATUS STATE=1 READY",
           r"stopped by a debugger", r"^\w{4} \w{8} MCU_PC",
           r"^engine 0: idle$", r"^slot 7: idle$", r"enabled no queue",
           r"no such command")
    check(name + "the firmware answers when gdb has gone", pings and
          all(pings), out)
    check(name + "... and goes on", dev.ping())
    check("inspect: no such command", dev.inspect("nonsense") is None)
    expect(name + "inspect in the process", dev.inspect("status"),
           r"MCU_STATUS STATE=1 READY")
    dev.close()
    check(name + "the socket is gone", not os.path.exists(path))


# ---- firmware that runs: Ctrl-C, reset, exceptions, panic

SECOND = r"""
echo [reset]\n
continue
echo [stopped]\n
break handle_ping
continue
echo [again]\n
delete
set $pc = 0
continue
echo [fault]\n
p/x $pc
signal 0
echo [retry]\n
break fw_trap
continue
echo [trap]\n
p cause
p/x pc
delete
continue
echo [panic]\n
kill
"""


def test_second(folder):
    dev, path = open_device(folder)
    dev.start()
    check("runs where nobody asks it to wait", wait(dev.ready) and dev.ping())
    seen = []

    def meanwhile(process):
        # Once gdb is attached the firmware is silent.
        wait(lambda: "under a debugger" in dev.inspect("status"), LIMIT)
        dev.start()
        seen.append(wait(dev.ready, LIMIT) and dev.ping())
        process.send_signal(signal.SIGINT)
        # gdb may have gone on before anybody sees the stop: so until the
        # breakpoint, or the stop, keeps an answer back.
        while dev.ping(1):
            pass

    out = gdb(folder, path, SECOND, meanwhile)
    expect("reset while attached, Ctrl-C", out, r"\[reset\]",
           r"mxgpu: the device was reset", r"SIGINT, Interrupt",
           r"\[stopped\]", r"Breakpoint 1, handle_ping", r"\[again\]")
    check("the reset device works under gdb", seen[:1] == [True], out)
    expect("exceptions stop before the handler", out, r"\[again\]",
           r"SIGSEGV", r"\[fault\]", r"= 0x0$", r"SIGSEGV", r"\[retry\]",
           r"Breakpoint 2, fw_trap", r"\[trap\]", r"= 1$", r"= 0x0$")
    expect("a panic stops", out, r"\[trap\]",
           r"mxgpu: the firmware has panicked", r"SIGABRT", r"\[panic\]")
    check("the firmware has crashed", dev.state() == "CRASHED", out)
    dev.start()
    check("... and starts again", wait(dev.ready) and dev.ping())
    dev.close()


# ---- back

REVERSE = r"""
echo [nothing]\n
monitor record status
monitor record on
break handle_ping
continue
echo [stepped]\n
set $there = $pc
set $then = $minstret
reverse-stepi
p $then - $minstret
stepi
p $pc == $there
p $then - $minstret
echo [lines]\n
next
next
reverse-next
reverse-step
echo [point]\n
continue
stepi 40
reverse-continue
p $pc == $there
echo [caller]\n
reverse-finish
echo [watched]\n
delete
watch fw.mailbox_seq
reverse-continue
backtrace 1
echo [oldest]\n
delete
reverse-continue
monitor record status
set $oldest = $minstret
echo [again]\n
break *$there
continue
p $minstret == $then
echo [changed]\n
monitor record status
reverse-stepi
set $t6 = $t6 + 1
monitor record status
delete
echo [on]\n
detach
"""


def test_reverse(folder):
    dev, path = open_device(folder)
    dev.start()
    wait(dev.ready)
    pings = []

    def meanwhile(process):
        wait(lambda: "under a debugger" in dev.inspect("status"), LIMIT)
        while process.poll() is None:
            pings.append(dev.ping(LIMIT))
            time.sleep(0.05)

    out = gdb(folder, path, REVERSE, meanwhile)
    expect("back: one instruction, and forward again", out, r"\[nothing\]",
           r"^nothing is recorded", r"Breakpoint 1, handle_ping",
           r"\[stepped\]", r"= 1$", r"= 1$", r"= 0$")
    expect("back: lines", out, r"\[lines\]", r"mailbox\.c|^\d+",
           r"\[point\]")
    expect("back: to a breakpoint", out, r"\[point\]",
           r"Breakpoint 1, handle_ping", r"Breakpoint 1, handle_ping",
           r"= 1$", r"\[caller\]", r"handle \(")
    expect("back: to who wrote it", out, r"\[watched\]",
           r"Hardware watchpoint 2: fw\.mailbox_seq", r"Old value = \d+",
           r"New value = \d+", r"#0 .*mailbox_receive")
    expect("back: to the oldest instruction, and what is known again", out,
           r"\[oldest\]", r"No more reverse-execution history",
           r"^0 instructions behind, [1-9]\d* ahead", r"\[again\]",
           r"Breakpoint 3", r"= 1$")
    expect("back: what is changed there has no future", out, r"\[changed\]",
           r"^[1-9]\d* instructions behind, [1-9]\d* ahead",
           r"^[1-9]\d* instructions behind, 0 ahead")
    check("back: the firmware answers when gdb has gone",
          pings and all(pings) and dev.ping(), out)
    dev.close()


# ---- byte by byte

class Raw:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(path)
        self.data = b""

    def send(self, data):
        self.socket.sendall(data)

    def byte(self):
        while not self.data:
            self.data = self.socket.recv(4096)
            if not self.data:
                raise EOFError
        b, self.data = self.data[:1], self.data[1:]
        return b

    def packet(self):
        """The next one; acknowledgements before it are dropped."""
        while self.byte() != b"$":
            pass
        text = b""
        while (b := self.byte()) != b"#":
            text += b
        self.byte()
        self.byte()
        return text.decode("latin-1")

    def ask(self, text, escape=True):
        data = text if isinstance(text, bytes) else text.encode()
        self.send(b"$%s#%02x" % (data, sum(data) & 0xff))
        return self.packet()


def halted(dev):
    return "stopped by a debugger" in dev.inspect("status")


def test_raw(folder):
    dev, path = open_device(folder)
    dev.start()
    wait(dev.ready)
    r = Raw(path)
    r.send(b"GET / HTTP/1.0\r\n\r\n\x03\x03+-#")
    time.sleep(0.05)
    check("what is no packet stops nothing", not halted(dev) and dev.ping())
    r.send(b"$?#00")
    check("a wrong checksum is refused", r.byte() == b"-" and not halted(dev))
    check("the first packet stops the MCU",
          r.ask("?").startswith("T02") and halted(dev))
    r.send(b"-")
    check("the last reply again", r.packet().startswith("T02"))
    check("bad packets are errors", all(
        r.ask(t) == "E01" for t in
        ("m", "m1", "m1,", "mzz,1", "M20000000,2:0", "M20000000,1:zz", "p",
         "p99999", "P5", "P5=12", "Z0", "Z0,1", "z0,20000000,2", "G00", "vCont;",
         "vCont;x", "vCont;r1", "b", "bx", "bsc", "Cx", "M123456789,1:00",
         "Z0,20000000,0", "Z2,ffffffff,2")))
    check("what is not there is not", all(
        r.ask(t) == "" for t in ("!", "Z9,0,4", "qNothing", "QNonStop:1",
                                 "vMustReplyEmpty", "R00", "e")))
    check("there is nothing to go back to", all(
        "replaylog:begin;" in r.ask(t) for t in ("bs", "bc")))
    check("memory that is not there", all(
        r.ask(t) == "E0e" for t in
        ("m0,4", "m20080000,1", "mffffffff,10", "M20080000,1:00", "M2007ffff,2:0000",
         "M40000000,1:00", "M40000002,4:00000000")))
    check("a read ends where memory does", r.ask("m2007fffe,8") == "0000")
    check("an overlong packet", r.ask("X" + "a" * 5000) == "E07")
    r.ask("X20070000,4:\x01}\x03}\x04\x02")
    check("binary data", r.ask("m20070000,4") == "01232402",
          r.ask("m20070000,4"))
    check("words of registers",
          r.ask("m40000000,4") == dev.read("ID").to_bytes(4, "little").hex())
    before = dev.read("ERR_STATUS"), dev.read("MCU_SRAM_ADDR")
    for at in range(0x40000000, 0x40010000, 0x800):
        r.ask(f"m{at:x},800")
    check("reading all registers changes none",
          before == (dev.read("ERR_STATUS"), dev.read("MCU_SRAM_ADDR")))
    many = [r.ask(f"Z1,{0x20000000 + 2 * i:x},2") for i in range(257)]
    check("256 breakpoints", many == ["OK"] * 256 + ["E01"])
    check("no acknowledgements", r.ask("QStartNoAckMode") == "OK" and
          r.ask("qC") == "QC1")
    pc = int.from_bytes(bytes.fromhex(r.ask("p20")), "little")
    check("one breakpoint less", r.ask("z1,20000000,2") == "OK" and
          r.ask(f"Z0,{pc:x},2") == "OK")
    r.send(b"$vCont;c#a8")
    dev.ping(0)  # or it sleeps there
    first = r.packet()
    check("... and another, which is hit", first.startswith("T05") and
          "swbreak" in first, first)
    check("... again, until a step", r.ask("vCont;c").startswith("T05") and
          r.ask("vCont;s").startswith("T05") and
          r.ask("p20") != pc.to_bytes(4, "little").hex())
    r.socket.close()
    check("a lost connection detaches",
          wait(lambda: not halted(dev)) and dev.ping())
    r = Raw(path)
    check("and the next one may come", r.ask("?").startswith("T02"))
    r.socket.settimeout(0.2)
    refused = False
    for _ in range(20000):
        try:
            r.send(b"$m20000000,800#%02x" % (sum(b"m20000000,800") & 0xff))
        except TimeoutError:
            refused = True
            break
    check("one that reads no replies is not read from", refused)
    r.socket.close()
    check("... until it goes", wait(lambda: not halted(dev)) and
          dev.ping())
    r = Raw(path)
    r.ask("?")
    r.send(b"$k#6b")
    check("kill is detach", wait(lambda: not halted(dev)) and dev.ping())
    r.socket.close()
    dev.write("MCU_CTRL", 2)
    wait(lambda: dev.state() == "RESET")
    r = Raw(path)
    check("an MCU that does not run", r.ask("?").startswith("T02") and
          r.ask("m20000000,4") != "")
    dev.close()  # while it is attached
    check("the device goes while a debugger is there", True)


def test_where(folder):
    for where in ("x", "70000", "12,stop", "-1", "/" + "a" * 200):
        dev = Device(LIBRARY, REGS, IMAGE, fw_gdb=where.encode())
        check(f"fw_gdb={where[:20]} is an error", dev.error < 0)
    dev = Device(LIBRARY, REGS, IMAGE, fw_gdb=b"0")
    line = "".join(dev.lines)
    m = re.search(r"target remote 127\.0\.0\.1:(\d+)", line)
    check("a port", m, line)
    again = Device(LIBRARY, REGS, IMAGE, fw_gdb=m[1].encode())
    check("a port that is taken", again.error < 0 and
          "no gdb on" in "".join(again.lines))
    dev.close()


def main():
    if not GDB:
        bail_out("no gdb-multiarch")
    version = subprocess.run([GDB, "--version"], stdout=subprocess.PIPE,
                             text=True, check=True).stdout
    note(version.splitlines()[0])
    with tempfile.TemporaryDirectory() as folder:
        test_where(folder)
        test_raw(folder)
        test_first(folder, False)
        test_first(folder, True)
        test_second(folder)
        test_reverse(folder)
    end()


main()
