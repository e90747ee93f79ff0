/* SPDX-License-Identifier: MIT */
#include "notice.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "core/context/error.h"
#include "core/module/module.h"

#define ENDLESS_MS  10000
#define UNITS_ASKED 128

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool quiet;
static uint64_t endless_ns; /* 0: never */
static atomic_bool told_failed, told_endless;

static void init(void)
{
    const char *text = getenv("MXGPU_ENDLESS_MS");
    unsigned long ms = text ? strtoul(text, NULL, 10) : ENDLESS_MS;

    quiet = getenv("MXGPU_LOG") || getenv("MXLOG_LEVEL") || mc_checking();
    /* A kernel that a debugger has stopped is not endless. */
    endless_ns = isatty(STDERR_FILENO) && !getenv("MXGPU_GDB")
                     ? ms * 1000000ull : 0;
}

bool mc_notice_may_tell(void)
{
    pthread_once(&once, init);
    return endless_ns != 0;
}

void mc_notice_failed(const char *name, mcError_t error)
{
    pthread_once(&once, init);
    if (!quiet && !atomic_exchange(&told_failed, true)) {
        fprintf(stderr, "mxgpu: kernel %s failed: %s (MXGPU_LOG=error tells "
                "where and why, MXGPU_LOG=off not even this)\n", name,
                mc_error_name(error));
    }
}

/* ---- endless kernels ---- */

typedef struct Kernel {
    char name[256];
    unsigned grid[3], block[3];
} Kernel;

/* Finds a kernel that is running: the oldest incomplete packet of one of the
 * context's queues. All are looked at, for the queue that somebody waits for
 * may wait for another one. */
static bool find_running(McContext *ctx, Kernel *kernel)
{
    bool found = false;

    pthread_mutex_lock(&ctx->submit);
    for (McQueue *queue = ctx->queues; queue && !found; queue = queue->next) {
        uint64_t word = mc_queue_word(queue);

        if (word >= queue->head) {
            continue;
        }
        const volatile struct mxgpu_packet_dispatch *packet =
            &queue->kq->ring[word % MC_QUEUE_PACKETS].dispatch;
        found = packet->type == MXGPU_PKT_DISPATCH;
        for (int i = 0; found && i < 3; i++) {
            kernel->grid[i] = packet->grid[i];
            kernel->block[i] = packet->block[i];
        }
        if (found) {
            mc_queue_kernel_name(queue, word, 0, kernel->name,
                                 sizeof(kernel->name));
        }
    }
    pthread_mutex_unlock(&ctx->submit);
    return found;
}

/* ", in FUNCTION at FILE:LINE" of a warp that runs now, at least its address;
 * "" when there is none. */
static void find_place(McContext *ctx, char *text, size_t size)
{
    uint64_t pcs[UNITS_ASKED];
    unsigned n = ctx->ops->where(ctx->kmd, pcs, UNITS_ASKED);

    text[0] = 0;
    for (unsigned i = 0; i < n && !text[0]; i++) {
        mc_module_describe(pcs[i], text, size);
    }
    if (n && !text[0]) {
        snprintf(text, size, ", at 0x%llx", (unsigned long long)pcs[0]);
    }
}

static void tell_endless(McContext *ctx)
{
    char where[768];
    Kernel k;

    if (atomic_load(&told_endless) || !find_running(ctx, &k) ||
        atomic_exchange(&told_endless, true)) {
        return;
    }
    find_place(ctx, where, sizeof(where));
    fprintf(stderr, "mxgpu: kernel %s, grid %u,%u,%u of blocks %u,%u,%u, has "
            "been running for %llu ms%s (MXGPU_WATCHDOG_MS=%u ends such "
            "kernels; MXGPU_ENDLESS_MS=0: not this)\n",
            k.name, k.grid[0], k.grid[1], k.grid[2], k.block[0], k.block[1],
            k.block[2], (unsigned long long)endless_ns / 1000000, where,
            ENDLESS_MS);
}

void mc_notice_waiting(McNoticeWait *wait, McQueue *queue)
{
    struct timespec t;
    uint64_t word = mc_queue_word(queue);

    pthread_once(&once, init);
    if (!endless_ns || !queue->ctx->info.simulated) {
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t now = t.tv_sec * 1000000000ull + t.tv_nsec;
    if (!wait->since || wait->word != word) {
        *wait = (McNoticeWait){.since = now, .word = word};
    } else if (now - wait->since >= endless_ns) {
        tell_endless(queue->ctx);
    }
}
