# SPDX-License-Identifier: MIT
# Made by scripts/gen-python from hw-mxgpu/include/mxgpu; edit the headers.
"""Structures, enumerations and constants of the device."""
import ctypes as c
import enum

from .base import Message, Packet, Struct, Union

MAX_QUEUES = 0x100
MAX_VECTORS = 0x100
MAX_COPY_ENGINES = 8
MAX_COMPUTE_UNITS = 128
MAX_THREADS = 0x100
NUM_VMIDS = 16
DISPATCH_SLOTS = 8
WARP_SIZE = 64
BLOCK_THREADS = 0x400
CU_THREADS = 0x800
CU_BLOCKS = 16
CU_REGISTERS = 0x20000
SHARED_GRANULE = 64
MCU_SRAM_BASE = 0x20000000
MCU_SRAM_SIZE = 0x80000
MCU_REGS_BASE = 0x40000000
PCI_VENDOR = 0x1234
PCI_DEVICE = 0x6d78
PCI_CLASS = 0x302
PCI_SUBSYSTEM = 1
ID_MAGIC = 0x5047584d
INTERFACE_VERSION = 0x10003
BAR_REGS = 0
BAR_VRAM = 2
BAR_DOORBELL = 4
REGS_SIZE = 0x10000
DOORBELL_STRIDE = 0x1000
MSIX_TABLE = 0x100000
MSIX_PBA = 0x101000
DOORBELL_SIZE = 0x200000
RESET_MAGIC = 0x52455345
FAULT_LOG2_MAX = 12
QEV_UNIT_NONE = 0
QEV_UNIT_COPY = 16
QEV_UNIT_SLOT = 32
COUNTERS = 32
FW_MAGIC = 0x5746584d
FW_ISA_RV32IMAC = 1
PACKET_SIZE = 64
PKT_BARRIER = 1
PKT_IRQ = 2
PKT_FLAGS = 3
PKT_COOPERATIVE = 4
PKT_PROFILE = 8
PKT_STRICT_ALIGN = 16
PKT_LAUNCHES = 32
PKT_RECOVER = 64
INDIRECT_MAX = 0x10000
MSG_ABI = 1
PROFILE_EXACT = 1
NOTE_KERNELS = 1
KERNEL_ABI = 1
KERNEL_MAGIC = 0x4e4b584d
KERNEL_FP_FLAGS = 1
KERNEL_USES_FIFO = 1
KERNEL_USES_HEAP = 2
KERNEL_USES_LAUNCH = 4
KERNEL_USES_MULTIMEM = 8
SHARED_BASE = 0xffffffffe0000000
SHARED_MAX = 0x10000
PRIVATE_END = 0xfffffffff8000000
PRIVATE_MAX = 0x100000
PRIVATE_DEFAULT_KIB = 8
PTE_VALID = 1
PTE_SYSTEM = 2
PTE_READ = 4
PTE_WRITE = 8
PTE_EXECUTE = 16
PTE_ATOMIC = 32
PTE_ACCESSED = 64
PTE_DIRTY = 128
PTE_TABLE = 0x100
PTE_ADDRESS = 0xffffffffff000
PTE_LEAF_RESERVED = 0xfff0000000000e00
PTE_TABLE_RESERVED = 0xfff0000000000efc
PT_LEVELS = 4
PT_ENTRIES = 0x200
PT_LEVEL_BITS = 9
PAGE_SHIFT = 12
LARGE_SHIFT = 21
HUGE_SHIFT = 30
VA_BITS = 48
VA_LIMIT = 0x800000000000


class ResetCause(enum.IntEnum):
    POWER_ON = 0
    HOST = 1
    BUS = 2


class McuState(enum.IntEnum):
    RESET = 0
    RUNNING = 1
    BOOT_ERROR = 2
    CRASHED = 3


class BootError(enum.IntEnum):
    OK = 0
    BAD_MAGIC = 1
    BAD_HEADER = 2
    BAD_ISA = 3
    BAD_CRC = 4


class UnitState(enum.IntEnum):
    IDLE = 0
    BUSY = 1
    DONE = 2
    FAULT = 3


class FrontState(enum.IntEnum):
    OTHER = 0
    LAUNCHED = 1
    NO_SLOT = 2
    BARRIER = 3
    RETIRED = 4
    CHAINED = 5


class CopyOp(enum.IntEnum):
    LINEAR = 0
    FILL = 1
    RECT = 2
    FILL_RECT = 3


class MemOp(enum.IntEnum):
    READ = 0
    WRITE = 1


class Access(enum.IntEnum):
    READ = 0
    WRITE = 1
    EXECUTE = 2
    ATOMIC = 3


class Fault(enum.IntEnum):
    NONE = 0
    NOT_PRESENT = 1
    PERMISSION = 2
    TABLE = 3
    NON_CANONICAL = 4
    BUS = 5
    NO_VMID = 6
    MISALIGNED = 7
    WINDOW = 8
    ILLEGAL = 16
    BREAKPOINT = 17
    SYSCALL = 18
    BARRIER = 19
    ASSERT = 20
    ABORTED = 32
    CONFIG = 33


class QueueEvent(enum.IntEnum):
    CREATE = 1
    DESTROY = 2
    ERROR = 3
    PACKET_START = 4
    PACKET_END = 5


class Counter(enum.IntEnum):
    WARP_INSTRUCTIONS = 0
    LANE_INSTRUCTIONS = 1
    BLOCKS = 2
    DISPATCHES = 3
    DIVERGENT_BRANCHES = 4
    TLB_MISSES = 5
    COPY_BYTES = 6
    COPIES = 7
    DOORBELLS = 8
    INTERRUPTS = 9
    FAULTS = 10
    WARPS = 11
    BARRIER_WAITS = 12
    ATOMICS = 13
    BUSY_NS = 14
    MEM_REQUESTS = 16
    MEM_TRANSACTIONS = 17
    MEM_BYTES = 18
    TLB_LOOKUPS = 19
    SHARED_REQUESTS = 20
    BANK_CONFLICTS = 21
    COUNTED_INSTRUCTIONS = 22
    COUNTED_SPANS = 23


class PacketType(enum.IntEnum):
    NOP = 0
    COPY = 1
    FILL = 2
    DISPATCH = 3
    WRITE = 4
    WAIT = 5
    TIMESTAMP = 6
    TLB_INVALIDATE = 7
    COPY_RECT = 8
    FILL_RECT = 9
    INDIRECT = 10


class WaitCond(enum.IntEnum):
    GEQ = 0
    EQ = 1
    AND = 2
    NOR = 3


class QueueState(enum.IntEnum):
    ACTIVE = 0
    ERROR = 1


class QueueErrorCode(enum.IntEnum):
    NONE = 0
    FETCH = 1
    PACKET = 2
    INDEX = 3
    FAULT = 4
    KERNEL = 5
    RESOURCES = 6
    TIMEOUT = 7
    SIGNAL = 8


class FaultSource(enum.IntEnum):
    COMPUTE = 0
    COPY = 1


class MsgOp(enum.IntEnum):
    PING = 1
    HELLO = 2
    VM_SET = 3
    TLB_INVALIDATE = 4
    QUEUE_CREATE = 5
    QUEUE_DESTROY = 6
    LOG_LEVEL = 7
    QUEUE_PROFILE = 8
    QUEUE_LAUNCH = 9
    QUEUE_RESET = 10
    CONTEXTS = 11
    QUEUE_HOLD = 12
    QUEUE_RESUME = 13
    UNIT_RESET = 14


class MsgStatus(enum.IntEnum):
    OK = 0
    UNKNOWN_OP = 1
    BAD_ABI = 2
    NO_HELLO = 3
    BAD_ARGUMENT = 4
    BUSY = 5
    NOT_FOUND = 6
    FAULT = 7


class HoldState(enum.IntEnum):
    BUSY = 0
    STILL = 1
    ERROR = 2


class ResetUnit(enum.IntEnum):
    COPY_ENGINE = 0
    COMPUTE_UNIT = 1


class Csr(enum.IntEnum):
    TID_X = 3264
    TID_Y = 3265
    TID_Z = 3266
    NTID_X = 3267
    NTID_Y = 3268
    NTID_Z = 3269
    CTAID_X = 3270
    CTAID_Y = 3271
    CTAID_Z = 3272
    NCTAID_X = 3273
    NCTAID_Y = 3274
    NCTAID_Z = 3275
    LANE = 3276
    WARP = 3277
    SHARED_SIZE = 3278
    SHARED_DYN = 3279
    CU = 3280
    ARGS = 3281
    PRIVATE_SIZE = 3282
    COOPERATIVE = 3283


class FwHeader(Struct):
    _fields_ = [
        ("magic", c.c_uint32),
        ("header_size", c.c_uint32),
        ("image_size", c.c_uint32),
        ("crc32", c.c_uint32),
        ("isa", c.c_uint32),
        ("entry", c.c_uint32),
        ("version", c.c_uint32),
        ("abi", c.c_uint32),
        ("build", c.c_char * 32),
    ]


class PacketHeader(Struct):
    _fields_ = [
        ("type", c.c_uint16),
        ("flags", c.c_uint16),
    ]


class Copy(Packet):
    TYPE = 1
    _fields_ = [
        ("type", c.c_uint16),
        ("flags", c.c_uint16),
        ("reserved0", c.c_uint32),
        ("src", c.c_uint64),
        ("dst", c.c_uint64),
        ("size", c.c_uint64),
        ("reserved1", c.c_uint64 * 2),
        ("signal_addr", c.c_uint64),
        ("signal_value", c.c_uint64),
    ]


class Fill(Packet):
    TYPE = 2
    _fields_ = [
        ("type", c.c_uint16),
        ("flags", c.c_uint16),
        ("pattern_size", c.c_uint32),
        ("dst", c.c_uint64),
        ("size", c.c_uint64),
        ("pattern", c.c_uint8 * 16),
        ("reserved", c.c_uint64),
        ("signal_addr", c.c_uint64),
        ("signal_value", c.c_uint64),
    ]


class CopyRect(Packet):
    TYPE = 8
    _fields_ = [
        ("type", c.c_uint16),
        ("flags", c.c_uint16),
        ("width", c.c_uint32),
        ("src", c.c_uint64),
        ("dst", c.c_uint64),
        ("height", c.c_uint32),
        ("depth", c.c_uint32),
        ("src_pitch", c.c_uint32),
        ("dst_pitch", c.c_uint32),
        ("src_slice", c.c_uint32),
        ("dst_slice", c.c_uint32),
        ("signal_addr", c.c_uint64),
        ("signal_value", c.c_uint64),
    ]


class FillRect(Packet):
    TYPE = 9
    _fields_ = [
        ("type", c.c_uint16),
        ("flags", c.c_uint16),
        ("width", c.c_uint32),
        ("dst", c.c_uint64),
        ("height", c.c_uint32),
        ("depth", c.c_uint32),
        ("pitch", c.c_uint32),
        ("slice", c.c_uint32),
        ("pattern", c.c_uint8 * 16),
        ("signal_addr", c.c_uint64),
        ("signal_value", c.c_uint64),
    ]


class Dispatch(Packet):
    TYPE = 3
    _fields_ = [
        ("type", c.c_uint16),
        ("flags", c.c_uint16),
        ("dynamic_shared", c.c_uint32),
        ("kernel", c.c_uint64),
        ("args", c.c_uint64),
        ("grid", c.c_uint32 * 3),
        ("block", c.c_uint16 * 3),
        ("private_kib", c.c_uint16),
        ("reserved", c.c_uint32),
        ("signal_addr", c.c_uint64),
        ("signal_value", c.c_uint64),
    ]


class Write(Packet):
    TYPE = 4
    _fields_ = [
        ("type", c.c_uint16),
        ("flags", c.c_uint16),
        ("size", c.c_uint32),
        ("addr", c.c_uint64),
        ("value", c.c_uint64),
        ("reserved", c.c_uint64 * 3),
        ("signal_addr", c.c_uint64),
        ("signal_value", c.c_uint64),
    ]


class Wait(Packet):
    TYPE = 5
    _fields_ = [
        ("type", c.c_uint16),
        ("flags", c.c_uint16),
        ("size", c.c_uint16),
        ("cond", c.c_uint16),
        ("addr", c.c_uint64),
        ("value", c.c_uint64),
        ("reserved", c.c_uint64 * 3),
        ("signal_addr", c.c_uint64),
        ("signal_value", c.c_uint64),
    ]


class Timestamp(Packet):
    TYPE = 6
    _fields_ = [
        ("type", c.c_uint16),
        ("flags", c.c_uint16),
        ("reserved0", c.c_uint32),
        ("addr", c.c_uint64),
        ("reserved1", c.c_uint64 * 4),
        ("signal_addr", c.c_uint64),
        ("signal_value", c.c_uint64),
    ]


class TlbInvalidate(Packet):
    TYPE = 7
    _fields_ = [
        ("type", c.c_uint16),
        ("flags", c.c_uint16),
        ("reserved0", c.c_uint32),
        ("addr", c.c_uint64),
        ("size", c.c_uint64),
        ("reserved1", c.c_uint64 * 3),
        ("signal_addr", c.c_uint64),
        ("signal_value", c.c_uint64),
    ]


class Indirect(Packet):
    TYPE = 10
    _fields_ = [
        ("type", c.c_uint16),
        ("flags", c.c_uint16),
        ("count", c.c_uint32),
        ("list", c.c_uint64),
        ("reserved", c.c_uint64 * 4),
        ("signal_addr", c.c_uint64),
        ("signal_value", c.c_uint64),
    ]


class QueueErrorU0(Union):
    _fields_ = [
        ("block", c.c_uint32 * 3),
        ("done", c.c_uint32 * 2),
    ]


class QueueError(Struct):
    _anonymous_ = ("_u0",)
    _fields_ = [
        ("code", c.c_uint32),
        ("fault", c.c_uint32),
        ("packet_index", c.c_uint64),
        ("packet_type", c.c_uint32),
        ("field", c.c_uint32),
        ("fault_addr", c.c_uint64),
        ("fault_pc", c.c_uint64),
        ("access", c.c_uint32),
        ("thread", c.c_uint32),
        ("_u0", QueueErrorU0),
        ("inner", c.c_uint32),
    ]


class QueueCtl(Struct):
    _fields_ = [
        ("read_index", c.c_uint64),
        ("state", c.c_uint32),
        ("reserved0", c.c_uint32),
        ("reserved1", c.c_uint64 * 6),
        ("error", QueueError),
    ]


class FaultRecordU0(Union):
    _fields_ = [
        ("lanes", c.c_uint64),
        ("done", c.c_uint64),
    ]


class FaultRecord(Struct):
    _anonymous_ = ("_u0",)
    _fields_ = [
        ("sequence", c.c_uint32),
        ("source", c.c_uint8),
        ("fault", c.c_uint8),
        ("access", c.c_uint8),
        ("vmid", c.c_uint8),
        ("addr", c.c_uint64),
        ("pc", c.c_uint64),
        ("_u0", FaultRecordU0),
        ("queue", c.c_uint32),
        ("unit", c.c_uint16),
        ("slot", c.c_uint16),
        ("thread", c.c_uint32),
        ("block", c.c_uint32 * 3),
        ("time", c.c_uint64),
    ]


class ProfileUnit(Struct):
    _fields_ = [
        ("unit", c.c_uint32),
        ("blocks", c.c_uint32),
        ("first", c.c_uint64),
        ("last", c.c_uint64),
        ("busy", c.c_uint64),
    ]


class Profile(Struct):
    _fields_ = [
        ("sequence", c.c_uint64),
        ("packet_type", c.c_uint32),
        ("fault", c.c_uint32),
        ("start", c.c_uint64),
        ("end", c.c_uint64),
        ("samples", c.c_uint64),
        ("units", c.c_uint32),
        ("interval", c.c_uint32),
        ("reserved", c.c_uint64 * 2),
        ("counter", c.c_uint64 * 32),
    ]


class MsgPing(Message):
    OP = 1
    _fields_ = [
        ("op", c.c_uint32),
        ("word", c.c_uint32 * 15),
    ]


class MsgHello(Message):
    OP = 2
    _fields_ = [
        ("op", c.c_uint32),
        ("abi", c.c_uint32),
    ]


class MsgHelloResp(Struct):
    _fields_ = [
        ("status", c.c_uint32),
        ("abi", c.c_uint32),
        ("version", c.c_uint32),
        ("queues", c.c_uint32),
        ("priorities", c.c_uint32),
        ("packets", c.c_uint32),
        ("build", c.c_char * 32),
        ("log", c.c_uint32),
        ("log_size", c.c_uint32),
    ]


class MsgVmSet(Message):
    OP = 3
    _fields_ = [
        ("op", c.c_uint32),
        ("vmid", c.c_uint32),
        ("root_lo", c.c_uint32),
        ("root_hi", c.c_uint32),
    ]


class MsgTlbInvalidate(Message):
    OP = 4
    _fields_ = [
        ("op", c.c_uint32),
        ("vmid", c.c_uint32),
        ("addr_lo", c.c_uint32),
        ("addr_hi", c.c_uint32),
        ("size_lo", c.c_uint32),
        ("size_hi", c.c_uint32),
    ]


class MsgQueueCreate(Message):
    OP = 5
    _fields_ = [
        ("op", c.c_uint32),
        ("queue", c.c_uint32),
        ("vmid", c.c_uint32),
        ("priority", c.c_uint32),
        ("ring_lo", c.c_uint32),
        ("ring_hi", c.c_uint32),
        ("log2_packets", c.c_uint32),
        ("ctl_lo", c.c_uint32),
        ("ctl_hi", c.c_uint32),
        ("vector", c.c_uint32),
    ]


class MsgQueueDestroy(Message):
    OP = 6
    _fields_ = [
        ("op", c.c_uint32),
        ("queue", c.c_uint32),
    ]


class MsgQueueReset(Message):
    OP = 10
    _fields_ = [
        ("op", c.c_uint32),
        ("queue", c.c_uint32),
    ]


class MsgLogLevel(Message):
    OP = 7
    _fields_ = [
        ("op", c.c_uint32),
        ("level", c.c_uint32),
    ]


class MsgQueueProfile(Message):
    OP = 8
    _fields_ = [
        ("op", c.c_uint32),
        ("queue", c.c_uint32),
        ("base_lo", c.c_uint32),
        ("base_hi", c.c_uint32),
        ("log2_records", c.c_uint32),
        ("stride", c.c_uint32),
        ("samples", c.c_uint32),
        ("interval", c.c_uint32),
        ("flags", c.c_uint32),
    ]


class MsgQueueLaunch(Message):
    OP = 9
    _fields_ = [
        ("op", c.c_uint32),
        ("queue", c.c_uint32),
        ("ring_lo", c.c_uint32),
        ("ring_hi", c.c_uint32),
        ("log2_records", c.c_uint32),
    ]


class MsgContexts(Message):
    OP = 11
    _fields_ = [
        ("op", c.c_uint32),
        ("vmid", c.c_uint32),
        ("addr_lo", c.c_uint32),
        ("addr_hi", c.c_uint32),
        ("size_lo", c.c_uint32),
        ("size_hi", c.c_uint32),
    ]


class MsgQueueHold(Message):
    OP = 12
    _fields_ = [
        ("op", c.c_uint32),
        ("queue", c.c_uint32),
    ]


class MsgQueueHoldResp(Struct):
    _fields_ = [
        ("status", c.c_uint32),
        ("state", c.c_uint32),
        ("index_lo", c.c_uint32),
        ("index_hi", c.c_uint32),
        ("tail_lo", c.c_uint32),
        ("tail_hi", c.c_uint32),
        ("inner", c.c_uint32),
        ("head", c.c_uint32),
    ]


class MsgQueueResume(Message):
    OP = 13
    _fields_ = [
        ("op", c.c_uint32),
        ("queue", c.c_uint32),
        ("index_lo", c.c_uint32),
        ("index_hi", c.c_uint32),
        ("tail_lo", c.c_uint32),
        ("tail_hi", c.c_uint32),
        ("inner", c.c_uint32),
        ("head", c.c_uint32),
    ]


class MsgUnitReset(Message):
    OP = 14
    _fields_ = [
        ("op", c.c_uint32),
        ("kind", c.c_uint32),
        ("index", c.c_uint32),
    ]


class KernelNote(Struct):
    _fields_ = [
        ("abi", c.c_uint32),
        ("desc_size", c.c_uint32),
        ("count", c.c_uint32),
        ("reserved", c.c_uint32),
        ("descs", c.c_uint64),
    ]


class KernelDesc(Struct):
    _fields_ = [
        ("magic", c.c_uint32),
        ("abi", c.c_uint32),
        ("entry", c.c_uint64),
        ("name", c.c_uint64),
        ("args", c.c_uint64),
        ("arg_count", c.c_uint32),
        ("arg_size", c.c_uint32),
        ("static_shared", c.c_uint32),
        ("private_bytes", c.c_uint32),
        ("registers", c.c_uint32),
        ("max_threads", c.c_uint32),
        ("flags", c.c_uint32),
        ("reserved", c.c_uint32),
    ]


class KernelArg(Struct):
    _fields_ = [
        ("offset", c.c_uint32),
        ("size", c.c_uint32),
        ("align", c.c_uint32),
        ("reserved", c.c_uint32),
    ]


class KernelFacts(Struct):
    _fields_ = [
        ("uses", c.c_uint32),
        ("constant_bytes", c.c_uint32),
    ]



SIM_ABI = 10
SimLog = c.CFUNCTYPE(None, c.c_void_p, c.c_char_p)
SIM_OPS = (
    "open",
    "close",
    "read",
    "write",
    "doorbell",
    "vram",
    "vram_fd",
    "vectors",
    "irq_fd",
    "dma_map",
    "dma_unmap",
    "reset",
    "inspect",
    "help",
    "pause",
    "resume",
    "save",
    "load",
    "module",
)


class SimOptions(c.Structure):
    _fields_ = [
        ("vram_size", c.c_uint64),
        ("compute_units", c.c_uint),
        ("threads", c.c_uint),
        ("queues", c.c_uint),
        ("copy_engines", c.c_uint),
        ("watchdog_ms", c.c_uint),
        ("deterministic", c.c_bool),
        ("index", c.c_uint),
        ("private_memory", c.c_uint64),
        ("firmware_watchdog_ms", c.c_uint),
        ("strict_alignment", c.c_bool),
        ("jit", c.c_uint),
        ("log", SimLog),
        ("opaque", c.c_void_p),
        ("log_packets", c.c_bool),
        ("fw_gdb", c.c_char_p),
        ("kernel_gdb", c.c_char_p),
        ("observer", c.c_void_p),
        ("observer_opaque", c.c_void_p),
    ]
