# SPDX-License-Identifier: MIT
"""Devices at a moment: in memory, for the program that took it, and as a file, for
any later one."""
import ctypes
import json
import os
import struct
import tempfile
import zlib

from .errors import MxgpuError
from .memory import System, Vram
from .paging import AddressSpace
from .queue import Queue
from .tables import MsgHelloResp

MAGIC = b"MXGPU-PY"
VERSION = 1
# Magic, version, bytes of the description, CRC-32 of all behind this head.
HEAD = struct.Struct("<8s3I")
PIECE = 1 << 20


class Checkpoint:
    """A device at a moment, with the memory it reaches, for gpu.restore()."""

    def __init__(self, device, system, program):
        self.device, self.system, self.program = device, system, program


def _pages(pages):
    return [list(r) for r in pages.free]


def describe(gpu, saved, named):
    """What a program has to know to go on, as JSON has it."""
    memory = {}
    for name, m in named.items():
        if not isinstance(m, (System, Vram)):
            raise TypeError(f"{name} is no memory of a device")
        memory[name] = [m.system, m.address, m.size]
    sequence, indices, vectors = saved.program
    return {
        "options": gpu.host.options, "firmware": gpu.firmware,
        "hello": bytes(gpu.hello).hex() if gpu.hello else None,
        "sequence": sequence, "vectors": vectors,
        "vram": _pages(gpu._pages), "bus": _pages(gpu.host._bus),
        "spaces": [{
            "vmid": s.vmid, "root": s.root, "tables": list(s._tables),
            "ranges": _pages(s._ranges), "taken": list(s._taken.items()),
        } for s in gpu.spaces.values()],
        "queues": [{
            "vmid": q.vm.vmid, "number": n, "log2_packets": q.log2_packets,
            "priority": q.priority, "vector": q.vector, "va": q.va,
            "memory": q.memory.address, "write_index": indices[n],
        } for n, q in gpu.queues.items()],
        "named": memory,
        "system": [[at, len(data)] for at, data in saved.system.items()],
        "device": len(saved.device),
    }


def write(gpu, path, named):
    """A file that is there as a whole or not at all."""
    saved = gpu.checkpoint()
    text = json.dumps(describe(gpu, saved, named)).encode()
    parts = [text, *saved.system.values(), saved.device]
    crc = 0
    for part in parts:
        crc = zlib.crc32(part, crc)
    folder = os.path.dirname(os.path.abspath(path))
    fd, made = tempfile.mkstemp(prefix=".mxgpu.", dir=folder)
    try:
        with open(fd, "wb") as f:
            f.write(HEAD.pack(MAGIC, VERSION, len(text), crc))
            for part in parts:
                f.write(part)
        os.replace(made, path)
    except BaseException:
        os.unlink(made)
        raise


def read(path):
    """(description, Checkpoint). MxgpuError: it is no such file, or not whole."""
    with open(path, "rb") as f:
        head = f.read(HEAD.size)
        body = f.read()
    if len(head) != HEAD.size or not head.startswith(MAGIC):
        raise MxgpuError(f"{path}: no checkpoint of this package")
    _, version, length, crc = HEAD.unpack(head)
    if version != VERSION:
        raise MxgpuError(f"{path}: version {version} of such files, not "
                         f"{VERSION}")
    if zlib.crc32(body) != crc:
        raise MxgpuError(f"{path}: not whole, or damaged")
    what = json.loads(body[:length])
    at, system = length, {}
    for address, size in what["system"]:
        system[address] = body[at:at + size]
        at += size
    program = (what["sequence"],
               {q["number"]: q["write_index"] for q in what["queues"]},
               what["vectors"])
    return what, Checkpoint(body[at:at + what["device"]], system, program)


def rebuild(gpu, what):
    """Gives a device that was just opened the objects of the program that saved
    it. Nothing is told to the device: it is about to know."""
    gpu.firmware = what["firmware"]
    if what["hello"]:
        gpu.hello = MsgHelloResp.unpack(bytes.fromhex(what["hello"]))
    gpu._pages.free = [tuple(r) for r in what["vram"]]
    memory = {at: gpu.host._map(at, size) for at, size in what["system"]}
    gpu.host._bus.free = [tuple(r) for r in what["bus"]]
    for space in what["spaces"]:
        vm = AddressSpace.__new__(AddressSpace)
        vm.rebuild(gpu, space)
        gpu.spaces[vm.vmid] = vm
        gpu.vmids.add(vm.vmid)
    for one in what["queues"]:
        queue = Queue.__new__(Queue)
        queue.rebuild(gpu.spaces[one["vmid"]], one, memory[one["memory"]])
        gpu.queues[queue.number] = queue
    gpu.named = {
        name: _part(memory, at, size) if system else gpu.vram(at, size)
        for name, (system, at, size) in what["named"].items()}


def _part(memory, at, size):
    """The piece of system memory that holds these addresses."""
    if at in memory and memory[at].size == size:
        return memory[at]
    raise MxgpuError(f"{size:#x} bytes at {at:#x} were freed before the "
                     "checkpoint")


assert ctypes.sizeof(MsgHelloResp) <= 64
