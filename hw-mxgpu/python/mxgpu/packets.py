# SPDX-License-Identifier: MIT
"""Packets as classes: Copy(src=..., dst=..., size=...). The members are those
of hw-mxgpu/include/mxgpu/packets.h, where their meaning stands."""
import ctypes as c

from .base import Packet
from .tables import (PKT_BARRIER as BARRIER, PKT_COOPERATIVE as COOPERATIVE,
                     PKT_IRQ as IRQ, PKT_LAUNCHES as LAUNCHES,
                     PKT_PROFILE as PROFILE, PKT_RECOVER as RECOVER,
                     PKT_STRICT_ALIGN as STRICT_ALIGN, Copy, CopyRect,
                     Dispatch, Fill, FillRect, Indirect, PacketType, Timestamp,
                     TlbInvalidate, Wait, WaitCond, Write)


class Nop(Packet):
    """Nothing but a signal; with BARRIER a fence."""
    TYPE = PacketType.NOP
    _fields_ = [
        ("type", c.c_uint16),
        ("flags", c.c_uint16),
        ("reserved", c.c_uint32 * 11),
        ("signal_addr", c.c_uint64),
        ("signal_value", c.c_uint64),
    ]


# Types that were added since (scripts/firmware new).
globals().update({cls.__name__: cls for cls in Packet.classes.values()})

__all__ = ["BARRIER", "COOPERATIVE", "IRQ", "LAUNCHES", "PROFILE", "RECOVER",
           "STRICT_ALIGN", "Copy", "CopyRect", "Dispatch", "Fill", "FillRect",
           "Indirect", "Nop", "Packet", "PacketType", "Timestamp",
           "TlbInvalidate", "Wait", "WaitCond", "Write"]
