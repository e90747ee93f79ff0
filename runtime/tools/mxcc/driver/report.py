# SPDX-License-Identifier: MIT
"""Messages, and the exceptions that end mxcc."""
import sys


class Failure(Exception):
    """Ends mxcc; the message, if any, has not been printed yet."""

    def __init__(self, message="", status=1):
        super().__init__(message)
        self.status = status


class Interrupted(BaseException):
    """A signal that ends the process arrived."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


def say(kind, text):
    bold, red, off = ("\033[1m", "\033[1;31m", "\033[0m") \
        if sys.stderr.isatty() else ("", "", "")
    shade = red if kind == "error" else bold
    print(f"{bold}mxcc: {shade}{kind}:{off} {text}", file=sys.stderr)


_warned = set()


def warn(text):
    """Says the same thing once only."""
    if text not in _warned:
        _warned.add(text)
        say("warning", text)
