# SPDX-License-Identifier: MIT
"""Inline PTX in preprocessed sources becomes C++, or an error that names what
is not known. Assembly of the device itself stays as it is.

rewrite() looks at all asm statements, in headers too. Each becomes a block with
a variable for each operand and one statement for each instruction
(ptx_table.py); the number of lines stays.
"""
import re

from driver.ptx_table import C_TYPES, SPECIAL, Unknown
from driver.ptx_tensor import translate
from driver.report import Failure

TOKEN = re.compile(
    r'(?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")'
    r'|(?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")'
    r"|(?P<char>'(?:\\.|[^'\\\n])+')"
    r"|(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)"
    r'|(?P<line>^\#[^\n]*)|(?P<word>[A-Za-z_$]\w*)|(?P<space>\s+)|(?P<any>.)',
    re.S | re.M)
# of operands: the letter of a constraint
LETTERS = {"h": "u16", "r": "u32", "l": "u64", "f": "f32", "d": "f64"}
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
# What tells PTX from assembly of the device: its types and spaces, registers
# with names, and what has no operands.
LOOKS = re.compile(
    r"\.(?:[usbf](?:8|16|32|64)|pred|sync|f16x2|bf16x2|global|shared|reg|"
    r"aligned|cta|gpu|sys|gl|warp|async|uni|wait)\b|%%?(?:laneid|warpid|smid|clock|"
    r"n?tid|n?ctaid|lanemask|globaltimer|nsmid)|^\s*(?:exit|trap|brkpt)\s*;")


class Place:
    """Where in the sources, for messages."""

    def __init__(self, source):
        self.file, self.line = source, 1

    def marker(self, text):
        m = re.match(r'#\s*(?:line\s+)?(\d+)\s+"((?:\\.|[^"])*)"', text)
        if m:
            self.line = int(m[1]) - 1 # the marker's own newline counts
            self.file = m[2]

    def fail(self, text):
        raise Failure(f"{self.file}:{self.line}: {text}")


class Operand:
    """A register, a number, a vector of them, or an address."""

    def __init__(self, text, names):
        self.text, self.names, self.vector = text.strip(), names, None
        self.negated = self.text.startswith("!")
        if self.negated:
            self.text = self.text[1:].strip()
        if self.text.startswith("{"):
            self.vector = [Operand(t, names)
                           for t in self.text[1:-1].split(",")]
        self.both = [Operand(t, names) for t in self.text.split("|")] \
            if "|" in self.text else None

    def variable(self):
        """(name, kind), or None."""
        return self.names.get(self.text)

    def number(self, kind):
        m = re.fullmatch(r"0[fFdD]([0-9a-fA-F]{8}|[0-9a-fA-F]{16})", self.text)
        if m:
            bits = "unsigned" if len(m[1]) == 8 else "unsigned long long"
            real = "float" if len(m[1]) == 8 else "double"
            return f"__builtin_bit_cast({real}, ({bits})0x{m[1]})"
        m = re.fullmatch(r"(-?(?:0[xX][0-9a-fA-F]+|\d+))[uU]?", self.text)
        if m and kind in ("u32", "b32"):
            return m[1] + "u"
        if m:
            return f"({C_TYPES[kind]}){m[1]}"
        if re.fullmatch(r"-?\d+\.\d*(?:[eE][+-]?\d+)?", self.text):
            return f"({C_TYPES[kind]}){self.text}"
        raise Unknown

    def get(self, kind):
        if kind not in C_TYPES or self.vector:
            raise Unknown
        variable = self.variable()
        special = re.sub(r"^%", "", self.text)
        if variable:
            text = f"__mc_ptx_as<{C_TYPES[kind]}>({variable[0]})"
        elif special in SPECIAL:
            text = f"({C_TYPES[kind]})({SPECIAL[special]})"
        else:
            text = self.number(kind)
        return f"!{text}" if self.negated else text

    def put(self, value):
        if self.text == "_":
            return f"(void)({value});"
        if self.both or not self.variable():
            raise Unknown
        return f"__mc_ptx_put({self.variable()[0]}, {value});"

    def put_both(self, value):
        """With a predicate behind |, called ok."""
        value, rest = f"{{ bool ok; {self.value_of().put(value)}", " }"
        if self.both:
            if len(self.both) != 2:
                raise Unknown
            rest = self.both[1].put("ok") + rest
        return value + rest

    def put_pair(self, value, other):
        """A predicate, and behind | another one."""
        if not self.both:
            return self.put(value)
        if len(self.both) != 2:
            raise Unknown
        return (f"{{ bool ok = {value}, no = {other}; "
                + self.both[0].put("ok") + self.both[1].put("no") + " }")

    def value_of(self):
        return self.both[0] if self.both else self

    def address(self, space):
        m = re.fullmatch(r"\[\s*([^\s+\]]+)\s*(?:\+\s*(-?\w+)\s*)?\]",
                         self.text)
        if not m or not (m[1] in self.names):
            raise Unknown
        text = Operand(m[1], self.names).get("u64")
        if space and space.startswith("shared"):
            text = f"(unsigned long)__cvta_shared_to_generic({text})"
        if m[2]:
            text += f" + ({int(m[2], 0)})"
        return f"({text})"


def pieces(text, separator):
    """Text between separators outside of brackets."""
    found, depth, last = [], 0, 0
    for m in TOKEN.finditer(text):
        token = m[0]
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
        elif token == separator and not depth:
            found.append(text[last:m.start()])
            last = m.end()
    return found + [text[last:]]


def string_of(text):
    """The characters of string literals side by side; None when there is
    anything else."""
    out = ""
    for m in TOKEN.finditer(text):
        if m["string"]:
            inner = m[0][m[0].index('"') + 1:-1]
            out += re.sub(r"\\(.)", lambda e: ESCAPES.get(e[1], e[1]), inner,
                          flags=re.S)
        elif m["raw"]:
            out += m[0][m[0].index("(") + 1:m[0].rindex(")")]
        elif not m["space"] and not m["line"]:
            return None
    return out


def operands_of(text):
    """(name, constraint, expression) of a list of operands."""
    found = []
    for piece in pieces(text, ","):
        m = re.fullmatch(r'\s*(?:\[\s*(\w+)\s*\])?\s*("(?:[^"])*"\s*)+\((.*)\)'
                         r"\s*", piece, re.S)
        if m:
            found.append((m[1], string_of(re.search(r'(?:"[^"]*"\s*)+',
                                                    piece)[0]), m[3]))
        elif piece.strip():
            return None
    return found


# LOOP: in front of an instruction; in names %= is a number of the statement
LABEL = re.compile(r"([$\w%][$\w%=]*)\s*:(?!:)")


class Statement:
    """One asm statement whose template is PTX."""

    count = 0

    def __init__(self, template, outputs, inputs, place):
        Statement.count += 1
        self.number = Statement.count
        self.labels = set(m[1] for m in re.finditer(
            r"(?:^|[;{}\s])" + LABEL.pattern, template))
        self.place, self.head, self.tail = place, [], []
        self.names = {} # register: (variable, kind)
        for i, (name, constraint, expression) in enumerate(outputs + inputs):
            self.operand(i, name, constraint, expression, i < len(outputs))
        def reference(m):
            return "%" if m[0] == "%%" else f"\1{m[1] or m[2]}"
        text = re.sub(r"%%|%(\d+)|%\[(\w+)\]", reference, template)
        self.body = self.translate(re.sub(r"//[^\n]*|/\*.*?\*/", " ", text,
                                          flags=re.S))

    def operand(self, i, name, constraint, expression, output):
        letter = constraint.strip("=+&")
        variable = f"__mc_{i}"
        if letter in ("n", "i"):
            kind = "s64"
        elif letter in LETTERS:
            kind = LETTERS[letter]
        elif letter.isdigit(): # the same one as an output
            target = self.names.get(f"\1{letter}")
            if not target:
                self.place.fail(f'inline PTX: constraint "{constraint}"')
            self.head.append(f"__mc_ptx_put({target[0]}, "
                             f"__mc_ptx_as<{C_TYPES[target[1]]}>"
                             f"({expression}));")
            self.names[f"\1{i}"] = target
            return
        else:
            self.place.fail(f'inline PTX: constraint "{constraint}" is not '
                            "supported")
        c_type = C_TYPES[kind]
        start = "{}" if output and "+" not in constraint else \
            f"= __mc_ptx_as<{c_type}>({expression})"
        self.head.append(f"{c_type} {variable} {start};")
        if output:
            self.tail.append(f"__mc_ptx_back({expression}, {variable});")
        self.names[f"\1{i}"] = (variable, kind)
        if name:
            self.names[f"\1{name}"] = (variable, kind)

    def declare(self, line):
        m = re.fullmatch(r"\.reg\s+\.(\w+)\s+(.*)", line, re.S)
        if not m or m[1] not in C_TYPES:
            self.place.fail(f"inline PTX is not supported: {line}")
        out = ""
        for name in (n.strip() for n in m[2].split(",")):
            several = re.fullmatch(r"([%\w$]+)<(\d+)>", name)
            for one in [f"{several[1]}{n}" for n in range(int(several[2]))] \
                    if several else [name]:
                variable = "__mc_r_" + re.sub(r"\W", "_", one)
                self.names[one] = (variable, m[1])
                out += f"{C_TYPES[m[1]]} {variable} = {{}};"
        return out

    def label(self, name):
        """In C++, for each statement another one: names are a function's."""
        return f"__mc_ptx_l{self.number}_" + re.sub(r"\W", "_", name)

    def jump(self, opcode, target):
        if opcode not in ("bra", "bra.uni") or target.strip() not in \
                self.labels:
            raise Unknown
        return f"goto {self.label(target.strip())};"

    def instruction(self, line):
        shown = re.sub("\1", "%", line)
        m = re.fullmatch(r"(?:@(!?)\s*([%\w\1$]+)\s+)?([\w.:]+)\s*(.*)", line,
                         re.S)
        if not m:
            self.place.fail(f"inline PTX is not supported: {shown}")
        operands = [Operand(t, self.names) for t in pieces(m[4], ",")
                    if t.strip()]
        try:
            text = self.jump(m[3], m[4]) if m[3].startswith("bra") else \
                translate(m[3], operands)
            if m[2]:
                test = Operand(m[2], self.names).get("pred")
                text = f"if ({m[1]}{test}) {{ {text} }}"
        except Unknown:
            self.place.fail("inline PTX is not supported: "
                            f"{m[3]} (in '{shown}')")
        return text

    def translate(self, text):
        out = []
        while text.strip():
            text = text.lstrip()
            if text[0] in "{};":
                out.append(text[0] if text[0] != ";" else "")
                text = text[1:]
                continue
            label = LABEL.match(text)
            if label:
                out.append(self.label(label[1]) + ": ;")
                text = text[label.end():]
                continue
            line, _, text = text.partition(";")
            if line.rstrip().endswith("}") and line.count("}") > \
                    line.count("{"): # the last one needs no semicolon
                at = line.rindex("}")
                line, text = line[:at], line[at:] + text
            line = line.strip()
            if line.startswith(".reg"):
                out.append(self.declare(line))
            elif line:
                out.append(self.instruction(line))
        return " ".join(out)

    def code(self):
        return ("do { [[maybe_unused]] unsigned __mc_cc = 0; "
                + " ".join(self.head) + f" {self.body} "
                + " ".join(self.tail) + " } while (0)")


def statement(body, place):
    """What stands for the asm with this text in its brackets; None to leave
    it."""
    parts = pieces(body, ":")
    template = string_of(parts[0])
    if template is None or not LOOKS.search(template):
        return None
    outputs = operands_of(parts[1]) if len(parts) > 1 else []
    inputs = operands_of(parts[2]) if len(parts) > 2 else []
    if outputs is None or inputs is None:
        place.fail("inline PTX: these operands are not understood")
    return Statement(template, outputs, inputs, place).code()


def rewrite(text, source):
    """The preprocessed text with its PTX translated; None if it has none."""
    place, out, at, last, found = Place(source), [], 0, 0, False
    while True:
        m = TOKEN.match(text, at)
        if not m:
            break
        at = m.end()
        if m["line"]:
            place.marker(m[0])
        elif m["word"] in ("asm", "__asm__", "__asm"):
            head = re.compile(
                r"\s*(?:(?:volatile|__volatile__|__volatile|inline)\b\s*)*\(")
            start = head.match(text, at)
            end = closing(text, start.end()) if start else None
            code = statement(text[start.end():end], place) if end else None
            if code:
                found = True
                lines = text.count("\n", m.start(), end + 1)
                out += [text[last:m.start()], code, "\n" * lines]
                last = end + 1
        if not m["line"]:
            place.line += m[0].count("\n")
    return "".join(out) + text[last:] if found else None


def closing(text, at):
    """Where the bracket that is open closes."""
    depth = 1
    for m in TOKEN.finditer(text, at):
        depth += (m[0] == "(") - (m[0] == ")")
        if not depth:
            return m.start()
    return None
