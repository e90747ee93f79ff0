/* SPDX-License-Identifier: MIT */
/* NVTX as older toolkits have it. */
#include "nvtx3/nvToolsExtCuda.h"
