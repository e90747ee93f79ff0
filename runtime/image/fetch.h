/* SPDX-License-Identifier: MIT */
/*
 * Memory of the caller that is parsed: it may change while it is looked at, and
 * less of it may be there than it says. Each byte is read once, to a copy that
 * nobody else has; only the copy is parsed.
 */
#ifndef MC_IMAGE_FETCH_H
#define MC_IMAGE_FETCH_H

#include <stdbool.h>
#include <stddef.h>

/* Copies size bytes; false, and some or none copied, when they are not all
 * readable. */
bool mc_fetch(void *to, const void *from, size_t size);

#endif
