/* SPDX-License-Identifier: MIT */
/* Part of device_functions.h. */
#ifndef __CRT_DEVICE_FUNCTIONS_H__
#define __CRT_DEVICE_FUNCTIONS_H__

#include "../device_functions.h"

#endif
