# SPDX-License-Identifier: MIT
"""Registers by name: gpu.reg.MCU_STATUS.STATE, gpu.reg.COUNTER[3]."""
from .registers import REGISTERS


class Register:
    """One register, whose fields are attributes. Setting a field of a register
    that keeps what is written changes that field alone; of one that acts on
    writes (W1C, WO) it writes the field, and 0 elsewhere."""
    __slots__ = ("_file", "name", "offset", "host", "mcu", "index", "fields",
                 "doc")

    def __init__(self, file, name, index=0):
        offset, count, stride, host, mcu, fields, doc = REGISTERS[name]
        if not 0 <= index < count:
            raise IndexError(f"{name}[{index}]: there are {count}")
        for slot, value in (("_file", file), ("name", name), ("host", host),
                            ("mcu", mcu), ("fields", fields), ("doc", doc),
                            ("index", index),
                            ("offset", offset + index * stride)):
            object.__setattr__(self, slot, value)

    def read(self):
        return self._file.read_at(self.offset)

    def write(self, value=0, **fields):
        """Writes the value, with the fields that are named in their place."""
        for name, part in fields.items():
            shift, width = self._field(name)
            if not 0 <= part < 1 << width:
                raise ValueError(f"{self.name}.{name}: {part:#x} does not fit "
                                 f"{width} bits")
            value = value & ~((1 << width) - 1 << shift) | part << shift
        self._file.write_at(self.offset, value)

    def _field(self, name):
        try:
            return self.fields[name]
        except KeyError:
            raise AttributeError(f"{self.name} has no field {name}") from None

    def decode(self, value=None):
        """{field: value} of the register, or of a value of it."""
        value = self.read() if value is None else value
        return {name: value >> shift & (1 << width) - 1
                for name, (shift, width) in self.fields.items()}

    def __getattr__(self, name):
        shift, width = self._field(name)
        return self.read() >> shift & (1 << width) - 1

    def __setattr__(self, name, value):
        self._field(name)
        if self.host in ("RO", "NA"):
            raise AttributeError(f"{self.name} is {self.host} for the host")
        self.write(self.read() if self.host == "RW" else 0, **{name: value})

    def __int__(self):
        return self.read()

    def __repr__(self):
        return f"<{self.name} at {self.offset:#06x}, {self.host}: {self.doc}>"


class Pair:
    """NAME_LO and NAME_HI as one of 64 bits. Reading the low half latches the
    high one where the device says so; writing the high half often acts, so it
    comes second."""

    def __init__(self, file, name, index=0):
        self.low = Register(file, name + "_LO", index)
        self.high = Register(file, name + "_HI", index)

    def read(self):
        return self.low.read() | self.high.read() << 32

    def write(self, value):
        self.low.write(value & 0xffffffff)
        self.high.write(value >> 32)

    def __int__(self):
        return self.read()


class Array:
    """Registers, or pairs, that are indexed."""

    def __init__(self, file, kind, name, count):
        self._make = lambda i: kind(file, name, i)
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if not 0 <= index < self.count:
            raise IndexError(index)
        return self._make(index)


class RegisterFile:
    """All registers of BAR 0 as attributes. Assigning a number writes."""

    def __init__(self, host):
        object.__setattr__(self, "_host", host)

    def read_at(self, offset):
        return self._host.read(offset)

    def write_at(self, offset, value):
        if not 0 <= value < 1 << 32:
            raise ValueError(f"{value:#x} does not fit a register")
        self._host.write(offset, value)

    def __getattr__(self, name):
        kind, key = Register, name
        if name not in REGISTERS:
            kind, key = Pair, name + "_LO"
            if key not in REGISTERS or name + "_HI" not in REGISTERS:
                raise AttributeError(f"no register {name}")
        count = REGISTERS[key][1]
        return kind(self, name) if count == 1 else Array(self, kind, name,
                                                         count)

    def __setattr__(self, name, value):
        getattr(self, name).write(value)

    def __dir__(self):
        return list(REGISTERS)

    def visible(self):
        """Every register that the host sees, one after the other."""
        for name, (_, count, _, host, *_) in REGISTERS.items():
            if host != "NA":
                for i in range(count):
                    yield Register(self, name, i)
