/* SPDX-License-Identifier: MIT */
/* Part of host_defines.h. */
#ifndef __CRT_HOST_DEFINES_H__
#define __CRT_HOST_DEFINES_H__

#include "../host_defines.h"

#endif
