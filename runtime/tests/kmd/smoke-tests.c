/* SPDX-License-Identifier: MIT */
/* What a device has to do, on whatever back end it is reached. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/va.h"
#include "smoke.h"

#define MIB (1ull << 20)

static void pattern(uint8_t *p, uint64_t size, unsigned seed)
{
    uint64_t i;

    for (i = 0; i < size; i++) {
        p[i] = (uint8_t)(i * 31 + (i >> 8) * 7 + seed);
    }
}

static void test_info(Smoke *s)
{
    uint64_t a, b, passed, free, total;
    KmdInfo info;

    s->ops->info(s->dev, &info);
    smoke_note("%s, %llu MiB, %u compute units, %u copy engines, %u queues, "
               "%u vectors, firmware %x", info.name,
               (unsigned long long)(info.vram_size / MIB), info.compute_units,
               info.copy_engines, info.queues, info.vectors, info.fw_version);
    s->ops->memory(s->dev, &free, &total);
    smoke_ok(info.vram_size == total && free > 0 && free < total,
             "memory sizes");
    smoke_ok(info.warp_size == 64 && info.block_threads == 1024 &&
             info.queues >= 16 && info.priorities >= 2 &&
             info.fw_version != 0, "limits");
    passed = smoke_now();
    a = s->ops->clock(s->dev);
    usleep(2000);
    b = s->ops->clock(s->dev);
    passed = smoke_now() - passed;
    smoke_ok(b > a && b - a >= 1000000 && b - a <= passed + passed / 10,
             "the clock runs: %llu ns in %llu", (unsigned long long)(b - a),
             (unsigned long long)passed);
}

static void test_copy(Smoke *s, SmokeQueue *q)
{
    const uint64_t size = 3 * MIB + 12345;
    SmokeMem host, vram;
    union mxgpu_packet p;
    bool ok;

    if (!smoke_ok(smoke_pin(s, 8 * MIB, &host) &&
                  smoke_alloc(s, 8 * MIB, &vram), "memory for copies")) {
        return;
    }
    pattern(host.cpu, size, 1);
    p = smoke_copy(vram.va + 77, host.va, size);
    smoke_ok(smoke_run(q, &p) == 0, "copy to VRAM completes");
    smoke_ok(memcmp(vram.cpu + 77, host.cpu, size) == 0,
             "the aperture shows it");
    p = smoke_copy(host.va + 4 * MIB + 3, vram.va + 77, size);
    smoke_ok(smoke_run(q, &p) == 0 &&
             memcmp(host.cpu + 4 * MIB + 3, host.cpu, size) == 0,
             "copy back to host memory");
    p = smoke_copy(vram.va + 4 * MIB, vram.va + 77, size);
    smoke_ok(smoke_run(q, &p) == 0 &&
             memcmp(vram.cpu + 4 * MIB, host.cpu, size) == 0,
             "copy inside VRAM");
    p = smoke_copy(vram.va, host.va, 0);
    smoke_ok(smoke_run(q, &p) == 0, "copy of nothing");

    p = (union mxgpu_packet){ .fill = {
        .type = MXGPU_PKT_FILL, .pattern_size = 16, .dst = vram.va + 4096,
        .size = 64 * 1024, .pattern = "0123456789abcdef" } };
    ok = smoke_run(q, &p) == 0 &&
         memcmp(vram.cpu + 4096, "0123456789abcdef0123", 20) == 0 &&
         memcmp(vram.cpu + 4096, vram.cpu + 4096 + 16, 64 * 1024 - 16) == 0;
    smoke_ok(ok, "fill of VRAM with 16 bytes");
    p.fill.pattern_size = 1;
    p.fill.dst = host.va + 13;
    p.fill.size = 5001;
    host.cpu[12] = host.cpu[13 + 5001] = 'x';
    ok = smoke_run(q, &p) == 0 && host.cpu[12] == 'x' &&
         host.cpu[13] == '0' && host.cpu[13 + 5000] == '0' &&
         host.cpu[13 + 5001] == 'x';
    smoke_ok(ok, "fill of host memory with 1 byte stays inside");
    smoke_free(s, &host);
    smoke_free(s, &vram);
}

static void test_small_packets(Smoke *s, SmokeQueue *q)
{
    uint64_t before, after, value, *word;
    union mxgpu_packet p;
    SmokeMem host;

    if (!smoke_ok(smoke_pin(s, 4096, &host), "a page")) {
        return;
    }
    word = (uint64_t *)(void *)host.cpu;
    p = (union mxgpu_packet){ .write = {
        .type = MXGPU_PKT_WRITE, .size = 8, .addr = host.va,
        .value = 0x1122334455667788 } };
    smoke_ok(smoke_run(q, &p) == 0 && word[0] == 0x1122334455667788,
             "write of 8 bytes");
    p.write.size = 4;
    p.write.addr = host.va + 4;
    p.write.value = 0xaabbccdd;
    smoke_ok(smoke_run(q, &p) == 0 && word[0] == 0xaabbccdd55667788,
             "write of 4 bytes");

    before = s->ops->clock(s->dev);
    p = (union mxgpu_packet){ .timestamp = {
        .type = MXGPU_PKT_TIMESTAMP, .addr = host.va + 16 } };
    smoke_ok(smoke_run(q, &p) == 0, "timestamp completes");
    after = s->ops->clock(s->dev);
    smoke_ok(before <= word[2] && word[2] <= after, "its time is right");

    p = (union mxgpu_packet){ .wait = {
        .type = MXGPU_PKT_WAIT, .size = 8, .cond = MXGPU_WAIT_GEQ,
        .addr = host.va + 64, .value = 5 } };
    value = smoke_submit(q, &p);
    usleep(20000);
    smoke_ok(*(volatile uint64_t *)(void *)q->signals.cpu < value,
             "wait waits");
    __atomic_store_n(&word[8], 7, __ATOMIC_RELEASE);
    smoke_ok(smoke_wait(q, value) == 0, "and completes");

    p = (union mxgpu_packet){ .tlb_invalidate = {
        .type = MXGPU_PKT_TLB_INVALIDATE } };
    smoke_ok(smoke_run(q, &p) == 0, "TLB invalidation");
    smoke_free(s, &host);
}

static void test_wrap(Smoke *s)
{
    uint64_t start, ns;
    union mxgpu_packet p;
    SmokeQueue q;
    unsigned i;
    int ret = 0;

    if (!smoke_ok(smoke_queue(s, 0, 4, &q), "a ring of 4")) {
        return;
    }
    for (i = 0; i < 403; i++) {
        p = (union mxgpu_packet){ .header = { .type = MXGPU_PKT_NOP } };
        smoke_put(&q, &p);
    }
    p = (union mxgpu_packet){ .header = { .type = MXGPU_PKT_NOP,
                                          .flags = MXGPU_PKT_BARRIER } };
    smoke_ok(smoke_run(&q, &p) == 0 && q.q->ctl->read_index == 404,
             "404 packets through it");
    start = smoke_now();
    for (i = 0; i < 50 && !ret; i++) {
        p = (union mxgpu_packet){ .header = { .type = MXGPU_PKT_NOP } };
        ret = smoke_run(&q, &p);
    }
    ns = (smoke_now() - start) / 50;
    smoke_ok(ret == 0, "50 round trips");
    smoke_note("round trip with interrupt: %llu ns", (unsigned long long)ns);
    smoke_queue_end(&q);
}

/* Four queues copy at once. */
static void test_queues(Smoke *s)
{
    enum { QUEUES = 4, COPIES = 16 };
    SmokeQueue q[QUEUES];
    SmokeMem host, vram;
    uint64_t last[QUEUES];
    unsigned i, j, good = 0;

    if (!smoke_ok(smoke_pin(s, 4 * MIB, &host) &&
                  smoke_alloc(s, 4 * MIB, &vram), "memory for queues")) {
        return;
    }
    pattern(host.cpu, 4 * MIB, 9);
    for (i = 0; i < QUEUES; i++) {
        if (!smoke_queue(s, i % 2, 32, &q[i])) {
            smoke_ok(false, "queue %u", i);
            return;
        }
    }
    for (j = 0; j < COPIES; j++) {
        for (i = 0; i < QUEUES; i++) {
            uint64_t part = 4 * MIB / (QUEUES * COPIES);
            uint64_t at = (i * COPIES + j) * part;
            union mxgpu_packet p = smoke_copy(vram.va + at, host.va + at,
                                              part);

            p.header.flags |= MXGPU_PKT_BARRIER;
            last[i] = smoke_submit(&q[i], &p);
        }
    }
    for (i = 0; i < QUEUES; i++) {
        good += smoke_wait(&q[i], last[i]) == 0;
    }
    smoke_ok(good == QUEUES && memcmp(host.cpu, vram.cpu, 4 * MIB) == 0,
             "four queues copy at once");
    for (i = 0; i < QUEUES; i++) {
        smoke_queue_end(&q[i]);
    }
    smoke_free(s, &host);
    smoke_free(s, &vram);
}

/* A queue with a mistake stops, says why, and leaves the others alone. */
static void test_error(Smoke *s, SmokeQueue *other, const char *what,
                       const union mxgpu_packet *bad, uint32_t code,
                       uint32_t fault, uint64_t addr)
{
    union mxgpu_packet nop = { .header = { .type = MXGPU_PKT_NOP } };
    struct mxgpu_queue_error e;
    SmokeQueue q;

    if (!smoke_queue(s, 0, 16, &q)) {
        smoke_ok(false, "%s: a queue", what);
        return;
    }
    smoke_ok(smoke_run(&q, &nop) == 0, "%s: before it", what);
    smoke_put(&q, bad);
    smoke_ok(smoke_wait_error(&q) == 0, "%s: the queue stops", what);
    e = *(const struct mxgpu_queue_error *)(const void *)&q.q->ctl->error;
    smoke_ok(e.code == code && e.fault == fault && e.packet_index == 1 &&
             (!addr || e.fault_addr == addr),
             "%s: code %u fault %u packet %llu address 0x%llx", what, e.code,
             e.fault, (unsigned long long)e.packet_index,
             (unsigned long long)e.fault_addr);
    smoke_ok(smoke_run(other, &nop) == 0, "%s: another queue goes on", what);
    smoke_queue_end(&q);
}

static void test_errors(Smoke *s, SmokeQueue *other)
{
    union mxgpu_packet p = { .header = { .type = 4711 } };
    SmokeMem host;
    uint64_t hole;

    test_error(s, other, "unknown packet", &p, MXGPU_QERR_PACKET, 0, 0);
    if (!smoke_ok(smoke_pin(s, 8192, &host), "memory for errors")) {
        return;
    }
    hole = (uintptr_t)mc_va_reserve(4096, 4096);
    p = smoke_copy(host.va, hole, 64);
    test_error(s, other, "copy from nowhere", &p, MXGPU_QERR_FAULT,
               MXGPU_FAULT_NOT_PRESENT, hole);
    p = smoke_copy(hole, host.va, 64);
    test_error(s, other, "copy to nowhere", &p, MXGPU_QERR_FAULT,
               MXGPU_FAULT_NOT_PRESENT, hole);
    smoke_ok(s->ops->map(host.bo, hole, 0, 4096, MXGPU_PTE_READ) == 0,
             "a page to be read only");
    test_error(s, other, "copy to a read-only page", &p, MXGPU_QERR_FAULT,
               MXGPU_FAULT_PERMISSION, hole);
    p = smoke_copy(host.va + 4096, hole, 64);
    smoke_ok(smoke_run(other, &p) == 0, "it can be read");
    smoke_ok(s->ops->unmap(s->dev, hole, 4096) == 0, "and unmapped");
    test_error(s, other, "copy from it then", &p, MXGPU_QERR_FAULT,
               MXGPU_FAULT_NOT_PRESENT, hole);
    mc_va_release((void *)(uintptr_t)hole, 4096);
    smoke_free(s, &host);
}

/* The same address for other memory: nothing remembers the old one. */
static void test_remap(Smoke *s, SmokeQueue *q)
{
    uint64_t va = (uintptr_t)mc_va_reserve(2 * MIB, 2 * MIB);
    unsigned i, good = 0;
    SmokeMem a, b, out;

    if (!smoke_ok(smoke_alloc(s, 2 * MIB, &a) &&
                  smoke_alloc(s, 2 * MIB, &b) && smoke_pin(s, 4096, &out),
                  "memory to remap")) {
        return;
    }
    memset(a.cpu, 'a', 2 * MIB);
    memset(b.cpu, 'b', 2 * MIB);
    for (i = 0; i < 20; i++) {
        SmokeMem *m = i % 2 ? &a : &b;
        union mxgpu_packet p = smoke_copy(out.va, va + 4096 * i, 100);

        if (s->ops->map(m->bo, va, 0, 2 * MIB, SMOKE_RW) == 0 &&
            smoke_run(q, &p) == 0 && out.cpu[0] == m->cpu[0] &&
            s->ops->unmap(s->dev, va, 2 * MIB) == 0) {
            good++;
        }
    }
    smoke_ok(good == 20, "memory changes under an address");
    mc_va_release((void *)(uintptr_t)va, 2 * MIB);
    smoke_free(s, &a);
    smoke_free(s, &b);
    smoke_free(s, &out);
}

/* A queue that waits for ever can be destroyed. */
static void test_destroy_busy(Smoke *s)
{
    union mxgpu_packet p;
    SmokeQueue q;
    uint64_t value;

    if (!smoke_ok(smoke_queue(s, 0, 16, &q), "a queue to destroy")) {
        return;
    }
    p = (union mxgpu_packet){ .wait = {
        .type = MXGPU_PKT_WAIT, .size = 8, .cond = MXGPU_WAIT_EQ,
        .addr = q.signals.va + 64, .value = 1 } };
    value = smoke_submit(&q, &p);
    usleep(10000);
    smoke_ok(*(volatile uint64_t *)(void *)q.signals.cpu < value, "it waits");
    smoke_queue_end(&q);
    smoke_ok(true, "it is destroyed");
}

/* Demand paging: pages of memory come when the device touches them. */
typedef struct Pager {
    Smoke *s;
    SmokeMem mem;
    uint64_t va;
    _Atomic unsigned mapped, refused;
} Pager;

static bool page_in(void *opaque, const struct mxgpu_fault_record *record)
{
    Pager *p = opaque;
    uint64_t offset = (record->addr - p->va) & ~(KMD_PAGE_SIZE - 1);

    if (offset >= p->mem.size) {
        p->refused++;
        return false;
    }
    p->mapped++;
    return p->s->ops->map(p->mem.bo, p->va + offset, offset, KMD_PAGE_SIZE,
                          SMOKE_RW) == 0;
}

static void test_faults(Smoke *s, SmokeQueue *q)
{
    static Pager p; /* the device may ask it until it is closed */
    const uint64_t size = 64 * KMD_PAGE_SIZE;
    union mxgpu_packet packet;
    SmokeMem host;

    p.s = s;
    p.mapped = p.refused = 0;
    p.va = (uintptr_t)mc_va_reserve(2 * size, KMD_PAGE_SIZE);
    if (!smoke_ok(smoke_pin(s, size, &host) && smoke_alloc(s, size, &p.mem),
                  "memory for pages")) {
        return;
    }
    packet = smoke_copy(p.va + 100, host.va, size - 200);
    packet.header.flags |= MXGPU_PKT_RECOVER;
    test_error(s, q, "nobody to ask", &packet, MXGPU_QERR_PACKET, 0, 0);
    smoke_ok(s->ops->faults(s->dev, page_in, &p) == 0 &&
             s->ops->faults(s->dev, page_in, &p) == -EBUSY,
             "somebody to ask, once");
    pattern(host.cpu, size, 9);
    smoke_ok(smoke_run(q, &packet) == 0 && p.mapped == 64 && !p.refused &&
             memcmp(p.mem.cpu + 100, host.cpu, size - 200) == 0,
             "a copy to 64 pages that come as it goes");
    smoke_ok(smoke_run(q, &packet) == 0 && p.mapped == 64,
             "they are there the second time");
    packet.copy.dst = p.va + size;
    packet.copy.signal_addr = 0;
    test_error(s, q, "refused", &packet, MXGPU_QERR_FAULT,
               MXGPU_FAULT_NOT_PRESENT, p.va + size);
    smoke_ok(p.refused == 1 && s->ops->unmap(s->dev, p.va, size) == 0,
             "pages go again");
    smoke_free(s, &p.mem);
    smoke_free(s, &host);
    mc_va_release((void *)(uintptr_t)p.va, 2 * size);
}

void smoke_tests(Smoke *s)
{
    SmokeQueue q;

    test_info(s);
    if (!smoke_ok(smoke_queue(s, 1, 64, &q), "a queue")) {
        return;
    }
    test_copy(s, &q);
    test_small_packets(s, &q);
    test_remap(s, &q);
    test_wrap(s);
    test_queues(s);
    test_errors(s, &q);
    test_destroy_busy(s);
    test_faults(s, &q);
    smoke_queue_end(&q);
}

/* Copies into and out of "vram", by the queue's device. */
static bool peer_copies(SmokeQueue *q, SmokeMem *own, SmokeMem *vram,
                        uint64_t va)
{
    union mxgpu_packet to = smoke_copy(va + 4096, own->va, 4096);
    union mxgpu_packet from = smoke_copy(own->va, va + 8192, 4096);

    memset(own->cpu, 'x', 4096);
    memset(vram->cpu + 8192, 'y', 4096);
    return smoke_run(q, &to) == 0 && vram->cpu[4096] == 'x' &&
           vram->cpu[8191] == 'x' && vram->cpu[8192] == 'y' &&
           smoke_run(q, &from) == 0 && own->cpu[0] == 'y' &&
           own->cpu[4095] == 'y';
}

void smoke_peer(Smoke *s, Smoke *other)
{
    uint64_t va = (uintptr_t)mc_va_reserve(2 * MIB, 2 * MIB);
    bool reaches = s->ops->reaches(s->dev, other->dev);
    SmokeMem vram, own;
    SmokeQueue q;
    KmdBo *peer;
    int ret;

    if (!smoke_ok(smoke_alloc(other, 2 * MIB, &vram) &&
                  smoke_alloc(s, 4096, &own) && smoke_queue(s, 0, 16, &q),
                  "memory for peers")) {
        return;
    }
    smoke_note("the other device's VRAM is %s", reaches ? "in reach"
                                                        : "out of reach");
    ret = s->ops->peer(s->dev, vram.bo, 0, 2 * MIB, &peer);
    smoke_ok(ret == (reaches ? 0 : -EOPNOTSUPP), "peer agrees with reaches");
    if (ret == 0) {
        smoke_ok(s->ops->map(peer, va, 0, 2 * MIB, SMOKE_RW) == 0 &&
                 peer_copies(&q, &own, &vram, va) &&
                 s->ops->unmap(s->dev, va, 2 * MIB) == 0,
                 "copies to and from another device");
        s->ops->free(peer);
    }
    smoke_queue_end(&q);
    smoke_free(s, &own);
    smoke_free(other, &vram);
    mc_va_release((void *)(uintptr_t)va, 2 * MIB);
}
