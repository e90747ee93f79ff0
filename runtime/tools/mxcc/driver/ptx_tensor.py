# SPDX-License-Identifier: MIT
"""Instructions of PTX on halves of a register, copies to shared memory, and
products of small matrices, in C++ (mcr/device/ptx_tensor.h)."""
from driver import ptx_multimem, ptx_table
from driver.ptx_table import C_TYPES, Instruction, Unknown, split

# (the element, the bits of a register)
HALVES = {"f16": ("_Float16", "b16"), "f16x2": ("_Float16", "b32"),
          "bf16": ("__bf16", "b16"), "bf16x2": ("__bf16", "b32")}
C_TYPES.update({kind: C_TYPES[bits] for kind, (_, bits) in HALVES.items()})
OPERATIONS = {"add": "+", "sub": "-", "mul": "*", "fma": "f", "min": "m",
              "max": "M", "neg": "n", "abs": "a", "ex2": "e", "tanh": "t"}
# of any bits, or that see to halves themselves
OTHERS = ("ld", "st", "mov", "selp", "setp", "cvt", "mma")
NUMBERS = ("s32", "u32", "s64", "u64", "s16", "u16", "f32", "f64")


def operation(i):
    """add.f16x2 and its kin."""
    element, bits = HALVES[i.kind]
    i.typed()
    split(i.parts, ("rn", "approx"), ("ftz",))
    symbol = OPERATIONS[i.name]
    count = 3 if symbol in "+-*mM" else 4 if symbol == "f" else 2
    i.need(count)
    args = [i.get(n, bits) for n in range(1, count)] + ["0"] * (4 - count)
    pair = "2" if bits == "b32" else ""
    return i.put(f"__mc_ptx_half{pair}<{element}, '{symbol}'>"
                 f"({', '.join(args)})", bits)


def convert(i):
    """Between halves and other numbers; of two floats to a pair."""
    kinds = [p for p in i.parts if p in C_TYPES]
    mode, _, relu = split([p for p in i.parts if p not in C_TYPES],
                          ("rn", "rni", "rzi", "rmi", "rpi"), ("ftz",),
                          ("relu",))
    if len(kinds) != 2:
        raise Unknown
    to, come = kinds
    name = "__mc_ptx_to_half" + ("_relu" if relu else "")
    if to in ("f16x2", "bf16x2") and come == "f32" and mode == "rn":
        i.need(3)
        one, two = (f"{name}<{HALVES[to][0]}>({i.get(n, 'f32')})"
                    for n in (1, 2))
        return i.put(f"(unsigned){one} << 16 | {two}", "b32")
    i.need(2)
    if to in ("f16", "bf16") and mode == "rn" and come in NUMBERS:
        return i.put(f"{name}<{HALVES[to][0]}>({i.get(1, come)})", "b16")
    if come not in ("f16", "bf16") or to not in NUMBERS or relu:
        raise Unknown
    value = f"__mc_ptx_of_half<{HALVES[come][0]}>({i.get(1, 'b16')})"
    rounded = {"rni": "rintf", "rzi": "truncf", "rmi": "floorf",
               "rpi": "ceilf"}
    if to[0] == "f":
        return i.put(value, to) if not mode else i.refuse()
    return i.put(f"{rounded[mode]}({value})", to) if mode in rounded \
        else i.refuse()


def copy(i):
    """cp.async: the thread copies, so that there is nothing to wait for."""
    rest = [p for p in i.parts if not p.startswith("L2::")]
    if rest == ["async", "wait_group"]:
        i.need(1)
        return "__mc_ptx_copied();"
    if rest not in (["async", way, "shared", "global"] for way in
                    ("ca", "cg")) or not 3 <= len(i.o) <= 4:
        raise Unknown
    size = i.get(2, "u32")
    return (f"__mc_ptx_copy((void *){i.o[0].address('shared')}, "
            f"(const void *){i.o[1].address('global')}, {size}, "
            f"{i.get(3, 'u32') if len(i.o) == 4 else size});")


def vector(operand, count):
    items = operand.vector or [operand]
    if len(items) != count:
        raise Unknown
    return items


def load_matrix(i):
    """ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {d...}, [a]"""
    number, turned, *rest = split(
        i.parts, ("x1", "x2", "x4"), ("trans",), ("shared", "shared::cta"),
        ("aligned",), ("sync",), ("m8n8",), ("b16",))
    i.need(2)
    if not number or None in rest:
        raise Unknown
    count = int(number[1])
    items = vector(i.o[0], count)
    return (f"{{ unsigned v[{count}]; __mc_ptx_ldmatrix<{count}, "
            f"{'true' if turned else 'false'}>"
            f"(v, {i.o[1].address('shared')}); "
            + "".join(item.put(f"v[{n}]") for n, item in enumerate(items))
            + "}")


# shape: how many registers of b, by the type of the factors
SHAPES = {
    ("m16n8k16", "f16"): 2, ("m16n8k8", "f16"): 1,
    ("m16n8k16", "bf16"): 2, ("m16n8k8", "bf16"): 1,
    ("m16n8k8", "tf32"): 2, ("m16n8k4", "tf32"): 1,
    ("m16n8k32", "s8"): 2, ("m16n8k16", "s8"): 1,
    ("m16n8k32", "u8"): 2, ("m16n8k16", "u8"): 1,
}
ELEMENTS = {"f16": "_Float16", "bf16": "__bf16", "tf32": "float",
            "s8": "signed char", "u8": "unsigned char"}


def product(i):
    """mma.sync.aligned.SHAPE.row.col.D.A.B.C {d}, {a}, {b}, {c}"""
    i.need(4)
    parts = [p for p in i.parts if p != "satfinite"]
    if len(parts) != 9 or parts[:2] != ["sync", "aligned"] or \
            parts[3:5] != ["row", "col"]:
        raise Unknown
    shape, (result, a, b, c) = parts[2], parts[5:]
    chunks = SHAPES.get((shape, a))
    if not chunks or a != b or result != c or len(parts) != len(i.parts):
        raise Unknown
    if result not in {"f16": ("f32", "f16"), "bf16": ("f32",),
                      "tf32": ("f32",)}.get(a, ("s32",)):
        raise Unknown
    kind = "b32" if result == "f16" else result
    count = 2 if result == "f16" else 4
    reads = [", ".join(item.get(k) for item in vector(i.o[n], size))
             for n, size, k in ((1, 2 * chunks, "b32"), (2, chunks, "b32"),
                                (3, count, kind))]
    name = C_TYPES[kind]
    return (f"{{ unsigned a[] = {{ {reads[0]} }}, b[] = {{ {reads[1]} }}; "
            f"{name} c[] = {{ {reads[2]} }}; "
            f"__mc_ptx_mma<{ELEMENTS[a]}>(c, a, b); "
            + "".join(item.put(f"c[{n}]") for n, item in
                      enumerate(vector(i.o[0], count))) + "}")


def rule_for(i):
    """What translates an instruction, or None when it is not one of these."""
    if i.name == "multimem" and i.parts:
        return ptx_multimem.rule
    if i.name in ("cp", "ldmatrix", "mma") and i.o:
        return {"cp": copy, "ldmatrix": load_matrix, "mma": product}[i.name]
    if not any(p in HALVES for p in i.parts):
        return None
    if i.name == "cvt":
        return convert
    if i.kind in HALVES and i.name in OPERATIONS:
        return operation
    if i.name not in OTHERS:
        raise Unknown
    return None


def translate(opcode, operands):
    instruction = Instruction(opcode, operands)
    rule = rule_for(instruction)
    return rule(instruction) if rule else \
        ptx_table.translate(opcode, operands)
