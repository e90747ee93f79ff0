# SPDX-License-Identifier: MIT
"""Links programs, libraries, and the device code of their objects.

Objects of relocatable device code are linked to one image, which is optimised
and described as a whole. Of a static library those members take part whose host
code the program takes, and those that define what other device code needs.
"""
import os
import re
import sys

from driver import objects
from driver.compile import dependency_names
from driver.report import Failure


class LinkOptions:
    """Of the device link: the command line's, or what the objects were
    compiled with."""

    def __init__(self, command, parts):
        flags = 0
        for part in parts:
            flags |= part.flags
        self.debug = command.debug or flags & objects.RDC_DEBUG
        self.lineinfo = command.lineinfo or flags & objects.RDC_LINES
        self.usage, self.llvm = command.usage, command.llvm
        levels = {part.level for part in parts}
        if command.opt is None and command.device_opt is None and \
                len(levels) == 1 and "" not in levels:
            self.level = levels.pop()
        else:
            self.level = command.opt_level()

    def opt_level(self):
        return self.level


class Linker:
    def __init__(self, command, install, processes, compiler):
        self.cmd, self.install = command, install
        self.processes, self.compiler = processes, compiler

    # The host's side

    def arguments(self):
        """Of clang, for sources of the host and for linking."""
        argv = [self.install.clang, "-Qunused-arguments"]
        folders = self.install.include + sum(
            self.install.adaptors.values(), [])
        argv += [w for p in folders for w in ("-isystem", p)]
        if self.cmd.verbose and not self.cmd.dry:
            argv.append("-v") # CMake reads search paths and libraries there
        return argv + self.cmd.compile + self.cmd.host_only

    def source(self, what, flag, output, named):
        """A source without kernels; named: what -o names, or None."""
        argv = self.arguments() + dependency_names(self.cmd, what[1], named)
        argv += [flag] if flag else [] # -M is among the options
        self.processes.run(argv + ["-x", *what, "-o", output])

    def words(self, made):
        """What the linker gets, in order; made: objects of sources."""
        for kind, what in self.cmd.link:
            if kind == "maca":
                yield made[what]
            elif kind == "source":
                yield made[what[1]]
            else:
                yield what

    def program(self, made, output):
        argv = self.arguments() + list(self.words(made))
        image = self.device_object(made)
        if image:
            argv.append(image)
        self.processes.run(argv + self.ending(output))

    def ending(self, output):
        words = ["-o", output]
        if "-r" in (w for _, w in self.cmd.link):
            return words
        if self.cmd.with_runtime:
            words += self.install.libraries(any(
                kind in ("input", "source") or
                kind == "maca" and self.cmd.dialect(what) != "maca"
                for kind, what in self.cmd.link))
        return words + ["-lstdc++", "-lm"]

    def static_library(self, made, output):
        """A static library: -lib."""
        os.unlink(output) # empty, and no archive
        self.processes.run([self.install.tool("llvm-ar"), "rcsD", output,
                            *(w for w in self.words(made)
                              if not w.startswith("-"))])

    # The device's side

    def archives(self):
        """Static libraries that -l names, and where."""
        folders, found = [], []
        words = [w for k, w in self.cmd.link if k == "option"]
        for i, word in enumerate(words):
            value = word[2:] or "".join(words[i + 1:i + 2])
            if word.startswith("-L"):
                folders.append(value)
        for i, word in enumerate(words):
            value = word[2:] or "".join(words[i + 1:i + 2])
            if not word.startswith("-l"):
                continue
            names = [value[1:]] if value.startswith(":") else \
                [f"lib{value}.so", f"lib{value}.a"]
            paths = [os.path.join(f, n) for f in folders for n in names]
            path = next(filter(os.path.exists, paths), None)
            if path and objects.is_archive(path):
                found.append(path)
        return found

    def collect(self, made):
        """(parts of objects, parts of libraries, IDs that have an image)."""
        strong, lazy, linked = [], [], set()
        files = [w for w in self.words(made) if not w.startswith("-")]
        for path in dict.fromkeys(files + self.archives()):
            if objects.is_archive(path):
                for name, data in objects.archive_members(path):
                    lazy += objects.rdc_parts(data, f"{path}({name})")
                continue
            try:
                with open(path, "rb") as f:
                    data = f.read()
            except OSError as e:
                raise Failure(f"{path}: {e.strerror}") from e
            strong += objects.rdc_parts(data, path)
            if b"__mc_rdc_image_" in data:
                try:
                    linked |= {n[len("__mc_rdc_image_"):] for n, defined in
                               objects.Elf(data).symbols()
                               if defined and n.startswith("__mc_rdc_image_")}
                except ValueError:
                    pass
        return strong, lazy, linked

    def taken_members(self, made, parts):
        """Members of static libraries that the host's link takes: it is tried
        with an object that has no image yet."""
        stub = self.stub({p.ident for p in parts if p.ident}, None)
        trial = self.compiler.temp("trial", "program")
        argv = self.arguments() + list(self.words(made)) + [stub]
        status, text = self.processes.query(
            argv + self.ending(trial) + ["-Wl,--trace"],
            stdout=self.processes.PIPE)
        if status:
            sys.stderr.write("\n".join(
                line for line in text.splitlines()
                if "error" in line or "undefined" in line or ": in " in line)
                + "\n")
            raise Failure()
        taken = set()
        for line in text.splitlines():
            found = re.fullmatch(r"(.+?)\((.+)\)", line) or \
                re.fullmatch(r"\((.+?)\)(.+)", line)
            if found:
                taken.add((os.path.realpath(found[1]), found[2]))
        return taken

    def device_object(self, made):
        """The object with the image of what was compiled relocatable; None:
        nothing was, or -dlink has made it."""
        if self.cmd.dry or "-r" in (w for _, w in self.cmd.link):
            return None
        strong, lazy, linked = self.collect(made)
        if not strong and not lazy:
            return None
        if linked:
            missing = [p.where for p in strong
                       if p.ident and p.ident not in linked]
            if missing:
                raise Failure(f"{missing[0]}: its device code is not in what "
                              "-dlink made")
            return None
        if lazy and self.cmd.mode == "link":
            taken = self.taken_members(made, strong + lazy)
            for part in list(lazy):
                path, _, name = part.where[:-1].partition("(")
                if part.ident and (os.path.realpath(path), name) in taken:
                    strong.append(part)
                    lazy.remove(part)
        if not strong: # libraries of which nothing is taken
            return None
        image = self.compiler.temp("device", "device.fatbin")
        self.device_link(strong, lazy, image, "container")
        return self.stub({p.ident for p in strong + lazy if p.ident}, image)

    def device_link(self, strong, lazy, output, kind):
        files = []
        for i, part in enumerate(strong + lazy):
            name = re.sub(r"[^\w.]", "_", os.path.basename(part.where))
            path = self.compiler.temp("device", f"{i}-{name}.bc")
            with open(path, "wb") as f:
                f.write(part.bitcode)
            files += [path] if i < len(strong) else ["--lazy", path]
        options = LinkOptions(self.cmd, strong + lazy)
        status, text = self.processes.capture(
            self.compiler.link_args(files, output, kind, options))
        sys.stderr.write(text)
        if status:
            raise Failure()

    def stub(self, idents, image):
        """An object that defines image and handle of each ID."""
        lines = [".section .mc_fatbin,\"a\",@progbits", ".p2align 12"]
        lines += self.labels("__mc_rdc_image_", idents)
        lines.append(f".incbin \"{image}\"" if image else ".byte 0")
        lines += [".bss", ".p2align 3"]
        lines += self.labels("__mc_rdc_handle_", idents)
        lines += [".zero 8", ".section .note.GNU-stack,\"\",@progbits"]
        source = self.compiler.temp("device", "image.s")
        output = self.compiler.temp("device", "image.o")
        with open(source, "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        self.processes.run([self.install.clang, "-c", source, "-o", output])
        return output

    @staticmethod
    def labels(prefix, idents):
        for ident in sorted(idents):
            yield f".globl {prefix}{ident}"
            yield f".hidden {prefix}{ident}"
            yield f"{prefix}{ident}:"

    def link_only_device(self, made, output):
        """-dlink: an object with the image, or the image itself."""
        strong, lazy, _ = self.collect(made)
        kind = {"dlink-fatbin": "container", "dlink-cubin": "elf"}.get(
            self.cmd.mode)
        if not strong and not lazy:
            raise Failure("-dlink: no input has relocatable device code; -dc "
                          "compiles it")
        image = output if kind else self.compiler.temp("device",
                                                       "device.fatbin")
        # What a host's link takes is not known here: all that it can ask for.
        # Code objects have no host.
        strong += [p for p in lazy if p.ident and not kind or not strong]
        lazy = [p for p in lazy if p not in strong]
        self.device_link(strong, lazy, image, kind or "container")
        if not kind:
            stub = self.stub({p.ident for p in strong + lazy if p.ident},
                             image)
            with open(stub, "rb") as f, open(output, "wb") as to:
                to.write(f.read())
