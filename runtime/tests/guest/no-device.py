#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""no-device.py PROGRAM...: programs that check themselves can fail. Where no
device is visible each must, and say why."""
import os
import subprocess
import sys

from tap import check, end

ENV = os.environ | {"MACA_VISIBLE_DEVICES": "-1"}

for program in sys.argv[1:]:
    done = subprocess.run([os.path.abspath(program)], env=ENV, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, timeout=60)
    check(f"{os.path.basename(program)} fails", done.returncode == 1 and
          ": " in done.stderr and "PASS" not in done.stdout,
          f"{done.returncode} {done.stdout} {done.stderr}")
end()
