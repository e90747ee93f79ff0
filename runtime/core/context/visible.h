/* SPDX-License-Identifier: MIT */
/* Which devices the user wants this process to use. */
#ifndef MC_CORE_VISIBLE_H
#define MC_CORE_VISIBLE_H

#include "kmd/kmd.h"

/*
 * The devices of a list: numbers, or UUIDs as in GPU-1234abcd-..., of which the
 * first digits suffice when they fit one device alone. It ends at the first
 * entry that names no device; one that is named twice makes all invisible.
 * Devices are opened for a moment when there are UUIDs. variable: where the list
 * is from. Returns how many, at most "most" of them.
 */
unsigned mc_visible(const KmdOps *ops, const char *variable, const char *list,
                    unsigned present, int *devices, unsigned most);

#endif
