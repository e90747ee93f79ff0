/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces: names for numbers, and one event for an image. */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include "driver.h"

static unsigned count(const char *text, const char *words)
{
    unsigned n = 0;

    while ((text = strstr(text, words))) {
        text++;
        n++;
    }
    return n;
}

static void test_names(MxDevice *unused)
{
    g_autofree char *path = NULL, *text = NULL, *devices = NULL, *load = NULL;
    g_autofree uint8_t *image = NULL;
    MxMachine *machine;
    MxDevice *dev;
    size_t size;
    int fd = g_file_open_tmp("mxgpu-trace-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    devices = g_strdup_printf("-D %s -trace 'mxgpu_*' -device mxgpu,addr=%d,"
                              "vram=16M%s", path, MX_SLOT,
                              unused->machine->env->options);
    machine = mx_machine_start(unused->machine->env, devices);
    dev = mx_open(machine, MX_SLOT);
    mx_boot(dev);
    mx_run_for_ever(dev);
    mx_write(dev, MXGPU_RESET, MXGPU_RESET_MAGIC);
    MX_WAIT(dev, mx_mcu_state(dev) == MXGPU_MCU_RESET);
    mx_close(dev);
    mx_machine_stop(machine);
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_remove(path);

    mx_firmware(&image, &size);
    load = g_strdup_printf("write of %zu bytes from offset 0x0",
                           QEMU_ALIGN_UP(size, 4));
    g_assert_cmpuint(count(text, load), ==, 1);
    g_assert_cmpuint(count(text, "MCU_SRAM_DATA"), ==, 0);
    g_assert_nonnull(strstr(text, "MCU_CTRL START"));
    g_assert_nonnull(strstr(text, "MCU_STATUS STATE=1 READY"));
    g_assert_nonnull(strstr(text, "RUNNING cause"));
    g_assert_nonnull(strstr(text, "vmid 1 grid 1x1x1 block "));
    g_assert_nonnull(strstr(text, "mxgpu_reset"));
    g_assert_nonnull(strstr(text, ": register"));
}

/* What the firmware tells: queues and packets, by name. */
static void test_packets(MxDevice *unused)
{
    g_autofree char *path = NULL, *text = NULL, *devices = NULL;
    struct mxgpu_packet_copy copy = {
        .type = MXGPU_PKT_COPY, .size = 64, .signal_value = 7,
    };
    struct mxgpu_packet_wait bad = {.type = MXGPU_PKT_WAIT, .size = 3};
    MxMachine *machine;
    MxQueue *queue;
    MxDevice *dev;
    int fd = g_file_open_tmp("mxgpu-trace-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    devices = g_strdup_printf("-D %s -trace 'mxgpu_queue_*' "
                              "-trace 'mxgpu_packet_*' -device mxgpu,id=gpu,"
                              "addr=%d,vram=16M%s", path, MX_SLOT,
                              unused->machine->env->options);
    machine = mx_machine_start(unused->machine->env, devices);
    dev = mx_open(machine, MX_SLOT);
    mx_boot(dev);
    queue = mx_queue_new(dev, 3);
    copy.src = queue->ring_va;
    copy.dst = queue->ring_va + 2048;
    copy.signal_addr = queue->ring_va + 3072;
    mx_push(queue, &copy);
    /* A queue that has stopped tells of no more packets. */
    DUT_WAIT(queue->dut, dut_load64(queue->dut, DUT_SYSTEM,
                                    queue->ring + 3072) == 7);
    mx_push(queue, &bad);
    dut_queue_error(queue);
    mx_queue_free(queue);
    mx_close(dev);
    mx_machine_stop(machine);
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_remove(path);

    g_assert_nonnull(strstr(text, "mxgpu_queue_create gpu: queue 3 vmid 1"));
    g_assert_nonnull(strstr(text, "mxgpu_packet_start gpu: queue 3 packet 0 "
                                  "COPY on engine 0"));
    g_assert_nonnull(strstr(text, "mxgpu_packet_end gpu: queue 3 packet 0 "
                                  "COPY signal 7"));
    g_assert_nonnull(strstr(text, "mxgpu_queue_error gpu: queue 3 packet 1 "
                                  "PACKET NONE at WAIT"));
    g_assert_nonnull(strstr(text, "mxgpu_queue_destroy gpu: queue 3"));
    g_assert_cmpuint(count(text, "mxgpu_doorbell"), ==, 0);
}

void mx_trace_tests(void)
{
    mx_test("trace/names", MX_BARE, test_names);
    mx_test("trace/packets", MX_BARE, test_packets);
}
