/* SPDX-License-Identifier: MIT */
/* The start and the end of checking, and what is not of kernels: errors of
 * calls, leaks. */
#define _GNU_SOURCE /* secure_getenv */
#include "check.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/kernel_watch.h"
#include "base/log.h"
#include "core/context/context.h"
#include "core/context/error.h"
#include "core/context/observer.h"
#include "core/module/module.h"
#include "core/queue/queue.h"
#include "core/stream/stream.h"
#include "kmd/kmd.h"
#include "link.h"
#include "options.h"
#include "told.h"
#include "tool.h"
#include "tools.h"
#include "watch.h"

bool mc_check_api_errors;

/* ---- calls ---- */

/* What a program asks to be told, rather than what went wrong. */
static bool is_answer(mcError_t error)
{
    return error == mcErrorNotFound ||
           error == mcErrorPeerAccessAlreadyEnabled ||
           error == mcErrorPeerAccessNotEnabled ||
           error == mcErrorHostMemoryAlreadyRegistered ||
           error == mcErrorHostMemoryNotRegistered;
}

void mc_check_api_error(const char *name, mcError_t error)
{
    McTrace trace;
    McReport r;

    if (!mc_check_options.all_api_errors && is_answer(error)) {
        return;
    }
    mc_trace_take(&trace);
    mc_report_begin(&r, "Program hit %s (error %d) due to \"%s\" on API call "
                    "to %s", mc_error_name(error), (int)error,
                    mc_error_string(error), name);
    mc_report_trace(&r, "Called at:", &trace);
    mc_report_end(&r);
}

/* ---- leaks ---- */

typedef struct Leaks {
    int device;
    uint64_t bytes;
    unsigned count;
} Leaks;

static void leak(const McAlloc *a, void *opaque)
{
    Leaks *leaks = opaque;
    McReport r;

    if (a->device != leaks->device ||
        (a->kind != MC_RANGE_DEVICE && a->kind != MC_RANGE_POOL)) {
        return;
    }
    mc_report_begin(&r, "Leaked %" PRIu64 " bytes at 0x%" PRIx64, a->size,
                    a->base);
    mc_report_trace(&r, "Allocated at:", &a->made);
    mc_report_end(&r);
    leaks->bytes += a->size;
    leaks->count++;
}

static void see_leaving(void)
{
    mc_link_drain(); /* while there is what reports tell of */
}

static void see_closing(McContext *ctx)
{
    Leaks leaks = {.device = ctx->device};
    if (!mc_check_options.leaks || atomic_load(&ctx->error) != mcSuccess) {
        return; /* a device that has failed frees nothing */
    }
    mc_live_each(leak, &leaks);
    if (leaks.count) {
        mc_report_note("LEAK SUMMARY: %" PRIu64 " bytes leaked in %u "
                       "allocations", leaks.bytes, leaks.count);
    }
}

/* ---- contexts, modules, queues ---- */

static void see_context(McContext *ctx, bool opened)
{
    const char *why = mc_link_why_not();

    if (!opened || ctx->info.simulated || mc_link_ready()) {
        return;
    }
    if (why) {
        mc_report_note("Device %d: nothing of this process is checked: port "
                       "%s: %s", ctx->device, mc_check_options.port, why);
    } else {
        mc_report_note("Device %d is not simulated in this process, and "
                       "cannot be checked: use MXGPU_DEVICE=sim",
                       ctx->device);
    }
    mc_report_status("U");
}

static void see_module(McModule *module, const void *file, size_t size)
{
    for (uint32_t i = 0; i < module->function_count; i++) {
        McKernelInfo info;

        if (mc_image_kernel(&module->image, i, &info)) {
            mc_kernels_add(info.d.entry, info.name);
            mc_link_send(MC_LINK_KERNEL, mc_kernels_wanted(info.d.entry),
                         info.d.entry, 0, 0);
        }
    }
}

static void start_queue(McQueue *queue)
{
    mc_watch_queue(queue, true);
}

static void stop_queue(McQueue *queue)
{
    mc_watch_queue(queue, false);
}

static void see_packet(McSubmit *submit, union mxgpu_packet *packet,
                       uint64_t value)
{
    mc_watch_submitted(submit->queue, value);
    if (packet->header.type == MXGPU_PKT_DISPATCH) {
        mc_launch_note(packet->dispatch.args);
    }
    mc_link_sync();
}

/* ---- start and end ---- */

static void see_end(void)
{
    unsigned errors, muted;

    mc_link_drain();
    errors = mc_report_errors();
    muted = mc_report_muted();
    if (mc_check_options.status < 0 && !mc_check_options.status_far) {
        /* else mx-memcheck sums up, of all processes */
        mc_report_note("ERROR SUMMARY: %u error%s", errors,
                       errors == 1 ? "" : "s");
        if (muted) {
            mc_report_note("%u of them are not shown", muted);
        }
    }
    mc_link_send(MC_LINK_BYE, 0, 0, 0, 0);
}

static const McObserver observer = {
    .context = see_context,
    .leaving = see_leaving,
    .closing = see_closing,
    .module = see_module,
    .queue_start = start_queue,
    .queue_stop = stop_queue,
    .packet = see_packet,
    .end = see_end,
};

static void __attribute__((constructor)) check_start(void)
{
    const char *profile;

    if (!mc_check_read_options()) {
        return;
    }
    profile = secure_getenv("MXGPU_PROFILE");
    if (profile && *profile) {
        mc_error("memcheck: MXGPU_PROFILE is set, too: nothing is checked");
        return;
    }
    mc_observer = &observer;
    if (mc_check_options.port) {
        mc_link_prepare(mc_check_options.port, &mc_told);
    }
    mc_report_status("P");
    mc_watch_start();
    if (mc_check_options.tool == MC_TOOL_INITCHECK) {
        mc_initcheck_start();
    }
    mc_kernel_watch = (McKernelWatch){
        .observer = mc_tool_observer(mc_check_options.tool),
        .strict = mc_check_options.tool == MC_TOOL_MEMCHECK,
    };
    mc_check_api_errors = mc_check_options.api_errors;
}
