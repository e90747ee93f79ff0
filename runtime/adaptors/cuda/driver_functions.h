/* SPDX-License-Identifier: MIT */
/* make_cudaExtent() and its like. */
#ifndef __DRIVER_FUNCTIONS_H__
#define __DRIVER_FUNCTIONS_H__

#include "cuda_adaptor/functions.h"

#endif
