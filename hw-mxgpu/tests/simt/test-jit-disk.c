/* SPDX-License-Identifier: MIT */
/* Compiled code on the disk, for the next device that asks for the same.
 * test_jit_disk KERNELS.elf */
#include <errno.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include "jit_both.h"
#include "simt/jit/process.h"

static void run_walk(void)
{
    Both b = walked();

    both_free(&b);
}

typedef struct CacheFile {
    char *path, *data;
    gsize size;
} CacheFile;

static void clear_file(gpointer opaque)
{
    CacheFile *f = opaque;

    g_free(f->path);
    g_free(f->data);
}

static GArray *read_files(const char *folder)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(CacheFile));
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;

    g_array_set_clear_func(all, clear_file);
    g_assert_nonnull(dir);
    while ((name = g_dir_read_name(dir))) {
        CacheFile f = {.path = g_build_filename(folder, name, NULL)};

        g_assert_true(g_file_get_contents(f.path, &f.data, &f.size, NULL));
        g_array_append_val(all, f);
    }
    return all;
}

static void shorten(const CacheFile *f)
{
    g_assert_cmpint(truncate(f->path, 10), ==, 0);
}

static void damage(const CacheFile *f)
{
    g_autofree char *data = g_memdup2(f->data, f->size);

    data[f->size - 1] ^= 1;
    g_assert_true(g_file_set_contents(f->path, data, f->size, NULL));
    g_assert_cmpint(g_chmod(f->path, 0600), ==, 0);
}

static void open_to_all(const CacheFile *f)
{
    g_assert_cmpint(g_chmod(f->path, 0666), ==, 0);
}

static void replace_by_link(const CacheFile *f)
{
    g_assert_cmpint(g_unlink(f->path), ==, 0);
    g_assert_cmpint(symlink("/dev/zero", f->path), ==, 0);
}

static void make_old(const CacheFile *f)
{
    const struct utimbuf times = {1, 1};

    g_assert_cmpint(utime(f->path, &times), ==, 0);
}

static bool was_used(const CacheFile *f)
{
    GStatBuf st;

    g_assert_cmpint(g_lstat(f->path, &st), ==, 0);
    return st.st_mtime > 1;
}

/* What is there is used; what is not as it was written is written anew. */
static void test_cache(void)
{
    static void (*const spoil[])(
        const CacheFile *) = {shorten, damage, open_to_all, replace_by_link};
    g_autofree char *folder = g_dir_make_tmp("mxgpu-jit-XXXXXX", NULL);
    g_autoptr(GArray) files = NULL;

    g_setenv("MXGPU_JIT_CACHE", folder, TRUE);
    run_walk();
    files = read_files(folder);
    g_assert_true((files->len > 0) == can_compile());
#define EACH(F)                                                                \
    for (CacheFile *F = (CacheFile *)files->data;                              \
         F < (CacheFile *)files->data + files->len; F++)
    for (unsigned i = 0; i < G_N_ELEMENTS(spoil); i++) {
        g_autoptr(GArray) after = NULL;

        EACH(f)
        {
            spoil[i](f);
        }
        run_walk();
        EACH(f)
        {
            g_autofree char *data = NULL;
            GStatBuf st;
            gsize size;

            g_assert_cmpint(g_lstat(f->path, &st), ==, 0);
            g_assert_cmpint(st.st_mode, ==, S_IFREG | 0600);
            g_assert_true(g_file_get_contents(f->path, &data, &size, NULL));
            g_assert_cmpmem(data, size, f->data, f->size);
        }
        after = read_files(folder);
        g_assert_cmpuint(after->len, ==, files->len);
    }
    EACH(f)
    {
        make_old(f);
    }
    run_walk();
    EACH(f)
    {
        g_assert_true(was_used(f));
        make_old(f);
    }
    /* Anybody could have put something there. */
    g_assert_cmpint(g_chmod(folder, 0777), ==, 0);
    run_walk();
    EACH(f)
    {
        g_assert_false(was_used(f));
        g_assert_cmpint(g_unlink(f->path), ==, 0);
    }
#undef EACH
    g_assert_cmpint(g_rmdir(folder), ==, 0);
    g_setenv("MXGPU_JIT_CACHE", "", TRUE);
}

static unsigned walk_regions(const char *after)
{
    unsigned n;
    Both b;

    patience = after;
    b = walk();
    n = regions(&b);
    both_free(&b);
    patience = "1";
    return n;
}

static void remove_all(const char *folder)
{
    g_autoptr(GArray) files = read_files(folder);

    for (unsigned i = 0; i < files->len; i++) {
        g_assert_cmpint(g_unlink(g_array_index(files, CacheFile, i).path), ==,
                        0);
    }
    g_assert_cmpint(g_rmdir(folder), ==, 0);
    g_setenv("MXGPU_JIT_CACHE", "", TRUE);
}

/* What has been compiled before is run as soon as it is come to again. */
static void test_early(void)
{
    g_autofree char *folder = g_dir_make_tmp("mxgpu-jit-XXXXXX", NULL);

    g_setenv("MXGPU_JIT_CACHE", folder, TRUE);
    g_assert_cmpuint(walk_regions("100000"), ==, 0);
    g_assert_true((walk_regions("1") > 0) == can_compile());
    g_assert_true((walk_regions("100000") > 0) == can_compile());
    remove_all(folder);
}

/* What is hot and has been compiled before starts no compiler: that of looking is
 * enough. */
static void test_found(void)
{
    g_autofree char *folder = g_dir_make_tmp("mxgpu-jit-XXXXXX", NULL);
    g_autofree char *script = g_strconcat(folder, "-program", NULL);
    g_autofree char *starts = g_strconcat(folder, "-starts", NULL);
    g_autofree char *real = mxgpu_jit_process_find();
    g_autofree char *text = g_strdup_printf(
        "#!/bin/sh\necho >>%s\nexec %s\n", starts, real);
    g_autofree char *lines = NULL;

    g_assert_true(g_file_set_contents(script, text, -1, NULL));
    g_assert_cmpint(g_chmod(script, 0700), ==, 0);
    g_setenv("MXGPU_JIT_CACHE", folder, TRUE);
    g_setenv("MXGPU_JIT_PROGRAM", script, TRUE);
    run_changing();
    run_changing();
    g_unsetenv("MXGPU_JIT_PROGRAM");
    if (can_compile()) {
        g_assert_true(g_file_get_contents(starts, &lines, NULL, NULL));
        g_assert_cmpstr(lines, ==, "\n\n\n");
        g_assert_cmpint(g_unlink(starts), ==, 0);
    }
    g_assert_cmpint(g_unlink(script), ==, 0);
    remove_all(folder);
}

/* A device that is freed leaves what it has asked for to the next one. */
static void test_left(void)
{
    g_autofree char *folder = g_dir_make_tmp("mxgpu-jit-XXXXXX", NULL);
    unsigned files = 0;
    Both b;

    g_setenv("MXGPU_JIT_CACHE", folder, TRUE);
    g_setenv("MXGPU_TEST_JIT_HASTY", "1", TRUE);
    for (unsigned i = 0; can_compile() && files < JIT_SORTS && i < 6000; i++) {
        g_autoptr(GArray) all = NULL;

        if (i % 1000 == 0) { /* the host may be too busy for its ten seconds */
            b = walk();
            both_free(&b);
        }
        g_usleep(10000);
        all = read_files(folder);
        files = all->len;
    }
    g_unsetenv("MXGPU_TEST_JIT_HASTY");
    g_assert_cmpuint(files, ==, can_compile() ? JIT_SORTS : 0);
    g_usleep(100000);
    remove_all(folder);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_setenv("MXGPU_JIT_CACHE", "", TRUE);
    elf = argv[1];
    g_test_add_func("/jit-disk/cache", test_cache);
    g_test_add_func("/jit-disk/early", test_early);
    g_test_add_func("/jit-disk/found", test_found);
    g_test_add_func("/jit-disk/left", test_left);
    return g_test_run();
}
