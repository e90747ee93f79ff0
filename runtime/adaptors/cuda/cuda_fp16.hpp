/* SPDX-License-Identifier: MIT */
/* Programs include it by this name, too. */
#include "cuda_fp16.h"
