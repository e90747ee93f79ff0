# SPDX-License-Identifier: MIT
"""What a command line asks for, step by step."""
import os
import subprocess

from driver.compile import Compiler, DEVICE_TRIPLE
from driver.install import Install
from driver.link import Linker
from driver.options import Command
from driver.output import Outputs, is_stream
from driver.process import Processes
from driver.report import Failure

VERSION = "0.1.0"

USAGE = """usage: mxcc [options] FILE...

Compiles .maca, .cu and .hip files, and others after -x maca, cu or hip, for
host and device; passes other sources, objects and libraries on. Options of clang apply, most of
nvcc's (docs/mxcc.md lists them), and:

  -x maca, cu, hip        the files that follow have kernels
  -c, -S, -E, -M, -o FILE as usual (-S and -E: the host's part)
  -fatbin, -cubin         write a code object for mcModuleLoad
  -dc, -rdc=true          device code that is linked across files
  -dlink, -lib            link device code only; make a static library
  -maca-device-only       with -S or -E: the device's part
  -maca-host-only         leave the device's part out
  --offload-arch=ARCH     xcore1000 or native: there is one device
  -Xarch_device OPTION    for kernels only; -Xarch_host: for the host only
  --maca-path=DIR         where include/ and lib/ of the runtime are
  --default-stream KIND   legacy (default) or per-thread
  -use-fast-math          -ffast-math
  -lineinfo               line numbers in kernels
  -resource-usage         report registers, shared memory and stack of kernels
  --keep                  leave intermediate files in FILE.mxcc/
  -v, -###, --version, --help
"""

SUFFIXES = {"c": ".o", "S": ".s", "fatbin": ".fatbin", "cubin": ".cubin"}
FLAGS = {"c": "-c", "S": "-S", "E": "-E", "M": None,
         "syntax": "-fsyntax-only"}
LINKS = {"link": "a.out", "dlink": "a_dlink.o", "dlink-fatbin":
         "a_dlink.fatbin", "dlink-cubin": "a_dlink.cubin", "lib": "a.a"}


def information(command, install):
    if command.info == "--version":
        clang = subprocess.run([install.clang, "--version"], check=True,
                               stdout=subprocess.PIPE, encoding="utf-8")
        print(f"mxcc version {VERSION} (mxgpu)\n"
              f"based on {clang.stdout.splitlines()[0]}\n"
              f"Target: xcore1000 ({DEVICE_TRIPLE})")
    elif command.info == "-dumpmachine":
        subprocess.run([install.clang, "-dumpmachine"], check=True)
    elif command.info == "-dumpversion":
        print(VERSION)
    else:
        print(USAGE, end="")


class Driver:
    def __init__(self, command, install, temps):
        self.cmd, self.temps = command, temps
        self.processes = Processes(command.verbose, command.dry)
        self.outputs = Outputs(temps, command.dry)
        self.compiler = Compiler(command, install, self.processes, temps)
        self.linker = Linker(command, install, self.processes, self.compiler)

    def name_of(self, source, suffix):
        """What the output of one source is called."""
        name = self.cmd.output
        if not name:
            stem = os.path.splitext(os.path.basename(source))[0]
            name = stem + suffix
        if self.cmd.folder and name != "-" and not os.path.isabs(name):
            name = os.path.join(self.cmd.folder, name)
        return name

    def one_source(self, source, compile_to):
        """Compiles it without a link step."""
        mode = self.cmd.mode
        if mode == "syntax":
            compile_to(os.devnull)
            return
        name = (self.cmd.output or "-") if mode in ("E", "M") else \
            self.name_of(source, SUFFIXES[mode])
        if mode in ("E", "M") and is_stream(name):
            compile_to(name) # no need to wait for its end
            return
        made = self.outputs.begin(name)
        compile_to(made)
        self.outputs.commit(made)

    def separate(self):
        for kind, what in self.cmd.link:
            if kind == "maca":
                self.one_source(
                    what, lambda to, s=what: self.compiler.compile(s, to))
            elif kind == "source":
                if self.cmd.mode not in FLAGS:
                    raise Failure(f"{what[1]}: no kernels in it; -x maca says "
                                  "there are")
                self.one_source(
                    what[1], lambda to, w=what: self.linker.source(
                        w, FLAGS[self.cmd.mode], to, self.cmd.output))

    def objects(self):
        """Of all sources: where they are."""
        made, steps = {}, []
        for kind, what in self.cmd.link:
            if kind == "maca":
                made[what] = self.compiler.temp(what, "host.o")
                steps.append((self.compiler.compile, what, made[what]))
            elif kind == "source":
                made[what[1]] = self.compiler.temp(what[1], "plain.o")
                steps.append((self.linker.source, what, "-c", made[what[1]],
                              self.cmd.output))
        if self.cmd.jobs > 1 and len(steps) > 1:
            # pylint: disable=import-outside-toplevel
            from concurrent.futures import ThreadPoolExecutor
            with ThreadPoolExecutor(self.cmd.jobs) as pool:
                for done in [pool.submit(*step) for step in steps]:
                    done.result()
        else:
            for step in steps:
                step[0](*step[1:])
        return made

    def together(self):
        made = self.objects()
        name = self.cmd.output or LINKS[self.cmd.mode]
        if self.cmd.folder and not os.path.isabs(name):
            name = os.path.join(self.cmd.folder, name)
        output = self.outputs.begin(name)
        if self.cmd.mode == "link":
            self.linker.program(made, output)
        elif self.cmd.mode == "lib":
            self.linker.static_library(made, output)
        else:
            self.linker.link_only_device(made, output)
        self.outputs.commit(output)

    def run(self):
        cmd = self.cmd
        count = sum(kind in ("maca", "source") for kind, _ in cmd.link)
        if cmd.mode not in LINKS and cmd.output and count > 1:
            raise Failure("-o with several files needs a link step")
        try:
            if cmd.mode in LINKS:
                self.together()
            else:
                self.separate()
        finally:
            self.processes.stop()
            self.outputs.discard()


def run(argv, here, conf, temps):
    command = Command(argv)
    if command.info in ("--help", "-dumpversion"):
        information(command, None)
        return
    install = Install(here, conf)
    if command.maca_path:
        install.set_root(command.maca_path)
    if command.info:
        information(command, install)
        return
    if not command.has_inputs():
        raise Failure("no input files")
    Driver(command, install, temps).run()
