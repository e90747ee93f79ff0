# SPDX-License-Identifier: MIT
"""Launches in device code.

clang refuses kernel<<<...>>>() in kernels and device functions. When it has, a
source is preprocessed for each side and compiled from that text, in which

    kernel<<<grid, block>>>(a, b)    is, for the device,
    (__mcLaunchSet(__mc_launch_config(grid, block)), kernel(a, b))

and kernels are functions of both sides, so that clang chooses overloads,
deduces and converts as in any call. mx-kernel-link makes a launch of the call.
For the host, which only looks whether device code is well formed, the call is
left out. Launches in host code stay, but in the device's text, where they are
calls, since kernels are functions there.
"""
import re

REFUSED = re.compile(r"call to __global__ function from __(global|device)__|"
                     r"reference to __global__ function '.*' in "
                     r"__(global|device|host__ __device)__")

TOKEN = re.compile(r'''
    (?P<line>^[ \t]*\#[^\n]*(?:\\\n[^\n]*)*)
  | (?P<space>[ \t\n\r\f\v]+|//[^\n]*|/\*.*?\*/)
  | (?P<raw>(?:u8|[uUL])?R"(?P<delim>[^()\\\s]{0,16})\(.*?\)(?P=delim)")
  | (?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\])*"|(?:u8|[uUL])?'(?:\\.|[^'\\])*')
  | (?P<word>[A-Za-z_$\x80-\U0010ffff][\w$]*|\.?\d(?:[eEpP][+-]|[\w.]|'\w)*)
  | (?P<launch><<<|>>>)
  | (?P<mark>::|->|&&|\|\||.)
''', re.X | re.S | re.M)

# Tells mx-kernel-link to name kernels that are local to a file as clang does in
# relocatable code.
NAMES = "\n__attribute__((device, used)) static char __mc_kernel_names;\n"

OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}


class Tokens:
    """The text of a preprocessed source, as tokens; space and lines of the
    preprocessor stay in the text between them."""

    def __init__(self, text):
        self.text = text
        self.kind, self.start, self.end = [], [], []
        for m in TOKEN.finditer(text):
            if m.lastgroup == "delim":
                kind = "raw"
            else:
                kind = m.lastgroup
            if m.group("line") is not None or m.group("space") is not None:
                continue
            self.kind.append(kind)
            self.start.append(m.start())
            self.end.append(m.end())

    def __len__(self):
        return len(self.start)

    def __getitem__(self, i):
        return self.text[self.start[i]:self.end[i]]

    def between(self, first, last):
        """The text of tokens first to last."""
        return self.text[self.start[first]:self.end[last]] \
            if first <= last else ""


def partner(tokens, i):
    """The bracket that closes the one at i."""
    depth = 0
    while i < len(tokens):
        t = tokens[i]
        if t in OPEN:
            depth += 1
        elif t in CLOSE:
            depth -= 1
            if not depth:
                return i
        i += 1
    return None


def partner_before(tokens, i):
    """The bracket that opens the one at i."""
    depth = 0
    while i >= 0:
        t = tokens[i]
        if t in CLOSE:
            depth += 1
        elif t in OPEN:
            depth -= 1
            if not depth:
                return i
        i -= 1
    return None


def angle_before(tokens, i):
    """The < that opens the template arguments which end at i."""
    depth = 0
    while i >= 0:
        t = tokens[i]
        if t in CLOSE:
            i = partner_before(tokens, i)
            if i is None:
                return None
        elif t == ">":
            depth += 1
        elif t == ">>>":
            depth += 3
        elif t == "<":
            depth -= 1
            if depth <= 0:
                return i if not depth else None
        elif t in (";", "{"):
            return None
        i -= 1
    return None


def callee_start(tokens, i):
    """The first token of the expression that ends at i and is launched."""
    while True:
        t = tokens[i]
        if t == ">":
            i = angle_before(tokens, i)
            if i is None:
                return None
            i -= 1 # the template's name
        elif t in (")", "]"):
            i = partner_before(tokens, i)
            if i is None:
                return None
            if t == "]":
                i -= 1
                continue
            if i and (tokens.kind[i - 1] == "word" and
                      tokens[i - 1] not in ("return", "else", "do")):
                i -= 1 # a call
                continue
            return i
        if i < 0 or tokens.kind[i] != "word":
            return None
        if i and tokens[i - 1] == "template":
            i -= 1
        if i >= 1 and tokens[i - 1] in (".", "->"):
            i -= 2
        elif i >= 1 and tokens[i - 1] == "::":
            before = tokens[i - 2] if i >= 2 else ""
            if before == ">" or (tokens.kind[i - 2] == "word" and
                                 before not in ("return", "else", "do")):
                i -= 2
            else:
                return i - 1
        else:
            return i


def end_of_config(tokens, i):
    """The >>> of the <<< at i."""
    i += 1
    while i + 1 < len(tokens):
        t = tokens[i]
        if t in OPEN:
            i = partner(tokens, i)
            if i is None:
                return None
        elif t == ">>>" and tokens[i + 1] == "(":
            return i
        elif t == ";":
            return None
        i += 1
    return None


def braced(tokens, first, last):
    """Whether one of the arguments from first to last is a list in braces."""
    i = first
    while i <= last:
        if tokens[i] == "{" and (i == first or tokens[i - 1] == ","):
            return True
        i = partner(tokens, i) if tokens[i] in OPEN else i
        i += 1
    return False


class Scopes:
    """Whose code is at a token: what the header of each open brace says."""

    def __init__(self, tokens):
        self.tokens = tokens
        self.side = [None] * len(tokens)
        stack, header = [None], 0
        for i in range(len(tokens)):
            t = tokens[i]
            self.side[i] = stack[-1]
            if t == "{":
                stack.append(self.of_header(header, i, stack[-1]))
                header = i + 1
            elif t == "}":
                if len(stack) > 1:
                    stack.pop()
                header = i + 1
            elif t == ";":
                header = i + 1

    def of_header(self, first, last, outer):
        """The sides of a brace with that header: (host, device)."""
        host = device = False
        for i in range(first, last):
            if self.tokens[i] == "__attribute__" and i + 1 < last:
                end = partner(self.tokens, i + 1) or last
                words = {self.tokens[k] for k in range(i, min(end, last))}
                host |= "host" in words
                device |= bool({"device", "global"} & words)
        return (host, device) if host or device else outer


def rewrite_launch(tokens, scopes, i, device):
    """(first token, last token, text) of a launch; None: it stays."""
    end = end_of_config(tokens, i)
    if end is None or end + 1 >= len(tokens) or tokens[end + 1] != "(":
        return None
    last, first = partner(tokens, end + 1), callee_start(tokens, i - 1)
    if last is None or first is None:
        return None
    side = scopes.side[i] or (True, False)
    callee = tokens.between(first, i - 1)
    config = tokens.between(i + 1, end - 1)
    args = (end + 2, last - 1)
    if device:
        call = f"{callee}({tokens.between(*args)})"
        if not side[1]:
            return first, last, f"((void)(0), {call})"
        return first, last, f"(__mcLaunchSet(__mc_launch_config({config})), " \
                            f"{call})"
    if not side[1] or side[0]:
        return None
    used = "" if args[0] > args[1] or braced(tokens, *args) else \
        f", __mcLaunchIgnore({tokens.between(*args)})"
    return first, last, f"((void)__mc_launch_config({config}){used})"


def rewrite(text, device):
    """The text of one side with its launches made what clang accepts."""
    tokens = Tokens(text)
    scopes = Scopes(tokens)
    out, at = [], 0
    for i in range(len(tokens)):
        if tokens.start[i] < at:
            continue
        t = tokens[i]
        if t == "<<<":
            # What is in front of it has been given out already.
            found = rewrite_launch(tokens, scopes, i, device)
            if found:
                out.append((tokens.start[found[0]], tokens.end[found[1]],
                            found[2]))
                at = tokens.end[found[1]]
        elif device and t == "__attribute__" and i + 1 < len(tokens):
            end = partner(tokens, i + 1)
            for k in range(i, end or i):
                if tokens[k] == "global" and tokens[k - 1] in ("(", ","):
                    out.append((tokens.start[k], tokens.end[k],
                                "host, device, used"))
    result, at = [], 0
    for start, end, new in sorted(out):
        lines = text.count("\n", start, end) - new.count("\n")
        result += [text[at:start], new, "\n" * max(lines, 0)]
        at = end
    return "".join(result) + text[at:]
