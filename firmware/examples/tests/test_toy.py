# SPDX-License-Identifier: MIT
"""The toy firmware serves one queue; toy-hang hangs, and is found."""
import os
import re
import shutil
import subprocess

import pytest

import mxgpu
from mxgpu.memory import PAGE
from mxgpu.packets import Copy, Nop, Write
from mxgpu.tables import Fault, MsgHello, MsgStatus, QueueErrorCode

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "../toy/toy.c")


@pytest.fixture
def toy(request):
    """The folder with toy.bin, toy-hang.bin and their ELF files."""
    path = request.config.getoption("--toy")
    if not path:
        pytest.skip("no --toy")
    return path


@pytest.fixture
def vm(gpu_off, toy):
    gpu_off.boot(os.path.join(toy, "toy.bin"))
    with gpu_off.address_space() as vm:
        yield vm


def test_it_is_short():
    with open(SOURCE, encoding="utf-8") as f:
        assert len(f.readlines()) < 300


def test_hello(gpu_off, toy):
    hello = gpu_off.boot(os.path.join(toy, "toy.bin"))
    assert (hello.queues, hello.priorities, hello.version) == (1, 1, 0x100)
    assert hello.packets == 1 << 0 | 1 << 4
    with pytest.raises(mxgpu.MessageRefused) as caught:
        gpu_off.message(MsgHello(abi=99))
    assert caught.value.status == MsgStatus.BAD_ABI
    gpu_off.logged("fw: toy: ready").wait()


def test_packets(gpu_off, vm):
    memory = gpu_off.alloc_vram(PAGE)
    va = vm.map(memory)
    with vm.queue(log2_packets=2) as queue:
        for i in range(40):
            queue.run(Write(size=8, addr=va + 8 * i, value=i << 33))
        queue.run(Nop())
        assert gpu_off.interrupt(queue.vector).wait() >= 1
        assert [memory.read_u64(8 * i) >> 33 for i in range(40)] == list(
            range(40))


@pytest.mark.parametrize("packet, code, fault", [
    (Write(size=4, addr=1 << 40), QueueErrorCode.FAULT, Fault.NOT_PRESENT),
    (Write(size=3), QueueErrorCode.PACKET, 0),
    (Write(size=8, addr=4), QueueErrorCode.PACKET, 0),
    (Copy(), QueueErrorCode.PACKET, 0),
    (Nop(flags=1 << 15), QueueErrorCode.PACKET, 0),
    (Nop(signal_addr=1 << 40), QueueErrorCode.SIGNAL, 0),
])
def test_errors(vm, packet, code, fault):
    with vm.queue() as queue:
        with pytest.raises(mxgpu.QueueStopped) as caught:
            queue.run(packet)
        assert (caught.value.error.code, caught.value.error.fault) == (code,
                                                                       fault)
    with vm.queue() as queue:  # a new one works
        queue.run(Nop())


def test_doorbell_that_runs_ahead(vm):
    with vm.queue(log2_packets=2) as queue:
        queue.write_index = 5
        queue.ring()
        assert queue.stopped().wait().code == QueueErrorCode.INDEX


def test_one_queue_only(vm):
    with vm.queue(), pytest.raises(mxgpu.MessageRefused) as caught:
        vm.queue(number=1).__enter__()
    assert caught.value.status == MsgStatus.BUSY


# ---- the example of firmware/README.md, "When it hangs"

GDB_SCRIPT = """set pagination off
set confirm off
set width 0
set debuginfod enabled off
target remote {socket}
backtrace
info line *$pc
print queue.stopped
set var queue.stopped = 1
continue&
"""


@pytest.mark.skipif(not shutil.which("gdb-multiarch"), reason="no gdb")
def test_a_hang_is_found(toy, tmp_path, request):
    socket = str(tmp_path / "gdb")
    with mxgpu.open(library=request.config.getoption("--mxgpu-library"),
                    firmware=os.path.join(toy, "toy-hang.bin"),
                    vram_size=16 << 20, fw_gdb=socket, log_packets=True,
                    firmware_watchdog_ms=100) as gpu:
        gpu.boot()
        with gpu.address_space() as vm, vm.queue() as queue:
            memory = gpu.alloc_vram(PAGE)
            queue.submit(Write(size=4, addr=vm.map(memory), value=1))
            # 1. The watchdog tells that, and where.
            line = gpu.logged(r"fw: firmware watchdog: no progress.*").wait()
            assert gpu.reg.ERR_STATUS.MCU_STUCK == 1, line
            # 2. gdb tells why, and gets it out of there.
            script = tmp_path / "script"
            script.write_text(GDB_SCRIPT.format(socket=socket))
            out = subprocess.run(
                ["gdb-multiarch", "-nx", "-batch", "-x", script,
                 os.path.join(toy, "toy-hang.elf")], check=False, timeout=300,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True).stdout
            assert re.search(r"#\d .*run_write .*toy\.c:\d+", out), out
            assert re.search(r"#\d .*fw_main", out), out
            assert "$1 = false" in out, out
            # 3. With the loop ended the firmware answers again.
            gpu.until(lambda: memory.read_u32() == 1, "written word").wait()
