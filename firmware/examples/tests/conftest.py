# SPDX-License-Identifier: MIT
"""Options of these tests."""


def pytest_addoption(parser):
    parser.addoption("--toy", help="folder of the built toy firmware")
