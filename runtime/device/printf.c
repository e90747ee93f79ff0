/* SPDX-License-Identifier: MIT */
/* printf and assert of kernels. */
#include <stdarg.h>

#include "device.h"
#include "fifo.h"
#include "format.h"

int __mx_printf(const char *format, ...);
int __mx_vprintf(const char *format, va_list args);
void __mx_assert(const char *expression, const char *file, unsigned line,
                 const char *function);

/* Bytes the arguments take in a record; writes them there unless r is NULL. */
static uint64_t arguments(const char *format, va_list args, MxRecord *r,
                          int *count)
{
    uint64_t bytes = 0;

    *count = 0;
    while (*format) {
        McFormat f;
        uint64_t word = 0, length;
        const char *s;

        if (*format++ != '%') {
            continue;
        }
        format = mc_format_parse(format, &f);
        if (f.arg == MC_ARG_BAD) {
            break;
        }
        for (int i = f.width_arg + f.precision_arg; i; i--) {
            int n = va_arg(args, int);

            f.precision = f.precision_arg ? n : f.precision; /* the last */
            bytes += 8;
            ++*count;
            if (r) {
                mx_record_put(r, (uint64_t)(int64_t)n);
            }
        }
        if (f.arg == MC_ARG_NONE) {
            continue;
        }
        ++*count;
        if (f.arg == MC_ARG_STRING) {
            s = va_arg(args, const char *);
            length = s ? mx_length(s, f.precision < 0 ? UINT64_MAX
                                                      : (unsigned)f.precision)
                       : 0;
            bytes += mx_string_bytes(length);
            if (r && s) {
                mx_record_string(r, s, length);
            } else if (r) {
                mx_record_put(r, MC_STRING_NULL);
            }
            continue;
        }
        if (f.arg == MC_ARG_WIDE_STRING) {
            const uint32_t *wide = va_arg(args, const uint32_t *);

            length = wide ? mx_wide_length(wide, f.precision < 0
                                                     ? UINT64_MAX
                                                     : (unsigned)f.precision)
                          : 0;
            bytes += mx_string_bytes(length);
            if (r && wide) {
                mx_record_wide(r, wide, length);
            } else if (r) {
                mx_record_put(r, MC_STRING_NULL);
            }
            continue;
        }
        if (f.arg == MC_ARG_DOUBLE) {
            word = __builtin_bit_cast(uint64_t, va_arg(args, double));
        } else if (f.arg == MC_ARG_INT || f.arg == MC_ARG_WIDE) {
            word = (uint64_t)(int64_t)va_arg(args, int);
        } else {
            word = va_arg(args, uint64_t);
        }
        bytes += 8;
        if (r) {
            mx_record_put(r, word);
        }
    }
    return bytes;
}

/* Arguments taken; -1: no format, -2: the FIFO is full. */
int __mx_vprintf(const char *format, va_list args)
{
    MxRecord r;
    va_list again;
    uint64_t length, bytes;
    int count;

    if (!format) {
        return -1;
    }
    length = mx_length(format, UINT64_MAX);
    va_copy(again, args);
    bytes = mx_string_bytes(length) + arguments(format, again, NULL, &count);
    va_end(again);
    if (!mx_record_begin(&r, MC_RECORD_PRINTF, bytes, 0)) {
        return -2;
    }
    mx_record_string(&r, format, length);
    arguments(format, args, &r, &count);
    mx_record_end(&r);
    return count;
}

int __mx_printf(const char *format, ...)
{
    va_list args;
    int count;

    va_start(args, format);
    count = __mx_vprintf(format, args);
    va_end(args);
    return count;
}

/* The message; the caller ends the kernel. */
void __mx_assert(const char *expression, const char *file, unsigned line,
                 const char *function)
{
    const char *const text[] = {expression, file, function};
    uint64_t length[3], bytes = 8 + 8 * MC_WHERE_WORDS;
    MxRecord r;

    for (int i = 0; i < 3; i++) {
        length[i] = text[i] ? mx_length(text[i], MC_ASSERT_STRING) : 0;
        bytes += mx_string_bytes(length[i]);
    }
    if (!mx_record_begin(&r, MC_RECORD_ASSERT, bytes, 1)) {
        return;
    }
    mx_record_put(&r, line);
    mx_record_where(&r);
    for (int i = 0; i < 3; i++) {
        mx_record_string(&r, text[i], length[i]);
    }
    mx_record_end(&r);
}
