/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "info mxgpu" of the monitor, and a capture into a file. What the commands show
 * is tested where there is no QEMU. */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include "driver.h"

typedef struct Rig {
    MxMachine *machine;
    MxDevice *dev;
    char *capture;
} Rig;

static void rig_init(Rig *r, MxDevice *unused)
{
    g_autofree char *devices = NULL;
    int fd = g_file_open_tmp("mxgpu-capture-XXXXXX", &r->capture, NULL);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    devices = g_strdup_printf("-device mxgpu,id=gpu,addr=%d,vram=16M,capture=%s"
                              "%s", MX_SLOT, r->capture,
                              unused->machine->env->options);
    r->machine = mx_machine_start(unused->machine->env, devices);
    r->dev = mx_open(r->machine, MX_SLOT);
}

static void rig_free(Rig *r)
{
    mx_close(r->dev);
    mx_machine_stop(r->machine);
    g_remove(r->capture);
    g_free(r->capture);
}

static void shows(Rig *r, const char *command, const char *text)
{
    g_autofree char *answer = qtest_hmp(r->machine->qts, "%s", command);

    if (!strstr(answer, text)) {
        g_test_message("%s: %s", command, answer);
    }
    g_assert_nonnull(strstr(answer, text));
}

static void test_info(MxDevice *unused)
{
    Rig r;

    rig_init(&r, unused);
    mx_boot(r.dev);
    shows(&r, "info mxgpu", "mxgpu gpu\r\n");
    shows(&r, "info mxgpu", "MCU_STATUS STATE=1 READY");
    shows(&r, "info mxgpu @gpu registers FEATURES", "FEATURES");
    shows(&r, "info mxgpu @none", "there is no such mxgpu");
    shows(&r, "info mxgpu help", "walk VMID ADDRESS");
    shows(&r, "info mxgpu nonsense", "no such command");
    shows(&r, "info mxgpu warps", "no warp is resident");
    shows(&r, "info mxgpu vmids", "vmid 1: page table at");
    shows(&r, "info mxgpu walk 1 0x800000000000", "fault NON_CANONICAL");
    shows(&r, "info mxgpu queues", "no queue");
    /* Also while the machine stands. */
    qtest_qmp_assert_success(r.machine->qts, "{'execute': 'stop'}");
    shows(&r, "info mxgpu warps", "no warp is resident");
    qtest_qmp_assert_success(r.machine->qts, "{'execute': 'cont'}");
    rig_free(&r);
}

/* The begin of a pcapng file, an interface for it, and the device's clock. */
static void test_capture(MxDevice *unused)
{
    static const uint8_t section[] = {
        0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0,
    };
    g_autofree char *data = NULL;
    gsize size;
    Rig r;

    rig_init(&r, unused);
    mx_boot(r.dev);
    mx_close(r.dev);
    mx_machine_stop(r.machine);
    g_assert_true(g_file_get_contents(r.capture, &data, &size, NULL));
    g_assert_cmpuint(size, >, 1000);
    g_assert_cmpmem(data, sizeof(section), section, sizeof(section));
    g_assert_cmpint(data[28], ==, 1);
    g_assert_cmpint((uint8_t)data[36], ==, 147);
    g_remove(r.capture);
    g_free(r.capture);
}

void mx_monitor_tests(void)
{
    mx_test("monitor/info", MX_BARE, test_info);
    mx_test("monitor/capture", MX_BARE, test_capture);
}
