/* SPDX-License-Identifier: MIT */
/*
 * The bottom of the device, which every block uses and which uses none of them:
 * the lock, the list of what a critical section has to tell the host, and waking
 * steppers.
 */
#include "internal.h"

void mxgpu_lock(MxgpuDevice *dev)
{
    pthread_mutex_lock(&dev->lock);
}

/* A thread has been woken that threads of units should let through. */
static void alert(MxgpuDevice *dev)
{
    atomic_fetch_add_explicit(&dev->alerts, 1, memory_order_relaxed);
}

static void send_outbox(MxgpuDevice *dev, const MxgpuOutbox *out)
{
    for (unsigned i = 0; i < out->traces; i++) {
        dev->ops->trace(dev->host, out->trace[i].event, out->trace[i].a,
                        out->trace[i].b);
    }
    for (unsigned i = 0; i < 8; i++) {
        for (uint32_t bits = out->vectors[i]; bits; bits &= bits - 1) {
            unsigned vector = i * 32 + (unsigned)__builtin_ctz(bits);

            mxgpu_count(dev, MXGPU_COUNTER_INTERRUPTS, 1);
            if (dev->ops->trace) {
                dev->ops->trace(dev->host, MXGPU_TRACE_IRQ, vector, 0);
            }
            dev->ops->irq(dev->host, vector);
            alert(dev);
        }
    }
    if (out->error && dev->ops->error) {
        dev->ops->error(dev->host);
    }
}

void mxgpu_unlock(MxgpuDevice *dev)
{
    MxgpuOutbox out;

    if (!dev->out.any) {
        pthread_mutex_unlock(&dev->lock);
        return;
    }
    out = dev->out;
    memset(&dev->out, 0, sizeof(dev->out));
    pthread_mutex_unlock(&dev->lock);
    send_outbox(dev, &out);
}

void mxgpu_out_vector(MxgpuDevice *dev, unsigned vector)
{
    dev->out.any = true;
    dev->out.vectors[vector / 32] |= 1u << vector % 32;
}

void mxgpu_out_error(MxgpuDevice *dev)
{
    dev->out.any = true;
    dev->out.error = true;
}

void mxgpu_out_trace(MxgpuDevice *dev, MxgpuTraceEvent event, uint64_t a,
                     uint64_t b)
{
    MxgpuOutbox *out = &dev->out;

    if (dev->ops->trace &&
        out->traces < sizeof(out->trace) / sizeof(out->trace[0])) {
        out->any = true;
        out->trace[out->traces].event = event;
        out->trace[out->traces].a = a;
        out->trace[out->traces++].b = b;
    }
}

void mxgpu_wake(MxgpuDevice *dev, unsigned unit)
{
    mxgpu_stepper_wake(&dev->steppers[unit]);
    if (unit == MXGPU_STEPPER_MCU) {
        alert(dev);
    }
    if (dev->config.deterministic) {
        atomic_store(&dev->kick, true);
    }
}

void mxgpu_wake_compute(MxgpuDevice *dev)
{
    for (unsigned i = 0; i < dev->num_workers; i++) {
        mxgpu_wake(dev, mxgpu_worker(dev, i));
    }
}

void mxgpu_call_compute(MxgpuDevice *dev)
{
    mxgpu_stepper_call(&dev->steppers[mxgpu_worker(dev, 0)]);
}

void mxgpu_send_kick(MxgpuDevice *dev)
{
    if (dev->config.deterministic && atomic_exchange(&dev->kick, false) &&
        dev->ops->kick) {
        dev->ops->kick(dev->host);
    }
}
