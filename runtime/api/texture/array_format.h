/* SPDX-License-Identifier: MIT */
/* What elements are, by either description. */
#ifndef MC_API_ARRAY_FORMAT_H
#define MC_API_ARRAY_FORMAT_H

#include "mcr/mc_array.h"

/* Elements by the other description; mcErrorInvalidChannelDescriptor. */
mcError_t mc_api_channels(mcArrayFormat format, unsigned n,
                          mcChannelFormatDesc *channels);
/* That of an element that exists. */
mcArrayFormat mc_api_format(const mcChannelFormatDesc *channels, unsigned *n);

#endif
