/* SPDX-License-Identifier: MIT */
/* Address ranges of the process that users have reserved. Thread-safe. */
#ifndef MC_CORE_RESERVE_H
#define MC_CORE_RESERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "mcr/mc_runtime_types.h"

/* At hint, if that is free and aligned, else anywhere. align: a power of two;
 * size and hint: multiples of 4096. */
mcError_t mc_reserve(uint64_t size, uint64_t align, uint64_t hint,
                     uint64_t *va);
/* mcErrorInvalidValue: not what mc_reserve() gave. Nothing is mapped there. */
mcError_t mc_reserve_release(uint64_t va, uint64_t size);
/* Whether all of it lies in one reservation. */
bool mc_reserved(uint64_t va, uint64_t size);
/* The reservation around va. */
bool mc_reservation_find(uint64_t va, uint64_t *start, uint64_t *size);

#endif
