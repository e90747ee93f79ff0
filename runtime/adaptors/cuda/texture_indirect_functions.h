/* SPDX-License-Identifier: MIT */
/* Part of cuda_runtime.h. */
#ifndef __TEXTURE_INDIRECT_FUNCTIONS_H__
#define __TEXTURE_INDIRECT_FUNCTIONS_H__

#include "cuda_runtime.h"

#endif
