# SPDX-License-Identifier: MIT
"""Options of these tests."""
import pytest

from mxgpu import MxgpuError

SKIPPED = 77  # what Meson takes for a test that was skipped


def pytest_addoption(parser):
    parser.addoption("--kernel-bin", help="docs/examples/kernel.bin")
    parser.addoption("--skip-without-qemu", action="store_true",
                     help=f"end with status {SKIPPED} where QEMU is not built")


def pytest_sessionstart(session):
    if session.config.getoption("--skip-without-qemu"):
        from mxgpu.qemu import find_qemu
        try:
            find_qemu(session.config.getoption("--mxgpu-qemu"))
        except MxgpuError as e:
            pytest.exit(str(e), SKIPPED)


@pytest.fixture
def kernel_bin(request):
    path = request.config.getoption("--kernel-bin")
    if not path:
        pytest.skip("no --kernel-bin")
    with open(path, "rb") as f:
        return f.read()
