/* SPDX-License-Identifier: MIT */
/* Part of mma.h. */
#ifndef __CRT_MMA_H__
#define __CRT_MMA_H__

#include "../mma.h"

#endif
