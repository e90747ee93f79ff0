/* SPDX-License-Identifier: MIT */
/*
 * What preemption costs those who wait: how long an urgent kernel takes while
 * kernels without an end have all units, how long one of an equal queue does,
 * and how queues of one level share the units. From the doorbell to the thread
 * that sleeps until the interrupt, as a driver sees it, on the in-process device
 * with its threads. (Who looks at the signal again and again instead has used up
 * his share of a processor that kernels want, too, when it comes.)
 *
 * bench_preempt [ROUNDS] [THREADS]: with few rounds it is a test that all of
 * them progress. Nothing here fails because something takes long.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mxgpu/kernel.h"
#include "mxgpu/limits.h"
#include "sim_driver.h"

#define UNITS     4u
#define SIGNAL    0x100000u /* in system memory: words that packets signal */
#define QUEUE(i)  (0x10000u + (i) * 0x2000u)
#define KERNEL(i) (0x10000u + (i) * 0x4000u) /* in VRAM: code and so on */
#define DESC      0x1000u
#define ARGS      0x2000u
#define COUNT     0x3000u /* each kernel's words: turns, lanes that have begun */

#define ENDLESS 3u /* queues that have endless kernels, at most */
#define SHORT   3u /* the queue of the short ones */

/* Each lane adds 1 to the word that the argument names, for ever or once. */
static const uint32_t endless[] = {
    0x00053583, /* ld a1, 0(a0) */
    0x00100613, /* li a2, 1 */
    0x00858693, /* addi a3, a1, 8 */
    0x00c6b02f, /* amoadd.d zero, a2, (a3) */
    0x00c5b02f, /* amoadd.d zero, a2, (a1) */
    0xffdff06f, /* j .-4 */
};
static const uint32_t once[] = {0x00053583, 0x00100613, 0x00c5b02f, 0x0000000b};

typedef struct Rig {
    Drv *d;
    DrvQueue queue[ENDLESS + 1];
    unsigned rounds;
} Rig;

static volatile uint64_t *count_of(const Rig *r, unsigned i)
{
    return (volatile uint64_t *)(r->d->vram + KERNEL(i) + COUNT);
}

static volatile uint64_t *signal_of(const Rig *r, unsigned i)
{
    return (volatile uint64_t *)(r->d->sys + SIGNAL + 8 * i);
}

static struct mxgpu_packet_dispatch kernel(Rig *r, unsigned i,
                                           const uint32_t *code, size_t size,
                                           unsigned grid, unsigned block)
{
    uint64_t va = DRV_VRAM_VA + KERNEL(i), count = va + COUNT;
    uint8_t *at = r->d->vram + KERNEL(i);
    struct mxgpu_kernel_desc desc = {
        .magic = MXGPU_KERNEL_MAGIC,
        .abi = MXGPU_KERNEL_ABI,
        .entry = va,
        .arg_size = 8,
        .registers = 32,
    };

    memcpy(at, code, size);
    memcpy(at + DESC, &desc, sizeof(desc));
    memcpy(at + ARGS, &count, sizeof(count));
    memset(at + COUNT, 0, 2 * sizeof(count));
    return (struct mxgpu_packet_dispatch){
        .type = MXGPU_PKT_DISPATCH,
        .flags = MXGPU_PKT_IRQ,
        .kernel = va + DESC,
        .args = va + ARGS,
        .grid = {grid, 1, 1},
        .block = {(uint16_t)block, 1, 1},
        .signal_addr = DRV_SYS_VA + SIGNAL + 8 * i,
    };
}

static void rig_open(Rig *r, unsigned rounds, unsigned threads, unsigned loads,
                     unsigned priority, unsigned block)
{
    unsigned fit = MIN(MXGPU_CU_THREADS / block, MXGPU_CU_BLOCKS);
    MxgpuSimOptions config = {
        .compute_units = UNITS, .queues = 16, .threads = threads};

    r->d = drv_open(&config);
    r->rounds = rounds;
    for (unsigned i = 0; i <= ENDLESS; i++) {
        r->queue[i] = drv_queue(r->d, i, i == SHORT ? priority : 4, QUEUE(i));
    }
    for (unsigned i = 0; i < loads; i++) {
        struct mxgpu_packet_dispatch p =
            kernel(r, i, endless, sizeof(endless), 1000, block);

        drv_push(&r->queue[i], &p);
        drv_ring(&r->queue[i]);
    }
    /* Each of them has been on all units and has filled them. */
    for (unsigned i = 0; i < loads; i++) {
        int64_t deadline = dut_deadline();

        while (count_of(r, i)[1] < UNITS * fit * block) {
            dut_turn(&r->d->dut, deadline, __FILE__, __LINE__, "full units");
        }
    }
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Sleeps until the short kernel has signalled this. */
static void wait_signal(Rig *r, uint64_t value)
{
    struct pollfd wait = {
        .fd = r->d->ops->irq_fd(r->d->sim, r->queue[SHORT].q.vector),
        .events = POLLIN,
    };

    while (*signal_of(r, SHORT) != value) {
        uint64_t n;

        g_assert_cmpint(poll(&wait, 1, 60000), ==, 1);
        g_assert_cmpint(read(wait.fd, &n, sizeof(n)), ==, sizeof(n));
    }
}

/* Milliseconds that this thread could have run, and had no processor; 0 where the
 * system does not tell. */
static double run_delay(void)
{
    g_autofree char *text = NULL;
    unsigned long long ran, waited;

    if (!g_file_get_contents("/proc/thread-self/schedstat", &text, NULL, NULL) ||
        sscanf(text, "%llu %llu", &ran, &waited) != 2) {
        return 0;
    }
    return waited / 1e6;
}

#define BAR_US 2000 /* of what is urgent */

static void print_times(const char *name, int64_t *took, unsigned rounds,
                        double waited)
{
    unsigned late = 0;

    for (unsigned i = 0; i < rounds; i++) {
        late += took[i] > BAR_US;
    }
    qsort(took, rounds, sizeof(*took), compare);
    g_print("%-34s %8.2f %8.2f %8.2f %8.1f %8.3f\n", name,
            took[rounds / 2] / 1e3, took[rounds * 99 / 100] / 1e3,
            took[rounds - 1] / 1e3, 100.0 * late / rounds, waited / rounds);
}

/* One after the other: microseconds of each. */
static void latency(const char *name, unsigned rounds, unsigned threads,
                    unsigned loads, unsigned priority)
{
    g_autofree int64_t *took = g_new(int64_t, rounds);
    struct mxgpu_packet_dispatch p;
    double waited;
    Rig r;

    rig_open(&r, rounds, threads, loads, priority, 1024);
    waited = run_delay();
    p = kernel(&r, SHORT, once, sizeof(once), UNITS, 64);
    for (unsigned i = 0; i < rounds; i++) {
        int64_t began = g_get_monotonic_time();

        p.signal_value = i + 1;
        drv_push(&r.queue[SHORT], &p);
        drv_ring(&r.queue[SHORT]);
        wait_signal(&r, i + 1);
        took[i] = g_get_monotonic_time() - began;
    }
    g_assert_cmpuint(*count_of(&r, SHORT), ==, (uint64_t)rounds * UNITS * 64);
    print_times(name, took, rounds, run_delay() - waited);
    drv_close(r.d);
}

/*
 * What part of the atomics each of some equal queues has done meanwhile. Blocks
 * of one warp, as work is in proportion to time there: warps of larger blocks
 * run together now and then, and then do more in the same time.
 */
static void shares(unsigned rounds, unsigned threads, unsigned loads)
{
    uint64_t before[ENDLESS], sum = 0;
    uint64_t all_ran = 0;
    Rig r;

    rig_open(&r, rounds, threads, loads, 0, 64);
    for (unsigned i = 0; i < loads; i++) {
        before[i] = *count_of(&r, i);
    }
    /* 10 ms a round, and until all have run again. */
    for (int64_t end = g_get_monotonic_time() + rounds * 10000,
                 deadline = dut_deadline();
         all_ran != (1u << loads) - 1 || g_get_monotonic_time() < end;) {
        g_assert_cmpint(g_get_monotonic_time(), <, deadline + rounds * 10000);
        g_usleep(1000);
        for (unsigned i = 0; i < loads; i++) {
            all_ran |= (uint64_t)(*count_of(&r, i) != before[i]) << i;
        }
    }
    for (unsigned i = 0; i < loads; i++) {
        before[i] = *count_of(&r, i) - before[i];
        sum += before[i];
    }
    g_print("%u equal queues, %% of the work    ", loads);
    for (unsigned i = 0; i < loads; i++) {
        g_print(" %8.1f", 100.0 * before[i] / sum);
    }
    g_print("\n");
    drv_close(r.d);
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 300;
    unsigned threads = argc > 2 ? strtoul(argv[2], NULL, 0) : 2;

    if (!rounds || argc > 3) {
        g_printerr("usage: %s [ROUNDS] [THREADS]\n", argv[0]);
        return 2;
    }
    g_print("%-34s %8s %8s %8s %8s %8s\n", "milliseconds of a short kernel",
            "median", "99 %", "most", "% over 2", "no cpu");
    latency("nothing else", rounds, threads, 0, 0);
    latency("urgent, 1 endless kernel", rounds, threads, 1, 0);
    latency("urgent, 2 endless kernels", rounds, threads, 2, 0);
    latency("equal, 1 endless kernel", rounds, threads, 1, 4);
    latency("equal, 2 endless kernels", rounds, threads, 2, 4);
    shares(MIN(rounds, 300), threads, 2);
    shares(MIN(rounds, 300), threads, 3);
    return 0;
}
