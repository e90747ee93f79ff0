/* SPDX-License-Identifier: MIT */
/* Functions that there are none of: whoever uses one is told its name. */
#ifndef MXGPU_HIP_ABSENT_H
#define MXGPU_HIP_ABSENT_H

#include "mc.h"

#ifdef __clang__
#define MXGPU_ABSENT(name) \
    __attribute__((unavailable(#name " is not part of mxgpu's interface")))
#else
#define MXGPU_ABSENT(name) \
    __attribute__((error(#name " is not part of mxgpu's interface")))
#endif
#ifdef __cplusplus
#define MXGPU_MISSING(name) \
    extern "C" hipError_t name(...) MXGPU_ABSENT(name);
#else
#define MXGPU_MISSING(name) hipError_t name() MXGPU_ABSENT(name);
#endif

#ifndef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#endif
#include "hip/adaptor/missing.h"
#ifndef __cplusplus
#pragma GCC diagnostic pop
#endif

#undef MXGPU_MISSING
#undef MXGPU_ABSENT

#endif
