/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "describe.h"
#include "internal.h"
#include "mxgpu/packets.h"

static const MxgpuRegName registers[] = {
#define MXGPU_REG(name, offset, count, stride, host, mcu, reset, doc)          \
    {#name, offset, count, stride},
#define MXGPU_FIELD(...)
#include "mxgpu/regs.def"
#undef MXGPU_REG
#undef MXGPU_FIELD
};

typedef struct FieldName {
    const char *name;
    uint32_t reg; /* offset */
    unsigned shift, width;
} FieldName;

static const FieldName fields[] = {
#define MXGPU_REG(...)
#define MXGPU_FIELD(reg, name, shift, width, doc)                              \
    {#name, MXGPU_##reg, shift, width},
#include "mxgpu/regs.def"
#undef MXGPU_REG
#undef MXGPU_FIELD
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef struct Text {
    char *buf;
    size_t size, len;
} Text;

static Text text_start(char *buf, size_t size)
{
    buf[0] = '\0';
    return (Text){.buf = buf, .size = size};
}

static void __attribute__((format(printf, 2, 3))) add(Text *t,
                                                      const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(t->buf + t->len, t->size - t->len, format, args);
    va_end(args);
    if (n > 0) {
        size_t room = t->size - t->len - 1;

        t->len += (size_t)n < room ? (size_t)n : room;
    }
}

static void add_fields(Text *t, uint32_t reg, uint32_t value)
{
    for (size_t i = 0; i < COUNT(fields); i++) {
        const FieldName *f = &fields[i];
        uint32_t mask = f->width < 32 ? (1u << f->width) - 1 : UINT32_MAX;
        uint32_t v = value >> f->shift & mask;

        if (f->reg != reg || !v) {
            continue;
        }
        if (f->width == 1) {
            add(t, " %s", f->name);
        } else {
            add(t, " %s=%" PRIu32, f->name, v);
        }
    }
}

void mxgpu_describe_register(uint32_t offset, uint32_t value, char *buf,
                             size_t size)
{
    Text t = text_start(buf, size);

    for (size_t i = 0; i < COUNT(registers); i++) {
        const MxgpuRegName *r = &registers[i];
        uint32_t index = (offset - r->offset) / r->stride;

        if (offset < r->offset || index >= r->count ||
            offset != r->offset + index * r->stride) {
            continue;
        }
        add(&t, "%s", r->name);
        if (r->count > 1) {
            add(&t, "[%" PRIu32 "]", index);
        }
        add_fields(&t, r->offset, value);
        return;
    }
    add(&t, "(no register)");
}

const MxgpuRegName *mxgpu_describe_registers(size_t *count)
{
    *count = COUNT(registers);
    return registers;
}

static const char *fault_name(uint64_t fault)
{
    switch (fault) {
#define MXGPU_FAULT(name, value, text)                                         \
    case MXGPU_FAULT_##name:                                                   \
        return #name;
#include "mxgpu/faults.def"
#undef MXGPU_FAULT
    default:
        return "(unknown fault)";
    }
}

static const char *access_name(uint64_t access)
{
    static const char *const names[] = {"read", "write", "execute", "atomic"};

    return access < COUNT(names) ? names[access] : "access";
}

static const char *mcu_state_name(uint64_t state)
{
    static const char *const names[] = {"RESET", "RUNNING", "BOOT_ERROR",
                                        "CRASHED"};

    return state < COUNT(names) ? names[state] : "(unknown state)";
}

static const char *reset_name(uint64_t cause)
{
    static const char *const names[] = {"power-on", "register", "bus"};

    return cause < COUNT(names) ? names[cause] : "(unknown cause)";
}

static uint32_t reg_of(MxgpuDevice *dev, uint32_t reg, uint32_t at)
{
    return *mxgpu_reg(dev, reg + at);
}

static void add_copy(MxgpuDevice *dev, Text *t, unsigned engine)
{
    uint32_t at = engine * MXGPU_CE_CTRL_STRIDE;
    uint32_t cfg = reg_of(dev, MXGPU_CE_CFG, at);

    add(t, "vmid %u ", MXGPU_GET(MXGPU_CE_CFG_VMID, cfg));
    if (MXGPU_GET(MXGPU_CE_CFG_OP, cfg) == MXGPU_COPY_FILL) {
        add(t, "fill 0x%" PRIx64 " with %u-byte pattern",
            mxgpu_reg64(dev, MXGPU_CE_DST_LO + at),
            MXGPU_GET(MXGPU_CE_CFG_PATTERN_SIZE, cfg));
        return;
    }
    add(t, "copy 0x%" PRIx64 " to 0x%" PRIx64,
        mxgpu_reg64(dev, MXGPU_CE_SRC_LO + at),
        mxgpu_reg64(dev, MXGPU_CE_DST_LO + at));
}

static void add_dispatch(MxgpuDevice *dev, Text *t, unsigned slot)
{
    uint32_t at = slot * MXGPU_CD_CTRL_STRIDE;
    uint32_t xy = reg_of(dev, MXGPU_CD_BLOCK_XY, at);
    uint32_t cfg = reg_of(dev, MXGPU_CD_CFG, at);

    add(t, "vmid %u grid %" PRIu32 "x%" PRIu32 "x%" PRIu32
        " block %ux%ux%" PRIu32, MXGPU_GET(MXGPU_CD_CFG_VMID, cfg),
        reg_of(dev, MXGPU_CD_GRID_X, at), reg_of(dev, MXGPU_CD_GRID_Y, at),
        reg_of(dev, MXGPU_CD_GRID_Z, at), MXGPU_GET(MXGPU_CD_BLOCK_XY_X, xy),
        MXGPU_GET(MXGPU_CD_BLOCK_XY_Y, xy), reg_of(dev, MXGPU_CD_BLOCK_Z, at));
    add(t, " args 0x%" PRIx64 " shared %" PRIu32 " private %" PRIu32,
        mxgpu_reg64(dev, MXGPU_CD_ARGS_LO + at),
        reg_of(dev, MXGPU_CD_SHARED, at), reg_of(dev, MXGPU_CD_PRIVATE, at));
}

static void add_dispatch_fault(MxgpuDevice *dev, Text *t, unsigned slot,
                               uint64_t fault)
{
    uint32_t at = slot * MXGPU_CD_CTRL_STRIDE;

    add(t, "%s", fault_name(fault));
    if (fault != MXGPU_FAULT_NONE) {
        add(t, " at 0x%" PRIx64 " pc 0x%" PRIx64 " block %" PRIu32 ",%" PRIu32
            ",%" PRIu32 " thread %" PRIu32,
            mxgpu_reg64(dev, MXGPU_CD_FAULT_ADDR_LO + at),
            mxgpu_reg64(dev, MXGPU_CD_FAULT_PC_LO + at),
            reg_of(dev, MXGPU_CD_FAULT_BLOCK_X, at),
            reg_of(dev, MXGPU_CD_FAULT_BLOCK_Y, at),
            reg_of(dev, MXGPU_CD_FAULT_BLOCK_Z, at),
            reg_of(dev, MXGPU_CD_FAULT_THREAD, at));
    }
}

void mxgpu_describe_event(MxgpuDevice *dev, MxgpuTraceEvent event, uint64_t a,
                          uint64_t b, char *buf, size_t size)
{
    Text t = text_start(buf, size);

    mxgpu_lock(dev);
    switch (event) {
    case MXGPU_TRACE_MCU_STATE:
        add(&t, "%s", mcu_state_name(a));
        break;
    case MXGPU_TRACE_COPY_START:
        add_copy(dev, &t, (unsigned)a);
        break;
    case MXGPU_TRACE_COPY_END:
        add(&t, "%s", fault_name(b));
        break;
    case MXGPU_TRACE_DISPATCH_START:
        add_dispatch(dev, &t, (unsigned)a);
        break;
    case MXGPU_TRACE_DISPATCH_END:
        add_dispatch_fault(dev, &t, (unsigned)a, b);
        break;
    case MXGPU_TRACE_FAULT:
        add(&t, "%s %s", access_name(b >> 8), fault_name(b & 0xff));
        break;
    case MXGPU_TRACE_RESET:
        add(&t, "%s", reset_name(a));
        break;
    default:
        break;
    }
    mxgpu_unlock(dev);
}

/* ---- queues and packets */

static const char *packet_name(unsigned type)
{
    switch (type) {
#define MXGPU_PACKET(name, tag)                                                \
    case MXGPU_PKT_##name:                                                     \
        return #name;
#define MXGPU_PACKET_FIELD(...)
#include "mxgpu/packets.def"
#undef MXGPU_PACKET
#undef MXGPU_PACKET_FIELD
    default:
        return "(unknown packet)";
    }
}

static const char *queue_error_name(unsigned code)
{
    switch (code) {
#define F(name)                                                                \
    case MXGPU_QERR_##name:                                                    \
        return #name;
        F(NONE) F(FETCH) F(PACKET) F(INDEX) F(FAULT) F(KERNEL) F(RESOURCES)
        F(TIMEOUT) F(SIGNAL)
#undef F
    default:
        return "(unknown error)";
    }
}

static void add_unit(Text *t, unsigned unit)
{
    unsigned number = unit & 0xf;

    switch (unit & ~0xfu) {
    case MXGPU_QEV_UNIT_COPY:
        add(t, " on engine %u", number);
        break;
    case MXGPU_QEV_UNIT_SLOT:
        add(t, " on slot %u", number);
        break;
    }
}

void mxgpu_describe_queue_event(const MxgpuQueueEvent *e, char *buf,
                                size_t size)
{
    Text t = text_start(buf, size);

    switch (e->event) {
    case MXGPU_QEV_CREATE:
        add(&t, "vmid %" PRIu64 " priority %" PRIu64, e->value & 0xff,
            e->value >> 8);
        break;
    case MXGPU_QEV_ERROR:
        add(&t, "%s %s at %s", queue_error_name(e->value & 0xff),
            fault_name(e->value >> 8), packet_name(e->type));
        break;
    case MXGPU_QEV_PACKET_START:
        add(&t, "%s", packet_name(e->type));
        add_unit(&t, e->unit);
        break;
    case MXGPU_QEV_PACKET_END:
        add(&t, "%s signal %" PRIu64, packet_name(e->type), e->value);
        break;
    }
}

typedef struct PacketField {
    const char *name;
    uint8_t type, offset, size, count;
    bool hex;
} PacketField;

enum {
#define MXGPU_PACKET(name, tag) LISTED_##name,
#define MXGPU_PACKET_FIELD(...)
#include "mxgpu/packets.def"
#undef MXGPU_PACKET
#undef MXGPU_PACKET_FIELD
    LISTED
};
_Static_assert((int)LISTED == (int)MXGPU_PKT_TYPES,
               "packets.def has every packet");

enum { DEC, HEX };

static const PacketField packet_fields[] = {
#define MXGPU_PACKET(...)
#define MXGPU_PACKET_FIELD(type, tag, name, count, base)                       \
    {#name, MXGPU_PKT_##type, offsetof(struct mxgpu_packet_##tag, name),       \
     sizeof(((struct mxgpu_packet_##tag *)0)->name) / (count), count, base},
#include "mxgpu/packets.def"
#undef MXGPU_PACKET
#undef MXGPU_PACKET_FIELD
};

static void add_packet_field(Text *t, const PacketField *f,
                             const uint8_t *packet)
{
    add(t, " %s=", f->name);
    for (unsigned i = 0; i < f->count; i++) {
        uint64_t v = 0;

        memcpy(&v, packet + f->offset + i * f->size, f->size);
        if (f->hex && f->count > 1) {
            add(t, "%0*" PRIx64, 2 * f->size, v);
        } else if (f->hex) {
            add(t, "0x%" PRIx64, v);
        } else {
            add(t, "%s%" PRIu64, i ? "," : "", v);
        }
    }
}

static void add_packet_flags(Text *t, unsigned flags)
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {
#define F(name) {MXGPU_PKT_##name, #name}
        F(BARRIER), F(IRQ), F(COOPERATIVE), F(PROFILE), F(STRICT_ALIGN),
        F(LAUNCHES), F(RECOVER),
#undef F
    };

    for (size_t i = 0; i < COUNT(names); i++) {
        if (flags & names[i].bit) {
            add(t, " %s", names[i].name);
            flags &= ~names[i].bit;
        }
    }
    if (flags) {
        add(t, " flags=0x%x", flags);
    }
}

void mxgpu_describe_packet(const union mxgpu_packet *packet, char *buf,
                           size_t size)
{
    Text t = text_start(buf, size);
    unsigned type = packet->header.type;

    add(&t, "%s", packet_name(type));
    if (type >= MXGPU_PKT_TYPES) {
        add(&t, " type=%u", type);
    }
    for (size_t i = 0; i < COUNT(packet_fields); i++) {
        if (packet_fields[i].type == type) {
            add_packet_field(&t, &packet_fields[i], (const uint8_t *)packet);
        }
    }
    if (packet->write.signal_addr) {
        add(&t, " signal *0x%" PRIx64 "=%" PRIu64, packet->write.signal_addr,
            packet->write.signal_value);
    }
    add_packet_flags(&t, packet->header.flags);
}

const char *mxgpu_describe_access(uint64_t access)
{
    return access_name(access);
}

const char *mxgpu_describe_fault(uint64_t fault)
{
    return fault_name(fault);
}

const char *mxgpu_describe_queue_error(unsigned code)
{
    return queue_error_name(code);
}
