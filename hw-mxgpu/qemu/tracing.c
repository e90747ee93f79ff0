/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of the core as trace events of QEMU, with names for numbers. */
#include "qemu/osdep.h"
#include "mxgpu.h"
#include "../core/describe.h"
#include "trace.h"

/* Words are put together only for somebody who listens. */
#define ENABLED(event) trace_event_get_state_backends(TRACE_MXGPU_##event)

static void mxgpu_trace_register(MxgpuState *s, bool write, uint64_t offset,
                                 uint64_t value)
{
    char text[MXGPU_DESCRIBE_MAX];

    if (write ? !ENABLED(MMIO_WRITE) : !ENABLED(MMIO_READ)) {
        return;
    }
    mxgpu_describe_register(offset, value, text, sizeof(text));
    if (write) {
        trace_mxgpu_mmio_write(s->name, offset, value, text);
    } else {
        trace_mxgpu_mmio_read(s->name, offset, value, text);
    }
}

/* Events of units, which come with a text. */
static bool mxgpu_trace_listens(MxgpuTraceEvent event)
{
    switch (event) {
    case MXGPU_TRACE_MCU_STATE:
        return ENABLED(MCU_STATE);
    case MXGPU_TRACE_COPY_START:
        return ENABLED(COPY_START);
    case MXGPU_TRACE_COPY_END:
        return ENABLED(COPY_END);
    case MXGPU_TRACE_DISPATCH_START:
        return ENABLED(DISPATCH_START);
    case MXGPU_TRACE_DISPATCH_END:
        return ENABLED(DISPATCH_END);
    case MXGPU_TRACE_FAULT:
        return ENABLED(FAULT);
    case MXGPU_TRACE_RESET:
        return ENABLED(RESET);
    default:
        return false;
    }
}

static void mxgpu_trace_unit(MxgpuState *s, MxgpuTraceEvent event, uint64_t a,
                             uint64_t b)
{
    char text[MXGPU_DESCRIBE_MAX] = "";

    if (!mxgpu_trace_listens(event)) {
        return;
    }
    if (s->dev) { /* not yet at power-on */
        mxgpu_describe_event(s->dev, event, a, b, text, sizeof(text));
    }
    switch (event) {
    case MXGPU_TRACE_MCU_STATE:
        trace_mxgpu_mcu_state(s->name, text, b);
        break;
    case MXGPU_TRACE_COPY_START:
        trace_mxgpu_copy_start(s->name, a, text, b);
        break;
    case MXGPU_TRACE_COPY_END:
        trace_mxgpu_copy_end(s->name, a, text);
        break;
    case MXGPU_TRACE_DISPATCH_START:
        trace_mxgpu_dispatch_start(s->name, a, b, text);
        break;
    case MXGPU_TRACE_DISPATCH_END:
        trace_mxgpu_dispatch_end(s->name, a, text);
        break;
    case MXGPU_TRACE_FAULT:
        trace_mxgpu_fault(s->name, text, a);
        break;
    default:
        trace_mxgpu_reset(s->name, text);
        break;
    }
}

void mxgpu_trace(void *host, MxgpuTraceEvent event, uint64_t a, uint64_t b)
{
    MxgpuState *s = host;

    switch (event) {
    case MXGPU_TRACE_MMIO_READ:
    case MXGPU_TRACE_MMIO_WRITE:
        mxgpu_trace_register(s, event == MXGPU_TRACE_MMIO_WRITE, a, b);
        break;
    case MXGPU_TRACE_SRAM:
        trace_mxgpu_sram(s->name, b >> 32 ? "write" : "read", (uint32_t)b, a);
        break;
    case MXGPU_TRACE_BAD_ACCESS:
        trace_mxgpu_bad_access(s->name, a, b & 0xff,
                               b >> 8 ? "write" : "read");
        break;
    case MXGPU_TRACE_DOORBELL:
        trace_mxgpu_doorbell(s->name, a, b);
        break;
    case MXGPU_TRACE_BAD_DOORBELL:
        trace_mxgpu_bad_doorbell(s->name, a, b);
        break;
    case MXGPU_TRACE_IRQ:
        trace_mxgpu_irq(s->name, a);
        break;
    case MXGPU_TRACE_MCU_STUCK:
        trace_mxgpu_mcu_stuck(s->name, a, (uint32_t)b, b >> 32);
        break;
    case MXGPU_TRACE_DISPATCH_HOLD:
        trace_mxgpu_dispatch_hold(s->name, a, b);
        break;
    case MXGPU_TRACE_INVALIDATE:
        trace_mxgpu_invalidate(s->name, a);
        break;
    default:
        mxgpu_trace_unit(s, event, a, b);
        break;
    }
}

bool mxgpu_trace_queue_listens(void *host)
{
    return ENABLED(QUEUE_CREATE) || ENABLED(QUEUE_DESTROY) ||
           ENABLED(QUEUE_ERROR) || ENABLED(PACKET_START) ||
           ENABLED(PACKET_END);
}

void mxgpu_trace_queue(void *host, const MxgpuQueueEvent *e)
{
    MxgpuState *s = host;
    char text[MXGPU_DESCRIBE_MAX];

    mxgpu_describe_queue_event(e, text, sizeof(text));
    switch (e->event) {
    case MXGPU_QEV_CREATE:
        trace_mxgpu_queue_create(s->name, e->queue, text);
        break;
    case MXGPU_QEV_DESTROY:
        trace_mxgpu_queue_destroy(s->name, e->queue);
        break;
    case MXGPU_QEV_ERROR:
        trace_mxgpu_queue_error(s->name, e->queue, e->index, text);
        break;
    case MXGPU_QEV_PACKET_START:
        trace_mxgpu_packet_start(s->name, e->queue, e->index, text);
        break;
    case MXGPU_QEV_PACKET_END:
        trace_mxgpu_packet_end(s->name, e->queue, e->index, text);
        break;
    }
}
