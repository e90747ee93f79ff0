# SPDX-License-Identifier: MIT
"""What instructions of PTX are in C++.

translate() gives a statement for an instruction whose operands ptx.py has
parsed, or raises Unknown. Registers are variables of the type of their bits;
as_ reads one as another type, put() stores bits.
"""
import re

C_TYPES = {
    "u8": "unsigned char", "b8": "unsigned char", "s8": "signed char",
    "u16": "unsigned short", "b16": "unsigned short", "s16": "short",
    "u32": "unsigned", "b32": "unsigned", "s32": "int",
    "u64": "unsigned long long", "b64": "unsigned long long",
    "s64": "long long", "f32": "float", "f64": "double", "pred": "bool",
}
WIDER = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
OPERATORS = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^",
             "rem": "%"}
COMPARE = {"eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}",
           "le": "{} <= {}", "gt": "{} > {}", "ge": "{} >= {}",
           "lo": "{} < {}", "ls": "{} <= {}", "hi": "{} > {}",
           "hs": "{} >= {}"}
# of numbers that may be none: ne is false then, those with u are true
COMPARE_REAL = {**{name: COMPARE[name] for name in ("eq", "lt", "le", "gt",
                                                    "ge")},
                "ne": "__builtin_islessgreater({}, {})",
                "equ": "!__builtin_islessgreater({}, {})",
                "neu": "{} != {}", "ltu": "!({} >= {})",
                "leu": "!({} > {})", "gtu": "!({} <= {})",
                "geu": "!({} < {})", "num": "!__builtin_isunordered({}, {})",
                "nan": "__builtin_isunordered({}, {})"}
# :: because a program may call its variables so
SPECIAL = {
    "laneid": "::__lane_id()", "warpid": "::__warp_id()",
    "nwarpid": "__mc_ptx_warps()", "smid": "::__smid()",
    "clock": "(unsigned)::clock64()",
    "clock_hi": "(unsigned)(::clock64() >> 32)",
    "clock64": "(unsigned long long)::clock64()",
    "globaltimer": "::__globaltimer()",
    "globaltimer_lo": "(unsigned)::__globaltimer()",
    "globaltimer_hi": "(unsigned)(::__globaltimer() >> 32)",
    "WARP_SZ": "(unsigned)warpSize",
    **{f"lanemask_{m}": f"(unsigned)::__lanemask_{m}()"
       for m in ("eq", "lt", "le", "gt", "ge")},
    **{f"{name}.{axis}": f"{ours}.{axis}" for axis in "xyz"
       for name, ours in (("tid", "::threadIdx"), ("ntid", "::blockDim"),
                          ("ctaid", "::blockIdx"), ("nctaid", "::gridDim"))},
}
ATOMICS = {"add": "Add", "min": "Min", "max": "Max", "exch": "Exch",
           "and": "And", "or": "Or", "xor": "Xor", "inc": "Inc", "dec": "Dec",
           "cas": "CAS"}
UNARY = {
    ("ex2", "f32"): "__exp2f", ("lg2", "f32"): "__log2f",
    ("sin", "f32"): "__sinf", ("cos", "f32"): "__cosf",
    ("tanh", "f32"): "tanhf", ("rsqrt", "f32"): "rsqrtf",
    ("rsqrt", "f64"): "rsqrt", ("popc", "b32"): "__popc",
    ("popc", "b64"): "__popcll", ("clz", "b32"): "__clz",
    ("clz", "b64"): "__clzll", ("brev", "b32"): "__brev",
    ("brev", "b64"): "__brevll",
}
SIMPLE = { # without operands
    r"membar\.(cta)": "__threadfence_block()",
    r"membar\.(gl)": "__threadfence()",
    r"membar\.(sys)": "__threadfence_system()",
    r"fence(\.\w+)?\.cta": "__threadfence_block()",
    r"fence(\.\w+)?\.(gpu|cluster)": "__threadfence()",
    r"fence(\.\w+)?\.sys": "__threadfence_system()",
    r"fence\.proxy\..*": "__threadfence()",
    r"griddepcontrol\.(wait|launch_dependents)": "(void)0",
    r"cp\.async\.(commit_group|wait_all)": "__mc_ptx_copied()",
    r"exit": "__mc_ptx_exit()", r"trap": "__trap()",
    r"brkpt": "__brkpt()",
}
# hints that change no result
HINTS = re.compile(r"nc|ca|cg|cs|lu|cv|wb|wt|weak|volatile|relaxed|gpu|cta|sys"
                   r"|L[12]::\w+|acquire|release|sys")


class Unknown(Exception):
    """No such instruction here."""


def split(parts, *sets):
    """The parts that sets name, in this order; nothing may be left."""
    found, rest = [], list(parts)
    for one in sets:
        hit = next((p for p in rest if p in one), None)
        if hit:
            rest.remove(hit)
        found.append(hit)
    if rest:
        raise Unknown
    return found


class Instruction:
    """One statement. o: its operands, which know get(type) and put(value)."""

    def __init__(self, opcode, operands):
        self.name, *self.parts = opcode.split(".")
        self.o = operands
        self.kind = self.parts[-1] if self.parts else ""

    def need(self, count):
        if len(self.o) != count:
            raise Unknown

    def get(self, i, kind=None):
        return self.o[i].get(kind or self.kind)

    def put(self, value, kind=None):
        return self.o[0].put(f"({C_TYPES[kind or self.kind]})({value})")

    def typed(self):
        if self.kind not in C_TYPES:
            raise Unknown
        self.parts.pop()

    def floating(self):
        return self.kind in ("f32", "f64")

    def rounding(self):
        """The mode, beside flushing, which nothing here does."""
        mode, _, _ = split(self.parts, ("rn", "rz", "rp", "rm", "approx"),
                           ("ftz",), ("full",))
        return {"rp": "ru", "rm": "rd", "rz": "rz"}.get(mode, "rn")

    # ---- arithmetic

    def binary(self):
        self.need(3)
        self.typed()
        carry_in = self.name in ("addc", "subc")
        name = self.name[:3]
        if carry_in or "cc" in self.parts:
            split(self.parts, ("cc",))
            return (f"{{ auto s = __mc_ptx_{name}("
                    f"{self.get(1)}, {self.get(2)}, "
                    f"{'__mc_cc' if carry_in else '0'}, &__mc_cc); "
                    + self.put("s") + "}")
        if self.floating() and name != "rem":
            letter = "f" if self.kind == "f32" else "d"
            mode = self.rounding()
            return self.put(f"__{letter}{name}_{mode}"
                            f"({self.get(1)}, {self.get(2)})")
        split(self.parts)
        return self.put(f"{self.get(1)} {OPERATORS[name]} {self.get(2)}")

    def logic(self):
        self.need(3)
        self.typed()
        split(self.parts)
        return self.put(f"{self.get(1)} {OPERATORS[self.name]} {self.get(2)}")

    def product(self):
        """mul, mad, fma, with a third factor to add."""
        self.typed()
        adds = self.name != "mul"
        self.need(4 if adds else 3)
        a, b = self.get(1), self.get(2)
        if self.floating():
            letter = "f" if self.kind == "f32" else "d"
            mode = self.rounding()
            if not adds:
                return self.put(f"__{letter}mul_{mode}({a}, {b})")
            name = "__fmaf" if self.kind == "f32" else "__fma"
            return self.put(f"{name}_{mode}({a}, {b}, {self.get(3)})")
        part, carry = split(self.parts, ("lo", "hi", "wide"), ("cc",))
        carry_in = self.name == "madc"
        kind = self.kind
        if part == "wide":
            kind = WIDER.get(kind)
            if not kind or carry or carry_in:
                raise Unknown
            value = f"({C_TYPES[kind]}){a} * {b}"
        elif part == "hi":
            value = f"__mc_ptx_high({a}, {b})"
        else:
            value = f"({C_TYPES[kind]})({a} * {b})"
        if carry or carry_in:
            return (f"{{ auto s = __mc_ptx_add(({C_TYPES[kind]})({value}), "
                    f"{self.get(3)}, {'__mc_cc' if carry_in else '0'}, "
                    "&__mc_cc); " + self.put("s") + "}")
        if adds:
            value = f"({value}) + {self.get(3, kind)}"
        return self.put(value, kind)

    def quotient(self):
        self.need(3)
        self.typed()
        if self.floating():
            letter = "f" if self.kind == "f32" else "d"
            return self.put(f"__{letter}div_{self.rounding()}"
                            f"({self.get(1)}, {self.get(2)})")
        split(self.parts)
        return self.put(f"{self.get(1)} / {self.get(2)}")

    def root(self):
        """sqrt and rcp."""
        self.need(2)
        self.typed()
        if not self.floating():
            raise Unknown
        letter = "f" if self.kind == "f32" else "d"
        return self.put(f"__{letter}{self.name}_{self.rounding()}"
                        f"({self.get(1)})")

    def extreme(self):
        self.need(3)
        self.typed()
        split(self.parts, ("ftz",))
        name = f"f{self.name}{'f' if self.kind == 'f32' else ''}" \
            if self.floating() else self.name
        return self.put(f"::{name}({self.get(1)}, {self.get(2)})")

    def unary(self):
        self.need(2)
        self.typed()
        function = UNARY.get((self.name, self.kind))
        if function:
            split(self.parts, ("approx",), ("ftz",))
            return self.o[0].put(f"{function}({self.get(1)})")
        split(self.parts, ("ftz",))
        a = self.get(1)
        if self.name == "abs":
            return self.put(f"({a} < 0 ? -{a} : {a})")
        if self.kind == "pred":
            return self.put(f"!{a}")
        return self.put(f"{'-' if self.name == 'neg' else '~'}{a}")

    def shift(self):
        self.need(3)
        self.typed()
        split(self.parts)
        return self.put(f"__mc_ptx_{self.name}({self.get(1)}, "
                        f"{self.get(2, 'u32')})")

    def video(self):
        """vadd.u32.u32.u32.add d, a, b, c, vshl.u32.u32.u32.clamp d, a, b: of
        whole words, the result then put to c."""
        join = self.parts.pop() if len(self.parts) > 3 and \
            self.kind in ("add", "min", "max") else None
        self.need(4 if join else 3)
        to, left, right = (self.parts + ["", "", ""])[:3]
        if not {to, left, right} <= {"u32", "s32"}:
            raise Unknown
        a, b = self.get(1, left), self.get(2, right)
        if self.name in ("vshl", "vshr"):
            mode, = split(self.parts[3:], ("clamp", "wrap"))
            if not mode or right != "u32":
                raise Unknown
            value = (f"__mc_ptx_{self.name[1:]}({a}, "
                     f"{b}{' & 31u' if mode == 'wrap' else ''})")
        else:
            split(self.parts[3:])
            value = f"((unsigned){a} {OPERATORS[self.name[1:]]} (unsigned){b})"
        value = f"({C_TYPES[to]}){value}"
        if join == "add":
            value = f"{value} + {self.get(3, to)}"
        elif join:
            value = f"::{join}({value}, {self.get(3, to)})"
        return self.put(value, to)

    def funnel(self):
        """shf.l.wrap.b32 d, lo, hi, n"""
        self.need(4)
        self.typed()
        way, mode = split(self.parts, ("l", "r"), ("wrap", "clamp"))
        if self.kind != "b32" or not way:
            raise Unknown
        return self.put(f"__funnelshift_{way}{'c' if mode == 'clamp' else ''}"
                        f"({self.get(1)}, {self.get(2)}, {self.get(3)})")

    def bits(self):
        """bfe, bfi, bfind, prmt, lop3, sad, dp4a."""
        if self.name == "dp4a":
            self.need(4)
            if self.parts not in (["u32", "u32"], ["s32", "s32"]):
                raise Unknown
            return self.put("__dp4a(" + ", ".join(
                self.get(i) for i in (1, 2, 3)) + ")")
        self.typed()
        amount, = split(self.parts, ("shiftamt",))
        counts = {"bfe": 4, "bfi": 5, "bfind": 2, "prmt": 4, "lop3": 5,
                  "sad": 4}
        self.need(counts[self.name])
        kinds = ["u32" if self.name in ("bfe", "bfi") and
                 i >= counts[self.name] - 2 else self.kind
                 for i in range(len(self.o))]
        args = ", ".join(self.get(i, kinds[i]) for i in range(1, len(self.o)))
        if self.name == "bfind":
            return self.o[0].put(f"__mc_ptx_bfind({args}, "
                                 f"{'true' if amount else 'false'})")
        if self.name == "prmt":
            return self.put(f"__byte_perm({args})")
        return self.put(f"__mc_ptx_{self.name}({args})")

    # ---- moves, comparisons, conversions

    def move(self):
        self.need(2)
        self.typed()
        split(self.parts)
        halves = {"b32": "b16", "b64": "b32"}.get(self.kind)
        if self.o[0].vector or self.o[1].vector:
            if not halves:
                raise Unknown
            half, bits = C_TYPES[halves], 16 if halves == "b16" else 32
            if self.o[0].vector:
                low, high = self.o[0].vector
                return (f"{{ auto v = {self.get(1)}; "
                        + low.put(f"({half})v")
                        + high.put(f"({half})(v >> {bits})") + "}")
            low, high = self.o[1].vector
            return self.put(f"({C_TYPES[self.kind]}){low.get(halves)} | "
                            f"({C_TYPES[self.kind]}){high.get(halves)} << "
                            f"{bits}")
        return self.put(self.get(1))

    def set_predicate(self):
        """setp.lt.s32 p, a, b; setp.lt.and.s32 p|q, a, b, c"""
        self.typed()
        a, b, table = self.get(1), self.get(2), COMPARE
        if self.kind in ("f16", "bf16"):
            element = "_Float16" if self.kind == "f16" else "__bf16"
            a, b = (f"__mc_ptx_of_half<{element}>({v})" for v in (a, b))
        if self.kind in ("f32", "f64", "f16", "bf16"):
            table = COMPARE_REAL
        compare, join, _ = split(self.parts, table, ("and", "or", "xor"),
                                 ("ftz",))
        self.need(4 if join else 3)
        if not compare:
            raise Unknown
        value = "(" + table[compare].format(a, b) + ")"
        if not join:
            return self.o[0].put_pair(value, f"!{value}")
        rest = f"{OPERATORS[join]} {self.get(3, 'pred')}"
        return self.o[0].put_pair(f"bool({value} {rest})",
                                  f"bool(!{value} {rest})")

    def space_of(self):
        """isspacep.shared p, a"""
        self.need(2)
        names = {"shared": "__isShared", "global": "__isGlobal",
                 "local": "__isLocal"}
        if self.kind not in names:
            raise Unknown
        return self.o[0].put(f"{names[self.kind]}((const void *)"
                             f"{self.get(1, 'u64')}) != 0")

    def hint(self):
        """discard, applypriority: of caches that there are not."""
        if not self.o:
            raise Unknown
        return f"(void){self.o[0].address(None)};"

    def select(self):
        self.need(4)
        self.typed()
        return self.put(f"{self.get(3, 'pred')} ? {self.get(1)} : "
                        f"{self.get(2)}")

    def convert(self):
        """Between integers; to and from float in the usual modes."""
        self.need(2)
        kinds = [p for p in self.parts if p in C_TYPES]
        if len(kinds) != 2:
            raise Unknown
        to, come = kinds
        mode, _ = split([p for p in self.parts if p not in C_TYPES],
                        ("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"),
                        ("ftz",))
        mode = {"rm": "rd", "rp": "ru"}.get((mode or "")[:2], (mode or "")[:2])
        names = {"s32": "int", "u32": "uint", "s64": "ll", "u64": "ull",
                 "f32": "float", "f64": "double"}
        a = self.o[1].get(come)
        if to[0] != "f" and come[0] != "f" or not mode:
            return self.put(a, to)
        if to not in names or come not in names or to == come:
            raise Unknown
        if to == "f64" and come in ("s32", "u32"):
            mode = "rn"
        return self.put(f"__{names[come]}2{names[to]}_{mode}({a})", to)

    @staticmethod
    def refuse():
        raise Unknown

    # ---- memory

    def space(self):
        kinds = ("global", "shared", "local", "const", "param")
        found = [p for p in self.parts if p in kinds or
                 p.startswith("shared::")]
        for p in found:
            self.parts.remove(p)
        if len(found) > 1 or found in (["param"], ["local"]):
            raise Unknown
        return found[0] if found else None

    def memory(self):
        """ld and st of one value, or of two or four."""
        self.need(2)
        self.typed()
        space = self.space()
        vector, = split([p for p in self.parts if not HINTS.fullmatch(p)],
                        ("v2", "v4"))
        order = "__mc_ptx_order();" if {"acquire", "release"} & set(
            self.parts) else ""
        where, value = (self.o[1], self.o[0]) if self.name != "st" else \
            (self.o[0], self.o[1])
        items = value.vector if vector else [value]
        if not items or len(items) != int((vector or "v1")[1]):
            raise Unknown
        kind = C_TYPES[self.kind]
        live = "volatile " if {"volatile", "relaxed", "cv"} & set(
            self.parts) else ""
        text = f"{{ auto p = ({live}{kind} *){where.address(space)}; "
        if self.name == "st":
            text += "".join(f"p[{i}] = {item.get(self.kind)}; "
                            for i, item in enumerate(items))
        else: # all before the first is stored: it may be in the address
            text += "".join(f"{kind} v{i} = p[{i}]; "
                            for i in range(len(items)))
            text += "".join(item.put(f"v{i}") for i, item in enumerate(items))
        return order + text + "}" + order

    def atomic(self):
        """atom d, [a], b (, c), and red, without d."""
        self.typed()
        space = self.space()
        op, = split([p for p in self.parts if p not in (
            "relaxed", "gpu", "cta", "sys", "noftz")], ATOMICS)
        first = 0 if self.name == "red" else 1
        if not op or len(self.o) - first != (3 if op == "cas" else 2):
            raise Unknown
        kind = C_TYPES[self.kind]
        call = (f"atomic{ATOMICS[op]}(({kind} *)"
                f"{self.o[first].address(space)}, "
                + ", ".join(self.get(i)
                            for i in range(first + 1, len(self.o))) + ")")
        return self.put(call) if first else f"(void){call};"

    def address(self):
        """cvta, between a window and everything; prefetches do nothing."""
        if self.name.startswith("prefetch"):
            self.need(1)
            return f"(void){self.o[0].address(None)};"
        self.need(2)
        self.typed()
        space = self.space()
        to, = split(self.parts, ("to",))
        if space and space.startswith("shared"):
            a = self.o[1].get("u64")
            return self.put(f"__cvta_generic_to_shared((void *){a})" if to else
                            f"(unsigned long)__cvta_shared_to_generic({a})")
        return self.put(self.get(1))

    # ---- warps and blocks

    def barrier(self):
        name = ".".join([self.name, *self.parts])
        name = re.sub(r"\.(aligned|cta)", "", name)
        if name in ("bar.warp.sync",):
            self.need(1)
            return f"__syncwarp({self.get(0, 'b32')});"
        action = name.partition(".")[2]
        if action.startswith("red."):
            return self.block_vote(action.split(".")[1:])
        if action not in ("sync", "arrive") or not 1 <= len(self.o) <= 2:
            raise Unknown
        args = ", ".join(self.get(i, "u32") for i in range(len(self.o)))
        count = "_count" if len(self.o) == 2 else ""
        if action == "sync" and args == "0u":
            return "__syncthreads();"
        return f"__barrier_{action}{count}({args});"

    def block_vote(self, parts):
        """bar.red.popc.u32 d, 0, p"""
        names = {("popc", "u32"): "count", ("and", "pred"): "and",
                 ("or", "pred"): "or"}
        self.need(3)
        if tuple(parts) not in names or self.get(1, "u32") != "0u":
            raise Unknown
        return self.o[0].put(f"__syncthreads_{names[tuple(parts)]}"
                             f"({self.get(2, 'pred')})")

    def warp(self):
        """activemask, shfl, vote, match, redux: with masks of 32 bits."""
        if self.name == "activemask":
            self.need(1)
            return self.o[0].put("(unsigned)__activemask()")
        self.typed()
        mode = [p for p in self.parts if p != "sync"]
        if "sync" in self.parts:
            mask = self.get(len(self.o) - 1, "b32")
        elif self.name in ("shfl", "vote"): # those that run it together
            mask = "(unsigned)__activemask()"
            self.o = [*self.o, None]
        else:
            raise Unknown
        if self.name == "shfl" and len(self.o) == 5 and len(mode) == 1:
            return self.o[0].put_both(
                f"__mc_ptx_shfl_{mode[0]}({self.get(1)}, "
                f"{self.get(2, 'u32')}, {self.get(3, 'u32')}, {mask}, &ok)")
        if self.name == "vote" and len(self.o) == 3 and mode in (
                ["any"], ["all"], ["uni"], ["ballot"]):
            return self.o[0].put(f"__{mode[0]}_sync({mask}, "
                                 f"{self.get(1, 'pred')})")
        if self.name == "match" and len(self.o) == 3 and mode == ["any"]:
            return self.o[0].put(f"__match_any_sync({mask}, {self.get(1)})")
        if self.name == "redux" and len(self.o) == 3 and len(mode) == 1 and \
                mode[0] in ("add", "min", "max", "and", "or", "xor"):
            return self.put(f"__reduce_{mode[0]}_sync({mask}, {self.get(1)})")
        raise Unknown

    def sleep(self):
        self.need(1)
        return f"__nanosleep({self.get(0, 'u32')});"


TABLE = {
    **dict.fromkeys(("add", "sub", "addc", "subc", "rem"),
                    Instruction.binary),
    **dict.fromkeys(("and", "or", "xor"), Instruction.logic),
    **dict.fromkeys(("mul", "mad", "madc", "fma"), Instruction.product),
    "div": Instruction.quotient, "sqrt": Instruction.root,
    "rcp": Instruction.root, "min": Instruction.extreme,
    "max": Instruction.extreme,
    **dict.fromkeys(("neg", "abs", "not", "ex2", "lg2", "sin", "cos", "tanh",
                     "rsqrt", "popc", "clz", "brev"), Instruction.unary),
    "shl": Instruction.shift, "shr": Instruction.shift,
    "shf": Instruction.funnel,
    **dict.fromkeys(("vadd", "vsub", "vshl", "vshr"), Instruction.video),
    **dict.fromkeys(("bfe", "bfi", "bfind", "prmt", "lop3", "sad", "dp4a"),
                    Instruction.bits),
    "isspacep": Instruction.space_of, "discard": Instruction.hint,
    "applypriority": Instruction.hint,
    "mov": Instruction.move, "setp": Instruction.set_predicate,
    "selp": Instruction.select, "cvt": Instruction.convert,
    **dict.fromkeys(("ld", "ldu", "st"), Instruction.memory),
    "atom": Instruction.atomic, "red": Instruction.atomic,
    **dict.fromkeys(("cvta", "prefetch", "prefetchu"), Instruction.address),
    "bar": Instruction.barrier, "barrier": Instruction.barrier,
    **dict.fromkeys(("activemask", "shfl", "vote", "match", "redux"),
                    Instruction.warp),
    "nanosleep": Instruction.sleep,
}


def translate(opcode, operands):
    if not operands:
        for pattern, text in SIMPLE.items():
            if re.fullmatch(pattern, opcode):
                return text + ";"
    rule = TABLE.get(opcode.partition(".")[0])
    if not rule:
        raise Unknown
    return rule(Instruction(opcode, operands))
