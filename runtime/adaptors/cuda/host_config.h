/* SPDX-License-Identifier: MIT */
/* The host's compiler is what mxcc, or the program, chose. */
#ifndef __HOST_CONFIG_H__
#define __HOST_CONFIG_H__

#include "host_defines.h"

#endif
