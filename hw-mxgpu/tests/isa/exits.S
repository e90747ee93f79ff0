/* SPDX-License-Identifier: MIT */
/* An exit with a code: mx-isa-run must say so. */
#define EXIT_CODE 7
#include "host.S"
