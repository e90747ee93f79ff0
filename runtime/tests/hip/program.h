/* SPDX-License-Identifier: MIT */
#ifndef TESTS_HIP_PROGRAM_H
#define TESTS_HIP_PROGRAM_H

#include <hip/hip_runtime.h>

#define GPU(name) hip##name
#include "../program.h"

#endif
