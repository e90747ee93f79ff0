# SPDX-License-Identifier: MIT
"""A disk of the guest, which it may hibernate to."""

import os
import re
import tempfile

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
LEAST = 1 << 20
PAGE = 4096
# What Linux writes at the end of a swap's first page when the image behind it is
# whole, and takes away again before it goes on from there.
SIGNATURE = b"S1SUSPEND"


def size(text):
    """Of a disk, in bytes: a number with K, M or G."""
    match = re.fullmatch(r"([0-9]+)([KMG]?)", text)
    if not match or int(match[1]) * UNITS[match[2]] < LEAST:
        raise ValueError(text)
    return int(match[1]) * UNITS[match[2]]


class Disk:
    """Zeros, until the guest writes; a file without a name, gone with us."""

    def __init__(self, length):
        self.file = tempfile.TemporaryFile()
        self.file.truncate(length)
        self.wakes = 0

    def fileno(self):
        return self.file.fileno()

    def qemu_words(self):
        # The path opens it anew, with an offset and locks of its own.
        return ["-drive", "if=none,id=disk,format=raw,"
                f"file=/dev/fd/{self.fileno()}",
                "-device", "virtio-blk-pci,drive=disk"]

    def sleeps(self):
        """Whether the guest has switched itself off to go on later."""
        return os.pread(self.fileno(), len(SIGNATURE), PAGE - 10) == SIGNATURE
