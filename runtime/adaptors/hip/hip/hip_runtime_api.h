/* SPDX-License-Identifier: MIT */
/* HIP's runtime interface, over the mc* one. C11 and C++17. */
#ifndef HIP_INCLUDE_HIP_HIP_RUNTIME_API_H
#define HIP_INCLUDE_HIP_HIP_RUNTIME_API_H

#include "hip/adaptor/functions.h"
#include "hip/adaptor/absent.h"

#endif
