/* SPDX-License-Identifier: MIT */
/* cudaCreateChannelDesc<T>(). */
#ifndef __CHANNEL_DESCRIPTOR_H__
#define __CHANNEL_DESCRIPTOR_H__

#include "cuda_adaptor/functions.h"

#endif
