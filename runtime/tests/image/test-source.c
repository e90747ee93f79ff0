/* SPDX-License-Identifier: MIT */
/* Names of kernels in messages: symbols are whatever an image says. */
#include "image/source.h"

#include <dlfcn.h>
#include <glib.h>
#include <string.h>

static void named(const char *symbol, const char *want)
{
    char text[1024];

    mc_source_name(symbol, text, sizeof(text));
    g_assert_cmpstr(text, ==, want);
}

static void test_names(void)
{
    char text[8];

    named("_Z5scalePffi", "scale(float*, float, int)");
    named("_Z4sortI4PairIifEEvPT_S3_i",
          "void sort<Pair<int, float> >(Pair<int, float>*, "
          "Pair<int, float>*, int)");
    named("_Z3runIJiiEEvDpT_", "void run<int, int>(int, int)");
    named("scale", "scale");
    named("_Z", "_Z");
    named("_Znonsense(", "_Znonsense(");
    mc_source_name("_Z5scalePffi", text, sizeof(text));
    g_assert_cmpstr(text, ==, "scale(f");
}

/* A reference to what was said before: the number of it is one less. */
static void append_reference(GString *s, unsigned n)
{
    if (n) {
        g_string_append_printf(s, "S%c_", n <= 10 ? '0' + n - 1 : 'A' + n - 11);
    } else {
        g_string_append(s, "S_");
    }
}

/* Each argument is a template of twice the one before: 2^levels names. */
static void test_doubling(void)
{
    for (unsigned levels = 12; levels < 32; levels++) {
        GString *s = g_string_new("_Z1f1A1XIS_S_E");

        for (unsigned i = 0; i < levels; i++) {
            g_string_append(s, "S0_I");
            append_reference(s, i + 2);
            append_reference(s, i + 2);
            g_string_append_c(s, 'E');
        }
        named(s->str, s->str);
        g_string_free(s, TRUE);
    }
}

/* Packs within packs: 200^levels types. */
static void test_packs(void)
{
    for (unsigned levels = 2; levels < 8; levels++) {
        g_autofree char *args = g_strnfill(200, 'i');
        GString *s = g_string_new("_Z1fIJ");

        g_string_append_printf(s, "%sEEv", args);
        for (unsigned i = 0; i < levels; i++) {
            g_string_append(s, "Dp1XIT_");
        }
        for (unsigned i = 0; i < levels; i++) {
            g_string_append(s, "E");
        }
        named(s->str, s->str);
        g_string_free(s, TRUE);
    }
}

static void test_deep(void)
{
    GString *s = g_string_new("_Z1f");

    for (unsigned i = 0; i < 1 << 20; i++) {
        g_string_append_c(s, 'P');
    }
    g_string_append_c(s, 'i');
    char *text = g_malloc(s->len + 1);
    mc_source_name(s->str, text, s->len + 1);
    g_assert_cmpstr(text, ==, s->str);
    g_free(text);
    g_string_free(s, TRUE);
}

/* Names of random parts: the library copes with what it is given. */
static void test_random(void)
{
    static const char *const parts[] = {
        "S_", "S0_", "S1_", "T_", "T0_", "Dp", "sp", "1A", "3abc", "I", "E",
        "J", "N", "P", "R", "K", "i", "v", "F", "L", "Lj5E", "X", "C1", "D0",
        "cv", "pl", "Ul", "Ut_", "Z", "St", "Sa", "DT", "sZ", "fp_", "A5_", "M",
    };
    GRand *rng = g_rand_new_with_seed(3);
    char text[256];

    for (unsigned round = 0; round < 50000; round++) {
        GString *s = g_string_new("_Z1f");
        unsigned n = g_rand_int(rng) % 80;

        for (unsigned i = 0; i < n; i++) {
            g_string_append(s, parts[g_rand_int(rng) % G_N_ELEMENTS(parts)]);
        }
        mc_source_name(s->str, text, sizeof(text));
        g_assert_cmpuint(strnlen(text, sizeof(text)), <, sizeof(text));
        g_string_free(s, TRUE);
    }
    g_rand_free(rng);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    /* as a program in C++ has it */
    g_assert_nonnull(dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL));
    g_test_add_func("/source/names", test_names);
    g_test_add_func("/source/doubling", test_doubling);
    g_test_add_func("/source/packs", test_packs);
    g_test_add_func("/source/deep", test_deep);
    g_test_add_func("/source/random", test_random);
    return g_test_run();
}
