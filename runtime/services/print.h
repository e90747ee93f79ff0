/* SPDX-License-Identifier: MIT */
/*
 * Text of the records that kernels leave in the FIFO (device/fifo.h). Kernels
 * can write anything there: nothing in here trusts a byte.
 */
#ifndef MC_SERVICES_PRINT_H
#define MC_SERVICES_PRINT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Width and precision of numbers are cut to this. */
#define MC_PRINT_WIDE 4095

/*
 * One complete record of that many words, in memory nobody changes. printf
 * goes to out, messages about failed kernels to err. Returns how many
 * messages there were.
 */
unsigned mc_print_record(const uint64_t *record, size_t words, FILE *out,
                         FILE *err);

#endif
