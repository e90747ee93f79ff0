/* SPDX-License-Identifier: MIT */
/* Names of what the driver's interface creates. */
#ifndef MCTX_ADAPTOR_NVTOOLSEXTCUDA_H
#define MCTX_ADAPTOR_NVTOOLSEXTCUDA_H

#include "nvToolsExt.h"

#define nvtxNameCuDeviceA            mctxNameMcDeviceA
#define nvtxNameCuDeviceW            mctxNameMcDeviceW
#define nvtxNameCuDevice             mctxNameMcDevice
#define nvtxNameCuContextA           mctxNameMcContextA
#define nvtxNameCuContextW           mctxNameMcContextW
#define nvtxNameCuContext            mctxNameMcContext
#define nvtxNameCuStreamA            mctxNameMcStreamA
#define nvtxNameCuStreamW            mctxNameMcStreamW
#define nvtxNameCuStream             mctxNameMcStream
#define nvtxNameCuEventA             mctxNameMcEventA
#define nvtxNameCuEventW             mctxNameMcEventW
#define nvtxNameCuEvent              mctxNameMcEvent

#endif
