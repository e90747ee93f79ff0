/* SPDX-License-Identifier: MIT */
/* The interpreter for any host without forms: what others are tested with. */
#define SIMT_PLAIN
#define SIMT_EXEC mxgpu_simt_exec_plain
#define SIMT_CONVOY mxgpu_simt_convoy_plain
#include "exec.inc.h"
