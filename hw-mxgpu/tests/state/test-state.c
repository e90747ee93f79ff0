/* SPDX-License-Identifier: MIT */
/*
 * The state of a whole device with the real firmware, at work on copies and
 * kernels. Saved at a random step, loaded into another one and run on, a
 * deterministic one comes to the same, to the last bit of memory, registers and
 * counts; so does one that forgets what it has cached. One with threads comes
 * to the same results. No image that somebody has changed does harm.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim_driver.h"
#include "core/image.h"
#include "core/internal.h"
#include "mxgpu/kernel.h"
#include "simt/internal.h"

#define UNITS     2
#define QUEUES    3
#define KERNEL_VA 0x10000000ull /* where the kernels are linked */

/* Offsets in VRAM and in system memory. */
#define CODE   (1u << 20)
#define OUT    (2u << 20)
#define DATA   (4u << 20)
#define COPIES (8u << 20)
#define RINGS  0u
#define SIGNAL 0x40000u
#define DESCS  0x50000u
#define ARGS   0x58000u
#define TARGET (1u << 20)

/* ---- a device and its host */

typedef struct Rig {
    MxgpuDevice *dev;
    Drv drv;
    bool threads;
    uint64_t clock; /* of a deterministic one */
    _Atomic uint64_t irqs[8];
} Rig;

static uint8_t *bus(Rig *r, uint64_t addr, size_t len)
{
    return addr >= DRV_SYS_IOVA && addr - DRV_SYS_IOVA <= DRV_SYS_SIZE &&
                   len <= DRV_SYS_SIZE - (addr - DRV_SYS_IOVA)
               ? r->drv.sys + (addr - DRV_SYS_IOVA)
               : NULL;
}

static int dma_read(void *host, uint64_t addr, void *buf, size_t len)
{
    const uint8_t *p = bus(host, addr, len);

    if (p) {
        memcpy(buf, p, len);
    }
    return p ? 0 : -EFAULT;
}

static int dma_write(void *host, uint64_t addr, const void *buf, size_t len)
{
    uint8_t *p = bus(host, addr, len);

    if (p) {
        memcpy(p, buf, len);
    }
    return p ? 0 : -EFAULT;
}

static void *dma_map(void *host, uint64_t addr, size_t len, bool write)
{
    return bus(host, addr, len);
}

static void on_irq(void *host, unsigned vector)
{
    ((Rig *)host)->irqs[vector]++;
}

static uint64_t on_clock(void *host)
{
    Rig *r = host;

    return r->threads ? (uint64_t)g_get_monotonic_time() * 1000 : r->clock;
}

static void on_console(void *host, const char *line, size_t len)
{
    g_test_message("%.*s", (int)len, line);
}

static const MxgpuHostOps host_ops = {
    .dma_read = dma_read,
    .dma_write = dma_write,
    .dma_map = dma_map,
    .irq = on_irq,
    .clock = on_clock,
    .console = on_console,
};

static bool step(Rig *r, unsigned budget)
{
    uint64_t deadline;

    r->clock += 1000;
    return mxgpu_device_run(r->dev, budget, &deadline);
}

/* The driver polls while the device runs. */
static uint32_t rig_read(MxgpuSim *sim, uint32_t offset)
{
    Rig *r = (Rig *)sim;

    if (!r->threads) {
        step(r, 1000);
    }
    return (uint32_t)mxgpu_device_mmio_read(r->dev, offset, 4);
}

static void rig_write(MxgpuSim *sim, uint32_t offset, uint32_t value)
{
    mxgpu_device_mmio_write(((Rig *)sim)->dev, offset, value, 4);
}

static void rig_doorbell(MxgpuSim *sim, unsigned queue, uint64_t value)
{
    mxgpu_device_doorbell_write(((Rig *)sim)->dev,
                                queue * MXGPU_DOORBELL_STRIDE, value, 8);
}

static const MxgpuSimOps driver_ops = {
    .read = rig_read,
    .write = rig_write,
    .doorbell = rig_doorbell,
};

static uint8_t *new_memory(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    g_assert_true(p != MAP_FAILED);
    return p;
}

static Rig *rig_new(unsigned units, bool threads)
{
    Rig *r = g_new0(Rig, 1);
    MxgpuConfig config = {
        .vram_size = DRV_VRAM_SIZE,
        .queues = 8,
        .vectors = 8,
        .compute_units = units,
        .copy_engines = 2,
        .private_memory = 64u << 20,
        .threads = 2,
        .deterministic = !threads,
    };
    const char *error;

    config.vram = new_memory(DRV_VRAM_SIZE);
    r->drv = (Drv){.ops = &driver_ops, .sim = (MxgpuSim *)r};
    r->drv.vram = config.vram;
    r->threads = threads;
    r->drv.sys = new_memory(DRV_SYS_SIZE);
    r->dev = mxgpu_device_new(&config, &host_ops, r, &error);
    g_assert_nonnull(r->dev);
    r->dev->simt->patience = INT32_MAX; /* what is cached must not matter */
    return r;
}

static void rig_free(Rig *r)
{
    mxgpu_device_free(r->dev);
    munmap(r->drv.vram, DRV_VRAM_SIZE);
    munmap(r->drv.sys, DRV_SYS_SIZE);
    g_free(r);
}

/* ---- work for it */

static void load_kernels(Rig *r, const char *path)
{
    g_autofree char *elf = NULL;
    const Elf64_Ehdr *eh;
    const Elf64_Phdr *ph;
    gsize len;

    g_assert_true(g_file_get_contents(path, &elf, &len, NULL));
    eh = (const void *)elf;
    ph = (const void *)(elf + eh->e_phoff);
    for (unsigned i = 0; i < eh->e_phnum; i++) {
        if (ph[i].p_type == PT_LOAD && ph[i].p_filesz) {
            memcpy(r->drv.vram + CODE + (ph[i].p_vaddr - KERNEL_VA),
                   elf + ph[i].p_offset, ph[i].p_filesz);
        }
    }
    for (uint64_t at = 0; at < 1u << 20; at += 4096) {
        drv_map(&r->drv, KERNEL_VA + at, 0,
                MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_EXECUTE |
                    (CODE + at));
    }
}

static uint64_t symbol(const char *path, const char *name)
{
    g_autofree char *elf = NULL;
    const Elf64_Ehdr *eh;
    const Elf64_Shdr *sh;
    gsize len;

    g_assert_true(g_file_get_contents(path, &elf, &len, NULL));
    eh = (const void *)elf;
    sh = (const void *)(elf + eh->e_shoff);
    for (unsigned i = 0; i < eh->e_shnum; i++) {
        const Elf64_Sym *sym = (const void *)(elf + sh[i].sh_offset);
        const char *names = elf + sh[sh[i].sh_link].sh_offset;

        for (size_t n = 0; sh[i].sh_type == SHT_SYMTAB &&
                           n < sh[i].sh_size / sizeof(*sym); n++) {
            if (strcmp(names + sym[n].st_name, name) == 0) {
                return sym[n].st_value;
            }
        }
    }
    g_assert_not_reached();
}

static uint64_t signal_va(unsigned i)
{
    return DRV_SYS_VA + SIGNAL + 8 * i;
}

/* The i-th kernel; n is its last argument. */
static struct mxgpu_packet_dispatch dispatch(Rig *r, const char *path,
                                             const char *name, unsigned i,
                                             uint64_t n)
{
    struct mxgpu_kernel_desc desc = {
        .magic = MXGPU_KERNEL_MAGIC,
        .abi = MXGPU_KERNEL_ABI,
        .entry = symbol(path, name),
        .arg_size = 24,
        .registers = 64,
        .static_shared = 4096,
        .private_bytes = 2048,
    };
    uint64_t args[] = {DRV_VRAM_VA + OUT + i * 0x40000,
                       DRV_VRAM_VA + DATA + i * 0x40000, n};

    memcpy(r->drv.sys + DESCS + 64 * i, &desc, sizeof(desc));
    memcpy(r->drv.sys + ARGS + 64 * i, args, sizeof(args));
    return (struct mxgpu_packet_dispatch){
        .type = MXGPU_PKT_DISPATCH,
        .kernel = DRV_SYS_VA + DESCS + 64 * i,
        .args = DRV_SYS_VA + ARGS + 64 * i,
        .signal_addr = signal_va(i),
        .signal_value = 1,
        .grid = {1, 1, 1},
        .block = {64, 1, 1},
    };
}

static void push_copies(DrvQueue *q)
{
    struct mxgpu_packet_fill fill = {
        .type = MXGPU_PKT_FILL,
        .flags = MXGPU_PKT_BARRIER,
        .pattern_size = 8,
        .dst = DRV_VRAM_VA + COPIES,
        .size = (5u << 20) / 2,
        .pattern = "12345678",
    };
    struct mxgpu_packet_copy copy = {
        .type = MXGPU_PKT_COPY,
        .flags = MXGPU_PKT_BARRIER,
        .src = DRV_VRAM_VA + COPIES + 12345,
        .dst = DRV_VRAM_VA + COPIES + (4u << 20) + 77,
        .size = (5u << 20) / 2,
    };
    struct mxgpu_packet_copy_rect rect = {
        .type = MXGPU_PKT_COPY_RECT,
        .flags = MXGPU_PKT_BARRIER | MXGPU_PKT_IRQ,
        .width = 100,
        .src = DRV_VRAM_VA + COPIES + (4u << 20),
        .dst = DRV_SYS_VA + TARGET,
        .height = 40,
        .depth = 160,
        .src_pitch = 200,
        .dst_pitch = 128,
        .src_slice = 50,
        .dst_slice = 41,
        .signal_addr = signal_va(3),
        .signal_value = 1,
    };

    for (unsigned i = 0; i < 4; i++) {
        fill.pattern[0] = (uint8_t)i;
        drv_push(q, &fill);
        drv_push(q, &copy);
        drv_push(q, &rect);
        rect.signal_value++;
    }
}

/* Boots, and gives all queues their work. */
static void start(Rig *r, const char *path)
{
    struct mxgpu_packet_dispatch p;
    DrvQueue q[QUEUES];

    drv_boot(&r->drv);
    load_kernels(r, path);
    drv_invalidate(&r->drv);
    for (unsigned i = 0; i < QUEUES; i++) {
        q[i] = drv_queue(&r->drv, i, i, RINGS + i * 0x4000);
    }
    p = dispatch(r, path, "all_sorts", 0, 12);
    p.grid[0] = 9;
    p.block[0] = 192;
    drv_push(&q[0], &p);
    p = dispatch(r, path, "small", 1, 0);
    p.grid[0] = 3000;
    drv_push(&q[0], &p);
    p = dispatch(r, path, "together", 2, 6);
    p.flags = MXGPU_PKT_COOPERATIVE;
    p.grid[0] = 4;
    p.block[0] = 128;
    drv_push(&q[1], &p);
    push_copies(&q[2]);
    for (unsigned i = 0; i < QUEUES; i++) {
        drv_ring(&q[i]);
    }
}

static bool done(Rig *r)
{
    static const uint64_t last[] = {1, 1, 1, 4};

    return memcmp(r->drv.sys + SIGNAL, last, sizeof(last)) == 0;
}

/* ---- the same afterwards */

typedef struct Saved {
    uint8_t *bytes;
    size_t size;
} Saved;

static Saved save(Rig *r)
{
    Saved s = {.size = mxgpu_state_size(r->dev)};
    size_t used;

    g_assert_cmpuint(s.size, >, 0);
    s.bytes = g_malloc(s.size);
    g_assert_cmpint(mxgpu_state_save(r->dev, s.bytes, s.size - 1, &used), ==,
                    -ENOSPC);
    g_assert_cmpint(mxgpu_state_save(r->dev, s.bytes, s.size, &used), ==, 0);
    g_assert_cmpuint(used, ==, s.size);
    return s;
}

static void same_saved(Saved a, Saved b)
{
    size_t at = 0;

    while (at < a.size && at < b.size && a.bytes[at] == b.bytes[at]) {
        at++;
    }
    if (at < a.size || at < b.size) {
        g_test_message("states of %zu and %zu bytes differ at %zu", a.size,
                       b.size, at);
        g_test_fail();
        abort();
    }
}

static void same_memory(Rig *a, Rig *b)
{
    g_assert_cmpint(memcmp(a->drv.vram, b->drv.vram, DRV_VRAM_SIZE), ==, 0);
    g_assert_cmpint(memcmp(a->drv.sys, b->drv.sys, DRV_SYS_SIZE), ==, 0);
    g_assert_cmpmem((void *)a->irqs, sizeof(a->irqs), (void *)b->irqs,
                    sizeof(b->irqs));
}

/* The only counts that depend on what is cached. */
static void clear_misses(Rig *r)
{
    atomic_store(&r->dev->counter[MXGPU_COUNTER_TLB_MISSES], 0);
    for (unsigned i = 0; i < UNITS; i++) {
        SimtCuCounters *n = &r->dev->simt->cus[i].n;

        atomic_store(&n->count[COUNT_tlb_misses], 0);
        for (unsigned s = 0; s < MXGPU_DISPATCH_SLOTS; s++) {
            atomic_store(&n->profile[s].count[COUNT_tlb_misses], 0);
        }
    }
}

static void same_device(Rig *a, Rig *b)
{
    Saved own, other;

    same_memory(a, b);
    clear_misses(a);
    clear_misses(b);
    own = save(a);
    other = save(b);
    same_saved(own, other);
    g_free(own.bytes);
    g_free(other.bytes);
}

/* What is saved of one is all that the other needs, and is what it then has. */
static void transfer(Rig *from, Rig *to)
{
    Saved s = save(from), again;

    memcpy(to->drv.vram, from->drv.vram, DRV_VRAM_SIZE);
    memcpy(to->drv.sys, from->drv.sys, DRV_SYS_SIZE);
    memcpy((void *)to->irqs, (void *)from->irqs, sizeof(to->irqs));
    to->clock = from->clock;
    g_assert_cmpint(mxgpu_state_load(to->dev, s.bytes, s.size), ==, 0);
    again = save(to);
    same_saved(s, again);
    g_free(s.bytes);
    g_free(again.bytes);
}

/* ---- tests */

static const char *kernels;

typedef enum Mode { RUN_ON, FORGET, MOVE, MOVE_TO_NEW } Mode;

/* Runs to the end; in between it forgets, or another device goes on. */
static Rig *run(Mode mode, unsigned seed, unsigned *interruptions)
{
    g_autoptr(GRand) budgets = g_rand_new_with_seed(seed);
    g_autoptr(GRand) when = g_rand_new_with_seed(seed + 1);
    Rig *r = rig_new(UNITS, false), *spare = rig_new(UNITS, false), *last;

    start(r, kernels);
    *interruptions = 0;
    for (unsigned n = 0; !done(r); n++) {
        g_assert_cmpuint(n, <, 200000);
        step(r, 1 + g_rand_int(budgets) % 1500);
        if (mode == RUN_ON || g_rand_int(when) % 4) {
            continue;
        }
        ++*interruptions;
        if (mode == FORGET) {
            mxgpu_device_forget(r->dev);
            continue;
        }
        if (mode == MOVE_TO_NEW) {
            rig_free(spare);
            spare = rig_new(UNITS, false);
        }
        transfer(r, spare);
        last = r;
        r = spare;
        spare = last;
    }
    rig_free(spare);
    return r;
}

static void test_goes_on(gconstpointer data)
{
    Mode mode = (Mode)GPOINTER_TO_INT(data);
    unsigned n;

    for (unsigned seed = 1; seed < 4; seed++) {
        Rig *whole = run(RUN_ON, seed, &n);
        Rig *parts = run(mode, seed, &n);

        g_test_message("%u times", n);
        g_assert_cmpuint(n, >, 10);
        same_device(whole, parts);
        rig_free(whole);
        rig_free(parts);
    }
}

/* What work leaves in memory, whoever did it when. */
static void same_results(Rig *a, Rig *b)
{
    g_assert_cmpint(memcmp(a->drv.vram + OUT, b->drv.vram + OUT,
                           DRV_VRAM_SIZE / 2 - OUT), ==, 0);
    g_assert_cmpint(memcmp(a->drv.sys + TARGET, b->drv.sys + TARGET,
                           DRV_SYS_SIZE - TARGET), ==, 0);
}

/* Devices with threads take turns: each is paused, but while it is its turn. */
static void test_threads(void)
{
    Rig *r = rig_new(UNITS, true), *next = rig_new(UNITS, true), *last, *whole;
    unsigned turns = 0;

    start(r, kernels);
    g_assert_cmpuint(mxgpu_state_size(r->dev), ==, 0); /* it runs */
    mxgpu_device_pause(next->dev);
    while (!done(r)) {
        if (turns < 20) {
            turns++;
            mxgpu_device_pause(r->dev);
            transfer(r, next);
            last = r;
            r = next;
            next = last;
            mxgpu_device_resume(r->dev);
        }
        g_thread_yield();
    }
    mxgpu_device_resume(next->dev);
    whole = run(RUN_ON, 1, &turns);
    same_results(r, whole);
    rig_free(r);
    rig_free(next);
    rig_free(whole);
}

/* A device in the middle of everything. */
static Rig *busy_rig(unsigned steps)
{
    Rig *r = rig_new(UNITS, false);

    start(r, kernels);
    for (unsigned i = 0; i < steps; i++) {
        step(r, 700);
    }
    g_assert_false(done(r));
    return r;
}

static void is_reset(Rig *r)
{
    g_assert_cmphex(mxgpu_device_mmio_read(r->dev, MXGPU_MCU_STATUS, 4), ==,
                    MXGPU_MCU_RESET);
    g_assert_false(mxgpu_simt_has_work(r->dev->simt));
    for (unsigned i = 0; i < UNITS; i++) {
        g_assert_cmpuint(r->dev->simt->cus[i].s.num_blocks, ==, 0);
        g_assert_cmphex(r->dev->simt->cus[i].s.used_warps, ==, 0);
    }
}

static void refuses(Rig *r, const uint8_t *image, size_t size)
{
    g_assert_cmpint(mxgpu_state_load(r->dev, image, size), ==, -EINVAL);
    is_reset(r);
}

static void test_refused(void)
{
    Rig *r = busy_rig(60), *other = rig_new(UNITS + 1, false);
    Saved s = save(r);

    g_assert_cmpint(mxgpu_state_load(other->dev, s.bytes, s.size), ==, -EINVAL);
    for (size_t n = 0; n < s.size; n += 1 + s.size / 300) {
        refuses(r, s.bytes, n);
    }
    refuses(r, s.bytes, s.size - 1);
    s.bytes = g_realloc(s.bytes, s.size + 1);
    refuses(r, s.bytes, s.size + 1);
    s.bytes[0] ^= 1; /* the name of the first section */
    refuses(r, s.bytes, s.size);
    s.bytes[0] ^= 1;
    g_assert_cmpint(mxgpu_state_load(r->dev, s.bytes, s.size), ==, 0);
    g_free(s.bytes);
    rig_free(r);
    rig_free(other);
}

/* Half of the time near the beginning of a part, where its numbers are. */
static size_t somewhere(GRand *rng, const Saved *s)
{
    static const char *const parts[] = {
        "device", "registers", "doorbells", "mcu", "mmu", "copies", "slots",
        "unit", "steppers",
    };
    const char *name = parts[g_rand_int(rng) % G_N_ELEMENTS(parts)];
    size_t at = 0;

    if (g_rand_boolean(rng)) {
        return g_rand_int(rng) % s->size;
    }
    while (memcmp(s->bytes + at, name, strlen(name) + 1) != 0) {
        g_assert_cmpuint(++at + 16, <, s->size);
    }
    return at + g_rand_int(rng) % MIN(1024, s->size - at);
}

/* Whatever is in it: an error, or a device that runs and can be reset. */
static void test_changed(void)
{
    g_autoptr(GRand) rng = g_rand_new_with_seed(5);
    unsigned taken = 0, rounds = 3000;
    Rig *r = busy_rig(60);
    Saved s = save(r);

    for (unsigned n = 0; n < rounds; n++) {
        g_autofree uint8_t *image = g_memdup2(s.bytes, s.size);

        for (unsigned i = g_rand_int(rng) % 3 + 1; i; i--) {
            size_t at = somewhere(rng, &s);

            image[at] = g_rand_boolean(rng) ? (uint8_t)g_rand_int(rng)
                                            : image[at] ^ 1 << n % 8;
        }
        if (mxgpu_state_load(r->dev, image, s.size) == 0) {
            taken++;
            for (unsigned i = 0; i < 4; i++) {
                step(r, 300);
            }
            mxgpu_device_reset(r->dev, MXGPU_RESET_BUS);
        }
        is_reset(r);
    }
    g_test_message("%u of %u images were those of a device", taken, rounds);
    g_free(s.bytes);
    rig_free(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    kernels = argv[1];
    g_test_add_data_func("/state/forget", GINT_TO_POINTER(FORGET),
                         test_goes_on);
    g_test_add_data_func("/state/move", GINT_TO_POINTER(MOVE), test_goes_on);
    g_test_add_data_func("/state/move-to-new", GINT_TO_POINTER(MOVE_TO_NEW),
                         test_goes_on);
    g_test_add_func("/state/threads", test_threads);
    g_test_add_func("/state/refused", test_refused);
    g_test_add_func("/state/changed", test_changed);
    return g_test_run();
}
