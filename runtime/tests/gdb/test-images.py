#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Images of kernels that mx-gdb finds in files, and where they are in memory;
and that no file makes it fail in another way than by saying so.

usage: test-images.py PROGRAM"""
import os
import random
import struct
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "../../../scripts"))
sys.path.insert(0, os.path.join(HERE, "../../tools/mx-gdb"))
from images import ENTRY, HEADER, MAGIC, TARGET, Image, images  # noqa: E402
from tap import check, end  # noqa: E402

ROUNDS = 3000


def pack(*entries):
    """A container with these (target, image) entries."""
    at = HEADER.size + len(entries) * ENTRY.size
    table = body = b""
    for target, image in entries:
        table += ENTRY.pack(at + len(body), len(image), target)
        body += image
    return HEADER.pack(MAGIC, 1, len(entries), at + len(body)) + table + body


def memory(start, data):
    """Reads memory that has these bytes at start, and nothing else."""
    def read(address, size):
        at = address - start
        return data[at:at + size] if at >= 0 else b""
    return read


def test_find(image):
    code = image.data[image.code:image.code + image.size]
    for base in 0, 0x7f0012345000:
        read = memory(base + image.link, code)
        for at in 0, 4, image.size - 4:
            got = image.find(base + image.link + at, read)
            check(f"code at {base:#x} + {at}", got == base, got)
        check(f"behind it at {base:#x}",
              image.find(base + image.link + image.size, read) is None)
        other = bytearray(code)
        other[-1] ^= 1
        check(f"other code at {base:#x}", image.find(
            base + image.link, memory(base + image.link, bytes(other))) is None)
    check("no memory", image.find(image.link, lambda a, n: b"") is None)


def survives(data):
    for image in images(data)[0]:
        image.find(random.getrandbits(64), lambda a, n: bytes(n))


def main():
    with open(sys.argv[1], "rb") as f:
        program = f.read()
    found, wrong = images(program)
    check("one image in a program", len(found) == 1, found)
    check("the program itself is none", wrong == ["not for this device"], wrong)
    elf = found[0].data
    check("an image alone", len(images(elf)[0]) == 1)
    box = pack((b"other", elf), (TARGET, elf), (TARGET, elf[:100]))
    found, wrong = images(box)
    check("the device's of a container", len(found) == 1, found)
    check("and what is wrong with others", len(wrong) == 1, wrong)
    check("no image", images(b"text") == ([], []))
    test_find(Image(elf))
    random.seed(7)
    for cut in range(0, len(elf), 97):
        survives(elf[:cut])
    for data in box, elf[:0x2000]:
        for _ in range(ROUNDS):
            bad = bytearray(data)
            for _ in range(random.randrange(1, 6)):
                at = random.randrange(min(len(bad), 600))
                bad[at] = random.choice((0, 1, 0x7f, 0x80, 0xff))
            survives(bytes(bad))
    huge = bytearray(elf)  # segments that no table of that size holds
    struct.pack_into("<H", huge, 56, 65535)
    survives(bytes(huge))
    check("changed and cut files are read to the end", True)
    end()


main()
