/* SPDX-License-Identifier: MIT */
/* What mx-smi makes of fdinfo, and utilisation from two looks. */
#include <glib.h>
#include <string.h>

#include "procs.h"

static const char good[] =
    "pos:\t0\nflags:\t02100002\n"
    "drm-driver:\tmxgpu\ndrm-client-id:\t42\ndrm-pdev:\t0000:01:00.0\n"
    "drm-engine-compute:\t1000 ns\ndrm-engine-copy:\t500 ns\n"
    "drm-engine-capacity-compute:\t4\n"
    "drm-total-vram:\t100 MiB\ndrm-memory-vram:\t8 KiB\n"
    "drm-resident-vram:\t3 MiB\ndrm-memory-system:\t9 KiB\n";

static void test_good(void)
{
    MxClient c = { 0 };

    g_assert_true(mx_procs_parse(good, &c));
    g_assert_cmpstr(c.bus, ==, "0000:01:00.0");
    g_assert_cmpuint(c.id, ==, 42);
    g_assert_cmpuint(c.engines, ==, 2);
    g_assert_cmpstr(c.engine[0].name, ==, "compute");
    g_assert_cmpuint(c.engine[0].busy_ns, ==, 1000);
    g_assert_cmpuint(c.engine[0].capacity, ==, 4);
    g_assert_cmpuint(c.engine[1].capacity, ==, 1);
    g_assert_true(c.has_memory);
    g_assert_cmpuint(c.memory, ==, 3 << 20); /* resident counts, in any order */
}

static void test_memory(void)
{
    MxClient c = { 0 }, total = { 0 };

    g_assert_true(mx_procs_parse("drm-driver: mxgpu\ndrm-memory-vram0: 1 KiB\n"
                                 "drm-memory-vram1: 2 KiB\n"
                                 "drm-total-vram0: 70 KiB\n", &c));
    g_assert_cmpuint(c.memory, ==, 3072);
    g_assert_true(mx_procs_parse("drm-driver: mxgpu\ndrm-total-vram: 17\n",
                                 &total));
    g_assert_cmpuint(total.memory, ==, 17);
}

/* Bytes of others: no line of it may do more than be ignored. */
static void test_foreign(void)
{
    char many[8192] = "drm-driver:\tmxgpu\n", line[200];
    MxClient c = { 0 };

    g_assert_false(mx_procs_parse("", &c));
    g_assert_false(mx_procs_parse("drm-driver:\ti915\n", &c));
    g_assert_false(mx_procs_parse("drm-driver", &c));
    for (unsigned i = 0; i < 100; i++) {
        g_snprintf(line, sizeof(line), "drm-engine-e%u: %u ns\n", i, i);
        g_strlcat(many, line, sizeof(many));
    }
    memset(line, 'x', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\0';
    memcpy(line, "drm-engine-", 11);
    g_strlcat(many, line, sizeof(many));
    g_strlcat(many, ": 1 ns\ndrm-engine-:3 ns\n:\n::\n"
              "drm-pdev: 0000:01:00.0-and-more-than-fits\n"
              "drm-client-id: -1\ndrm-resident-vram: 99999999999999999999\n"
              "drm-memory-vram: 18446744073709551615 GiB\n"
              "drm-total-vram: 5 parsecs\n"
              "drm-engine-capacity-e0: 0\n", sizeof(many));
    g_assert_true(mx_procs_parse(many, &c));
    g_assert_cmpuint(c.engines, ==, MX_ENGINES);
    g_assert_cmpuint(c.engine[0].capacity, ==, 1);
    g_assert_cmpstr(c.bus, ==, "0000:01:00.0");
    g_assert_cmpuint(c.id, ==, 0);
    g_assert_false(c.has_memory);
}

static void test_random(void)
{
    static const char some[] = "\n\t :-09xX\xff" "drm-engine-capacity-";
    GRand *random = g_rand_new_with_seed(1);

    for (unsigned i = 0; i < 20000; i++) {
        char *text = g_strdup(good);
        MxClient c = { 0 };

        for (int n = g_rand_int_range(random, 1, 20); n-- > 0; ) {
            text[g_rand_int_range(random, 0, sizeof(good) - 1)] =
                some[g_rand_int_range(random, 0, sizeof(some))];
        }
        mx_procs_parse(text, &c);
        g_assert_cmpuint(c.engines, <=, MX_ENGINES);
        for (unsigned k = 0; k < c.engines; k++) {
            g_assert_nonnull(memchr(c.engine[k].name, '\0', MX_NAME));
            g_assert_cmpuint(c.engine[k].capacity, >=, 1);
        }
        g_assert_nonnull(memchr(c.bus, '\0', sizeof(c.bus)));
        g_free(text); /* what is read behind its end shows with sanitizers */
    }
    g_rand_free(random);
}

static MxClient client(unsigned pid, uint64_t id, const char *bus,
                       uint64_t compute)
{
    MxClient c = { .pid = pid, .id = id, .driver = "mxgpu" };

    g_strlcpy(c.bus, bus, sizeof(c.bus));
    c.engines = 1;
    c.engine[0] = (MxEngine){ "compute", compute, 2 };
    c.has_memory = true;
    c.memory = 4096;
    return c;
}

static void test_use(void)
{
    MxClient old[] = { client(1, 7, "a", 1000), client(1, 8, "a", 5000) };
    MxClient new[] = {
        client(1, 7, "a", 1500), client(1, 8, "a", 0), client(1, 9, "b", 9e9),
        client(2, 7, "a", 1500), client(3, 10, "a", 100),
    };
    MxProcs before = { 1000, old, 2 }, now = { 2000, new, 5 };
    uint64_t memory;
    MxUse use;

    /* 500 of client 7, once; 8 was reset; 10 is new; of two engines */
    mx_procs_use(&before, &now, "a", &use);
    g_assert_cmpuint(use.engines, ==, 1);
    g_assert_cmpfloat_with_epsilon(use.engine[0].percent, 30, 0.001);
    g_assert_cmpfloat_with_epsilon(use.most, 30, 0.001);
    mx_procs_use(&before, &now, "b", &use);
    g_assert_cmpfloat_with_epsilon(use.most, 100, 0.001);
    mx_procs_use(&now, &now, "a", &use);
    g_assert_cmpfloat_with_epsilon(use.most, 0, 0.001);
    mx_procs_use(&before, &now, "c", &use);
    g_assert_cmpuint(use.engines, ==, 0);

    g_assert_true(mx_procs_memory(&now, "a", &memory));
    g_assert_cmpuint(memory, ==, 3 * 4096);
    g_assert_false(mx_procs_memory(&now, "c", &memory));
    g_assert_cmpuint(mx_procs_of(&now, "a", 0)->pid, ==, 1);
    g_assert_cmpuint(mx_procs_of(&now, "a", 2)->pid, ==, 3);
    g_assert_null(mx_procs_of(&now, "a", 3));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fdinfo", test_good);
    g_test_add_func("/fdinfo/memory", test_memory);
    g_test_add_func("/fdinfo/foreign", test_foreign);
    g_test_add_func("/fdinfo/random", test_random);
    g_test_add_func("/use", test_use);
    return g_test_run();
}
