/* SPDX-License-Identifier: MIT */
#include "core/stream/capture.h"

#include "api/api.h"

static bool is_mode(mcStreamCaptureMode mode)
{
    return (unsigned)mode <= mcStreamCaptureModeRelaxed;
}

MC_EXPORT mcError_t mcStreamBeginCapture(mcStream_t handle,
                                         mcStreamCaptureMode mode)
{
    API_ENTER("%p, %d", (void *)handle, (int)mode);
    API_CHECK(is_mode(mode), mcErrorInvalidValue);
    API_STREAM_ITSELF(stream, handle);
    API_RETURN(mc_capture_begin(stream, mode));
}

MC_EXPORT mcError_t mcStreamEndCapture(mcStream_t handle, mcGraph_t *graph)
{
    API_ENTER("%p, %p", (void *)handle, (void *)graph);
    API_STREAM_ITSELF(stream, handle);
    API_RETURN(mc_capture_end(stream, graph));
}

/* The legacy default stream stands for streams that may capture. */
static mcError_t look(mcStream_t handle, McCaptureInfo *info)
{
    McStream *stream __attribute__((cleanup(mc_api_put_stream))) = NULL;
    mcError_t error = mc_api_stream_itself(handle, &stream);

    if (error == mcSuccess && stream->null) {
        error = mc_capture_legacy(stream->ctx, false);
    }
    if (error == mcSuccess) {
        mc_capture_info(stream, info);
    }
    return error;
}

MC_EXPORT mcError_t mcStreamIsCapturing(mcStream_t stream,
                                        mcStreamCaptureStatus *status)
{
    McCaptureInfo info;

    API_ENTER("%p, %p", (void *)stream, (void *)status);
    API_CHECK(status, mcErrorInvalidValue);
    API_TRY(look(stream, &info));
    *status = info.status;
    API_RETURN(mcSuccess);
}

static mcError_t tell(mcStream_t stream, mcStreamCaptureStatus *status,
                      unsigned long long *id, mcGraph_t *graph,
                      const mcGraphNode_t **nodes, size_t *count)
{
    McCaptureInfo info;

    if (!status) {
        return mcErrorInvalidValue;
    }
    mcError_t error = look(stream, &info);
    if (error != mcSuccess) {
        return error;
    }
    *status = info.status;
    if (info.status != mcStreamCaptureStatusActive) {
        return mcSuccess;
    }
    if (id) {
        *id = info.id;
    }
    if (graph) {
        *graph = info.graph;
    }
    if (nodes) {
        *nodes = info.nodes;
    }
    if (count) {
        *count = info.count;
    }
    return mcSuccess;
}

#define TRACE_INFO(stream, status, id, graph, nodes, count)                    \
    API_ENTER("%p, %p, %p, %p, %p, %p", (void *)(stream), (void *)(status),    \
              (void *)(id), (void *)(graph), (void *)(nodes), (void *)(count))

MC_EXPORT mcError_t mcStreamGetCaptureInfo(
    mcStream_t stream, mcStreamCaptureStatus *status, unsigned long long *id,
    mcGraph_t *graph, const mcGraphNode_t **nodes, size_t *count)
{
    TRACE_INFO(stream, status, id, graph, nodes, count);
    API_RETURN(tell(stream, status, id, graph, nodes, count));
}

MC_EXPORT mcError_t mcStreamGetCaptureInfo_v2(
    mcStream_t stream, mcStreamCaptureStatus *status, unsigned long long *id,
    mcGraph_t *graph, const mcGraphNode_t **nodes, size_t *count)
{
    TRACE_INFO(stream, status, id, graph, nodes, count);
    API_RETURN(tell(stream, status, id, graph, nodes, count));
}

MC_EXPORT mcError_t mcStreamUpdateCaptureDependencies(mcStream_t handle,
                                                      mcGraphNode_t *nodes,
                                                      size_t count,
                                                      unsigned int flags)
{
    API_ENTER("%p, %p, %zu, 0x%x", (void *)handle, (void *)nodes, count,
              flags);
    API_CHECK((flags == mcStreamAddCaptureDependencies ||
               flags == mcStreamSetCaptureDependencies) &&
              (nodes || !count), mcErrorInvalidValue);
    API_STREAM_ITSELF(stream, handle);
    API_RETURN(mc_capture_update(stream, nodes, count,
                                 flags == mcStreamSetCaptureDependencies));
}

MC_EXPORT mcError_t mcThreadExchangeStreamCaptureMode(
    mcStreamCaptureMode *mode)
{
    API_ENTER("%p", (void *)mode);
    API_CHECK(mode && is_mode(*mode), mcErrorInvalidValue);
    *mode = mc_capture_exchange(*mode);
    API_RETURN(mcSuccess);
}
