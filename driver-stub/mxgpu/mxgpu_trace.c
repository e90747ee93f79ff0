// SPDX-License-Identifier: GPL-2.0-only
/* The bodies of the events of mxgpu_trace.h. */
#define CREATE_TRACE_POINTS
#include "mxgpu_trace.h"
