# SPDX-License-Identifier: MIT
"""multimem.ld_reduce, .st and .red of PTX, in C++ (mcr/mc_multimem.h)."""
from driver.ptx_table import C_TYPES, Unknown, split

OPERATIONS = {"add": "+", "min": "m", "max": "M", "and": "&", "or": "|",
              "xor": "^"}
HALVES = {"f16x2": "_Float16", "bf16x2": "__bf16"}
TYPES = ("b32", "b64", "u32", "s32", "u64", "s64", "f32", "f64")


def combination(operation, kind):
    """The name of a function of two values."""
    symbol = OPERATIONS[operation]
    if kind in HALVES:
        if symbol not in "+mM":
            raise Unknown
        return (f"[](unsigned a, unsigned b) {{ return "
                f"__mc_ptx_half2<{HALVES[kind]}, '{symbol}'>(a, b, 0); }}")
    if kind[0] == "f" and symbol not in "+mM":
        raise Unknown
    return f"__mc_multimem_apply<'{symbol}', {C_TYPES[kind]}>"


def rule(i):
    """multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {...}, [a]"""
    what, *i.parts = i.parts
    kind = i.kind
    if what not in ("ld_reduce", "st", "red") or kind not in (*TYPES, *HALVES):
        raise Unknown
    i.parts.pop()
    _, _, _, operation, _, count = split(
        i.parts, ("weak", "relaxed", "acquire", "release"),
        ("cta", "cluster", "gpu", "sys"), ("global",), OPERATIONS,
        ("acc::f32", "acc::f16"), ("v2", "v4", "v8"))
    i.need(2)
    if (operation is None) != (what == "st"):
        raise Unknown
    count = int(count[1]) if count else 1
    word = "b32" if kind in HALVES else kind
    where, value = i.o if what != "ld_reduce" else reversed(i.o)
    items = value.vector or [value]
    if len(items) != count:
        raise Unknown
    pointer = f"(({C_TYPES[word]} *){where.address('global')})"
    done = []
    for n, item in enumerate(items):
        at = f"{pointer} + {n}"
        if what == "st":
            done.append(f"__mc_multimem_store<{C_TYPES[word]}>"
                        f"({at}, {item.get(word)});")
        elif what == "red":
            done.append(f"__mc_multimem_update<{C_TYPES[word]}>({at}, "
                        f"{item.get(word)}, {combination(operation, kind)});")
        else:
            done.append(item.put(
                f"__mc_multimem_reduce<{C_TYPES[word]}>"
                f"({at}, {combination(operation, kind)})"))
    return "{ " + " ".join(done) + " }"
