#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Puts struct mxgpu_fw_header (mxgpu/regs.h) in front of a linked firmware.

usage: pack.py ELF OUTPUT --version MAJOR.MINOR.PATCH --abi N --build TEXT
"""
import argparse
import struct
import zlib

MAGIC = 0x5746584D
HEADER_SIZE = 64
ISA_RV32IMAC = 1
SRAM_BASE = 0x20000000
SRAM_SIZE = 512 * 1024


def load(path):
    """Entry point, and the image from the end of the header on."""
    elf = open(path, "rb").read()
    if elf[:6] != b"\x7fELF\x01\x01":
        raise SystemExit(f"{path}: not a 32-bit little-endian ELF file")
    entry, phoff = struct.unpack_from("<II", elf, 24)
    phentsize, phnum = struct.unpack_from("<HH", elf, 42)
    image = bytearray()
    for i in range(phnum):
        kind, offset, _, paddr, filesz = struct.unpack_from(
            "<IIIII", elf, phoff + i * phentsize)
        if kind != 1 or not filesz:
            continue
        at = paddr - SRAM_BASE - HEADER_SIZE
        if at < 0 or at + filesz > SRAM_SIZE - HEADER_SIZE:
            raise SystemExit(f"{path}: segment at {paddr:#x} outside SRAM")
        image.extend(bytes(max(0, at + filesz - len(image))))
        image[at:at + filesz] = elf[offset:offset + filesz]
    image.extend(bytes(-len(image) % 4))
    return entry, bytes(image)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("elf")
    parser.add_argument("output")
    parser.add_argument("--version", required=True)
    parser.add_argument("--abi", type=int, required=True)
    parser.add_argument("--build", default="")
    args = parser.parse_args()
    major, minor, patch = (int(n) for n in args.version.split("."))
    entry, image = load(args.elf)
    header = struct.pack(
        "<8I32s", MAGIC, HEADER_SIZE, HEADER_SIZE + len(image),
        zlib.crc32(image), ISA_RV32IMAC, entry,
        major << 16 | minor << 8 | patch, args.abi,
        args.build.encode()[:31])
    with open(args.output, "wb") as out:
        out.write(header + image)


if __name__ == "__main__":
    main()
