/* SPDX-License-Identifier: MIT */
/* The interpreter for any host. */
#ifdef SIMT_COUNTING
#define SIMT_EXEC mxgpu_simt_count_base
#else
#define SIMT_EXEC mxgpu_simt_exec_base
#define SIMT_CONVOY mxgpu_simt_convoy_base
#endif
#include "exec.inc.h"
