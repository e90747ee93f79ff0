# SPDX-License-Identifier: MIT
"""Reads hw-mxgpu/include/mxgpu/regs.def, for whatever is generated from it."""
import os
import re

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(TOP, "hw-mxgpu/include/mxgpu/regs.def")
# Registers whose value at reset the configuration of a device sets.
CONFIGURED = {
    "FEATURES", "QUEUE_CAPS", "UNIT_CAPS", "CU_CAPS", "CU_CAPS2", "CU_REGS",
    "VRAM_SIZE_LO", "VRAM_SIZE_HI", "UUID", "WATCHDOG_MS", "CU_PRIVATE",
}


def split_args(text):
    """Splits macro arguments at commas outside of strings and parentheses."""
    args, depth, quoted, cur = [], 0, False, ""
    i = 0
    while i < len(text):
        c = text[i]
        if quoted and c == "\\":
            cur += text[i:i + 2]
            i += 2
            continue
        if c == '"':
            quoted = not quoted
        if not quoted:
            depth += c in "(["
            depth -= c in ")]"
            if c == "," and depth == 0:
                args.append(cur.strip())
                cur = ""
                i += 1
                continue
        cur += c
        i += 1
    args.append(cur.strip())
    return args


def doc_text(literals):
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"', literals)
    return "".join(parts).replace('\\"', '"')


def parse(source):
    """Yields ('section', title), ('reg', args) and ('field', args)."""
    token = re.compile(r"/\*(.*?)\*/|MXGPU_(REG|FIELD)\(", re.S)
    pos = 0
    while True:
        m = token.search(source, pos)
        if not m:
            return
        pos = m.end()
        if m.group(2):
            depth, quoted, start = 1, False, pos
            while depth:
                c = source[pos]
                if quoted and c == "\\":
                    pos += 1
                elif c == '"':
                    quoted = not quoted
                elif not quoted:
                    depth += c == "("
                    depth -= c == ")"
                pos += 1
            args = split_args(source[start:pos - 1])
            yield m.group(2).lower(), args
        else:
            title = re.fullmatch(r"\s*-+\s*(.*?)\s*-+\s*", m.group(1))
            if title:
                yield "section", title.group(1)


class Field:
    def __init__(self, args):
        self.register, self.name, shift, width, doc = args
        self.shift, self.width = int(shift), int(width)
        self.doc = doc_text(doc)


class Register:
    def __init__(self, args, section):
        self.name, offset, count, stride, self.host, self.mcu, self.reset, \
            doc = args
        self.offset, self.count = int(offset, 0), int(count, 0)
        self.stride = int(stride, 0)
        self.doc = doc_text(doc)
        self.section = section
        self.fields = []


def registers():
    """All registers in the order of the table, with their fields."""
    with open(TABLE, encoding="utf-8") as f:
        source = f.read()
    found, section = {}, ""
    for kind, value in parse(source):
        if kind == "section":
            section = value
        elif kind == "reg":
            found[value[0]] = Register(value, section)
        else:
            field = Field(value)
            found[field.register].fields.append(field)
    return list(found.values())
