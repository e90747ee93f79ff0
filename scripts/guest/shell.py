# SPDX-License-Identifier: MIT
"""In the guest of run-guest --shell: a login shell on a terminal of its own,
between the pipes that run-guest reads and writes.

usage: shell.py LINES COLUMNS COMMAND [ARG]..."""
import fcntl
import os
import pty
import select
import struct
import sys
import termios


def copy(source, to):
    """Whether there may be more."""
    try:
        data = os.read(source, 65536)
    except OSError:  # a terminal that nobody holds any more
        data = b""
    while data:
        data = data[os.write(to, data):]
        if not data:
            return True
    return False


def main():
    lines, columns, *command = sys.argv[1:]
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ,
                struct.pack("HHHH", int(lines), int(columns), 0, 0))
    sources = [0, terminal]
    while terminal in sources:
        ready = select.select(sources, [], [])[0]
        if 0 in ready and not copy(0, terminal):
            sources.remove(0)
            os.write(terminal, b"\4")  # as Ctrl-D
        if terminal in ready and not copy(terminal, 1):
            sources.remove(terminal)
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status) & 255)


main()
