/* SPDX-License-Identifier: MIT */
/* What may be set of a stream after it was made. */
#ifndef MC_CORE_STREAM_ATTRIBUTE_H
#define MC_CORE_STREAM_ATTRIBUTE_H

#include "stream.h"

/* Bytes of an access policy window: there is no cache that could be set aside. */
#define MC_MAX_WINDOW 0

/* mcErrorInvalidValue: no such attribute or value. */
mcError_t mc_stream_set(McStream *stream, mcStreamAttrID which,
                        const mcStreamAttrValue *value);
mcError_t mc_stream_attribute(McStream *stream, mcStreamAttrID which,
                              mcStreamAttrValue *value);
mcError_t mc_stream_copy_attributes(McStream *to, McStream *from);

/* Values of launches, too: whether one may be given to a device. */
bool mc_window_ok(const mcAccessPolicyWindow *window);
bool mc_sync_policy_ok(mcSynchronizationPolicy policy);

#endif
