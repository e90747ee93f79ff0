/* SPDX-License-Identifier: MIT */
/*
 * The mc* interface under CUDA's names: a program sees functions and types of
 * CUDA, and no macro has one of their names, but for those that are macros in
 * CUDA too. The other headers of this folder include this one first.
 */
#ifndef MXGPU_CUDA_MC_H
#define MXGPU_CUDA_MC_H

/* What CUDA's own headers define; programs look at them. */
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define CUDART_VERSION 11060

#ifndef CUDARTAPI
#define CUDARTAPI
#endif
#define CUDART_CB
#ifdef __cplusplus
#define CUDART_DEVICE
#endif

#include "cuda_adaptor/names.h"

/* Beside this folder where only that one is searched. */
#if __has_include(<mcr/mc_vector_types.h>)
#include <mcr/mc_vector_types.h>
#include "dim3.h"
#include <mcr/mc_runtime_api.h>
#else
#include "../../mcr/mc_vector_types.h"
#include "dim3.h"
#include "../../mcr/mc_runtime_api.h"
#endif

#include "cuda_adaptor/flags.h"
#include "../host_defines.h"

#endif
