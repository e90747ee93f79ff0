/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine under test, and the little of a VT-d driver that gives devices
 * on bus 0, and on bus 1 behind a port, one domain: legacy mode, three levels,
 * register invalidation.
 */
#include "qemu/osdep.h"
#include "tests/qtest/libqos/malloc-pc.h"
#include "tests/qtest/libqos/pci-pc.h"
#include "qobject/qdict.h"
#include "driver.h"

#define VTD_BASE   0xfed90000ull
#define VTD_GCMD   (VTD_BASE + 0x18)
#define VTD_GSTS   (VTD_BASE + 0x1c)
#define VTD_RTADDR (VTD_BASE + 0x20)
#define VTD_CCMD   (VTD_BASE + 0x28)
#define VTD_IVA    (VTD_BASE + 0xf0)
#define VTD_IOTLB  (VTD_BASE + 0xf8)
#define VTD_TE     (1u << 31)
#define VTD_SRTP   (1u << 30)
#define VTD_IOVA   0x80000000ull /* so that bus addresses are not physical */

uint64_t mx_alloc(MxMachine *machine, size_t size)
{
    uint64_t addr = guest_alloc(machine->alloc,
                                QEMU_ALIGN_UP(size, MX_PAGE) + MX_PAGE);

    addr = QEMU_ALIGN_UP(addr, MX_PAGE);
    qtest_memset(machine->qts, addr, 0, size);
    return addr;
}

/* Entry of iova in its leaf table; tables are made on the way. */
static uint64_t vtd_leaf(MxMachine *machine, uint64_t iova)
{
    uint64_t table = machine->vtd_top;

    for (int level = 2; level > 0; level--) {
        uint64_t slot = table + ((iova >> (12 + 9 * level)) & 511) * 8;
        uint64_t entry = qtest_readq(machine->qts, slot);

        if (!entry) {
            entry = mx_alloc(machine, MX_PAGE) | 3;
            qtest_writeq(machine->qts, slot, entry);
        }
        table = entry & ~0xfffull;
    }
    return table + ((iova >> 12) & 511) * 8;
}

static void vtd_invalidate(MxMachine *machine)
{
    qtest_writeq(machine->qts, VTD_CCMD, (1ull << 63) | (1ull << 61));
    g_assert_cmphex(qtest_readq(machine->qts, VTD_CCMD) >> 63, ==, 0);
    qtest_writeq(machine->qts, VTD_IOTLB, (1ull << 63) | (1ull << 60));
    g_assert_cmphex(qtest_readq(machine->qts, VTD_IOTLB) >> 63, ==, 0);
}

void mx_bus_unmap_around(MxMachine *machine, uint64_t bus, unsigned log2_pages,
                         uint64_t named)
{
    for (unsigned i = 0; i < 1u << log2_pages; i++) {
        qtest_writeq(machine->qts, vtd_leaf(machine, bus + i * MX_PAGE), 0);
    }
    qtest_writeq(machine->qts, VTD_IVA, named | log2_pages);
    qtest_writeq(machine->qts, VTD_IOTLB,
                 (1ull << 63) | (3ull << 60) | (1ull << 32));
    g_assert_cmphex(qtest_readq(machine->qts, VTD_IOTLB) >> 63, ==, 0);
}

static void vtd_start(MxMachine *machine)
{
    QTestState *qts = machine->qts;
    uint64_t contexts = mx_alloc(machine, MX_PAGE);

    machine->vtd_root = mx_alloc(machine, MX_PAGE);
    machine->vtd_top = mx_alloc(machine, MX_PAGE);
    machine->vtd_next = VTD_IOVA;
    qtest_writeq(qts, machine->vtd_root, contexts | 1);
    qtest_writeq(qts, machine->vtd_root + 16, contexts | 1);
    for (unsigned devfn = 0; devfn < 256; devfn++) {
        qtest_writeq(qts, contexts + devfn * 16, machine->vtd_top | 1);
        /* domain 1, 39 bits */
        qtest_writeq(qts, contexts + devfn * 16 + 8, 1 << 8 | 1);
    }
    qtest_writeq(qts, VTD_RTADDR, machine->vtd_root);
    qtest_writel(qts, VTD_GCMD, VTD_SRTP);
    g_assert_cmphex(qtest_readl(qts, VTD_GSTS) & VTD_SRTP, ==, VTD_SRTP);
    vtd_invalidate(machine);
    qtest_writel(qts, VTD_GCMD, VTD_TE);
    g_assert_cmphex(qtest_readl(qts, VTD_GSTS) & VTD_TE, ==, VTD_TE);
}

uint64_t mx_bus_map(MxMachine *machine, uint64_t addr, size_t size)
{
    uint64_t iova = machine->vtd_next;

    if (!machine->env->viommu || machine->passed) {
        return addr;
    }
    g_assert_cmphex(addr % MX_PAGE, ==, 0);
    size = QEMU_ALIGN_UP(size, MX_PAGE);
    for (size_t done = 0; done < size; done += MX_PAGE) {
        qtest_writeq(machine->qts, vtd_leaf(machine, iova + done),
                     (addr + done) | 3);
    }
    machine->vtd_next += size + MX_PAGE; /* a hole behind each */
    return iova;
}

void mx_bus_unmap(MxMachine *machine, uint64_t bus, size_t size)
{
    g_assert_true(machine->env->viommu);
    for (size_t done = 0; done < size; done += MX_PAGE) {
        qtest_writeq(machine->qts, vtd_leaf(machine, bus + done), 0);
    }
    vtd_invalidate(machine);
}

void mx_bus_pass(MxMachine *machine)
{
    uint64_t contexts = qtest_readq(machine->qts, machine->vtd_root) & ~0xfffull;

    for (unsigned devfn = 0; devfn < 256; devfn++) {
        qtest_writeq(machine->qts, contexts + devfn * 16, 2 << 2 | 1);
    }
    machine->passed = true;
}

MxMachine *mx_machine_start(const MxEnv *env, const char *devices)
{
    MxMachine *machine = g_new0(MxMachine, 1);

    machine->env = env;
    machine->devices = g_strdup(devices ?: "");
    machine->qts = qtest_initf("%s %s -nic none", env->machine,
                               devices ?: "");
    machine->alloc = g_new0(QGuestAllocator, 1);
    pc_alloc_init(machine->alloc, machine->qts, ALLOC_NO_FLAGS);
    machine->bus = qpci_new_pc(machine->qts, machine->alloc);
    if (env->viommu) {
        vtd_start(machine);
    }
    return machine;
}

void mx_machine_stop(MxMachine *machine)
{
    qpci_free_pc(machine->bus);
    alloc_destroy(machine->alloc);
    g_free(machine->alloc);
    qtest_quit(machine->qts);
    g_free(machine->devices);
    g_free(machine);
}

/* ---- saving and moving --------------------------------------------------- */

/* Waits for the end of a migration; whether it went well. */
static bool migrated(QTestState *qts)
{
    for (;;) {
        QDict *info = qtest_qmp_assert_success_ref(
            qts, "{'execute': 'query-migrate'}");
        g_autofree char *status =
            g_strdup(qdict_get_try_str(info, "status") ?: "none");

        qobject_unref(info);
        if (g_str_equal(status, "completed")) {
            return true;
        }
        if (g_str_equal(status, "failed")) {
            return false;
        }
        g_usleep(2000);
    }
}

static void wait_running(QTestState *qts)
{
    for (;;) {
        QDict *info = qtest_qmp_assert_success_ref(
            qts, "{'execute': 'query-status'}");
        bool running = qdict_get_bool(info, "running");

        qobject_unref(info);
        if (running) {
            return;
        }
        g_usleep(1000);
    }
}

static void migrate(QTestState *qts, unsigned mib_per_second, const char *uri)
{
    qtest_qmp_assert_success(
        qts, "{'execute': 'migrate-set-parameters', 'arguments': {"
        " 'max-bandwidth': %" PRId64 " }}",
        mib_per_second ? (int64_t)mib_per_second << 20 : INT64_C(1) << 40);
    qtest_qmp_assert_success(
        qts, "{'execute': 'migrate', 'arguments': {'uri': %s}}", uri);
}

static void migrate_incoming(QTestState *qts, const char *uri)
{
    qtest_qmp_assert_success(
        qts, "{'execute': 'migrate-incoming', 'arguments': {"
        " 'uri': %s, 'exit-on-error': false }}", uri);
}

QTestState *mx_machine_incoming(MxMachine *machine, const char *options,
                                const char *log)
{
    return qtest_initf("%s %s,%s -nic none -incoming defer 2>%s",
                       machine->env->machine, machine->devices, options, log);
}

static char *new_socket(void)
{
    static unsigned number;

    return g_strdup_printf("unix:%s/move.%d.%u", g_get_tmp_dir(), getpid(),
                           number++);
}

static QTestState *new_target(MxMachine *machine, const char *more)
{
    return qtest_initf("%s %s -nic none -incoming defer %s",
                       machine->env->machine, machine->devices, more);
}

/* The machine is in the new QEMU from now on. */
static void change_to(MxMachine *machine, QTestState *new)
{
    /* A qtest's clock is not among the things that move. */
    qtest_clock_set(new, qtest_clock_step(machine->qts, 1));
    machine->qts = machine->bus->qts = new;
}

void mx_machine_move(MxMachine *machine, unsigned mib_per_second)
{
    g_autofree char *uri = new_socket();
    QTestState *old = machine->qts, *new = new_target(machine, "");

    migrate_incoming(new, uri);
    migrate(old, mib_per_second, uri);
    g_assert_true(migrated(old));
    wait_running(new);
    change_to(machine, new);
    qtest_quit(old);
    unlink(uri + strlen("unix:"));
}

static void set_capability(QTestState *qts, const char *name, bool on)
{
    qtest_qmp_assert_success(
        qts, "{'execute': 'migrate-set-capabilities', 'arguments': {"
        " 'capabilities': [ { 'capability': %s, 'state': %i } ] }}", name, on);
}

QTestState *mx_machine_move_first(MxMachine *machine, unsigned mib_per_second)
{
    g_autofree char *uri = new_socket();
    QTestState *old = machine->qts, *new = new_target(machine, "");

    set_capability(old, "postcopy-ram", true);
    set_capability(new, "postcopy-ram", true);
    qtest_qmp_assert_success(
        old, "{'execute': 'migrate-set-parameters', 'arguments': {"
        " 'max-postcopy-bandwidth': %" PRId64 " }}",
        (int64_t)mib_per_second << 20);
    migrate_incoming(new, uri);
    migrate(old, 1, uri); /* so that most of it is left */
    for (;;) { /* when it has begun */
        QDict *info = qtest_qmp_assert_success_ref(
            old, "{'execute': 'query-migrate'}");
        bool active = g_strcmp0(qdict_get_try_str(info, "status"),
                                "active") == 0;

        qobject_unref(info);
        if (active) {
            break;
        }
        g_usleep(1000);
    }
    qtest_qmp_assert_success(old, "{'execute': 'migrate-start-postcopy'}");
    wait_running(new);
    change_to(machine, new);
    unlink(uri + strlen("unix:"));
    return old;
}

void mx_machine_move_rest(QTestState *old)
{
    QDict *info, *ram;

    g_assert_true(migrated(old));
    info = qtest_qmp_assert_success_ref(old, "{'execute': 'query-migrate'}");
    ram = qdict_get_qdict(info, "ram");
    g_test_message("%" PRId64 " pages were asked for",
                   qdict_get_int(ram, "postcopy-requests"));
    g_assert_cmpint(qdict_get_int(ram, "postcopy-bytes"), >, 0);
    qobject_unref(info);
    qtest_quit(old);
}

void mx_machine_snapshot(MxMachine *machine, const char *file)
{
    g_autofree char *uri = g_strdup_printf("file:%s", file);

    set_capability(machine->qts, "background-snapshot", true);
    migrate(machine->qts, 0, uri);
    g_assert_true(migrated(machine->qts));
    set_capability(machine->qts, "background-snapshot", false);
}

QTestState *mx_machine_go_back(MxMachine *machine, const char *file)
{
    QTestState *old = machine->qts, *new = new_target(machine, "-S");

    g_assert_true(mx_machine_load(new, file));
    change_to(machine, new);
    return old;
}

void mx_machine_save(MxMachine *machine, const char *file)
{
    g_autofree char *uri = g_strdup_printf("file:%s", file);

    qtest_qmp_assert_success(machine->qts, "{'execute': 'stop'}");
    migrate(machine->qts, 0, uri);
    g_assert_true(migrated(machine->qts));
}

bool mx_machine_load(QTestState *qts, const char *file)
{
    g_autofree char *uri = g_strdup_printf("file:%s", file);

    migrate_incoming(qts, uri);
    return migrated(qts);
}
