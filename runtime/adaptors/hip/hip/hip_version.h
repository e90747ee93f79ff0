/* SPDX-License-Identifier: MIT */
/* The version of HIP whose names are here. */
#ifndef HIP_INCLUDE_HIP_HIP_VERSION_H
#define HIP_INCLUDE_HIP_HIP_VERSION_H

#define HIP_VERSION_MAJOR 5
#define HIP_VERSION_MINOR 2
#define HIP_VERSION_PATCH 0
#define HIP_VERSION_GITHASH "0"
#define HIP_VERSION_BUILD_ID 0
#define HIP_VERSION_BUILD_NAME "mxgpu"
#define HIP_VERSION                                                            \
    (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 +               \
     HIP_VERSION_PATCH)

#endif
