/* SPDX-License-Identifier: MIT */
#include "core/error.h"
#include "core/poll.h"

#include "api.h"

/* A sticky error of the current device goes before what the thread saw. */
static mcError_t sticky(void)
{
    McThread *thread = mc_thread();
    mcError_t error = mcSuccess;

    if (mc_runtime_gate() == mcSuccess) {
        McContext *ctx = mc_context_peek(thread->device);

        if (ctx) {
            error = mc_context_check(ctx);
            mc_context_put(ctx);
        }
    }
    return error;
}

MC_EXPORT mcError_t mcGetLastError(void)
{
    McThread *thread = mc_thread();
    mcError_t error = sticky();

    if (error == mcSuccess) {
        error = thread->last_error;
    }
    thread->last_error = mcSuccess;
    return error;
}

MC_EXPORT mcError_t mcPeekAtLastError(void)
{
    mcError_t error = sticky();

    return error != mcSuccess ? error : mc_thread()->last_error;
}

MC_EXPORT const char *mcGetErrorName(mcError_t error)
{
    return mc_error_name(error);
}

MC_EXPORT const char *mcGetErrorString(mcError_t error)
{
    return mc_error_string(error);
}
