# SPDX-License-Identifier: MIT
"""scripts/firmware: each command, on what is right and on what is not."""
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib

import pytest

import mxgpu
from mxgpu.tables import MSG_ABI, FwHeader, MsgHello

TOP = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                    "../../.."))
TARGET = ["--target=riscv32-unknown-elf", "-march=rv32imac_zicsr",
          "-mabi=ilp32", "-O2", "-ffreestanding", "-fno-strict-aliasing",
          "-fno-pic", "-nostdlib", "-fuse-ld=lld-19"]


def firmware(*args, top=TOP):
    return subprocess.run([os.path.join(top, "scripts/firmware"), *args],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)


@pytest.fixture
def image(request):
    return os.path.abspath(request.config.getoption("--mxgpu-firmware"))


@pytest.fixture
def library(request):
    return os.path.abspath(request.config.getoption("--mxgpu-library"))


# ---- check and install

def test_good_image(image):
    done = firmware("check", image)
    assert done.returncode == 0 and "ABI 1" in done.stdout, done.stdout


@pytest.mark.parametrize("what, says", [
    (lambda d: d[:-4], "size"), (lambda d: d[:40], "shorter"),
    (lambda d: b"x" + d[1:], "no header"),
    (lambda d: d[:100] + bytes([d[100] ^ 1]) + d[101:], "checksum"),
    (lambda d: d[:16] + b"\2" + d[17:], "instruction set"),
    (lambda d: d[:20] + bytes(4) + d[24:], "entry"),
    (lambda d: d[:28] + b"\7" + d[29:], "ABI 7"),
])
def test_bad_images(image, tmp_path, what, says):
    with open(image, "rb") as f:
        data = f.read()
    bad = tmp_path / "bad.bin"
    bad.write_bytes(what(data))
    done = firmware("check", bad)
    assert done.returncode == 1 and says in done.stdout, done.stdout
    done = firmware("install", bad, "--to", tmp_path / "there")
    assert done.returncode == 1 and not (tmp_path / "there").exists()


def test_install(image, tmp_path):
    done = firmware("install", image, "--to", tmp_path)
    assert done.returncode == 0, done.stdout
    with open(image, "rb") as f:
        assert (tmp_path / "mxgpu-fw.bin").read_bytes() == f.read()


# ---- report

def test_stack_of_the_firmware(request):
    done = firmware("report", request.config.getoption("--elf"))
    assert done.returncode == 0, done.stdout
    deepest = int(re.search(r"at most (\d+) of 16384", done.stdout)[1])
    assert 300 < deepest < 16384
    assert "fw_main" in done.stdout


STACKS = """
typedef int Call(int);
int leaf(int x) { volatile char a[100]; a[x] = 1; return a[0]; }
int deep(int x) { volatile char a[2000]; a[x] = 1; return a[0]; }
Call *const volatile table[] = {leaf, deep};
__attribute__((noinline)) int by_table(int x)
{ volatile char a[300]; a[0] = 1; return table[x](x) + a[x]; }
#ifdef RECURSE
__attribute__((noinline)) int again(int x, volatile int *y)
{ int z = x; *y += x; return x ? again(x - 1, y) + again(x - 2, &z) : z; }
#endif
void _start(void) { volatile int x = by_table(1);
#ifdef RECURSE
x = again(x, &x);
#endif
for (;;) { x++; } }
"""


@pytest.mark.parametrize("recurse", [False, True])
def test_calls_by_tables_and_recursion(tmp_path, recurse):
    source, elf = tmp_path / "a.c", tmp_path / "a.elf"
    source.write_text(STACKS)
    subprocess.run(["clang-19", *TARGET, source, "-o", elf,
                    *(["-DRECURSE"] if recurse else [])], check=True)
    done = firmware("report", elf)
    deepest = int(re.search(r"at most (\d+)", done.stdout)[1])
    assert 2300 <= deepest < 2600, done.stdout
    assert done.returncode == recurse, done.stdout
    assert ("recursion" in done.stdout) == recurse


# ---- cost

def test_the_dearest_form_of_each_command(image, library):
    """Not twice the same count: it repeats to a few instructions."""
    done = firmware("cost", "--image", image, "--library", library)
    forms = re.findall(r"^(\w+) ", done.stdout, re.M)
    done = firmware("cost", "--image", image, "--library", library,
                    "--dearest")
    assert done.returncode == 0, done.stdout
    found = {c: form for c, form in
             re.findall(r"^(\w+) +(.*?) +\d+ of \d+$", done.stdout, re.M)}
    assert len(done.stdout.splitlines()) == len(found) < len(forms)
    assert set(found) == set(forms)
    assert found["indirect"] == "16 of NOP" and found["copy"] == "fault"


def test_budgets(image, library, tmp_path):
    done = firmware("cost", "--image", image, "--library", library)
    assert done.returncode == 0, done.stdout
    budgets = tmp_path / "budgets"
    budgets.write_text("nop 10 # too few\ncopy 1000000\n")
    done = firmware("cost", "--image", image, "--library", library,
                    "--budgets", budgets)
    assert done.returncode == 1
    assert "its budget is 10" in done.stdout
    assert "write has no budget" in done.stdout
    assert "copy, " not in done.stdout.split("firmware:", 1)[1]


# ---- reload

def test_reload(image, library, tmp_path, request):
    """From the whole firmware to the toy and back, in a device at work."""
    toy = os.path.join(request.config.getoption("--toy"), "toy.bin")
    socket = str(tmp_path / "gdb")
    with mxgpu.open(library=library, firmware=image, vram_size=16 << 20,
                    fw_gdb=socket) as gpu:
        first = gpu.boot().version
        for path, version in ((toy, 0x100), (image, first)):
            done = firmware("reload", socket, path)
            assert done.returncode == 0, done.stdout
            gpu.until(lambda want=version:
                      gpu.reg.MCU_FW_VERSION.read() == want,
                      "version of the new firmware").wait()
            gpu.message(MsgHello(abi=MSG_ABI))
            with gpu.address_space() as vm, vm.queue() as queue:
                queue.run(mxgpu.packets.Nop())
    assert firmware("reload", socket, image).returncode == 1


# ---- new

def copy_tree(to):
    for path in ("firmware", "scripts", "hw-mxgpu/include", "hw-mxgpu/python",
                 "hw-mxgpu/base", "hw-mxgpu/core", "hw-mxgpu/sim", "hw-mxgpu/simt",
                 "hw-mxgpu/docs", "runtime/tools/mx-prof"):
        shutil.copytree(os.path.join(TOP, path), to / path)
    for folder in os.listdir(os.path.join(TOP, "runtime")):
        file = os.path.join("runtime", folder, "profile_format.h")
        if os.path.exists(os.path.join(TOP, file)):
            (to / "runtime" / folder).mkdir(exist_ok=True)
            shutil.copy(os.path.join(TOP, file), to / file)


def compile_firmware(top, to):
    include = f"-I{top}/hw-mxgpu/include"
    script = to / "link.ld"
    subprocess.run(["clang-19", "-E", "-P", "-undef", "-x", "c", include,
                    top / "firmware/link.ld", "-o", script], check=True)
    sources = [*(top / "firmware").glob("*.c"),
               *(top / "firmware/cmd").glob("*.c"), top / "firmware/start.S"]
    subprocess.run(["clang-19", *TARGET, "-std=gnu11", "-flto", "-Wall",
                    "-Wextra", "-Wno-unused-parameter", "-Werror", include,
                    f"-I{top}/firmware", f"-Wl,-T,{script}", *sources, "-o",
                    to / "fw.elf"], check=True)
    subprocess.run([top / "firmware/pack.py", to / "fw.elf", to / "fw.bin"],
                   check=True)


TRY = """
import mxgpu
from mxgpu.packets import KitProbe
with mxgpu.open(library={library!r}, firmware={image!r},
                vram_size=16 << 20) as gpu:
    assert gpu.boot().packets >> KitProbe.TYPE & 1
    memory = gpu.alloc_vram(4096)
    with gpu.address_space() as vm, vm.queue() as queue:
        va = vm.map(memory)
        for i in range(4):
            queue.run(KitProbe(addr=va, value=10))
    print("sum", memory.read_u64())
"""


def test_new_packet_type(tmp_path, library):
    tree = tmp_path / "tree"
    copy_tree(tree)
    done = firmware("new", "kit_probe", top=tree)
    assert done.returncode == 0, done.stdout
    assert firmware("new", "kit_probe", top=tree).returncode == 1
    for name in ("write", "Write", "a b", "x"):
        assert firmware("new", name, top=tree).returncode == 1
    for check in ("gen-constants", "gen-python"):
        subprocess.run([tree / "scripts" / check, "--check"], check=True)
    compile_firmware(tree, tmp_path)
    out = subprocess.run(
        [sys.executable, "-c", TRY.format(library=library,
                                          image=str(tmp_path / "fw.bin"))],
        env={**os.environ, "PYTHONPATH": str(tree / "hw-mxgpu/python")},
        stdout=subprocess.PIPE, text=True, check=True).stdout
    assert out == "sum 40\n"
    done = firmware("cost", "--image", tmp_path / "fw.bin", "--library",
                    library, top=tree)
    assert done.returncode == 0 and "kit_probe       plain" in done.stdout


def test_header_is_what_zlib_says(image):
    with open(image, "rb") as f:
        data = f.read()
    head = FwHeader.unpack(data)
    assert head.crc32 == zlib.crc32(data[64:])
    assert struct.unpack_from("<I", data, 20)[0] == head.entry
