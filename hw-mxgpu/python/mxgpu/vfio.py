# SPDX-License-Identifier: MIT
"""A PCI function that vfio-pci has: in a guest, or on a machine with the card.
There is one user of it at a time, this program."""
import errno
import fcntl
import mmap
import os
import struct
import time

from .errors import MxgpuError, NotSupported
from .host import MappingHost
from .tables import (BAR_DOORBELL, BAR_REGS, BAR_VRAM, DOORBELL_STRIDE,
                     MAX_QUEUES, PCI_DEVICE, PCI_VENDOR)

DEVICES = "/sys/bus/pci/devices"
BUS_START, BUS_END = 1 << 32, 1 << 38  # every IOMMU has so many bits
# linux/vfio.h
(GET_API_VERSION, CHECK_EXTENSION, SET_IOMMU, GROUP_GET_STATUS,
 GROUP_SET_CONTAINER, _, GROUP_GET_DEVICE_FD, DEVICE_GET_INFO,
 DEVICE_GET_REGION_INFO, DEVICE_GET_IRQ_INFO, DEVICE_SET_IRQS, DEVICE_RESET,
 _, IOMMU_MAP_DMA, IOMMU_UNMAP_DMA) = range(0x3b64, 0x3b73)
TYPE1_IOMMU = 1
GROUP_VIABLE = 1
CONFIG_REGION, MSIX_INDEX = 7, 2
IRQ_SET_EVENTFD = 1 << 2 | 1 << 5  # ... that is written when it is raised
MAP_READ_WRITE = 3
COMMAND, MEMORY_AND_MASTER = 4, 6
REGION = struct.Struct("<4I2Q")
IRQ = struct.Struct("<4I")
IRQ_SET = struct.Struct("<5I")
MAP = struct.Struct("<2I3Q")
UNMAP = struct.Struct("<2I2Q")


def _ioctl(fd, request, argument, what):
    """The number it returns; a bytearray argument is changed."""
    try:
        return fcntl.ioctl(fd, request, argument)
    except OSError as e:
        raise MxgpuError(f"{what}: {e.strerror}") from None


def _read(*path):
    with open(os.path.join(*path), encoding="ascii") as f:
        return f.read().strip()


def functions():
    """The addresses of mxgpu's functions that vfio-pci has."""
    found = []
    for name in sorted(os.listdir(DEVICES) if os.path.isdir(DEVICES) else ()):
        path = os.path.join(DEVICES, name)
        ids = int(_read(path, "vendor"), 0), int(_read(path, "device"), 0)
        driver = os.path.join(path, "driver")
        if ids == (PCI_VENDOR, PCI_DEVICE) and os.path.basename(
                os.path.realpath(driver)) == "vfio-pci":
            found.append(name)
    return found


def _choose(function):
    """Its address, of a number or of the address itself."""
    if isinstance(function, str):
        return function
    found = functions()
    if function >= len(found):
        raise MxgpuError(f"vfio-pci has {len(found)} functions of mxgpu")
    return found[function]


class VfioHost(MappingHost):
    """What the rest of the package wants of a device."""
    name = "vfio"
    lines = ()  # the firmware's console goes elsewhere

    def __init__(self, function=0, **options):
        super().__init__(BUS_START, BUS_END)
        self._fds, self._regions = [], {}
        self.irq_fds = []
        try:
            self.address = _choose(function)
            self._open_group()
            self._open_function()
            self._open_bars()
            self._enable_msix()
            self._compare(options)
        except BaseException:
            self.close()
            raise

    def _open(self, path):
        try:
            fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except OSError as e:
            raise MxgpuError(f"{path}: {e.strerror}") from None
        self._fds.append(fd)
        return fd

    def _open_group(self):
        link = os.path.join(DEVICES, self.address, "iommu_group")
        if not os.path.exists(link):
            raise MxgpuError(f"{self.address} has no IOMMU group")
        number = os.path.basename(os.path.realpath(link))
        self._container = self._open("/dev/vfio/vfio")
        self._group = self._open(f"/dev/vfio/{number}")
        status = bytearray(struct.pack("<2I", 8, 0))
        _ioctl(self._group, GROUP_GET_STATUS, status, "group")
        if not struct.unpack("<2I", status)[1] & GROUP_VIABLE:
            raise MxgpuError(f"other drivers have functions of group {number}")
        _ioctl(self._group, GROUP_SET_CONTAINER,
               struct.pack("<i", self._container), "container")
        _ioctl(self._container, SET_IOMMU, TYPE1_IOMMU, "IOMMU")

    def _open_function(self):
        name = bytearray(self.address.encode() + b"\0")
        self._device = _ioctl(self._group, GROUP_GET_DEVICE_FD, name,
                              self.address)
        self._fds.append(self._device)

    def _region(self, index):
        """Size and offset."""
        info = bytearray(REGION.pack(REGION.size, 0, index, 0, 0, 0))
        _ioctl(self._device, DEVICE_GET_REGION_INFO, info, f"region {index}")
        return REGION.unpack(info)[4:]

    def _open_bars(self):
        self._config = self._region(CONFIG_REGION)[1]
        self._set_master()
        for bar, most in ((BAR_REGS, None), (BAR_VRAM, None),
                          (BAR_DOORBELL, MAX_QUEUES * DOORBELL_STRIDE)):
            size, offset = self._region(bar)
            self._regions[bar] = mmap.mmap(
                self._device, min(size, most or size), offset=offset)
        self._regs = memoryview(self._regions[BAR_REGS]).cast("I")
        self._bells = memoryview(self._regions[BAR_DOORBELL]).cast("Q")
        self._vram = memoryview(self._regions[BAR_VRAM])
        self.vram_size = len(self._vram)

    def _set_master(self):
        self.config_write(COMMAND, self.config_read(COMMAND, 2) |
                          MEMORY_AND_MASTER, 2)

    def _enable_msix(self):
        info = bytearray(IRQ.pack(IRQ.size, 0, MSIX_INDEX, 0))
        _ioctl(self._device, DEVICE_GET_IRQ_INFO, info, "interrupts")
        self.vectors = IRQ.unpack(info)[3]
        self.irq_fds = [os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
                        for _ in range(self.vectors)]
        self._fds += self.irq_fds
        data = struct.pack(f"<{self.vectors}i", *self.irq_fds)
        _ioctl(self._device, DEVICE_SET_IRQS,
               IRQ_SET.pack(IRQ_SET.size + len(data), IRQ_SET_EVENTFD,
                            MSIX_INDEX, 0, self.vectors) + data, "MSI-X")

    def _compare(self, options):
        """The card is as it is: who wants another one is told."""
        from .regs import RegisterFile
        reg = RegisterFile(self)
        has = {"vram_size": reg.VRAM_SIZE.read(),
               "compute_units": reg.UNIT_CAPS.COMPUTE_UNITS,
               "copy_engines": reg.UNIT_CAPS.COPY_ENGINES,
               "queues": reg.QUEUE_CAPS.QUEUES}
        for name, value in options.items():
            if name not in has:
                raise NotSupported(f"a card has no option {name}: its machine "
                                   "sets it")
            if has[name] != value:
                raise NotSupported(f"{self.address} has {name} {has[name]}, "
                                   f"not {value}")

    def close(self):
        for name in ("_regs", "_bells", "_vram"):
            if hasattr(self, name):
                getattr(self, name).release()
        for region in self._regions.values():
            region.close()
        self._regions.clear()
        for fd in reversed(self._fds):
            os.close(fd)
        self._fds.clear()
        self._maps.clear()

    # ---- configuration space

    def config_read(self, offset, size=4):
        return int.from_bytes(os.pread(self._device, size,
                                       self._config + offset), "little")

    def config_write(self, offset, value, size=4):
        os.pwrite(self._device, value.to_bytes(size, "little"),
                  self._config + offset)

    # ---- registers and memory

    def read(self, offset):
        return self._regs[offset // 4]

    def write(self, offset, value):
        self._regs[offset // 4] = value

    def doorbell(self, queue, value):
        self._bells[queue * DOORBELL_STRIDE // 8] = value

    def _dma_map(self, bus, at, size):
        _ioctl(self._container, IOMMU_MAP_DMA,
               MAP.pack(MAP.size, MAP_READ_WRITE, at, bus, size), "dma_map")

    def _dma_unmap(self, bus, size):
        _ioctl(self._container, IOMMU_UNMAP_DMA,
               bytearray(UNMAP.pack(UNMAP.size, 0, bus, size)), "dma_unmap")

    # ---- time, interrupts

    def irq_fd(self, vector):
        return self.irq_fds[vector]

    def tick(self):
        """The device's clock is its own."""

    def reset(self):
        """A function-level reset; the kernel brings configuration space
        back."""
        for _ in range(50):
            try:
                fcntl.ioctl(self._device, DEVICE_RESET)
                break
            except OSError as e:
                if e.errno != errno.EAGAIN:
                    raise MxgpuError(f"reset: {e.strerror}") from None
                time.sleep(0.002)
        self._set_master()

    # ---- what a card does not have

    def inspect(self, command):
        raise NotSupported("a card tells its registers: its machine's monitor "
                           "has info mxgpu")

    def pause(self):
        raise NotSupported("a card cannot be stopped")

    def resume(self):
        self.pause()

    def save(self):
        raise NotSupported("a card has no checkpoints")

    def load(self, data):
        self.save()
