# SPDX-License-Identifier: MIT
"""Where the pieces are that mxcc puts to work."""
import os
import shutil

from driver.report import Failure

NOT_INSTALLED = 3 # status of mxcc

PICOLIBC = "/usr/lib/picolibc/riscv64-unknown-elf/lib/release"
LIBGCC = "/usr/lib/gcc/riscv64-unknown-elf"
# Below those: the folder of our flavour, or none where it is the default one
# (Debian 13).
MULTILIBS = ("rv64imafdc/lp64d", "")


class Install:
    """Found through mxcc.conf beside the program when built, or installed."""

    def __init__(self, here, conf):
        self.include, self.lib = [], None
        self.adaptors = {"cuda": [], "hip": []} # folders of their headers
        self.adaptor_lib = None
        self.link = self.builtins = self.math = None
        if conf:
            self.read(conf)
        else:
            self.set_root(os.path.dirname(os.path.dirname(here)))
            top = os.path.dirname(here)
            self.link = os.path.join(top, "libexec/mx-kernel-link")
            self.builtins = os.path.join(top, "lib/libmcdevice.a")
            self.math = os.path.join(top, "lib/mcdevice.bc")
        self.clang = self.tool("clang")
        self.lld = self.tool("ld.lld")
        self.objcopy = self.tool("llvm-objcopy")

    def read(self, conf):
        for key, value in conf:
            if key == "include":
                self.include.append(value)
            elif key in self.adaptors:
                self.adaptors[key].append(value)
            elif key in ("lib", "link", "builtins", "math",
                         "adaptor_lib"):
                setattr(self, key, value)

    def set_root(self, root):
        if not os.path.isdir(os.path.join(root, "include", "mcr")):
            raise Failure(f"{root}: no mxgpu runtime there (include/mcr)")
        self.include = [os.path.join(root, "include")]
        self.lib = self.adaptor_lib = os.path.join(root, "lib")
        self.adaptors = {
            name: [os.path.join(root, "include", "mxgpu-" + name)]
            for name in self.adaptors}

    def libraries(self, with_adaptors):
        """What the linker gets for the runtime; with_adaptors: those of CUDA's
        and HIP's names, if something uses them."""
        words = ["-L" + self.lib, "-Wl,-rpath," + self.lib]
        there = with_adaptors and [name for name in self.adaptors if os.path.exists(os.path.join(
            self.adaptor_lib, f"libmcruntime_{name}.so"))]
        if there:
            if self.adaptor_lib != self.lib:
                words += ["-L" + self.adaptor_lib,
                          "-Wl,-rpath," + self.adaptor_lib]
            words += ["-Wl,--push-state,--as-needed",
                      *("-lmcruntime_" + name for name in there),
                      "-Wl,--pop-state"]
        if os.path.exists(self.lib + "/libmcToolsExt.so"):
            # For nvtx3, which is no library elsewhere; if it is called.
            words += ["-Wl,--push-state,--as-needed", "-lmcToolsExt",
                      "-Wl,--pop-state"]
        return words + ["-lmcruntime"]

    @staticmethod
    def tool(name):
        for path in (os.environ.get("MACA_CLANG_PATH", ""),
                     "/usr/lib/llvm-19/bin"):
            full = os.path.join(path, name)
            if path and os.access(full, os.X_OK):
                return full
        full = shutil.which(name + "-19")
        if not full:
            raise Failure(f"{name} of LLVM 19 not found; Debian has it in "
                          "clang-19, lld-19 and llvm-19", NOT_INSTALLED)
        return full

    def device_libs(self):
        found = [os.path.join(PICOLIBC, flavour) for flavour in MULTILIBS
                 if os.path.exists(os.path.join(PICOLIBC, flavour, "libm.a"))]
        folder = os.environ.get("MXCC_DEVICE_LIBS",
                                found[0] if found else PICOLIBC)
        libs = [os.path.join(folder, lib) for lib in ("libm.a", "libc.a")]
        for lib in libs:
            if not os.path.exists(lib):
                raise Failure(f"{lib} not found: the device's C library; "
                              "Debian has it in picolibc-riscv64-unknown-elf",
                              NOT_INSTALLED)
        for path in (self.builtins, self.math):
            if not os.path.exists(path):
                raise Failure(f"{path} not found", NOT_INSTALLED)
        libs.insert(0, self.builtins)
        if os.path.isdir(LIBGCC):
            for version in sorted(os.listdir(LIBGCC), reverse=True):
                paths = [os.path.join(LIBGCC, version, flavour, "libgcc.a")
                         for flavour in MULTILIBS]
                paths = list(filter(os.path.exists, paths))
                if paths:
                    return libs + paths[:1]
        return libs
