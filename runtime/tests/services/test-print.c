/* SPDX-License-Identifier: MIT */
/* Text from the records of printf, and from what is no good record. */
#include "services/print.h"

#include <glib.h>
#include <stdlib.h>

#include "device/fifo.h"
#include "device/format.h"
#include "fuzz/fuzz-print.h"

typedef struct Record {
    uint64_t word[512];
    size_t count;
} Record;

static void begin(Record *r, unsigned kind)
{
    r->word[0] = (uint64_t)kind << 32;
    r->count = 1;
}

static void number(Record *r, uint64_t word)
{
    r->word[r->count++] = word;
}

static void real(Record *r, double value)
{
    uint64_t word;

    memcpy(&word, &value, 8);
    number(r, word);
}

static void string(Record *r, const char *s)
{
    size_t length = strlen(s);

    number(r, length);
    memcpy(&r->word[r->count], s, length);
    r->count += (length + 7) / 8;
}

static void printed(const Record *r, size_t words, const char *out_want,
                    const char *err_want)
{
    g_autofree char *out_text = NULL, *err_text = NULL;
    char *out = NULL, *err = NULL;
    size_t out_size, err_size;
    FILE *o = open_memstream(&out, &out_size);
    FILE *e = open_memstream(&err, &err_size);
    uint64_t *exact = g_memdup2(r->word, words * 8);

    mc_print_record(exact, words, o, e);
    fclose(o);
    fclose(e);
    g_free(exact);
    out_text = out;
    err_text = err;
    g_assert_cmpstr(out, ==, out_want);
    g_assert_cmpstr(err, ==, err_want);
}

static void test_arguments(void)
{
    Record r;

    begin(&r, MC_RECORD_PRINTF);
    string(&r, "%d|%5s|%-6.2f|%*d|%.*f|%hhx|%c|%%|%lu");
    number(&r, (uint64_t)-3);
    string(&r, "abc");
    real(&r, 2.5);
    number(&r, 4);
    number(&r, 7);
    number(&r, 1);
    real(&r, 0.25);
    number(&r, 0x1ff);
    number(&r, 'z');
    number(&r, UINT64_MAX);
    printed(&r, r.count, "-3|  abc|2.50  |   7|0.2|ff|z|%|18446744073709551615",
            "");
}

/* Characters of each length, the last ones of them, and what is none. */
static void test_wide(void)
{
    static const uint32_t wide[] = {'a', 0x7f, 0x80, 0x7ff, 0x800, 0xffff,
                                    0x10000, 0x10ffff, 0x110000, 0xd800,
                                    0xdfff, UINT32_MAX};
    Record r;

    begin(&r, MC_RECORD_PRINTF);
    string(&r, "%lc%lc%lc%lc%lc%lc%lc%lc|%lc%lc%lc%lc|%3lc|%-3lc|%ls|%8ls|");
    for (unsigned i = 0; i < G_N_ELEMENTS(wide); i++) {
        number(&r, wide[i]);
    }
    number(&r, 0xe9);
    number(&r, 'x');
    string(&r, "caf\u00e9");
    string(&r, "caf\u00e9");
    printed(&r, r.count,
            "a\x7f\xc2\x80\u07ff\u0800\uffff\U00010000\U0010ffff|"
            "\ufffd\ufffd\ufffd\ufffd| \u00e9|x  |caf\u00e9|   caf\u00e9|", "");
}

/* A record that ends early, in each of its words. */
static void test_truncated(void)
{
    Record r;

    begin(&r, MC_RECORD_PRINTF);
    string(&r, "%d %s %f\n");
    number(&r, 1);
    string(&r, "long enough for words");
    real(&r, 1);
    for (size_t words = 1; words <= r.count; words++) {
        FILE *sink = fopen("/dev/null", "w");
        uint64_t *exact = g_memdup2(r.word, words * 8);

        mc_print_record(exact, words, sink, sink);
        g_free(exact);
        fclose(sink);
    }
    printed(&r, 1, "", "");
    printed(&r, 2, "", "");
    printed(&r, 4, "0  0.000000\n", "");
    r.word[5] = 1; /* the argument; the string says it is longer than all */
    r.word[6] = UINT64_MAX - 1;
    r.word[4] = 1;
    r.word[5] = UINT64_MAX - 1;
    printed(&r, 7, "1 \xfe\xff\xff\xff\xff\xff\xff\xff 0.000000\n", "");
}

/* Formats that a host's printf would obey, and must not. */
static void test_hostile(void)
{
    Record r;
    g_autofree char *wide = g_strdup_printf("%*d", MC_PRINT_WIDE, 1);
    g_autofree char *name = g_strnfill(MC_PRINT_WIDE, ' ');

    begin(&r, MC_RECORD_PRINTF);
    string(&r, "%n%hhn%ln|");
    number(&r, 0x10);
    number(&r, 0x20);
    number(&r, 0x30);
    printed(&r, r.count, "|", "");

    begin(&r, MC_RECORD_PRINTF);
    string(&r, "%999999999999d");
    number(&r, 1);
    printed(&r, r.count, wide, "");

    begin(&r, MC_RECORD_PRINTF);
    string(&r, "%*s");
    number(&r, INT32_MAX);
    string(&r, "");
    printed(&r, r.count, name, "");

    begin(&r, MC_RECORD_PRINTF);
    string(&r, "%Lf %m %1$s %d");
    number(&r, 1);
    printed(&r, r.count, "%Lf %m %1$s %d", "");

    begin(&r, MC_RECORD_PRINTF);
    string(&r, "ends in %");
    printed(&r, r.count, "ends in %", "");
    begin(&r, MC_RECORD_PRINTF);
    string(&r, "%-+ #0*.*ll");
    printed(&r, r.count, "%-+ #0*.*ll", "");
}

static void test_messages(void)
{
    Record r;

    begin(&r, MC_RECORD_ASSERT);
    number(&r, 42);
    number(&r, 1 | 2ull << 32);
    number(&r, 3 | 4ull << 32);
    number(&r, 5 | 6ull << 32);
    string(&r, "a < b");
    string(&r, "file.maca");
    string(&r, "void f()");
    printed(&r, r.count, "",
            "file.maca:42: void f(): block: [1,2,3], thread: [4,5,6] "
            "Assertion `a < b` failed.\n");
    begin(&r, MC_RECORD_FREE);
    number(&r, 0xabc);
    number(&r, 1);
    number(&r, 2ull << 32);
    number(&r, 0);
    printed(&r, r.count, "",
            "free: 0xabc is not memory that malloc gave: block: [1,0,0], "
            "thread: [2,0,0]\n");
    begin(&r, 77);
    printed(&r, r.count, "", "");
}

/* The same walk over a format on both sides: as many arguments. */
static void test_formats(void)
{
    static const struct {
        const char *text;
        McArg arg;
        char length;
    } formats[] = {
        {"d", MC_ARG_INT, 0},      {"hhd", MC_ARG_INT, 'H'},
        {"hu", MC_ARG_INT, 'h'},   {"ld", MC_ARG_LONG, 'l'},
        {"llx", MC_ARG_LONG, 'q'}, {"zu", MC_ARG_LONG, 'z'},
        {"jd", MC_ARG_LONG, 'j'},  {"ti", MC_ARG_LONG, 't'},
        {"lf", MC_ARG_DOUBLE, 'l'}, {"5.2e", MC_ARG_DOUBLE, 0},
        {"s", MC_ARG_STRING, 0},   {"p", MC_ARG_POINTER, 0},
        {"n", MC_ARG_POINTER, 0},  {"%", MC_ARG_NONE, 0},
        {"lc", MC_ARG_WIDE, 'l'},  {"k", MC_ARG_BAD, 0},
        {"ls", MC_ARG_WIDE_STRING, 'l'}, {"lls", MC_ARG_BAD, 'q'},
        {"hc", MC_ARG_BAD, 'h'},
        {"", MC_ARG_BAD, 0},       {"hf", MC_ARG_BAD, 'h'},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
        McFormat f;
        const char *end = mc_format_parse(formats[i].text, &f);

        g_assert_cmpint(f.arg, ==, formats[i].arg);
        g_assert_cmpint(f.length, ==, formats[i].length);
        g_assert_true(end == formats[i].text + strlen(formats[i].text));
    }
}

static void test_fuzz(void)
{
    static const char letters[] = "%%%%*.0123456789-+ #hljztLdiouxXcspneEfFgGaA";
    FILE *sink = fopen("/dev/null", "w");
    uint8_t data[256];
    uint32_t seed = 1;

    for (int round = 0; round < 20000; round++) {
        size_t size;

        for (size_t i = 0; i < sizeof(data); i++) {
            seed = seed * 1664525 + 1013904223;
            data[i] = round % 2 ? seed >> 24
                                : (uint8_t)letters[(seed >> 16) %
                                                   (sizeof(letters) - 1)];
        }
        seed = seed * 1664525 + 1013904223;
        size = seed >> 24;
        if (size >= 16 && round % 4 == 0) { /* a plausible format */
            uint64_t length = seed >> 12 & 63;

            memcpy(data + 1 * (size % 8 != 0), &length, 8);
        }
        fuzz_print(data, size, sink);
    }
    fclose(sink);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/print/arguments", test_arguments);
    g_test_add_func("/print/wide", test_wide);
    g_test_add_func("/print/truncated", test_truncated);
    g_test_add_func("/print/hostile", test_hostile);
    g_test_add_func("/print/messages", test_messages);
    g_test_add_func("/print/formats", test_formats);
    g_test_add_func("/print/fuzz", test_fuzz);
    return g_test_run();
}
