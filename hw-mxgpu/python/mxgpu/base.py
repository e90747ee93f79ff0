# SPDX-License-Identifier: MIT
"""What the structures of the device have in common."""
import ctypes as c


class _Checked:
    """Members are set by name; what does not exist or does not fit is refused,
    where ctypes would make an attribute, or cut bits off. A pair of members
    NAME_lo, NAME_hi can be set, and read, as NAME."""

    def __init__(self, **members):
        super().__init__()
        for name, value in members.items():
            setattr(self, name, value)

    @classmethod
    def _kinds(cls):
        kinds = {}
        for name, kind, *_ in cls._fields_:
            kinds[name] = kind
            if name in getattr(cls, "_anonymous_", ()):
                kinds.update(kind._kinds())
        return kinds

    def __setattr__(self, name, value):
        kinds = self._kinds()
        if name not in kinds:
            if f"{name}_lo" in kinds and f"{name}_hi" in kinds:
                _check_range(type(self).__name__, name, c.c_uint64, value)
                setattr(self, f"{name}_lo", value & 0xffffffff)
                setattr(self, f"{name}_hi", value >> 32)
                return
            raise AttributeError(f"{type(self).__name__} has no {name}")
        kind = kinds[name]
        if isinstance(kind, type) and issubclass(kind, c.Array):
            if issubclass(kind, c.c_char * kind._length_):
                super().__setattr__(name, value)
                return
            if len(value) > kind._length_:
                raise ValueError(f"{type(self).__name__}.{name} has "
                                 f"{kind._length_} elements")
            for item in value:
                _check_range(type(self).__name__, name, kind._type_, item)
            value = kind(*value)
        elif issubclass(kind, c._SimpleCData):
            _check_range(type(self).__name__, name, kind, value)
            value = int(value)
        super().__setattr__(name, value)

    def __getattr__(self, name):
        kinds = type(self)._kinds()
        if f"{name}_lo" in kinds and f"{name}_hi" in kinds:
            return (getattr(self, f"{name}_lo") |
                    getattr(self, f"{name}_hi") << 32)
        raise AttributeError(f"{type(self).__name__} has no {name}")

    def __repr__(self):
        shown = []
        for name in self._kinds():
            value = getattr(self, name)
            if isinstance(value, (c.Structure, c.Union)):
                continue
            if isinstance(value, c.Array):
                value = list(value)
            if value and not name.startswith("reserved"):
                shown.append(f"{name}={value:#x}" if isinstance(value, int)
                             and value > 4095 else f"{name}={value}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def __eq__(self, other):
        return type(self) is type(other) and bytes(self) == bytes(other)

    __hash__ = None

    @classmethod
    def unpack(cls, data):
        """An object from bytes, as many as it has."""
        return cls.from_buffer_copy(data)


def _check_range(of, name, kind, value):
    bits = c.sizeof(kind) * 8
    signed = kind(-1).value < 0
    low, high = (-1 << bits - 1, 1 << bits - 1) if signed else (0, 1 << bits)
    if not low <= value < high:
        raise ValueError(f"{of}.{name}: {value:#x} does not fit {bits} bits")


class Struct(_Checked, c.LittleEndianStructure):
    """Bytes that host and device both know."""


class Union(_Checked, c.LittleEndianUnion):
    """Members in one place."""


class Packet(Struct):
    """64 bytes of a ring. type is set by the class."""
    TYPE = None
    classes = {}

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        Packet.classes[cls.TYPE] = cls

    def __init__(self, **members):
        super().__init__(**{"type": self.TYPE, **members})

    @staticmethod
    def decode(data):
        """The packet that these bytes are; ValueError: an unknown type."""
        kind = int.from_bytes(data[:2], "little")
        if kind not in Packet.classes:
            raise ValueError(f"no packet type {kind}")
        return Packet.classes[kind].unpack(data)


class Message(Struct):
    """A request to the firmware. op is set by the class."""
    OP = None

    def __init__(self, **members):
        super().__init__(**{"op": self.OP, **members})
