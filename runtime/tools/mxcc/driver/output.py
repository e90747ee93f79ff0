# SPDX-License-Identifier: MIT
"""Files that mxcc writes for its user.

What an option names is touched once, at the end and after success: the new file
is written beside it and renamed. A file that was there before survives whatever
goes wrong. What is no regular file (/dev/null, a pipe), and -, is written to
and never replaced or removed.
"""
import os
import shutil
import stat
import sys
import tempfile

from driver.report import Failure


def is_stream(path):
    """Whether a path is written to, not replaced."""
    if path == "-" or os.path.abspath(path).startswith(("/dev/", "/proc/")):
        return True
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


class Outputs:
    def __init__(self, temps, dry):
        self.temps, self.dry = temps, dry
        self.pending = {} # where it is written: what it will be

    def begin(self, path):
        """Where to write what shall become path."""
        if self.dry:
            return path
        if os.path.isdir(path):
            raise Failure(f"{path}: is a directory")
        real = os.path.realpath(path)
        folder = os.path.dirname(real)
        if is_stream(path) or not os.access(folder, os.W_OK):
            if path != "-" and os.path.exists(path) and \
                    not os.access(path, os.W_OK):
                raise Failure(f"{path}: Permission denied")
            folder, real = self.temps, path
        elif not os.path.isdir(folder):
            raise Failure(f"{path}: No such file or directory")
        elif os.path.exists(real) and not os.access(real, os.W_OK):
            raise Failure(f"{path}: Permission denied")
        # The suffix stays: some tools go by it.
        name, suffix = os.path.splitext(os.path.basename(real))
        fd, made = tempfile.mkstemp(suffix, f".{name[:32]}.", folder)
        self.pending[made] = real
        mask = os.umask(0)
        os.umask(mask)
        os.fchmod(fd, 0o666 & ~mask)
        os.close(fd)
        return made

    def commit(self, made):
        """Puts what was written in its place."""
        if self.dry:
            return
        real = self.pending[made]
        if real == "-":
            with open(made, "rb") as f:
                shutil.copyfileobj(f, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        elif os.path.dirname(made) == self.temps:
            with open(made, "rb") as f, open(real, "wb") as to:
                shutil.copyfileobj(f, to)
        else:
            os.replace(made, real)
        self.pending.pop(made)

    def discard(self):
        for made in self.pending:
            try:
                os.unlink(made)
            except OSError:
                pass
        self.pending.clear()
