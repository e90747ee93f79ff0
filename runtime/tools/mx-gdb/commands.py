# SPDX-License-Identifier: MIT
"""Commands for gdb on kernels: blocks, warps and lanes by their numbers in the
grid. Each lane is a thread of gdb, whose name says which one. And the symbols
of kernels in a virtual machine, whose files gdb cannot open."""
import os
import re
import sys
import tempfile

import gdb

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from images import images  # noqa: E402

NAME = re.compile(r"block \((\d+),(\d+),(\d+)\) thread \((\d+),(\d+),(\d+)\)")


def lanes():
    """(unit, block, thread, thread of gdb) of what is resident."""
    for t in gdb.selected_inferior().threads():
        m = NAME.match(t.name or "")
        if m:
            n = tuple(map(int, m.groups()))
            yield t.ptid[1] // 10000 - 1, n[:3], n[3:], t


def refresh():
    """gdb asks for the list of threads when it shows it."""
    gdb.execute("info threads 1", to_string=True)


def triple(text):
    parts = text.strip("()").split(",")
    if not 1 <= len(parts) <= 3 or not all(p.isdigit() for p in parts):
        raise gdb.GdbError(f"{text}: a block or thread is X, X,Y or X,Y,Z")
    return tuple(int(p) for p in parts + ["0"] * (3 - len(parts)))


class Blocks(gdb.Command):
    """Resident blocks: unit, block, how many of its threads have not ended;
the one that gdb looks at has a star."""

    def __init__(self):
        super().__init__("info mx-blocks", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        refresh()
        here = gdb.selected_thread()
        found = {}
        for unit, block, _, thread in lanes():
            entry = found.setdefault((unit, block), [0, False])
            entry[0] += 1
            entry[1] |= here is not None and thread.num == here.num
        print("  unit  block          threads")
        for (unit, block), (count, current) in sorted(found.items()):
            name = ",".join(map(str, block))
            print(f"{'*' if current else ' '} {unit:4}  {name:14} {count}")
        if not found:
            print("no kernel runs")


class Warps(gdb.Command):
    """Resident warps: where the groups of their lanes are, and what they
wait for."""

    def __init__(self):
        super().__init__("info mx-warps", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        text = gdb.execute("monitor warps", to_string=True)
        for line in text.splitlines():
            m = re.search(r"pc (0x[0-9a-f]+)", line)
            print(line + (self.where(int(m[1], 16)) if m else ""))

    @staticmethod
    def where(pc):
        line = gdb.find_pc_line(pc)
        if not line.symtab:
            return ""
        name = line.symtab.filename.rsplit("/", 1)[-1]
        return f" {name}:{line.line}"


class Lane(gdb.Command):
    """mx-lane BLOCK THREAD: looks at that thread of that block; each is X, X,Y
or X,Y,Z. mx-lane THREAD: of the block that gdb looks at."""

    def __init__(self):
        super().__init__("mx-lane", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        refresh()
        if len(words) == 1:
            m = NAME.match(getattr(gdb.selected_thread(), "name", "") or "")
            if not m:
                raise gdb.GdbError("no kernel runs")
            block = tuple(map(int, m.groups()[:3]))
        elif len(words) == 2:
            block = triple(words[0])
        else:
            raise gdb.GdbError("mx-lane [BLOCK] THREAD")
        thread = triple(words[-1])
        for _, b, t, of_gdb in lanes():
            if b == block and t == thread:
                gdb.execute(f"thread {of_gdb.num}")
                return
        raise gdb.GdbError("that thread is not resident, or has ended")


class Symbols(gdb.Command):
    """mx-symbols PROGRAM...: symbols of the kernels in these programs, libraries
or images, once one of their kernels is where gdb looks at. Until then gdb stops
at the first instruction of each dispatch. Without a program: what is awaited,
and what was found."""

    def __init__(self):
        super().__init__("mx-symbols", gdb.COMMAND_FILES,
                         gdb.COMPLETE_FILENAME)
        self.folder = None   # of the images' files
        self.awaited = []    # (program, image)
        self.found = []      # (program, file, offset)
        gdb.events.stop.connect(self.stopped)

    def invoke(self, argument, from_tty):
        names = gdb.string_to_argv(argument)
        for name in names:
            self.add(os.path.expanduser(name))
        if names:
            self.look()
            if self.awaited:
                gdb.execute("monitor launch on", to_string=True)
        else:
            self.show()

    def add(self, name):
        try:
            with open(name, "rb") as f:
                found, wrong = images(f.read())
        except OSError as e:
            raise gdb.GdbError(f"{name}: {e.strerror}") from None
        if not found:
            why = ": " + wrong[-1] if wrong else ""
            raise gdb.GdbError(f"{name}: no kernels in it{why}")
        self.awaited += [(name, image) for image in found]

    def show(self):
        for name, _, offset in self.found:
            print(f"{name}: kernels are {offset:#x} from where they were linked")
        for name, _ in self.awaited:
            print(f"{name}: not seen yet")

    def stopped(self, event):
        if self.awaited:
            self.look()

    def look(self):
        """What of the awaited the selected lane executes."""
        inferior = gdb.selected_inferior()

        def read(address, size):
            try:
                return bytes(inferior.read_memory(address, size))
            except (gdb.MemoryError, OverflowError):
                return b""

        try:
            pc = int(gdb.parse_and_eval("$pc")) & 0xffffffffffffffff
        except gdb.error:
            return  # no kernel runs
        for item in self.awaited:
            offset = item[1].find(pc, read)
            if offset is not None:
                self.awaited.remove(item)
                self.load(*item, offset)
                break
        if not self.awaited:
            gdb.execute("monitor launch off", to_string=True)

    def load(self, name, image, offset):
        if not self.folder:
            self.folder = tempfile.TemporaryDirectory(prefix="mx-gdb.")
        path = os.path.join(self.folder.name, f"kernels{len(self.found)}")
        with open(path, "wb") as f:
            f.write(image.data)
        gdb.execute(f"add-symbol-file {path} -readnow -o {offset:#x}",
                    to_string=True)
        self.found.append((name, path, offset))
        print(f"symbols of {name}")


Blocks()
Warps()
Lane()
Symbols()

# gdb ends a "finish" with a break point that other blocks may hit before, and
# a break point that is stepped over is one that lanes behind miss. So the others
# are held meanwhile, as they are in "step" and "next".
gdb.execute("""define hook-finish
set scheduler-locking on
end""", to_string=True)
gdb.execute("""define hookpost-finish
set scheduler-locking step
end""", to_string=True)
