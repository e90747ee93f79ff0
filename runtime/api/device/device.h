/* SPDX-License-Identifier: MIT */
#ifndef MC_API_DEVICE_H
#define MC_API_DEVICE_H

#include <stdbool.h>

/* Flags of a device: known ones, at most one schedule. */
bool mc_api_flags_ok(unsigned flags);

#endif
