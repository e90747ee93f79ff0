/* SPDX-License-Identifier: MIT */
/*
 * The runtime interface and, when mxcc compiles a file with kernels, the
 * language of kernels. mxcc includes this header before such a file.
 */
#include "mc_runtime_api.h" /* always: it looks at a macro */

#ifndef __INCLUDE_MC_RUNTIME_H__
#define __INCLUDE_MC_RUNTIME_H__

#include "mc_vector_types.h"

#if defined(__MXCC__) && defined(__MACA__) && defined(__cplusplus)
#include "device/keywords.h"
#include "device/builtins.h"
#include "device/services.h"
#include "device/intrinsics.h"
#include "device/simd.h"
#include "device/warp.h"
#include "device/atomics.h"
/* Before <cmath>, so that its templates see the device's functions. */
#include "device/math_functions.h"
#include "device/math_extra.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <math.h>

#include "mc_texture_reference.h"
#include "device/texture.h"
#include "device/surface.h"
#include "device/launch.h"
#ifndef __MC_RTC_LEAN__
#include "device/math_host.h"
#endif
#include "device/std.h"
#include "device/launch_device.h"
#endif

/* Programs use what is in these without including them. */
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#ifndef __MC_RTC_LEAN__
#include <errno.h>
#include <stdio.h>
#include <time.h>
#endif
#ifdef __cplusplus
#include <new>
#include <utility>
#endif

#endif
