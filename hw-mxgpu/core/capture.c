/* SPDX-License-Identifier: MIT */
/*
 * Each operation of the host is passed on, and left in the file. Blocks of the
 * file are those of the pcapng specification (IETF draft-ietf-opsawg-pcapng).
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "capture.h"
#include "inspect_queue.h"
#include "mxgpu/capture.h"

#define BLOCK_SECTION   0x0a0d0d0au
#define BLOCK_INTERFACE 1u
#define BLOCK_PACKET    6u
#define DATA_MOST       256u /* bytes of one transfer */

struct MxgpuCapture {
    const MxgpuHostOps *ops; /* the host's */
    void *host;
    MxgpuHostOps own;
    _Atomic(MxgpuDevice *) dev;
    _Atomic uint32_t kinds;
    _Atomic uint32_t asked; /* mailbox sequence whose answer was not seen */
    pthread_mutex_t lock;   /* a leaf, for what follows */
    FILE *file;             /* NULL: the capture has ended */
    uint64_t bytes, most;
};

/* ---- the file */

static size_t padded(size_t n)
{
    return (n + 3) & ~(size_t)3;
}

/* Two parts of a body, the second of which is padded. Under the lock. */
static bool put_block(MxgpuCapture *c, uint32_t type, const void *head,
                      size_t head_len, const void *data, size_t len)
{
    static const uint8_t zero[4];
    uint32_t total = (uint32_t)(12 + head_len + padded(len));
    uint32_t begin[2] = {type, total};

    c->bytes += total;
    return fwrite(begin, sizeof(begin), 1, c->file) == 1 &&
           (!head_len || fwrite(head, head_len, 1, c->file) == 1) &&
           (!len || fwrite(data, len, 1, c->file) == 1) &&
           (padded(len) == len ||
            fwrite(zero, padded(len) - len, 1, c->file) == 1) &&
           fwrite(&total, sizeof(total), 1, c->file) == 1;
}

static bool put_header(MxgpuCapture *c, const char *name)
{
    static const struct {
        uint32_t order;
        uint16_t major, minor;
        int64_t length;
    } section = {0x1a2b3c4d, 1, 0, -1};
    uint8_t interface[8 + 8 + 4 + 256 + 4] = {MXGPU_CAPTURE_LINKTYPE};
    size_t n = strlen(name), at = 8;

    n = n < 255 ? n : 255;
    memcpy(interface + at, &(uint16_t[]){9, 1}, 4); /* if_tsresol: 10^-9 */
    interface[at + 4] = 9;
    at += 8;
    memcpy(interface + at, &(uint16_t[]){2, (uint16_t)n}, 4); /* if_name */
    memcpy(interface + at + 4, name, n);
    at += 4 + padded(n) + 4; /* opt_endofopt is 0 */
    return put_block(c, BLOCK_SECTION, &section, sizeof(section), NULL, 0) &&
           put_block(c, BLOCK_INTERFACE, interface, at, NULL, 0);
}

static bool put_record(MxgpuCapture *c, uint64_t now,
                       const struct mxgpu_capture_record *r, const void *data,
                       size_t len)
{
    size_t kept = len < DATA_MOST ? len : DATA_MOST;
    struct {
        uint32_t interface, time[2], captured, original;
        struct mxgpu_capture_record record;
    } __attribute__((packed)) head = {
        0, {(uint32_t)(now >> 32), (uint32_t)now},
        (uint32_t)(sizeof(*r) + kept),
        len < UINT32_MAX / 2 ? (uint32_t)(sizeof(*r) + len) : UINT32_MAX, *r,
    };

    return put_block(c, BLOCK_PACKET, &head, sizeof(head), data, kept);
}

static void end(MxgpuCapture *c)
{
    if (c->file) {
        fclose(c->file);
        c->file = NULL;
    }
}

static void record(MxgpuCapture *c, const struct mxgpu_capture_record *r,
                   const void *data, size_t len)
{
    struct mxgpu_capture_record full = {
        .version = MXGPU_CAPTURE_VERSION,
        .kind = MXGPU_CAPTURE_FULL,
    };
    uint64_t now;

    if (!(atomic_load_explicit(&c->kinds, memory_order_relaxed) >> r->kind &
          1)) {
        return;
    }
    now = c->ops->clock(c->host);

    pthread_mutex_lock(&c->lock);
    if (c->file && c->bytes >= c->most) {
        full.a = c->bytes;
        put_record(c, now, &full, NULL, 0);
        end(c);
    } else if (c->file && !put_record(c, now, r, data, len)) {
        end(c); /* the disk is full: what is there stays */
    }
    pthread_mutex_unlock(&c->lock);
}

#define RECORD(of, ...)                                                     \
    &(struct mxgpu_capture_record)                                             \
    {                                                                          \
        .version = MXGPU_CAPTURE_VERSION, .kind = MXGPU_CAPTURE_##of,          \
        __VA_ARGS__                                                            \
    }

/* ---- operations that are passed on */

static int op_dma_read(void *opaque, uint64_t addr, void *buf, size_t len)
{
    MxgpuCapture *c = opaque;
    int err = c->ops->dma_read(c->host, addr, buf, len);

    record(c, RECORD(DMA_READ, .info = err != 0, .a = addr, .b = len), buf,
           err ? 0 : len);
    return err;
}

static int op_dma_write(void *opaque, uint64_t addr, const void *buf,
                        size_t len)
{
    MxgpuCapture *c = opaque;
    int err = c->ops->dma_write(c->host, addr, buf, len);

    record(c, RECORD(DMA_WRITE, .info = err != 0, .a = addr, .b = len), buf,
           err ? 0 : len);
    return err;
}

static void *op_dma_map(void *opaque, uint64_t addr, size_t len, bool write)
{
    MxgpuCapture *c = opaque;
    void *host = c->ops->dma_map(c->host, addr, len, write);

    record(c, RECORD(DMA_MAP, .info = (host ? 0 : 1) | (write ? 2 : 0),
                     .a = addr, .b = len), NULL, 0);
    return host;
}

static void op_irq(void *opaque, unsigned vector)
{
    MxgpuCapture *c = opaque;

    record(c, RECORD(IRQ, .number = (uint16_t)vector), NULL, 0);
    c->ops->irq(c->host, vector);
}

/* Its cause is recorded: op_trace(). */
static void op_error(void *opaque)
{
    MxgpuCapture *c = opaque;

    if (c->ops->error) {
        c->ops->error(c->host);
    }
}

static uint64_t op_clock(void *opaque)
{
    MxgpuCapture *c = opaque;

    return c->ops->clock(c->host);
}

static void op_console(void *opaque, const char *line, size_t len)
{
    MxgpuCapture *c = opaque;

    record(c, RECORD(CONSOLE, .number = 0), line, len);
    c->ops->console(c->host, line, len);
}

static void op_kick(void *opaque)
{
    MxgpuCapture *c = opaque;

    c->ops->kick(c->host);
}

/* ---- events */

static void record_mailbox(MxgpuCapture *c, bool answer, uint32_t sequence)
{
    MxgpuDevice *dev = atomic_load(&c->dev);
    uint32_t words[16], base = answer ? MXGPU_MBOX_RESP : MXGPU_MBOX_CMD;

    if (!dev) {
        return;
    }
    for (unsigned i = 0; i < 16; i++) {
        words[i] = mxgpu_inspect_register(dev, base + i * 4);
    }
    if (answer) {
        record(c, RECORD(ANSWER, .a = sequence), words, sizeof(words));
    } else {
        record(c, RECORD(REQUEST, .a = sequence), words, sizeof(words));
    }
}

static void record_register(MxgpuCapture *c, bool write, uint64_t offset,
                            uint64_t value)
{
    uint32_t asked = (uint32_t)value;

    if (!write) {
        record(c, RECORD(READ, .a = offset, .b = value), NULL, 0);
        if (offset == MXGPU_MBOX_ACK && asked &&
            atomic_compare_exchange_strong(&c->asked, &asked, 0)) {
            record_mailbox(c, true, asked);
        }
        return;
    }
    record(c, RECORD(WRITE, .a = offset, .b = value), NULL, 0);
    if (offset == MXGPU_MBOX_REQ) {
        atomic_store(&c->asked, asked);
        record_mailbox(c, false, asked);
    }
}

static void op_trace(void *opaque, MxgpuTraceEvent event, uint64_t a,
                     uint64_t b)
{
    MxgpuCapture *c = opaque;

    switch (event) {
    case MXGPU_TRACE_MMIO_READ:
    case MXGPU_TRACE_MMIO_WRITE:
        record_register(c, event == MXGPU_TRACE_MMIO_WRITE, a, b);
        break;
    case MXGPU_TRACE_DOORBELL:
    case MXGPU_TRACE_BAD_DOORBELL:
        record(c, RECORD(DOORBELL, .number = (uint16_t)a,
                         .info = event == MXGPU_TRACE_BAD_DOORBELL, .a = b),
               NULL, 0);
        break;
    case MXGPU_TRACE_IRQ:
        break; /* op_irq() */
    default:
        record(c, RECORD(EVENT, .number = (uint16_t)event, .a = a, .b = b),
               NULL, 0);
        break;
    }
    if (c->ops->trace) {
        c->ops->trace(c->host, event, a, b);
    }
}

static bool op_queue_listens(void *opaque)
{
    return true;
}

static void record_packet(MxgpuCapture *c, const MxgpuQueueEvent *e)
{
    MxgpuDevice *dev = atomic_load(&c->dev);
    uint32_t info = e->type | e->unit << 8;
    union mxgpu_packet packet;
    bool known;

    if (e->event == MXGPU_QEV_PACKET_END) {
        record(c, RECORD(PACKET_END, .number = (uint16_t)e->queue,
                         .info = info, .a = e->index, .b = e->value), NULL, 0);
        return;
    }
    known = dev && mxgpu_inspect_packet(dev, e->queue, e->index, &packet);
    record(c, RECORD(PACKET_START, .number = (uint16_t)e->queue,
                     .info = info, .a = e->index), &packet,
           known ? sizeof(packet) : 0);
}

static void op_queue_event(void *opaque, const MxgpuQueueEvent *e)
{
    MxgpuCapture *c = opaque;

    if (e->event == MXGPU_QEV_PACKET_START ||
        e->event == MXGPU_QEV_PACKET_END) {
        record_packet(c, e);
    } else {
        record(c, RECORD(QUEUE, .number = (uint16_t)e->queue,
                         .info = e->event | e->type << 8, .a = e->index,
                         .b = e->value), NULL, 0);
    }
    if (c->ops->queue_listens && c->ops->queue_listens(c->host)) {
        c->ops->queue_event(c->host, e);
    }
}

/* ---- life */

int mxgpu_capture_open(const char *path, const char *name, uint64_t most,
                       const MxgpuHostOps **ops, void **host,
                       MxgpuCapture **capture)
{
    MxgpuCapture *c = calloc(1, sizeof(*c));
    int err;

    if (!c) {
        return -ENOMEM;
    }
    c->ops = *ops;
    c->host = *host;
    c->most = most;
    c->kinds = UINT32_MAX;
    c->own = (MxgpuHostOps){
        .dma_read = op_dma_read,
        .dma_write = op_dma_write,
        .dma_map = op_dma_map,
        .irq = op_irq,
        .error = op_error,
        .clock = op_clock,
        .console = op_console,
        .kick = op_kick,
        .trace = op_trace,
        .queue_listens = op_queue_listens,
        .queue_event = op_queue_event,
    };
    pthread_mutex_init(&c->lock, NULL);
    c->file = fopen(path, "wbe");
    if (!c->file || !put_header(c, name) || fflush(c->file)) {
        err = errno ? -errno : -EIO;
        mxgpu_capture_close(c);
        return err;
    }
    *ops = &c->own;
    *host = c;
    *capture = c;
    return 0;
}

void mxgpu_capture_device(MxgpuCapture *c, MxgpuDevice *dev)
{
    atomic_store(&c->dev, dev);
}

void mxgpu_capture_kinds(MxgpuCapture *c, uint32_t kinds)
{
    atomic_store(&c->kinds, kinds);
}

static uint32_t kind_bit(const char *name, size_t len)
{
    static const struct {
        const char *name;
        unsigned kind;
    } kinds[] = {
#define F(name, value) {#name, value},
        MXGPU_CAPTURE_KINDS(F)
#undef F
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strlen(kinds[i].name) == len &&
            !strncasecmp(kinds[i].name, name, len)) {
            return 1u << kinds[i].kind;
        }
    }
    return 0;
}

uint32_t mxgpu_capture_parse_kinds(const char *text)
{
    uint32_t kinds = 0;

    for (;;) {
        size_t len = strcspn(text, ",");
        uint32_t bit = kind_bit(text, len);

        kinds |= bit;
        if (!bit || !text[len]) {
            return bit ? kinds : 0;
        }
        text += len + 1;
    }
}

void mxgpu_capture_close(MxgpuCapture *c)
{
    if (c) {
        end(c);
        pthread_mutex_destroy(&c->lock);
        free(c);
    }
}
