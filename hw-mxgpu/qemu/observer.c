/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library that watches kernels (mxgpu/observer.h): loaded once for all devices
 * that name it, and kept, since its threads may run.
 */
#include "qemu/osdep.h"
#include <dlfcn.h>
#include "qapi/error.h"
#include "mxgpu.h"
#include "mxgpu/observer_entry.h"

bool mxgpu_observer_load(MxgpuState *s, MxgpuConfig *config, Error **errp)
{
    static uintptr_t number; /* of the device; the BQL is held */
    const char *why = "it does not say why";
    MxgpuObserverEntry *entry;
    void *library;

    library = dlopen(s->observer_path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        error_setg(errp, "mxgpu: observer: %s", dlerror());
        return false;
    }
    *(void **)&entry = dlsym(library, "mxgpu_observer_entry");
    if (!entry) {
        error_setg(errp, "mxgpu: observer %s has no mxgpu_observer_entry",
                   s->observer_path);
        dlclose(library);
        return false;
    }
    config->observer = entry(MXGPU_OBSERVER_ABI, &why);
    if (!config->observer) {
        error_setg(errp, "mxgpu: observer %s: %s", s->observer_path, why);
        return false;
    }
    config->observer_opaque = (void *)number++;
    return true;
}
