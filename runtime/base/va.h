/* SPDX-License-Identifier: MIT */
/*
 * Process address space that belongs to devices. Nothing is accessible there
 * for the CPU; reserving it keeps every pointer of the process unique.
 */
#ifndef MC_BASE_VA_H
#define MC_BASE_VA_H

#include <stdint.h>

/* Reserves size bytes, rounded up to pages of 4096; align is a power of two
 * >= 4096. NULL when there is none. */
void *mc_va_reserve(uint64_t size, uint64_t align);
/* The same at an address, a multiple of 4096; NULL: something is there. */
void *mc_va_reserve_at(uint64_t va, uint64_t size);
/* Of what was reserved, a part that has become accessible: no more. */
void mc_va_hide(void *va, uint64_t size);
/* What was reserved; NULL is nothing. */
void mc_va_release(void *va, uint64_t size);

#endif
