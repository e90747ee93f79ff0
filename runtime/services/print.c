/* SPDX-License-Identifier: MIT */
#include "print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "device/fifo.h"
#include "device/format.h"

/* What is left of a record. */
typedef struct Reader {
    const uint64_t *word;
    size_t left;
} Reader;

/* 0 behind the end, as for an argument that was not written. */
static uint64_t get(Reader *r)
{
    if (!r->left) {
        return 0;
    }
    r->left--;
    return *r->word++;
}

/* Bytes of a string, as many as are there; NULL for a null pointer. */
static const char *get_string(Reader *r, size_t *length)
{
    uint64_t said = get(r);
    const char *s = (const char *)r->word;
    size_t words;

    *length = 0;
    if (said == MC_STRING_NULL) {
        return NULL;
    }
    *length = said < r->left * 8 ? said : r->left * 8;
    words = (*length + 7) / 8;
    r->word += words;
    r->left -= words;
    return s;
}

static void pad(FILE *out, int count)
{
    while (count-- > 0) {
        putc(' ', out);
    }
}

static void put_string(FILE *out, const McFormat *f, const char *s,
                       size_t length)
{
    size_t width = f->width > 0 ? f->width : 0;

    if (!s) { /* none of it where not all has room */
        s = "(null)";
        length = f->precision >= 0 && f->precision < 6 ? 0 : 6;
    }
    if (f->precision >= 0 && length > (size_t)f->precision) {
        length = f->precision;
    }
    if (!(f->flags & MC_FORMAT_MINUS) && width > length) {
        pad(out, width - length);
    }
    fwrite(s, 1, length, out);
    if ((f->flags & MC_FORMAT_MINUS) && width > length) {
        pad(out, width - length);
    }
}

/* A format for the host's printf, of what was understood: flags, width,
 * precision, length, conversion. */
static void make_spec(char *spec, const McFormat *f, const char *length)
{
    static const char flags[] = "-+ #0";
    char *p = spec;

    *p++ = '%';
    for (unsigned i = 0; i < 5; i++) {
        if (f->flags >> i & 1) {
            *p++ = flags[i];
        }
    }
    if (f->width > 0) {
        p += sprintf(p, "%d", f->width);
    }
    if (f->precision >= 0) {
        p += sprintf(p, ".%d", f->precision);
    }
    sprintf(p, "%s%c", length, f->conversion);
}

static intmax_t as_signed(uint64_t word, char length)
{
    switch (length) {
    case 'H':
        return (signed char)word;
    case 'h':
        return (short)word;
    case 0:
        return (int)word;
    default:
        return (int64_t)word;
    }
}

static uintmax_t as_unsigned(uint64_t word, char length)
{
    switch (length) {
    case 'H':
        return (unsigned char)word;
    case 'h':
        return (unsigned short)word;
    case 0:
        return (unsigned)word;
    default:
        return word;
    }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_number(FILE *out, const McFormat *f, uint64_t word)
{
    char spec[64];
    double real;

    switch (f->conversion) {
    case 'd':
    case 'i':
        make_spec(spec, f, "j");
        fprintf(out, spec, as_signed(word, f->length));
        break;
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        make_spec(spec, f, "j");
        fprintf(out, spec, as_unsigned(word, f->length));
        break;
    case 'c':
        make_spec(spec, f, "");
        fprintf(out, spec, (int)(unsigned char)word);
        break;
    case 'p':
        make_spec(spec, f, "");
        fprintf(out, spec, (void *)(uintptr_t)word);
        break;
    case 'n': /* taken, never written through */
        break;
    default:
        make_spec(spec, f, "");
        memcpy(&real, &word, sizeof(real));
        fprintf(out, spec, real);
        break;
    }
}
#pragma GCC diagnostic pop

static int clamp(int n)
{
    return n > MC_PRINT_WIDE ? MC_PRINT_WIDE : n;
}

/* Of one conversion. */
static void convert(FILE *out, Reader *r, McFormat *f)
{
    if (f->width_arg) {
        int n = (int)get(r);

        if (n < 0) {
            f->flags |= MC_FORMAT_MINUS;
            n = n == INT32_MIN ? INT32_MAX : -n;
        }
        f->width = n;
    }
    if (f->precision_arg) {
        f->precision = (int)get(r);
    }
    f->width = clamp(f->width);
    if (f->arg == MC_ARG_NONE) {
        putc('%', out);
    } else if (f->arg == MC_ARG_STRING || f->arg == MC_ARG_WIDE_STRING) {
        size_t length;
        const char *s = get_string(r, &length);

        put_string(out, f, s, length);
    } else if (f->arg == MC_ARG_WIDE) {
        uint8_t bytes[4];
        unsigned length = mc_utf8((uint32_t)get(r), bytes);

        f->precision = -1;
        put_string(out, f, (const char *)bytes, length);
    } else {
        f->precision = clamp(f->precision);
        put_number(out, f, get(r));
    }
}

static void print_printf(Reader *r, FILE *out)
{
    size_t length;
    const char *given = get_string(r, &length);
    char *format = given ? malloc(length + 1) : NULL;

    if (!format) {
        return;
    }
    memcpy(format, given, length);
    format[length] = 0;
    for (const char *p = format; *p;) {
        McFormat f;
        size_t plain = strcspn(p, "%");
        const char *next;

        fwrite(p, 1, plain, out);
        p += plain;
        if (!*p) {
            break;
        }
        next = mc_format_parse(p + 1, &f);
        if (f.arg == MC_ARG_BAD) {
            fputs(p, out);
            break;
        }
        convert(out, r, &f);
        p = next;
    }
    free(format);
}

static void print_where(Reader *r, FILE *err)
{
    uint64_t a = get(r), b = get(r), c = get(r);

    fprintf(err, "block: [%u,%u,%u], thread: [%u,%u,%u]", (unsigned)a,
            (unsigned)(a >> 32), (unsigned)b, (unsigned)(b >> 32), (unsigned)c,
            (unsigned)(c >> 32));
}

/* A string of an assertion; those are printable text. */
static void print_name(const char *s, size_t length, FILE *err)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = s[i];

        putc(c < ' ' || c == 127 ? '?' : c, err);
    }
}

static void print_assert(Reader *r, FILE *err)
{
    unsigned line = (unsigned)get(r);
    Reader where = *r, tail;
    const char *s[3];
    size_t length[3];

    for (int i = 0; i < MC_WHERE_WORDS; i++) {
        get(r);
    }
    tail = *r;
    for (int i = 0; i < 3; i++) {
        s[i] = get_string(&tail, &length[i]);
    }
    print_name(s[1], length[1], err);
    fprintf(err, ":%u: ", line);
    print_name(s[2], length[2], err);
    fputs(": ", err);
    print_where(&where, err);
    fputs(" Assertion `", err);
    print_name(s[0], length[0], err);
    fputs("` failed.\n", err);
}

unsigned mc_print_record(const uint64_t *record, size_t words, FILE *out,
                         FILE *err)
{
    Reader r = {record, words};
    uint64_t header = get(&r);

    switch (MC_RECORD_KIND(header)) {
    case MC_RECORD_PRINTF:
        print_printf(&r, out);
        return 0;
    case MC_RECORD_ASSERT:
        print_assert(&r, err);
        return 1;
    case MC_RECORD_FREE:
        fprintf(err, "free: 0x%" PRIx64 " is not memory that malloc gave: ",
                get(&r));
        print_where(&r, err);
        putc('\n', err);
        return 1;
    }
    return 0; /* written by a kernel itself */
}
