/* SPDX-License-Identifier: MIT */
/*
 * Litmus tests of docs/memory-model.md: lanes of a warp, warps of a block and
 * blocks on units that host threads of their own drive. What the model forbids
 * must not be seen, over many rounds.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "simt_host.h"

#define UNITS  4
#define TEAMS  64
#define VARS   (HOST_DATA_VA + (32 << 20))
#define RESULT (HOST_DATA_VA + (96 << 20))
#define GATES  (HOST_DATA_VA + (160 << 20))

typedef struct Round {
    uint64_t x, y;         /* what they were in the end */
    const uint64_t (*r)[2]; /* of each role */
} Round;

typedef bool Forbidden(const Round *v, unsigned roles);

typedef struct Litmus {
    const char *name;
    unsigned roles;
    Forbidden *forbidden;
} Litmus;

static const char *elf;

/* ---- what must not be seen */

static bool message(const Round *v, unsigned roles)
{
    return v->r[1][0] == 1 && v->r[1][1] == 0;
}

static bool buffered(const Round *v, unsigned roles)
{
    return v->r[0][0] == 0 && v->r[1][0] == 0;
}

static bool foreseen(const Round *v, unsigned roles)
{
    return v->r[0][0] == 1 && v->r[1][0] == 1;
}

static bool disagree(const Round *v, unsigned roles)
{
    return v->r[2][0] == 1 && v->r[2][1] == 0 && v->r[3][0] == 1 &&
           v->r[3][1] == 0;
}

static bool backward(const Round *v, unsigned roles)
{
    return v->r[1][0] == 1 && v->r[1][1] == 0;
}

/*
 * Each thread stores its own number and reads twice. Having seen the other's
 * store it does not see its own again, and who stored last reads that.
 */
static bool own_again(const Round *v, unsigned roles)
{
    for (unsigned i = 0; i < 2; i++) {
        if (v->r[i][0] == 0 || v->r[i][1] == 0 ||
            (v->r[i][0] != i + 1 && v->r[i][1] == i + 1)) {
            return true;
        }
    }
    return v->r[v->x - 1][1] != v->x;
}

static bool both_first(const Round *v, unsigned roles)
{
    return v->x == 1 && v->y == 1;
}

static bool lost(const Round *v, unsigned roles)
{
    return v->x != 3 * roles;
}

static bool torn(const Round *v, unsigned roles)
{
    for (unsigned i = 0; i < 2; i++) {
        uint64_t r = v->r[1][i];

        if (r != 0 && r != 0x1111111111111111 && r != 0x2222222222222222) {
            return true;
        }
    }
    return v->r[1][1] < v->r[1][0];
}

static const Litmus tests[] = {
    {"mp_fence", 2, message},   {"mp_acquire", 2, message},
    {"mp_amo", 2, message},     {"sb_fence", 2, buffered},
    {"sb_amo", 2, buffered},    {"lb_fence", 2, foreseen},
    {"iriw_fence", 4, disagree}, {"iriw_amo", 4, disagree},
    {"corr", 2, backward},      {"cowr", 2, own_again},
    {"two_writes", 2, both_first}, {"atomicity", 4, lost},
    {"single_copy", 2, torn},
};

/* ---- running */

typedef struct Unit {
    SimtHost *host;
    unsigned cu;
} Unit;

/* Turns of a few instructions: units interleave also where there are fewer
 * processors than units, and run side by side where there are enough. */
static void *drive(void *opaque)
{
    const Unit *u = opaque;
    uint32_t random = u->cu + 1;

    while (!atomic_load(&u->host->done)) {
        random = random * 1664525 + 1013904223;
        mxgpu_simt_run(u->host->simt, u->cu, 1 + (random >> 16) % 60);
        if (random >> 29 == 0) {
            sched_yield();
        }
    }
    return NULL;
}

static void run(SimtHost *h, const MxgpuDispatch *d, unsigned count)
{
    pthread_t threads[UNITS];
    Unit units[UNITS];

    h->done = 0;
    g_assert_cmpint(mxgpu_simt_start(h->simt, 0, d), ==, MXGPU_FAULT_NONE);
    for (unsigned i = 0; i < count; i++) {
        units[i] = (Unit){h, i};
        g_assert_cmpint(pthread_create(&threads[i], NULL, drive, &units[i]), ==,
                        0);
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    g_assert_cmpint(mxgpu_simt_fault(h->simt, 0).code, ==, MXGPU_FAULT_NONE);
}

typedef enum Place { LANES_PLACE, WARPS_PLACE, BLOCKS_PLACE, PLACES } Place;

static void check_place(SimtHost *h, const Litmus *l, Place place)
{
    static const char *const names[] = { "lanes", "warps", "units" };
    /* few rounds of many teams for lanes: they are in step anyway */
    unsigned rounds = place == BLOCKS_PLACE ? 1500 : 30;
    unsigned teams = place == LANES_PLACE ? TEAMS / l->roles
                     : place == WARPS_PLACE ? TEAMS : 4;
    uint64_t *args = simt_host_data(h, HOST_DATA_VA);
    uint64_t *vars = simt_host_data(h, VARS);
    uint64_t *results = simt_host_data(h, RESULT);
    unsigned seen = 0, mixed = 0;
    MxgpuDispatch d;

    args[0] = VARS;
    args[1] = RESULT;
    args[2] = GATES;
    args[3] = rounds;
    args[4] = l->roles;
    args[5] = place;
    memset(vars, 0, rounds * teams * 128ul);
    memset(results, 0, rounds * teams * 64ul);
    memset(simt_host_data(h, GATES), 0, TEAMS * 64);
    d = simt_host_dispatch(simt_host_symbol(h, l->name),
                           place == BLOCKS_PLACE ? l->roles : 1,
                           place == LANES_PLACE   ? TEAMS
                           : place == WARPS_PLACE ? TEAMS * l->roles
                                                  : teams);
    run(h, &d, place == BLOCKS_PLACE ? l->roles : 1);
    for (unsigned i = 0; i < rounds * teams; i++) {
        Round v = {vars[16 * i], vars[16 * i + 8],
                   (const uint64_t(*)[2])(results + 8 * i)};

        seen += l->forbidden(&v, l->roles);
        mixed += memcmp(v.r, results, 64) != 0;
    }
    g_test_message("%s: %u rounds, %u not like the first", names[place],
                   rounds * teams, mixed);
    g_assert_cmpuint(seen, ==, 0);
}

static void check(gconstpointer data)
{
    const Litmus *l = data;
    SimtHost *h = simt_host_new(UNITS);

    simt_host_load(h, elf);
    for (Place place = 0; place < PLACES; place++) {
        check_place(h, l, place);
    }
    simt_host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    elf = argv[1];
    for (unsigned i = 0; i < G_N_ELEMENTS(tests); i++) {
        g_autofree char *path = g_strdup_printf("/litmus/%s", tests[i].name);

        g_test_add_data_func(path, &tests[i], check);
    }
    return g_test_run();
}
