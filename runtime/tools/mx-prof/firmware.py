# SPDX-License-Identifier: MIT
"""What firmware and hardware did, from captures of the simulated devices
(mxgpu/capture.h): tracks of a trace. A capture is read piece by piece; what it
says is a program's, and nothing of it is trusted."""
import struct

# ---- made by scripts/gen-constants from the C headers
RECORD = struct.Struct("<2BHI2Q")
CAPTURE = {"READ": 1, "WRITE": 2, "DOORBELL": 3, "PACKET_START": 4,
    "PACKET_END": 5, "QUEUE": 6, "DMA_READ": 7, "DMA_WRITE": 8, "DMA_MAP": 9,
    "IRQ": 10, "REQUEST": 11, "ANSWER": 12, "CONSOLE": 13, "EVENT": 14,
    "FULL": 15}
EVENTS = {"MMIO_READ": 0, "MMIO_WRITE": 1, "SRAM": 2, "BAD_ACCESS": 3,
    "DOORBELL": 4, "BAD_DOORBELL": 5, "IRQ": 6, "MCU_STATE": 7,
    "MCU_STUCK": 8, "COPY_START": 9, "COPY_END": 10, "DISPATCH_START": 11,
    "DISPATCH_END": 12, "FAULT": 13, "INVALIDATE": 14, "RESET": 15,
    "DISPATCH_HOLD": 16}
QUEUE_ERROR = 3
QUEUE_EVENTS = {
    1: "CREATE",
    2: "DESTROY",
    3: "ERROR",
    4: "PACKET_START",
    5: "PACKET_END",
}
QUEUE_ERRORS = {
    0: "NONE",
    1: "FETCH",
    2: "PACKET",
    3: "INDEX",
    4: "FAULT",
    5: "KERNEL",
    6: "RESOURCES",
    7: "TIMEOUT",
    8: "SIGNAL",
}
MCU_STATES = {
    0: "RESET",
    1: "RUNNING",
    2: "BOOT_ERROR",
    3: "CRASHED",
}
PACKETS = {
    0: "NOP",
    1: "COPY",
    2: "FILL",
    3: "DISPATCH",
    4: "WRITE",
    5: "WAIT",
    6: "TIMESTAMP",
    7: "TLB_INVALIDATE",
    8: "COPY_RECT",
    9: "FILL_RECT",
    10: "INDIRECT",
}
MESSAGES = {
    1: "PING",
    2: "HELLO",
    3: "VM_SET",
    4: "TLB_INVALIDATE",
    5: "QUEUE_CREATE",
    6: "QUEUE_DESTROY",
    7: "LOG_LEVEL",
    8: "QUEUE_PROFILE",
    9: "QUEUE_LAUNCH",
    10: "QUEUE_RESET",
    11: "CONTEXTS",
    12: "QUEUE_HOLD",
    13: "QUEUE_RESUME",
    14: "UNIT_RESET",
}
# ---- made by scripts/gen-constants: end

KINDS = ("doorbell", "packet_start", "packet_end", "queue", "irq", "request",
         "answer", "console", "event")
BLOCK = struct.Struct("<2I")
PACKET = struct.Struct("<5I")
MOST = 1 << 20     # bytes of a block: the device writes less
BEGIN = 1024       # bytes by which files are told apart: the time is in them
ENHANCED = 6       # blocks of that type hold records
UNITS = {1: "copy engine", 2: "slot"}


def records(f):
    """(time, record, data, where it ends) of a capture from f's position, up to
    where it ends or makes no sense: a program that was killed, or is at work,
    leaves the begin of a block."""
    at = f.tell()
    while len(head := f.read(BLOCK.size)) == BLOCK.size:
        kind, size = BLOCK.unpack(head)
        if size < 12 or size > MOST or size % 4:
            return
        body = f.read(size - BLOCK.size)
        if len(body) != size - BLOCK.size:
            return
        at += size
        if kind != ENHANCED or len(body) < PACKET.size + RECORD.size + 4:
            continue
        _, high, low, captured, _ = PACKET.unpack_from(body)
        yield (high << 32 | low, RECORD.unpack_from(body, PACKET.size),
               body[PACKET.size + RECORD.size:PACKET.size + captured], at)


class Tracks:
    """Those of one device; track: makes one of a name, for trace.slice()."""

    def __init__(self, trace, pid, device, lanes, faults):
        self.trace, self.pid, self.device = trace, pid, device
        self.lanes, self.faults = lanes, faults
        self.open, self.on_slot, self.held = {}, {}, {}
        self.messages, self.last = {}, None
        self.at, self.begin = 0, b""  # of the file: read up to here
        self.handlers = {
            CAPTURE["DOORBELL"]: self.doorbell,
            CAPTURE["PACKET_START"]: self.start,
            CAPTURE["PACKET_END"]: self.end,
            CAPTURE["QUEUE"]: self.queue,
            CAPTURE["IRQ"]: self.irq,
            CAPTURE["REQUEST"]: self.request,
            CAPTURE["ANSWER"]: self.answer,
            CAPTURE["CONSOLE"]: self.console,
            CAPTURE["EVENT"]: self.event,
            CAPTURE["FULL"]: self.full,
        }

    def track(self, name, sort):
        return self.trace.track(self.pid, (name, self.device.number),
                                f"device {self.device.number} {name}",
                                5000 + sort)

    def slice(self, name, sort, title, category, begin, end, args):
        end = max(begin, end)
        n = self.lanes.pick((name, self.device.number), begin, end)
        tid = self.track(f"{name} ({n + 1})" if n else name, sort)
        self.trace.slice(self.pid, tid, title, category,
                         self.device.host_time(begin),
                         self.device.host_time(end), args)

    def moment(self, name, sort, title, at, args):
        self.trace.moment(self.pid, self.track(name, sort), title,
                          self.device.host_time(at), args)

    def look(self, path, most=None):
        """What has come since the last look, at most so many bytes. False: it is
        another file, of a device that was opened anew."""
        with open(path, "rb") as f:
            begin = f.read(BEGIN)
            if begin[:len(self.begin)] != self.begin:
                return False
            self.begin = begin
            f.seek(self.at)
            first = self.at
            for at, record, data, self.at in records(f):
                _, kind, number, info, a, b = record
                if kind in self.handlers:
                    self.handlers[kind](at, number, info, a, b, data)
                self.last = at
                if most is not None and self.at - first >= most:
                    break
        return True

    def finish(self):
        for slot in list(self.held):
            self.release(slot, self.last)

    # ---- packets and queues

    def doorbell(self, at, number, info, a, _b, _data):
        self.moment("doorbells", 10, f"queue {number}", at,
                    {"value": a, "disabled": bool(info)})

    def start(self, at, number, info, a, _b, _data):
        kind, unit = info & 0xff, info >> 8
        self.open[number, a] = at, kind, unit
        if UNITS.get(unit >> 4) == "slot":
            self.on_slot[unit & 15] = number, a

    def end(self, at, number, _info, a, b, _data):
        begin, kind, unit = self.open.pop((number, a), (None, None, 0))
        if begin is None:
            return
        where = UNITS.get(unit >> 4)
        where = f"{where} {unit & 15}" if where else "firmware"
        self.slice(f"packets of queue {number}", 100 + number,
                   PACKETS.get(kind, f"packet type {kind}"), "packet", begin,
                   at, {"index": a, "on": where, "signal": b})

    def queue(self, at, number, info, a, b, _data):
        event = info & 0xff
        what = QUEUE_EVENTS.get(event, f"event {event}")
        args = {"index": a, "value": b}
        if event == QUEUE_ERROR:
            args = {"index": a, "error": QUEUE_ERRORS.get(b & 0xff, b & 0xff),
                    "fault": self.faults.get(b >> 8 & 0xff, b >> 8 & 0xff)}
        self.moment("firmware", 0, f"queue {number} {what}", at, args)

    # ---- messages, interrupts

    def request(self, at, _number, _info, a, _b, data):
        command = struct.unpack_from("<I", data)[0] if len(data) >= 4 else 0
        self.messages = {a: (at, MESSAGES.get(command, f"message {command}"))}

    def answer(self, at, _number, _info, a, _b, _data):
        if a in self.messages:
            begin, name = self.messages.pop(a)
            self.slice("messages", 5, name, "message", begin, at,
                       {"sequence": a})

    def irq(self, at, number, _info, _a, _b, _data):
        self.moment("interrupts", 20, f"vector {number}", at, {})

    def console(self, at, _number, _info, _a, _b, data):
        line = data.rstrip(b"\0\n").decode("utf-8", "replace")
        self.moment("firmware", 0, line or "(empty line)", at, {})

    def full(self, at, _number, _info, _a, _b, _data):
        self.moment("firmware", 0, "the capture is full: what follows is "
                    "missing", at, {})

    # ---- hardware

    def event(self, at, number, _info, a, b, _data):
        if number == EVENTS["FAULT"]:
            fault = b & 0xff
            self.moment("faults", 30, self.faults.get(fault, f"fault {fault}"),
                        at, {"address": hex(a), "access": b >> 8})
        elif number == EVENTS["DISPATCH_HOLD"]:
            self.hold(at, a, b)
        elif number == EVENTS["DISPATCH_END"]:
            self.release(a, at)
        elif number == EVENTS["RESET"]:
            self.moment("firmware", 0, "reset", at, {"cause": a})
        elif number == EVENTS["MCU_STATE"]:
            self.moment("firmware", 0, MCU_STATES.get(a, f"state {a}"), at,
                        {"cause": b})
        elif number == EVENTS["INVALIDATE"]:
            self.moment("firmware", 0, "TLB invalidation", at, {"VMID": a})

    def hold(self, at, held, changed):
        for slot in range(32):
            if not changed >> slot & 1:
                continue
            if held >> slot & 1:
                self.held.setdefault(slot, at)
            else:
                self.release(slot, at)

    def release(self, slot, at):
        begin = self.held.pop(slot, None)
        if begin is None:
            return
        queue, index = self.on_slot.get(slot, (None, None))
        name = f"queue {queue} preempted" if queue is not None else "preempted"
        self.slice("preemptions", 40, name, "preempted", begin, at,
                   {"slot": slot, "index": index})
