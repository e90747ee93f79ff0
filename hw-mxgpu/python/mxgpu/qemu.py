# SPDX-License-Identifier: MIT
"""The card in a QEMU of its own, without a guest: qtest for memory and
registers, QMP for the rest. The program is the only driver of the machine."""
import json
import mmap
import os
import re
import shutil
import socket
import subprocess
import tempfile

from .errors import MxgpuError, NotSupported
from .memory import PAGE, Pages, System, align_up
from .tables import (BAR_DOORBELL, BAR_REGS, BAR_VRAM, DOORBELL_STRIDE,
                     MSIX_TABLE, PCI_DEVICE, PCI_VENDOR)

RAM_SIZE = 256 << 20
RAM_START = 16 << 20       # behind what a PC keeps for itself
PCI_HOLE = 0xc0000000      # of q35: 32-bit BARs go here ...
PCI_HIGH = 0x8000000000    # ... and large ones there
DEVFN = 4 << 3
TICK_NS = 20_000           # by which the clock goes on in every wait
CAP_POINTER, CAP_EXPRESS, CAP_MSIX = 0x34, 0x10, 0x11
EXPRESS_CONTROL, INITIATE_FLR = 8, 1 << 15
LIMIT = 120                # seconds without an answer: QEMU hangs
# Names of properties, where they are not those of MxgpuSimOptions with "-".
PROPERTIES = {"vram_size": "vram"}


class _Lines:
    """A socket that talks in lines."""

    def __init__(self, sock):
        sock.settimeout(LIMIT)
        self.sock = sock
        self.rest = b""

    def send(self, text):
        self.sock.sendall(text.encode() + b"\n")

    def receive(self):
        while b"\n" not in self.rest:
            data = self.sock.recv(65536)
            if not data:
                raise MxgpuError("QEMU ended")
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode().strip()


def _property(name, value):
    if isinstance(value, bool):
        value = "on" if value else "off"
    return f"{PROPERTIES.get(name, name.replace('_', '-'))}={value}"


def find_qemu(path=None):
    tree = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
    path = path or os.environ.get("MXGPU_QEMU") or os.path.join(
        tree, "build/qemu/qemu-system-x86_64")
    found = shutil.which(path)
    if not found:
        raise MxgpuError(f"no QEMU at {path}: scripts/build-qemu makes it, "
                         "MXGPU_QEMU names it")
    return found


class QemuHost:
    """What the rest of the package wants of a device."""
    name = "qemu"

    def __init__(self, qemu=None, arguments=(), **options):
        self._ram_fd = os.memfd_create("ram", 0)
        os.ftruncate(self._ram_fd, RAM_SIZE)
        self._ram = mmap.mmap(self._ram_fd, RAM_SIZE)
        self._view = memoryview(self._ram)
        self._errors = tempfile.TemporaryFile()
        self._process = None
        try:
            self._start(find_qemu(qemu), arguments, options)
            self._find_device()
            self._enable_msix()
        except BaseException:
            self.close()
            raise
        self._bus = Pages(RAM_START, RAM_SIZE)
        self._maps = {}

    def _start(self, qemu, arguments, options):
        qtest, theirs = socket.socketpair()
        qmp, theirs2 = socket.socketpair()
        device = ",".join(["mxgpu", "id=mxgpu0", f"addr={DEVFN >> 3:#x}"] +
                          [_property(*item) for item in options.items()])
        command = [
            qemu, "-nodefaults", "-no-user-config", "-display", "none",
            "-machine", "q35,memory-backend=ram", "-accel", "qtest",
            "-m", f"{RAM_SIZE >> 20}M", "-object",
            f"memory-backend-file,id=ram,size={RAM_SIZE},share=on,"
            f"mem-path=/proc/self/fd/{self._ram_fd}",
            "-chardev", f"socket,id=qtest,fd={theirs.fileno()}",
            "-qtest", "chardev:qtest", "-qtest-log", "none",
            "-chardev", f"socket,id=qmp,fd={theirs2.fileno()}",
            "-mon", "chardev=qmp,mode=control",
            "-trace", "mxgpu_console", *arguments, "-device", device]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self._errors,
            stderr=self._errors,
            pass_fds=(theirs.fileno(), theirs2.fileno(), self._ram_fd))
        theirs.close()
        theirs2.close()
        self._qtest, self._qmp = _Lines(qtest), _Lines(qmp)
        try:
            self._qmp.receive()  # its greeting
            self.qmp("qmp_capabilities")
        except (MxgpuError, OSError):
            raise MxgpuError("QEMU did not start: "
                             + "; ".join(self._output())) from None

    def close(self):
        if self._process:
            self._process.terminate()
            self._process.wait()
            self._process = None
            self._qtest.sock.close()
            self._qmp.sock.close()
        if self._ram_fd is not None:
            os.close(self._ram_fd)
            self._ram_fd = None
            self._errors.close()

    # ---- the two sockets

    def qtest(self, *words):
        """A command of qtest; the words of its answer."""
        self._qtest.send(" ".join(
            hex(w) if isinstance(w, int) else w for w in words))
        while True:
            answer = self._qtest.receive().split()
            if answer[0] != "IRQ":
                break
        if answer[0] != "OK":
            raise MxgpuError(f"qtest {words[0]}: {' '.join(answer)}")
        return answer[1:]

    def qmp(self, command, **arguments):
        """A command of QMP; what it returns."""
        self._qmp.send(json.dumps({"execute": command,
                                   "arguments": arguments}))
        while True:
            answer = json.loads(self._qmp.receive())
            if "error" in answer:
                raise MxgpuError(f"{command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]

    # ---- PCI

    def _config(self, offset):
        self.qtest("outl", 0xcf8, 1 << 31 | DEVFN << 8 | offset & ~3)
        return 0xcfc + (offset & 3)

    def config_read(self, offset, size=4):
        kind = {1: "b", 2: "w", 4: "l"}[size]
        port = self._config(offset)
        return int(self.qtest("in" + kind, port)[0], 0)

    def config_write(self, offset, value, size=4):
        kind = {1: "b", 2: "w", 4: "l"}[size]
        self.qtest("out" + kind, self._config(offset), value)

    def _find_device(self):
        if self.config_read(0) != PCI_DEVICE << 16 | PCI_VENDOR:
            raise MxgpuError("no mxgpu on the bus")
        low, high = PCI_HOLE, PCI_HIGH
        self._bars = {}
        for bar in (BAR_REGS, BAR_VRAM, BAR_DOORBELL):
            at = 0x10 + 4 * bar
            self.config_write(at, 0xffffffff)
            self.config_write(at + 4, 0xffffffff)
            mask = self.config_read(at) & ~15 | self.config_read(at + 4) << 32
            size = -mask & 0xffffffffffffffff
            if bar == BAR_VRAM:
                self.vram_size = size
            if size > 256 << 20:
                base = high = align_up(high, size)
                high += size
            else:
                base = low = align_up(low, size)
                low += size
            self.config_write(at, base & 0xffffffff)
            self.config_write(at + 4, base >> 32)
            self._bars[bar] = base
        self.config_write(4, 6, 2)  # memory space, bus master

    def _capability(self, kind):
        cap = self.config_read(CAP_POINTER, 1)
        while cap and self.config_read(cap, 1) != kind:
            cap = self.config_read(cap + 1, 1)
        if not cap:
            raise MxgpuError(f"no PCI capability {kind:#x}")
        return cap

    def _enable_msix(self):
        """Each vector writes 1 to a word of RAM of its own."""
        cap = self._capability(CAP_MSIX)
        control = self.config_read(cap + 2, 2)
        self.vectors = (control & 0x7ff) + 1
        self._words = RAM_START - PAGE
        for i in range(self.vectors):
            entry = self._bars[BAR_DOORBELL] + MSIX_TABLE + 16 * i
            for k, value in enumerate((self._words + 4 * i, 0, 1, 0)):
                self.qtest("writel", entry + 4 * k, value)
        self.config_write(cap + 2, control | 0x8000, 2)

    # ---- registers and memory

    def read(self, offset):
        return int(self.qtest("readl", self._bars[BAR_REGS] + offset)[0], 0)

    def write(self, offset, value):
        self.qtest("writel", self._bars[BAR_REGS] + offset, value)

    def doorbell(self, queue, value):
        self.qtest("writeq",
                   self._bars[BAR_DOORBELL] + queue * DOORBELL_STRIDE, value)

    def vram_read(self, offset, size):
        if not size:
            return b""
        answer = self.qtest("read", self._bars[BAR_VRAM] + offset, size)[0]
        return bytes.fromhex(answer.removeprefix("0x"))

    def vram_write(self, offset, data):
        at = self._bars[BAR_VRAM] + offset
        if len(data) in (4, 8) and at % len(data) == 0:
            kind = "writel" if len(data) == 4 else "writeq"
            self.qtest(kind, at, int.from_bytes(data, "little"))
        elif data and data.count(data[0]) == len(data):
            self.qtest("memset", at, len(data), data[0])
        else:
            for i in range(0, len(data), 1 << 16):
                part = data[i:i + (1 << 16)]
                self.qtest("write", at + i, len(part), "0x" + part.hex())

    def alloc_system(self, size):
        size = align_up(max(size, 1), PAGE)
        at = self._bus.take(size)
        self._maps[at] = size
        self._view[at:at + size] = bytes(size)
        return System(at, self._view[at:at + size])

    def free_system(self, memory):
        self._bus.give(memory.address, self._maps.pop(memory.address))
        memory.buffer = None

    # ---- time, interrupts, looking

    def tick(self):
        self.qtest("clock_step", str(TICK_NS))

    def irq_fd(self, vector):
        """There is none: a vector is a word of RAM."""

    def interrupts(self, vector):
        """1 when any came since this was asked last."""
        at = self._words + 4 * vector
        if not any(self._view[at:at + 4]):
            return 0
        self._view[at:at + 4] = bytes(4)
        return 1

    def _output(self):
        size = os.fstat(self._errors.fileno()).st_size
        text = os.pread(self._errors.fileno(), size, 0).decode(errors="replace")
        return text.splitlines()

    @property
    def lines(self):
        """Of the firmware's console, and whatever QEMU says."""
        return [re.sub(r"^.*?mxgpu_console \S+ ", "fw: ", line)
                for line in self._output()]

    def reset(self):
        """A function-level reset, which forgets BARs and MSI-X too."""
        at = self._capability(CAP_EXPRESS) + EXPRESS_CONTROL
        self.config_write(at, self.config_read(at, 2) | INITIATE_FLR, 2)
        self._find_device()
        self._enable_msix()

    def inspect(self, command):
        path = "/machine/peripheral/mxgpu0"
        try:
            self.qmp("qom-set", path=path, property="x-inspect", value=command)
        except MxgpuError:
            raise ValueError(f"the device cannot show {command!r}") from None
        return self.qmp("qom-get", path=path, property="x-inspect")

    def pause(self):
        self.qmp("stop")

    def resume(self):
        self.qmp("cont")

    def save(self):
        raise NotSupported("checkpoints are the in-process device's; of a "
                           "machine, QEMU's own snapshots")

    def load(self, data):
        self.save()

    def system_memory(self):
        """{bus address: buffer} of all that is mapped."""
        return {at: self._view[at:at + size]
                for at, size in self._maps.items()}
