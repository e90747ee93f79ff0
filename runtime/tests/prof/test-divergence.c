/* SPDX-License-Identifier: MIT */
/*
 * PROGRAM (divergence.maca): warps of compiled kernels take about as many
 * instructions as the reference says (ideal.h), which has the steps of each
 * lane from a profile that samples every instruction.
 */
#include <elf.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "ideal.h"
#include "mxgpu/packets.h"
#include "mxgpu/regs.h"
#include "profile/profile_format.h"

/* Per cent: at least as many lanes are active in the mean; of most it is the
 * nature of the program how many these are. */
static const struct Kernel {
    const char *name;
    unsigned lanes;
} kernels[] = {
    { "chain", 35 },  { "trip", 55 },   { "kept_trip", 55 }, { "table", 10 },
    { "tests", 10 },  { "again", 30 },  { "leave", 15 },     { "returns", 10 },
    { "ends", 10 },   { "queens", 5 },  { "shapes", 40 },    { "entries", 30 },
    { "nested", 30 }, { "sorted", 30 },
};

/* Per cent that the reference takes of what is executed. */
#define IDEAL_MIN 98

typedef struct Launch {
    const struct mc_profile_work *work;
    const struct mc_profile_done *done;
    const struct mxgpu_profile *figures;
    const uint64_t *samples;
} Launch;

static const char *program;
static gchar *recorded;
static gsize recorded_size;

/* ---- the file */

static const struct mc_profile_entry *entry_at(gsize *at)
{
    const struct mc_profile_entry *e = (const void *)(recorded + *at);

    if (*at + sizeof(*e) > recorded_size || !e->size) {
        return NULL;
    }
    *at += e->size;
    return e;
}

static const struct mc_profile_kernel *find_kernel(const char *name)
{
    const struct mc_profile_entry *e;

    for (gsize at = sizeof(struct mc_profile_head); (e = entry_at(&at));) {
        const struct mc_profile_kernel *k = (const void *)(e + 1);

        if (e->type == MC_PROFILE_KERNEL && strcmp(k->name, name) == 0) {
            return k;
        }
    }
    g_error("no kernel %s", name);
}

static const struct mc_profile_module *module_of(
    const struct mc_profile_kernel *k)
{
    const struct mc_profile_entry *e;

    for (gsize at = sizeof(struct mc_profile_head); (e = entry_at(&at));) {
        const struct mc_profile_module *m = (const void *)(e + 1);

        if (e->type == MC_PROFILE_MODULE && m->id == k->module) {
            return m;
        }
    }
    g_error("no module of %s", k->name);
}

static const struct mc_profile_done *done_of(const struct mc_profile_work *w)
{
    const struct mc_profile_entry *e;

    for (gsize at = sizeof(struct mc_profile_head); (e = entry_at(&at));) {
        const struct mc_profile_done *d = (const void *)(e + 1);

        if (e->type == MC_PROFILE_DONE && d->context == w->context &&
            d->queue == w->queue && d->value == w->value) {
            return d;
        }
    }
    g_error("a launch without a record");
}

/* The launches of a kernel, in order. */
static GArray *launches_of(const struct mc_profile_kernel *k)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(Launch));
    const struct mc_profile_entry *e;

    for (gsize at = sizeof(struct mc_profile_head); (e = entry_at(&at));) {
        const struct mc_profile_work *w = (const void *)(e + 1);
        Launch l = { .work = w };

        if (e->type != MC_PROFILE_WORK || w->type != MXGPU_PKT_DISPATCH ||
            w->desc != k->desc) {
            continue;
        }
        l.done = done_of(w);
        l.figures = (const void *)(l.done + 1);
        l.samples = (const void *)((const char *)(l.figures + 1) +
                                   l.figures->units *
                                       sizeof(struct mxgpu_profile_unit));
        g_array_append_val(all, l);
    }
    return all;
}

/* ---- steps */

static uint32_t code_at(const struct mc_profile_module *m, uint64_t pc)
{
    const char *elf = (const char *)(m + 1);
    const Elf64_Ehdr *eh = (const void *)elf;
    const Elf64_Phdr *ph = (const void *)(elf + eh->e_phoff);
    uint64_t at = pc - m->base + m->link;
    uint32_t insn = 0;

    for (unsigned i = 0; i < eh->e_phnum; i++) {
        if (ph[i].p_type == PT_LOAD && at >= ph[i].p_vaddr &&
            at + 2 <= ph[i].p_vaddr + ph[i].p_filesz) {
            memcpy(&insn, elf + ph[i].p_offset + (at - ph[i].p_vaddr),
                   MIN(4, ph[i].p_vaddr + ph[i].p_filesz - at));
            return insn;
        }
    }
    g_error("no code at %lx", (unsigned long)at);
}

/* What the one thread of a launch did. */
static GArray *steps_of(const struct mc_profile_module *m, const Launch *l)
{
    GArray *steps = g_array_new(FALSE, FALSE, sizeof(uint64_t));

    g_assert_cmpuint(l->figures->samples, <=, l->done->room);
    g_assert_cmpuint(l->figures->samples, ==,
                     l->figures->counter[MXGPU_COUNTER_WARP_INSTRUCTIONS]);
    for (unsigned i = 0; i < l->figures->samples; i++) {
        uint64_t pc = MXGPU_SAMPLE_PC(l->samples[i]);
        uint64_t step = ideal_step(pc, code_at(m, pc));

        g_array_append_val(steps, step);
    }
    return steps;
}

/* ---- the test */

static void record(void)
{
    g_autofree char *path = NULL;
    char *argv[] = { (char *)program, NULL };
    char **env = g_get_environ();
    int fd = g_file_open_tmp("mxgpu-divergence-XXXXXX", &path, NULL);
    int status = -1;

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    env = g_environ_setenv(env, "MXGPU_PROFILE", path, TRUE);
    env = g_environ_setenv(env, "MXGPU_PROFILE_OPTIONS",
                           "interval=1,samples=20000,exact", TRUE);
    g_assert_true(g_spawn_sync(NULL, argv, env, G_SPAWN_DEFAULT, NULL, NULL,
                               NULL, NULL, &status, NULL));
    g_assert_cmpint(status, ==, 0); /* alone and together the same */
    g_assert_true(g_file_get_contents(path, &recorded, &recorded_size, NULL));
    unlink(path);
    g_strfreev(env);
}

static void test_kernel(gconstpointer opaque)
{
    const struct Kernel *k = opaque;
    const struct mc_profile_kernel *found = find_kernel(k->name);
    g_autoptr(GArray) launches = launches_of(found);
    GArray *lanes[IDEAL_LANES];
    uint64_t executed, sum = 0, ideal;

    g_assert_cmpuint(launches->len, ==, 1 + IDEAL_LANES);
    for (unsigned i = 0; i < IDEAL_LANES; i++) {
        lanes[i] = steps_of(module_of(found),
                            &g_array_index(launches, Launch, i + 1));
        sum += lanes[i]->len;
    }
    executed = g_array_index(launches, Launch, 0)
                   .figures->counter[MXGPU_COUNTER_WARP_INSTRUCTIONS];
    ideal = ideal_warp_instructions(lanes, IDEAL_LANES);
    g_test_message("%s: %lu instructions, %.1f %% of the lanes; the reference "
                   "takes %lu, %.1f %% of that", k->name,
                   (unsigned long)executed,
                   100.0 * (double)sum / (double)(executed * IDEAL_LANES),
                   (unsigned long)ideal,
                   100.0 * (double)ideal / (double)executed);
    /* lanes have executed what they execute alone, no more and no less */
    g_assert_cmpuint(g_array_index(launches, Launch, 0)
                         .figures->counter[MXGPU_COUNTER_LANE_INSTRUCTIONS],
                     ==, sum);
    g_assert_cmpuint(100 * sum, >=, k->lanes * executed * IDEAL_LANES);
    g_assert_cmpuint(100 * ideal, >=, IDEAL_MIN * executed);
    for (unsigned i = 0; i < IDEAL_LANES; i++) {
        g_array_unref(lanes[i]);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    program = argv[1];
    record();
    for (unsigned i = 0; i < G_N_ELEMENTS(kernels); i++) {
        g_autofree char *path = g_strdup_printf("/divergence/%s",
                                                kernels[i].name);

        g_test_add_data_func(path, &kernels[i], test_kernel);
    }
    return g_test_run();
}
