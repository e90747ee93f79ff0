/* SPDX-License-Identifier: MIT */
/* Which back end this process uses. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "priv.h"

static int choose_vfio(const char *bdf, const KmdOps **ops)
{
    int ret = kmd_vfio_choose(bdf);

    if (!ret) {
        *ops = &kmd_vfio_ops;
    }
    return ret;
}

int kmd_select(const KmdOps **ops)
{
    const char *text = getenv("MXGPU_DEVICE");

    if (!text || !*text || !strcmp(text, "auto")) {
        if (kmd_driver_present()) {
            *ops = &kmd_driver_ops;
            return 0;
        }
        /* Where there is such a function, it is meant: what is wrong with it
         * is reported, never hidden behind the simulator. */
        if (kmd_vfio_present()) {
            return choose_vfio(NULL, ops);
        }
        *ops = &kmd_sim_ops;
        return 0;
    }
    if (!strcmp(text, "sim")) {
        *ops = &kmd_sim_ops;
        return 0;
    }
    if (!strcmp(text, "driver")) {
        *ops = &kmd_driver_ops;
        return 0;
    }
    if (!strcmp(text, "vfio")) {
        return choose_vfio(NULL, ops);
    }
    if (!strncmp(text, "vfio:", 5)) {
        return choose_vfio(text + 5, ops);
    }
    mc_error("MXGPU_DEVICE=%s: auto, sim, driver, vfio or "
             "vfio:BUS:DEVICE.FUNCTION is expected", text);
    return -EINVAL;
}
