/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a debugger's connection, between the host's threads and the
 * MCU's, which does what they ask for as the service of its stepper.
 */
#include "debug.h"
#include "internal.h"

#include <string.h>

/* ---- the device's side */

/* Requests of a connection that was closed are not carried over to the next. */
void mxgpu_debug_port_output(MxgpuDebugPort *port, const void *bytes,
                             size_t len)
{
    pthread_mutex_lock(&port->lock);
    if (!port->closed) {
        port->ops->output(port->host, bytes, len);
    }
    pthread_mutex_unlock(&port->lock);
}

size_t mxgpu_debug_port_take(MxgpuDebugPort *port, uint8_t *in, bool *closed)
{
    bool full;
    size_t len;

    pthread_mutex_lock(&port->lock);
    len = port->in_len;
    memcpy(in, port->in, len);
    port->in_len = 0;
    *closed = port->closed;
    full = port->full;
    port->closed = port->full = false;
    pthread_mutex_unlock(&port->lock);
    if (full) {
        port->ops->ready(port->host);
    }
    return len;
}

void mxgpu_gdb_service(void *opaque)
{
    MxgpuDevice *dev = opaque;

    if (dev->debug.port.service) {
        dev->debug.port.service(dev);
    }
    if (dev->kernels.port.service) {
        dev->kernels.port.service(dev);
    }
}

/* ---- the host's side */

static MxgpuDebugPort *port_of(MxgpuDevice *dev, MxgpuDebugged which)
{
    return which == MXGPU_DEBUG_FIRMWARE ? &dev->debug.port
                                         : &dev->kernels.port;
}

static void ask(MxgpuDevice *dev)
{
    mxgpu_stepper_ask(&dev->steppers[MXGPU_STEPPER_MCU]);
    if (dev->config.deterministic) {
        atomic_store(&dev->kick, true);
        mxgpu_send_kick(dev);
    }
}

size_t mxgpu_device_gdb_room(MxgpuDevice *dev, MxgpuDebugged which)
{
    MxgpuDebugPort *port = port_of(dev, which);
    size_t room;

    pthread_mutex_lock(&port->lock);
    room = sizeof(port->in) - port->in_len;
    port->full |= !room;
    pthread_mutex_unlock(&port->lock);
    return room;
}

void mxgpu_device_gdb_input(MxgpuDevice *dev, MxgpuDebugged which,
                            const void *bytes, size_t len)
{
    MxgpuDebugPort *port = port_of(dev, which);
    size_t room;

    pthread_mutex_lock(&port->lock);
    room = sizeof(port->in) - port->in_len;
    len = len < room ? len : room;
    memcpy(port->in + port->in_len, bytes, len);
    port->in_len += len;
    pthread_mutex_unlock(&port->lock);
    ask(dev);
}

void mxgpu_device_gdb_close(MxgpuDevice *dev, MxgpuDebugged which)
{
    MxgpuDebugPort *port = port_of(dev, which);

    pthread_mutex_lock(&port->lock);
    port->in_len = 0;
    port->closed = true;
    pthread_mutex_unlock(&port->lock);
    ask(dev);
}
