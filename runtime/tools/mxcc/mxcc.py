#!/usr/bin/python3 -IS
# SPDX-License-Identifier: MIT
"""mxcc: compiles single-source programs for the device and the host.

Each source goes through clang twice, at the same time. The device pass leaves
bitcode, which mx-kernel-link makes a kernel image of; the host pass leaves an
object file with a place for the image. The image is then put there and clang's
runtime entry points get their mc* names. See docs/mxcc.md.
"""
import os
import signal
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))


def read_conf():
    """(key, value) of the file beside this one in the build folder."""
    path = os.path.join(HERE, "mxcc.conf")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        return [tuple(line.strip().split("=", 1)) for line in f
                if "=" in line]


CONF = read_conf()
sys.path.insert(0, dict(CONF).get("modules") or
                os.path.join(os.path.dirname(HERE), "lib", "mxcc"))

# pylint: disable=wrong-import-position
from driver.main import run
from driver.report import Failure, Interrupted, say


def interrupt(number, _frame):
    # Once: what cleans up is not interrupted.
    for other in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)
    raise Interrupted(number)


def main():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, interrupt)
    try:
        with tempfile.TemporaryDirectory(prefix="mxcc-") as temps:
            run(sys.argv[1:], HERE, CONF, temps)
        return 0
    except Failure as e:
        if str(e):
            say("error", e)
        return e.status
    except Interrupted as e:
        signal.signal(e.number, signal.SIG_DFL)
        os.kill(os.getpid(), e.number)
        return 128 + e.number
    except OSError as e:
        say("error", e)
        return 1


if __name__ == "__main__":
    sys.exit(main())
