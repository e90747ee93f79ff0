# SPDX-License-Identifier: MIT
"""Structures as classes, against the bytes of the headers."""
import ctypes
import struct

import pytest

from mxgpu import packets, tables
from mxgpu.base import Message, Packet
from mxgpu.packets import Copy, Dispatch, Nop


def test_every_packet_has_64_bytes_and_its_type():
    assert set(Packet.classes) == set(tables.PacketType)
    for kind, cls in Packet.classes.items():
        packet = cls(flags=packets.BARRIER, signal_addr=8, signal_value=9)
        data = bytes(packet)
        assert len(data) == 64
        assert struct.unpack_from("<HH", data) == (kind, packets.BARRIER)
        assert struct.unpack_from("<QQ", data, 48) == (8, 9)
        assert Packet.decode(data) == packet


def test_members():
    packet = Copy(src=1 << 40, dst=2, size=3)
    assert bytes(packet) == struct.pack("<HHIQQQQQQQ", 1, 0, 0, 1 << 40, 2, 3,
                                        0, 0, 0, 0)
    packet = Dispatch(grid=(1, 2, 3), block=(64, 1, 1))
    assert bytes(packet)[24:42] == struct.pack("<IIIHHH", 1, 2, 3, 64, 1, 1)
    assert "grid=[1, 2, 3]" in repr(packet)


@pytest.mark.parametrize("wrong, error", [
    ({"src": 1 << 64}, ValueError), ({"src": -1}, ValueError),
    ({"source": 1}, AttributeError)])
def test_wrong_members_are_refused(wrong, error):
    with pytest.raises(error):
        Copy(**wrong)
    packet = Copy()
    with pytest.raises(error):
        for name, value in wrong.items():
            setattr(packet, name, value)
    with pytest.raises(ValueError):
        Dispatch(grid=(1, 2, 3, 4))
    with pytest.raises(ValueError):
        Dispatch(block=(1 << 16, 1, 1))


def test_unknown_bytes():
    with pytest.raises(ValueError):
        Packet.decode(b"\xff" * 64)
    with pytest.raises(ValueError):
        Copy.unpack(b"\1")


def test_messages_and_halves():
    message = tables.MsgQueueCreate(queue=3, ring=0x123456789abc)
    assert (message.op, message.ring_lo, message.ring_hi) == (
        tables.MsgOp.QUEUE_CREATE, 0x56789abc, 0x1234)
    assert message.ring == 0x123456789abc
    assert issubclass(tables.MsgHello, Message)
    assert tables.MsgHelloResp(build=b"x").build == b"x"


def test_unions_share_their_place():
    error = tables.QueueError(block=(1, 2, 3))
    assert list(error.done) == [1, 2]
    assert ctypes.sizeof(tables.FaultRecord) == 64
    assert Nop().type == 0
