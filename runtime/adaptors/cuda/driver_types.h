/* SPDX-License-Identifier: MIT */
/* Types of the runtime interface. */
#ifndef MXGPU_CUDA_DRIVER_TYPES_H
#define MXGPU_CUDA_DRIVER_TYPES_H

#include "cuda_adaptor/types.h"

#endif
