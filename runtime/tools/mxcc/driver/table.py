# SPDX-License-Identifier: MIT
"""Options that are not clang's, or mean more here than to clang.

A row is a name without its dashes, which may be one or two, what follows it
and what it does: a method of options.Command, with a parameter. Everything that
is not listed goes to clang, which refuses what it does not know.
docs/mxcc.md has the same list with the reasons.
"""

NONE, ONE = False, True # values that an option takes

_NO_PTX = ("there is no PTX: -fatbin and -cubin write code objects, "
           "-S -maca-device-only assembly")
_REGISTERS = "every thread has all registers: no limit"
_EDG = "messages are clang's, which -W options choose"
_PCH = "-pch precompiles the runtime's header"
_STAGES = "-v and --keep show the stages of a compilation"

# nvcc's long names of what clang has too
ALIASES = {
    "compile": ("-c", NONE),
    "preprocess": ("-E", NONE),
    "generate-dependencies": ("-M", NONE),
    "generate-nonsystem-dependencies": ("-MM", NONE),
    "generate-dependencies-with-compile": ("-MD", NONE),
    "generate-nonsystem-dependencies-with-compile": ("-MMD", NONE),
    "generate-dependency-targets": ("-MP", NONE),
    "dependency-output": ("-MF", ONE),
    "dependency-target-name": ("-MT", ONE),
    "output-file": ("-o", ONE),
    "pre-include": ("-include", ONE),
    "define-macro": ("-D", ONE),
    "undefine-macro": ("-U", ONE),
    "include-path": ("-I", ONE),
    "system-include": ("-isystem", ONE),
    "library": ("-l", ONE),
    "library-path": ("-L", ONE),
    "optimize": ("-O", ONE),
    "debug": ("-g", NONE),
    "profile": ("-pg", NONE),
    "shared": ("-shared", NONE),
    "disable-warnings": ("-w", NONE),
    "no-exceptions": ("-fno-exceptions", NONE),
    "noeh": ("-fno-exceptions", NONE),
    "host-relocatable-link": ("-r", NONE),
}

TABLE = {
    # what is made
    "c": (NONE, "set_mode", "c"),
    "S": (NONE, "set_mode", "S"),
    "E": (NONE, "set_mode", "E"),
    "M": (NONE, "dependencies", "-M"),
    "MM": (NONE, "dependencies", "-MM"),
    "fsyntax-only": (NONE, "set_mode", "syntax"),
    "fatbin": (NONE, "set_mode", "fatbin"),
    "genco": (NONE, "set_mode", "fatbin"),
    "cubin": (NONE, "set_mode", "cubin"),
    "link": (NONE, "set_mode", "link"),
    "lib": (NONE, "set_mode", "lib"),
    "dlink": (NONE, "set_mode", "dlink"),
    "device-link": (NONE, "set_mode", "dlink"),
    "dc": (NONE, "relocatable", "c"),
    "device-c": (NONE, "relocatable", "c"),
    "dw": (NONE, "whole_program", "c"),
    "device-w": (NONE, "whole_program", "c"),
    "fgpu-rdc": (NONE, "relocatable", None),
    "fno-gpu-rdc": (NONE, "whole_program", None),
    "rdc": (ONE, "choose_rdc", None),
    "relocatable-device-code": (ONE, "choose_rdc", None),
    "maca-device-only": (NONE, "set_side", "device"),
    "cuda-device-only": (NONE, "set_side", "device"),
    "maca-host-only": (NONE, "set_side", "host"),
    "cuda-host-only": (NONE, "set_side", "host"),
    "o": (ONE, "set_output", None),
    "odir": (ONE, "set_folder", None),
    "output-directory": (ONE, "set_folder", None),
    "x": (ONE, "set_language", None),
    "ptx": (NONE, "refuse", _NO_PTX),
    "optix-ir": (NONE, "refuse", _NO_PTX),
    "ltoir": (NONE, "refuse", _NO_PTX),
    "cuda": (NONE, "refuse", _STAGES),
    "emit-llvm": (NONE, "refuse", "--keep leaves the bitcode of kernels"),
    "opt-info": (ONE, "refuse", "-Rpass= reports optimisations"),
    "run": (NONE, "refuse", "start the program yourself"),
    "clean-targets": (NONE, "refuse", "mxcc removes no outputs"),
    "m32": (NONE, "refuse", "pointers have 64 bits"),
    "m64": (NONE, "accept", None),
    "machine": (ONE, "machine", None),
    # devices
    "offload-arch": (ONE, "offload_arch", None),
    "cuda-gpu-arch": (ONE, "offload_arch", None),
    "amdgpu-target": (ONE, "offload_arch", None),
    "arch": (ONE, "gpu_arch", None),
    "gpu-architecture": (ONE, "gpu_arch", None),
    "code": (ONE, "gpu_arch", None),
    "gpu-code": (ONE, "gpu_arch", None),
    "gencode": (ONE, "generate_code", None),
    "generate-code": (ONE, "generate_code", None),
    # code of kernels
    "use-fast-math": (NONE, "fast_math", None),
    "use_fast_math": (NONE, "fast_math", None),
    "ftz": (ONE, "boolean", None),
    "prec-div": (ONE, "boolean", {"false": "-freciprocal-math"}),
    "prec-sqrt": (ONE, "boolean", None),
    "fmad": (ONE, "boolean", {"true": "-ffp-contract=fast",
                              "false": "-ffp-contract=off"}),
    "lineinfo": (NONE, "flag", "lineinfo"),
    "generate-line-info": (NONE, "flag", "lineinfo"),
    "G": (NONE, "device_debug", None),
    "device-debug": (NONE, "device_debug", None),
    "dopt": (ONE, "device_optimise", None),
    "maxrregcount": (ONE, "warn", _REGISTERS),
    "resource-usage": (NONE, "flag", "usage"),
    "res-usage": (NONE, "flag", "usage"),
    "restrict": (NONE, "accept", None),
    "extra-device-vectorization": (NONE, "accept", None),
    "dlto": (NONE, "accept", None),
    "default-stream": (ONE, "stream", None),
    "warp-size": (ONE, "set_warp_size", None),
    "mllvm": (ONE, "mllvm", None),
    "Xptxas": (ONE, "ptxas", None),
    "ptxas-options": (ONE, "ptxas", None),
    "Xnvlink": (ONE, "nvlink", None),
    "nvlink-options": (ONE, "nvlink", None),
    "Xfatbin": (ONE, "fatbin_options", None),
    "fatbin-options": (ONE, "fatbin_options", None),
    "no-compress": (NONE, "accept", None),
    # the language
    "std": (ONE, "joined", "-std="),
    "ftemplate-depth": (ONE, "joined", "-ftemplate-depth="),
    "ftemplate-backtrace-limit": (ONE, "joined",
                                  "-ftemplate-backtrace-limit="),
    "extended-lambda": (NONE, "accept", None),
    "expt-extended-lambda": (NONE, "accept", None),
    "expt-relaxed-constexpr": (NONE, "accept", None),
    "Werror": (ONE, "werror", None),
    "Wno-deprecated-gpu-targets": (NONE, "accept", None),
    "Wdefault-stream-launch": (NONE, "warn", _EDG),
    "Wmissing-launch-bounds": (NONE, "warn", _EDG),
    "Wext-lambda-captures-this": (NONE, "warn", _EDG),
    "diag-suppress": (ONE, "accept", None),
    "diag-warn": (ONE, "refuse", _EDG),
    "diag-error": (ONE, "refuse", _EDG),
    "display-error-number": (NONE, "accept", None),
    "no-display-error-number": (NONE, "accept", None),
    "Xcudafe": (ONE, "cudafe", None),
    # the host's side
    "Xcompiler": (ONE, "host_options", None),
    "compiler-options": (ONE, "host_options", None),
    "Xlinker": (ONE, "linker_options", None),
    "linker-options": (ONE, "linker_options", None),
    "Xarch_host": (ONE, "one_side", "host"),
    "Xarch_device": (ONE, "one_side", "device"),
    "Xarch_xcore1000": (ONE, "one_side", "device"),
    "Xarch_x86_64": (ONE, "one_side", "host"),
    "ccbin": (ONE, "host_compiler", None),
    "compiler-bindir": (ONE, "host_compiler", None),
    "allow-unsupported-compiler": (NONE, "accept", None),
    "forward-unknown-to-host-compiler": (NONE, "accept", None),
    "forward-unknown-to-host-linker": (NONE, "accept", None),
    "forward-unknown-opts": (NONE, "accept", None),
    "cudart": (ONE, "runtime", None),
    "cudadevrt": (ONE, "device_runtime", None),
    "maca-path": (ONE, "set_path", None),
    "rocm-path": (ONE, "accept", None),
    "hip-path": (ONE, "accept", None),
    "cuda-path": (ONE, "refuse", "--maca-path names the runtime"),
    "maca-link": (NONE, "accept", None),
    "hip-link": (NONE, "accept", None),
    "maca-device-lib": (NONE, "accept", None),
    "device-obj": (NONE, "refuse", "-dc makes objects with device code"),
    "input-is-device": (NONE, "refuse", "-dlink links device code"),
    # how mxcc works
    "mcrtc-names": (ONE, "set_names", None),
    "pch": (NONE, "precompile", None),
    "pch-dir": (ONE, "precompile", None),
    "create-pch": (ONE, "refuse", _PCH),
    "use-pch": (ONE, "refuse", _PCH),
    "pch-messages": (ONE, "accept", None),
    "pch-verbose": (NONE, "accept", None),
    "threads": (ONE, "set_jobs", None),
    "split-compile": (ONE, "accept", None),
    "keep": (NONE, "flag", "keep"),
    "save-temps": (NONE, "flag", "keep"),
    "keep-dir": (ONE, "set_keep", None),
    "v": (NONE, "flag", "verbose"),
    "verbose": (NONE, "flag", "verbose"),
    "###": (NONE, "flag", "dry"),
    "dryrun": (NONE, "flag", "dry"),
    "options-file": (ONE, "options_file", None),
    "optf": (ONE, "options_file", None),
    "version": (NONE, "set_info", "--version"),
    "V": (NONE, "set_info", "--version"),
    "help": (NONE, "set_info", "--help"),
    "h": (NONE, "set_info", "--help"),
    "dumpversion": (NONE, "set_info", "-dumpversion"),
    "dumpmachine": (NONE, "set_info", "-dumpmachine"),
}

# options of clang whose value is the next argument
SEPARATE = {
    "-I", "-D", "-U", "-L", "-l", "-F", "-B", "-include", "-imacros",
    "-isystem", "-iquote", "-idirafter", "-iprefix", "-iwithprefix",
    "-iwithprefixbefore", "-isysroot", "--sysroot", "-include-pch",
    "-ivfsoverlay", "-MF", "-MT", "-MQ", "-MJ", "-Xclang", "-Xpreprocessor",
    "-Xassembler", "-Xanalyzer", "-Xopenmp-target", "--param", "-u", "-e",
    "-z", "-T", "-rpath", "-target", "-working-directory", "-wrapper",
    "--serialize-diagnostics", "-dumpdir", "-dwarf-debug-flags",
}
# Options of hipcc that name devices of AMD's.
OF_HIP = ("offload-arch", "amdgpu-target")
LINK_ONLY = ("-l", "-L", "-Wl,", "-shared", "-static", "-rdynamic", "-pie",
             "-no-pie", "-nostdlib", "-nodefaultlibs", "-nostartfiles",
             "-fuse-ld=", "-r", "-s", "-rpath")
LINK_EXACT = {"-u", "-z", "-T", "-e", "-r", "-s"}
# Files with kernels, and whose names they use.
KERNELS = {".maca": "maca", ".cu": "cuda", ".hip": "hip"}
DIALECTS = {"maca": "maca", "cu": "cuda", "cuda": "cuda", "hip": "hip"}
# Macros of the vendor's that choose it for .maca files.
ADAPTORS = {"ENABLE_CUDA_TO_MACA_ADAPTOR": "cuda",
            "ENABLE_HIP_TO_MACA_ADAPTOR": "hip"}
# Libraries of other toolkits: what they have is linked as it is needed.
TOOLKIT_LIBRARIES = {"-lcudart", "-lcudart_static", "-lcuda", "-lcudadevrt",
                     "-lamdhip64", "-lhip_hcc"}
SOURCES = {".c": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++",
           ".C": "c++", ".c++": "c++", ".s": "assembler",
           ".S": "assembler-with-cpp", ".i": "cpp-output",
           ".ii": "c++-cpp-output"}
# inputs that clang would make something of, and we would not
FOREIGN = (".cui", ".ptx", ".gpu", ".bc", ".ll")
CODE_OBJECTS = (".cubin", ".fatbin") # for -dlink only

# What device code is not compiled with, whatever the option says.
HOST_ONLY = ("-march", "-mcpu", "-mtune", "-mabi", "-mcmodel", "-fsanitize",
             "-fprofile", "-fcoverage", "--coverage", "-coverage",
             "-fopenmp", "-fstack-protector", "-fpic", "-fPIC", "-fpie",
             "-fPIE", "-pg", "-fvisibility", "-ffunction-sections",
             "-fdata-sections", "-pthread", "-Wl,", "-l", "-L")
