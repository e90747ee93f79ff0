/* SPDX-License-Identifier: MIT */
/* The end of a profile while other threads are writing to it. */
#include "profile/profile.h"

#include <glib.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile/profile_format.h"

#define THREADS 4
#define ROUNDS  12

/* ---- the process that is profiled: MXGPU_PROFILE names the file */

static char name[3000]; /* entries that often cross pages */
static atomic_uint written;

static gpointer write_entries(gpointer opaque)
{
    while (atomic_fetch_add(&written, 1) < 4000) {
        mc_profile_api(name, 1, mcSuccess);
    }
    return NULL;
}

static int profiled(void)
{
    memset(name, 'x', sizeof(name) - 1);
    for (unsigned i = 0; i < THREADS; i++) {
        g_thread_unref(g_thread_new("writer", write_entries, NULL));
    }
    while (atomic_load(&written) < 100) {
        g_thread_yield();
    }
    mc_profile_end();
    g_usleep(1000); /* writers would be killed by now */
    _exit(0);
}

/* ---- its file */

static void check_file(const char *path)
{
    g_autofree char *data = NULL;
    gsize size, at = sizeof(struct mc_profile_head);
    unsigned count = 0;

    g_assert_true(g_file_get_contents(path, &data, &size, NULL));
    while (at + sizeof(struct mc_profile_entry) <= size) {
        const struct mc_profile_entry *e = (const void *)(data + at);

        if (!e->size) {
            break;
        }
        g_assert_cmpuint(e->type, ==, MC_PROFILE_API);
        g_assert_cmpuint(e->size, >=, sizeof(*e) + sizeof(name));
        g_assert_cmpuint(e->size, <=, size - at);
        at += e->size;
        count++;
    }
    g_assert_cmpuint(count, >, 0);
    g_assert_cmpuint(size - at, <, 4096); /* cut behind the last one */
}

static void test_end(void)
{
    g_autofree char *path = NULL;
    char *argv[] = {(char *)"/proc/self/exe", (char *)"profiled", NULL};
    char **env = g_get_environ();
    int fd = g_file_open_tmp("mxgpu-profile-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    env = g_environ_setenv(env, "MXGPU_PROFILE", path, TRUE);
    for (unsigned round = 0; round < ROUNDS; round++) {
        int status = -1;

        g_assert_true(g_spawn_sync(NULL, argv, env, G_SPAWN_DEFAULT, NULL, NULL,
                                   NULL, NULL, &status, NULL));
        g_assert_cmpint(status, ==, 0);
        check_file(path);
    }
    g_strfreev(env);
    unlink(path);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "profiled") == 0) {
        return profiled();
    }
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/profile/end", test_end);
    return g_test_run();
}
