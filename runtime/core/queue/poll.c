/* SPDX-License-Identifier: MIT */
#include "poll.h"

#include <string.h>

#include "base/log.h"
#include "core/context/error.h"
#include "core/module/module.h"
#include "notice.h"
#include "overflow.h"

/* The record, then the source line, of a kernel that failed. */
static void report_kernel(McQueue *queue, mcError_t error,
                          const struct mxgpu_queue_error *record,
                          const char *text)
{
    char name[256], where[768];

    mc_queue_kernel_name(queue, record->packet_index, record->inner, name,
                         sizeof(name));
    mc_notice_failed(name, error);
    if (!mc_log_enabled(MC_LOG_ERROR)) {
        return;
    }
    mc_module_describe(record->fault_pc, where, sizeof(where));
    mc_error("device %d: kernel %s: %s: %s%s", queue->ctx->device, name,
             mc_error_name(error), text, where);
}

static void queue_report(McQueue *queue)
{
    struct mxgpu_queue_error record;
    uint16_t block[3];
    char text[256];

    mc_observe_collect(queue);
    memcpy(&record, (const void *)&queue->kq->ctl->error, sizeof(record));
    mc_queue_block(queue, record.packet_index, record.inner, block);
    mcError_t error = mc_error_from_record(&record, block, text, sizeof(text));
    if (record.packet_type == MXGPU_PKT_DISPATCH) {
        report_kernel(queue, error, &record, text);
    } else {
        mc_error("device %d: %s: %s", queue->ctx->device,
                 mc_error_name(error), text);
    }
    mc_context_fail(queue->ctx, error);
}

void mc_queue_look(McQueue *queue)
{
    if (mc_queue_stopped(queue) && !queue->reported) {
        queue->reported = true;
        queue_report(queue);
    }
}

void mc_queue_poll(McContext *ctx)
{
    pthread_mutex_lock(&ctx->submit);
    for (McQueue *queue = ctx->queues; queue; queue = queue->next) {
        mc_queue_look(queue);
        mc_overflow_feed(queue);
    }
    pthread_mutex_unlock(&ctx->submit);
}

mcError_t mc_context_check(McContext *ctx)
{
    mcError_t error = atomic_load_explicit(&ctx->error, memory_order_acquire);

    if (error == mcSuccess) {
        mc_queue_poll(ctx);
        if (!ctx->ops->alive(ctx->kmd, false)) {
            mc_context_lost(ctx);
        }
        error = atomic_load_explicit(&ctx->error, memory_order_acquire);
    }
    return error;
}
