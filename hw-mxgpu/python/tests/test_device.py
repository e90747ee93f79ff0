# SPDX-License-Identifier: MIT
"""Memory, address spaces, queues, events and checkpoints on a device."""
import asyncio
import os
import subprocess
import sys
import time

import pytest

import mxgpu
from mxgpu import tables
from mxgpu.memory import PAGE, Pages
from mxgpu.packets import (BARRIER, RECOVER, Copy, Dispatch, Fill, Nop,
                           Timestamp, Wait, WaitCond, Write)
from mxgpu.tables import Fault, QueueErrorCode

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "../../../scripts/firmware")


@pytest.fixture
def vm(gpu):
    with gpu.address_space() as vm:
        yield vm


@pytest.fixture
def queue(vm):
    with vm.queue() as queue:
        yield queue


def test_pages():
    pages = Pages(PAGE, 10 * PAGE)
    a, b = pages.take(PAGE), pages.take(3 * PAGE)
    with pytest.raises(MemoryError):
        pages.take(6 * PAGE)
    pages.give(a, PAGE)
    assert pages.take(2 * PAGE, 4 * PAGE) % (4 * PAGE) == 0
    pages.give(b, 3 * PAGE)
    assert pages.take(4 * PAGE) == PAGE


def test_firmware_says_who_it_is(gpu):
    assert gpu.hello.abi == tables.MSG_ABI
    assert gpu.hello.packets & 1 << tables.PacketType.COPY
    assert gpu.alive()
    assert gpu.message(tables.MsgPing(word=range(15)))[4:8] == bytes(4)


def test_refused_message(gpu):
    with pytest.raises(mxgpu.MessageRefused) as caught:
        gpu.message(tables.MsgQueueDestroy(queue=5))
    assert caught.value.status == tables.MsgStatus.NOT_FOUND


def test_copy_between_memories(gpu, vm, queue):
    data = os.urandom(3 * PAGE)
    system, vram = gpu.alloc_system(3 * PAGE), gpu.alloc_vram(3 * PAGE)
    with vm.mapped(system, "r") as src, vm.mapped(vram) as dst:
        system.write(data)
        queue.run(Copy(src=src, dst=dst, size=len(data)))
    assert vram.read() == data
    gpu.free(system)
    gpu.free(vram)


def test_large_pages(gpu, vm, queue):
    vram = gpu.alloc_vram(5 << 20, align=2 << 20)
    va = vm.map(vram)
    assert vm.walk(va)[-1][0] == 1
    assert vm.walk(va + (4 << 20))[-1][0] == 0
    assert vm.translate(va + (4 << 20) + 5)[1] == vram.address + (4 << 20) + 5
    queue.run(Fill(pattern_size=4, dst=va, size=5 << 20,
                   pattern=b"\1\2\3\4" * 4))
    assert vram[(5 << 20) - 8:] == b"\1\2\3\4" * 2
    with pytest.raises(ValueError):
        vm.map(vram, va=va + 4096, size=4096)  # within a large page
    vm.unmap(va, vram.size)
    assert vm.translate(va) is None


def test_rights_and_faults(gpu, vm):
    memory = gpu.alloc_vram(PAGE)
    va = vm.map(memory, "r")
    with vm.queue() as queue:
        with pytest.raises(mxgpu.QueueStopped) as caught:
            queue.run(Write(size=4, addr=va + 8, value=1))
        error = caught.value.error
        assert error.code == QueueErrorCode.FAULT
        assert error.fault == Fault.PERMISSION
        assert error.fault_addr == va + 8
    vm.set_entry(va, 1 << 60 | vm.entry(va))
    vm.invalidate()
    with vm.queue() as queue, pytest.raises(mxgpu.QueueStopped) as caught:
        queue.run(Copy(src=va, dst=va, size=4))
    assert caught.value.error.fault == Fault.TABLE


def test_bad_packets_stop_a_queue_only(vm, queue):
    with vm.queue() as other:
        with pytest.raises(mxgpu.QueueStopped, match="PACKET"):
            other.run(b"\xff" * 64)
        assert other.stopped().wait().code == QueueErrorCode.PACKET
    assert queue.run(Nop()) == 0


def test_more_packets_than_the_ring_has(gpu, vm):
    memory = gpu.alloc_vram(PAGE)
    va = vm.map(memory)
    with vm.queue(log2_packets=2) as queue:
        for i in range(50):
            last = queue.submit(Write(size=8, addr=va + 8 * i, value=i,
                                      flags=BARRIER))
        assert last.wait() == 49
    assert [memory.read_u64(8 * i) for i in range(50)] == list(range(50))


def guest_port(name):
    """The device file of a port of virtio-serial."""
    folder = "/sys/class/virtio-ports"
    for port in os.listdir(folder):
        with open(f"{folder}/{port}/name", encoding="ascii") as f:
            if f.read().strip() == name:
                return f"/dev/{port}"
    raise FileNotFoundError(f"no port {name}")


def where_gdb_is(config, tmp_path):
    """Address of the firmware's gdb, and options of such a device."""
    path = str(tmp_path / "gdb")
    firmware = {"firmware": config.getoption("--mxgpu-firmware")}
    return {
        "sim": lambda: (path, {
            "fw_gdb": path, "vram_size": 16 << 20, **firmware,
            "library": config.getoption("--mxgpu-library")}),
        "qemu": lambda: (path, {
            "fw_gdb": "g", "qemu": config.getoption("--mxgpu-qemu"),
            "vram_size": 16 << 20, **firmware,
            "arguments": ["-chardev", "socket,id=g,server=on,wait=off,"
                          f"path={path}"]}),
        # Of the guest's machine: scripts/guest-tests joins the two.
        "vfio": lambda: (guest_port("fw-gdb"), firmware),
    }[config.getoption("--mxgpu-device")]()


def asleep(gpu):
    """The firmware waits for something to do."""
    before = gpu.reg.MCU_INSTRET.read()
    time.sleep(0.01)
    return gpu.reg.MCU_INSTRET.read() == before


def test_firmware_is_reloaded_at_work(request, tmp_path):
    """scripts/firmware reload: the image starts anew, and knows nothing."""
    path, options = where_gdb_is(request.config, tmp_path)
    kind = request.config.getoption("--mxgpu-device")
    with mxgpu.open(kind, **options) as gpu:
        gpu.boot()
        lines = len(gpu.log)
        subprocess.run([sys.executable, SCRIPT, "reload", path, gpu.firmware],
                       check=True)
        if kind == "vfio":  # its console is its machine's
            gpu.until(lambda: asleep(gpu), "sleep of the new firmware").wait()
        else:
            gpu.until(lambda: any("fw: firmware" in line
                                  for line in list(gpu.log)[lines:]),
                      "first line of the new firmware").wait()
        with pytest.raises(mxgpu.MessageRefused) as caught:
            gpu.message(tables.MsgQueueDestroy(queue=5))
        assert caught.value.status == tables.MsgStatus.NO_HELLO
        gpu.message(tables.MsgHello(abi=tables.MSG_ABI))
        with gpu.address_space() as vm, vm.queue() as queue:
            queue.run(Nop())


def test_two_address_spaces(gpu, vm):
    memory = gpu.alloc_vram(2 * PAGE)
    at = 0x7000000000
    vm.map(memory, va=at, size=PAGE)
    with gpu.address_space() as other:
        other.map(memory, va=at, offset=PAGE, size=PAGE)
        assert other.vmid != vm.vmid
        with vm.queue() as q1, other.queue() as q2:
            q1.run(Write(size=4, addr=at, value=1))
            q2.run(Write(size=4, addr=at, value=2))
    assert (memory.read_u32(), memory.read_u32(PAGE)) == (1, 2)


def test_kernel(gpu, vm, queue, kernel_bin):
    """A kernel made by hand: each thread writes its square."""
    code, out = gpu.alloc_vram(2 << 20, align=2 << 20), gpu.alloc_system(PAGE)
    code.write(kernel_bin)
    args = gpu.alloc_system(PAGE)
    entry = vm.map(code, "rx", va=0x400000000)
    args.write_u64(vm.map(out))
    queue.run(Dispatch(kernel=entry, args=vm.map(args, "r"), grid=(4, 1, 1),
                       block=(64, 1, 1)))
    assert [out.read_u32(4 * i) for i in range(256)] == [
        i * i for i in range(256)]


def test_faults_that_wait_are_shown(gpu, vm, queue):
    """A copy into nowhere, until there is something."""
    ring, source = gpu.alloc_system(PAGE), gpu.alloc_system(PAGE)
    nowhere, src = 0x7100000000, vm.map(source)
    source.write_u64(5)
    show = gpu.inspect if gpu.host.name != "vfio" else None
    if show:
        assert "no ring" in show("faults")
    gpu.reg.FAULT_RING = vm.map(ring)
    gpu.reg.FAULT_CFG.write(1 | vm.vmid << 4 | 2 << 8)  # 4 records
    done = queue.submit(Copy(src=src, dst=nowhere, size=8, flags=RECOVER))
    gpu.until(lambda: gpu.reg.FAULT_TAIL.read() == 1).wait()
    record = ring.get(tables.FaultRecord)
    assert (record.addr, record.queue) == (nowhere, queue.number)
    if show:
        text = show("faults")
        assert "4 records, 1 reported, 0 of them freed\n" in text
        assert (f"0 waits: write at {nowhere:#x} NOT_PRESENT vmid {vm.vmid} "
                f"queue {queue.number}, engine") in text
    assert done.check() is None
    target = gpu.alloc_vram(PAGE)
    vm.map(target, va=nowhere)
    gpu.reg.FAULT_HEAD.write(1)
    assert done.wait() == 0 and target.read_u64() == 5
    if show:
        assert "1 reported, 1 of them freed\n" in show("faults")


def test_timeout_says_where_the_firmware_is(gpu, queue):
    with pytest.raises(mxgpu.Timeout, match="no such register value(.|\n)*"
                                            "MCU_PC"):
        gpu.until(lambda: False, "such register value").wait(0.01)


@pytest.mark.mxgpu(only="sim")
def test_checkpoint(gpu, vm, queue):
    memory, system = gpu.alloc_vram(PAGE), gpu.alloc_system(PAGE)
    va, at = vm.map(memory), vm.map(system)
    queue.run(Write(size=8, addr=va, value=1), Write(size=8, addr=at, value=2))
    # In the midst of a packet: it waits for memory.
    waiting = queue.submit(Wait(size=8, cond=WaitCond.EQ, addr=at + 8, value=7))
    saved = gpu.checkpoint()
    for _ in range(2):
        assert waiting.check() is None
        system.write_u64(7, 8)
        waiting.wait()
        queue.run(Write(size=8, addr=va, value=3),
                  Write(size=8, addr=at, value=4))
        assert (memory.read_u64(), system.read_u64()) == (3, 4)
        gpu.restore(saved)
        assert (memory.read_u64(), system.read_u64()) == (1, 2)
        assert queue.write_index == 3
    system.write_u64(7, 8)
    waiting.wait()


def test_checkpoint_of_other_memory(gpu, tmp_path):
    if gpu.host.name != "sim":
        with pytest.raises(mxgpu.NotSupported):
            gpu.checkpoint()
        with pytest.raises(mxgpu.NotSupported):
            gpu.save(tmp_path / "card")
        assert not os.listdir(tmp_path)
        return
    saved = gpu.checkpoint()
    gpu.alloc_system(PAGE)
    with pytest.raises(mxgpu.MxgpuError, match="since"):
        gpu.restore(saved)


# ---- checkpoints as files

LATER = """
import sys, mxgpu
from mxgpu.packets import Copy, Write
gpu = mxgpu.restore(sys.argv[1], library=sys.argv[2])
vm, queue = gpu.spaces[1], gpu.queues[0]
memory, system = gpu.named["memory"], gpu.named["system"]
print(memory.read_u64(), system.read_u64(), queue.write_index, gpu.hello.abi)
waiting = queue.completion(2)
print(waiting.check())
system.write_u64(7, 8)
print(waiting.wait())
at = int(sys.argv[3])
queue.run(Write(size=8, addr=at, value=99))
print(memory.read_u64())
more, again = gpu.alloc_vram(4096), gpu.alloc_system(4096)
print(more.address == memory.address, again.address == system.address)
with vm.queue() as second, vm.mapped(more) as to:
    second.run(Copy(src=at, dst=to, size=8))
    print(second.number, more.read_u64())
queue.__exit__(None, None, None)
vm.__exit__(None, None, None)
gpu.close()
"""


@pytest.fixture
def library(request):
    return os.path.abspath(request.config.getoption("--mxgpu-library") or
                           mxgpu.find_library())


@pytest.mark.mxgpu(only="sim", vram_size=32 << 20, compute_units=3)
def test_a_device_in_a_file(gpu, vm, tmp_path, library):
    """A program saves it in the midst of a packet; another one goes on."""
    path = tmp_path / "card"
    memory, system = gpu.alloc_vram(PAGE), gpu.alloc_system(PAGE)
    va, at = vm.map(memory), vm.map(system)
    with vm.queue() as queue:
        queue.run(Write(size=8, addr=va, value=1),
                  Write(size=8, addr=at, value=2))
        waiting = queue.submit(Wait(size=8, cond=WaitCond.EQ, addr=at + 8,
                                    value=7))
        gpu.save(path, memory=memory, system=system)
        done = subprocess.run(
            [sys.executable, "-c", LATER, path, library, str(va)],
            stdout=subprocess.PIPE, text=True, check=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        assert done.stdout.splitlines() == [
            "1 2 3 1", "None", "2", "99", "False False", "1 99"]
        # This one is as it was, and the file may be used again.
        assert waiting.check() is None and memory.read_u64() == 1
        with mxgpu.restore(path, library=library) as other:
            assert other.reg.UNIT_CAPS.COMPUTE_UNITS == 3
            assert other.host.vram_size == 32 << 20
            assert other.named["memory"].read_u64() == 1 and other.alive()
        system.write_u64(7, 8)
        waiting.wait()
    assert os.listdir(tmp_path) == ["card"]


@pytest.mark.mxgpu(only="sim")
def test_files_that_are_no_checkpoint(gpu, tmp_path, library):
    good = tmp_path / "card"
    gpu.save(good)
    data = good.read_bytes()

    def refused(made, why):
        bad = tmp_path / "bad"
        bad.write_bytes(made)
        with pytest.raises(mxgpu.MxgpuError, match=f"bad: {why}"):
            mxgpu.restore(bad, library=library)
    refused(b"", "no checkpoint")
    refused(b"\x7fELF" + data, "no checkpoint")
    refused(data[:8] + b"\2" + data[9:], "version 2")
    refused(data[:-1], "not whole")
    refused(data + b"x", "not whole")
    for at in (30, len(data) // 2, len(data) - 1):
        refused(data[:at] + bytes([data[at] ^ 1]) + data[at + 1:], "not whole")
    with pytest.raises(FileNotFoundError):
        mxgpu.restore(tmp_path / "none", library=library)
    with pytest.raises(TypeError, match="five is no memory"):
        gpu.save(tmp_path / "other", five=5)
    with pytest.raises(FileNotFoundError):
        gpu.save(tmp_path / "no" / "folder")
    assert sorted(os.listdir(tmp_path)) == ["bad", "card"]


@pytest.mark.mxgpu(only="sim")
def test_a_checkpoint_of_another_model(gpu, tmp_path, library):
    """The file is whole, and what the device says of its part counts."""
    from mxgpu import checkpoint
    path, made = tmp_path / "card", checkpoint.Checkpoint
    gpu.save(path)
    what, saved = checkpoint.read(path)
    assert isinstance(saved, made)
    gpu.checkpoint = lambda: made(b"other" + saved.device, saved.system,
                                  saved.program)
    gpu.save(path)
    with pytest.raises(mxgpu.MxgpuError, match="load: Invalid argument"):
        mxgpu.restore(path, library=library)
    assert what["queues"] == []


def test_a_function_that_is_not_there():
    with pytest.raises(mxgpu.MxgpuError, match="has no IOMMU group"):
        mxgpu.open("vfio", function="0000:ff:1f.7")


# ---- coroutines

async def producer(memory, count):
    for i in range(count):
        memory.write_u64(i + 1)
        await asyncio.sleep(0)


async def test_events_in_coroutines(gpu, queue, vm):
    """Packets that wait for the program, and a program that waits for them."""
    memory = gpu.alloc_system(PAGE)
    va = vm.map(memory)
    done = queue.submit(Wait(size=8, addr=va, value=3),
                        Timestamp(addr=va + 8))
    assert done.check() is None
    before = gpu.clock()
    await asyncio.gather(producer(memory, 3), done)
    assert memory.read_u64(8) > before
    assert await gpu.interrupt(queue.vector) >= 1


async def test_first_and_every(gpu, vm, queue):
    memory = gpu.alloc_system(PAGE)
    va = vm.map(memory)
    never = gpu.written(memory, 99)
    event, value = await mxgpu.first(never, queue.submit(Nop()))
    assert event is not never and value == 0
    jobs = [queue.submit(Write(size=8, addr=va + 8 * i, value=i))
            for i in range(8)]
    assert await mxgpu.every(*jobs) == list(range(1, 9))
    with pytest.raises(mxgpu.QueueStopped):
        await queue.submit(b"\xff" * 64)


async def test_status_interrupt(gpu):
    """Vector 0: an error of the device is one interrupt."""
    vector = gpu.interrupt(0)
    gpu.reg.IRQ_STATUS.write(0x1f)
    gpu.reg.IRQ_ENABLE.CAUSES = 1 << 2
    vector.check()
    gpu.reg.read_at(0xfffc)
    assert await vector == 1
    assert gpu.reg.IRQ_STATUS.ERROR == 1
    with pytest.raises(mxgpu.Timeout):
        await vector.within(0.01)


async def test_device_clock(gpu):
    start = gpu.clock()
    await gpu.after(50_000)
    assert gpu.clock() >= start + 50_000


def test_closed_devices_can_be_opened_again(gpu_off):
    start = time.monotonic()
    gpu_off.boot()
    gpu_off.reset()
    assert not gpu_off.alive()
    gpu_off.boot()
    assert gpu_off.alive() and time.monotonic() > start
