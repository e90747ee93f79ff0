/* SPDX-License-Identifier: MIT */
#ifndef MC_API_PROPERTIES_H
#define MC_API_PROPERTIES_H

#include "core/context/context.h"

void mc_api_properties(const McContext *ctx, mcDeviceProp_t *prop);
/* False when there is no such attribute. */
bool mc_api_attribute(const McContext *ctx, const mcDeviceProp_t *prop,
                      mcDeviceAttribute_t which, int *value);

#endif
