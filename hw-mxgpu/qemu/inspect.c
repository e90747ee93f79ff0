/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the device is doing, in words (core/inspect.h), as a property and
 * as "info mxgpu" of the monitor.
 */
#include "qemu/osdep.h"
#include "monitor/hmp.h"
#include "monitor/monitor.h"
#include "qapi/error.h"
#include "qobject/qdict.h"
#include "mxgpu.h"
#include "../core/inspect.h"

typedef struct MxgpuLook {
    const char *command;
    GString *text;
    bool known;
} MxgpuLook;

static void mxgpu_inspect_put(void *opaque, const char *text, size_t len)
{
    g_string_append_len(opaque, text, len);
}

/* On the control thread, or in deterministic mode under the BQL. */
static void mxgpu_do_look(MxgpuState *s)
{
    MxgpuLook *look = s->look;
    MxgpuText sink = { mxgpu_inspect_put, look->text };

    sink.held = mxgpu_inspect_holds(look->command);
    if (sink.held) {
        mxgpu_device_pause(s->dev);
    }
    look->known = mxgpu_inspect(s->dev, look->command, sink);
    if (sink.held) {
        mxgpu_device_resume(s->dev);
    }
}

/* NULL: there is no such command. Page tables may lie in memory of the guest,
 * behind a vIOMMU, which device threads may ask and we may not. */
static char *mxgpu_inspect_text(MxgpuState *s, const char *command)
{
    MxgpuLook look = { command, g_string_new(NULL), true };
    MxgpuText sink = { mxgpu_inspect_put, look.text };

    if (!s->dev || s->gone) {
        g_string_append(look.text, "the device is not there\n");
    } else if (!strcmp(command, "help")) {
        mxgpu_inspect_help(sink);
    } else {
        s->look = &look;
        if (!mxgpu_host_wait(s, mxgpu_do_look, MXGPU_SERVE)) {
            g_string_append(look.text, "the device waits for the monitor: "
                            "ask again\n");
        }
        s->look = NULL;
    }
    if (!look.known) {
        g_string_free(look.text, true);
        return NULL;
    }
    return g_string_free(look.text, false);
}

static char *mxgpu_get_inspect(Object *obj, Error **errp)
{
    MxgpuState *s = MXGPU(obj);

    return mxgpu_inspect_text(s, s->inspect ?: "");
}

static void mxgpu_set_inspect(Object *obj, const char *value, Error **errp)
{
    MxgpuState *s = MXGPU(obj);
    g_autofree char *text = mxgpu_inspect_text(s, value);

    if (!text) {
        error_setg(errp, "mxgpu: no such command; \"help\" lists them");
        return;
    }
    g_free(s->inspect);
    s->inspect = g_strdup(value);
}

/* ---- info mxgpu [@DEVICE] [COMMAND], of all devices without @DEVICE */

typedef struct MxgpuInfo {
    Monitor *mon;
    const char *command;
    const char *id; /* NULL: all devices */
    unsigned shown;
} MxgpuInfo;

static int mxgpu_info_device(Object *obj, void *opaque)
{
    MxgpuInfo *info = opaque;
    g_autofree char *text = NULL;
    MxgpuState *s;

    s = (MxgpuState *)object_dynamic_cast(obj, TYPE_MXGPU);
    if (!s || (info->id && g_strcmp0(info->id, DEVICE(s)->id))) {
        return 0;
    }
    info->shown++;
    text = mxgpu_inspect_text(s, info->command);
    monitor_printf(info->mon, "mxgpu %s\n",
                   DEVICE(s)->id ?: s->name ?: "(no id)");
    monitor_puts(info->mon, text ?: "no such command: info mxgpu help\n");
    return 0;
}

static void hmp_info_mxgpu(Monitor *mon, const QDict *qdict)
{
    const char *command = qdict_get_try_str(qdict, "command") ?: "";
    g_autofree char *id = NULL;
    MxgpuInfo info = { mon };

    if (*command == '@') {
        size_t n = strcspn(command, " ");

        id = g_strndup(command + 1, n - 1);
        command += n + strspn(command + n, " ");
    }
    info.command = command;
    info.id = id;
    object_child_foreach_recursive(object_get_root(), mxgpu_info_device, &info);
    if (!info.shown) {
        monitor_printf(mon, "there is no such mxgpu\n");
    }
}

void mxgpu_inspect_class_init(ObjectClass *class)
{
    object_class_property_add_str(class, "x-inspect", mxgpu_get_inspect,
                                  mxgpu_set_inspect);
    object_class_property_set_description(class, "x-inspect",
        "what the device is doing, for people: set to a command, \"help\" for "
        "instance, it reads as that command's text");
    /* scripts/overlay-qemu puts the entry into hmp-commands-info.hx. */
    monitor_register_hmp("mxgpu", true, hmp_info_mxgpu);
}
