#!/usr/bin/python3 -IS
# SPDX-License-Identifier: MIT
"""mxcc: compiles single-source programs for the device and the host.

Each source goes through clang twice, at the same time. The device pass leaves
bitcode, which mx-kernel-link makes a kernel image of; the host pass leaves an
object file with a place for the image. The image is then put there and clang's
runtime entry points get their mc* names. See docs/mxcc.md.
"""
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from threading import Thread

VERSION = "0.1.0"
DEVICE_TRIPLE = "riscv64-unknown-elf"
DEVICE_FEATURES = ("m a f d c zba zbb zicond zfh zfbfmin no-default-unroll "
                   "prefer-w-inst").split()
ARCHS = ("xcore1000", "native", "riscv64-mxgpu")
ARCH_MACRO = 1000
PICOLIBC = "/usr/lib/picolibc/riscv64-unknown-elf/lib/release"
LIBGCC = "/usr/lib/gcc/riscv64-unknown-elf"
# Below those: the folder of our flavour, or none where it is the default one
# (Debian 13).
MULTILIBS = ("rv64imafdc/lp64d", "")

# clang's names in host objects, and ours
RENAMES = {
    f"__hip{name}": f"__mc{name}"
    for name in (
        "RegisterFatBinary", "RegisterFunction", "RegisterVar",
        "UnregisterFatBinary", "PushCallConfiguration",
        "PopCallConfiguration", "_module_ctor", "_module_dtor",
        "_fatbin_wrapper", "_gpubin_handle")
}
RENAMES["hipLaunchKernel"] = "mcLaunchKernel"
UNSUPPORTED = ("__hipRegisterManagedVar", "__hipRegisterTexture",
               "__hipRegisterSurface")

WRAPPER = struct.pack("<II", 0x4d414341, 1) # magic and version

USAGE = """usage: mxcc [options] FILE...

Compiles .maca files, and others after -x maca, for host and device; passes
other sources, objects and libraries on. Options of clang apply; and:

  -x maca                 the files that follow have kernels
  -c, -S, -E, -o FILE     as usual (-S and -E: the host's part)
  -fatbin                 write a code object for mcModuleLoad
  -maca-device-only       with -S or -E: the device's part
  -maca-host-only         leave the device's part out
  --offload-arch=ARCH     xcore1000 or native: there is one device
  --maca-path=DIR         where include/ and lib/ of the runtime are
  --default-stream KIND   legacy (default) or per-thread
  -use-fast-math          -ffast-math
  -lineinfo               line numbers in kernels
  -resource-usage         report registers, shared memory and stack of kernels
  --keep                  leave intermediate files in FILE.mxcc/
  -v, -###, --version, --help
"""


class Failure(Exception):
    """Ends mxcc; the message, if any, has not been printed yet."""

    def __init__(self, message="", status=1):
        super().__init__(message)
        self.status = status


def diagnostics(text):
    """Lines of clang's messages but for the sums at their end."""
    return {line for line in text.splitlines()
            if not re.fullmatch(r"[\w ]+ generated when compiling for .*",
                                line)}


def section_header(data, name):
    """Where in an ELF64 file the header of a section is."""
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3a)
    if count == 0: # too many for this field, and perhaps for the next
        count, = struct.unpack_from("<Q", data, table + 0x20)
    if names == 0xffff:
        names, = struct.unpack_from("<I", data, table + 0x28)
    text, = struct.unpack_from("<Q", data, table + names * size + 0x18)
    for header in range(table, table + count * size, size):
        start = text + struct.unpack_from("<I", data, header)[0]
        if data[start:data.index(b"\0", start)] == name:
            return header
    raise Failure(f"clang's object file has no section {name.decode()}")


def put_image(data, image):
    """The object file data with the image in place of the hole; it goes to the
    end of the file. (llvm-objcopy's --update-section leaves relocations and
    symbols of the section without one.)"""
    header = section_header(data, b".hip_fatbin")
    align, = struct.unpack_from("<Q", data, header + 0x30)
    out = bytearray(data)
    out += bytes(-len(out) % max(align, 1))
    struct.pack_into("<QQ", out, header + 0x18, len(out), len(image))
    at, = struct.unpack_from(
        "<Q", data, section_header(data, b".hipFatBinSegment") + 0x18)
    out[at:at + len(WRAPPER)] = WRAPPER
    return out + image


def say(kind, text):
    bold, red, off = ("\033[1m", "\033[1;31m", "\033[0m") \
        if sys.stderr.isatty() else ("", "", "")
    shade = red if kind == "error" else bold
    print(f"{bold}mxcc: {shade}{kind}:{off} {text}", file=sys.stderr)


class Install:
    """Where the pieces are: beside this file when built, or installed."""

    def __init__(self):
        here = os.path.dirname(os.path.realpath(__file__))
        conf = os.path.join(here, "mxcc.conf")
        self.include, self.lib = [], None
        self.link = self.builtins = None
        if os.path.exists(conf):
            self.read(conf)
        else:
            self.set_root(os.path.dirname(os.path.dirname(here)))
            top = os.path.dirname(here)
            self.link = os.path.join(top, "libexec/mx-kernel-link")
            self.builtins = os.path.join(top, "lib/libmcdevice.a")
        self.clang = self.tool("clang")
        self.lld = self.tool("ld.lld")
        self.objcopy = self.tool("llvm-objcopy")

    def read(self, conf):
        with open(conf, encoding="utf-8") as f:
            for line in f:
                key, _, value = line.strip().partition("=")
                if key == "include":
                    self.include.append(value)
                elif key in ("lib", "link", "builtins"):
                    setattr(self, key, value)

    def set_root(self, root):
        if not os.path.isdir(os.path.join(root, "include", "mcr")):
            raise Failure(f"{root}: no mxgpu runtime there (include/mcr)")
        self.include = [os.path.join(root, "include")]
        self.lib = os.path.join(root, "lib")

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
                          "clang-19, lld-19 and llvm-19")
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
                              "Debian has it in picolibc-riscv64-unknown-elf")
        if not os.path.exists(self.builtins):
            raise Failure(f"{self.builtins} not found")
        libs.insert(0, self.builtins)
        if os.path.isdir(LIBGCC):
            for version in sorted(os.listdir(LIBGCC), reverse=True):
                paths = [os.path.join(LIBGCC, version, flavour, "libgcc.a")
                         for flavour in MULTILIBS]
                paths = list(filter(os.path.exists, paths))
                if paths:
                    return libs + paths[:1]
        return libs


# options whose value is the next argument
SEPARATE = {
    "-I", "-D", "-U", "-L", "-l", "-include", "-imacros", "-isystem",
    "-iquote", "-idirafter", "-isysroot", "-MF", "-MT", "-MQ", "-Xclang",
    "-Xlinker", "-Xpreprocessor", "-Xassembler", "-mllvm", "--param", "-u",
    "-z", "-T", "-target", "-working-directory",
}
LINK_ONLY = ("-l", "-L", "-Wl,", "-Xlinker", "-u", "-z", "-T", "-shared",
             "-static", "-rdynamic", "-pie", "-no-pie", "-nostdlib",
             "-nodefaultlibs", "-nostartfiles", "-fuse-ld=")
SOURCES = {".c": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++",
           ".C": "c++", ".c++": "c++", ".s": "asm", ".S": "asm"}


class Command:
    """The command line, sorted."""

    def __init__(self, argv):
        self.inputs = []      # (kind, path): maca, source or link
        self.compile = []     # options for clang's compile steps
        self.mode = "link"    # or c, S, E, fatbin, syntax
        self.output = None
        self.side = None      # device or host
        self.default_stream = "legacy"
        self.maca_path = None
        self.keep = self.verbose = self.dry = False
        self.lineinfo = self.usage = self.debug = False
        self.opt = None
        self.link = []        # (option or input) in order, for the linker
        self.lang = None
        self.info = None
        self.parse(list(argv))

    def value(self, args, name):
        if not args:
            raise Failure(f"{name} needs a value")
        return args.pop(0)

    def parse(self, args):
        while args:
            arg = args.pop(0)
            if not arg.startswith("-") or arg == "-":
                self.add_input(arg)
            elif not self.own_option(arg, args):
                self.clang_option(arg, args)

    def add_input(self, path):
        suffix = os.path.splitext(path)[1]
        if self.lang == "maca" or (self.lang is None and suffix == ".maca"):
            self.inputs.append(path)
            self.link.append(("maca", path))
        elif self.lang or suffix in SOURCES:
            self.link.append(("source", (self.lang or SOURCES[suffix], path)))
        else:
            self.link.append(("option", path))
        if path != "-" and not os.path.exists(path):
            raise Failure(f"no such file: '{path}'")

    def own_option(self, arg, args):
        name, eq, value = arg.partition("=")
        long = "-" + name if re.match(r"-[a-z]", name) else name
        if arg == "-x" or (arg.startswith("-x") and arg != "-xc++-header"):
            lang = arg[2:] or self.value(args, "-x")
            self.lang = {"none": None, "hip": "maca"}.get(lang, lang)
        elif arg in ("-c", "-S", "-E"):
            self.mode = arg[1:]
        elif long == "--fatbin":
            self.mode = "fatbin"
        elif arg == "-fsyntax-only":
            self.mode = "syntax"
        elif arg == "-o":
            self.output = self.value(args, "-o")
        elif long == "--offload-arch":
            self.arch(value if eq else self.value(args, name))
        elif long == "--maca-path":
            self.maca_path = value if eq else self.value(args, name)
        elif long in ("--maca-device-only", "--cuda-device-only"):
            self.side = "device"
        elif long in ("--maca-host-only", "--cuda-host-only"):
            self.side = "host"
        elif long in ("--maca-link", "--maca-device-lib"):
            pass
        elif long == "--default-stream":
            self.stream(value if eq else self.value(args, name))
        elif long in ("--use-fast-math", "--use_fast_math"):
            self.compile.append("-ffast-math")
        elif long in ("--lineinfo", "--generate-line-info"):
            self.lineinfo = True
        elif long == "--resource-usage":
            self.usage = True
        elif arg == "--keep":
            self.keep = True
        elif arg in ("-v", "--verbose"):
            self.verbose = True
        elif arg == "-###":
            self.verbose = self.dry = True
        elif arg in ("--version", "--help", "-h", "-dumpversion"):
            self.info = arg
        elif arg in ("-Xcompiler", "--compiler-options"):
            self.parse(self.value(args, arg).split(","))
        elif long in ("--fgpu-rdc", "--dc", "--rdc", "--device-obj",
                      "--input-is-device"):
            if value not in ("false",):
                raise Failure(f"{arg}: device code of several files is not "
                              "linked together; define what a kernel uses in "
                              "its file, or in a header")
        elif arg.startswith("-flto"):
            raise Failure(f"{arg}: not supported")
        else:
            return False
        return True

    def clang_option(self, arg, args):
        words = [arg]
        if arg in SEPARATE:
            words.append(self.value(args, arg))
        if any(arg == o or (arg.startswith(o) and o not in ("-u", "-z", "-T"))
               for o in LINK_ONLY):
            self.link += [("option", w) for w in words]
            return
        if arg.startswith("-O"):
            self.opt = arg[2:] or "1"
        elif re.fullmatch(r"-g([1-3]|gdb.*|dwarf.*)?", arg):
            self.debug = True
        elif arg == "-g0":
            self.debug = False
        self.compile += words

    def arch(self, names):
        for name in names.split(","):
            if name.startswith("xcore") and name not in ARCHS:
                say("warning", f"--offload-arch={name}: kernels are compiled "
                    "for xcore1000, the only device there is")
            elif name not in ARCHS:
                raise Failure(f"--offload-arch={name}: no such device; "
                              "xcore1000 and native are")

    def stream(self, kind):
        if kind not in ("legacy", "null", "per-thread"):
            raise Failure(f"--default-stream {kind}: legacy or per-thread")
        self.default_stream = kind


class Compiler:
    """Runs the steps."""

    def __init__(self, command, install, temps):
        self.cmd, self.install, self.temps = command, install, temps

    def show(self, argv):
        if self.cmd.verbose:
            print(" ".join(shlex.quote(a) for a in argv), file=sys.stderr,
                  flush=True)

    def run(self, argv):
        """Runs a program; its messages go to our stderr."""
        self.show(argv)
        if self.cmd.dry:
            return
        status = subprocess.run(argv, check=False).returncode
        if status:
            raise Failure("", 1 if status > 0 else 2)

    def capture(self, argv):
        """Runs a program; returns status and messages."""
        self.show(argv)
        if self.cmd.dry:
            return 0, ""
        p = subprocess.run(argv, stderr=subprocess.PIPE, check=False,
                           encoding="utf-8", errors="replace")
        return p.returncode, p.stderr

    def cc1(self, source, output):
        """What clang's driver would run for the host."""
        mode = {"S": "-S", "E": "-E", "syntax": "-fsyntax-only"}.get(
            self.cmd.mode, "-c")
        if self.cmd.side == "device" or self.cmd.mode == "fatbin":
            mode = "-E" if self.cmd.mode == "E" else "-c"
        argv = [self.install.clang, "-###", "--driver-mode=g++", "-nogpuinc",
                "-nogpulib", "--cuda-host-only", "-fhip-new-launch-api",
                *self.cmd.compile, mode, "-o", output, "-x", "hip", source]
        if sys.stderr.isatty():
            argv.insert(3, "-fcolor-diagnostics")
        p = subprocess.run(argv, stderr=subprocess.PIPE, check=False,
                           encoding="utf-8", errors="replace")
        line, notes = None, []
        for text in p.stderr.splitlines():
            if text.startswith(' "'):
                line = text
            elif re.match(r"clang(-19)?: (error|warning)", text):
                notes.append(re.sub(r"^clang(-19)?:", "mxcc:", text))
        if notes:
            print("\n".join(notes), file=sys.stderr)
        if p.returncode or not line:
            if not notes:
                sys.stderr.write(p.stderr)
            raise Failure()
        return shlex.split(line)

    def common(self, source):
        """What both passes get on top of clang's own arguments."""
        args = ["-fdeclspec", f"-cuid={self.cuid(source)}",
                "-U__HIP__", "-U__HIPCC__", "-D__MACA__=1", "-D__MXCC__=1",
                "-D__MACACC__=1", "-D__MACACC_VER_MAJOR__=1",
                "-D__MC_PLATFORM_MXCC__=1"]
        for path in self.install.include: # which has mcr/, or mxgpu/
            wrappers = os.path.join(path, "mcr", "wrappers")
            if os.path.isdir(wrappers):
                args += ["-internal-isystem", wrappers]
        for path in self.install.include:
            args += ["-internal-isystem", path]
        if self.cmd.default_stream == "per-thread":
            args += ["-DMACA_API_PER_THREAD_DEFAULT_STREAM=1"]
        return args + ["-include", "mcr/mc_runtime.h"]

    def cuid(self, source):
        text = "\0".join([os.path.realpath(source), *self.cmd.compile])
        return f"{zlib.crc32(text.encode()):08x}"

    def host_args(self, cc1, source):
        cc1 = list(cc1)
        i = cc1.index("-aux-triple")
        cc1[i + 1] = DEVICE_TRIPLE
        at = cc1.index("-cc1") + 1
        return cc1[:at] + self.common(source) + cc1[at:]

    def device_args(self, cc1, source, output):
        drop1 = {"-triple", "-aux-triple", "-target-cpu", "-tune-cpu",
                 "-target-feature", "-target-abi", "-mrelocation-model",
                 "-pic-level", "-stack-protector", "-o", "-dependency-file",
                 "-MT", "-mcmodel"}
        drop0 = {"-pic-is-pie", "-fmath-errno", "-mconstructor-aliases",
                 "-faddrsig", "-emit-obj", "-S", "-vectorize-loops",
                 "-vectorize-slp", "-sys-header-deps", "-MP",
                 "-ffunction-sections", "-fdata-sections", "-pthread",
                 "-fsyntax-only", "-fvisibility-inlines-hidden"}
        starts = ("-mframe-pointer", "-funwind-tables", "-debug-info-kind",
                  "-dwarf-version", "-debugger-tuning", "-fsanitize",
                  "-fprofile", "-coverage", "-fcoverage", "-fvisibility",
                  "-ftype-visibility", "-mcmodel", "-O", "-fopenmp",
                  "-D__GCC_HAVE_DWARF2_CFI_ASM")
        out, skip = [], False
        at = cc1.index("-cc1")
        for i, word in enumerate(cc1):
            if skip:
                skip = False
            elif i <= at:
                out.append(word)
            elif word in drop1:
                skip = True
            elif word not in drop0 and not word.startswith(starts):
                out.append(word)
        new = ["-triple", DEVICE_TRIPLE, "-aux-triple",
               cc1[cc1.index("-triple") + 1], "-target-cpu", "generic-rv64",
               "-target-abi", "lp64d", "-mrelocation-model", "static",
               "-mcmodel=medium", "-msmall-data-limit", "0",
               "-fcuda-is-device", "-disable-llvm-passes", "-fcheck-new",
               "-debug-info-kind=standalone", "-dwarf-version=5",
               f"-D__MACA_ARCH__={ARCH_MACRO}", "-U__HIP_DEVICE_COMPILE__"]
        for feature in DEVICE_FEATURES:
            new += ["-target-feature", "+" + feature]
        if self.cmd.mode != "E":
            new += ["-fsyntax-only"] if self.cmd.mode == "syntax" \
                else ["-emit-llvm-bc"]
        new += [f"-O{self.opt_level()}", "-o", output]
        # __shared__ uses one that definitions ignore; the host pass warns.
        return out[:at + 1] + new + self.common(source) + out[at + 1:-1] + \
            ["-Wno-ignored-attributes", out[-1]]

    def opt_level(self):
        """Of device code: as for the host, but high unless told."""
        return {None: "3", "fast": "3", "g": "1", "4": "3"}.get(
            self.cmd.opt, self.cmd.opt)

    def link_args(self, bitcode, output, kind):
        args = [self.install.link, "-o", output, "-O", self.opt_level(),
                "--temps", os.path.dirname(bitcode), "--lld",
                self.install.lld, "--emit", kind]
        for lib in self.install.device_libs():
            args += ["--lib", lib]
        if self.cmd.debug:
            args.append("--debug")
        elif self.cmd.lineinfo:
            args.append("--lines")
        if self.cmd.usage:
            args.append("--usage")
        return args + [bitcode]

    def device(self, cc1, source, output, kind):
        """Both steps of the device's side; returns status and messages."""
        if self.cmd.mode == "E":
            return self.capture(self.device_args(cc1, source, output))
        bitcode = self.temp(source, "device.bc")
        status, text = self.capture(self.device_args(cc1, source, bitcode))
        if status or self.cmd.mode == "syntax":
            return status, text
        status, more = self.capture(self.link_args(bitcode, output, kind))
        return status, text + more

    def temp(self, source, name):
        stem = os.path.basename(source)
        path = os.path.join(self.temps, stem)
        if self.cmd.keep:
            path = stem + ".mxcc"
        os.makedirs(path, exist_ok=True)
        return os.path.join(path, name)

    def compile(self, source, output):
        """One source with kernels to one output."""
        cmd = self.cmd
        cc1 = self.cc1(source, output)
        if cmd.mode == "fatbin" or cmd.side == "device":
            kind = "asm" if cmd.mode == "S" else "container"
            status, text = self.device(cc1, source, output, kind)
            sys.stderr.write(text)
            if status:
                raise Failure()
            return
        if cmd.mode == "E" or cmd.side == "host":
            self.run(self.host_args(cc1, source))
            return
        self.both(cc1, source, output)

    def both(self, cc1, source, output):
        image = self.temp(source, "device.fatbin")
        hole = self.temp(source, "hole")
        with open(hole, "wb") as f:
            f.write(b"\0")
        result = []

        def work():
            try:
                result.append(self.device(cc1, source, image, "container"))
            except Failure as e:
                result.append((1, f"mxcc: error: {e}\n"))

        thread = Thread(target=work)
        thread.start()
        args = self.host_args(cc1, source)
        if self.cmd.mode in ("c", "link"):
            at = args.index("-cc1") + 1
            args[at:at] = ["-fcuda-include-gpubinary", hole]
        status, text = self.capture(args)
        thread.join()
        device_status, device_text = result[0]
        # Both passes say the same of most lines: once is enough. (All but the
        # last line, which counts them and names the pass.)
        if device_status and not status:
            sys.stderr.write(device_text)
        else:
            sys.stderr.write(text)
            if not status and not diagnostics(device_text) <= \
                    diagnostics(text):
                sys.stderr.write(device_text)
        if status or device_status:
            if output and os.path.exists(output):
                os.unlink(output)
            raise Failure()
        if self.cmd.mode in ("c", "link") and not self.cmd.dry:
            self.embed(source, output, image)

    def embed(self, source, obj, image):
        with open(obj, "rb") as f:
            data = f.read()
        for name in UNSUPPORTED:
            if name.encode() + b"\0" in data:
                raise Failure(f"{source}: __managed__ variables, textures "
                              "and surfaces are not supported")
        if b".hip_fatbin\0" not in data:
            return # neither kernels nor device variables
        with open(image, "rb") as f:
            data = put_image(data, f.read())
        with open(obj, "wb") as f:
            f.write(data)
        names = self.temp(source, "names")
        with open(names, "w", encoding="utf-8") as f:
            for old, new in RENAMES.items():
                f.write(f"{old} {new}\n")
        self.run([self.install.objcopy, f"--redefine-syms={names}",
                  "--localize-symbol=__hip_gpubin_handle",
                  "--rename-section", ".hip_fatbin=.mc_fatbin",
                  "--rename-section", ".hipFatBinSegment=.mcFatBinSegment",
                  obj])

    def link(self, objects):
        cmd, lib = self.cmd, self.install.lib
        argv = [self.install.clang, "-Qunused-arguments"]
        argv += [w for p in self.install.include for w in ("-isystem", p)]
        argv += cmd.compile
        lang = None
        for i, (kind, what) in enumerate(cmd.link):
            # clang warns of a -x that no file follows.
            if lang and kind != "source" and any(
                    k == "maca" or (k == "option" and not w.startswith("-"))
                    for k, w in cmd.link[i:]):
                argv += ["-x", lang]
                lang = None
            if kind == "maca":
                argv.append(objects[what])
            elif kind == "source":
                argv += ["-x", what[0], what[1]]
                lang = "none"
            else:
                argv.append(what)
        argv += ["-o", cmd.output or "a.out", "-L" + lib, "-lmcruntime",
                 "-Wl,-rpath," + lib, "-lstdc++", "-lm"]
        self.run(argv)

    def passed_on(self):
        """Sources without kernels, when there is no link step."""
        cmd = self.cmd
        flag = {"c": "-c", "S": "-S", "E": "-E",
                "syntax": "-fsyntax-only"}.get(cmd.mode)
        for kind, what in cmd.link:
            if kind != "source":
                continue
            if not flag:
                raise Failure(f"{what[1]}: no kernels in it; -x maca says "
                              "there are")
            argv = [self.install.clang, "-Qunused-arguments"]
            argv += [w for p in self.install.include for w in ("-isystem", p)]
            argv += [*cmd.compile, flag, "-x", *what]
            if cmd.output:
                argv += ["-o", cmd.output]
            self.run(argv)

    def main(self):
        cmd = self.cmd
        suffix = {"c": ".o", "S": ".s", "fatbin": ".fatbin"}.get(cmd.mode)
        sources = cmd.inputs
        plain = sum(kind == "source" for kind, _ in cmd.link)
        if cmd.mode != "link" and cmd.output and len(sources) + plain > 1:
            raise Failure("-o with several files needs a link step")
        objects = {}
        for source in sources:
            if cmd.mode == "link":
                objects[source] = self.temp(source, "host.o")
            elif cmd.mode == "E":
                objects[source] = cmd.output or "-"
            elif cmd.mode == "syntax":
                objects[source] = os.devnull
            else:
                stem = os.path.splitext(os.path.basename(source))[0]
                objects[source] = cmd.output or stem + suffix
            self.compile(source, objects[source])
        if cmd.mode == "link":
            self.link(objects)
        else:
            self.passed_on()


def information(command, install):
    if command.info == "--version":
        clang = subprocess.run([install.clang, "--version"], check=True,
                               stdout=subprocess.PIPE, encoding="utf-8")
        print(f"mxcc version {VERSION} (mxgpu)\n"
              f"based on {clang.stdout.splitlines()[0]}\n"
              f"Target: xcore1000 ({DEVICE_TRIPLE})")
    elif command.info == "-dumpversion":
        print(VERSION)
    else:
        print(USAGE, end="")


def main():
    try:
        command = Command(sys.argv[1:])
        if command.info in ("--help", "-h", "-dumpversion"):
            information(command, None)
            return 0
        install = Install()
        if command.maca_path:
            install.set_root(command.maca_path)
        if command.info:
            information(command, install)
            return 0
        if not command.link or all(k == "option" and w.startswith("-")
                                   for k, w in command.link):
            raise Failure("no input files")
        with tempfile.TemporaryDirectory(prefix="mxcc-") as temps:
            Compiler(command, install, temps).main()
        return 0
    except Failure as e:
        if str(e):
            say("error", e)
        return e.status
    except KeyboardInterrupt:
        return 130
    except OSError as e:
        say("error", e)
        return 1


if __name__ == "__main__":
    sys.exit(main())
