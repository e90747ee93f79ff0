/* SPDX-License-Identifier: MIT */
/* Calls of the kernel driver. */
#include <errno.h>
#include <sys/ioctl.h>

#include "drm_priv.h"

int drm_call(const DrmDevice *d, unsigned long request, void *args)
{
    int ret;

    do {
        ret = ioctl(d->fd, request, args);
    } while (ret < 0 && errno == EINTR);
    return ret < 0 ? -errno : 0;
}

int drm_error(DrmDevice *d, int error)
{
    if (error == -ENODEV && !atomic_exchange(&d->lost, true)) {
        struct drm_mxgpu_state state = {0};
        bool told = !drm_call(d, DRM_IOCTL_MXGPU_STATE, &state);

        mc_error("device lost: %s", !told ? "it has gone"
                                    : state.state & MXGPU_STATE_GUILTY
                                        ? "it was reset, because of this process"
                                        : "it was reset");
    }
    return error;
}
