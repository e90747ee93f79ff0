/* SPDX-License-Identifier: MIT */
#ifndef TESTS_CUDA_PROGRAM_H
#define TESTS_CUDA_PROGRAM_H

#include <cuda_runtime.h>

#define GPU(name) cuda##name
#include "../program.h"

#endif
