# SPDX-License-Identifier: MIT
"""Queues: a ring of packets, and what becomes of each."""
import ctypes

from .base import Packet
from .events import Event
from .packets import Nop
from .tables import (PACKET_SIZE, PKT_BARRIER, PKT_IRQ, Fault,
                     MsgQueueCreate, MsgQueueDestroy, QueueCtl, QueueErrorCode,
                     QueueState)

NO_VECTOR = 0xffffffff


class QueueStopped(Exception):
    """The queue stopped; error is its record (QueueError)."""

    def __init__(self, queue, error):
        self.queue, self.error = queue, error
        super().__init__(
            f"queue {queue.number} stopped at packet {error.packet_index}: "
            f"{_name(QueueErrorCode, error.code)}, "
            f"{_name(Fault, error.fault)} at {error.fault_addr:#x}, "
            f"field {error.field}")


def _name(of, value):
    try:
        return of(value).name
    except ValueError:
        return f"{of.__name__} {value}"


class Queue:
    """A context. Packets go in by submit(), which gives an event, or by push()
    and ring() for those who look after completion themselves.

        with vm.queue() as queue:
            queue.submit(Copy(src=a, dst=b, size=64)).wait()
    """

    def __init__(self, vm, number=None, log2_packets=6, vector=None,
                 priority=0):
        self._lay_out(vm, vm.gpu.take_queue(number), log2_packets, priority)
        if vector is None:
            vector = self.number + 1
            if vector >= len(self.gpu.vectors):
                vector = NO_VECTOR
        self.vector = vector
        self.memory = self.gpu.alloc_system(self._ctl + 4096)
        self.memory.fill(0)
        self.write_index = 0
        self.va = None

    def _lay_out(self, vm, number, log2_packets, priority):
        self.vm, self.gpu, self.number = vm, vm.gpu, number
        self.size = 1 << log2_packets
        self.log2_packets, self.priority = log2_packets, priority
        # A page apart: ring, a signal for each slot, control block.
        self._signals = self.size * PACKET_SIZE
        self._ctl = self._signals + max(self.size * 8, 4096)

    def rebuild(self, vm, saved, memory):
        """One that the device knows already, by checkpoint.describe()."""
        self._lay_out(vm, saved["number"], saved["log2_packets"],
                      saved["priority"])
        self.vector, self.va = saved["vector"], saved["va"]
        self.memory, self.write_index = memory, saved["write_index"]

    def __enter__(self):
        self.va = self.vm.map(self.memory, "rw")
        self.gpu.message(MsgQueueCreate(
            queue=self.number, vmid=self.vm.vmid, priority=self.priority,
            ring=self.va, log2_packets=self.log2_packets,
            ctl=self.va + self._ctl, vector=self.vector))
        self.gpu.queues[self.number] = self
        return self

    def __exit__(self, kind, *_):
        try:
            if kind:
                self.gpu.farewell(MsgQueueDestroy(queue=self.number))
            else:
                self.gpu.message(MsgQueueDestroy(queue=self.number))
                self.vm.unmap(self.va, self.memory.size)
        finally:
            self.gpu.queues.pop(self.number, None)
            self.gpu.free(self.memory)

    @property
    def ctl(self):
        return self.memory.get(QueueCtl, self._ctl)

    def push(self, packet):
        """Puts a packet (or 64 bytes) into the ring; returns its index. Waits
        for room."""
        if self.write_index >= self.size:
            Event(self.gpu, self._room, f"room in queue {self.number}",
                  self._wake()).wait()
        data = bytes(packet)
        if len(data) != PACKET_SIZE:
            raise ValueError(f"a packet of {len(data)} bytes")
        self.memory.write(data, self.write_index % self.size * PACKET_SIZE)
        self.write_index += 1
        return self.write_index - 1

    def _room(self):
        ctl = self.ctl
        self._raise_if_stopped(ctl)
        return self.write_index - ctl.read_index < self.size or None

    def _wake(self):
        return None if self.vector == NO_VECTOR else self.vector

    def ring(self):
        """Tells the device of what was pushed."""
        self.gpu.host.doorbell(self.number, self.write_index)

    def submit(self, *packets):
        """Pushes packets (or bytes of 64) and rings. The event is that the last
        is complete, and gives its index; it raises QueueStopped when the queue
        stops first. Where the last has a signal of its own, or is bytes, a Nop
        with BARRIER behind it tells."""
        last = packets[-1]
        if not isinstance(last, Packet) or last.signal_addr:
            packets += (Nop(flags=PKT_BARRIER),)
        for packet in packets[:-1]:
            self.push(packet)
        event = self._push_signalled(packets[-1])
        self.ring()
        return event

    def _push_signalled(self, packet):
        index = self.write_index
        slot = self._signals + index % self.size * 8
        packet = type(packet).unpack(bytes(packet))
        packet.signal_addr = self.va + slot
        packet.signal_value = index + 1
        if self._wake() is not None:
            packet.flags |= PKT_IRQ
        self.push(packet)
        return self.completion(index)

    def completion(self, index):
        """The event that submit() gave for its last packet, of that index: for
        those that were submitted before a checkpoint."""
        slot = self._signals + index % self.size * 8
        return Event(self.gpu, lambda: self._complete(slot, index),
                     f"completion of packet {index} of queue {self.number}",
                     self._wake())

    def _complete(self, slot, index):
        # A later packet of the same slot may have signalled meanwhile.
        if self.memory.read_u64(slot) > index:
            return index
        self._raise_if_stopped(self.ctl)
        return None

    def _raise_if_stopped(self, ctl):
        if ctl.state != QueueState.ACTIVE:
            raise QueueStopped(self, ctl.error)

    def run(self, *packets):
        """submit() and wait."""
        return self.submit(*packets).wait()

    def stopped(self):
        """The event that the queue stops, with its error record."""
        def check():
            ctl = self.ctl
            return None if ctl.state == QueueState.ACTIVE else ctl.error
        return Event(self.gpu, check, f"stop of queue {self.number}",
                     self._wake())

    def packets(self):
        """What is in the ring and not fetched yet, decoded."""
        first = self.ctl.read_index
        for i in range(first, self.write_index):
            data = self.memory.read(i % self.size * PACKET_SIZE, PACKET_SIZE)
            yield Packet.decode(data)


assert ctypes.sizeof(QueueCtl) == 128
