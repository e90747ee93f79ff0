# SPDX-License-Identifier: MIT
"""Moves a running guest to another QEMU, live, again and again."""

import os
import socket
import tempfile
import threading

from qmp import STEP_LIMIT, Qmp, QmpError

POLL = 0.02

# A program that writes faster than QEMU sends (by default 128 MiB/s, and less than
# that on a busy host) is not moved before it ends: there is no network in between,
# and nobody minds a pause.
FAST = {"max-bandwidth": 1 << 34, "downtime-limit": 20000}


class Mover:
    """start(more, fds) starts a QEMU of the same guest; started() tells when
    the guest's program runs. The lock is held while there are two. A QEMU that
    the thread started ends with the thread."""

    def __init__(self, start, started, every):
        self.start, self.started, self.every = start, started, every
        self.lock = threading.Lock()
        self.end = threading.Event()   # no further moves
        self.leave = threading.Event()
        self.moves = 0
        self.error = None
        self.qemu, self.qmp = None, None
        self.thread = threading.Thread(target=self._run, daemon=True)

    def launch(self):
        """The first QEMU; then moves it until stop()."""
        self.qemu, self.qmp = self._start()
        self.thread.start()

    def stop(self):
        """No move is under way afterwards; QEMU may have ended with it."""
        self.end.set()
        self.leave.set()
        self.thread.join()

    def _start(self, *more):
        ours, theirs = socket.socketpair()
        with theirs:
            qemu = self.start(
                ["-chardev", f"socket,id=qmp,fd={theirs.fileno()}",
                 "-mon", "chardev=qmp,mode=control", *more],
                [theirs.fileno()])
        return qemu, ours

    def _run(self):
        try:
            self.qmp = Qmp(self.qmp)
            while not self.end.wait(self.every if self.started() else POLL):
                if self.started():
                    with self.lock:
                        self._move()
        except (QmpError, OSError, ValueError) as e:
            if self.qemu.poll() is None:  # else it is what ended, not the move
                self.error = str(e)
        while self.qemu.poll() is None and not self.leave.wait(POLL):
            pass

    def _move(self):
        with tempfile.TemporaryDirectory(prefix="mxgpu-move-") as folder:
            uri = "unix:" + os.path.join(folder, "stream")
            target, sock = self._start("-incoming", "defer")
            try:
                qmp = Qmp(sock)
                qmp.call("migrate-incoming", uri=uri)
                self.qmp.call("migrate-set-parameters", **FAST)
                self.qmp.call("migrate", uri=uri)
                self._wait(self.qmp, "query-migrate", "completed", "failed")
                self._wait(qmp, "query-status", "running", "internal-error")
            except (QmpError, OSError, ValueError):
                target.kill()
                target.wait()
                raise
        self.qemu.kill()
        self.qemu.wait()
        self.qmp.close()
        self.qemu, self.qmp = target, qmp
        self.moves += 1

    def _wait(self, qmp, query, good, bad):
        """The limit is of poll rounds, which the answers make longer."""
        for _ in range(int(STEP_LIMIT / POLL)):
            status = qmp.call(query).get("status")
            if status == good:
                return
            if status == bad:
                raise QmpError(f"{query} says {bad}")
            if self.leave.wait(POLL):
                raise QmpError("given up")
        raise QmpError(f"{query} did not come to {good}")
