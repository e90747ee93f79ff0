/* SPDX-License-Identifier: MIT */
/*
 * roctx for sources that use it, by mcToolsExt.h, whose library mxcc links where
 * it is called.
 */
#ifndef MCTX_ADAPTOR_ROCTX_H
#define MCTX_ADAPTOR_ROCTX_H

#include <mcToolsExt.h>

#define ROCTX_VERSION_MAJOR 4
#define ROCTX_VERSION_MINOR 1

typedef mctxRangeId_t roctx_range_id_t;

#define roctxMarkA       mctxMarkA
#define roctxRangePushA  mctxRangePushA
#define roctxRangePop    mctxRangePop
#define roctxRangeStartA mctxRangeStartA
#define roctxRangeStop   mctxRangeEnd

/* With arguments, so that they are no function pointers, as in roctx. */
#define roctxMark(message)       roctxMarkA(message)
#define roctxRangePush(message)  roctxRangePushA(message)
#define roctxRangeStart(message) roctxRangeStartA(message)

/* Of the calling thread; 0, as success is. */
static inline int roctxNameOsThread(const char *name)
{
    mctxNameOsThreadA(0, name);
    return 0;
}

static inline int roctxNameHipDevice(const char *name, int device)
{
    mctxNameMcDeviceA(device, name);
    return 0;
}

static inline int roctxNameHipStream(const char *name, void *stream)
{
    mctxNameMcStreamA(stream, name);
    return 0;
}

#endif
