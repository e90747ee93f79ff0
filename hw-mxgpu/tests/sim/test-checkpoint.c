/* SPDX-License-Identifier: MIT */
/* Checkpoints of a device in a process: what was under way goes on in another
 * device, and files that are no checkpoint of it are refused. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mxgpu/kernel.h"
#include "sim_driver.h"

static const char *kernels;

#define KERNEL_VA 0x10000000ull
/* In VRAM. */
#define CODE   0x100000u
#define BLOCKS 0x400000u
#define BLOCK  0x40000u
/* In system memory. */
#define SIGNAL 0x100000u
#define DESC   0x110000u
#define ARGS   0x118000u
#define COUNT  0x180000u
#define OUT    0x200000u
#define QUEUE(i) (0x10000u + (i) * 0x2000u)

#define COPIES 50u

static MxgpuSimOptions options(gconstpointer mode)
{
    return (MxgpuSimOptions){.compute_units = 2,
                             .queues = 16,
                             .threads = 2,
                             .deterministic = mode != NULL};
}

static volatile uint64_t *word(Drv *d, uint32_t at)
{
    return (volatile uint64_t *)(d->sys + at);
}

/* The address of a kernel, and all of them in VRAM. */
static uint64_t load_kernel(Drv *d, const char *name)
{
    g_autofree char *elf = NULL;
    const Elf64_Ehdr *eh;
    const Elf64_Phdr *ph;
    const Elf64_Shdr *sh;

    g_assert_true(g_file_get_contents(kernels, &elf, NULL, NULL));
    eh = (const void *)elf;
    ph = (const void *)(elf + eh->e_phoff);
    sh = (const void *)(elf + eh->e_shoff);
    for (unsigned i = 0; i < eh->e_phnum; i++) {
        if (ph[i].p_type == PT_LOAD && ph[i].p_filesz) {
            memcpy(d->vram + CODE + (ph[i].p_vaddr - KERNEL_VA),
                   elf + ph[i].p_offset, ph[i].p_filesz);
        }
    }
    for (uint64_t at = 0; at < 16 * DUT_PAGE; at += DUT_PAGE) {
        drv_map(d, KERNEL_VA + at, 0,
                MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_EXECUTE |
                    (CODE + at));
    }
    for (unsigned i = 0; i < eh->e_shnum; i++) {
        const Elf64_Sym *sym = (const void *)(elf + sh[i].sh_offset);

        if (sh[i].sh_type != SHT_SYMTAB) {
            continue;
        }
        for (uint64_t k = 0; k < sh[i].sh_size / sizeof(*sym); k++) {
            if (strcmp(elf + sh[sh[i].sh_link].sh_offset + sym[k].st_name,
                       name) == 0) {
                return sym[k].st_value;
            }
        }
    }
    g_error("no %s", name);
}

/* A kernel that counts in system memory for ever. */
static void start_endless(Drv *d)
{
    struct mxgpu_kernel_desc desc = {
        .magic = MXGPU_KERNEL_MAGIC,
        .abi = MXGPU_KERNEL_ABI,
        .entry = load_kernel(d, "endless"),
        .registers = 32,
    };
    uint64_t args[3] = {0, DRV_SYS_VA + COUNT, 0};
    struct mxgpu_packet_dispatch p = {
        .type = MXGPU_PKT_DISPATCH,
        .kernel = DRV_SYS_VA + DESC,
        .args = DRV_SYS_VA + ARGS,
        .grid = {1, 1, 1},
        .block = {64, 1, 1},
    };
    DrvQueue q = drv_queue(d, 1, 0, QUEUE(1));

    memcpy(d->sys + DESC, &desc, sizeof(desc));
    memcpy(d->sys + ARGS, args, sizeof(args));
    drv_push(&q, &p);
    drv_ring(&q);
    DUT_WAIT(&d->dut, *word(d, COUNT) > 1000);
}

/* Each block of VRAM to the next one, and the last to system memory. */
static void start_copies(Drv *d)
{
    DrvQueue q = drv_queue(d, 0, 0, QUEUE(0));

    for (unsigned i = 0; i < BLOCK; i++) {
        d->vram[BLOCKS + i] = (uint8_t)(i * 31 + (i >> 9));
    }
    for (unsigned i = 0; i < COPIES; i++) {
        bool last = i == COPIES - 1;
        struct mxgpu_packet_copy p = {
            .type = MXGPU_PKT_COPY,
            .flags = MXGPU_PKT_BARRIER | (last ? MXGPU_PKT_IRQ : 0),
            .src = DRV_VRAM_VA + BLOCKS + i * BLOCK,
            .dst = last ? DRV_SYS_VA + OUT :
                          DRV_VRAM_VA + BLOCKS + (i + 1) * BLOCK,
            .size = BLOCK,
            .signal_addr = DRV_SYS_VA + SIGNAL,
            .signal_value = i + 1,
        };

        drv_push(&q, &p);
    }
    drv_ring(&q);
}

static void check_copies(Drv *d)
{
    drv_wait64(word(d, SIGNAL), COPIES);
    for (unsigned i = 0; i < BLOCK; i++) {
        g_assert_cmphex(d->sys[OUT + i], ==, (uint8_t)(i * 31 + (i >> 9)));
    }
}

static int new_file(void)
{
    int fd = memfd_create("checkpoint", MFD_CLOEXEC);

    g_assert_cmpint(fd, >=, 0);
    return fd;
}

/* The device and what it sees of the process. */
static void save(Drv *d, int fd, uint8_t *sys)
{
    d->ops->pause(d->sim);
    g_assert_cmpint(d->ops->save(d->sim, fd), ==, 0);
    memcpy(sys, d->sys, DRV_SYS_SIZE);
    d->ops->resume(d->sim);
    g_assert_cmpint(lseek(fd, 0, SEEK_SET), ==, 0);
}

static void load(Drv *d, int fd, const uint8_t *sys)
{
    d->ops->pause(d->sim);
    g_assert_cmpint(d->ops->load(d->sim, fd), ==, 0);
    memcpy(d->sys, sys, DRV_SYS_SIZE);
    d->ops->resume(d->sim);
}

static void test_goes_on(gconstpointer mode)
{
    g_autofree uint8_t *sys = g_malloc(DRV_SYS_SIZE);
    MxgpuSimOptions config = options(mode);
    Drv *a = drv_open(&config), *b;
    int fd = new_file();
    uint64_t count;

    start_endless(a);
    start_copies(a);
    save(a, fd, sys);
    check_copies(a); /* the one that was saved goes on, too */
    drv_close(a);

    b = drv_open(&config);
    b->vram[DRV_VRAM_SIZE - 1] = 0x77;
    load(b, fd, sys);
    g_assert_cmphex(b->vram[DRV_VRAM_SIZE - 1], ==, 0);
    check_copies(b);
    g_assert_cmpuint(drv_wait_irq(b, 1), ==, 1);
    count = *word(b, COUNT);
    DUT_WAIT(&b->dut, *word(b, COUNT) > count + 1000);
    g_assert_cmphex(b->ops->read(b->sim, MXGPU_ERR_STATUS), ==, 0);
    close(fd);
    drv_close(b);
}

/* Interrupts that nobody has taken, through a pipe. */
static void test_interrupts(gconstpointer mode)
{
    g_autofree uint8_t *sys = g_malloc(DRV_SYS_SIZE);
    MxgpuSimOptions config = options(mode);
    Drv *a = drv_open(&config), *b = drv_open(&config);
    struct pollfd p = {.fd = a->ops->irq_fd(a->sim, 1), .events = POLLIN};
    int fd = new_file();

    start_copies(a);
    g_assert_cmpint(poll(&p, 1, 600000), ==, 1);
    save(a, fd, sys);
    drv_close(a);
    p.fd = b->ops->irq_fd(b->sim, 1);
    g_assert_cmpint(poll(&p, 1, 0), ==, 0);
    load(b, fd, sys);
    check_copies(b);
    g_assert_cmpuint(drv_wait_irq(b, 1), ==, 1);
    close(fd);
    drv_close(b);
}

static void expect_refused(Drv *d, int fd)
{
    g_assert_cmpint(lseek(fd, 0, SEEK_SET), ==, 0);
    g_assert_cmpint(d->ops->load(d->sim, fd), ==, -EINVAL);
    g_assert_cmphex(d->ops->read(d->sim, MXGPU_ID), ==, MXGPU_ID_MAGIC);
}

/* Cut short anywhere, of another device, of none. */
static void test_refused(gconstpointer mode)
{
    g_autofree uint8_t *sys = g_malloc(DRV_SYS_SIZE);
    MxgpuSimOptions config = options(mode), other = config;
    Drv *d = drv_open(&config), *e;
    int fd = new_file();
    struct stat st;

    other.compute_units = 3;
    e = drv_open(&other);
    start_endless(d);
    save(d, fd, sys);
    expect_refused(e, fd);
    g_assert_cmpint(fstat(fd, &st), ==, 0);
    for (off_t size = st.st_size - 1; size > 0; size = size * 2 / 3) {
        g_assert_cmpint(ftruncate(fd, size), ==, 0);
        expect_refused(d, fd);
    }
    g_assert_cmpint(pwrite(fd, "no checkpoint", 13, 0), ==, 13);
    expect_refused(d, fd);
    g_assert_cmpint(d->ops->load(d->sim, -1), ==, -EBADF);
    g_assert_cmpint(d->ops->save(d->sim, -1), ==, -EBADF);
    /* It can be used as after a reset. */
    drv_boot(d);
    start_copies(d);
    check_copies(d);
    close(fd);
    drv_close(d);
    drv_close(e);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*func)(gconstpointer mode);
    } tests[] = {
        {"goes-on", test_goes_on},
        {"interrupts", test_interrupts},
        {"refused", test_refused},
    };

    g_test_init(&argc, &argv, NULL);
    g_assert_cmpint(argc, ==, 2);
    kernels = argv[1];
    for (unsigned i = 0; i < G_N_ELEMENTS(tests); i++) {
        for (unsigned mode = 0; mode < 2; mode++) {
            g_autofree char *path = g_strdup_printf(
                "/checkpoint/%s/%s", tests[i].name,
                mode ? "deterministic" : "threads");

            g_test_add_data_func(path, mode ? "" : NULL, tests[i].func);
        }
    }
    return g_test_run();
}
