# SPDX-License-Identifier: MIT
"""What goes wrong."""
from .events import Timeout


class MxgpuError(Exception):
    """The device, or what is needed to have one, said no."""


class NotSupported(MxgpuError):
    """This kind of device cannot do it."""


class MessageRefused(MxgpuError):
    """The firmware answered something else than OK."""

    def __init__(self, message, status):
        self.message, self.status = message, status
        super().__init__(f"{message!r}: {status.name}")


__all__ = ["MessageRefused", "MxgpuError", "NotSupported", "Timeout"]
