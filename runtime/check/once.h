/* SPDX-License-Identifier: MIT */
/* What was reported of a grid, so that each place is reported once. */
#ifndef MC_CHECK_ONCE_H
#define MC_CHECK_ONCE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether this is new: a and b, of a grid of that number, in either order. */
bool mc_once(uint64_t a, uint64_t b, uint64_t grid);

#endif
