# SPDX-License-Identifier: MIT
"""The command line, sorted."""
import os
import re
import shlex

from driver import table
from driver.report import Failure, warn

ARCHS = ("xcore1000", "native", "riscv64-mxgpu")
OPT_LEVELS = {"": "1", "fast": "3", "g": "1", "4": "3"}
RESPONSE_DEPTH = 16


def behind_ours(words):
    """-I of another CUDA's or HIP's headers: makefiles name them, and where that
    toolkit is installed they would come before the adaptors."""
    m = re.match(r"(-I|-isystem)(.*)", words[0], re.S)
    folder = m and (m[2] or (words[1] if len(words) > 1 else ""))
    if not folder:
        return words
    for header, ours in (("cuda_runtime_api.h", "cuda_adaptor"),
                         ("hip/hip_runtime_api.h", "hip/adaptor")):
        if os.path.exists(os.path.join(folder, header)) and \
                not os.path.isdir(os.path.join(folder, ours)):
            return ["-idirafter", folder]
    return words


class Command:
    def __init__(self, argv):
        self.inputs = []      # files with kernels
        self.dialects = {}    # of each: maca, cuda or hip
        self.link = []        # (kind, option or input) in order
        self.compile = []     # options of clang's compile steps
        self.host_only = []   # of the host's alone
        self.device_only = []
        self.llvm = []        # of the code generator of kernels
        self.mode = "link"    # or c S E M fatbin cubin dlink lib syntax
        self.output = self.folder = None
        self.side = None      # device or host
        self.rdc = False
        self.default_stream = "legacy"
        self.warp_size = "64"
        self.maca_path = self.keep_folder = self.pch_folder = None
        self.names = None     # file for what name expressions denote
        self.keep = self.verbose = self.dry = False
        self.lineinfo = self.usage = self.debug = False
        self.opt = self.device_opt = None
        self.jobs = 1
        self.with_runtime = True
        self.lang = None
        self.info = None
        self.depth = 0
        self.code_objects = []
        self.parse(list(argv))
        if self.code_objects and not self.mode.startswith("dlink"):
            self.refuse_file(self.code_objects[0])
        self.verbose |= self.dry

    def parse(self, args):
        while args:
            arg = args.pop(0)
            if arg.startswith("@") and os.path.exists(arg[1:]):
                self.options_file(arg, arg[1:], None)
            elif not arg.startswith("-") or arg == "-":
                self.add_input(arg)
            else:
                self.option(arg, args)

    def option(self, arg, args):
        """One option; args: what follows."""
        arg, value = self.own_name(arg, args)
        name, eq, joined = arg.partition("=")
        dashes = len(name) - len(name.lstrip("-"))
        key = name.lstrip("-")
        if key in table.ALIASES and dashes < 3 and \
                (dashes == 2 or key == "noeh"):
            word, takes = table.ALIASES[key]
            if takes:
                word += "\0" + (joined if eq else self.value(args, name))
            self.alias(word)
            return
        row = table.TABLE.get(key)
        if not row or dashes > 2 or (len(key) == 1 and dashes == 2):
            self.clang_option(arg, args)
            return
        takes, action, parameter = row
        if value is None and takes:
            value = joined if eq else self.value(args, name)
        elif eq and not takes:
            raise Failure(f"{name} takes no value: {arg}")
        getattr(self, action)(name, value, parameter)

    def own_name(self, arg, args):
        """Options written together with their value, or without one."""
        if arg.startswith(("-x", "-o")) and len(arg) > 2 and \
                arg.lstrip("-").partition("=")[0] not in table.TABLE and \
                not arg.startswith("-objc"):
            return arg[:2], arg[2:]
        if re.fullmatch(r"-[jt]=?\d*", arg) or arg == "-jobs":
            digits = arg.lstrip("-jt=")
            if arg == "-t" and not (args and args[0].isdigit()):
                return arg, None # the linker's
            return "--threads", digits or self.value(args, arg)
        if arg == "-Werror" and not (args and re.fullmatch(
                r"(all-warnings|cross-execution-space-call|reorder|"
                r"default-stream-launch|missing-launch-bounds|"
                r"ext-lambda-captures-this|deprecated-declarations)(,.*)?",
                args[0])):
            return arg, "all-warnings"
        if arg == "-O" and args and re.fullmatch(r"[0-3]", args[0]):
            return arg + args.pop(0), None
        if arg.startswith("-Xarch_") and \
                arg[1:].partition("=")[0] not in table.TABLE:
            raise Failure(f"{arg}: -Xarch_device and -Xarch_host are known")
        return arg, None

    @staticmethod
    def value(args, name):
        if not args:
            raise Failure(f"{name} needs a value")
        return args.pop(0)

    def alias(self, word):
        name, _, value = word.partition("\0")
        if name == "-O":
            self.option(name + value, [])
        else:
            self.option(name, [value] if value else [])

    def add_input(self, path):
        suffix = os.path.splitext(path)[1]
        dialect = table.DIALECTS.get(self.lang) if self.lang else \
            table.KERNELS.get(suffix)
        if dialect:
            self.inputs.append(path)
            self.link.append(("maca", path))
            self.dialects[path] = dialect
        elif self.lang or suffix in table.SOURCES:
            self.link.append(("source",
                              (self.lang or table.SOURCES[suffix], path)))
        elif suffix in table.FOREIGN:
            self.refuse_file(path)
        else:
            if suffix in table.CODE_OBJECTS:
                self.code_objects.append(path)
            self.link.append(("input", path))
        if path != "-" and not os.path.exists(path):
            raise Failure(f"no such file: '{path}'")

    @staticmethod
    def refuse_file(path):
        suffix = os.path.splitext(path)[1]
        raise Failure(f"{path}: mxcc does not take {suffix} files; -x says "
                      "what a file is")

    def clang_option(self, arg, args):
        words = [arg]
        if arg in table.SEPARATE:
            words.append(self.value(args, arg))
        if "".join(words) in table.TOOLKIT_LIBRARIES:
            return
        words = behind_ours(words)
        if arg in table.LINK_EXACT or any(
                arg.startswith(o) for o in table.LINK_ONLY
                if o not in table.LINK_EXACT):
            self.link += [("option", w) for w in words]
            return
        if arg.startswith("-flto"):
            raise Failure(f"{arg}: not supported")
        if arg.startswith("-O"):
            self.opt = arg[2:] or "1"
        elif re.fullmatch(r"-g([1-3]|gdb.*|dwarf.*)?", arg):
            self.debug = True
        elif arg == "-g0":
            self.debug = False
        self.compile += words

    # Actions of the table: name as written, value, parameter of the row.

    def flag(self, _name, _value, attribute):
        setattr(self, attribute, True)

    def accept(self, name, value, parameter):
        """Asks for nothing that is not so anyway."""

    def refuse(self, name, _value, why):
        raise Failure(f"{name}: not supported; {why}")

    def warn(self, name, _value, why):
        warn(f"{name} has no effect: {why}")

    def set_mode(self, _name, _value, mode):
        # -dlink -fatbin, -dlink -cubin: what becomes of linked device code
        if {mode, self.mode} in ({"dlink", "fatbin"}, {"dlink", "cubin"}):
            mode = "dlink-" + (mode if self.mode == "dlink" else self.mode)
        self.mode = mode

    def set_side(self, _name, _value, side):
        self.side = side

    def set_output(self, _name, value, _parameter):
        self.output = value

    def set_folder(self, name, value, _parameter):
        if not os.path.isdir(value):
            raise Failure(f"{name} {value}: no such folder")
        self.folder = value

    def set_path(self, _name, value, _parameter):
        self.maca_path = value

    def set_names(self, _name, value, _parameter):
        self.names = value

    def set_info(self, _name, _value, info):
        self.info = info

    def set_keep(self, _name, value, _parameter):
        self.keep, self.keep_folder = True, value

    def precompile(self, _name, value, _parameter):
        self.pch_folder = value or self.pch_folder or "."

    def set_jobs(self, name, value, _parameter):
        if not value.isdigit():
            raise Failure(f"{name} {value}: not a number")
        self.jobs = int(value) or os.cpu_count() or 1

    def set_language(self, _name, lang, _parameter):
        self.lang = None if lang == "none" else lang

    def machine(self, name, value, _parameter):
        if value != "64":
            raise Failure(f"{name} {value}: pointers have 64 bits")

    def dependencies(self, _name, _value, word):
        self.mode = "M"
        self.compile.append(word)

    def joined(self, _name, value, prefix):
        self.clang_option(prefix + value, [])

    def relocatable(self, _name, _value, mode):
        self.rdc = True
        if self.mode not in ("fatbin", "cubin"): # which can be relocatable
            self.mode = mode or self.mode

    def whole_program(self, _name, _value, mode):
        self.rdc, self.mode = False, mode or self.mode

    def choose_rdc(self, name, value, _parameter):
        self.rdc = self.truth(name, value)

    @staticmethod
    def truth(name, value):
        if value not in ("true", "false"):
            raise Failure(f"{name}={value}: true or false")
        return value == "true"

    def boolean(self, name, value, words):
        self.truth(name, value)
        if words and value in words:
            self.device_only.append(words[value])

    def fast_math(self, _name, _value, _parameter):
        self.compile.append("-ffast-math")

    def device_debug(self, _name, _value, _parameter):
        self.debug = True
        self.device_opt = self.device_opt or "0"

    def device_optimise(self, name, value, _parameter):
        if value != "on":
            raise Failure(f"{name} {value}: on")
        self.device_opt = "3"

    def mllvm(self, _name, value, _parameter):
        self.compile += ["-mllvm", value]
        self.llvm.append(value)

    def offload_arch(self, name, value, _parameter):
        for arch in value.split(","):
            if arch.startswith("xcore") and arch not in ARCHS:
                warn(f"{name}={arch}: kernels are compiled for xcore1000, the "
                     "only device there is")
            elif name.lstrip("-") in table.OF_HIP and \
                    re.fullmatch(r"gfx[0-9a-f]+(:[\w+-]+)*", arch):
                warn("kernels are compiled for xcore1000, the only device "
                     f"there is, not for {arch}")
            elif arch not in ARCHS:
                raise Failure(f"{name}={arch}: no such device; xcore1000 and "
                              "native are")

    def gpu_arch(self, name, value, _parameter):
        for arch in value.strip("[]'\"").split(","):
            if re.fullmatch(r"(sm|compute|lto)_\d+[af]?|all|all-major", arch):
                warn("kernels are compiled for xcore1000, the only device "
                     f"there is, not for {arch}")
            else:
                self.offload_arch(name, arch, None)

    def generate_code(self, name, value, _parameter):
        found = re.fullmatch(r"arch=([^,]*)(?:,code=(.*))?",
                             re.sub(r"['\"\\]", "", value))
        if not found:
            raise Failure(f"{name} {value}: arch=...,code=... expected")
        for part in filter(None, found.groups()):
            self.gpu_arch(name, part, None)

    def stream(self, name, kind, _parameter):
        if kind not in ("legacy", "null", "per-thread"):
            raise Failure(f"{name} {kind}: legacy or per-thread")
        self.default_stream = kind

    def set_warp_size(self, name, size, _):
        if size not in ("32", "64"):
            raise Failure(f"{name}: warps have 64 lanes, or 32 to a program "
                          f"that counts on it, not {size}")
        self.warp_size = size

    def ptxas(self, name, value, _parameter):
        words = value.split(",")
        while words:
            word = words.pop(0)
            level = re.fullmatch(r"(?:-O|--?opt-level=?)([0-3]?)", word)
            if word in ("-v", "--verbose"):
                self.usage = True
            elif level:
                self.device_opt = level[1] or self.value(words, word)
            elif re.match(r"--?(maxrregcount|register-usage-level)", word):
                self.warn(f"{name} {word}", None, table.TABLE[
                    "maxrregcount"][2])
                if "=" not in word and words and words[0].isdigit():
                    words.pop(0)
            elif not re.match(
                    r"-w$|--?(dlcm|dscm|def-load-cache|def-store-cache|"
                    r"disable-warnings|warn-|suppress-|allow-expensive-|"
                    r"fmad=true)", word):
                raise Failure(f"{name} {word}: not supported")

    def nvlink(self, name, value, _parameter):
        for word in value.split(","):
            if word in ("-v", "--verbose"):
                self.usage = True
            elif not re.match(r"-w$|--?(suppress-|disable-warnings|"
                              r"extra-warnings|use-host-info)", word):
                raise Failure(f"{name} {word}: not supported")

    def fatbin_options(self, name, value, _parameter):
        for word in value.split(","):
            if word not in ("-compress-all", "--compress-all",
                            "-compress=true", "--compress=true"):
                raise Failure(f"{name} {word}: not supported")

    def cudafe(self, name, value, _parameter):
        for word in re.split(r"[,\s]+", value):
            if not re.match(r"--(diag_suppress|display_error_number|"
                            r"no_display_error_number)\b", word):
                raise Failure(f"{name} {word}: not supported; messages are "
                              "clang's, which -W options choose")

    def werror(self, _name, value, _parameter):
        for kind in value.split(","):
            if kind == "all-warnings":
                self.compile.append("-Werror")
            elif kind in ("default-stream-launch", "missing-launch-bounds",
                          "ext-lambda-captures-this"):
                warn(f"-Werror {kind} has no effect: not diagnosed")
            elif kind != "cross-execution-space-call": # always an error
                self.compile.append("-Werror=" + kind)

    def host_options(self, _name, value, _parameter):
        """Of the host's compiler; macros and warnings are both's."""
        args = [w for part in shlex.split(value) for w in part.split(",")
                if w]
        while args:
            word = args.pop(0)
            if word.startswith(("-O", "-g")):
                self.host_only.append(word)
            else:
                self.clang_option(word, args)

    def linker_options(self, _name, value, _parameter):
        for word in value.split(","):
            self.link += [("option", "-Xlinker"), ("option", word)]

    def one_side(self, name, value, side):
        if side == "host":
            self.host_only.append(value)
        elif value.startswith(table.HOST_ONLY):
            raise Failure(f"{name} {value}: has no meaning for kernels")
        elif self.device_only and self.device_only[-1] == "-mllvm":
            self.device_only.append(value)
            self.llvm.append(value)
        elif value.startswith("-mllvm="):
            self.device_only += ["-mllvm", value[7:]]
            self.llvm.append(value[7:])
        elif value.startswith("-O"):
            self.device_opt = OPT_LEVELS.get(value[2:], value[2:])
        elif re.fullmatch(r"-g([1-3]|gdb.*|dwarf.*)?", value):
            self.debug = True
        else:
            self.device_only.append(value)

    def host_compiler(self, name, value, _parameter):
        if not re.match(r"clang", os.path.basename(value.rstrip("/"))):
            warn(f"{name} {value} has no effect: clang compiles the host's "
                 "code")

    def runtime(self, name, kind, _parameter):
        if kind not in ("none", "shared", "static"):
            raise Failure(f"{name} {kind}: none, shared or static")
        if kind == "static":
            warn(f"{name} static: the runtime is a shared library")
        self.with_runtime = kind != "none"

    def device_runtime(self, name, kind, _parameter):
        if kind not in ("none", "static"):
            raise Failure(f"{name} {kind}: none or static")

    def options_file(self, name, value, _parameter):
        if self.depth == RESPONSE_DEPTH:
            raise Failure(f"{value}: response files within each other")
        for path in value.split(","):
            try:
                with open(path, encoding="utf-8") as f:
                    words = shlex.split(f.read())
            except ValueError as e:
                raise Failure(f"{path}: {e}") from e
            self.depth += 1
            self.parse(words)
            self.depth -= 1

    def opt_level(self):
        """Of device code: as for the host, but high unless told."""
        level = self.device_opt or (
            "3" if self.opt is None else OPT_LEVELS.get(self.opt, self.opt))
        return level if level in "0123sz" else "3"

    def dialect(self, source):
        """Whose names a source with kernels uses."""
        kind = self.dialects[source]
        if kind == "maca":
            words = " ".join(self.compile).replace("-D ", "-D").split()
            for macro, other in table.ADAPTORS.items():
                if any(re.fullmatch(rf"-D{macro}(=.*)?", w) for w in words):
                    return other
        return kind

    def has_inputs(self):
        return any(kind != "option" for kind, _ in self.link)
