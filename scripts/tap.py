# SPDX-License-Identifier: MIT
"""Tests in Python that say what they found as TAP (testanything.org)."""
import sys

tests = failed = 0


def note(text):
    """Lines for people."""
    print("".join(f"# {line}\n" for line in str(text).splitlines()), end="",
          flush=True)


def check(name, ok, detail=""):
    """One test; the detail is printed when it fails."""
    global tests, failed
    tests += 1
    failed += not ok
    print(f"{'ok' if ok else 'not ok'} {tests} - {name}", flush=True)
    if not ok:
        note(detail)


def bail_out(why):
    print(f"Bail out! {why}", flush=True)
    sys.exit(1)


def end():
    """The last statement of a test."""
    print(f"1..{tests}")
    sys.exit(failed > 0)
