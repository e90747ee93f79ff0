#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Types at run-guest --shell as a user would, on a pseudo-terminal.

usage: test-shell.py RUN-GUEST [ARG]..."""
import os
import pty
import re
import select
import sys
import termios
import time

LIMIT = float(os.environ.get("LIMIT", 600))  # ends a session that hangs


class Session:
    def __init__(self, command):
        self.text, self.at = "", 0
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            print("$", *command, flush=True)
            os.environ["TERM"] = "xterm"
            os.execv(command[0], command)
        self.mode = termios.tcgetattr(self.fd)

    def read(self, limit):
        if not select.select([self.fd], [], [], limit)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        self.text += data.decode(errors="replace")
        return bool(data)

    def expect(self, pattern):
        """The match, behind the last one."""
        end = time.monotonic() + LIMIT
        while True:
            m = re.compile(pattern).search(self.text, self.at)
            if m:
                self.at = m.end()
                return m
            if time.monotonic() > end or not self.read(1) and self.ended():
                self.type("\x1d")
                sys.exit(f"no {pattern!r} behind: {self.text[self.at:]!r}")

    def ended(self):
        return select.select([self.fd], [], [], 0)[0]

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def status(self):
        while self.read(LIMIT):
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def main():
    s = Session(sys.argv[1:])
    s.expect("guest:[^#]*# ")
    # The words that are looked for do not stand so in what is typed.
    s.type("tty; echo $((6*7))-lines $(stty size)\r")
    s.expect(r"/dev/pts/\d+\s+42-lines \d+ \d+")
    assert termios.tcgetattr(s.fd)[3] & termios.ICANON == 0, "not raw"
    s.type("python3 -c 'import ctypes, json; print(\"py\" + str(1 << 70))'\r")
    s.expect("py1180591620717411303424")
    s.type("gdb -nx -batch -ex 'print 40+2'\r")
    s.expect(r"\$1 = 42")
    s.type("ls /sys/bus/pci/drivers/vfio-pci\r")
    s.expect(r"0000:00:")
    # Ctrl-C is for what runs there; it says itself that it has begun, as bash
    # loses a signal that comes between its fork and exec.
    s.type("sh -c 'echo be\"\"gun; exec sleep 1000'; echo status $?\r")
    s.expect("begun")
    s.type("\x03")
    s.expect("guest:[^#]*# ")
    s.type("ec\x7f\x7fexit 3\r")
    status = s.status()
    assert status == 3, f"status {status}: {s.text[s.at:]!r}"
    s = Session(sys.argv[1:])
    s.expect("guest:[^#]*# ")
    s.type("\x1d")
    s.expect("run-guest: left")
    status = s.status()
    assert status == 125, f"status {status}"
    print("typed, answered, left")


main()
