# SPDX-License-Identifier: MIT
"""Compiles one source with kernels for both sides."""
import os
import re
import shlex
import sys
import zlib
from threading import Thread

from driver import attributes, host_headers, launches, objects, pch, ptx, \
    references
from driver.report import Failure

DEVICE_TRIPLE = "riscv64-unknown-elf"
DEVICE_FEATURES = ("m a f d c zba zbb zicond zfh zfbfmin "
                   "experimental-zacas no-default-unroll prefer-w-inst").split()
ARCH_MACRO = 1000
# What clang says of assembly that is not the device's
ASM_ERROR = r"in asm|inline asm|asm operand|constraint|% escape"
PER_THREAD = "MACA_API_PER_THREAD_DEFAULT_STREAM"
PER_THREAD_MACROS = (PER_THREAD, "CUDA_API_PER_THREAD_DEFAULT_STREAM",
                     "HIP_API_PER_THREAD_DEFAULT_STREAM")

# What sources of each dialect see, the device's pass alone, and which header
# comes before them. The device has what CUDA calls compute capability 8.0.
MACROS = {
    "maca": ["-U__HIP__", "-U__HIPCC__"],
    "cuda": ["-U__HIP__", "-U__HIPCC__", "-D__CUDACC__=1", "-D__NVCC__=1",
             "-D__CUDACC_VER_MAJOR__=11", "-D__CUDACC_VER_MINOR__=6",
             "-D__CUDACC_VER_BUILD__=124", "-D__CUDA_ARCH_LIST__=800",
             "-D__CUDACC_EXTENDED_LAMBDA__=1",
             "-D__CUDACC_RELAXED_CONSTEXPR__=1"],
    "hip": ["-D__HIP_PLATFORM_AMD__=1", "-D__HIP_PLATFORM_HCC__=1"],
}
DEVICE_MACROS = {
    "maca": ["-U__HIP_DEVICE_COMPILE__"],
    "cuda": ["-U__HIP_DEVICE_COMPILE__", "-D__CUDA_ARCH__=800"],
    "hip": ["-D__AMDGCN_WAVEFRONT_SIZE=64", "-D__AMDGCN_WAVEFRONT_SIZE__=64"],
}
FIRST_HEADER = {"maca": "mcr/mc_runtime.h", "cuda": "cuda_runtime.h",
                "hip": "hip/hip_runtime.h"}

# What the host's compilation has and the device's has not: with a value,
# without one, and all that begin so.
DROP_PAIRS = {
    "-triple", "-aux-triple", "-target-cpu", "-tune-cpu", "-target-feature",
    "-target-abi", "-mrelocation-model", "-pic-level", "-stack-protector",
    "-o", "-dependency-file", "-MT", "-mcmodel",
}
DROP_FLAGS = {
    "-pic-is-pie", "-fmath-errno", "-mconstructor-aliases", "-faddrsig",
    "-emit-obj", "-S", "-vectorize-loops", "-vectorize-slp",
    "-sys-header-deps", "-MP", "-ffunction-sections", "-fdata-sections",
    "-pthread", "-fsyntax-only", "-fvisibility-inlines-hidden",
}
DROP_STARTS = (
    "-mframe-pointer", "-funwind-tables", "-debug-info-kind",
    "-dwarf-version", "-debugger-tuning", "-fsanitize", "-fprofile",
    "-coverage", "-fcoverage", "-fvisibility", "-ftype-visibility", "-mcmodel",
    "-O", "-fopenmp", "-D__GCC_HAVE_DWARF2_CFI_ASM",
)


def diagnostics(text):
    """Lines of clang's messages but for the sums at their end."""
    return {line for line in text.splitlines()
            if not re.fullmatch(r"[\w ]+ generated when compiling for .*",
                                line)}


def dependency_names(cmd, source, output):
    """Options that name a dependency file and its target as clang's driver
    would; output: what -o names, or None."""
    if "-MD" not in cmd.compile and "-MMD" not in cmd.compile:
        return []
    stem = os.path.splitext(os.path.basename(source))[0]
    words = []
    if "-MF" not in cmd.compile:
        words += ["-MF", (os.path.splitext(output)[0] if output else stem) +
                  ".d"]
    if "-MT" not in cmd.compile and "-MQ" not in cmd.compile:
        words += ["-MT", output or stem + ".o"]
    return words


class Compiler:
    def __init__(self, command, install, processes, temps):
        self.cmd, self.install, self.temps = command, install, temps
        self.processes = processes
        self.numbers = {} # of sources with one name
        self.per_thread = set() # sources that define the macro themselves
        self.texts = {} # (source, side): a text that clang accepts
        self.mended = {} # of each such source: the rewriters
        self.headers = pch.Precompiled(processes, install.clang,
                                       command.pch_folder) \
            if command.pch_folder and not command.dry else None

    def temp(self, source, name):
        """A file beside others of this source."""
        stem = os.path.basename(source)
        if self.cmd.keep:
            path = os.path.join(self.cmd.keep_folder or "", stem + ".mxcc")
        else:
            number = self.numbers.setdefault(source, len(self.numbers))
            path = os.path.join(self.temps, f"{number}", stem)
        os.makedirs(path, exist_ok=True)
        return os.path.join(path, name)

    def for_device_only(self):
        return self.cmd.side == "device" or self.cmd.mode in ("fatbin",
                                                              "cubin")

    def cc1(self, source, extra):
        """What clang's driver would run for the host."""
        mode = {"S": "-S", "E": "-E", "syntax": "-fsyntax-only",
                "M": None}.get(self.cmd.mode, "-c")
        if self.for_device_only() and self.cmd.mode not in ("E", "M"):
            mode = "-c"
        argv = [self.install.clang, "-###", "--driver-mode=g++", "-nogpuinc",
                "-nogpulib", "--cuda-host-only", "-fhip-new-launch-api",
                *self.cmd.compile, *extra,
                *dependency_names(self.cmd, source, self.cmd.output)]
        if mode:
            argv.append(mode)
        if self.cmd.rdc:
            argv.append("-fgpu-rdc")
        argv += ["-o", "-", "-x", "hip", source]
        if sys.stderr.isatty():
            argv.insert(3, "-fcolor-diagnostics")
        status, text = self.processes.query(argv)
        line, notes = None, []
        for row in text.splitlines():
            if row.startswith(' "'):
                line = row
            elif re.match(r"clang(-19)?: (error|warning)", row):
                notes.append(re.sub(r"^clang(-19)?:", "mxcc:", row))
        if notes:
            print("\n".join(notes), file=sys.stderr)
        if status or not line:
            if not notes:
                sys.stderr.write(text)
            raise Failure()
        return shlex.split(line)

    def common(self, source):
        """What both passes get on top of clang's own arguments."""
        dialect = self.cmd.dialect(source)
        args = ["-fdeclspec", f"-cuid={self.cuid(source)}",
                *MACROS[dialect], "-D__MACA__=1", "-D__MXCC__=1",
                "-D__MACACC__=1", "-D__MACACC_VER_MAJOR__=1",
                "-D__MC_PLATFORM_MXCC__=1",
                # kernels are older than C++17: a warning, as with nvcc
                "-Wno-error=register"]
        for path in self.install.include: # which has mcr/, or mxgpu/
            wrappers = os.path.join(path, "mcr", "wrappers")
            if os.path.isdir(wrappers):
                args += ["-internal-isystem", wrappers]
        for path in self.install.adaptors.get(dialect, []) + \
                self.install.include:
            args += ["-internal-isystem", path]
        if self.cmd.warp_size != "64":
            args += [f"-D__MC_WARP_SIZE__={self.cmd.warp_size}"]
        if self.cmd.default_stream == "per-thread":
            args += [f"-D{PER_THREAD}=1"]
        elif source in self.per_thread:
            args += ["-D__MXCC_PER_THREAD__=1"]
        if dialect == "cuda" and self.cmd.rdc:
            args.append("-D__CUDACC_RDC__=1")
        return args + ["-include", FIRST_HEADER[dialect]]

    def cuid(self, source):
        text = "\0".join([os.path.realpath(source), *self.cmd.compile])
        return f"{zlib.crc32(text.encode()):08x}"

    def host_args(self, cc1, source, output):
        cc1 = list(cc1)
        cc1[cc1.index("-aux-triple") + 1] = DEVICE_TRIPLE
        for name in ("-o", "-dependency-file"):
            at = cc1.index(name) + 1 if name in cc1 else 0
            if at and cc1[at] == "-": # as cc1() has it
                cc1[at] = output
        at = cc1.index("-cc1") + 1
        return self.from_text(source, "host",
                              cc1[:at] + self.common(source) + cc1[at:])

    def from_text(self, source, side, args):
        """The same compilation of a text that was preprocessed before."""
        path = self.texts.get((source, side))
        if not path:
            return args
        out, skip = [], False
        for word in args[:-1]:
            if skip:
                skip = False
            elif word in ("-dependency-file", "-MT", "-include"):
                skip = True
            elif word not in ("-sys-header-deps", "-MP"):
                out.append("hip-cpp-output" if word == "hip" and
                           out[-1] == "-x" else word)
        return out + [path]

    def refused(self, source, text):
        """Whether messages are about what a rewriter makes acceptable: launches
        in device code, attributes, headers. Each is asked once."""
        if source == "-" or self.cmd.mode in ("E", "M"):
            return False
        before = self.mended.setdefault(source, set())
        new = {r for r in (launches, attributes, host_headers)
               if r.REFUSED.search(text)}
        if (source, "device") in self.texts and re.search(ASM_ERROR, text):
            new.add(ptx) # of headers; otherwise device_bitcode() sees to it
        self.mended[source] = before | new
        return not new <= before

    def rewrite(self, source, cc1, side):
        """Preprocesses a source for one side and rewrites what was refused."""
        path = self.temp(source, side + ".ii")
        self.texts.pop((source, side), None)
        args = self.host_args(cc1, source, path) if side == "host" else \
            self.device_args(cc1, source, path)
        out, skip = [], False
        for word in args:
            if skip:
                skip = False
            elif word in ("-o", "-fcuda-include-gpubinary"):
                skip = True
            elif word not in ("-emit-obj", "-emit-llvm-bc", "-S",
                              "-fsyntax-only"):
                out.append(word)
        at = out.index("-cc1") + 1
        out[at:at] = ["-E", "-w", "-o", path]
        has_ptx = side == "device" and (self.has_asm(source) or
                                        ptx in self.mended[source])
        if has_ptx:
            out[-1:-1] = ["-include", "mcr/device/ptx.h"]
        status, text = self.processes.capture(out)
        if status:
            sys.stderr.write(text)
            raise Failure()
        if not self.cmd.dry:
            with open(path, encoding="utf-8", errors="surrogateescape") as f:
                text = f.read()
            if host_headers in self.mended[source]:
                text = host_headers.rewrite(text)
            if references in self.mended[source]:
                text = references.rewrite(text, self.cuid(source))
            if attributes in self.mended[source]:
                text = attributes.rewrite(text)
            if launches in self.mended[source]:
                text = launches.rewrite(text, side == "device")
                if side == "device" and self.cmd.rdc:
                    text += launches.NAMES
            if has_ptx:
                text = ptx.rewrite(text, source) or text
            with open(path, "w", encoding="utf-8",
                      errors="surrogateescape") as f:
                f.write(text)
        self.texts[source, side] = path

    def device_args(self, cc1, source, output):
        out, skip = [], False
        at = cc1.index("-cc1")
        for i, word in enumerate(cc1):
            if skip:
                skip = False
            elif i <= at:
                out.append(word)
            elif word in DROP_PAIRS:
                skip = True
            elif word not in DROP_FLAGS and not word.startswith(DROP_STARTS):
                out.append(word)
        new = ["-triple", DEVICE_TRIPLE, "-aux-triple",
               cc1[cc1.index("-triple") + 1], "-target-cpu", "generic-rv64",
               "-target-abi", "lp64d", "-mrelocation-model", "static",
               "-mcmodel=medium", "-msmall-data-limit", "0",
               "-fcuda-is-device", "-disable-llvm-passes", "-fcheck-new",
               # lanes that have no value give any to a shuffle
               "-no-enable-noundef-analysis",
               "-debug-info-kind=standalone", "-dwarf-version=5",
               f"-D__MACA_ARCH__={ARCH_MACRO}",
               *DEVICE_MACROS[self.cmd.dialect(source)]]
        if self.cmd.dialect(source) == "cuda":
            # CUDA's compiler takes no types of accesses into account, and
            # programs write a word of shared memory as one and read another.
            new += ["-relaxed-aliasing"]
        for feature in DEVICE_FEATURES:
            new += ["-target-feature", "+" + feature]
        if self.cmd.mode not in ("E", "M"):
            new += ["-fsyntax-only"] if self.cmd.mode == "syntax" \
                else ["-emit-llvm-bc"]
        new += [f"-O{self.cmd.opt_level()}", "-o", output]
        # __shared__ uses one that definitions ignore; the host pass warns.
        return self.from_text(
            source, "device", out[:at + 1] + new + self.common(source) +
            out[at + 1:-1] + ["-Wno-ignored-attributes", out[-1]])

    def without_ptx(self, cc1, source):
        """The source, preprocessed and with its PTX translated, or None."""
        out = self.temp(source, "device.ptx.ii")
        args = self.device_args(cc1, source, out)
        args[args.index("-emit-llvm-bc" if "-emit-llvm-bc" in args
                        else "-fsyntax-only")] = "-E"
        args[-1:-1] = ["-include", "mcr/device/ptx.h", "-w"]
        status, _ = self.processes.capture(args)
        if status or not os.path.exists(out):
            return None
        with open(out, encoding="utf-8", errors="surrogateescape") as f:
            text = ptx.rewrite(f.read(), source)
        if text is None:
            return None
        with open(out, "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write(text)
        return out

    def has_asm(self, source):
        if source == "-" or self.cmd.dry:
            return False
        with open(source, "rb") as f:
            return b"asm" in f.read()

    def capture(self, source, args):
        """Compiles a source's text as it is."""
        if not self.headers:
            return self.processes.capture(args)
        return self.headers.capture(
            args, FIRST_HEADER[self.cmd.dialect(source)])

    def device_bitcode(self, cc1, source, output):
        """The device pass; inline PTX is looked for where the file has the
        word, and in headers when clang refuses what it sees there."""
        args = self.device_args(cc1, source, output)
        if (source, "device") in self.texts:
            return self.processes.capture(args) # rewritten with the launches
        has_asm = self.has_asm(source)
        if not has_asm:
            status, text = self.capture(source, args)
            if not status or self.cmd.dry or not re.search(ASM_ERROR, text):
                return status, text
        translated = self.without_ptx(cc1, source)
        if not translated:
            return (status, text) if not has_asm else \
                self.processes.capture(args)
        while "-include" in args: # ours and the program's: the text has them
            at = args.index("-include")
            args[at:at + 2] = []
        args[args.index("-x") + 1] = "hip-cpp-output"
        args[-1] = translated
        return self.processes.capture(args)

    def link_args(self, bitcode, output, kind, command=None):
        """bitcode: files, or --lazy and a file."""
        cmd = command or self.cmd
        files = [b for b in bitcode if b != "--lazy"]
        args = [self.install.link, "-o", output, "-O", cmd.opt_level(),
                "--temps", os.path.dirname(files[0]), "--lld",
                self.install.lld, "--emit", kind]
        for lib in self.install.device_libs():
            args += ["--lib", lib]
        for option in cmd.llvm:
            args += ["--llvm", option]
        if cmd.debug:
            args.append("--debug")
        elif cmd.lineinfo:
            args.append("--lines")
        if cmd.usage:
            args.append("--usage")
        if self.cmd.names:
            args += ["--names", self.cmd.names]
        if kind != "bitcode":
            bitcode = bitcode + ["--lazy", self.install.math]
        return args + bitcode

    def device(self, cc1, source, output, kind):
        """Both steps of the device's side; returns status and messages."""
        if self.cmd.mode in ("E", "M"):
            return self.processes.capture(
                self.device_args(cc1, source, output))
        last = kind == "bitcode" and not self.cmd.names
        bitcode = output if last else self.temp(source, "device.bc")
        status, text = self.device_bitcode(cc1, source, bitcode)
        while status and self.for_device_only() and \
                self.refused(source, text):
            self.rewrite(source, cc1, "device")
            status, text = self.device_bitcode(cc1, source, bitcode)
        if status or self.cmd.mode == "syntax" or last:
            return status, text
        status, more = self.processes.capture(
            self.link_args([bitcode], output, kind))
        return status, text + more

    def sides(self, source):
        """clang's arguments for host and device, which may differ."""
        cmd = self.cmd
        host = self.cc1(source, cmd.host_only)
        if not cmd.host_only and not cmd.device_only:
            return host, host
        return host, self.cc1(source, cmd.device_only)

    def look(self, source, cc1):
        """A program may choose the default stream by a macro in front of its
        first #include; ours is in front of that."""
        if self.cmd.default_stream == "per-thread" or source == "-":
            return
        with open(source, "rb") as f:
            text = f.read()
        if not any(name.encode() in text for name in PER_THREAD_MACROS):
            return
        _, text = self.processes.query(
            [*self.host_args(cc1, source, "-"), "-E", "-dM", "-w",
             "-D__MXCC_LOOKS__=1"], stdout=self.processes.PIPE)
        if re.search(rf"^#define ({'|'.join(PER_THREAD_MACROS)})\b", text,
                     re.M):
            self.per_thread.add(source)

    def compile(self, source, output):
        """One source with kernels to one output; - is standard output."""
        cmd = self.cmd
        host, device = self.sides(source)
        self.look(source, host)
        if self.cmd.rdc and self.cmd.mode not in ("E", "M") and \
                references.wanted(source):
            self.mended[source] = {references}
            self.rewrite(source, host, "host")
            self.rewrite(source, device, "device")
        if self.for_device_only():
            kind = {"S": "asm", "cubin": "elf"}.get(cmd.mode, "container")
            relocatable = cmd.rdc and cmd.mode in ("fatbin", "cubin")
            if relocatable:
                kind = "bitcode"
            status, text = self.device(device, source, output, kind)
            sys.stderr.write(text)
            if status:
                raise Failure()
            if relocatable and not cmd.dry:
                self.put_in_record(output)
        elif cmd.mode in ("E", "M") or cmd.side == "host":
            self.processes.run(self.host_args(host, source, output))
        else:
            self.both(host, device, source, output)

    def both_passes(self, host, device, source, output):
        """Messages and statuses of both, and the file with the image."""
        kind, name = ("bitcode", "device.bc") if self.cmd.rdc else \
            ("container", "device.fatbin")
        image = self.temp(source, name)
        result, raised = [], []

        def work():
            try:
                result.append(self.device(device, source, image, kind))
            except Failure as e:
                result.append((1, f"mxcc: error: {e}\n" if str(e) else ""))
            except Exception as e: # pylint: disable=broad-exception-caught
                raised.append(e) # goes on where the thread is waited for

        thread = Thread(target=work)
        thread.start()
        args = self.host_args(host, source, output)
        objects_made = self.cmd.mode not in ("S", "syntax")
        if objects_made and not self.cmd.rdc:
            hole = self.temp(source, "hole")
            with open(hole, "wb") as f:
                f.write(b"\0")
            at = args.index("-cc1") + 1
            args[at:at] = ["-fcuda-include-gpubinary", hole]
        status, text = self.capture(source, args)
        thread.join()
        for error in raised:
            raise error
        return (status, text, *result[0]), image

    def both(self, host, device, source, output):
        results, image = self.both_passes(host, device, source, output)
        while (results[0] or results[2]) and \
                self.refused(source, results[1] + results[3]):
            self.rewrite(source, host, "host")
            self.rewrite(source, device, "device")
            results, image = self.both_passes(host, device, source, output)
        self.report(*results)
        objects_made = self.cmd.mode not in ("S", "syntax")
        if objects_made and not self.cmd.dry:
            self.embed(source, output, image)

    def put_in_record(self, output):
        """Bitcode becomes relocatable device code, alone or in a container;
        no host object refers to it."""
        with open(output, "rb") as f:
            content = objects.rdc_record(f.read(), "", self.cmd)
        if self.cmd.mode == "fatbin":
            content = objects.fatbin(objects.FATBIN_RELOCATABLE, content)
        with open(output, "wb") as f:
            f.write(content)

    @staticmethod
    def report(status, text, device_status, device_text):
        """Both passes say the same of most lines: once is enough. (All but the
        last line, which counts them and names the pass.)"""
        if device_status and not status:
            sys.stderr.write(device_text)
        else:
            sys.stderr.write(text)
            if not status and not diagnostics(device_text) <= \
                    diagnostics(text):
                sys.stderr.write(device_text)
        if status or device_status:
            raise Failure()

    def embed(self, source, obj, image):
        with open(obj, "rb") as f:
            data = f.read()
        with open(image, "rb") as f:
            image = f.read()
        if self.cmd.rdc:
            self.embed_bitcode(source, obj, data, image)
        elif b".hip_fatbin\0" in data:
            with open(obj, "wb") as f:
                f.write(objects.put_image(data, image))
            self.rename(source, obj, {}, [
                "--localize-symbol=__hip_gpubin_handle",
                "--rename-section", ".hip_fatbin=.mc_fatbin"])
        elif b"hip" in data: # launches kernels of other files
            self.rename(source, obj, {}, [])

    def embed_bitcode(self, source, obj, data, bitcode):
        elf = objects.Elf(data)
        names = [n[len("__hip_fatbin_"):] for n, _ in elf.symbols()
                 if re.fullmatch(r"__hip_fatbin_(?!wrapper)\w+", n)]
        ident = names[0] if names else ""
        with open(obj, "wb") as f:
            f.write(objects.put_wrapper(data, elf))
        record = self.temp(source, "device.rdc")
        with open(record, "wb") as f:
            f.write(objects.rdc_record(bitcode, ident, self.cmd))
        section = objects.RDC_SECTION.decode()
        self.rename(source, obj, {
            f"__hip_fatbin_{ident}": f"__mc_rdc_image_{ident}",
            f"__hip_gpubin_handle_{ident}": f"__mc_rdc_handle_{ident}",
        }, ["--add-section", f"{section}={record}",
            "--set-section-flags", f"{section}=exclude"])

    def rename(self, source, obj, more, options):
        names = self.temp(source, "names")
        with open(names, "w", encoding="utf-8") as f:
            for old, new in {**objects.RENAMES, **more}.items():
                f.write(f"{old} {new}\n")
        self.processes.run([
            self.install.objcopy, f"--redefine-syms={names}", *options,
            "--rename-section", ".hipFatBinSegment=.mcFatBinSegment", obj])
