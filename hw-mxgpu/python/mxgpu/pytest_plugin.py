# SPDX-License-Identifier: MIT
"""For pytest: the fixtures gpu and gpu_off, tests that are coroutines.

    pytest -p mxgpu.pytest_plugin --mxgpu-device=sim,qemu

A test that takes gpu gets a device of its own with its firmware running, once
for each kind named; gpu_off is one after power-on. A mark gives options and
what the test needs:

    @pytest.mark.mxgpu(compute_units=2, only="sim")
"""
import asyncio
import inspect

import pytest

import mxgpu


def pytest_addoption(parser):
    group = parser.getgroup("mxgpu")
    group.addoption("--mxgpu-device", default="sim",
                    help="kinds of devices, with commas: sim, qemu, vfio")
    group.addoption("--mxgpu-library", help="libmxgpu-sim.so")
    group.addoption("--mxgpu-firmware", help="image that gpu boots")
    group.addoption("--mxgpu-qemu", help="qemu-system-x86_64 with the device")


def pytest_configure(config):
    config.addinivalue_line("markers", "mxgpu(only=None, **options): options of "
                            "the device of this test; only: the one kind of "
                            "device that can do it")


def _mark(node):
    mark = node.get_closest_marker("mxgpu")
    options = dict(mark.kwargs) if mark else {}
    return options.pop("only", None), options


def pytest_generate_tests(metafunc):
    if "_mxgpu_kind" not in metafunc.fixturenames:
        return
    kinds = metafunc.config.getoption("--mxgpu-device").split(",")
    only, _ = _mark(metafunc.definition)
    metafunc.parametrize("_mxgpu_kind", [
        k if only in (None, k) else pytest.param(
            k, marks=pytest.mark.skip(reason=f"only on {only}"))
        for k in kinds])


@pytest.fixture
def gpu_off(request, _mxgpu_kind):
    """A device after power-on."""
    config = request.config
    _, options = _mark(request.node)
    options.setdefault("vram_size", 64 << 20)
    options.setdefault("compute_units", 2)
    with mxgpu.open(_mxgpu_kind, library=config.getoption("--mxgpu-library"),
                    firmware=config.getoption("--mxgpu-firmware"),
                    qemu=config.getoption("--mxgpu-qemu"), **options) as gpu:
        request.node.mxgpu_device = gpu
        yield gpu


@pytest.fixture
def gpu(gpu_off):
    """A device whose firmware runs."""
    gpu_off.boot()
    return gpu_off


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Runs a test that is a coroutine. Its events end by themselves."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{n: pyfuncitem.funcargs[n] for n in wanted}))
    return True


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failed test says what its device did."""
    outcome = yield
    report = outcome.get_result()
    gpu = getattr(item, "mxgpu_device", None)
    if report.when == "call" and report.failed and gpu:
        report.sections.append(("mxgpu device", gpu.status()))
