# SPDX-License-Identifier: MIT
"""Runs a guest: QEMU, its ports, and what can go wrong with it."""

import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time

from move import Mover

END_LIMIT = 60      # seconds that QEMU may take from its last word to its end
TERMINATE_LIMIT = 10 # ... when it is told to end
OUTPUT_LIMIT = 2 << 30
PORTS = ("ctl", "stdin", "stdout", "stderr")
LINES = ("ctl", "stdout", "stderr")
PANIC = (b"Kernel panic - not syncing", b"Attempted to kill init")

# Statuses that are not the program's.
GUEST_DIED, GUEST_HUNG, QEMU_DIED, TIMEOUT, FAILED = 121, 122, 123, 124, 125


class VmError(Exception):
    def __init__(self, status, text, console=False):
        super().__init__(text)
        self.status = status
        self.console = console  # its last lines help to understand


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG


class Stream:
    """Bytes up to an end mark, passed on as they come."""

    def __init__(self, mark, sink):
        self.mark = mark
        self.sink = sink
        self.held = b""  # may be the start of the mark
        self.ended = False

    def feed(self, data):
        """Returns what follows the mark, None before it."""
        data = self.held + data
        body, found, rest = data.partition(self.mark)
        if found:
            self.held, self.ended = b"", True
        else:
            keep = next((n for n in range(min(len(self.mark), len(data)), 0,
                                          -1)
                         if data.endswith(self.mark[:n])), 0)
            body = data[:len(data) - keep]
            self.held = data[len(data) - keep:]
        self.sink(body)
        return rest if found else None

    def flush(self):
        self.sink(self.held)
        self.held = b""


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view):]


class Pipe:
    """An end of a pipe, with what we use of a socket."""

    def __init__(self, fd):
        self.fd = fd

    def fileno(self):
        return self.fd

    def setblocking(self, on):
        os.set_blocking(self.fd, on)

    def recv(self, size):
        return os.read(self.fd, size)

    def close(self):
        os.close(self.fd)


class Vm:
    def __init__(self, command, initrd_fd, mark, feed_stdin, timeout,
                 boot_limit, hang_limit, verbose, move_every=0,
                 alone=False, disk=None):
        self.timeout = timeout
        self.boot_limit = boot_limit
        self.hang_limit = hang_limit
        self.outputs = {
            "stdout": Stream(mark, lambda data: write_all(1, data)),
            "stderr": Stream(mark, lambda data: write_all(2, data)),
        }
        self.escape = None    # a key that ends all
        self.on_start = None  # called when the program starts
        self.mark = mark
        self.cut = self.ended = False
        self.verbose = verbose
        self.console = bytearray()
        self.ctl = b""
        self.status = None
        self.killed = None
        self.files = None       # a cpio archive
        self.archive = None     # the stream that fills it
        self.start_time = time.monotonic()
        self.up_time = self.program_time = self.end_time = None
        self.silence = 0.0
        self.stdin_open = feed_stdin
        self.to_guest = b"go\n" if feed_stdin else b"go\n0\n"
        self.ports, self.theirs = {}, []
        self.args = list(command)
        self.files_fds = [fd for fd in (initrd_fd, disk and disk.fileno())
                          if fd is not None]
        self.alone, self.disk = alone, disk
        for name in ("console",) + (LINES if alone else PORTS):
            (self._add_line if alone else self._add_port)(name)
        self.mover = move_every and Mover(
            self._start_qemu, lambda: self.program_time is not None,
            move_every)
        if self.mover:
            self.mover.launch()
        else:
            self._qemu = self._start_qemu()
            if not disk:
                self._leave_ports()

    def _add_port(self, name):
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        self.ports[name] = ours
        self.theirs.append(theirs)
        self.args += ["-chardev", f"socket,id={name},fd={theirs.fileno()}"]
        if name == "console":
            self.args += ["-serial", "chardev:console",
                          "-device", "virtio-serial-pci"]
        else:
            self.args += ["-device", f"virtserialport,chardev={name},"
                          f"name={name}"]

    def _add_line(self, name):
        """Of a guest that is alone: it hears nothing from us, and writes to
        files, which take all at once, so that it never depends on how fast we
        read. Serial lines, because ports of virtio-serial set a timer when a
        state is loaded that is in no record."""
        ours, theirs = map(Pipe, os.pipe())
        ours.setblocking(False)
        self.ports[name] = ours
        self.theirs.append(theirs)
        self.args += [
            "-chardev", f"file,id={name},path=/dev/fd/{theirs.fileno()}",
            "-serial", f"chardev:{name}"]

    @property
    def qemu(self):
        return self.mover.qemu if self.mover else self._qemu

    def _start_qemu(self, more=(), fds=()):
        try:
            # A group of its own: Ctrl-C reaches only us, and we end QEMU.
            return subprocess.Popen(
                [*self.args, *more],
                pass_fds=[*fds, *self.files_fds,
                          *(end.fileno() for end in self.theirs)],
                stdin=subprocess.DEVNULL, stdout=sys.stderr,
                start_new_session=True, preexec_fn=die_with_parent)
        except OSError as e:
            raise VmError(FAILED, f"cannot start {self.args[0]}: {e.strerror}")

    def _leave_ports(self):
        """To QEMU alone: they end when it does."""
        while self.theirs:
            self.theirs.pop().close()

    def kill(self):
        if self.mover:
            self.mover.stop()
        if self.alone and self.qemu.poll() is None:
            # A record of what hung is whole, and can be replayed.
            self.qemu.terminate()
            try:
                self.qemu.wait(TERMINATE_LIMIT)
            except subprocess.TimeoutExpired:
                pass
        if self.qemu.poll() is None:
            self.qemu.kill()
        self.qemu.wait()

    def run(self):
        """To the end of the guest. Raises VmError, else the attributes
        status, killed, files tell the outcome."""
        try:
            self._loop()
        finally:
            for stream in self.outputs.values():
                stream.flush()
        self._finish()

    def _loop(self):
        last = time.monotonic()
        while self.ports:
            events = self._poll()
            now = time.monotonic()
            # Capped: when we are stopped or starved, the guest is not silent.
            self.silence += min(now - last, 2.0)
            last = now
            for name in events:
                self._readable(name)
            self._check_move()
            self._check_sleep()
            self._say_off()
            self._check_limits(now)

    def _check_move(self):
        """Without moves the ports end by themselves with QEMU."""
        if not self.mover or not self.theirs:
            return
        if self.mover.error:
            raise VmError(QEMU_DIED, f"a move failed: {self.mover.error}", True)
        if self.end_time and not self.mover.end.is_set():
            self.mover.end.set()
        if self.mover.lock.acquire(blocking=False):
            if self.qemu.poll() is not None:
                self._leave_ports()
            self.mover.lock.release()

    def _check_sleep(self):
        """A guest that has hibernated goes on in a new QEMU."""
        if not self.disk or not self.theirs or self.qemu.poll() is None:
            return
        if self.qemu.returncode == 0 and self.disk.sleeps():
            self.disk.wakes += 1
            self.silence = 0.0
            self._qemu = self._start_qemu()
        else:
            self._leave_ports()

    def _moves(self):
        """What is sent now may reach the QEMU that stops."""
        return self.mover and self.mover.lock.locked()

    def _say_off(self):
        if "ctl" in self.ports and self.ended and not self._moves() and (
                self.cut or all(
                s.ended for s in self.outputs.values())):
            self.ended = False
            if not self.alone:
                self.ports["ctl"].send(b"off\n")

    def _poll(self):
        poll = select.poll()
        names = {}
        for name, port in self.ports.items():
            names[port.fileno()] = name
            out = name == "stdin" and self.to_guest and not self._moves()
            poll.register(port, select.POLLIN | (select.POLLOUT if out else 0))
        if (self.stdin_open and not self.to_guest and self.program_time
                and "stdin" in self.ports):
            names[0] = "keyboard"
            poll.register(0, select.POLLIN)
        ready = []
        for fd, mask in poll.poll(500):
            if names[fd] == "stdin" and mask & select.POLLOUT:
                self._feed()
            if mask & ~select.POLLOUT:
                ready.append(names[fd])
        return ready

    def _feed(self):
        try:
            sent = self.ports["stdin"].send(self.to_guest)
            self.to_guest = self.to_guest[sent:]
        except BlockingIOError:
            pass
        except OSError:
            self._close("stdin")
            return

    def _close(self, name):
        self.ports.pop(name).close()

    def _readable(self, name):
        if name == "keyboard":
            data = os.read(0, 65536)
            if self.escape and self.escape in data:
                raise VmError(FAILED, "left")
            self.to_guest = b"%d\n%b" % (len(data), data)
            self.stdin_open = bool(data)
            return
        if name not in self.ports:
            return
        try:
            data = self.ports[name].recv(1 << 18)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._close(name)
            if name == "ctl" and "stdin" in self.ports:
                self._close("stdin")  # QEMU is gone
            return
        if name == "console":
            self._on_console(data)
        elif name == "ctl":
            self.silence = 0.0
            self._on_ctl(data)
        elif name in ("stdout", "stderr"):
            self.silence = 0.0
            self.outputs[name].feed(data)

    def _on_console(self, data):
        if self.verbose > 1:
            os.write(2, data)
        self.console += data
        del self.console[:-65536]

    def _on_ctl(self, data):
        while data:
            if self.archive:
                data = self.archive.feed(data)
                if self.files.tell() > OUTPUT_LIMIT:
                    raise VmError(FAILED, "the program left more than 2 GiB")
                if data is not None:
                    self.archive = None
                continue
            line, newline, data = (self.ctl + data).partition(b"\n")
            self.ctl = b"" if newline else line
            if newline:
                self._on_line(line.decode("utf-8", "replace"))

    def _on_line(self, line):
        word, _, rest = line.partition(" ")
        if word == "up":
            # A replay that goes back says it again.
            if self.up_time and self.disk:
                raise VmError(GUEST_DIED, "the guest did not go on from its "
                              "disk, but began anew", True)
            self.up_time = time.monotonic()
        elif word == "start":
            self.program_time = time.monotonic()
            if self.on_start:
                self.on_start()
        elif word == "warn":
            print(f"run-guest: {rest}", file=sys.stderr, flush=True)
        elif word == "killed":
            self.killed = rest
        elif word == "exit":
            self.status = int(rest)
            self.end_time = time.monotonic()
        elif word == "cut":
            self.cut = True
        elif word == "files":
            self.files = tempfile.TemporaryFile()  # no name: gone with us
            self.archive = Stream(self.mark, self.files.write)
        elif word == "end":
            self.ended = True

    def _check_limits(self, now):
        if any(text in self.console for text in PANIC):
            raise VmError(GUEST_DIED, "the guest kernel panicked", True)
        if self.program_time is None:
            if now - self.start_time > self.boot_limit:
                raise VmError(GUEST_HUNG, "the guest did not get up within "
                              f"{self.boot_limit:g} s", True)
        elif self.end_time is not None:
            if self.silence > self.hang_limit:
                raise VmError(GUEST_HUNG, "the guest hangs while it shuts "
                              "down", True)
        elif self.timeout and now - self.program_time > self.timeout:
            raise VmError(TIMEOUT, "the program did not end within "
                          f"{self.timeout:g} s")
        elif self.silence > self.hang_limit:
            raise VmError(GUEST_HUNG, "no sign of life for "
                          f"{self.hang_limit:g} s: the guest hangs", True)

    def _finish(self):
        try:
            code = self.qemu.wait(END_LIMIT)
        except subprocess.TimeoutExpired:
            raise VmError(QEMU_DIED, "QEMU closed its ports but did not end")
        if self.status is not None:
            return
        if code < 0:
            name = signal.Signals(-code).name
            raise VmError(QEMU_DIED, f"QEMU was killed by {name}", True)
        if code > 0:
            raise VmError(QEMU_DIED, f"QEMU ended with status {code}",
                          bool(self.console))
        raise VmError(GUEST_DIED, "the guest switched itself off before the "
                      "program ended", True)
