# SPDX-License-Identifier: MIT
"""The mxgpu device from Python: registers and fields by name, packets as
classes, page tables and queues as contexts, events to wait for.

    import mxgpu
    from mxgpu.packets import Copy

    with mxgpu.open() as gpu:
        gpu.boot()
        with gpu.address_space() as vm, vm.queue() as queue:
            memory = gpu.alloc_vram(8192)
            memory[0:5] = b"hello"
            va = vm.map(memory)
            queue.run(Copy(src=va, dst=va + 4096, size=5))

hw-mxgpu/docs/python.md is the tutorial.
"""
import os

from . import checkpoint as _checkpoints
from .device import Checkpoint, Gpu
from .errors import MessageRefused, MxgpuError, NotSupported, Timeout
from .events import Event, every, first
from .memory import Memory, System, Vram
from .paging import AddressSpace
from .queue import Queue, QueueStopped
from .sim import SimHost

_HERE = os.path.dirname(os.path.abspath(__file__))
_TREE = os.path.normpath(os.path.join(_HERE, "../../.."))


def _find(variable, what, *places):
    named = os.environ.get(variable)
    if named:
        return named
    for place in places:
        path = os.path.join(_TREE, place)
        if os.path.exists(path):
            return path
    raise MxgpuError(f"no {what} in {', '.join(places)}: {variable} names it")


def find_library():
    return _find("MXGPU_SIM_LIBRARY", "libmxgpu-sim.so",
                 "build/hw-mxgpu/sim/libmxgpu-sim.so",
                 "lib/libmxgpu-sim.so")


def find_firmware():
    return _find("MXGPU_FIRMWARE", "firmware",
                 "build/firmware/mxgpu-fw.bin",
                 "lib/firmware/mxgpu/mxgpu-fw.bin")


def open(device="sim", firmware=None, library=None, qemu=None, **options):
    """A device after power-on: "sim", in this process, with the options of
    MxgpuSimOptions (vram_size=..., compute_units=..., deterministic=True), or
    "qemu", a QEMU of its own, with the same names for the card's properties, and
    arguments=[...] of QEMU, or "vfio", a function that vfio-pci has: function=0,
    1 ... or its address.
    Paths are found in the build folder, and by MXGPU_SIM_LIBRARY,
    MXGPU_FIRMWARE and MXGPU_QEMU."""
    if device == "sim":
        host = SimHost(library or find_library(), **options)
    elif device == "qemu":
        from .qemu import QemuHost
        host = QemuHost(qemu, **options)
    elif device == "vfio":
        from .vfio import VfioHost
        host = VfioHost(**options)
    else:
        raise ValueError(f"no kind of device {device!r}")
    try:
        return Gpu(host, firmware or find_firmware())
    except BaseException:
        host.close()
        raise


def restore(path, library=None):
    """A device of this process as gpu.save() left it in a file, with the objects
    of that program: gpu.spaces by VMID, gpu.queues by number, gpu.named. They
    have been entered; who is done with the device closes it."""
    what, saved = _checkpoints.read(path)
    gpu = Gpu(SimHost(library or find_library(), **what["options"]))
    try:
        _checkpoints.rebuild(gpu, what)
        gpu.restore(saved)
    except BaseException:
        gpu.close()
        raise
    return gpu


__all__ = ["AddressSpace", "Checkpoint", "Event", "Gpu", "Memory",
           "MessageRefused", "MxgpuError", "NotSupported", "Queue",
           "QueueStopped", "System", "Timeout", "Vram", "every", "find_firmware",
           "find_library", "first", "open", "restore"]
