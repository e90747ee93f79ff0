/* SPDX-License-Identifier: MIT */
#include "array_format.h"

static const struct {
    mcArrayFormat format;
    mcChannelFormatKind kind;
    int bits;
} formats[] = {
    {MC_AD_FORMAT_UNSIGNED_INT8, mcChannelFormatKindUnsigned, 8},
    {MC_AD_FORMAT_UNSIGNED_INT16, mcChannelFormatKindUnsigned, 16},
    {MC_AD_FORMAT_UNSIGNED_INT32, mcChannelFormatKindUnsigned, 32},
    {MC_AD_FORMAT_SIGNED_INT8, mcChannelFormatKindSigned, 8},
    {MC_AD_FORMAT_SIGNED_INT16, mcChannelFormatKindSigned, 16},
    {MC_AD_FORMAT_SIGNED_INT32, mcChannelFormatKindSigned, 32},
    {MC_AD_FORMAT_HALF, mcChannelFormatKindFloat, 16},
    {MC_AD_FORMAT_FLOAT, mcChannelFormatKindFloat, 32},
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

mcError_t mc_api_channels(mcArrayFormat format, unsigned n,
                          mcChannelFormatDesc *channels)
{
    for (unsigned i = 0; i < FORMATS; i++) {
        if (formats[i].format == format) {
            int bits = formats[i].bits;

            *channels = (mcChannelFormatDesc){
                n > 0 ? bits : 0, n > 1 ? bits : 0, n > 2 ? bits : 0,
                n > 3 ? bits : 0, formats[i].kind};
            return n <= 4 ? mcSuccess : mcErrorInvalidChannelDescriptor;
        }
    }
    return mcErrorInvalidChannelDescriptor;
}

mcArrayFormat mc_api_format(const mcChannelFormatDesc *channels, unsigned *n)
{
    unsigned i = 0;

    while (i < FORMATS - 1 && (formats[i].kind != channels->f ||
                               formats[i].bits != channels->x)) {
        i++;
    }
    *n = channels->w ? 4 : channels->y ? 2 : 1;
    return formats[i].format;
}
