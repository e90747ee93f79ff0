# SPDX-License-Identifier: MIT
"""A device: its registers, memory, firmware, address spaces and events."""
import asyncio
import contextlib
import ctypes
import re
import time

from . import checkpoint as checkpoints
from . import events
from .checkpoint import Checkpoint
from .errors import MessageRefused, MxgpuError
from .memory import PAGE, Pages, Vram, align_up
from .paging import AddressSpace
from .regs import RegisterFile
from .tables import (ID_MAGIC, MSG_ABI, NUM_VMIDS, RESET_MAGIC, McuState,
                     MsgHello, MsgHelloResp, MsgPing, MsgStatus)


class Gpu:
    """What mxgpu.open() gives. A context that closes the device."""

    def __init__(self, host, firmware=None):
        self.host = host
        self.firmware = firmware
        self.reg = RegisterFile(host)
        self.vectors = [events.Vector(host, i) for i in range(host.vectors)]
        self.vmids = set()
        self.spaces = {}  # those that the device knows, by VMID
        self.named = {}   # memory that save() was told of, behind restore()
        self.queues = {}
        self.sequence = 0
        self._pages = Pages(PAGE, host.vram_size)
        self.hello = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.host.close()

    # ---- firmware

    def load_firmware(self, image):
        """Resets the device, puts an image (bytes) into SRAM, and starts it."""
        if self.reg.ID.read() != ID_MAGIC:
            raise MxgpuError("this is no mxgpu")
        self.reg.RESET.write(RESET_MAGIC)
        self.until(lambda: not self.reg.RESET_STATUS.BUSY, "end of reset").wait()
        self.reg.MCU_SRAM_ADDR = 0
        image += bytes(-len(image) % 4)
        for i in range(0, len(image), 4):
            self.reg.MCU_SRAM_DATA = int.from_bytes(image[i:i + 4], "little")
        self.reg.MCU_CTRL.START = 1

    def boot(self, firmware=None):
        """Loads firmware (a path; else the one of open()), waits until it is
        ready and says HELLO. Returns its answer, MsgHelloResp."""
        path = firmware or self.firmware
        if not path:
            raise MxgpuError("no firmware: MXGPU_FIRMWARE names one")
        with open(path, "rb") as f:
            self.load_firmware(f.read())
        self.until(self._booted, "ready firmware").wait()
        self.queues.clear()
        self.vmids.clear()
        self.spaces.clear()
        self.sequence = self.reg.MBOX_ACK.read()
        answer = self.message(MsgHello(abi=MSG_ABI))
        self.hello = MsgHelloResp.unpack(answer)
        return self.hello

    def _booted(self):
        status = self.reg.MCU_STATUS.decode()
        if status["STATE"] in (McuState.BOOT_ERROR, McuState.CRASHED):
            raise MxgpuError(f"the firmware does not start\n{self.status()}")
        return status["READY"] or None

    def alive(self):
        """Whether firmware runs."""
        status = self.reg.MCU_STATUS.decode()
        return status["STATE"] == McuState.RUNNING and bool(status["READY"])

    def _send(self, message):
        data = bytes(message).ljust(64, b"\0")
        for i in range(16):
            self.reg.MBOX_CMD[i].write(
                int.from_bytes(data[4 * i:4 * i + 4], "little"))
        self.sequence = self.sequence + 1 & 0xffffffff
        self.reg.MBOX_REQ = self.sequence
        sequence = self.sequence
        return self.until(lambda: self._answered(sequence),
                          f"answer to {message!r}")

    def _answered(self, sequence):
        if self.reg.MBOX_ACK.read() == sequence:
            return True
        if self.reg.MCU_STATUS.STATE == McuState.CRASHED:
            raise MxgpuError(f"the firmware crashed\n{self.status()}")
        return None

    def _answer(self, message):
        data = b"".join(self.reg.MBOX_RESP[i].read().to_bytes(4, "little")
                        for i in range(16))
        status = MsgStatus(int.from_bytes(data[:4], "little"))
        if status != MsgStatus.OK and not isinstance(message, MsgPing):
            raise MessageRefused(message, status)
        return data

    def message(self, message, timeout=events.LIMIT):
        """A request to the firmware; its answer, 64 bytes. Raises
        MessageRefused when that is not OK."""
        self._send(message).wait(timeout)
        return self._answer(message)

    def farewell(self, message):
        """The same while an exception is under way, which is the one to see."""
        if self.alive():
            with contextlib.suppress(MxgpuError, events.Timeout):
                self.message(message, 1)

    async def message_async(self, message):
        """The same in a coroutine. One at a time: there is one mailbox."""
        await self._send(message)
        return self._answer(message)

    # ---- memory

    def alloc_vram(self, size, align=PAGE):
        return Vram(self.host, self._pages.take(size, align),
                    align_up(max(size, 1), PAGE))

    def alloc_system(self, size):
        """Memory on the bus, zero at first, of whole pages."""
        return self.host.alloc_system(size)

    def free(self, memory):
        if memory.system:
            self.host.free_system(memory)
        else:
            self._pages.give(memory.address, memory.size)

    def vram(self, offset=0, size=None):
        """Any part of VRAM, taken or not."""
        size = self.host.vram_size - offset if size is None else size
        return Vram(self.host, offset, size)

    def address_space(self, vmid=None):
        free = set(range(1, NUM_VMIDS)) - self.vmids
        if vmid is None:
            if not free:
                raise MxgpuError("every VMID is taken")
            vmid = min(free)
        if vmid in self.vmids:
            raise MxgpuError(f"VMID {vmid} is taken")
        self.vmids.add(vmid)
        return AddressSpace(self, vmid)

    def take_queue(self, number):
        count = self.reg.QUEUE_CAPS.QUEUES
        if number is None:
            number = min(set(range(count)) - set(self.queues), default=count)
        if number >= count:
            raise MxgpuError(f"there are {count} queues")
        return number

    # ---- events

    def interrupt(self, vector=0):
        """The event that a vector is raised: how often since it was taken."""
        return events.Event(self, self.vectors[vector].take,
                            f"interrupt of vector {vector}", vector)

    def until(self, condition, what="such state", vector=None):
        """The event that condition() is neither None nor False."""
        def check():
            value = condition()
            return None if value is False else value
        return events.Event(self, check, what, vector)

    def written(self, memory, value, offset=0, size=8):
        """The event that a word of memory has a value."""
        def check():
            data = memory.read(offset, size)
            return int.from_bytes(data, "little") == value or None
        return events.Event(self, check, f"{value:#x} at {offset:#x}")

    def after(self, nanoseconds):
        """The event that the device's clock has gone on by so much."""
        end = self.clock() + nanoseconds
        return self.until(lambda: self.clock() >= end, "later time")

    def logged(self, pattern):
        """The event that a line of the firmware's console, or the model's log,
        matches; those that were there before count too. Gives the match."""
        regex = re.compile(pattern)

        def check():
            return next((m for m in map(regex.search, list(self.log)) if m),
                        None)
        return events.Event(self, check, f"line {pattern!r}")

    @property
    def log(self):
        return self.host.lines

    def relax(self, vector):
        """Lets some time pass, or less when the vector is raised."""
        if vector is None:
            self.host.tick()
            time.sleep(events.TICK)
        else:
            self.vectors[vector].sleep()

    async def relax_async(self, vector):
        if vector is None:
            self.host.tick()
            await asyncio.sleep(events.TICK)
        else:
            await self.vectors[vector].sleep_async()

    def clock(self):
        """The device's clock in nanoseconds."""
        return self.reg.CLOCK.read()

    # ---- looking

    def inspect(self, command="status"):
        """What the device is doing, in words; docs/debugging.md lists what can
        be asked."""
        return self.host.inspect(command)

    def status(self):
        """What a report of a failure should say: never raises."""
        parts = []
        for name in ("MCU_STATUS", "MCU_PC", "MCU_RA", "MCU_TRAP_CAUSE",
                     "MCU_TRAP_PC", "ERR_STATUS", "ERR_INFO", "IRQ_STATUS"):
            register = getattr(self.reg, name)
            value = register.read()
            fields = ", ".join(f"{k}={v}" for k, v in
                               register.decode(value).items() if v)
            parts.append(f"{name} {value:#010x} {fields}".rstrip())
        return "\n".join(parts + [f"log: {line}" for line in self.log[-8:]])

    # ---- reset, stop, checkpoints

    def reset(self):
        """A function-level reset: no firmware runs behind it."""
        self.host.reset()
        self.queues.clear()
        self.vmids.clear()
        self.spaces.clear()

    def pause(self):
        self.host.pause()

    def resume(self):
        self.host.resume()

    def checkpoint(self):
        """The device with VRAM and mapped system memory. What the program holds
        (memory, address spaces, queues) must be the same at restore()."""
        self.host.pause()
        try:
            for vector in self.vectors:
                vector.drain()
            device = self.host.save()
            system = {at: bytes(b) for at, b in
                      self.host.system_memory().items()}
        finally:
            self.host.resume()
        return Checkpoint(device, system, self._program())

    def _program(self):
        return (self.sequence,
                {n: q.write_index for n, q in self.queues.items()},
                [(v.total, v.taken) for v in self.vectors])

    def save(self, path, **named):
        """A checkpoint as a file, for mxgpu.restore() of any later program.
        named: memory that it finds in gpu.named again."""
        checkpoints.write(self, path, named)

    def restore(self, checkpoint):
        memory = self.host.system_memory()
        if set(memory) != set(checkpoint.system) or \
                set(self.queues) != set(checkpoint.program[1]):
            raise MxgpuError("memory or queues were made or freed since")
        self.host.pause()
        try:
            self.host.load(checkpoint.device)
            for at, data in checkpoint.system.items():
                memory[at][:] = data
            for vector, counts in zip(self.vectors, checkpoint.program[2]):
                vector.drain()
                vector.total, vector.taken = counts
            self.sequence = checkpoint.program[0]
            for number, index in checkpoint.program[1].items():
                self.queues[number].write_index = index
        finally:
            self.host.resume()


assert ctypes.sizeof(MsgPing) == 64
