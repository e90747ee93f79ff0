/* SPDX-License-Identifier: MIT */
/* Complex numbers of CUDA; see mcr/mc_complex.h. */
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include "cuda_runtime_api.h"

/* Beside the folder of these headers where only that one is searched. */
#if __has_include(<mcr/mc_complex.h>)
#include <mcr/mc_complex.h>
#else
#include "../mcr/mc_complex.h"
#endif

__MC_COMPLEX_LANGUAGE(cu)

#endif
