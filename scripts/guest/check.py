# SPDX-License-Identifier: MIT
"""run-guest --memcheck: the checkers of the runtime (runtime/check/remote) in
QEMU, and the port on which programs of the guest talk to them."""

import os
import shutil
import tempfile

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
PORT = "org.mxgpu.check"
LIBRARY = "libmxgpu-check.so"


class CheckError(Exception):
    pass


class Checker:
    def __init__(self, tool, top):
        places = [os.path.join(os.environ.get("MACA_PATH", ""), "lib"),
                  os.path.join(top, "build/runtime"),
                  os.path.join(top, "build/install/lib")]
        found = [path for path in (os.path.join(p, LIBRARY) for p in places)
                 if os.path.isabs(path) and os.path.isfile(path)]
        if not found:
            raise CheckError(f"no {LIBRARY} in " + ", ".join(places))
        self.library, self.tool = found[0], tool
        self.folder = tempfile.mkdtemp(prefix="mxgpu-check.")
        self.socket = os.path.join(self.folder, "socket")
        # What mx-memcheck has set, it has set for QEMU too.
        os.environ.update(MXGPU_MEMCHECK=tool,
                          MXGPU_MEMCHECK_SOCKET=self.socket)
        self.suppressions = os.environ.get("MXGPU_MEMCHECK_SUPPRESSIONS")

    def stop(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def qemu_words(self):
        return ["-chardev", f"socket,id=check,path={self.socket},server=on,"
                "wait=off", "-device", "virtio-serial-pci,id=checks",
                "-device", "virtserialport,bus=checks.0,chardev=check,"
                f"name={PORT}"]

    def properties(self):
        """Of devices."""
        strict = ",strict-alignment=on" if self.tool == "memcheck" else ""
        return f",observer={self.library}{strict}"

    def environment(self):
        """Of the program."""
        return {"MXGPU_MEMCHECK": self.tool, "MXGPU_MEMCHECK_PORT": PORT,
                "MXGPU_MEMCHECK_SOCKET": ""}
