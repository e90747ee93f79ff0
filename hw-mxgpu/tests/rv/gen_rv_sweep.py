#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Which 32-bit encodings are instructions: the system's LLVM disassembler.

usage: gen_rv_sweep.py LLVM_MC rv_sweep.h [--check]

Every opcode, funct3, funct7 and rs2 with rd = x10 and rs1 = x11, and again
with other rd and rs1 for the opcodes where these may have to be 0. The header
has, for each of these sets, opcode and funct3, the first of its runs: so many
funct7 in turn have this set of rs2 that make instructions. Custom-0 and
privileged instructions count as illegal, and so do encodings of 48 bits and
more. With --check the header is compared.
"""
import re
import subprocess
import sys

ATTR = {
    32: "+m,+a,+c,+zicsr,+zifencei",
    64: "+m,+a,+f,+d,+c,+zicsr,+zifencei,+zba,+zbb,+zicond,+zfh,"
        "+zfbfmin,+experimental-zacas",
}
# Privileged, and what takes pairs of registers.
ELSEWHERE = re.compile(r"\t(mret|sret|uret|wfi|mnret|dret|[hs]fence|sinval|"
                        r"[hs]inval|hlv|hsv|cease|pause|sf\.|amocas\.q)")
FIXED = (0x03, 0x0b, 0x14, 0x1c)  # misc-mem, amo, op-fp, system
NONE = 0xfe00700b  # custom-0
SETS = ((10, 11, range(32)), (0, 11, FIXED), (10, 0, FIXED), (0, 0, FIXED))


def encodings():
    for rd, rs1, majors in SETS:
        for major in majors:
            for rest in range(8 * 128 * 32):
                f3, f7, rs2 = rest >> 12, rest >> 5 & 127, rest & 31
                yield (f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 |
                       major << 2 | 3)


def disassemble(mc, xlen, words):
    """One byte for each: whether it is an instruction of ours."""
    # longer encodings would end in the middle: any illegal one stands for them
    words = [NONE if w & 0x1f == 0x1f else w for w in words]
    text = "\n".join(" ".join(f"0x{w >> s & 255:02x}" for s in (0, 8, 16, 24))
                     for w in words) + "\n"
    proc = subprocess.run(
        [mc, "--disassemble", f"--triple=riscv{xlen}", f"--mattr={ATTR[xlen]}",
         "-M", "no-aliases"], input=text, text=True, capture_output=True,
        check=False)
    good = bytearray(b"\1") * len(words)
    for m in re.finditer(r"<stdin>:(\d+):\d+: warning", proc.stderr):
        good[int(m.group(1)) - 1] = 0
    lines = [l for l in proc.stdout.splitlines()
             if l.startswith("\t") and not l.startswith("\t.")]
    assert len(lines) == sum(good), "output does not match the input"
    lines = iter(lines)
    for i in range(len(words)):
        if good[i] and ELSEWHERE.match(next(lines)):
            good[i] = 0
    return good


def legal(mc, xlen):
    """One byte for each encoding."""
    words, good = list(encodings()), bytearray()
    for at in range(0, len(words), 65536):
        good += disassemble(mc, xlen, words[at:at + 65536])
    for i, w in enumerate(words):
        if w & 0x1f == 0x1f or w & 0x7f == 0x0b:
            good[i] = 0
        if w & 0x7f == 0x0f and w >> 12 & 7 < 2:
            good[i] = 1  # fences: reserved fields are ignored
    return good


def rows(good):
    """For each opcode and funct3: runs of funct7 with one set of rs2."""
    for group in range(len(good) // (8 * 128 * 32)):
        for f3 in range(8):
            runs = []
            for f7 in range(128):
                at = (group * 8 + f3) * 4096 + f7 * 32
                mask = sum(1 << i for i in range(32) if good[at + i])
                if runs and runs[-1][1] == mask:
                    runs[-1][0] += 1
                else:
                    runs.append([1, mask])
            yield tuple(map(tuple, runs))


def table(name, kind, items):
    """A C array, filled to 80 columns."""
    out, line = [f"static const {kind} {name}[] = {{"], "   "
    for item in items:
        if len(line) + len(item) > 78:
            out.append(line)
            line = "   "
        line += f" {item},"
    return out + [line, "};"]


def header(mc):
    """Rows that are the same are written once."""
    seen, runs = {}, []
    out = ["/* SPDX-License-Identifier: MIT */",
           "/* Made by gen_rv_sweep.py. */"]
    for xlen in (32, 64):
        index = []
        for row in rows(legal(mc, xlen)):
            if row not in seen:
                seen[row] = len(runs)
                runs += row
            index.append(seen[row])
        out += table(f"sweep{xlen}", "uint16_t", map(str, index))
    return out + table("sweep_runs", "SweepRun",
                       (f"{{{n}, 0x{m:x}}}" for n, m in runs))


def main():
    mc, path = sys.argv[1:3]
    text = "\n".join(header(mc)) + "\n"
    if "--check" in sys.argv:
        return open(path, encoding="ascii").read() != text
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    return 0


sys.exit(main())
