/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A character device for gdb on the firmware (core/debug.h). The bytes are
 * taken and sent by the main loop, which never waits for the device: what they
 * ask for is done by the MCU's thread.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "mxgpu.h"
#include "../core/debug.h"

/* A debugger that does not read its replies is not read from either. */
#define MXGPU_GDB_OUT_ENOUGH 65536

static bool mxgpu_gdb_is_full(MxgpuState *s)
{
    QEMU_LOCK_GUARD(&s->gdb_lock);
    return s->gdb_out->len >= MXGPU_GDB_OUT_ENOUGH;
}

static int mxgpu_gdb_can_receive(void *opaque)
{
    MxgpuState *s = opaque;

    return mxgpu_gdb_is_full(s)
               ? 0 : mxgpu_device_gdb_room(s->dev, MXGPU_DEBUG_FIRMWARE);
}

static void mxgpu_gdb_receive(void *opaque, const uint8_t *buf, int size)
{
    MxgpuState *s = opaque;

    mxgpu_device_gdb_input(s->dev, MXGPU_DEBUG_FIRMWARE, buf, size);
}

static void mxgpu_gdb_drop(MxgpuState *s)
{
    QEMU_LOCK_GUARD(&s->gdb_lock);
    g_byte_array_set_size(s->gdb_out, 0);
}

static void mxgpu_gdb_event(void *opaque, QEMUChrEvent event)
{
    MxgpuState *s = opaque;

    if (event == CHR_EVENT_OPENED) {
        mxgpu_gdb_drop(s); /* what another connection did not take */
    } else if (event == CHR_EVENT_CLOSED) {
        /* from here on nothing is added */
        mxgpu_device_gdb_close(s->dev, MXGPU_DEBUG_FIRMWARE);
        mxgpu_gdb_drop(s);
    }
}

static gboolean mxgpu_gdb_writable(void *do_not_use, GIOCondition cond,
                                   void *opaque);

/* Sends what the back end takes now. */
static void mxgpu_gdb_bh(void *opaque)
{
    MxgpuState *s = opaque;
    bool was_full = mxgpu_gdb_is_full(s);
    g_autofree uint8_t *data = NULL;
    size_t len = 0;
    int written;

    WITH_QEMU_LOCK_GUARD(&s->gdb_lock) {
        if (s->gdb_out->len && !s->gdb_watch) {
            len = s->gdb_out->len;
            data = g_memdup2(s->gdb_out->data, len);
        }
    }
    if (len) {
        /* Not under the lock: a back end that finds its connection gone asks
         * for room, and says that it has closed, from within. Only this thread
         * takes bytes out; what it has dropped then is not sent. */
        written = qemu_chr_fe_write(&s->gdb, data, len);
        WITH_QEMU_LOCK_GUARD(&s->gdb_lock) {
            if (written > 0) {
                g_byte_array_remove_range(
                    s->gdb_out, 0, MIN((guint)written, s->gdb_out->len));
            }
            len = s->gdb_out->len;
        }
        if (len) {
            s->gdb_watch = qemu_chr_fe_add_watch(&s->gdb, G_IO_OUT | G_IO_HUP,
                                                 mxgpu_gdb_writable, s);
        }
    }
    if ((was_full && !mxgpu_gdb_is_full(s)) ||
        qatomic_xchg(&s->gdb_room, false)) {
        qemu_chr_fe_accept_input(&s->gdb);
    }
}

static gboolean mxgpu_gdb_writable(void *do_not_use, GIOCondition cond,
                                   void *opaque)
{
    MxgpuState *s = opaque;

    WITH_QEMU_LOCK_GUARD(&s->gdb_lock) {
        s->gdb_watch = 0;
    }
    mxgpu_gdb_bh(s);
    return G_SOURCE_REMOVE;
}

/* ---- from threads of the device ----------------------------------------- */

static void mxgpu_gdb_output(void *host, const void *bytes, size_t len)
{
    MxgpuState *s = host;

    QEMU_LOCK_GUARD(&s->gdb_lock);
    g_byte_array_append(s->gdb_out, bytes, len);
    qemu_bh_schedule(s->gdb_bh);
}

static void mxgpu_gdb_ready(void *host)
{
    MxgpuState *s = host;

    qatomic_set(&s->gdb_room, true);
    qemu_bh_schedule(s->gdb_bh);
}

static const MxgpuDebugOps mxgpu_gdb_ops = {
    .output = mxgpu_gdb_output,
    .ready = mxgpu_gdb_ready,
};

/* ---- life --------------------------------------------------------------- */

void mxgpu_gdb_prepare(MxgpuState *s)
{
    qemu_mutex_init(&s->gdb_lock);
    s->gdb_out = g_byte_array_new();
    s->gdb_bh = qemu_bh_new_guarded(mxgpu_gdb_bh, s,
                                    &DEVICE(s)->mem_reentrancy_guard);
}

void mxgpu_gdb_listen(MxgpuState *s)
{
    if (!mxgpu_device_gdb_open(s->dev, &mxgpu_gdb_ops, s, s->gdb_halt)) {
        warn_report("mxgpu %s: no memory for gdb on the firmware", s->name);
        return;
    }
    qemu_chr_fe_set_handlers(&s->gdb, mxgpu_gdb_can_receive, mxgpu_gdb_receive,
                             mxgpu_gdb_event, NULL, s, NULL, true);
}

void mxgpu_gdb_quit(MxgpuState *s)
{
    qemu_chr_fe_set_handlers(&s->gdb, NULL, NULL, NULL, NULL, NULL, NULL,
                             false);
    WITH_QEMU_LOCK_GUARD(&s->gdb_lock) {
        if (s->gdb_watch) {
            g_source_remove(s->gdb_watch);
            s->gdb_watch = 0;
        }
    }
}

void mxgpu_gdb_cleanup(MxgpuState *s)
{
    if (s->gdb_watch) { /* of bytes that came after mxgpu_gdb_quit() */
        g_source_remove(s->gdb_watch);
        s->gdb_watch = 0;
    }
    qemu_bh_delete(s->gdb_bh);
    g_byte_array_free(s->gdb_out, true);
    qemu_mutex_destroy(&s->gdb_lock);
}
