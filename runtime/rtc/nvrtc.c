/* SPDX-License-Identifier: MIT */
/* libnvrtc: the functions of the header, for who links or loads a library. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define NVRTC_FUNCTION __attribute__((visibility("default")))
#include "adaptors/cuda/nvrtc.h"
