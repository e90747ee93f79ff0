/* SPDX-License-Identifier: MIT */
/* The same, counting accesses and taking samples. */
#define SIMT_COUNTING
#include "exec_base.c"
