/* SPDX-License-Identifier: MIT */
/*
 * Annotations: a program says what its parts are called, and mx-prof shows them
 * beside calls, kernels and copies (docs/profiling.md). libmcToolsExt; the
 * functions are those of NVTX 3 under other names, and what is said there holds
 * here. nvToolsExt.h and roctx.h map onto them.
 *
 * All may be called from any thread at any time, also before the runtime is
 * used and in programs that never use it. Texts are copied. In a program that is
 * not profiled each returns at once: a call, a load and a branch.
 */
#ifndef MCTOOLSEXT_H
#define MCTOOLSEXT_H

#include <stdint.h>
#include <wchar.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MCTX_VERSION 3

/* What push and pop return instead of a level. */
#define MCTX_NO_PUSH_POP_TRACKING  (-2) /* not profiled */

typedef uint64_t mctxRangeId_t; /* 0: not recorded */

typedef struct mctxDomainRegistration_st *mctxDomainHandle_t;
typedef struct mctxStringRegistration_st *mctxStringHandle_t;
typedef struct mctxResourceRegistration_st *mctxResourceHandle_t;

typedef enum mctxColorType_t {
    MCTX_COLOR_UNKNOWN = 0,
    MCTX_COLOR_ARGB = 1,
} mctxColorType_t;

typedef enum mctxMessageType_t {
    MCTX_MESSAGE_UNKNOWN = 0,
    MCTX_MESSAGE_TYPE_ASCII = 1,
    MCTX_MESSAGE_TYPE_UNICODE = 2,
    MCTX_MESSAGE_TYPE_REGISTERED = 3,
} mctxMessageType_t;

typedef union mctxMessageValue_t {
    const char *ascii;
    const wchar_t *unicode;
    mctxStringHandle_t registered;
} mctxMessageValue_t;

typedef enum mctxPayloadType_t {
    MCTX_PAYLOAD_UNKNOWN = 0,
    MCTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    MCTX_PAYLOAD_TYPE_INT64 = 2,
    MCTX_PAYLOAD_TYPE_DOUBLE = 3,
    MCTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    MCTX_PAYLOAD_TYPE_INT32 = 5,
    MCTX_PAYLOAD_TYPE_FLOAT = 6,
} mctxPayloadType_t;

/* What a mark or range is; all zeroes but for version and size is valid. */
typedef struct mctxEventAttributes_v2 {
    uint16_t version; /* MCTX_VERSION */
    uint16_t size;    /* MCTX_EVENT_ATTRIB_STRUCT_SIZE */
    uint32_t category;
    int32_t colorType; /* mctxColorType_t */
    uint32_t color;
    int32_t payloadType; /* mctxPayloadType_t */
    int32_t reserved0;
    union mctxPayload_t {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType; /* mctxMessageType_t */
    mctxMessageValue_t message;
} mctxEventAttributes_t;

#define MCTX_EVENT_ATTRIB_STRUCT_SIZE                                          \
    ((uint16_t)sizeof(mctxEventAttributes_t))

/* What a resource is called by: for mctxDomainResourceCreate. */
typedef enum mctxResourceGenericType_t {
    MCTX_RESOURCE_TYPE_UNKNOWN = 0,
    MCTX_RESOURCE_TYPE_GENERIC_POINTER = 1,
    MCTX_RESOURCE_TYPE_GENERIC_HANDLE = 2,
    MCTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE = 3,
    MCTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX = 4,
} mctxResourceGenericType_t;

typedef struct mctxResourceAttributes_v0 {
    uint16_t version; /* MCTX_VERSION */
    uint16_t size;    /* MCTX_RESOURCE_ATTRIB_STRUCT_SIZE */
    int32_t identifierType; /* mctxResourceGenericType_t */
    union mctxIdentifier_t {
        const void *pValue;
        uint64_t ullValue;
    } identifier;
    int32_t messageType;
    mctxMessageValue_t message;
} mctxResourceAttributes_t;

#define MCTX_RESOURCE_ATTRIB_STRUCT_SIZE                                       \
    ((uint16_t)sizeof(mctxResourceAttributes_t))

/* Does nothing that the first call of another would not. */
void mctxInitialize(const void *reserved);

/* A moment. */
void mctxMarkEx(const mctxEventAttributes_t *attributes);
void mctxMarkA(const char *message);
void mctxMarkW(const wchar_t *message);

/* A range that any thread may end. */
mctxRangeId_t mctxRangeStartEx(const mctxEventAttributes_t *attributes);
mctxRangeId_t mctxRangeStartA(const char *message);
mctxRangeId_t mctxRangeStartW(const wchar_t *message);
void mctxRangeEnd(mctxRangeId_t id);

/* Ranges of a thread, one within the other. The level of the range that was
 * begun or ended, from 0; negative when there was none. */
int mctxRangePushEx(const mctxEventAttributes_t *attributes);
int mctxRangePushA(const char *message);
int mctxRangePushW(const wchar_t *message);
int mctxRangePop(void);

/* Names. A thread is what gettid() says, or 0, the calling one; streams, events
 * and contexts are the runtime's handles. */
void mctxNameCategoryA(uint32_t category, const char *name);
void mctxNameCategoryW(uint32_t category, const wchar_t *name);
void mctxNameOsThreadA(uint32_t thread, const char *name);
void mctxNameOsThreadW(uint32_t thread, const wchar_t *name);
void mctxNameMcDeviceA(int device, const char *name);
void mctxNameMcDeviceW(int device, const wchar_t *name);
void mctxNameMcStreamA(void *stream, const char *name);
void mctxNameMcStreamW(void *stream, const wchar_t *name);
void mctxNameMcEventA(void *event, const char *name);
void mctxNameMcEventW(void *event, const wchar_t *name);
void mctxNameMcContextA(void *context, const char *name);
void mctxNameMcContextW(void *context, const wchar_t *name);

/* The same in a domain: a name space of a library, with categories and levels
 * of its own. NULL is the default domain, and what is created in a program that
 * is not profiled. A domain's strings stay valid after it is destroyed. */
mctxDomainHandle_t mctxDomainCreateA(const char *name);
mctxDomainHandle_t mctxDomainCreateW(const wchar_t *name);
void mctxDomainDestroy(mctxDomainHandle_t domain);
void mctxDomainMarkEx(mctxDomainHandle_t domain,
                      const mctxEventAttributes_t *attributes);
mctxRangeId_t mctxDomainRangeStartEx(mctxDomainHandle_t domain,
                                     const mctxEventAttributes_t *attributes);
void mctxDomainRangeEnd(mctxDomainHandle_t domain, mctxRangeId_t id);
int mctxDomainRangePushEx(mctxDomainHandle_t domain,
                          const mctxEventAttributes_t *attributes);
int mctxDomainRangePop(mctxDomainHandle_t domain);
void mctxDomainNameCategoryA(mctxDomainHandle_t domain, uint32_t category,
                             const char *name);
void mctxDomainNameCategoryW(mctxDomainHandle_t domain, uint32_t category,
                             const wchar_t *name);
mctxStringHandle_t mctxDomainRegisterStringA(mctxDomainHandle_t domain,
                                             const char *string);
mctxStringHandle_t mctxDomainRegisterStringW(mctxDomainHandle_t domain,
                                             const wchar_t *string);
/* NULL when the attributes name nothing. */
mctxResourceHandle_t
mctxDomainResourceCreate(mctxDomainHandle_t domain,
                         const mctxResourceAttributes_t *attributes);
void mctxDomainResourceDestroy(mctxResourceHandle_t resource);

#ifdef UNICODE
#define mctxMark                 mctxMarkW
#define mctxRangeStart           mctxRangeStartW
#define mctxRangePush            mctxRangePushW
#define mctxNameCategory         mctxNameCategoryW
#define mctxNameOsThread         mctxNameOsThreadW
#define mctxNameMcDevice         mctxNameMcDeviceW
#define mctxNameMcStream         mctxNameMcStreamW
#define mctxNameMcEvent          mctxNameMcEventW
#define mctxNameMcContext        mctxNameMcContextW
#define mctxDomainCreate         mctxDomainCreateW
#define mctxDomainNameCategory   mctxDomainNameCategoryW
#define mctxDomainRegisterString mctxDomainRegisterStringW
#else
#define mctxMark                 mctxMarkA
#define mctxRangeStart           mctxRangeStartA
#define mctxRangePush            mctxRangePushA
#define mctxNameCategory         mctxNameCategoryA
#define mctxNameOsThread         mctxNameOsThreadA
#define mctxNameMcDevice         mctxNameMcDeviceA
#define mctxNameMcStream         mctxNameMcStreamA
#define mctxNameMcEvent          mctxNameMcEventA
#define mctxNameMcContext        mctxNameMcContextA
#define mctxDomainCreate         mctxDomainCreateA
#define mctxDomainNameCategory   mctxDomainNameCategoryA
#define mctxDomainRegisterString mctxDomainRegisterStringA
#endif

#ifdef __cplusplus
}
#endif

#endif
