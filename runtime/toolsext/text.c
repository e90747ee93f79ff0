/* SPDX-License-Identifier: MIT */
/* Texts of messages and names. */
#include <stdlib.h>

#include "toolsext.h"

static char *put(char *to, uint32_t c)
{
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
        c = 0xfffd; /* of no character: what stands for those */
    }
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

MctxText mctx_wide(const wchar_t *text)
{
    char *own = text ? malloc(4 * wcslen(text) + 1) : NULL;
    char *to = own;

    if (!own) {
        return (MctxText){"", NULL};
    }
    for (; *text; text++) {
        to = put(to, (uint32_t)*text);
    }
    *to = 0;
    return (MctxText){own, own};
}

MctxText mctx_text(int32_t type, mctxMessageValue_t value)
{
    switch (type) {
    case MCTX_MESSAGE_TYPE_ASCII:
        return (MctxText){value.ascii ? value.ascii : "", NULL};
    case MCTX_MESSAGE_TYPE_UNICODE:
        return mctx_wide(value.unicode);
    case MCTX_MESSAGE_TYPE_REGISTERED:
        return (MctxText){mctx_string(value.registered), NULL};
    default:
        return (MctxText){"", NULL};
    }
}
