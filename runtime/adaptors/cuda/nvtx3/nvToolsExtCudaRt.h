/* SPDX-License-Identifier: MIT */
/* Names of what the runtime's interface creates. */
#ifndef MCTX_ADAPTOR_NVTOOLSEXTCUDART_H
#define MCTX_ADAPTOR_NVTOOLSEXTCUDART_H

#include "nvToolsExt.h"

#define nvtxNameCudaDeviceA          mctxNameMcDeviceA
#define nvtxNameCudaDeviceW          mctxNameMcDeviceW
#define nvtxNameCudaDevice           mctxNameMcDevice
#define nvtxNameCudaStreamA          mctxNameMcStreamA
#define nvtxNameCudaStreamW          mctxNameMcStreamW
#define nvtxNameCudaStream           mctxNameMcStream
#define nvtxNameCudaEventA           mctxNameMcEventA
#define nvtxNameCudaEventW           mctxNameMcEventW
#define nvtxNameCudaEvent            mctxNameMcEvent

#endif
