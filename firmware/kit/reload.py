# SPDX-License-Identifier: MIT
"""Puts another image into a device at work, through its gdb port: the MCU is
stopped, SRAM written, and the new firmware starts at its entry. Registers,
memory, engines and host stay as they are: to a driver it is a firmware that
forgot its queues and address spaces, so that it has to begin with HELLO."""
import os
import socket
import stat
import struct

CHUNK = 1024
LIMIT = 60
PC = 32  # gdb's number of the register


class Port:
    """A device file, as a port of a virtual machine is, with the calls of a
    socket."""

    def __init__(self, path):
        self.fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def recv(self, size):
        return os.read(self.fd, size)

    def sendall(self, data):
        while data:
            data = data[os.write(self.fd, data):]

    def close(self):
        os.close(self.fd)


class Remote:
    """As much of gdb's remote protocol as it takes."""

    def __init__(self, address):
        host, _, port = address.rpartition(":")
        if os.path.exists(address) and stat.S_ISCHR(os.stat(address).st_mode):
            self.sock = Port(address)
        elif port.isdigit():
            self.sock = socket.create_connection((host or "127.0.0.1",
                                                  int(port)), LIMIT)
        else:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(LIMIT)
            self.sock.connect(address)
        self.rest = b""

    def _byte(self):
        if not self.rest:
            self.rest = self.sock.recv(65536)
            if not self.rest:
                raise OSError("the device closed the connection")
        first, self.rest = self.rest[:1], self.rest[1:]
        return first

    def send(self, data):
        self.sock.sendall(b"$" + data + b"#%02x" % (sum(data) & 255))

    def receive(self):
        while self._byte() != b"$":
            pass
        data = b""
        while (byte := self._byte()) != b"#":
            data += byte
        self._byte(), self._byte()
        self.sock.sendall(b"+")
        return data

    def ask(self, data):
        self.send(data)
        return self.receive()

    def expect_ok(self, data, what):
        answer = self.ask(data)
        if answer != b"OK":
            raise OSError(f"{what}: the device says {answer.decode()!r}")

    def write(self, address, data):
        for i in range(0, len(data), CHUNK):
            part = data[i:i + CHUNK]
            self.expect_ok(b"M%x,%x:%s" % (address + i, len(part),
                                           part.hex().encode()),
                           f"writing {address + i:#x}")

    def close(self):
        self.sock.close()


def reload(address, image, base, entry):
    """Raises OSError where the device says no."""
    remote = Remote(address)
    try:
        remote.ask(b"?")  # stops the MCU
        remote.write(base, image)
        remote.expect_ok(b"P%x=%s" % (PC, struct.pack("<I", entry).hex()
                                      .encode()), "setting pc")
        remote.expect_ok(b"D", "detaching")
    finally:
        remote.close()
