/* SPDX-License-Identifier: MIT */
/* Part of host_config.h. */
#ifndef __CRT_HOST_CONFIG_H__
#define __CRT_HOST_CONFIG_H__

#include "../host_config.h"

#endif
