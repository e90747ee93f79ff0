/* SPDX-License-Identifier: MIT */
/* Which back end and which functions: environment, and a made-up sysfs. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kmd/vfio_priv.h"

typedef struct Machine {
    char *root;
} Machine;

static void put(Machine *m, const char *path, const char *text)
{
    char *full = g_build_filename(m->root, path, NULL);
    char *dir = g_path_get_dirname(full);

    g_assert_cmpint(g_mkdir_with_parents(dir, 0755), ==, 0);
    g_assert_true(g_file_set_contents(full, text, -1, NULL));
    g_free(dir);
    g_free(full);
}

static void put_link(Machine *m, const char *path, const char *target)
{
    char *full = g_build_filename(m->root, path, NULL);

    g_assert_cmpint(symlink(target, full), ==, 0);
    g_free(full);
}

static void add(Machine *m, const char *bdf, const char *id, const char *driver,
                int group)
{
    char path[128], target[128];

    g_snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/vendor", bdf);
    put(m, path, "0x1234\n");
    g_snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/device", bdf);
    put(m, path, id);
    if (driver) {
        g_snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/driver", bdf);
        g_snprintf(target, sizeof(target), "../../../bus/pci/drivers/%s",
                   driver);
        put_link(m, path, target);
    }
    if (group >= 0) {
        g_snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/iommu_group",
                   bdf);
        g_snprintf(target, sizeof(target), "../../../kernel/iommu_groups/%d",
                   group);
        put_link(m, path, target);
    }
}

static void node(Machine *m, const char *name)
{
    char path[64];

    g_snprintf(path, sizeof(path), "dev/vfio/%s", name);
    put(m, path, "");
}

static Machine *machine_new(void)
{
    Machine *m = g_new0(Machine, 1);

    m->root = g_dir_make_tmp("mxgpu-machine-XXXXXX", NULL);
    g_assert_nonnull(m->root);
    kmd_vfio_set_root(m->root);
    g_assert_cmpint(kmd_vfio_choose(NULL), ==, 0);
    return m;
}

static void remove_tree(const char *path)
{
    const char *name;
    GDir *dir;

    if (!g_file_test(path, G_FILE_TEST_IS_SYMLINK) &&
        g_file_test(path, G_FILE_TEST_IS_DIR)) {
        dir = g_dir_open(path, 0, NULL);
        while ((name = g_dir_read_name(dir))) {
            char *full = g_build_filename(path, name, NULL);

            remove_tree(full);
            g_free(full);
        }
        g_dir_close(dir);
        g_rmdir(path);
    } else {
        g_unlink(path);
    }
}

static void machine_free(Machine *m)
{
    remove_tree(m->root);
    g_free(m->root);
    g_free(m);
    kmd_vfio_set_root("");
}

static void test_bdf(void)
{
    static const char *const bad[] = {
        "", "1", "01:00", "01:00.8", "01:20.0", "0000:01:00.0x", "x1:00.0",
        "00000:01:00.0", "01:00.0 ", "0000:01:00",
    };
    unsigned d, b, dev, fn, i;

    g_assert_true(kmd_vfio_parse_bdf("0001:02:1f.7", &d, &b, &dev, &fn));
    g_assert_cmphex(d << 16 | b << 8 | dev << 3 | fn, ==, 0x102ff);
    g_assert_true(kmd_vfio_parse_bdf("af:00.1", &d, &b, &dev, &fn));
    g_assert_cmphex(d << 16 | b << 8 | dev << 3 | fn, ==, 0xaf01);
    for (i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_assert_false(kmd_vfio_parse_bdf(bad[i], &d, &b, &dev, &fn));
        g_assert_cmpint(kmd_vfio_choose(bad[i]), ==, -EINVAL);
    }
}

static void test_scan(void)
{
    Machine *m = machine_new();
    VfioFunction f[4];
    unsigned count;

    g_assert_cmpuint(kmd_vfio_scan(f, 4), ==, 0);
    g_assert_false(kmd_vfio_present());
    g_assert_cmpint(kmd_vfio_ops.count(&count), ==, -ENODEV);
    add(m, "0000:10:00.0", "0x6d78\n", "vfio-pci", 12);
    add(m, "0000:02:00.0", "0x6d78\n", "vfio-pci", 3);
    add(m, "0000:02:01.0", "0x1111\n", "vfio-pci", 4);
    g_assert_cmpuint(kmd_vfio_scan(f, 4), ==, 2);
    g_assert_cmpstr(f[0].bdf, ==, "0000:02:00.0");
    g_assert_cmpint(f[0].group, ==, 3);
    g_assert_cmpstr(f[0].driver, ==, "vfio-pci");
    g_assert_cmpstr(f[1].bdf, ==, "0000:10:00.0");
    g_assert_true(kmd_vfio_present());
    node(m, "3");
    g_assert_cmpint(kmd_vfio_ops.count(&count), ==, 0);
    g_assert_cmpuint(count, ==, 1); /* the other has no node */
    node(m, "12");
    g_assert_cmpint(kmd_vfio_ops.count(&count), ==, 0);
    g_assert_cmpuint(count, ==, 2);
    g_assert_cmpint(kmd_vfio_choose("10:00.0"), ==, 0);
    g_assert_cmpint(kmd_vfio_ops.count(&count), ==, 0);
    g_assert_cmpuint(count, ==, 1);
    g_assert_cmpint(kmd_vfio_choose("11:00.0"), ==, 0);
    g_assert_cmpint(kmd_vfio_ops.count(&count), ==, -ENODEV);
    machine_free(m);
}

static void expect_reason(int error, const char *word)
{
    char reason[256];
    VfioFunction f;
    KmdDevice *dev;
    unsigned count;

    g_assert_cmpuint(kmd_vfio_scan(&f, 1), ==, 1);
    g_assert_cmpint(kmd_vfio_check(&f, reason, sizeof(reason)), ==, error);
    g_assert_nonnull(strstr(reason, word));
    g_assert_cmpint(kmd_vfio_ops.count(&count), ==, error);
    g_assert_cmpint(kmd_vfio_ops.open(0, &dev), ==, error);
}

static void test_reasons(void)
{
    Machine *m = machine_new();
    KmdDevice *dev;

    add(m, "0000:01:00.0", "0x6d78\n", NULL, 1);
    expect_reason(-EACCES, "no driver");
    put_link(m, "sys/bus/pci/devices/0000:01:00.0/driver", "../xyz");
    expect_reason(-EACCES, "xyz");
    machine_free(m);

    m = machine_new();
    add(m, "0000:01:00.0", "0x6d78\n", "vfio-pci", -1);
    expect_reason(-ENOTSUP, "IOMMU");
    put_link(m, "sys/bus/pci/devices/0000:01:00.0/iommu_group", "x/5");
    put(m, "sys/kernel/iommu_groups/5/name", "vfio-noiommu\n");
    expect_reason(-ENOTSUP, "IOMMU");
    put(m, "sys/kernel/iommu_groups/5/name", "other\n");
    expect_reason(-EACCES, "dev/vfio/5");
    node(m, "5");
    /* A file that is no VFIO group. */
    g_assert_cmpint(kmd_vfio_ops.open(0, &dev), ==, -EACCES);
    node(m, "vfio");
    g_assert_cmpint(kmd_vfio_ops.open(0, &dev), ==, -ENOTSUP);
    g_assert_cmpint(kmd_vfio_ops.open(1, &dev), ==, -ENODEV);
    machine_free(m);
}

static void test_select(void)
{
    Machine *m = machine_new();
    const KmdOps *ops = NULL;

    g_setenv("MXGPU_DEVICE", "sim", TRUE);
    g_assert_cmpint(kmd_select(&ops), ==, 0);
    g_assert_cmpstr(ops->name, ==, "sim");
    g_setenv("MXGPU_DEVICE", "vfio", TRUE);
    g_assert_cmpint(kmd_select(&ops), ==, 0);
    g_assert_cmpstr(ops->name, ==, "vfio");
    g_setenv("MXGPU_DEVICE", "driver", TRUE);
    g_assert_cmpint(kmd_select(&ops), ==, 0);
    g_assert_cmpstr(ops->name, ==, "driver");
    g_setenv("MXGPU_DEVICE", "drivers", TRUE);
    g_assert_cmpint(kmd_select(&ops), ==, -EINVAL);
    g_setenv("MXGPU_DEVICE", "vfio:01:00.0", TRUE);
    g_assert_cmpint(kmd_select(&ops), ==, 0);
    g_setenv("MXGPU_DEVICE", "vfio:nonsense", TRUE);
    g_assert_cmpint(kmd_select(&ops), ==, -EINVAL);
    g_setenv("MXGPU_DEVICE", "cuda", TRUE);
    g_assert_cmpint(kmd_select(&ops), ==, -EINVAL);
    g_setenv("MXGPU_DEVICE", "auto", TRUE);
    g_assert_cmpint(kmd_select(&ops), ==, 0);
    g_assert_cmpstr(ops->name, ==, "sim");
    g_unsetenv("MXGPU_DEVICE");
    g_assert_cmpint(kmd_select(&ops), ==, 0);
    g_assert_cmpstr(ops->name, ==, "sim");
    /* There is a function, so it is meant, usable or not. */
    add(m, "0000:01:00.0", "0x6d78\n", NULL, 1);
    g_assert_cmpint(kmd_select(&ops), ==, 0);
    g_assert_cmpstr(ops->name, ==, "vfio");
    machine_free(m);
}

/* No library is loaded for a setting that is wrong. */
static void test_sim_settings(void)
{
    static const char *const bad[][2] = {
        { "MXGPU_VRAM", "lots" }, { "MXGPU_VRAM", "7M" },
        { "MXGPU_VRAM", "65G" }, { "MXGPU_VRAM", "4GB" },
        { "MXGPU_VRAM", "-1" }, { "MXGPU_VRAM", "8388609" },
        { "MXGPU_VRAM", "99999999999999999999" }, { "MXGPU_VRAM", " 1G" },
        { "MXGPU_VRAM", "17179869184T" },
        { "MXGPU_COMPUTE_UNITS", "0" }, { "MXGPU_COMPUTE_UNITS", "129" },
        { "MXGPU_COMPUTE_UNITS", "x" }, { "MXGPU_THREADS", "1.5" },
        { "MXGPU_THREADS", "-4" }, { "MXGPU_WATCHDOG_MS", "1s" },
        { "MXGPU_SIM_DEVICES", "17" }, { "MXGPU_DETERMINISTIC", "yes" },
        { "MXGPU_STRICT_ALIGNMENT", "2" }, { "MXGPU_JIT", "on" }, { "MXGPU_LOG_PACKETS", "2" },
        { "MXGPU_THREADS", "257" },
        { "MXGPU_WATCHDOG_MS", "86400001" },
    };
    unsigned i, count;

    g_setenv("MXGPU_SIM_LIBRARY", "/nonexistent/lib.so", TRUE);
    for (i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_setenv(bad[i][0], bad[i][1], TRUE);
        g_assert_cmpint(kmd_sim_ops.count(&count), ==, -EINVAL);
        g_unsetenv(bad[i][0]);
    }
    g_setenv("MXGPU_VRAM", "512m", TRUE);
    g_assert_cmpint(kmd_sim_ops.count(&count), ==, -ENODEV);
    g_unsetenv("MXGPU_VRAM");
    /* A library, but not that one. */
    g_setenv("MXGPU_SIM_LIBRARY", "libm.so.6", TRUE);
    g_assert_cmpint(kmd_sim_ops.count(&count), ==, -ENODEV);
    g_unsetenv("MXGPU_SIM_LIBRARY");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kmd/select/bdf", test_bdf);
    g_test_add_func("/kmd/select/scan", test_scan);
    g_test_add_func("/kmd/select/reasons", test_reasons);
    g_test_add_func("/kmd/select/device", test_select);
    g_test_add_func("/kmd/select/sim-settings", test_sim_settings);
    return g_test_run();
}
