# SPDX-License-Identifier: MIT
"""Options of these tests."""


def pytest_addoption(parser):
    parser.addoption("--elf", help="mxgpu-fw.elf")
    parser.addoption("--toy", help="folder of the built toy firmware")
