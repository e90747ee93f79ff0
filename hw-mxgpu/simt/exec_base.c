/* SPDX-License-Identifier: MIT */
/* The interpreter for any host. */
#define SIMT_EXEC mxgpu_simt_exec_base
#include "exec.inc.h"
