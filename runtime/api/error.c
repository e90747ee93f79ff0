/* SPDX-License-Identifier: MIT */
#include "core/context/error.h"
#include "core/queue/poll.h"

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

    API_NOTE("%s", "");
    mcError_t error = sticky();
    if (error == mcSuccess) {
        error = thread->last_error;
    }
    thread->last_error = mcSuccess;
    mc_api_done(__func__, error, NULL);
    return error;
}

MC_EXPORT mcError_t mcPeekAtLastError(void)
{
    API_NOTE("%s", "");
    mcError_t error = sticky();
    if (error == mcSuccess) {
        error = mc_thread()->last_error;
    }
    mc_api_done(__func__, error, NULL);
    return error;
}

MC_EXPORT const char *mcGetErrorName(mcError_t error)
{
    const char *name = mc_error_name(error);

    API_NOTE("%d", (int)error);
    mc_api_done(__func__, mcSuccess, name);
    return name;
}

MC_EXPORT const char *mcGetErrorString(mcError_t error)
{
    const char *text = mc_error_string(error);

    API_NOTE("%d", (int)error);
    mc_api_done(__func__, mcSuccess, text);
    return text;
}
