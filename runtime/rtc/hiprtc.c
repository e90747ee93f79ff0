/* SPDX-License-Identifier: MIT */
/* libhiprtc: the functions of the header, for who links or loads a library. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define HIPRTC_FUNCTION __attribute__((visibility("default")))
#include "adaptors/hip/hip/hiprtc.h"
