/* SPDX-License-Identifier: MIT */
/* Part of math_functions.h. */
#ifndef __CRT_MATH_FUNCTIONS_H__
#define __CRT_MATH_FUNCTIONS_H__

#include "../math_functions.h"

#endif
