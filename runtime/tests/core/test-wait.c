/* SPDX-License-Identifier: MIT */
#include <glib.h>

#include "core/queue/wait.h"

/* How long waiters spin follows what sleeps cost. */
static void test_spin(void)
{
    unsigned ns = MC_SPIN_MIN_NS;

    /* Short sleeps: longer each time, up to the most. */
    for (unsigned want = MC_SPIN_MIN_NS * 2; want < MC_SPIN_MAX_NS; want *= 2) {
        ns = mc_wait_spin_next(ns, MC_SPIN_MAX_NS);
        g_assert_cmpuint(ns, ==, want);
    }
    for (int i = 0; i < 3; i++) {
        ns = mc_wait_spin_next(ns, 1);
        g_assert_cmpuint(ns, ==, MC_SPIN_MAX_NS);
    }
    /* Long ones: spinning was in vain. */
    ns = mc_wait_spin_next(ns, MC_SPIN_MAX_NS + 1);
    g_assert_cmpuint(ns, ==, MC_SPIN_MAX_NS / 2);
    for (int i = 0; i < 10; i++) {
        ns = mc_wait_spin_next(ns, UINT64_MAX);
    }
    g_assert_cmpuint(ns, ==, MC_SPIN_MIN_NS);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wait/spin", test_spin);
    return g_test_run();
}
