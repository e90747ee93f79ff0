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

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import bounds  # noqa: E402

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


# ---- what packets take at most

def test_bounds(request, tmp_path, image, library):
    elf = request.config.getoption("--elf")
    done = firmware("report", elf)
    assert done.returncode == 0, done.stdout
    most = {name: int(n) for name, n in
            re.findall(r"^([+\w]+) +at most +(\d+) of \d+$", done.stdout, re.M)}
    cost = firmware("cost", "--image", image, "--library", library).stdout
    forms = {(c, form): int(n) for c, form, n in
             re.findall(r"^(\w+) +(.*?) +(\d+) of \d+$", cost, re.M)}
    assert {c for c, _ in forms} == {c for c in most if c[0] != "+"}
    # What a NOP more of a list takes is no more than a NOP may take.
    more = forms["indirect", "16 of NOP"] - forms["indirect", "nothing"]
    assert 0 < more / 16 <= most["nop"]

    limits = tmp_path / "bounds"
    limits.write_text("nop 10 # too few\ncopy 1000000\n+queue_fail 100\n")
    done = firmware("report", elf, "--bounds", limits)
    assert done.returncode == 1
    assert f"nop may take {most['nop']} instructions, its limit is 10" in \
        done.stdout
    assert "+queue_fail may take" in done.stdout
    assert "write has no limit" in done.stdout
    assert "copy may take" not in done.stdout


LOOPS = """
volatile int sink;
__attribute__((noinline)) void leaf(void) { sink = 1; sink = 2; }
static inline void inner(int n)
{
    for (int j = 0; j < n; j++) {
        sink = j;
    }
}
__attribute__((noinline)) void nested(int n)
{
    for (int i = 0; i < n; i++) {
        inner(n); leaf();
    }
}
__attribute__((noinline)) void either(int n)
{
    switch (n) {
    case 0: sink = 10; break;
    case 1: leaf(); leaf(); sink = 11; break;
    case 2: sink = 12; leaf(); break;
    case 3: sink = 13; sink = 14; break;
    case 4: sink = 15; sink = 16; leaf(); leaf(); leaf(); leaf(); break;
    }
}
__attribute__((noinline)) int again(int n)
{ int last = n ? again(n - 1) : 1; sink = last; return last; }
void (*volatile pointer)(int) = either;
__attribute__((noinline)) void through(int n) { pointer(n); sink = n; }
void _start(void) { nested(sink); either(sink); through(again(sink)); }
"""


@pytest.fixture(scope="module", name="loops")
def loops_elf(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loops")
    source, elf = folder / "a.c", folder / "a.elf"
    source.write_text(LOOPS)
    subprocess.run(["clang-19", *TARGET, "-g", source, "-o", elf], check=True)
    return str(elf)


INNER = ("a.c", "for (int j = 0; j < n; j++) {")
OUTER = ("a.c", "for (int i = 0; i < n; i++) {")


def test_loops(loops):
    few, none = ({INNER: 20, OUTER: n} for n in (10, 0))
    leaf = bounds.Bounds(loops, {}, {}).of("leaf")
    assert 4 <= leaf <= 8
    one = bounds.Bounds(loops, few, {})
    # Ten of a call and twenty stores, once more each as the condition may be.
    assert 10 * (20 * 2 + leaf) < one.of("nested") < 11 * (21 * 5 + leaf + 20)
    assert not one.unknown and one.used == {INNER, OUTER}
    less = bounds.Bounds(loops, none, {})
    assert less.of("nested") < one.of("nested") / 5
    unknown = bounds.Bounds(loops, {OUTER: 3}, {})
    unknown.of("nested")
    assert unknown.unknown == {"a loop without a bound: " + " ".join(INNER)}


def test_the_longest_way(loops):
    """A switch's dearest case, with its four calls."""
    one = bounds.Bounds(loops, {}, {})
    leaf = one.of("leaf")
    assert 4 * leaf + 4 < one.of("either") < 6 * leaf + 24


def test_recursion_and_pointers(loops):
    one = bounds.Bounds(loops, {}, {})
    one.of("again")
    assert one.unknown == {"again calls itself"}
    deep = bounds.Bounds(loops, {}, {"again": 3})
    twice = bounds.Bounds(loops, {}, {"again": 2})
    assert 2 * deep.of("again") == 3 * twice.of("again") and not deep.unknown
    assert one.of("through", ("either",)) > one.of("either")
    with pytest.raises(ValueError, match="not 0"):
        one.of("through")


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
