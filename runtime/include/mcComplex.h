/* SPDX-License-Identifier: MIT */
/*
 * Complex numbers: mcFloatComplex (mcComplex), mcDoubleComplex; see
 * mcr/mc_complex.h.
 */
#ifndef MC_COMPLEX_H
#define MC_COMPLEX_H

#include "mcr/mc_vector_types.h"
#include "mcr/mc_complex.h"

__MC_COMPLEX_LANGUAGE(mc)

#endif
