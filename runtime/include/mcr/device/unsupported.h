/* SPDX-License-Identifier: MIT */
/* What this device does not have: using it says so. */
#ifndef MCR_DEVICE_UNSUPPORTED_H
#define MCR_DEVICE_UNSUPPORTED_H


typedef unsigned long long mcTextureObject_t
    __attribute__((unavailable("textures are not supported")));
typedef unsigned long long mcSurfaceObject_t
    __attribute__((unavailable("surfaces are not supported")));

#endif
