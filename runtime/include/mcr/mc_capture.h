/* SPDX-License-Identifier: MIT */
/*
 * Capture of streams: work is not run, it becomes nodes of a graph (mc_graph.h).
 * A chapter of mc_runtime_api.h, which includes it and has the general rules;
 * docs/capture.md says what is captured and what is not allowed meanwhile.
 */
#ifndef MCR_MC_CAPTURE_H
#define MCR_MC_CAPTURE_H

#include "mc_runtime_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The stream captures until mcStreamEndCapture(). mode says who may make calls
 * meanwhile that captures do not see: mcThreadExchangeStreamCaptureMode().
 * mcErrorIllegalState: it captures already, by itself or because it waited for
 * an event of a stream that does. mcErrorStreamCaptureUnsupported: the legacy
 * default stream. */
mcError_t mcStreamBeginCapture(mcStream_t stream, mcStreamCaptureMode mode);
/*
 * Ends what began in this stream, by the thread that began it unless it is
 * relaxed; streams that joined it do not capture any more either. The graph is
 * the caller's, who destroys it. These change nothing:
 *   mcErrorIllegalState               the stream does not capture
 *   mcErrorStreamCaptureUnmatched     the capture began in another stream
 *   mcErrorStreamCaptureWrongThread   ... and by another thread
 *   mcErrorInvalidValue               pGraph is NULL
 * With these the capture is over too, and *pGraph NULL:
 *   mcErrorStreamCaptureInvalidated   something was not allowed before
 *   mcErrorStreamCaptureUnjoined      work of a stream that joined is not before
 *                                     the last of this one
 */
mcError_t mcStreamEndCapture(mcStream_t stream, mcGraph_t *pGraph);
/* mcErrorStreamCaptureImplicit: of the legacy default stream, while a stream
 * that is ordered with it captures; that one goes on. */
mcError_t mcStreamIsCapturing(mcStream_t stream,
                              mcStreamCaptureStatus *pCaptureStatus);
/* The same; and of a stream with mcStreamCaptureStatusActive, where the pointer
 * is not NULL: a number that no other capture of the process has or had, the
 * graph, and the nodes its next node comes behind, until the next call for the
 * stream. Nodes may be added to that graph; it must not be destroyed. */
mcError_t mcStreamGetCaptureInfo(
    mcStream_t stream, mcStreamCaptureStatus *captureStatus_out,
    unsigned long long *id_out __dparm(0), mcGraph_t *graph_out __dparm(0),
    const mcGraphNode_t **dependencies_out __dparm(0),
    size_t *numDependencies_out __dparm(0));
/* mcStreamGetCaptureInfo. */
mcError_t mcStreamGetCaptureInfo_v2(
    mcStream_t stream, mcStreamCaptureStatus *captureStatus_out,
    unsigned long long *id_out __dparm(0), mcGraph_t *graph_out __dparm(0),
    const mcGraphNode_t **dependencies_out __dparm(0),
    size_t *numDependencies_out __dparm(0));
/* The nodes the next one of the stream comes behind: these too, or these
 * instead (flags: mcStreamAddCaptureDependencies or
 * mcStreamSetCaptureDependencies). mcErrorInvalidValue: one of them is not of
 * its graph; mcErrorIllegalState: it does not capture. */
mcError_t mcStreamUpdateCaptureDependencies(mcStream_t stream,
                                            mcGraphNode_t *dependencies,
                                            size_t numDependencies,
                                            unsigned int flags __dparm(0));
/*
 * Sets the mode of the calling thread and returns the one it had, at first
 * mcStreamCaptureModeGlobal. Calls that captures do not see, like mcMalloc()
 * (docs/capture.md lists them), return mcErrorStreamCaptureUnsupported and make
 * invalid
 *   in mode global        the thread's own captures that are not relaxed, and
 *                         those of other threads that are global;
 *   in mode thread-local  the thread's own captures that are not relaxed;
 *   in mode relaxed       none.
 */
mcError_t mcThreadExchangeStreamCaptureMode(mcStreamCaptureMode *mode);

#ifdef __cplusplus
}
#endif

#endif
