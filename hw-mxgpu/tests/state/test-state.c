/* SPDX-License-Identifier: MIT */
/*
 * The state of a whole device with the real firmware, at work on copies and
 * kernels. Saved at a random step, loaded into another one and run on, a
 * deterministic one comes to the same, to the last bit of memory, registers and
 * counts; so does one that forgets what it has cached. One with threads comes
 * to the same results. No image that somebody has changed does harm.
 */
#include <stdlib.h>
#include <string.h>

#include "core/image.h"
#include "rig.h"
#include "simt/exec/variants.h"

/* ---- the same afterwards */

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
    own = rig_save(a);
    other = rig_save(b);
    same_saved(own, other);
    g_free(own.bytes);
    g_free(other.bytes);
}

/* What is saved of one is all that the other needs, and is what it then has. */
static void transfer(Rig *from, Rig *to)
{
    Saved s = rig_save(from), again;

    memcpy(to->drv.vram, from->drv.vram, DRV_VRAM_SIZE);
    memcpy(to->drv.sys, from->drv.sys, DRV_SYS_SIZE);
    memcpy((void *)to->irqs, (void *)from->irqs, sizeof(to->irqs));
    to->clock = from->clock;
    g_assert_cmpint(mxgpu_state_load(to->dev, s.bytes, s.size), ==, 0);
    again = rig_save(to);
    same_saved(s, again);
    g_free(s.bytes);
    g_free(again.bytes);
}

/* ---- tests */

static const char *kernels;

typedef enum Mode {
    RUN_ON,
    FORGET,
    MOVE,
    MOVE_TO_NEW,
    MOVE_TO_OTHER, /* a new one with another interpreter, where there is one */
} Mode;

/* As on a host that has no better interpreter than that. */
static void choose_interpreter(Rig *r, unsigned number)
{
    SimtVariant v[SIMT_VARIANTS];
    unsigned n = mxgpu_simt_variants(v);
    MxgpuSimt *simt = r->dev->simt;

    simt->exec = v[number % n].exec;
    simt->count = v[number % n].count;
    simt->convoy = v[number % n].convoy;
}

/* Runs to the end; in between it forgets, or another device goes on. */
static Rig *run(Mode mode, unsigned seed, unsigned *interruptions)
{
    g_autoptr(GRand) budgets = g_rand_new_with_seed(seed);
    g_autoptr(GRand) when = g_rand_new_with_seed(seed + 1);
    Rig *r = rig_new(UNITS, false), *spare = rig_new(UNITS, false), *last;

    rig_start(r, kernels);
    *interruptions = 0;
    for (unsigned n = 0; !rig_done(r); n++) {
        g_assert_cmpuint(n, <, 200000);
        rig_step(r, 1 + g_rand_int(budgets) % 1500);
        if (mode == RUN_ON || g_rand_int(when) % 4) {
            continue;
        }
        ++*interruptions;
        if (mode == FORGET) {
            mxgpu_device_forget(r->dev);
            continue;
        }
        if (mode >= MOVE_TO_NEW) {
            rig_free(spare);
            spare = rig_new(UNITS, false);
        }
        if (mode == MOVE_TO_OTHER) {
            choose_interpreter(spare, *interruptions);
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

/* ---- faults that wait for software */

static bool faulted(Rig *r)
{
    return *mxgpu_reg(r->dev, MXGPU_FAULT_TAIL) !=
           *mxgpu_reg(r->dev, MXGPU_FAULT_HEAD);
}

/* Maps what the oldest record tells of, and has it replayed. */
static void mend(Rig *r)
{
    uint32_t head = *mxgpu_reg(r->dev, MXGPU_FAULT_HEAD);
    const struct mxgpu_fault_record *records =
        (const void *)(r->drv.sys + FAULTS);
    const struct mxgpu_fault_record *f = &records[head % (1u << LOG2_FAULTS)];
    uint64_t at = (f->addr - DRV_VRAM_VA) & ~(uint64_t)((2u << 20) - 1);

    g_assert_cmpuint(at, >=, OUT);
    g_assert_cmpuint(at, <, COPIES + (8u << 20));
    dut_map(&r->drv.dut, DRV_VRAM_VA + at, 1,
            MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_WRITE |
                MXGPU_PTE_ATOMIC | at);
    dut_write(&r->drv.dut, MXGPU_FAULT_HEAD, head + 1);
}

/* Groups that wait for software while their block is off its unit. */
static unsigned faults_saved(Rig *r)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < UNITS; i++) {
        for (SimtSaved *s = r->dev->simt->cus[i].saved; s; s = s->next) {
            sum += s->block.faults;
        }
    }
    return sum;
}

static void hold_all(Rig *r, bool hold)
{
    for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
        mxgpu_simt_hold(r->dev->simt, i, hold);
    }
}

/* Kernels and copies begin without their memory. With each fault another device
 * goes on; there are more at a time than the ring has room for. held: half of the
 * time nothing is on the units. */
static void test_parked(gconstpointer held)
{
    Rig *r = rig_new(UNITS, false), *spare = rig_new(UNITS, false), *last;
    unsigned faults = 0, stalls = 0, saved = 0, unused;
    Rig *whole = run(RUN_ON, 1, &unused);

    r->recover = true;
    rig_start(r, kernels);
    for (unsigned n = 0; !rig_done(r); n++) {
        g_assert_cmpuint(n, <, 200000);
        if (held && n % 20 == 0) {
            hold_all(r, n % 40 == 0);
        }
        rig_step(r, 700);
        if (n % 8 || !faulted(r)) {
            continue;
        }
        stalls += r->dev->faults.stalled;
        saved += faults_saved(r);
        transfer(r, spare);
        spare->drv.dut.root = r->drv.dut.root;
        spare->drv.dut.vram_next = r->drv.dut.vram_next;
        last = r;
        r = spare;
        spare = last;
        mend(r);
        faults++;
    }
    g_test_message("%u records, %u of them while others waited; %u off a unit",
                   faults, stalls, saved);
    g_assert_true(held ? saved > 0 : saved == 0);
    g_assert_cmpuint(faults, >=, 7); /* large pages */
    g_assert_cmpuint(stalls, >, 0);
    same_results(r, whole);
    rig_free(r);
    rig_free(spare);
    rig_free(whole);
}

/* A record that is written, and whose lanes leave then. */
static uint32_t away_record(Rig *r, unsigned vmid, uint32_t queue)
{
    uint32_t *tail = mxgpu_reg(r->dev, MXGPU_FAULT_TAIL);

    atomic_store(&r->dev->faults.verdict[*tail], MXGPU_FAULT_WAITS);
    mxgpu_fault_away(r->dev, *tail, vmid, queue);
    return (*tail)++;
}

/* Lanes that come from memory have their record if it is of their queue, once,
 * and with what was decided meanwhile. */
static void test_away(void)
{
    Rig *r = rig_new(UNITS, false);
    MxgpuDevice *dev = r->dev;
    uint32_t kept, killed, replayed;

    rig_start(r, kernels);
    kept = away_record(r, 2, 3);
    killed = away_record(r, 2, 3);
    replayed = away_record(r, 2, 3);
    dut_write(&r->drv.dut, MXGPU_FAULT_KILL, killed);
    dut_write(&r->drv.dut, MXGPU_FAULT_REPLAY, replayed);
    g_assert_false(mxgpu_fault_back(dev, kept, 1, 3));
    g_assert_false(mxgpu_fault_back(dev, kept, 2, 4));
    g_assert_false(mxgpu_fault_back(dev, kept + MXGPU_FAULT_RECORDS, 2, 3));
    g_assert_false(mxgpu_fault_back(dev, replayed, 2, 3));
    g_assert_true(mxgpu_fault_back(dev, killed, 2, 3));
    g_assert_cmpint(mxgpu_fault_verdict(dev, killed), ==, MXGPU_VERDICT_KILL);
    g_assert_true(mxgpu_fault_back(dev, kept, 2, 3));
    g_assert_false(mxgpu_fault_back(dev, kept, 2, 3));
    g_assert_cmpint(mxgpu_fault_verdict(dev, kept), ==, MXGPU_VERDICT_NONE);
    dut_write(&r->drv.dut, MXGPU_FAULT_HEAD, replayed + 1);
    g_assert_cmpint(mxgpu_fault_verdict(dev, kept), ==, MXGPU_VERDICT_REPLAY);
    rig_free(r);
}

/* Devices with threads take turns: each is paused, but while it is its turn. */
static void test_threads(void)
{
    Rig *r = rig_new(UNITS, true), *next = rig_new(UNITS, true), *last, *whole;
    unsigned turns = 0;

    rig_start(r, kernels);
    g_assert_cmpuint(mxgpu_state_size(r->dev), ==, 0); /* it runs */
    mxgpu_device_pause(next->dev);
    while (!rig_done(r)) {
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

/* Where the section's version is; behind its name. */
static uint8_t *version_of(const Saved *s, const char *name)
{
    char padded[16] = "";
    size_t at = 0;

    memcpy(padded, name, strlen(name));
    while (memcmp(s->bytes + at, padded, sizeof(padded)) != 0) {
        g_assert_cmpuint(++at + sizeof(padded) + 4, <, s->size);
    }
    return s->bytes + at + sizeof(padded);
}

/* Any one section of an earlier or a later version. */
static void test_versions(void)
{
    static const char *const sections[] = {
        "device", "registers", "doorbells", "mcu",   "mmu",
        "faults", "copies",    "slots",     "unit", "steppers",
    };
    Rig *r = rig_busy(kernels, 60);
    Saved s = rig_save(r);

    for (unsigned i = 0; i < G_N_ELEMENTS(sections); i++) {
        for (int by = -1; by <= 1; by += 2) {
            uint8_t *at = version_of(&s, sections[i]);
            uint32_t version;

            memcpy(&version, at, sizeof(version));
            version += by;
            memcpy(at, &version, sizeof(version));
            refuses(r, s.bytes, s.size);
            version -= by;
            memcpy(at, &version, sizeof(version));
        }
    }
    g_assert_cmpint(mxgpu_state_load(r->dev, s.bytes, s.size), ==, 0);
    g_free(s.bytes);
    rig_free(r);
}

static void test_refused(void)
{
    Rig *r = rig_busy(kernels, 60), *other = rig_new(UNITS + 1, false);
    Saved s = rig_save(r);

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
    Rig *r = rig_busy(kernels, 60);
    Saved s = rig_save(r);

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
                rig_step(r, 300);
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
    g_test_add_data_func("/state/move-to-other", GINT_TO_POINTER(MOVE_TO_OTHER),
                         test_goes_on);
    g_test_add_data_func("/state/parked", NULL, test_parked);
    g_test_add_data_func("/state/parked-held", "", test_parked);
    g_test_add_func("/state/away", test_away);
    g_test_add_func("/state/threads", test_threads);
    g_test_add_func("/state/refused", test_refused);
    g_test_add_func("/state/versions", test_versions);
    g_test_add_func("/state/changed", test_changed);
    return g_test_run();
}
