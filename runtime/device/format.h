/* SPDX-License-Identifier: MIT */
/*
 * Formats of printf, read the same way by kernels, which collect what a
 * format asks for, and by the host, which prints it.
 */
#ifndef MC_DEVICE_FORMAT_H
#define MC_DEVICE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

/* What a conversion takes from the argument list. */
typedef enum McArg {
    MC_ARG_NONE,    /* %% */
    MC_ARG_INT,     /* 32 bits */
    MC_ARG_LONG,    /* 64 bits */
    MC_ARG_DOUBLE,
    MC_ARG_STRING,
    MC_ARG_WIDE,        /* a character of 32 bits */
    MC_ARG_WIDE_STRING, /* of those; in records: a string in UTF-8 */
    MC_ARG_POINTER,
    MC_ARG_BAD,     /* no conversion: the rest of the format is plain text */
} McArg;

enum {
    MC_FORMAT_MINUS = 1,
    MC_FORMAT_PLUS = 2,
    MC_FORMAT_SPACE = 4,
    MC_FORMAT_HASH = 8,
    MC_FORMAT_ZERO = 16,
};

#define MC_FORMAT_WIDE 1000000000 /* more is taken for this */

typedef struct McFormat {
    unsigned flags;
    bool width_arg, precision_arg; /* '*': an int argument each, first */
    int width;                     /* 0: none */
    int precision;                 /* -1: none */
    char length;                   /* h, H (hh), l, q (ll), j, z, t or 0 */
    char conversion;
    McArg arg;
} McFormat;

static inline unsigned mc_format_flag(char c)
{
    return c == '-'   ? MC_FORMAT_MINUS
           : c == '+' ? MC_FORMAT_PLUS
           : c == ' ' ? MC_FORMAT_SPACE
           : c == '#' ? MC_FORMAT_HASH
           : c == '0' ? MC_FORMAT_ZERO
                      : 0;
}

static inline const char *mc_format_number(const char *p, int *value)
{
    int n = 0;

    for (; *p >= '0' && *p <= '9'; p++) {
        n = n < MC_FORMAT_WIDE / 10 ? n * 10 + (*p - '0') : MC_FORMAT_WIDE;
    }
    *value = n;
    return p;
}

static inline McArg mc_format_arg(char conversion, char length)
{
    switch (conversion) {
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        return length && length != 'h' && length != 'H' ? MC_ARG_LONG
                                                        : MC_ARG_INT;
    case 'c':
        return !length ? MC_ARG_INT : length == 'l' ? MC_ARG_WIDE : MC_ARG_BAD;
    case 's':
        return !length          ? MC_ARG_STRING
               : length == 'l' ? MC_ARG_WIDE_STRING
                               : MC_ARG_BAD;
    case 'p':
    case 'n':
        return MC_ARG_POINTER;
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
        return length && length != 'l' ? MC_ARG_BAD : MC_ARG_DOUBLE;
    case '%':
        return MC_ARG_NONE;
    }
    return MC_ARG_BAD;
}

/* UTF-8 of a character, U+FFFD for what is none; returns how many bytes. */
static inline unsigned mc_utf8(uint32_t c, uint8_t out[4])
{
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
        c = 0xfffd;
    }
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    out[0] = (uint8_t)(0xff00 >> (more + 1) | c >> 6 * more);
    for (unsigned i = 1; i <= more; i++) {
        out[i] = 0x80 | (c >> 6 * (more - i) & 0x3f);
    }
    return more + 1;
}

/* p: behind the '%' of a NUL-terminated format. Returns what follows the
 * conversion; when it is none (MC_ARG_BAD), what follows means nothing. */
static inline const char *mc_format_parse(const char *p, McFormat *f)
{
    unsigned flag;

    f->flags = 0;
    f->width_arg = f->precision_arg = false;
    f->width = 0;
    f->precision = -1;
    f->length = 0;
    while ((flag = mc_format_flag(*p))) {
        f->flags |= flag;
        p++;
    }
    if (*p == '*') {
        f->width_arg = true;
        p++;
    } else {
        p = mc_format_number(p, &f->width);
    }
    if (*p == '.') {
        p++;
        if (*p == '*') {
            f->precision_arg = true;
            p++;
        } else {
            p = mc_format_number(p, &f->precision);
        }
    }
    if (*p == 'h' || *p == 'l') {
        f->length = *p++;
        if (*p == f->length) {
            f->length = f->length == 'h' ? 'H' : 'q';
            p++;
        }
    } else if (*p == 'j' || *p == 'z' || *p == 't') {
        f->length = *p++;
    }
    f->conversion = *p;
    f->arg = mc_format_arg(*p, f->length);
    return *p ? p + 1 : p;
}

#endif
