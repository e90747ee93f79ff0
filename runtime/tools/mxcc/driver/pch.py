# SPDX-License-Identifier: MIT
"""Precompiled headers: the one that comes in front of every source.

Compilations that agree in all that it depends on share a file in the folder that
-pch-dir names. One that clang does not take, because a header has changed or for
whatever reason, is made anew by the next compilation; this one goes without, so
that a program and what is said of it never depend on the file.
"""
import fcntl
import hashlib
import os

# What a source's compilation has and its headers' has not: with a value, and
# without one. (The ID is of a source; names that have it are made where they
# are used.)
PAIRS = {"-o", "-dependency-file", "-MT", "-fcuda-include-gpubinary",
         "-main-file-name", "-dumpdir"}
FLAGS = {"-sys-header-deps", "-MP", "-emit-obj", "-emit-llvm-bc", "-S",
         "-fsyntax-only"}
# Clang looks at headers of the system only if it is told to.
VALIDATE = "-fmodules-validate-system-headers"


def of_headers(args, header):
    """Arguments for all that comes before the source; None: it is no source in
    front of which that header comes."""
    out, words = [], iter(args[:-1])
    included = False
    for word in words:
        if word in PAIRS:
            next(words)
        elif word == "-x":
            if next(words) != "hip":
                return None
        elif word == "-include":
            value = next(words)
            if not included: # ours is the first; others are the source's
                out += [word, value]
                included = value == header
                if not included:
                    return None
        elif word not in FLAGS and not word.startswith("-cuid="):
            out.append(word)
    return out if included else None


class Precompiled:
    def __init__(self, processes, clang, folder):
        self.processes, self.folder = processes, folder
        stat = os.stat(clang)
        self.version = f"{stat.st_mtime_ns} {stat.st_size}"

    def make(self, args, path):
        """Writes it, unless somebody else just has."""
        os.makedirs(self.folder, exist_ok=True)
        empty = path[:-4] + ".h" # which dependencies name, too
        with open(empty, "ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.exists(path):
                return True
            made = path + ".part"
            at = args.index("-cc1") + 1
            status, _ = self.processes.capture(
                [*args[:at], "-emit-pch", VALIDATE, *args[at:], "-w", "-o",
                 made, "-x", "hip-header", empty])
            if status:
                return False
            os.replace(made, path)
            return True

    def capture(self, args, header):
        """Runs a compilation with it, if that can be; status and messages."""
        headers = of_headers(args, header)
        if headers:
            key = "\0".join([self.version, os.getcwd(), *headers])
            name = hashlib.sha256(key.encode("utf-8", "surrogateescape"))
            path = os.path.join(self.folder, f"{name.hexdigest()[:32]}.pch")
            if os.path.exists(path) or self.make(headers, path):
                at = args.index("-include")
                status, text = self.processes.capture(
                    [*args[:at], "-include-pch", path, VALIDATE,
                     *args[at + 2:]])
                if not status:
                    return status, text
                status, text = self.processes.capture(args)
                if not status:
                    self.drop(path)
                return status, text
        return self.processes.capture(args)

    @staticmethod
    def drop(path):
        try:
            os.unlink(path)
        except OSError: # somebody else has
            pass
