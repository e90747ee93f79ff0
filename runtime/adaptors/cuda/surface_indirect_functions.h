/* SPDX-License-Identifier: MIT */
/* Part of cuda_runtime.h. */
#ifndef __SURFACE_INDIRECT_FUNCTIONS_H__
#define __SURFACE_INDIRECT_FUNCTIONS_H__

#include "cuda_runtime.h"

#endif
