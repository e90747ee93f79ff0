/* SPDX-License-Identifier: MIT */
/*
 * NVTX for sources that use it: names of mcToolsExt.h, whose library mxcc links
 * where it is called. User-defined synchronisation objects are not there.
 */
#ifndef MCTX_ADAPTOR_NVTOOLSEXT_H
#define MCTX_ADAPTOR_NVTOOLSEXT_H

#include <mcToolsExt.h>

#define NVTX_VERSION MCTX_VERSION

#define nvtxRangeId_t                mctxRangeId_t
#define nvtxDomainHandle_t           mctxDomainHandle_t
#define nvtxStringHandle_t           mctxStringHandle_t
#define nvtxResourceHandle_t         mctxResourceHandle_t
#define nvtxColorType_t              mctxColorType_t
#define nvtxMessageType_t            mctxMessageType_t
#define nvtxMessageValue_t           mctxMessageValue_t
#define nvtxPayloadType_t            mctxPayloadType_t
#define nvtxEventAttributes_t        mctxEventAttributes_t
#define nvtxEventAttributes_v2       mctxEventAttributes_v2
#define nvtxResourceAttributes_t     mctxResourceAttributes_t
#define nvtxResourceAttributes_v0    mctxResourceAttributes_v0
#define nvtxDomainRegistration_st    mctxDomainRegistration_st
#define nvtxStringRegistration_st    mctxStringRegistration_st
typedef mctxDomainHandle_t nvtxDomainRegistration;
typedef mctxStringHandle_t nvtxStringRegistration;

#define NVTX_NO_PUSH_POP_TRACKING    MCTX_NO_PUSH_POP_TRACKING
#define NVTX_COLOR_UNKNOWN           MCTX_COLOR_UNKNOWN
#define NVTX_COLOR_ARGB              MCTX_COLOR_ARGB
#define NVTX_MESSAGE_UNKNOWN         MCTX_MESSAGE_UNKNOWN
#define NVTX_MESSAGE_TYPE_ASCII      MCTX_MESSAGE_TYPE_ASCII
#define NVTX_MESSAGE_TYPE_UNICODE    MCTX_MESSAGE_TYPE_UNICODE
#define NVTX_MESSAGE_TYPE_REGISTERED MCTX_MESSAGE_TYPE_REGISTERED
#define NVTX_PAYLOAD_UNKNOWN         MCTX_PAYLOAD_UNKNOWN
#define NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 MCTX_PAYLOAD_TYPE_UNSIGNED_INT64
#define NVTX_PAYLOAD_TYPE_INT64      MCTX_PAYLOAD_TYPE_INT64
#define NVTX_PAYLOAD_TYPE_DOUBLE     MCTX_PAYLOAD_TYPE_DOUBLE
#define NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 MCTX_PAYLOAD_TYPE_UNSIGNED_INT32
#define NVTX_PAYLOAD_TYPE_INT32      MCTX_PAYLOAD_TYPE_INT32
#define NVTX_PAYLOAD_TYPE_FLOAT      MCTX_PAYLOAD_TYPE_FLOAT
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE MCTX_EVENT_ATTRIB_STRUCT_SIZE
#define NVTX_RESOURCE_ATTRIB_STRUCT_SIZE MCTX_RESOURCE_ATTRIB_STRUCT_SIZE
#define NVTX_RESOURCE_TYPE_UNKNOWN   MCTX_RESOURCE_TYPE_UNKNOWN
#define NVTX_RESOURCE_TYPE_GENERIC_POINTER MCTX_RESOURCE_TYPE_GENERIC_POINTER
#define NVTX_RESOURCE_TYPE_GENERIC_HANDLE MCTX_RESOURCE_TYPE_GENERIC_HANDLE
#define NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE MCTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE
#define NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX MCTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX

#define nvtxInitialize               mctxInitialize
#define nvtxMarkEx                   mctxMarkEx
#define nvtxRangeStartEx             mctxRangeStartEx
#define nvtxRangeEnd                 mctxRangeEnd
#define nvtxRangePushEx              mctxRangePushEx
#define nvtxRangePop                 mctxRangePop
#define nvtxDomainDestroy            mctxDomainDestroy
#define nvtxDomainMarkEx             mctxDomainMarkEx
#define nvtxDomainRangeStartEx       mctxDomainRangeStartEx
#define nvtxDomainRangeEnd           mctxDomainRangeEnd
#define nvtxDomainRangePushEx        mctxDomainRangePushEx
#define nvtxDomainRangePop           mctxDomainRangePop
#define nvtxDomainResourceCreate     mctxDomainResourceCreate
#define nvtxDomainResourceDestroy    mctxDomainResourceDestroy
#define nvtxMarkA                    mctxMarkA
#define nvtxMarkW                    mctxMarkW
#define nvtxRangeStartA              mctxRangeStartA
#define nvtxRangeStartW              mctxRangeStartW
#define nvtxRangePushA               mctxRangePushA
#define nvtxRangePushW               mctxRangePushW
#define nvtxNameCategoryA            mctxNameCategoryA
#define nvtxNameCategoryW            mctxNameCategoryW
#define nvtxNameOsThreadA            mctxNameOsThreadA
#define nvtxNameOsThreadW            mctxNameOsThreadW
#define nvtxDomainCreateA            mctxDomainCreateA
#define nvtxDomainCreateW            mctxDomainCreateW
#define nvtxDomainNameCategoryA      mctxDomainNameCategoryA
#define nvtxDomainNameCategoryW      mctxDomainNameCategoryW
#define nvtxDomainRegisterStringA    mctxDomainRegisterStringA
#define nvtxDomainRegisterStringW    mctxDomainRegisterStringW
#define nvtxMark                     mctxMark
#define nvtxRangeStart               mctxRangeStart
#define nvtxRangePush                mctxRangePush
#define nvtxNameCategory             mctxNameCategory
#define nvtxNameOsThread             mctxNameOsThread
#define nvtxDomainCreate             mctxDomainCreate
#define nvtxDomainNameCategory       mctxDomainNameCategory
#define nvtxDomainRegisterString     mctxDomainRegisterString

#endif
