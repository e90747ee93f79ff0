/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gdb on the firmware and on kernels over character devices, and the property
 * x-inspect. The protocol itself is tested where there is no QEMU. */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "qemu/sockets.h"
#include <glib/gstdio.h>
#include "qobject/qdict.h"
#include "driver.h"

typedef struct Rig {
    char *folder, *path;
    MxMachine *machine;
    MxDevice *dev;
    int fd;
} Rig;

static void rig_init(Rig *r, MxDevice *unused, const char *more)
{
    g_autofree char *devices = NULL;

    r->folder = g_dir_make_tmp("mxgpu-gdb-XXXXXX", NULL);
    g_assert_nonnull(r->folder);
    r->path = g_build_filename(r->folder, "socket", NULL);
    r->fd = -1;
    devices = g_strdup_printf("-chardev socket,id=g,path=%s,server=on,wait=off "
                              "-device mxgpu,id=gpu,addr=%d,vram=16M,%s%s",
                              r->path, MX_SLOT, more,
                              unused->machine->env->options);
    r->machine = mx_machine_start(unused->machine->env, devices);
    r->dev = mx_open(r->machine, MX_SLOT);
}

static void rig_free(Rig *r)
{
    if (r->fd >= 0) {
        close(r->fd);
    }
    if (r->dev) {
        mx_close(r->dev);
    }
    mx_machine_stop(r->machine);
    g_remove(r->path);
    g_rmdir(r->folder);
    g_free(r->path);
    g_free(r->folder);
}

static void rig_connect(Rig *r)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    struct timeval limit = { .tv_sec = 120 };

    pstrcpy(addr.sun_path, sizeof(addr.sun_path), r->path);
    r->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    g_assert_cmpint(r->fd, >=, 0);
    setsockopt(r->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    g_assert_cmpint(connect(r->fd, (struct sockaddr *)&addr, sizeof(addr)), ==,
                    0);
}

static char get_byte(Rig *r)
{
    char c;

    g_assert_cmpint(read(r->fd, &c, 1), ==, 1);
    return c;
}

/* The next packet; acknowledgements before it are dropped. */
static char *get_packet(Rig *r)
{
    GString *text = g_string_new(NULL);
    char c;

    while (get_byte(r) != '$') {
    }
    while ((c = get_byte(r)) != '#') {
        g_string_append_c(text, c);
    }
    get_byte(r);
    get_byte(r);
    return g_string_free(text, false);
}

static void send_packet(Rig *r, const char *text)
{
    g_autofree char *frame = NULL;
    uint8_t sum = 0;

    for (const char *p = text; *p; p++) {
        sum += *p;
    }
    frame = g_strdup_printf("$%s#%02x", text, sum);
    g_assert_cmpint(write(r->fd, frame, strlen(frame)), ==, strlen(frame));
}

#define EXPECT(r, text, reply) do { \
        g_autofree char *got_ = NULL; \
        send_packet(r, text); \
        got_ = get_packet(r); \
        g_assert_cmpstr(got_, ==, reply); \
    } while (0)

static void expect_stop(Rig *r, const char *begin)
{
    g_autofree char *got = get_packet(r);

    if (!g_str_has_prefix(got, begin)) {
        g_test_message("got %s", got);
    }
    g_assert_true(g_str_has_prefix(got, begin));
}

static bool answers(Rig *r)
{
    struct mxgpu_msg_ping ping = { .op = MXGPU_MSG_PING };

    return mx_call(r->dev, &ping, sizeof(ping), NULL) == MXGPU_MSG_OK;
}

static char *inspect(Rig *r, const char *command)
{
    QDict *answer;
    char *text;

    qobject_unref(qtest_qmp(r->machine->qts,
        "{'execute': 'qom-set', 'arguments': {'path': '/machine/peripheral/gpu'"
        ", 'property': 'x-inspect', 'value': %s}}", command));
    answer = qtest_qmp(r->machine->qts,
        "{'execute': 'qom-get', 'arguments': {'path': '/machine/peripheral/gpu'"
        ", 'property': 'x-inspect'}}");
    text = g_strdup(qdict_get_str(answer, "return"));
    qobject_unref(answer);
    return text;
}

static void qmp(Rig *r, const char *command)
{
    qtest_qmp_assert_success(r->machine->qts, "{'execute': %s}", command);
}

static void test_session(MxDevice *unused)
{
    g_autofree char *text = NULL, *point = NULL;
    Rig r;

    rig_init(&r, unused, "fw-gdb=g");
    mx_boot(r.dev);
    rig_connect(&r);
    g_assert_true(answers(&r)); /* a connection alone stops nothing */
    send_packet(&r, "?");
    expect_stop(&r, "T02");
    EXPECT(&r, "m40000000,4", "4d584750");
    text = inspect(&r, "status");
    g_assert_nonnull(strstr(text, "MCU_STATUS STATE=1 READY"));
    g_assert_nonnull(strstr(text, "stopped by a debugger"));
    /* The machine stands: memory is there, registers cannot be written. */
    qmp(&r, "stop");
    EXPECT(&r, "m40000000,4", "4d584750");
    EXPECT(&r, "M40001014,4:00000000", "E0e");
    qmp(&r, "cont");
    EXPECT(&r, "M20070000,4:12345678", "OK");
    EXPECT(&r, "m20070000,4", "12345678");
    /* Of what the MCU executes when it goes on. */
    point = g_strdup_printf("Z0,%x,2", mx_read(r.dev, MXGPU_MCU_PC));
    EXPECT(&r, point, "OK");
    send_packet(&r, "vCont;c");
    expect_stop(&r, "T05");
    EXPECT(&r, "D", "OK");
    g_assert_true(answers(&r));
    rig_free(&r);
}

static void test_halt(MxDevice *unused)
{
    g_autofree uint8_t *image = NULL;
    size_t size;
    Rig r;

    rig_init(&r, unused, "fw-gdb=g,fw-gdb-halt=on");
    mx_firmware(&image, &size);
    mx_load(r.dev, image, size);
    MX_WAIT(r.dev, mx_mcu_state(r.dev) == MXGPU_MCU_RUNNING);
    g_usleep(10000);
    g_assert_cmphex(mx_read(r.dev, MXGPU_MCU_INSTRET_LO), ==, 0);
    rig_connect(&r);
    send_packet(&r, "?");
    expect_stop(&r, "T05");
    send_packet(&r, "vCont;s");
    expect_stop(&r, "T05");
    g_assert_cmphex(mx_read(r.dev, MXGPU_MCU_INSTRET_LO), ==, 1);
    close(r.fd); /* which detaches it */
    r.fd = -1;
    MX_WAIT(r.dev, MXGPU_GET(MXGPU_MCU_STATUS_READY,
                             mx_read(r.dev, MXGPU_MCU_STATUS)));
    rig_free(&r);
}

static void test_reset(MxDevice *unused)
{
    Rig r;

    rig_init(&r, unused, "fw-gdb=g");
    mx_boot(r.dev);
    rig_connect(&r);
    send_packet(&r, "?");
    expect_stop(&r, "T02");
    qmp(&r, "system_reset");
    qtest_qmp_eventwait(r.machine->qts, "RESET");
    EXPECT(&r, "m40000000,4", "4d584750");
    EXPECT(&r, "D", "OK");
    rig_free(&r);
}

/* Debuggers that ask for more than they read, and go away: what is sent to
 * them then fails, in the middle of a write. */
static void test_broken(MxDevice *unused)
{
    enum { CONNECTIONS = 8, QUESTIONS = 64 };
    struct timeval soon = { .tv_usec = 1000 };
    Rig r;

    rig_init(&r, unused, "fw-gdb=g");
    mx_boot(r.dev);
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        rig_connect(&r);
        send_packet(&r, "?");
        expect_stop(&r, "T02");
        setsockopt(r.fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
        for (unsigned k = 0; k < QUESTIONS; k++) {
            static const char ask[] = "$m40000000,7ff#20";

            if (write(r.fd, ask, strlen(ask)) < 0) {
                break; /* it reads no more of one that does not read */
            }
        }
        close(r.fd);
        r.fd = -1;
    }
    rig_connect(&r);
    EXPECT(&r, "m40000000,4", "4d584750");
    EXPECT(&r, "D", "OK");
    g_assert_true(answers(&r));
    rig_free(&r);
}

/* While a debugger has stopped it, and that one asks. */
static void test_unplug(MxDevice *unused)
{
    char buf[64];
    Rig r;

    rig_init(&r, unused, "fw-gdb=g");
    mx_boot(r.dev);
    rig_connect(&r);
    send_packet(&r, "?");
    expect_stop(&r, "T02");
    send_packet(&r, "g");
    mx_close(r.dev);
    r.dev = NULL;
    qpci_unplug_acpi_device_test(r.machine->qts, "gpu", MX_SLOT);
    send_packet(&r, "g");
    /* Whatever was sent before; there need not be anything. */
    while (recv(r.fd, buf, sizeof(buf), MSG_DONTWAIT) > 0) {
    }
    rig_free(&r);
}

/* ---- kernels ------------------------------------------------------------- */

#define LANE "2710" /* the first lane of the first warp of the first unit */

static void step_lane(Rig *r, unsigned times)
{
    while (times--) {
        send_packet(r, "vCont;s:" LANE);
        expect_stop(r, "T05thread:" LANE);
    }
}

/* A break point where the lane is; the pc is sent with its low byte first. */
static char *register_point(Rig *r)
{
    g_autofree char *bytes = NULL;

    send_packet(r, "p20");
    bytes = get_packet(r);
    return g_strdup_printf("Z0,%" PRIx64 ",4",
                           GUINT64_SWAP_LE_BE(g_ascii_strtoull(bytes, NULL, 16)));
}

/* All of a device but its compute units goes on meanwhile. */
static void test_kernels(MxDevice *unused)
{
    enum { TURN = 3 /* instructions */ };
    g_autofree char *point = NULL;
    uint64_t word;
    uint32_t count;
    Rig r;

    rig_init(&r, unused, "kernel-gdb=g,watchdog-ms=1");
    mx_boot(r.dev);
    word = mx_run_for_ever(r.dev);
    rig_connect(&r);
    send_packet(&r, "?");
    expect_stop(&r, "T02thread:" LANE);
    g_assert_true(answers(&r));
    count = qtest_readl(r.dev->qts, word);
    step_lane(&r, 2 * TURN);
    g_assert_cmpuint(qtest_readl(r.dev->qts, word), ==, count + 2);
    /* Points, and the end of the connection. */
    point = register_point(&r);
    step_lane(&r, 1); /* off it, and then it is set: as gdb does */
    EXPECT(&r, point, "OK");
    send_packet(&r, "vCont;c");
    expect_stop(&r, "T05thread:" LANE);
    g_assert_cmpuint(qtest_readl(r.dev->qts, word), ==, count + 3);
    qmp(&r, "stop");
    EXPECT(&r, "T" LANE, "OK");
    qmp(&r, "cont");
    EXPECT(&r, "D", "OK");
    MX_WAIT(r.dev, qtest_readl(r.dev->qts, word) > count + 3);
    rig_free(&r);
}

static void test_kernels_halt(MxDevice *unused)
{
    uint64_t word;
    Rig r;

    rig_init(&r, unused, "kernel-gdb=g,kernel-gdb-halt=on");
    mx_boot(r.dev);
    word = mx_push_for_ever(r.dev);
    for (unsigned i = 0; i < 10; i++) {
        g_assert_true(answers(&r));
    }
    g_assert_cmpuint(qtest_readl(r.dev->qts, word), ==, 0);
    rig_connect(&r);
    send_packet(&r, "?");
    expect_stop(&r, "T02");
    close(r.fd); /* which lets them go */
    r.fd = -1;
    MX_WAIT(r.dev, qtest_readl(r.dev->qts, word) > 100);
    rig_free(&r);
}

static void test_kernels_unplug(MxDevice *unused)
{
    uint64_t word;
    uint32_t count;
    Rig r;

    rig_init(&r, unused, "kernel-gdb=g");
    mx_boot(r.dev);
    word = mx_run_for_ever(r.dev);
    rig_connect(&r);
    send_packet(&r, "?");
    expect_stop(&r, "T02");
    count = qtest_readl(r.dev->qts, word);
    send_packet(&r, "vCont;c");
    MX_WAIT(r.dev, qtest_readl(r.dev->qts, word) != count);
    mx_close(r.dev);
    r.dev = NULL;
    qpci_unplug_acpi_device_test(r.machine->qts, "gpu", MX_SLOT);
    expect_stop(&r, "W00");
    rig_free(&r);
}

void mx_gdb_tests(void)
{
    mx_test("gdb/session", MX_BARE, test_session);
    mx_test("gdb/halt", MX_BARE, test_halt);
    mx_test("gdb/reset", MX_BARE, test_reset);
    mx_test("gdb/broken", MX_BARE, test_broken);
    mx_test("gdb/kernels/session", MX_BARE, test_kernels);
    mx_test("gdb/kernels/halt", MX_BARE, test_kernels_halt);
    if (!mx_env()->express) {
        mx_test("gdb/unplug", MX_BARE, test_unplug);
        mx_test("gdb/kernels/unplug", MX_BARE, test_kernels_unplug);
    }
}
