# SPDX-License-Identifier: MIT
"""Host object files and what of the device's is in them.

Whole programs: clang leaves a section with a hole, which gets the image.
Relocatable device code: the bitcode is in RDC_SECTION, which linkers leave out
of programs, and the object refers to an image and a handle that the object made
by the device link defines, named by a number of the source (ID).
"""
import os
import re
import struct

from driver.report import Failure

# clang's names in host objects, and ours
RENAMES = {
    f"__hip{name}": f"__mc{name}"
    for name in (
        "RegisterFatBinary", "RegisterFunction", "RegisterManagedVar",
        "RegisterSurface", "RegisterTexture", "RegisterVar",
        "UnregisterFatBinary", "PushCallConfiguration",
        "PopCallConfiguration", "_module_ctor", "_module_dtor",
        "_fatbin_wrapper", "_gpubin_handle")
}
RENAMES["hipLaunchKernel"] = "mcLaunchKernel"

WRAPPER = struct.pack("<II", 0x4d414341, 1) # magic and version

RDC_SECTION = b".mc_rdc"
# One for each object, also after several were joined (ld -r): magic, bytes of
# the bitcode, ID or none, optimisation level or NUL, flags, zeros.
RDC_HEADER = struct.Struct("<8sQ32scB14x")
RDC_MAGIC = b"MXGPURDC"
RDC_DEBUG, RDC_LINES = 1, 2

# Code objects: mxgpu/fatbin.h. Magic, version, count, size of all; then of each
# entry offset, size, target.
FATBIN_MAGIC = b"MXGPUFB\0"
FATBIN_HEADER = struct.Struct("<8sIIQ")
FATBIN_ENTRY = struct.Struct("<QQ32s")
FATBIN_RELOCATABLE = b"riscv64-mxgpu-rdc"
FATBIN_ALIGN = 4096

OPT_LEVELS = [bytes([c]) for c in b"0123sz\0"]


class Elf:
    """Sections and symbols of an ELF64 object file."""

    def __init__(self, data):
        self.data = data
        if data[:6] != b"\x7fELF\x02\x01" or len(data) < 64:
            raise ValueError("no ELF64 file")
        try:
            self.read_headers()
        except (struct.error, ValueError) as e:
            raise ValueError("damaged ELF file") from e

    def read_headers(self):
        data = self.data
        table, = struct.unpack_from("<Q", data, 0x28)
        size, count, names = struct.unpack_from("<HHH", data, 0x3a)
        self.headers, self.names = [], []
        if not table:
            return
        if count == 0: # too many for this field, and perhaps for the next
            count, = struct.unpack_from("<Q", data, table + 0x20)
        if names == 0xffff:
            names, = struct.unpack_from("<I", data, table + 0x28)
        text, = struct.unpack_from("<Q", data, table + names * size + 0x18)
        for header in range(table, table + count * size, size):
            start = text + struct.unpack_from("<I", data, header)[0]
            self.headers.append(header)
            self.names.append(data[start:data.index(b"\0", start)])

    def header(self, name):
        """Where in the file the header of a section is; None: no such."""
        return self.headers[self.names.index(name)] \
            if name in self.names else None

    def content(self, header):
        offset, size = struct.unpack_from("<QQ", self.data, header + 0x18)
        return self.data[offset:offset + size]

    def symbols(self):
        """Names of symbols, and whether they are defined."""
        for header in self.headers:
            kind, = struct.unpack_from("<I", self.data, header + 4)
            if kind != 2: # SHT_SYMTAB
                continue
            link, = struct.unpack_from("<I", self.data, header + 0x28)
            names = self.content(self.headers[link])
            for name, _, _, section, _, _ in struct.iter_unpack(
                    "<IBBHQQ", self.content(header)):
                end = names.index(b"\0", name)
                yield names[name:end].decode("latin-1"), section != 0


def put_image(data, image):
    """The object file data with the image in place of the hole; it goes to the
    end of the file. (llvm-objcopy's --update-section leaves relocations and
    symbols of the section without one.)"""
    elf = Elf(data)
    header = elf.header(b".hip_fatbin")
    align, = struct.unpack_from("<Q", data, header + 0x30)
    out = bytearray(data)
    out += bytes(-len(out) % max(align, 1))
    struct.pack_into("<QQ", out, header + 0x18, len(out), len(image))
    return put_wrapper(out, elf) + image


def put_wrapper(data, elf):
    """Our magic and version in the wrapper of the image."""
    data = bytearray(data)
    header = elf.header(b".hipFatBinSegment")
    if header is not None:
        at, = struct.unpack_from("<Q", data, header + 0x18)
        data[at:at + len(WRAPPER)] = WRAPPER
    return data


def rdc_record(bitcode, ident, command):
    flags = RDC_DEBUG if command.debug else \
        RDC_LINES if command.lineinfo else 0
    level = command.opt_level().encode() \
        if command.opt or command.device_opt else b"\0"
    return RDC_HEADER.pack(RDC_MAGIC, len(bitcode), ident.encode(), level,
                           flags) + bitcode


def fatbin(target, content):
    """A code object with one entry."""
    size = FATBIN_ALIGN + len(content)
    head = FATBIN_HEADER.pack(FATBIN_MAGIC, 1, 1, size) + \
        FATBIN_ENTRY.pack(FATBIN_ALIGN, len(content), target)
    return head.ljust(FATBIN_ALIGN, b"\0") + content


def fatbin_entries(data, target):
    """What a code object has for a target."""
    _, _, count, _ = FATBIN_HEADER.unpack_from(data)
    found = []
    for i in range(count):
        offset, size, name = FATBIN_ENTRY.unpack_from(
            data, FATBIN_HEADER.size + i * FATBIN_ENTRY.size)
        if name.rstrip(b"\0") == target:
            found.append(data[offset:offset + size])
    return found


class RdcPart:
    """Device code of one source."""

    def __init__(self, where, ident, level, flags, bitcode):
        self.where, self.ident, self.level = where, ident, level
        self.flags, self.bitcode = flags, bitcode


def rdc_sections(data, where):
    """Records of device code: the file is one, a container of them, or an
    object file with a section of them."""
    if data.startswith(RDC_MAGIC):
        return [data]
    if data.startswith(FATBIN_MAGIC):
        try:
            return fatbin_entries(data, FATBIN_RELOCATABLE)
        except struct.error as e:
            raise Failure(f"{where}: damaged fat binary") from e
    try:
        elf = Elf(data)
        header = elf.header(RDC_SECTION)
        return [] if header is None else [elf.content(header)]
    except (ValueError, struct.error):
        return []


def rdc_parts(data, where):
    """The device code in a file."""
    return [part for section in rdc_sections(data, where)
            for part in rdc_records(section, where)]


def rdc_records(rest, where):
    parts = []
    while rest.strip(b"\0"):
        if len(rest) < RDC_HEADER.size or rest[:8] != RDC_MAGIC:
            raise Failure(f"{where}: damaged device code")
        _, size, ident, level, flags = RDC_HEADER.unpack_from(rest)
        end = RDC_HEADER.size + size
        if end > len(rest):
            raise Failure(f"{where}: damaged device code")
        ident = ident.rstrip(b"\0").decode("latin-1")
        if level not in OPT_LEVELS or not re.fullmatch(r"\w*", ident):
            raise Failure(f"{where}: damaged device code")
        parts.append(RdcPart(where, ident, level.decode("latin-1").strip("\0"),
                             flags, rest[RDC_HEADER.size:end]))
        # the linker aligns what it joins
        rest = rest[end:]
        rest = rest[len(rest) - len(rest.lstrip(b"\0")):]
    return parts


def archive_members(path):
    """(name, data) of each member of a static library."""
    with open(path, "rb") as f:
        data = f.read()
    try:
        return read_members(path, data)
    except ValueError as e:
        raise Failure(f"{path}: damaged archive") from e


def read_members(path, data):
    if data[:8] == b"!<thin>\n":
        return thin_members(path, data)
    at, names, members = 8, b"", []
    while at + 60 <= len(data):
        head = data[at:at + 60]
        size = int(head[48:58])
        if size < 0:
            raise ValueError
        body = data[at + 60:at + 60 + size]
        name = head[:16].rstrip()
        if name == b"//":
            names = body
        elif re.fullmatch(rb"/\d+", name):
            start = int(name[1:])
            members.append((names[start:names.index(b"\n", start)], body))
        elif name not in (b"/", b"/SYM64/"):
            members.append((name, body))
        at += 60 + size + size % 2
    return [(name.rstrip(b"/").decode("utf-8", "surrogateescape"), body)
            for name, body in members]


def thin_members(path, data):
    """Likewise of a thin one, whose members are files elsewhere."""
    at, names, members = 8, b"", []
    while at + 60 <= len(data):
        name, size = data[at:at + 16].rstrip(), int(data[at + 48:at + 58])
        stored = name in (b"/", b"//", b"/SYM64/")
        if name == b"//":
            names = data[at + 60:at + 60 + size]
        elif not stored:
            start = int(name[1:])
            file = os.fsdecode(names[start:names.index(b"/\n", start)])
            with open(os.path.join(os.path.dirname(path), file), "rb") as f:
                members.append((file, f.read()))
        at += 60 + (size + size % 2 if stored else 0)
    return members


def is_archive(path):
    try:
        with open(path, "rb") as f:
            return f.read(8) in (b"!<arch>\n", b"!<thin>\n")
    except OSError:
        return False
