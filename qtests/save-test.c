/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saving and moving: a workload goes on in another QEMU, live or from a file,
 * or from a snapshot in the same one, and comes to the same result to the last
 * bit; what does not fit is refused by name; what is broken does no harm.
 */
#include "qemu/osdep.h"
#include <sys/syscall.h>
#include "hw/pci/pci_regs.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "qobject/qdict.h"
#include "qobject/qlist.h"
#include "driver.h"
#include "hw/mxgpu/include/mxgpu/isa.h"

#define CODE_VA 0x500000000ull /* descriptor, then code */
#define ARGS_VA 0x510000000ull
#define OUT_VA  0x540000000ull /* VRAM in pages of 2 MiB */
#define SRC_VA  0x550000000ull
#define DST_VA  0x560000000ull /* guest memory */
#define DONE_VA 0x570000000ull
#define CODE_OFFSET 256

#define OUT_SIZE   (4 * MiB) /* the end of VRAM */
#define COPY_SIZE  (512 * KiB)
#define BLOCKS     4u
#define BLOCK      128u
#define THREADS    (BLOCKS * BLOCK)
#define ROUNDS     (OUT_SIZE / 8 / THREADS)
/* Of a round: how long the kernel runs. */
#define STEPS      500u
#define STEPS_LIVE 6000u /* while another QEMU starts and memory is sent */
#define FACTOR     6364136223846793005ull
#define ADDEND     1442695040888963407ull

/* Each thread makes a sequence of numbers and stores a few of them; no
 * word is stored twice, so that one that got lost stays lost. */
static const uint32_t code[] = {
    0xcc0022f3, /*        csrr t0, threadIdx.x */
    0xcc302373, /*        csrr t1, blockDim.x */
    0xcc6023f3, /*        csrr t2, blockIdx.x */
    0x02730333, /*        mul t1, t1, t2 */
    0x006282b3, /*        add t0, t0, t1 */
    0x00053583, /*        ld a1, 0(a0)    out */
    0x00329313, /*        slli t1, t0, 3 */
    0x006585b3, /*        add a1, a1, t1 */
    0x00853603, /*        ld a2, 8(a0)    stride */
    0x01053683, /*        ld a3, 16(a0)   factor */
    0x01853703, /*        ld a4, 24(a0)   addend */
    0x02053783, /*        ld a5, 32(a0)   rounds */
    0x02853803, /*        ld a6, 40(a0)   steps */
    0x00080313, /* round: mv t1, a6 */
    0x02d282b3, /* step:  mul t0, t0, a3 */
    0x00e282b3, /*        add t0, t0, a4 */
    0xfff30313, /*        addi t1, t1, -1 */
    0xfe031ae3, /*        bnez t1, step */
    0x0055b023, /*        sd t0, 0(a1) */
    0x00c585b3, /*        add a1, a1, a2 */
    0xfff78793, /*        addi a5, a5, -1 */
    0xfe0790e3, /*        bnez a5, round */
    MXGPU_F7_EXIT << 25 | MXGPU_OPCODE_CUSTOM0,
};

typedef struct Work {
    MxQueue *kernel, *copies;
    uint64_t out, src;  /* VRAM */
    uint64_t dst, done; /* guest memory */
    unsigned copied, checked; /* packets */
    unsigned steps;
} Work;

static char *temporary(const char *name)
{
    return g_strdup_printf("%s/%s.%d", g_get_tmp_dir(), name, getpid());
}

/* ---- the workload -------------------------------------------------------- */

static void work_memory(MxDevice *dev, Work *w)
{
    struct mxgpu_kernel_desc desc = {
        .magic = MXGPU_KERNEL_MAGIC, .abi = MXGPU_KERNEL_ABI,
        .entry = CODE_VA + CODE_OFFSET, .registers = 32,
    };
    uint64_t args[] = { OUT_VA, 8 * THREADS, FACTOR, ADDEND, ROUNDS, w->steps };
    uint64_t kernel, arguments;

    w->out = dev->vram_size - OUT_SIZE;
    dev->dut.vram_end = w->out;
    kernel = mx_vram_alloc(dev, MX_PAGE);
    arguments = mx_vram_alloc(dev, MX_PAGE);
    w->src = mx_vram_alloc(dev, 2 * COPY_SIZE);
    w->dst = mx_alloc(dev->machine, COPY_SIZE);
    w->done = mx_alloc(dev->machine, MX_PAGE);
    mx_map(dev, CODE_VA, kernel, MX_PAGE, MXGPU_PTE_READ | MXGPU_PTE_EXECUTE);
    mx_map(dev, ARGS_VA, arguments, MX_PAGE, MXGPU_PTE_READ);
    for (uint64_t at = 0; at < OUT_SIZE; at += 2 * MiB) {
        dut_map(&dev->dut, OUT_VA + at, 1,
                (w->out + at) | MX_RW | MXGPU_PTE_VALID);
    }
    mx_map(dev, SRC_VA, w->src, 2 * COPY_SIZE, MXGPU_PTE_READ);
    mx_map(dev, DST_VA, mx_bus_map(dev->machine, w->dst, COPY_SIZE), COPY_SIZE,
           MX_SYS);
    mx_map(dev, DONE_VA, mx_bus_map(dev->machine, w->done, MX_PAGE), MX_PAGE,
           MX_SYS);
    mx_invalidate(dev);
    qtest_memwrite(dev->qts, dev->vram.addr + kernel, &desc, sizeof(desc));
    qtest_memwrite(dev->qts, dev->vram.addr + kernel + CODE_OFFSET, code,
                   sizeof(code));
    qtest_memwrite(dev->qts, dev->vram.addr + arguments, args, sizeof(args));
    /* Zeros would be sent in no time. */
    qtest_memset(dev->qts, dev->vram.addr + w->out, 0xa5, OUT_SIZE);
    for (uint64_t at = 0; at < 2 * COPY_SIZE; at += MX_PAGE) {
        qtest_memset(dev->qts, dev->vram.addr + w->src + at,
                     at / MX_PAGE * 7 + 1, MX_PAGE);
    }
}

static void work_start(MxDevice *dev, Work *w, unsigned steps)
{
    struct mxgpu_packet_dispatch packet = {
        .type = MXGPU_PKT_DISPATCH, .flags = MXGPU_PKT_IRQ, .kernel = CODE_VA,
        .args = ARGS_VA, .grid = { BLOCKS, 1, 1 }, .block = { BLOCK, 1, 1 },
        .signal_addr = DONE_VA, .signal_value = 1,
    };

    *w = (Work){ .steps = steps };
    work_memory(dev, w);
    mx_msix_enable(dev);
    w->kernel = mx_queue_new(dev, 0);
    w->copies = mx_queue_new(dev, 1);
    mx_push(w->kernel, &packet);
}

/* A burst of copies, the last of which counts: each of the other half. */
static void work_copy(Work *w)
{
    for (unsigned i = 0; i < 12; i++) {
        struct mxgpu_packet_copy packet = {
            .type = MXGPU_PKT_COPY, .flags = MXGPU_PKT_BARRIER | MXGPU_PKT_IRQ,
            .src = SRC_VA + w->copied % 2 * COPY_SIZE, .dst = DST_VA,
            .size = COPY_SIZE,
            .signal_addr = DONE_VA + 8, .signal_value = ++w->copied,
        };

        mx_push(w->copies, &packet);
    }
}

static void check_copies(MxDevice *dev, Work *w)
{
    g_autofree uint8_t *src = g_malloc(COPY_SIZE), *dst = g_malloc(COPY_SIZE);

    if (w->checked == w->copied) {
        return;
    }
    w->checked = w->copied;
    MX_WAIT(dev, qtest_readq(dev->qts, w->done + 8) == w->copied);
    qtest_memread(dev->qts,
                  dev->vram.addr + w->src + (w->copied - 1) % 2 * COPY_SIZE,
                  src, COPY_SIZE);
    qtest_memread(dev->qts, w->dst, dst, COPY_SIZE);
    g_assert_cmpmem(src, COPY_SIZE, dst, COPY_SIZE);
    MX_WAIT(dev, dev->dut.ops->irqs(&dev->dut, w->copies->vector));
}

/* What a round does to a number: x * factor + addend. */
static void check_kernel(MxDevice *dev, Work *w)
{
    g_autofree uint64_t *out = g_malloc(OUT_SIZE);
    uint64_t factor = 1, addend = 0, x[THREADS];

    MX_WAIT(dev, qtest_readq(dev->qts, w->done) == 1);
    MX_WAIT(dev, dev->dut.ops->irqs(&dev->dut, w->kernel->vector));
    for (unsigned i = 0; i < w->steps; i++) {
        factor *= FACTOR;
        addend = addend * FACTOR + ADDEND;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        x[i] = i;
    }
    qtest_memread(dev->qts, dev->vram.addr + w->out, out, OUT_SIZE);
    for (unsigned r = 0; r < ROUNDS; r++) {
        for (unsigned i = 0; i < THREADS; i++) {
            x[i] = x[i] * factor + addend;
            if (out[r * THREADS + i] != x[i]) {
                g_test_message("round %u thread %u", r, i);
            }
            g_assert_cmphex(out[r * THREADS + i], ==, x[i]);
        }
    }
}

static void work_end(MxDevice *dev, Work *w)
{
    check_copies(dev, w);
    check_kernel(dev, w);
    mx_wait_read_index(w->kernel, 1);
    mx_queue_free(w->kernel);
    mx_queue_free(w->copies);
}

static bool work_runs(MxDevice *dev, Work *w)
{
    return qtest_readq(dev->qts, w->done) == 0;
}

/* ---- in another QEMU ----------------------------------------------------- */

static void move(MxDevice *dev, unsigned mib_per_second)
{
    mx_machine_move(dev->machine, mib_per_second);
    dev->qts = dev->machine->qts;
}

/* Live, at random moments; slowly, so that much is written meanwhile. */
static void test_live(MxDevice *dev)
{
    unsigned moves = 0;
    Work w;

    work_start(dev, &w, STEPS_LIVE);
    do {
        g_usleep(g_test_rand_int_range(0, 50000));
        mx_tick(dev);
        work_copy(&w);
        move(dev, moves % 2 ? 0 : 8);
        moves++;
        check_copies(dev, &w);
    } while (work_runs(dev, &w) && moves < 5);
    g_test_message("moved %u times", moves);
    work_end(dev, &w);
}

/* Live, and what it needs comes later: units and copy engines wait for pages as
 * processors do. */
static void test_postcopy(MxDevice *dev)
{
    Work w;

    work_start(dev, &w, STEPS_LIVE);
    for (unsigned moves = 0; moves < 2; moves++) {
        QTestState *old;

        mx_tick(dev);
        work_copy(&w);
        old = mx_machine_move_first(dev->machine, 16);
        dev->qts = dev->machine->qts;
        mx_tick(dev);
        mx_machine_move_rest(old);
        check_copies(dev, &w);
    }
    work_end(dev, &w);
}

/* Saved while it runs on, and what was saved is of one moment. Whether work was
 * under way at that. */
static bool background(MxDevice *dev, unsigned steps)
{
    g_autofree char *file = temporary("state");
    QTestState *old;
    bool runs;
    Work w;

    work_start(dev, &w, steps);
    work_copy(&w);
    mx_tick(dev);
    mx_machine_snapshot(dev->machine, file);
    check_copies(dev, &w);
    check_kernel(dev, &w);
    old = mx_machine_go_back(dev->machine, file);
    dev->qts = dev->machine->qts;
    qtest_quit(old);
    runs = work_runs(dev, &w);
    qtest_qmp_assert_success(dev->qts, "{'execute': 'cont'}");
    w.checked = 0;
    work_end(dev, &w);
    unlink(file);
    return runs;
}

/* How long it takes until the moment comes is QEMU's affair. */
static void test_background(MxDevice *dev)
{
    unsigned steps = STEPS_LIVE;

    while (!background(dev, steps)) {
        g_test_message("the work had ended after %u steps", steps);
        steps *= 4;
        g_assert_cmpuint(steps, <=, 64 * STEPS_LIVE);
    }
}

/* Whether QEMU may wait for pages, and see writes to them. */
static bool host_has_userfaultfd(void)
{
    int fd = syscall(__NR_userfaultfd, O_CLOEXEC);

    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

/* Without work: configuration space, BAR size, masked vectors, power. */
static void test_bare(MxDevice *dev)
{
    uint8_t before[256], after[256];

    mx_msix_enable(dev);
    mx_msix_mask(dev, 0, true);
    mx_write(dev, MXGPU_IRQ_ENABLE, 1u << MXGPU_IRQ_STATUS_ERROR_SHIFT);
    qpci_io_writeb(dev->pci, dev->regs, 1, 0); /* a wrong access */
    MX_WAIT(dev, mx_msix_pending(dev, 0));
    mx_vram_write(dev, dev->vram_size - 8, 0x123456789abcdefull);
    for (unsigned i = 0; i < sizeof(before); i++) {
        before[i] = qpci_config_readb(dev->pci, i);
    }
    move(dev, 0);
    for (unsigned i = 0; i < sizeof(before); i++) {
        after[i] = qpci_config_readb(dev->pci, i);
    }
    g_assert_cmpmem(before, sizeof(before), after, sizeof(after));
    g_assert_cmphex(mx_vram_read(dev, dev->vram_size - 8), ==,
                    0x123456789abcdefull);
    g_assert_cmpuint(mx_read(dev, MXGPU_ERR_COUNT), ==, 1);
    g_assert_true(mx_msix_pending(dev, 0));
    mx_msix_mask(dev, 0, false);
    MX_WAIT(dev, dev->dut.ops->irqs(&dev->dut, 0));
    mx_boot(dev);
}

/* Of an aperture that the guest has made smaller, where the larger one could
 * not be. */
static void test_aperture(MxDevice *dev)
{
    uint64_t ctrl = mx_extended(dev, PCI_EXT_CAP_ID_REBAR) + PCI_REBAR_CTRL;
    unsigned bar = PCI_BASE_ADDRESS_0 + 4 * MXGPU_BAR_VRAM;
    uint32_t size = qtest_readl(dev->qts, ctrl) & ~PCI_REBAR_CTRL_BAR_SIZE;
    uint32_t low = qpci_config_readl(dev->pci, bar) + MiB;
    uint64_t at;

    mx_vram_write(dev, 0, 0x123456789abcdefull);
    qpci_config_writew(dev->pci, PCI_COMMAND, 0);
    qtest_writel(dev->qts, ctrl, size);
    qpci_config_writel(dev->pci, bar, low);
    qpci_config_writew(dev->pci, PCI_COMMAND,
                       PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
    at = (low & PCI_BASE_ADDRESS_MEM_MASK) |
         (uint64_t)qpci_config_readl(dev->pci, bar + 4) << 32;
    g_assert_cmphex(qtest_readq(dev->qts, at), ==, 0x123456789abcdefull);
    move(dev, 0);
    g_assert_cmphex(qtest_readl(dev->qts, ctrl), ==, size);
    g_assert_cmphex(qpci_config_readl(dev->pci, bar), ==, low);
    g_assert_cmphex(qtest_readq(dev->qts, at), ==, 0x123456789abcdefull);
}

/* ---- work without an end ------------------------------------------------- */

/* One thread makes a sequence of numbers for ever, and stores the last one and
 * how many there were; a word that is not 0 ends it. */
static const uint32_t endless[] = {
    0x00053583, /*       ld a1, 0(a0)    out */
    0x00853683, /*       ld a3, 8(a0)    factor */
    0x01053703, /*       ld a4, 16(a0)   addend */
    0x00000293, /*       li t0, 0 */
    0x00000313, /*       li t1, 0 */
    0x02d30333, /* next: mul t1, t1, a3 */
    0x00e30333, /*       add t1, t1, a4 */
    0x00128293, /*       addi t0, t0, 1 */
    0x0065b023, /*       sd t1, 0(a1) */
    0x0055b423, /*       sd t0, 8(a1) */
    0x0105b383, /*       ld t2, 16(a1) */
    0xfe0384e3, /*       beqz t2, next */
    MXGPU_F7_EXIT << 25 | MXGPU_OPCODE_CUSTOM0,
};

/* Returns its queue; *out: in guest memory, where it stores. */
static MxQueue *endless_start(MxDevice *dev, uint64_t *out)
{
    struct mxgpu_kernel_desc desc = {
        .magic = MXGPU_KERNEL_MAGIC, .abi = MXGPU_KERNEL_ABI,
        .entry = CODE_VA + CODE_OFFSET, .registers = 32,
    };
    struct mxgpu_packet_dispatch packet = {
        .type = MXGPU_PKT_DISPATCH, .kernel = CODE_VA, .args = ARGS_VA,
        .grid = { 1, 1, 1 }, .block = { 1, 1, 1 },
        .signal_addr = OUT_VA + 24, .signal_value = 1,
    };
    const uint64_t args[] = { OUT_VA, FACTOR, ADDEND };
    uint64_t kernel = mx_vram_alloc(dev, MX_PAGE);
    uint64_t arguments = mx_vram_alloc(dev, MX_PAGE);
    MxQueue *queue;

    *out = mx_alloc(dev->machine, MX_PAGE);
    mx_map(dev, CODE_VA, kernel, MX_PAGE, MXGPU_PTE_READ | MXGPU_PTE_EXECUTE);
    mx_map(dev, ARGS_VA, arguments, MX_PAGE, MXGPU_PTE_READ);
    mx_map(dev, OUT_VA, mx_bus_map(dev->machine, *out, MX_PAGE), MX_PAGE,
           MX_SYS);
    mx_invalidate(dev);
    qtest_memwrite(dev->qts, dev->vram.addr + kernel, &desc, sizeof(desc));
    qtest_memwrite(dev->qts, dev->vram.addr + kernel + CODE_OFFSET, endless,
                   sizeof(endless));
    qtest_memwrite(dev->qts, dev->vram.addr + arguments, args, sizeof(args));
    queue = mx_queue_new(dev, 0);
    mx_push(queue, &packet);
    MX_WAIT(dev, qtest_readq(dev->qts, *out + 8) > 0);
    return queue;
}

static void endless_end(MxDevice *dev, MxQueue *queue, uint64_t out)
{
    uint64_t x = 0, rounds;

    qtest_writeq(dev->qts, out + 16, 1);
    MX_WAIT(dev, qtest_readq(dev->qts, out + 24) == 1);
    rounds = qtest_readq(dev->qts, out + 8);
    for (uint64_t i = 0; i < rounds; i++) {
        x = x * FACTOR + ADDEND;
    }
    g_test_message("%" PRIu64 " rounds", rounds);
    g_assert_cmphex(qtest_readq(dev->qts, out), ==, x);
    mx_queue_free(queue);
}

/* Nothing but the migration stops it, and no round is lost or made twice. */
static void test_endless(MxDevice *dev)
{
    uint64_t out, before;
    MxQueue *queue = endless_start(dev, &out);

    for (unsigned i = 0; i < 3; i++) {
        before = qtest_readq(dev->qts, out + 8);
        move(dev, i % 2 ? 0 : 8);
        MX_WAIT(dev, qtest_readq(dev->qts, out + 8) > before);
    }
    endless_end(dev, queue, out);
}

/* ---- from a file --------------------------------------------------------- */

/* Loads into a QEMU that has other options; whether it took that. What it said
 * is in *said. */
static bool loads(MxDevice *dev, const char *file, const char *options,
                  char **said)
{
    g_autofree char *log = temporary("said");
    bool loaded;
    QTestState *qts = mx_machine_incoming(dev->machine, options, log);

    loaded = mx_machine_load(qts, file);
    if (loaded) {
        /* Whatever it does then, it can be reset. */
        qtest_qmp_assert_success(qts, "{'execute': 'cont'}");
        qtest_clock_step(qts, 20 * 1000 * 1000);
        qtest_system_reset(qts);
    }
    qtest_quit(qts);
    g_assert_true(g_file_get_contents(log, said, NULL, NULL));
    unlink(log);
    return loaded;
}

static void test_refused(MxDevice *dev)
{
    static const struct {
        const char *option, *said;
    } others[] = {
        { "compute-units=3", "property compute-units is 3 here and was 2" },
        { "queues=63", "property queues is 63 here and was 64" },
        { "copy-engines=3", "property copy-engines is 3" },
        { "private-memory=512M", "property private-memory" },
        { "strict-alignment=on", "property strict-alignment is 1" },
        { "watchdog-ms=5", "property watchdog-ms is 5 here and was 0" },
        { "uuid=00000000-0000-0000-0000-000000000001", "property uuid" },
        { "link-width=4", "property link-width" },
        { "vram=32M", "mxgpu-vram" },
    };
    g_autofree char *file = temporary("state");
    g_autofree char *said = NULL;
    Work w;

    work_start(dev, &w, STEPS);
    mx_machine_save(dev->machine, file);
    for (unsigned i = 0; i < G_N_ELEMENTS(others); i++) {
        g_clear_pointer(&said, g_free);
        g_assert_false(loads(dev, file, others[i].option, &said));
        if (!strstr(said, others[i].said)) {
            g_test_message("%s: %s", others[i].option, said);
        }
        g_assert_nonnull(strstr(said, others[i].said));
    }
    g_clear_pointer(&said, g_free);
    g_assert_true(loads(dev, file, "threads=1", &said));
    /* The one that was saved goes on. */
    qtest_qmp_assert_success(dev->qts, "{'execute': 'cont'}");
    work_end(dev, &w);
    unlink(file);
}

/* QEMU's analyze-migration.py can read the whole stream by its description, and
 * query-migrate tells of what was sent. */
static void test_sections(MxDevice *dev)
{
    static const char *const names[] = {
        "/mxgpu (", "\"compute-units\"", "\"uuid\"", "\"irq_saved\"",
        "\"parts\"", "\"version\"", "\"data\"", "mxgpu-vram",
    };
    const char *script = g_getenv("MXGPU_ANALYZE");
    g_autofree char *file = temporary("state"), *out = NULL, *err = NULL;
    const char *argv[] = {"python3", script, "-f", file, NULL};
    QDict *info, *ram;
    int status;
    Work w;

    g_assert_nonnull(script);
    work_start(dev, &w, STEPS);
    mx_machine_save(dev->machine, file);
    g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH,
                               NULL, NULL, &out, &err, &status, NULL));
    if (status) {
        g_test_message("%s", err);
    }
    g_assert_cmpint(status, ==, 0);
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        if (!strstr(out, names[i])) {
            g_test_message("%s: %.2000s", names[i], out);
        }
        g_assert_nonnull(strstr(out, names[i]));
    }
    info = qtest_qmp_assert_success_ref(dev->qts,
                                        "{'execute': 'query-migrate'}");
    ram = qdict_get_qdict(info, "ram");
    g_assert_cmpint(qdict_get_int(ram, "total"), >=, dev->vram_size);
    g_assert_cmpint(qdict_get_int(ram, "transferred"), >=, OUT_SIZE);
    g_assert_cmpint(qdict_get_int(ram, "remaining"), ==, 0);
    qobject_unref(info);
    unlink(file);
    qtest_qmp_assert_success(dev->qts, "{'execute': 'cont'}");
    work_end(dev, &w);
}

/* The last of these names, padded to 12 bytes, before an offset. */
static size_t find_part(const char *data, size_t before, const char *name)
{
    char padded[12] = "";

    g_strlcpy(padded, name, sizeof(padded));
    for (size_t i = before - sizeof(padded); i > 0; i--) {
        if (!memcmp(data + i, padded, sizeof(padded))) {
            return i;
        }
    }
    g_assert_not_reached();
}

/* Where the registers are in the device's own parts of a stream. */
static size_t find_model(const char *data, size_t size)
{
    return find_part(data, find_part(data, size, "steppers"), "registers");
}

/* A part that a later version of the model saved. */
static void test_newer(MxDevice *dev)
{
    g_autofree char *file = temporary("state"), *data = NULL, *said = NULL;
    size_t size, version;
    Work w;

    work_start(dev, &w, STEPS);
    mx_machine_save(dev->machine, file);
    g_assert_true(g_file_get_contents(file, &data, &size, NULL));
    version = find_part(data, size, "steppers") + 16; /* its name */
    stl_be_p(data + version, ldl_be_p(data + version) + 1);
    g_assert_true(g_file_set_contents(file, data, size, NULL));
    g_assert_false(loads(dev, file, "threads=1", &said));
    g_assert_nonnull(strstr(said, "part 'steppers' of the state is of version"));
    unlink(file);
    qtest_qmp_assert_success(dev->qts, "{'execute': 'cont'}");
    work_end(dev, &w);
}

/* Raised vectors stand before the parts' number and the first part's name. */
#define RAISED_BYTES (MXGPU_MAX_VECTORS / 8)

/* Vectors are raised that the function does not have. */
static void test_raised(MxDevice *dev)
{
    g_autofree char *file = temporary("state"), *data = NULL, *said = NULL;
    size_t size, first;
    Work w;

    work_start(dev, &w, STEPS);
    mx_machine_save(dev->machine, file);
    g_assert_true(g_file_get_contents(file, &data, &size, NULL));
    first = find_part(data, find_model(data, size), "device");
    memset(data + first - sizeof(uint32_t) - RAISED_BYTES, 0xff, RAISED_BYTES);
    g_assert_true(g_file_set_contents(file, data, size, NULL));
    g_assert_true(loads(dev, file, "threads=1", &said));
    unlink(file);
    qtest_qmp_assert_success(dev->qts, "{'execute': 'cont'}");
    work_end(dev, &w);
}

/* Cut short, or with some bytes changed. */
static void test_broken(MxDevice *dev)
{
    g_autofree char *file = temporary("state"), *data = NULL;
    unsigned refused = 0;
    size_t size, model;
    Work w;

    work_start(dev, &w, STEPS);
    mx_machine_save(dev->machine, file);
    g_assert_true(g_file_get_contents(file, &data, &size, NULL));
    model = find_model(data, size);
    for (unsigned i = 0; i < 10; i++) {
        g_autofree char *copy = g_memdup2(data, size), *said = NULL;
        size_t n = size;

        if (i % 2) {
            n = model + g_test_rand_int_range(0, 20000);
            n = MIN(n, size - 1);
        } else {
            for (unsigned k = 0; k < 1u + i; k++) {
                copy[MIN(model + g_test_rand_int_range(-600, 8000), size - 1)]
                    ^= 1 << g_test_rand_int_range(0, 8);
            }
        }
        g_assert_true(g_file_set_contents(file, copy, n, NULL));
        refused += !loads(dev, file, "threads=2", &said);
    }
    g_test_message("%u of 10 refused", refused);
    g_assert_cmpuint(refused, >=, 5); /* at least those that are cut */
    unlink(file);
    qtest_qmp_assert_success(dev->qts, "{'execute': 'cont'}");
    work_end(dev, &w);
}

/* ---- savevm and loadvm --------------------------------------------------- */

/* Waits for the end of a job, which has to go well. */
static void wait_job(MxDevice *dev, const char *id)
{
    bool ended = false;

    while (!ended) {
        QDict *answer = qtest_qmp(dev->qts, "{'execute': 'query-jobs'}");
        QListEntry *entry;

        QLIST_FOREACH_ENTRY(qdict_get_qlist(answer, "return"), entry) {
            QDict *job = qobject_to(QDict, qlist_entry_obj(entry));

            if (g_str_equal(qdict_get_str(job, "id"), id) &&
                g_str_equal(qdict_get_str(job, "status"), "concluded")) {
                g_assert_cmpstr(qdict_get_try_str(job, "error"), ==, NULL);
                ended = true;
            }
        }
        qobject_unref(answer);
        g_usleep(2000);
    }
    qtest_qmp_assert_success(
        dev->qts, "{'execute': 'job-dismiss', 'arguments': {'id': %s}}", id);
}

/* A disk for snapshots, node "disk". */
static void add_disk(MxDevice *dev, const char *file)
{
    qtest_qmp_assert_success(
        dev->qts, "{'execute': 'blockdev-create', 'arguments': {"
        " 'job-id': 'file', 'options': {'driver': 'file', 'filename': %s,"
        " 'size': 0}}}", file);
    wait_job(dev, "file");
    qtest_qmp_assert_success(
        dev->qts, "{'execute': 'blockdev-add', 'arguments': {"
        " 'driver': 'file', 'node-name': 'file', 'filename': %s}}", file);
    qtest_qmp_assert_success(
        dev->qts, "{'execute': 'blockdev-create', 'arguments': {"
        " 'job-id': 'format', 'options': {'driver': 'qcow2', 'file': 'file',"
        " 'size': 1048576}}}");
    wait_job(dev, "format");
    qtest_qmp_assert_success(
        dev->qts, "{'execute': 'blockdev-add', 'arguments': {"
        " 'driver': 'qcow2', 'node-name': 'disk', 'file': 'file'}}");
}

/* Saves or loads one in the midst of the work; the machine runs again then. */
static void snapshot(MxDevice *dev, Work *w, const char *command)
{
    qtest_qmp_assert_success(dev->qts, "{'execute': 'stop'}");
    qtest_qmp_assert_success(
        dev->qts, "{'execute': %s, 'arguments': {'job-id': 'snapshot',"
        " 'tag': 'here', 'vmstate': 'disk', 'devices': ['disk']}}", command);
    wait_job(dev, "snapshot");
    g_assert_true(work_runs(dev, w));
    qtest_qmp_assert_success(dev->qts, "{'execute': 'cont'}");
}

/* Back in the midst of it, from a later point and from the end. */
static void test_snapshot(MxDevice *dev)
{
    g_autofree char *file = temporary("disk");
    Work w;

    add_disk(dev, file);
    work_start(dev, &w, STEPS);
    work_copy(&w);
    snapshot(dev, &w, "snapshot-save");
    g_usleep(10000);
    snapshot(dev, &w, "snapshot-load");
    check_copies(dev, &w);
    check_kernel(dev, &w);
    snapshot(dev, &w, "snapshot-load");
    w.checked = 0;
    work_end(dev, &w);
    unlink(file);
}

void mx_save_tests(void)
{
    mx_test("save/snapshot", MX_BOOTED, test_snapshot);
    mx_test("save/live", MX_BOOTED, test_live);
    mx_test("save/endless", MX_BOOTED, test_endless);
    if (host_has_userfaultfd()) {
        mx_test("save/postcopy", MX_BOOTED, test_postcopy);
        mx_test("save/background", MX_BOOTED, test_background);
    }
    mx_test("save/bare", MX_BARE, test_bare);
    if (mx_env()->express) {
        mx_test("save/aperture", MX_BARE, test_aperture);
    }
    mx_test("save/refused", MX_BOOTED, test_refused);
    mx_test("save/newer", MX_BOOTED, test_newer);
    mx_test("save/sections", MX_BOOTED, test_sections);
    mx_test("save/raised", MX_BOOTED, test_raised);
    mx_test("save/broken", MX_BOOTED, test_broken);
}
