/* SPDX-License-Identifier: MIT */
/* Loads and stores of the counting interpreters. */
#define SIMT_COUNTING
#include "memory.c"
