/* SPDX-License-Identifier: MIT */
/* Part of cuda_runtime.h. */
#ifndef __MATH_FUNCTIONS_H__
#define __MATH_FUNCTIONS_H__

#include "cuda_runtime.h"

#endif
