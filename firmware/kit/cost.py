# SPDX-License-Identifier: MIT
"""What packets cost the firmware: instructions of the MCU, from the doorbell to
the sleep behind it, on a deterministic device in this process. Each command is
measured in the forms that take its longest ways: done, refused, faulted."""
import mxgpu
from mxgpu import packets as p
from mxgpu.packets import BARRIER, IRQ
from mxgpu.tables import MsgPing

BAD = 1 << 40       # an address that is not mapped
IDLE_LOOKS = 8


def forms(va, kernel):
    """(command, form, packet)"""
    out = [
        ("nop", "plain", p.Nop()),
        ("nop", "barrier, interrupt", p.Nop(flags=BARRIER | IRQ)),
        ("nop", "reserved field", p.Nop(reserved=(0,) * 10 + (1,))),
        ("copy", "64 bytes", p.Copy(src=va, dst=va + 64, size=64)),
        ("copy", "nothing", p.Copy(src=va, dst=va)),
        ("copy", "fault", p.Copy(src=BAD, dst=va, size=64)),
        ("fill", "64 bytes", p.Fill(dst=va, size=64, pattern_size=4)),
        ("fill", "fault", p.Fill(dst=BAD, size=64, pattern_size=4)),
        ("fill", "bad size", p.Fill(dst=va, size=64, pattern_size=3)),
        ("copy_rect", "2 by 2", p.CopyRect(
            src=va, dst=va + 64, width=4, height=2, depth=2, src_pitch=8,
            dst_pitch=8, src_slice=2, dst_slice=2)),
        ("copy_rect", "fault", p.CopyRect(src=BAD, dst=va, width=4, height=1,
                                          depth=1)),
        ("fill_rect", "2 by 2", p.FillRect(dst=va, width=4, height=2, depth=2,
                                           pitch=8, slice=2)),
        ("fill_rect", "fault", p.FillRect(dst=BAD, width=4, height=1,
                                          depth=1)),
        ("write", "8 bytes", p.Write(size=8, addr=va, value=1)),
        ("write", "fault", p.Write(size=8, addr=BAD)),
        ("wait", "met", p.Wait(size=8, addr=va + 512, value=0, cond=1)),
        ("wait", "fault", p.Wait(size=8, addr=BAD)),
        ("timestamp", "plain", p.Timestamp(addr=va)),
        ("timestamp", "fault", p.Timestamp(addr=BAD)),
        ("tlb_invalidate", "all", p.TlbInvalidate()),
        ("indirect", "nothing", p.Indirect(list=va, count=0)),
        ("indirect", "16 of NOP", p.Indirect(list=va + 1024, count=16)),
        ("indirect", "fault", p.Indirect(list=BAD, count=1)),
        ("dispatch", "bad kernel", p.Dispatch(
            kernel=va + 512, args=va, grid=(1, 1, 1), block=(1, 1, 1))),
        ("dispatch", "fault of its descriptor", p.Dispatch(
            kernel=BAD, args=va, grid=(1, 1, 1), block=(1, 1, 1))),
    ]
    known = {type(packet) for _, _, packet in out}
    for cls in p.Packet.classes.values():
        if cls not in known:  # one of your own
            name = p.PacketType(cls.TYPE).name.lower()
            out.append((name, "plain", cls(addr=va)))
            out.append((name, "fault", cls(addr=BAD)))
    if kernel:
        good = {"kernel": kernel, "args": va, "block": (64, 1, 1)}
        out += [("dispatch", "4 blocks", p.Dispatch(grid=(4, 1, 1), **good)),
                ("dispatch", "cooperative", p.Dispatch(
                    grid=(4, 1, 1), flags=p.COOPERATIVE, **good))]
    return out


def _idle(gpu):
    """Instructions retired, when that has not changed for a while, behind an
    answer of the firmware: a busy machine may not have let it run."""
    gpu.message(MsgPing())
    last, same = None, 0
    while same < IDLE_LOOKS:
        gpu.relax(None)
        now = gpu.reg.MCU_INSTRET.read()
        same = same + 1 if now == last else 0
        last = now
    return last


def _one(gpu, vm, packet):
    with vm.queue() as queue:
        for warm in (p.Nop(), p.Nop()):
            queue.run(warm)
        first = _idle(gpu)
        before = _idle(gpu)
        try:
            queue.run(packet)
        except mxgpu.QueueStopped:
            pass
        return _idle(gpu) - before - (before - first)  # less the answer's


def measure(library, firmware, kernel_image=None):
    """{(command, form): instructions}"""
    found = {}
    with mxgpu.open(library=library, firmware=firmware, vram_size=16 << 20,
                    compute_units=2, deterministic=True) as gpu:
        gpu.boot()
        with gpu.address_space() as vm:
            memory = gpu.alloc_vram(8192)
            memory.write_u64(memory.address)
            va, kernel = vm.map(memory), 0
            if kernel_image:
                code = gpu.alloc_vram(2 << 20, align=2 << 20)
                code.write(kernel_image)
                kernel = vm.map(code, "rx", va=0x400000000)
                memory.write_u64(va + 4096)
            for command, form, packet in forms(va, kernel):
                found[command, form] = _one(gpu, vm, packet)
    return found


def budgets(path):
    """{command: instructions}"""
    found = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if words:
                found[words[0]] = int(words[1])
    return found


def dearest(found):
    """Of each command the form that takes most."""
    most = {}
    for (command, form), count in found.items():
        if command not in most or count > most[command][1]:
            most[command] = form, count
    return {(command, form): count
            for command, (form, count) in most.items()}


def report(found, limits):
    """Lines for people, and what is above its budget or has none."""
    lines, errors = [], []
    for (command, form), count in found.items():
        limit = limits.get(command)
        lines.append(f"{command:15} {form:24} {count:6} of {limit or '-'}")
        if limit is None:
            errors.append(f"{command} has no budget")
        elif count > limit:
            errors.append(f"{command}, {form}: {count} instructions, its budget "
                          f"is {limit}")
    return lines, errors
