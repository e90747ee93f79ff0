/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the device is doing, in words (core/inspect.h), as a property.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "mxgpu.h"
#include "../core/inspect.h"

static void mxgpu_inspect_put(void *opaque, const char *text, size_t len)
{
    g_string_append_len(opaque, text, len);
}

/* NULL: there is no such command. */
static char *mxgpu_inspect_text(MxgpuState *s, const char *command)
{
    GString *text = g_string_new(NULL);
    MxgpuText sink = { mxgpu_inspect_put, text };

    if (!s->dev || s->gone) {
        g_string_append(text, "the device is not there\n");
    } else if (!strcmp(command, "help")) {
        mxgpu_inspect_help(sink);
    } else if (!mxgpu_inspect(s->dev, command, sink)) {
        g_string_free(text, true);
        return NULL;
    }
    return g_string_free(text, false);
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

void mxgpu_inspect_class_init(ObjectClass *class)
{
    object_class_property_add_str(class, "x-inspect", mxgpu_get_inspect,
                                  mxgpu_set_inspect);
    object_class_property_set_description(class, "x-inspect",
        "what the device is doing, for people: set to a command, \"help\" for "
        "instance, it reads as that command's text");
}
