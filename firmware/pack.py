#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Makes an image of a linked firmware: fills in the fields of its header
(struct mxgpu_fw_header of mxgpu/regs.h, see header.c) that a compiler cannot
know.

usage: pack.py ELF OUTPUT [SOURCE...]
       pack.py --show IMAGE...

The build id is "gCOMMIT-CONTENT": the first 12 digits of the git commit, "+" in
place of "-" when a SOURCE (file or folder) differs from it, "nogit" without a
repository; and of the SHA-256 of header (without build id) and contents.
--show prints version, build id and path of images, damaged ones excepted.
"""
import hashlib
import os
import struct
import subprocess
import sys
import zlib

# ---- made by scripts/gen-constants from the C headers
MAGIC = 0x5746584d
HEADER = struct.Struct("<8I32s")
SRAM_BASE = 0x20000000
SRAM_SIZE = 0x80000
# ---- made by scripts/gen-constants: end


def load(path):
    """What the segments of an ELF file put into SRAM."""
    with open(path, "rb") as f:
        elf = f.read()
    if elf[:6] != b"\x7fELF\x01\x01":
        raise SystemExit(f"{path}: not a 32-bit little-endian ELF file")
    phoff, = struct.unpack_from("<I", elf, 28)
    phentsize, phnum = struct.unpack_from("<HH", elf, 42)
    image = bytearray()
    for i in range(phnum):
        kind, offset, _, paddr, filesz = struct.unpack_from(
            "<IIIII", elf, phoff + i * phentsize)
        if kind != 1 or not filesz:
            continue
        at = paddr - SRAM_BASE
        if at < 0 or at + filesz > SRAM_SIZE:
            raise SystemExit(f"{path}: segment at {paddr:#x} outside SRAM")
        image.extend(bytes(max(0, at + filesz - len(image))))
        image[at:at + filesz] = elf[offset:offset + filesz]
    image.extend(bytes(-len(image) % 4))
    if image[:8] != struct.pack("<II", MAGIC, HEADER.size):
        raise SystemExit(f"{path}: does not begin with a header")
    return image


def git(folder, *args):
    try:
        done = subprocess.run(["git", "-C", folder, *args], text=True,
                              stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.DEVNULL)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def commit(sources):
    """Of the repository that has the sources, not of one around a tarball."""
    folder = os.path.dirname(os.path.abspath(__file__))
    head = git(folder, "rev-parse", "--short=12", "HEAD")
    if not head or git(folder, "ls-files", __file__) == "":
        return "nogit-"
    dirty = git(folder, "status", "--porcelain", "--",
                *map(os.path.abspath, sources))
    return f"g{head[:12]}{'-' if dirty == '' else '+'}"


def write(path, image):
    """A regular file is replaced by the whole image, or stays; all else is
    written to."""
    real = os.path.realpath(path)
    if os.path.exists(path) and not os.path.isfile(path) or \
            os.path.abspath(path).startswith(("/dev/", "/proc/")):
        with open(path, "wb") as out:
            out.write(image)
        return
    made = f"{real}.{os.getpid()}"
    try:
        with open(made, "xb") as out:
            out.write(image)
        os.replace(made, real)
    except BaseException:
        if os.path.exists(made):
            os.unlink(made)
        raise


def pack(elf, output, sources):
    image = load(elf)
    fields = list(HEADER.unpack_from(image))
    fields[2] = len(image)
    fields[3] = zlib.crc32(image[HEADER.size:])
    fields[8] = b""
    HEADER.pack_into(image, 0, *fields)
    content = hashlib.sha256(image).hexdigest()[:12]
    fields[8] = (commit(sources) + content).encode()
    HEADER.pack_into(image, 0, *fields)
    write(output, image)


def describe(path):
    """Version and build id of an image; None when it is none."""
    try:
        with open(path, "rb") as f:
            image = f.read(SRAM_SIZE)
    except OSError:
        return None
    if len(image) < HEADER.size:
        return None
    magic, _, size, crc, _, _, version, _, build = HEADER.unpack_from(image)
    if magic != MAGIC or zlib.crc32(image[HEADER.size:size]) != crc:
        return None
    text = build.partition(b"\0")[0].decode("ascii", "replace")
    return (f"{version >> 16}.{version >> 8 & 255}.{version & 255} "
            f"{text if text.isprintable() else '?'}")


def main(args):
    if args[:1] == ["--show"] and len(args) > 1:
        status = 0
        for path in args[1:]:
            text = describe(path)
            print(text or "not an image", path)
            status |= text is None
        return status
    if len(args) < 2 or args[0].startswith("-"):
        print(__doc__)
        return 0 if args in (["-h"], ["--help"]) else 2
    try:
        pack(args[0], args[1], args[2:])
    except OSError as e:
        raise SystemExit(f"pack.py: {e}") from None
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
