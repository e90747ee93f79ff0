/* SPDX-License-Identifier: MIT */
/*
 * The calculations that CUDA's header of this name has, of devices and kernels
 * that are given as numbers (cudaOcc...), are not here: occupancy is asked of the
 * runtime. Header libraries include it and use nothing of it.
 */
#ifndef CUDA_OCCUPANCY_H
#define CUDA_OCCUPANCY_H

#include "cuda_runtime_api.h"

#endif
