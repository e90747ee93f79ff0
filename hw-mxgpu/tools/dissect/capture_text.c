/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "capture_text.h"
#include "core/describe.h"
#include "mxgpu/capture.h"
#include "mxgpu/msg.h"

#define BLOCK_SECTION   0x0a0d0d0au
#define BLOCK_INTERFACE 1u
#define BLOCK_PACKET    6u
#define INTERFACES_MOST 64

typedef struct Reader {
    const MxCaptureOut *out;
    bool section; /* there was one */
    unsigned interfaces;
    bool ours[INTERFACES_MOST];
    bool started;
    uint64_t start; /* time of the first record */
} Reader;

typedef struct Line {
    char text[1024];
    size_t len;
} Line;

static void __attribute__((format(printf, 2, 3))) add(Line *l,
                                                      const char *format, ...)
{
    size_t room = sizeof(l->text) - l->len;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(l->text + l->len, room, format, args);
    va_end(args);
    if (n > 0) {
        l->len += (size_t)n < room ? (size_t)n : room - 1;
    }
}

static uint32_t load32(const uint8_t *p)
{
    return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static const char *kind_name(unsigned kind)
{
    switch (kind) {
#define F(name, value)                                                         \
    case value:                                                                \
        return #name;
        MXGPU_CAPTURE_KINDS(F)
#undef F
    default:
        return "(unknown)";
    }
}

unsigned mx_capture_kind(const char *name)
{
#define F(kind, value)                                                         \
    if (strcasecmp(name, #kind) == 0) {                                        \
        return value;                                                          \
    }
    MXGPU_CAPTURE_KINDS(F)
#undef F
    return 0;
}

/* ---- a record */

static void add_bytes(Line *l, const uint8_t *data, size_t len)
{
    size_t shown = len < 64 ? len : 64;

    for (size_t i = 0; i < shown; i++) {
        add(l, "%s%02x", i % 4 ? "" : " ", data[i]);
    }
    if (shown < len) {
        add(l, " ...");
    }
}

static const char *message_name(uint32_t op)
{
    switch (op) {
#define F(name)                                                                \
    case MXGPU_MSG_##name:                                                     \
        return #name;
        MXGPU_MSG_OPS(F)
#undef F
    default:
        return "(unknown operation)";
    }
}

static const char *status_name(uint32_t status)
{
    switch (status) {
#define F(name)                                                                \
    case MXGPU_MSG_##name:                                                     \
        return #name;
        F(OK) F(UNKNOWN_OP) F(BAD_ABI) F(NO_HELLO) F(BAD_ARGUMENT) F(BUSY)
        F(NOT_FOUND) F(FAULT)
#undef F
    default:
        return "(unknown status)";
    }
}

static void add_message(Line *l, const struct mxgpu_capture_record *r,
                        const uint8_t *data, size_t len)
{
    size_t words = len / 4;

    add(l, " %" PRIu64, r->a);
    if (!words) {
        return;
    }
    add(l, " %s", r->kind == MXGPU_CAPTURE_REQUEST
                      ? message_name(load32(data))
                      : status_name(load32(data)));
    while (words > 1 && !load32(data + 4 * (words - 1))) {
        words--; /* what is 0 behind the message */
    }
    for (size_t i = 1; i < words; i++) {
        add(l, " 0x%" PRIx32, load32(data + 4 * i));
    }
}

static void add_packet(Line *l, const struct mxgpu_capture_record *r,
                       const uint8_t *data, size_t len)
{
    char words[2 * MXGPU_DESCRIBE_MAX];
    union mxgpu_packet packet;
    MxgpuQueueEvent e = {
        .event = r->kind == MXGPU_CAPTURE_PACKET_END ? MXGPU_QEV_PACKET_END
                                                     : MXGPU_QEV_PACKET_START,
        .queue = r->number, .type = r->info & 0xff, .unit = r->info >> 8,
        .index = r->a, .value = r->b,
    };

    mxgpu_describe_queue_event(&e, words, sizeof(words));
    add(l, " queue %u packet %" PRIu64 " %s", e.queue, e.index, words);
    if (len >= sizeof(packet)) {
        memcpy(&packet, data, sizeof(packet));
        mxgpu_describe_packet(&packet, words, sizeof(words));
        add(l, ": %s", words);
    }
}

static void add_queue(Line *l, const struct mxgpu_capture_record *r)
{
    char words[MXGPU_DESCRIBE_MAX];
    MxgpuQueueEvent e = {
        .event = r->info & 0xff, .type = r->info >> 8, .queue = r->number,
        .index = r->a, .value = r->b,
    };

    mxgpu_describe_queue_event(&e, words, sizeof(words));
    add(l, " queue %u %s %s", e.queue,
        e.event == MXGPU_QEV_CREATE    ? "created"
        : e.event == MXGPU_QEV_DESTROY ? "destroyed"
        : e.event == MXGPU_QEV_ERROR   ? "stopped"
                                       : "(unknown event)", words);
}

static void add_console(Line *l, const uint8_t *data, size_t len)
{
    add(l, " ");
    for (size_t i = 0; i < len; i++) {
        add(l, "%c", data[i] >= ' ' && data[i] < 0x7f ? data[i] : '.');
    }
}

static void add_dma(Line *l, const struct mxgpu_capture_record *r,
                    const uint8_t *data, size_t len)
{
    add(l, " 0x%" PRIx64 " %" PRIu64 " bytes%s%s", r->a, r->b,
        r->info & 2 ? " for writing" : "", r->info & 1 ? " refused" : "");
    add_bytes(l, data, len);
}

static const char *event_name(unsigned number)
{
    static const char *const names[] = {
#define F(name) #name,
        MXGPU_TRACE_EVENTS(F)
#undef F
    };

    return number < sizeof(names) / sizeof(names[0]) ? names[number]
                                                     : "(unknown event)";
}

static void add_body(Line *l, const struct mxgpu_capture_record *r,
                     const uint8_t *data, size_t len)
{
    char words[MXGPU_DESCRIBE_MAX];

    switch (r->kind) {
    case MXGPU_CAPTURE_READ:
    case MXGPU_CAPTURE_WRITE:
        mxgpu_describe_register((uint32_t)r->a, (uint32_t)r->b, words,
                                sizeof(words));
        add(l, " 0x%04" PRIx64 " %s 0x%08" PRIx64 " %s", r->a,
            r->kind == MXGPU_CAPTURE_READ ? "=" : "<-", r->b, words);
        break;
    case MXGPU_CAPTURE_DOORBELL:
        add(l, " queue %u value %" PRIu64 "%s", r->number, r->a,
            r->info ? ", which is disabled" : "");
        break;
    case MXGPU_CAPTURE_PACKET_START:
    case MXGPU_CAPTURE_PACKET_END:
        add_packet(l, r, data, len);
        break;
    case MXGPU_CAPTURE_QUEUE:
        add_queue(l, r);
        break;
    case MXGPU_CAPTURE_DMA_READ:
    case MXGPU_CAPTURE_DMA_WRITE:
    case MXGPU_CAPTURE_DMA_MAP:
        add_dma(l, r, data, len);
        break;
    case MXGPU_CAPTURE_IRQ:
        add(l, " vector %u", r->number);
        break;
    case MXGPU_CAPTURE_REQUEST:
    case MXGPU_CAPTURE_ANSWER:
        add_message(l, r, data, len);
        break;
    case MXGPU_CAPTURE_CONSOLE:
        add_console(l, data, len);
        break;
    case MXGPU_CAPTURE_EVENT:
        add(l, " %s 0x%" PRIx64 " 0x%" PRIx64, event_name(r->number), r->a,
            r->b);
        break;
    default:
        add(l, " %u 0x%" PRIx64 " 0x%" PRIx64, r->number, r->a, r->b);
        break;
    }
}

static void put_record(Reader *rd, uint64_t now, const uint8_t *data,
                       size_t len)
{
    struct mxgpu_capture_record r;
    Line l = {.len = 0};

    if (!rd->started) {
        rd->started = true;
        rd->start = now;
    }
    now -= rd->start;
    add(&l, "%6" PRIu64 ".%09" PRIu64 " ", now / 1000000000,
        now % 1000000000);
    if (len < sizeof(r)) {
        add(&l, "(short record)");
        add_bytes(&l, data, len);
        rd->out->put(rd->out->opaque, l.text);
        return;
    }
    memcpy(&r, data, sizeof(r));
    if (r.kind < 64 && !(rd->out->kinds >> r.kind & 1)) {
        return;
    }
    if (r.version != MXGPU_CAPTURE_VERSION) {
        add(&l, "(record of version %u)", r.version);
    } else {
        add(&l, "%-12s", kind_name(r.kind));
        add_body(&l, &r, data + sizeof(r), len - sizeof(r));
    }
    rd->out->put(rd->out->opaque, l.text);
}

/* ---- blocks: body of len bytes, a multiple of 4 */

static const char *on_section(Reader *rd, const uint8_t *body, size_t len)
{
    if (len < 16) {
        return "a section header is too short";
    }
    if (load32(body) != 0x1a2b3c4d) {
        return "the file is of a machine of another byte order";
    }
    if (body[4] != 1 || body[5] != 0) {
        return "the file is of another version of pcapng";
    }
    rd->section = true;
    rd->interfaces = 0;
    return NULL;
}

static const char *on_interface(Reader *rd, const uint8_t *body, size_t len)
{
    if (len < 8) {
        return "an interface description is too short";
    }
    if (rd->interfaces < INTERFACES_MOST) {
        rd->ours[rd->interfaces] =
            (body[0] | body[1] << 8) == MXGPU_CAPTURE_LINKTYPE;
    }
    rd->interfaces++;
    return NULL;
}

static const char *on_packet(Reader *rd, const uint8_t *body, size_t len)
{
    uint32_t interface, captured;

    if (len < 20) {
        return "a packet block is too short";
    }
    interface = load32(body);
    captured = load32(body + 12);
    if (captured > len - 20) {
        return "a packet is longer than its block";
    }
    if (interface >= rd->interfaces || interface >= INTERFACES_MOST ||
        !rd->ours[interface]) {
        return NULL; /* somebody else's */
    }
    put_record(rd, (uint64_t)load32(body + 4) << 32 | load32(body + 8),
               body + 20, captured);
    return NULL;
}

static const char *on_block(Reader *rd, uint32_t type, const uint8_t *body,
                            size_t len)
{
    if (type == BLOCK_SECTION) {
        return on_section(rd, body, len);
    }
    if (!rd->section) {
        return "this is no pcapng file";
    }
    switch (type) {
    case BLOCK_INTERFACE:
        return on_interface(rd, body, len);
    case BLOCK_PACKET:
        return on_packet(rd, body, len);
    default:
        return NULL;
    }
}

const char *mx_capture_text(const uint8_t *data, size_t len,
                            const MxCaptureOut *out)
{
    Reader rd = {.out = out};
    const char *error = len ? NULL : "the file is empty";

    while (len && !error) {
        uint32_t total;

        if (len < 12) {
            return rd.section ? "the file ends in a block"
                              : "this is no pcapng file";
        }
        total = load32(data + 4);
        if (!rd.section && load32(data) != BLOCK_SECTION) {
            return "this is no pcapng file";
        }
        if (total < 12 || total % 4) {
            return "a block has an impossible length";
        }
        if (total > len) {
            return "the file ends in a block";
        }
        if (load32(data + total - 4) != total) {
            return "the two lengths of a block differ";
        }
        error = on_block(&rd, load32(data), data + 8, total - 12);
        data += total;
        len -= total;
    }
    return error;
}
