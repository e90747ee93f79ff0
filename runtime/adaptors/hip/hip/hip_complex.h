/* SPDX-License-Identifier: MIT */
/* Complex numbers of HIP; see mcr/mc_complex.h. */
#ifndef HIP_INCLUDE_HIP_HIP_COMPLEX_H
#define HIP_INCLUDE_HIP_HIP_COMPLEX_H

#include "hip/hip_vector_types.h"

/* Beside the folder of these headers where only that one is searched. */
#if __has_include(<mcr/mc_complex.h>)
#include <mcr/mc_complex.h>
#else
#include "../../mcr/mc_complex.h"
#endif

__MC_COMPLEX_LANGUAGE(hip)

#endif
