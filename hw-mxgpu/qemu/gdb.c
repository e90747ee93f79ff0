/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Character devices for gdb on the firmware and on kernels (core/debug.h). The
 * bytes are taken and sent by the main loop, which never waits for the device: what they
 * ask for is done by the MCU's thread.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "mxgpu.h"

/* A debugger that does not read its replies is not read from either. */
#define MXGPU_GDB_OUT_ENOUGH 65536

static bool mxgpu_gdb_is_full(MxgpuGdbChannel *c)
{
    QEMU_LOCK_GUARD(&c->lock);
    return c->out->len >= MXGPU_GDB_OUT_ENOUGH;
}

static int mxgpu_gdb_can_receive(void *opaque)
{
    MxgpuGdbChannel *c = opaque;

    return mxgpu_gdb_is_full(c) ? 0 : mxgpu_device_gdb_room(c->s->dev, c->which);
}

static void mxgpu_gdb_receive(void *opaque, const uint8_t *buf, int size)
{
    MxgpuGdbChannel *c = opaque;

    mxgpu_device_gdb_input(c->s->dev, c->which, buf, size);
}

static void mxgpu_gdb_drop(MxgpuGdbChannel *c)
{
    QEMU_LOCK_GUARD(&c->lock);
    g_byte_array_set_size(c->out, 0);
}

static void mxgpu_gdb_event(void *opaque, QEMUChrEvent event)
{
    MxgpuGdbChannel *c = opaque;

    if (event == CHR_EVENT_OPENED) {
        mxgpu_gdb_drop(c); /* what another connection did not take */
    } else if (event == CHR_EVENT_CLOSED) {
        /* from here on nothing is added */
        mxgpu_device_gdb_close(c->s->dev, c->which);
        mxgpu_gdb_drop(c);
    }
}

static gboolean mxgpu_gdb_writable(void *do_not_use, GIOCondition cond,
                                   void *opaque);

/* Sends what the back end takes now. */
static void mxgpu_gdb_bh(void *opaque)
{
    MxgpuGdbChannel *c = opaque;
    bool was_full = mxgpu_gdb_is_full(c);
    g_autofree uint8_t *data = NULL;
    size_t len = 0;
    int written;

    WITH_QEMU_LOCK_GUARD(&c->lock) {
        if (c->out->len && !c->watch) {
            len = c->out->len;
            data = g_memdup2(c->out->data, len);
        }
    }
    if (len) {
        /* Not under the lock: a back end that finds its connection gone asks
         * for room, and says that it has closed, from within. Only this thread
         * takes bytes out; what it has dropped then is not sent. */
        written = qemu_chr_fe_write(&c->chr, data, len);
        WITH_QEMU_LOCK_GUARD(&c->lock) {
            if (written > 0) {
                g_byte_array_remove_range(c->out, 0,
                                          MIN((guint)written, c->out->len));
            }
            len = c->out->len;
        }
        if (len) {
            c->watch = qemu_chr_fe_add_watch(&c->chr, G_IO_OUT | G_IO_HUP,
                                             mxgpu_gdb_writable, c);
        }
    }
    if ((was_full && !mxgpu_gdb_is_full(c)) ||
        qatomic_xchg(&c->room, false)) {
        qemu_chr_fe_accept_input(&c->chr);
    }
}

static gboolean mxgpu_gdb_writable(void *do_not_use, GIOCondition cond,
                                   void *opaque)
{
    MxgpuGdbChannel *c = opaque;

    WITH_QEMU_LOCK_GUARD(&c->lock) {
        c->watch = 0;
    }
    mxgpu_gdb_bh(c);
    return G_SOURCE_REMOVE;
}

/* ---- from threads of the device ----------------------------------------- */

static void mxgpu_gdb_output(void *host, const void *bytes, size_t len)
{
    MxgpuGdbChannel *c = host;

    QEMU_LOCK_GUARD(&c->lock);
    g_byte_array_append(c->out, bytes, len);
    qemu_bh_schedule(c->bh);
}

static void mxgpu_gdb_ready(void *host)
{
    MxgpuGdbChannel *c = host;

    qatomic_set(&c->room, true);
    qemu_bh_schedule(c->bh);
}

static const MxgpuDebugOps mxgpu_gdb_ops = {
    .output = mxgpu_gdb_output,
    .ready = mxgpu_gdb_ready,
};

/* ---- life --------------------------------------------------------------- */

bool mxgpu_gdb_connected(MxgpuState *s, MxgpuDebugged which)
{
    return qemu_chr_fe_backend_connected(&s->gdb[which].chr);
}

void mxgpu_gdb_prepare(MxgpuState *s)
{
    for (unsigned i = 0; i < ARRAY_SIZE(s->gdb); i++) {
        MxgpuGdbChannel *c = &s->gdb[i];

        c->s = s;
        c->which = i;
        c->room = false;
        qemu_mutex_init(&c->lock);
        c->out = g_byte_array_new();
        c->bh = qemu_bh_new_guarded(mxgpu_gdb_bh, c,
                                    &DEVICE(s)->mem_reentrancy_guard);
    }
}

/* The firmware's is always there, for the monitor; that of kernels costs. */
static bool mxgpu_gdb_open(MxgpuGdbChannel *c)
{
    if (c->which == MXGPU_DEBUG_FIRMWARE) {
        return mxgpu_device_gdb_open(c->s->dev, &mxgpu_gdb_ops, c, c->halt);
    }
    return !mxgpu_gdb_connected(c->s, c->which) ||
           mxgpu_device_kernel_gdb_open(c->s->dev, &mxgpu_gdb_ops, c, c->halt);
}

void mxgpu_gdb_listen(MxgpuState *s)
{
    for (unsigned i = 0; i < ARRAY_SIZE(s->gdb); i++) {
        MxgpuGdbChannel *c = &s->gdb[i];

        if (!mxgpu_gdb_open(c)) {
            warn_report("mxgpu %s: no memory for gdb on %s", s->name,
                        c->which == MXGPU_DEBUG_FIRMWARE ? "the firmware"
                                                         : "kernels");
            continue;
        }
        qemu_chr_fe_set_handlers(&c->chr, mxgpu_gdb_can_receive,
                                 mxgpu_gdb_receive, mxgpu_gdb_event, NULL, c,
                                 NULL, true);
    }
}

/* Of what came after mxgpu_gdb_quit(), too: nothing is sent any more. */
static void mxgpu_gdb_unwatch(MxgpuGdbChannel *c)
{
    QEMU_LOCK_GUARD(&c->lock);
    if (c->watch) {
        g_source_remove(c->watch);
        c->watch = 0;
    }
}

static void mxgpu_gdb_do_end(MxgpuState *s)
{
    mxgpu_device_kernel_gdb_end(s->dev);
}

void mxgpu_gdb_quit(MxgpuState *s)
{
    /* A guest's write that unplugs the card cannot wait for its units; the
     * debugger then hears no more of it. */
    if (!mxgpu_host_serving(s)) {
        mxgpu_host_wait(s, mxgpu_gdb_do_end, MXGPU_SERVE);
        mxgpu_gdb_bh(&s->gdb[MXGPU_DEBUG_KERNELS]);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(s->gdb); i++) {
        qemu_chr_fe_set_handlers(&s->gdb[i].chr, NULL, NULL, NULL, NULL, NULL,
                                 NULL, false);
        mxgpu_gdb_unwatch(&s->gdb[i]);
    }
}

void mxgpu_gdb_cleanup(MxgpuState *s)
{
    for (unsigned i = 0; i < ARRAY_SIZE(s->gdb); i++) {
        MxgpuGdbChannel *c = &s->gdb[i];

        mxgpu_gdb_unwatch(c);
        qemu_bh_delete(c->bh);
        g_byte_array_free(c->out, true);
        qemu_mutex_destroy(&c->lock);
    }
}
