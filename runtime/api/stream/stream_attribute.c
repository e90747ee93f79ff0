/* SPDX-License-Identifier: MIT */
#include "core/stream/stream_attribute.h"

#include "api/api.h"

MC_EXPORT mcError_t mcStreamSetAttribute(mcStream_t handle,
                                         mcStreamAttrID which,
                                         const mcStreamAttrValue *value)
{
    mcStreamAttrValue copy; /* the caller may change its own */

    API_ENTER("%p, %d, %p", (void *)handle, (int)which, (const void *)value);
    API_CHECK(value, mcErrorInvalidValue);
    copy = *value;
    API_STREAM_ITSELF(stream, handle);
    API_RETURN(mc_stream_set(stream, which, &copy));
}

MC_EXPORT mcError_t mcStreamGetAttribute(mcStream_t handle,
                                         mcStreamAttrID which,
                                         mcStreamAttrValue *value)
{
    API_ENTER("%p, %d, %p", (void *)handle, (int)which, (void *)value);
    API_CHECK(value, mcErrorInvalidValue);
    API_STREAM_ITSELF(stream, handle);
    API_RETURN(mc_stream_attribute(stream, which, value));
}

MC_EXPORT mcError_t mcStreamCopyAttributes(mcStream_t to_handle,
                                           mcStream_t from_handle)
{
    API_ENTER("%p, %p", (void *)to_handle, (void *)from_handle);
    API_STREAM_ITSELF(to, to_handle);
    API_STREAM_ITSELF(from, from_handle);
    API_RETURN(mc_stream_copy_attributes(to, from));
}

MC_EXPORT mcError_t mcStreamGetId(mcStream_t handle, unsigned long long *id)
{
    API_ENTER("%p, %p", (void *)handle, (void *)id);
    API_CHECK(id, mcErrorInvalidValue);
    API_STREAM_ITSELF(stream, handle);
    *id = stream->id;
    API_RETURN(mcSuccess);
}
