/* SPDX-License-Identifier: MIT */
/*
 * Formats of printf, read the same way by kernels, which collect what a
 * format asks for, and by the host, which prints it.
 */
#ifndef MC_DEVICE_FORMAT_H
#define MC_DEVICE_FORMAT_H

#include <stdbool.h>

/* What a conversion takes from the argument list. */
typedef enum McArg {
    MC_ARG_NONE,    /* %% */
    MC_ARG_INT,     /* 32 bits */
    MC_ARG_LONG,    /* 64 bits */
    MC_ARG_DOUBLE,
    MC_ARG_STRING,
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
        return length ? MC_ARG_BAD : MC_ARG_INT;
    case 's':
        return length ? MC_ARG_BAD : MC_ARG_STRING;
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
