/* SPDX-License-Identifier: MIT */
/* Queues, interrupts, the mailbox under stress, and losing the device. */
#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fake_device.h"

#define VRAM (16ull << 20)
#define SECOND 1000000000ull

typedef struct Setup {
    Fake *fake;
    KmdDevice *dev;
} Setup;

static Setup setup(void)
{
    Setup s = { .fake = fake_new(VRAM) };

    g_assert_cmpint(kmd_device_open(&s.fake->base, &s.dev), ==, 0);
    return s;
}

static void finish(Setup *s)
{
    kmd_device_close(s->dev);
    g_assert_cmpuint(fake_pinned(s->fake), ==, 0);
    g_assert_true(s->fake->closed);
    fake_free(s->fake);
}

static void test_create(void)
{
    Setup s = setup();
    FakeQueue *fq;
    KmdQueue *q;

    g_assert_cmpint(kmd_queue_create(s.dev, 3, 256, &q), ==, 0);
    fq = &s.fake->queues[q->id];
    g_assert_true(fq->active);
    g_assert_cmpuint(fq->create.priority, ==, 3);
    g_assert_cmpuint(fq->create.log2_packets, ==, 8);
    g_assert_cmpuint(q->packets, ==, 256);
    /* One address on both sides. */
    g_assert_true(fake_memory(s.fake, (uintptr_t)q->ring) == q->ring);
    g_assert_true(fake_memory(s.fake, (uintptr_t)&q->ring[255]) ==
                  &q->ring[255]);
    g_assert_true(fake_memory(s.fake, (uintptr_t)q->ctl) == q->ctl);
    kmd_queue_ring(q, 17);
    g_assert_cmpuint(fq->doorbell, ==, 17);
    kmd_queue_destroy(q);
    g_assert_false(fq->active);
    finish(&s);
}

/* Pieces share one pinned chunk, which lies as a large page does. */
static void test_shared(void)
{
    Setup s = setup();
    void *pieces[16], *again, *large, *none;
    unsigned i;

    for (i = 0; i < G_N_ELEMENTS(pieces); i++) {
        g_assert_cmpint(kmd_shared_alloc(s.dev, 64 << 10, &pieces[i]), ==, 0);
        g_assert_true(fake_memory(s.fake, (uintptr_t)pieces[i]) == pieces[i]);
        memset(pieces[i], 0xa5, 64 << 10);
    }
    g_assert_cmpuint(fake_pinned(s.fake), ==, 1);
    g_assert_cmpuint(s.dev->vm.vmas.count, ==, 1);
    g_assert_cmpuint((uintptr_t)pieces[0] % KMD_LARGE_PAGE_SIZE, ==, 0);
    g_assert_cmpuint(s.dev->bos->addr % KMD_LARGE_PAGE_SIZE, ==, 0);

    kmd_shared_free(s.dev, pieces[3], 64 << 10);
    g_assert_cmpint(kmd_shared_alloc(s.dev, 64 << 10, &again), ==, 0);
    g_assert_true(again == pieces[3]);
    for (i = 0; i < 64 << 10; i++) {
        g_assert_cmpuint(((uint8_t *)again)[i], ==, 0);
    }

    /* Large ones are pinned, and unpinned, each for itself. */
    g_assert_cmpint(kmd_shared_alloc(s.dev, 3 << 20, &large), ==, 0);
    g_assert_cmpuint(fake_pinned(s.fake), ==, 2);
    kmd_shared_free(s.dev, large, 3 << 20);
    g_assert_cmpuint(fake_pinned(s.fake), ==, 1);

    g_assert_cmpint(kmd_shared_alloc(s.dev, 0, &none), ==, -EINVAL);
    g_assert_cmpint(kmd_shared_alloc(s.dev, 100, &none), ==, -EINVAL);
    kmd_device_lose(s.dev, "a test");
    g_assert_cmpint(kmd_shared_alloc(s.dev, 4096, &none), ==, -ENODEV);
    finish(&s);
}

/* No memory is pinned for a queue but with the first of many. */
static void test_create_pins(void)
{
    Setup s = setup();
    KmdQueue *q;
    unsigned i;

    for (i = 0; i < FAKE_QUEUES; i++) {
        g_assert_cmpint(kmd_queue_create(s.dev, 0, 64, &q), ==, 0);
        g_assert_cmpuint(fake_pinned(s.fake), ==, 1);
    }
    finish(&s);
}

static void test_create_bad(void)
{
    Setup s = setup();
    KmdQueue *q[FAKE_QUEUES + 1] = { NULL };
    unsigned i;

    g_assert_cmpint(kmd_queue_create(s.dev, 0, 3, q), ==, -EINVAL);
    g_assert_cmpint(kmd_queue_create(s.dev, 0, 2, q), ==, -EINVAL);
    g_assert_cmpint(kmd_queue_create(s.dev, 0, 131072, q), ==, -EINVAL);
    g_assert_cmpint(kmd_queue_create(s.dev, 4, 64, q), ==, -EINVAL);
    for (i = 0; i < FAKE_QUEUES; i++) {
        g_assert_cmpint(kmd_queue_create(s.dev, 0, 4, &q[i]), ==, 0);
        /* Vector 0 is the device's. */
        g_assert_cmpuint(s.fake->queues[q[i]->id].create.vector, !=, 0);
    }
    g_assert_cmpint(kmd_queue_create(s.dev, 0, 4, &q[i]), ==, -ENOSPC);
    kmd_queue_destroy(q[2]);
    s.fake->refuse_op = MXGPU_MSG_QUEUE_CREATE;
    s.fake->refuse_status = MXGPU_MSG_FAULT;
    g_assert_cmpint(kmd_queue_create(s.dev, 0, 4, &q[i]), ==, -EFAULT);
    s.fake->refuse_op = 0;
    s.fake->dma_error = -ENOMEM;
    g_assert_cmpint(kmd_queue_create(s.dev, 0, 65536, &q[i]), ==, -ENOMEM);
    s.fake->dma_error = 0;
    /* None of the failures cost anything. */
    g_assert_cmpuint(fake_pinned(s.fake), ==, 1);
    g_assert_cmpint(kmd_queue_create(s.dev, 0, 4, &q[2]), ==, 0);
    /* close destroys the rest */
    finish(&s);
}

typedef struct Waiter {
    KmdQueue *q;
    uint32_t seen;
    int result;
} Waiter;

static gpointer wait_thread(gpointer opaque)
{
    Waiter *w = opaque;

    w->result = kmd_queue_irq_wait(w->q, w->seen, UINT64_MAX);
    return NULL;
}

static void test_interrupts(void)
{
    Setup s = setup();
    GThread *threads[3];
    Waiter w[3];
    KmdQueue *q, *other;
    uint32_t seen;
    unsigned i;

    g_assert_cmpint(kmd_queue_create(s.dev, 0, 4, &q), ==, 0);
    g_assert_cmpint(kmd_queue_create(s.dev, 0, 4, &other), ==, 0);
    seen = kmd_queue_irq_count(q);
    g_assert_cmpint(kmd_queue_irq_wait(q, seen + 1, 0), ==, 0);
    g_assert_cmpint(kmd_queue_irq_wait(q, seen, 0), ==, -ETIMEDOUT);
    g_assert_cmpint(kmd_queue_irq_wait(q, seen, 3000000), ==, -ETIMEDOUT);
    for (i = 0; i < 3; i++) {
        w[i] = (Waiter){ q, seen, -1 };
        threads[i] = g_thread_new("wait", wait_thread, &w[i]);
    }
    g_usleep(2000);
    fake_raise(s.fake, s.fake->queues[q->id].create.vector);
    for (i = 0; i < 3; i++) {
        g_thread_join(threads[i]);
        g_assert_cmpint(w[i].result, ==, 0);
    }
    g_assert_cmpuint(kmd_queue_irq_count(q), ==, seen + 1);
    g_assert_cmpuint(kmd_queue_irq_count(other), ==, 0);
    finish(&s);
}

static void test_error_interrupt(void)
{
    Setup s = setup();
    bool seen = false;

    s.fake->err_status = MXGPU_SET(MXGPU_ERR_STATUS_BAD_DOORBELL, 1);
    fake_cause(s.fake, MXGPU_SET(MXGPU_IRQ_STATUS_ERROR, 1));
    while (!seen) {
        pthread_mutex_lock(&s.fake->lock);
        seen = s.fake->err_status == 0 && s.fake->irq_status == 0;
        pthread_mutex_unlock(&s.fake->lock);
        g_usleep(1000);
    }
    g_assert_false(kmd_lost(s.dev));
    finish(&s);
}

/* Answers are found without interrupts too. */
static void test_mailbox_polls(void)
{
    Setup s = setup();
    uint32_t req[16] = { MXGPU_MSG_PING, 1, 2, 3 }, resp[16];

    s.fake->no_interrupts = true;
    g_assert_cmpint(kmd_mbox_call(s.dev, req, 16, resp, 16), ==, 0);
    g_assert_cmpuint(resp[3], ==, 3);
    /* Words of the request before do not stay behind: the fake looks. */
    g_assert_cmpint(kmd_vm_start(s.dev), ==, 0);
    req[0] = 99;
    req[1] = req[2] = req[3] = 0;
    g_assert_cmpint(kmd_mbox_call(s.dev, req, 1, NULL, 0), ==, -EOPNOTSUPP);
    finish(&s);
}

/* An answer that comes soon needs neither a sleep nor an interrupt. */
static void test_mailbox_spins(void)
{
    Setup s = setup();
    uint32_t req[2] = { MXGPU_MSG_PING, 7 }, resp[2] = { 0 };
    unsigned raised = s.fake->causes_raised, i;

    for (i = 0; i < 20; i++) {
        s.fake->late_looks = i * 20;
        g_assert_cmpint(kmd_mbox_call(s.dev, req, 2, resp, 2), ==, 0);
        g_assert_cmpuint(resp[1], ==, 7);
        g_assert_cmpuint(s.fake->looks, ==, i * 20 + 1);
        g_assert_cmpuint(s.fake->causes_raised, ==, raised);
    }
    finish(&s);
}

/* One that takes long is waited for asleep: then, and only then, the mailbox
 * interrupts. */
static void test_mailbox_sleeps(void)
{
    Setup s = setup();
    uint32_t req[2] = { MXGPU_MSG_PING, 7 }, resp[2] = { 0 };
    unsigned raised = s.fake->causes_raised;

    s.fake->answers_sleepers = true;
    g_assert_cmpint(kmd_mbox_call(s.dev, req, 2, resp, 2), ==, 0);
    g_assert_cmpuint(resp[1], ==, 7);
    g_assert_false(s.fake->answers_sleepers);
    /* That of the requests before was cleared: once, for this one. */
    g_assert_cmpuint(s.fake->causes_raised, ==, raised + 1);
    g_assert_cmphex(s.fake->irq_enable, ==, KMD_IRQ_CAUSES);
    finish(&s);
}

static gpointer ping_thread(gpointer opaque)
{
    Setup *s = opaque;
    uint32_t i, req[3] = { MXGPU_MSG_PING }, resp[3];

    for (i = 0; i < 500; i++) {
        req[1] = i;
        req[2] = GPOINTER_TO_UINT(g_thread_self());
        g_assert_cmpint(kmd_mbox_call(s->dev, req, 3, resp, 3), ==, 0);
        g_assert_cmpuint(resp[1], ==, req[1]);
        g_assert_cmpuint(resp[2], ==, req[2]);
    }
    return NULL;
}

static void test_mailbox_threads(void)
{
    Setup s = setup();
    GThread *threads[4];
    unsigned i;

    for (i = 0; i < 4; i++) {
        threads[i] = g_thread_new("ping", ping_thread, &s);
    }
    for (i = 0; i < 4; i++) {
        g_thread_join(threads[i]);
    }
    finish(&s);
}

/* Everything says -ENODEV, nothing waits. */
static void check_lost(Setup *s, KmdQueue *q)
{
    uint32_t req = MXGPU_MSG_PING;
    KmdQueue *q2;
    KmdBo *bo;

    g_assert_true(kmd_lost(s->dev));
    g_assert_cmpint(kmd_bo_alloc(s->dev, 4096, &bo), ==, -ENODEV);
    g_assert_cmpint(kmd_queue_create(s->dev, 0, 4, &q2), ==, -ENODEV);
    g_assert_cmpint(kmd_mbox_call(s->dev, &req, 1, NULL, 0), ==, -ENODEV);
    g_assert_cmpint(kmd_queue_irq_wait(q, kmd_queue_irq_count(q), UINT64_MAX),
                    ==, -ENODEV);
    g_assert_cmpuint(kmd_device_clock(s->dev), ==, 0);
}

static void lose_with_waiter(Setup *s, void (*trigger)(Setup *s))
{
    GThread *thread;
    KmdQueue *q;
    Waiter w;
    KmdBo *bo;

    g_assert_cmpint(kmd_bo_alloc(s->dev, 4096, &bo), ==, 0);
    g_assert_cmpint(kmd_bo_map(bo, 0x1000, 0, 4096, MXGPU_PTE_READ), ==, 0);
    g_assert_cmpint(kmd_queue_create(s->dev, 0, 4, &q), ==, 0);
    w = (Waiter){ q, kmd_queue_irq_count(q), 1 };
    thread = g_thread_new("wait", wait_thread, &w);
    g_usleep(2000);
    trigger(s);
    g_thread_join(thread);
    g_assert_cmpint(w.result, ==, -ENODEV);
    check_lost(s, q);
    /* What was taken can be given back. */
    kmd_vm_unmap(s->dev, 0x1000, 4096);
    g_assert_cmpuint(bo->mapped, ==, 0);
    kmd_bo_free(bo);
    kmd_queue_destroy(q);
    /* The chunk that rings come from stays. */
    g_assert_cmpuint(s->dev->vm.vmas.count, ==, 1);
    g_assert_cmpuint(fake_pinned(s->fake), ==, 1);
    finish(s);
}

static void trigger_crash(Setup *s)
{
    unsigned resets = s->fake->resets;

    pthread_mutex_lock(&s->fake->lock);
    s->fake->mcu_status = MXGPU_MCU_CRASHED;
    pthread_mutex_unlock(&s->fake->lock);
    fake_cause(s->fake, MXGPU_SET(MXGPU_IRQ_STATUS_MCU, 1));
    while (!kmd_lost(s->dev)) {
        g_usleep(100);
    }
    /* It is stopped, so that it leaves memory alone. */
    for (;;) {
        pthread_mutex_lock(&s->fake->lock);
        if (s->fake->resets > resets) {
            pthread_mutex_unlock(&s->fake->lock);
            return;
        }
        pthread_mutex_unlock(&s->fake->lock);
        g_usleep(100);
    }
}

static void trigger_silence(Setup *s)
{
    uint32_t req = MXGPU_MSG_PING;

    s->dev->mbox_timeout_ms = 30;
    pthread_mutex_lock(&s->fake->lock);
    s->fake->silent_op = MXGPU_MSG_PING;
    pthread_mutex_unlock(&s->fake->lock);
    g_assert_cmpint(kmd_mbox_call(s->dev, &req, 1, NULL, 0), ==, -ENODEV);
}

static void trigger_crash_in_call(Setup *s)
{
    pthread_mutex_lock(&s->fake->lock);
    s->fake->crash_op = MXGPU_MSG_TLB_INVALIDATE;
    pthread_mutex_unlock(&s->fake->lock);
    g_assert_cmpint(kmd_vm_unmap(s->dev, 0x1000, 4096), ==, -ENODEV);
    pthread_mutex_lock(&s->fake->lock);
    s->fake->crash_op = 0;
    pthread_mutex_unlock(&s->fake->lock);
}

static void trigger_refused_invalidation(Setup *s)
{
    pthread_mutex_lock(&s->fake->lock);
    s->fake->refuse_op = MXGPU_MSG_TLB_INVALIDATE;
    s->fake->refuse_status = MXGPU_MSG_BAD_ARGUMENT;
    pthread_mutex_unlock(&s->fake->lock);
    g_assert_cmpint(kmd_vm_unmap(s->dev, 0x1000, 4096), ==, -ENODEV);
}

static void trigger_dead(Setup *s)
{
    pthread_mutex_lock(&s->fake->lock);
    s->fake->dead = true;
    pthread_mutex_unlock(&s->fake->lock);
    g_assert_cmpuint(kmd_device_clock(s->dev), ==, 0);
}

/* Nobody tells the waiter: it looks. */
static void trigger_silent_death(Setup *s)
{
    pthread_mutex_lock(&s->fake->lock);
    s->fake->dead = true;
    pthread_mutex_unlock(&s->fake->lock);
}

static void trigger_gone(Setup *s)
{
    uint64_t one = 1;

    g_assert_cmpint(write(s->fake->base.gone_fd, &one, 8), ==, 8);
}

static void test_lost(gconstpointer trigger)
{
    Setup s = setup();

    lose_with_waiter(&s, (void (*)(Setup *))(uintptr_t)trigger);
}

static void test_lost_gone(void)
{
    Setup s = { .fake = fake_new(VRAM) };
    int fd = eventfd(0, EFD_NONBLOCK);

    s.fake->base.gone_fd = fd;
    g_assert_cmpint(kmd_device_open(&s.fake->base, &s.dev), ==, 0);
    lose_with_waiter(&s, trigger_gone);
    close(fd);
}

static void add_lost(const char *path, void (*trigger)(Setup *s))
{
    g_test_add_data_func(path, (void *)(uintptr_t)trigger, test_lost);
}

/* Waiting with a timeout on a device that vanished finds out. */
static void test_timeout_finds_out(void)
{
    Setup s = setup();
    KmdQueue *q;

    g_assert_cmpint(kmd_queue_create(s.dev, 0, 4, &q), ==, 0);
    pthread_mutex_lock(&s.fake->lock);
    s.fake->dead = true;
    pthread_mutex_unlock(&s.fake->lock);
    g_assert_cmpint(kmd_queue_irq_wait(q, kmd_queue_irq_count(q), 1000000),
                    ==, -ENODEV);
    finish(&s);
}

/* Somebody resets the device, which goes on answering: found out by waits that
 * are each much shorter than the time between two looks, and by asking. */
static void test_reset_is_noticed(void)
{
    static const bool waits[] = { true, false };
    unsigned i;

    for (i = 0; i < G_N_ELEMENTS(waits); i++) {
        Setup s = setup();
        KmdQueue *q;
        int ret = -ETIMEDOUT;

        g_assert_cmpint(kmd_queue_create(s.dev, 0, 4, &q), ==, 0);
        g_assert_true(kmd_device_look(s.dev, true));
        pthread_mutex_lock(&s.fake->lock);
        s.fake->mcu_status = MXGPU_SET(MXGPU_MCU_STATUS_STATE,
                                       MXGPU_MCU_RESET);
        pthread_mutex_unlock(&s.fake->lock);
        /* What is known does not change by asking for it. */
        g_assert_true(kmd_device_look(s.dev, false));
        while (ret == -ETIMEDOUT) {
            if (waits[i]) {
                ret = kmd_queue_irq_wait(q, kmd_queue_irq_count(q), 1000000);
            } else {
                ret = kmd_device_look(s.dev, true) ? -ETIMEDOUT : -ENODEV;
            }
        }
        g_assert_cmpint(ret, ==, -ENODEV);
        g_assert_false(kmd_device_look(s.dev, false));
        check_lost(&s, q);
        finish(&s);
    }
}

int main(int argc, char **argv)
{
    int ret;

    g_test_init(&argc, &argv, NULL);
    g_setenv("MXGPU_FIRMWARE", fake_firmware_file(), TRUE);
    g_test_add_func("/kmd/queue/create", test_create);
    g_test_add_func("/kmd/queue/create-bad", test_create_bad);
    g_test_add_func("/kmd/queue/create-pins", test_create_pins);
    g_test_add_func("/kmd/shared", test_shared);
    g_test_add_func("/kmd/queue/interrupts", test_interrupts);
    g_test_add_func("/kmd/queue/error-interrupt", test_error_interrupt);
    g_test_add_func("/kmd/mailbox/polls", test_mailbox_polls);
    g_test_add_func("/kmd/mailbox/spins", test_mailbox_spins);
    g_test_add_func("/kmd/mailbox/sleeps", test_mailbox_sleeps);
    g_test_add_func("/kmd/mailbox/threads", test_mailbox_threads);
    add_lost("/kmd/lost/crash", trigger_crash);
    add_lost("/kmd/lost/silence", trigger_silence);
    add_lost("/kmd/lost/crash-in-call", trigger_crash_in_call);
    add_lost("/kmd/lost/refused-invalidation", trigger_refused_invalidation);
    add_lost("/kmd/lost/dead", trigger_dead);
    add_lost("/kmd/lost/silent-death", trigger_silent_death);
    g_test_add_func("/kmd/lost/gone", test_lost_gone);
    g_test_add_func("/kmd/lost/timeout-finds-out", test_timeout_finds_out);
    g_test_add_func("/kmd/lost/reset-is-noticed", test_reset_is_noticed);
    ret = g_test_run();
    g_unlink(fake_firmware_file());
    return ret;
}
