# SPDX-License-Identifier: MIT
"""Options of these tests."""
import pytest


def pytest_addoption(parser):
    parser.addoption("--kernel-bin", help="docs/examples/kernel.bin")


@pytest.fixture
def kernel_bin(request):
    path = request.config.getoption("--kernel-bin")
    if not path:
        pytest.skip("no --kernel-bin")
    with open(path, "rb") as f:
        return f.read()
