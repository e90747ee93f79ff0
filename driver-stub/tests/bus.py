#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs a guest that asks for what only the machine around it can do.

usage: bus.py RUN-GUEST [ARG]...

A line "# monitor: COMMAND" of the guest's output is a command for QEMU's monitor.
Its answer, which most have none of, is printed as a comment. All else is passed
on, and so is the status.
"""
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

MARK = b"# monitor: "
PROMPT = b"(qemu) "


class Monitor:
    """The one for people: no other has pcie_aer_inject_error."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        until = time.monotonic() + 60
        while True:
            try:
                self.socket.connect(path)
                break
            except (FileNotFoundError, ConnectionRefusedError):
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)
        self.answer()

    def answer(self):
        text = b""
        while not text.endswith(PROMPT):
            more = self.socket.recv(4096)
            if not more:
                break
            text += more
        return text[:-len(PROMPT)]

    def command(self, line):
        """What it says, without the echo."""
        self.socket.sendall(line + b"\n")
        text = re.sub(rb"\x1b\[[0-9]*[A-Z]", b"", self.answer())
        return text.split(b"\n")[1:]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "monitor")
        words = [sys.argv[1], "--qemu-arg=-monitor",
                 f"--qemu-arg=unix:{path},server=on,wait=off", *sys.argv[2:]]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as guest:
            monitor = None
            for line in guest.stdout:
                if line.startswith(MARK):
                    monitor = monitor or Monitor(path)
                    for said in monitor.command(line[len(MARK):].strip()):
                        said = said.strip()
                        if said:
                            print("# monitor says:", said.decode())
                else:
                    sys.stdout.buffer.write(line)
                sys.stdout.flush()
    return guest.returncode


if __name__ == "__main__":
    sys.exit(main())
