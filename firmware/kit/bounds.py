# SPDX-License-Identifier: MIT
"""The most instructions that a function of the linked firmware can take, by the
longest way through its code.

Ways are those of the disassembly: branches, the tables of switches, calls. A loop
is run as often as loops.txt says, which names it by its line of source; one that
is not there has no bound, and is an error. Functions that may be under way more
than once have their bound in recursion.txt. A call through a register goes to
what the caller of this says, one function for each place, in the order of the
code."""
import os
import re
import subprocess

import analyse

HERE = os.path.dirname(os.path.abspath(__file__))
SYMBOLIZER = os.environ.get("MXGPU_SYMBOLIZER", "llvm-symbolizer-19")
LOOP = re.compile(r"\b(for|while|do)\b")
TEXT = re.compile(rb"[\n\x20-\x7e]+")
# Functions that call through a register, and whose addresses those are.
TABLES = {"unit_end": "unit_info"}
LOADED = re.compile(r"li a2, (0x[0-9a-f]+|\d+)$")
BEFORE = 8         # instructions in front of a call that may set an argument
ENDS = ("ret", "mret", "ebreak", "unimp")


class Instruction:
    """next: the addresses that may follow in the function; call: a function's
    name; through: it is called through a register."""

    def __init__(self):
        self.next, self.call, self.through = [], None, False


class Code:
    """Instructions of each function, {address: Instruction} in order."""

    def __init__(self, path):
        self.path, self.elf = path, analyse.Elf(path)
        self.functions, self.words = {}, set(self.elf.words())
        self.lines = {}
        lines, name = [], None
        for line in self.disassembly():
            head = analyse.FUNCTION.match(line)
            m = analyse.INSTRUCTION.match(line)
            if head:
                self.add(name, lines)
                name, lines = head[2], []
            elif m and name:
                lines.append((int(m[1], 16), m[2], m[3].strip()))
        self.add(name, lines)

    def disassembly(self):
        return subprocess.run(
            [analyse.OBJDUMP, "-d", "--no-show-raw-insn", self.path],
            check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()

    def add(self, name, lines):
        if not lines:
            return
        self.lines[name] = lines
        begin, last = lines[0][0], lines[-1][0]
        found = self.functions[name] = {}
        for i, (at, what, rest) in enumerate(lines):
            one = found[at] = Instruction()
            follows = [lines[i + 1][0]] if i + 1 < len(lines) else []
            target = re.search(r"(0x[0-9a-f]+) <([^>+]+)(\+0x[0-9a-f]+)?>",
                               rest)
            if what in ENDS or (what == "jr" and rest == "ra"):
                continue
            if what == "jr" and not target:
                one.next = sorted(w for w in self.words if begin <= w <= last)
                if not one.next:
                    one.through = True  # a call is the last that it does
            elif what in ("jal", "jalr"):
                one.next = follows
                one.through = not target
                one.call = target and target[2]
            elif what in ("j", "jr") or what.startswith("b"):
                to = int(target[1], 16)
                if begin <= to <= last:
                    one.next = [to]
                else:
                    one.call = target[2]
                if what.startswith("b"):
                    one.next = one.next + follows
            else:
                one.next = follows


    def table(self, name):
        """Functions whose addresses an object holds."""
        value, _, size = self.elf.symbols.get(name, (0, 0, 0))
        starts = {v: n for n, (v, kind, _) in self.elf.symbols.items()
                  if kind == analyse.STT_FUNC}
        return [starts[w] for w in self.elf.words_at(value, size // 4)
                if w in starts]

    def text(self):
        """The longest text that the data may hold."""
        return max(len(t) for t in TEXT.findall(self.elf.bytes()))

    def constant(self, callee):
        """The largest of the constants that calls of a function have as their
        third argument; each must be set right in front of it."""
        most = 0
        for name, lines in self.lines.items():
            for i, (_, what, rest) in enumerate(lines):
                if f"<{callee}>" not in rest or what not in ("jal", "jalr"):
                    continue
                found = [LOADED.match(f"{w} {r}") for _, w, r in
                         lines[max(i - BEFORE, 0):i]]
                found = [int(m[1], 0) for m in found if m]
                if not found:
                    raise ValueError(f"{name} calls {callee} with a length that "
                                     "is not known")
                most = max(most, found[-1])
        return most


class Sources:
    """Where instructions are from: [(function, file, line)], the outermost
    first."""

    def __init__(self, path):
        self.path, self.known, self.texts = path, {}, {}

    def of(self, addresses):
        missing = [a for a in addresses if a not in self.known]
        if missing:
            text = subprocess.run(
                [SYMBOLIZER, f"--obj={self.path}", "--functions=linkage"],
                input="".join(f"{a:#x}\n" for a in missing), check=True,
                text=True, stdout=subprocess.PIPE).stdout
            for at, part in zip(missing, text.split("\n\n")):
                rows = part.strip().split("\n")
                frames = [(name, *place.rsplit(":", 2)[:2])
                          for name, place in zip(rows[::2], rows[1::2])]
                self.known[at] = frames[::-1]
        return [self.known[a] for a in addresses]

    def function(self, addresses):
        """The one that all are in."""
        name, = {s[0][0] for s in self.of(sorted(addresses)) if s}
        return name

    def line(self, path, number):
        if path not in self.texts:
            with open(path, encoding="utf-8") as f:
                self.texts[path] = f.read().split("\n")
        return self.texts[path][number - 1].strip()

    def loop(self, addresses):
        """(file, text) of the statement: the first line with a loop of those
        that the instructions have in the innermost function they share."""
        stacks = [s for s in self.of(sorted(addresses)) if s]
        depth = 0
        while all(len(s) > depth + 1 for s in stacks) and \
                len({(s[depth], s[depth + 1][0]) for s in stacks}) == 1:
            depth += 1
        lines = sorted({(s[depth][1], int(s[depth][2])) for s in stacks
                        if s[depth][2].isdecimal() and int(s[depth][2])})
        for path, number in lines:
            text = self.line(path, number)
            if LOOP.search(text):
                return os.path.basename(path), text
        path, number = lines[0]
        return os.path.basename(path), self.line(path, number)


def components(nodes, follow):
    """Strongly connected parts of a graph, what comes last first."""
    number, low, stack, inside, out = {}, {}, [], set(), []
    for root in nodes:
        if root in number:
            continue
        work = [(root, iter(follow(root)))]
        number[root] = low[root] = len(number)
        stack.append(root)
        inside.add(root)
        while work:
            node, rest = work[-1]
            for to in rest:
                if to not in number:
                    number[to] = low[to] = len(number)
                    stack.append(to)
                    inside.add(to)
                    work.append((to, iter(follow(to))))
                    break
                if to in inside:
                    low[node] = min(low[node], number[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    part = set()
                    while node not in part:
                        part.add(stack.pop())
                    inside -= part
                    out.append(part)
    return out


class Bounds:
    """loops: {(file, statement): times}; recursion: {function: times}."""

    def __init__(self, path, loops, recursion, apart=()):
        self.apart = set(apart)  # what these do is not counted
        self.code, self.sources = Code(path), Sources(path)
        self.loops, self.recursion = loops, recursion
        self.unknown, self.used = set(), set()
        self.known = {}

    def of(self, name, through=()):
        """Instructions of one call; through: functions that are called through
        a register, by the places in the order of its code."""
        places = sorted(at for at, one in self.code.functions[name].items()
                        if one.through and name not in TABLES)
        if len(places) != len(through):
            raise ValueError(f"{name} calls through a register at "
                             f"{len(places)} places, not {len(through)}")
        return self.function(name, (), dict(zip(places, through)))[0]

    def function(self, name, above, through):
        """(instructions, whether a bound of recursion cut it short)"""
        if name in self.known:
            return self.known[name], False
        if above.count(name) >= self.recursion.get(name, 1):
            if name not in self.recursion:
                self.unknown.add(f"{name} calls itself")
            return 0, True
        code, cut, weight = self.code.functions[name], False, {}
        for at, one in code.items():
            weight[at] = 1
            costs = [self.function(callee, above + (name,), {})
                     for callee in self.callees(name, at, one, through)
                     if callee not in self.apart]
            weight[at] += max((c[0] for c in costs), default=0)
            cut |= any(c[1] for c in costs)
        total = self.longest(set(code), next(iter(code)), code, weight)
        if not cut and not through:
            self.known[name] = total
        return total, cut

    def callees(self, name, at, one, through):
        if not one.through:
            return [one.call] if one.call else []
        if at in through:
            return [through[at]]
        found = self.code.table(TABLES[name]) if name in TABLES else []
        if not found:
            self.unknown.add(f"{name}: a call through a register")
        return found

    def longest(self, nodes, entry, code, weight):
        """The dearest way from an entry within nodes; what leads back to it is
        not followed."""
        def follow(at):
            return [t for t in code[at].next if t in nodes and t != entry]
        best = {}
        for part in components([entry], follow):
            after = max((best[t] for at in part for t in follow(at)
                         if t not in part), default=0)
            at = next(iter(part))
            if len(part) == 1 and at not in follow(at):
                best[at] = weight[at] + after
                continue
            heads = {t for n in nodes - part if n in code for t in code[n].next
                     if t in part}
            if len(heads) != 1:
                self.unknown.add(f"a loop with {len(heads)} entries at "
                                 f"{self.sources.loop(part)}")
            head = min(heads)
            # The condition may be asked once more than the body is run.
            cost = (self.times(part) + 1) * self.longest(part, head, code,
                                                         weight)
            for n in part:
                best[n] = cost + after
        return best[entry]

    def times(self, part):
        statement = self.sources.loop(part)
        self.used.add(statement)
        if statement not in self.loops:
            self.unknown.add("a loop without a bound: " + " ".join(statement))
        times = self.loops.get(statement, 1)
        if times == "text":
            return self.code.text()
        if times == "constant":
            return self.code.constant(self.sources.function(part))
        return times


def loops_of(path):
    """{(file, statement): times}"""
    found = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                times, name, statement = line.split(None, 2)
                found[name, statement.strip()] = \
                    int(times) if times.isdecimal() else times
    return found


def commands(code):
    """{command: (check, start)} by the linked table of commands."""
    found = {}
    for name, (_, kind, _) in code.elf.symbols.items():
        if name.startswith("cmd_") and kind != analyse.STT_FUNC:
            calls = code.table(name)
            if len(calls) == 2:
                found[name[4:]] = tuple(calls)
    return found


APART = ("profile_current", "queue_fail")
SERVE = "serve_packet"  # calls a command's check, then its start


def report(path, limits):
    """Lines for people, and what is above its limit or has none. limits: {name:
    instructions}, + in front of those of functions, which are apart. Nothing of
    a program that has no commands."""
    found = commands(Code(path))
    if not found:
        return [], []
    loops = loops_of(os.path.join(HERE, "loops.txt"))
    bounds = [Bounds(path, loops, analyse.bounds_of(
        os.path.join(HERE, "recursion.txt")), apart) for apart in (APART, ())]
    rows = {name: bounds[0].of(SERVE, found[name]) for name in sorted(found)}
    for name in limits:
        if name.startswith("+"):  # what stops a queue is not apart from itself
            rows[name] = bounds[name == "+queue_fail"].of(name[1:])
    lines = [f"{name:17} at most {count:9} of {limits.get(name, '-')}"
             for name, count in rows.items()]
    errors = sorted(bounds[0].unknown | bounds[1].unknown)
    for name, count in rows.items():
        if name not in limits:
            errors.append(f"{name} has no limit in bounds.txt")
        elif count > limits[name]:
            errors.append(f"{name} may take {count} instructions, its limit is "
                          f"{limits[name]}")
    unused = set(loops) - bounds[0].used - bounds[1].used
    errors += [f"loops.txt: no such loop is met: {' '.join(u)}"
               for u in sorted(unused)]
    return ["instructions, whatever happens:"] + lines, errors
