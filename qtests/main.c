/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mxgpu's qtests: every test in every environment, each in a QEMU of its own.
 */
#include "qemu/osdep.h"
#include "driver.h"

static const MxEnv environments[] = {
    {
        .name = "pc",
        .machine = "-machine pc",
        .options = "",
    },
    {
        .name = "q35",
        .machine = "-machine q35",
        .options = "",
        .express = true,
    },
    {
        .name = "viommu",
        .machine = "-machine q35 -device intel-iommu",
        .options = "",
        .viommu = true,
        .express = true,
    },
    {
        .name = "deterministic",
        .machine = "-machine q35",
        .options = ",deterministic=on",
        .express = true,
    },
};

typedef struct MxTest {
    const MxEnv *env;
    MxTestKind kind;
    void (*func)(MxDevice *dev);
    void (*data_func)(MxDevice *dev, const void *data);
    const void *data;
} MxTest;

static const MxEnv *current;

const MxEnv *mx_env(void)
{
    return current;
}

static void run(gconstpointer data)
{
    const MxTest *test = data;
    g_autofree char *device = g_strdup_printf(
        "-device mxgpu,id=gpu0,addr=%d,vram=16M,compute-units=2,threads=2,"
        "firmware-watchdog-ms=1000%s",
        MX_SLOT, test->env->options);
    MxMachine *machine = mx_machine_start(test->env, device);
    MxDevice *dev = mx_open(machine, MX_SLOT);

    if (test->kind == MX_BOOTED) {
        mx_boot(dev);
    }
    if (test->func) {
        test->func(dev);
    } else {
        test->data_func(dev, test->data);
    }
    mx_close(dev);
    mx_machine_stop(machine);
}

static void add(const char *name, MxTest test)
{
    g_autofree char *path = g_strdup_printf("mxgpu/%s/%s", current->name,
                                            name);

    test.env = current;
    qtest_add_data_func_full(path, g_memdup2(&test, sizeof(test)), run,
                             g_free);
}

void mx_test(const char *name, MxTestKind kind, void (*func)(MxDevice *))
{
    add(name, (MxTest){ .kind = kind, .func = func });
}

void mx_test_data(const char *name, MxTestKind kind,
                  void (*func)(MxDevice *, const void *), const void *data)
{
    add(name, (MxTest){ .kind = kind, .data_func = func, .data = data });
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(environments); i++) {
        current = &environments[i];
        mx_block_tests();
        mx_identity_tests();
        mx_reset_tests();
        mx_msix_tests();
        mx_firmware_tests();
        mx_queue_tests();
        mx_copy_tests();
        mx_mmu_tests();
        mx_dispatch_tests();
        mx_plug_tests();
        mx_bus_tests();
        mx_error_tests();
        mx_reentry_tests();
        mx_trace_tests();
        mx_save_tests();
        mx_sriov_tests();
        mx_gdb_tests();
        mx_monitor_tests();
    }
    return g_test_run();
}
