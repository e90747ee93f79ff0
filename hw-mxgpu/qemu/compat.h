/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between the versions of QEMU that the glue is built for, 10.0
 * to 10.2: headers that moved, and calls that changed. Include it behind
 * qemu/osdep.h, in place of the headers here; scripts/check-qemu-versions
 * compiles the glue against each version that can be had.
 */
#ifndef HW_MXGPU_QEMU_COMPAT_H
#define HW_MXGPU_QEMU_COMPAT_H

#define MXGPU_QEMU_IS(major, minor)                                            \
    (QEMU_VERSION_MAJOR > (major) ||                                           \
     (QEMU_VERSION_MAJOR == (major) && QEMU_VERSION_MINOR >= (minor)))

#if __has_include("system/memory.h")
#include "system/address-spaces.h"
#include "system/memory.h"
#else
#include "exec/address-spaces.h"
#include "exec/memory.h"
#endif

#if __has_include("hw/core/qdev-properties.h")
#include "hw/core/qdev-properties-system.h"
#include "hw/core/qdev-properties.h"
#include "hw/core/qdev.h"
#else
#include "hw/qdev-core.h"
#include "hw/qdev-properties-system.h"
#include "hw/qdev-properties.h"
#endif

#include "chardev/char-fe.h"
#include "system/runstate.h"

/* The device's end of a character device. */
#if !MXGPU_QEMU_IS(10, 2)
#define CharFrontend CharBackend
#endif

/* What class_init() is given beside the class. */
#if MXGPU_QEMU_IS(10, 1)
typedef const void MxgpuClassData;
#else
typedef void MxgpuClassData;
#endif

static inline VMChangeStateEntry *
mxgpu_add_vm_change_state_handler(DeviceState *dev, VMChangeStateHandler *func,
                                  void *opaque)
{
#if MXGPU_QEMU_IS(10, 1)
    return qdev_add_vm_change_state_handler(dev, func, NULL, opaque);
#else
    return qdev_add_vm_change_state_handler(dev, func, opaque);
#endif
}

#endif
