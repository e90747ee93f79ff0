/* SPDX-License-Identifier: MIT */
/* Marks and ranges. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "toolsext.h"

_Static_assert(sizeof(mctxEventAttributes_t) == 48, "as programs have it");

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* attributes NULL: of an end. One of an older, shorter form is completed. */
static void record(uint32_t kind, uint32_t domain, uint64_t id,
                   const mctxEventAttributes_t *attributes)
{
    struct mc_profile_annotation head = {
        .host = now(),
        .id = id,
        .thread = mctx_thread_id(),
        .kind = kind,
        .domain = domain,
    };
    mctxEventAttributes_t a = {0};
    MctxText text = {"", NULL};

    if (attributes) {
        memcpy(&a, attributes, attributes->size < sizeof(a) ? attributes->size
                                                            : sizeof(a));
        text = mctx_text(a.messageType, a.message);
        head.category = a.category;
        head.color = a.color;
        head.has = (a.colorType == MCTX_COLOR_ARGB) |
                   ((uint32_t)a.payloadType & 0xff) << 8;
        head.payload = a.payload.ullValue;
    }
    __mcAnnotate(MC_PROFILE_ANNOTATION, &head, sizeof(head), text.text);
    free(text.own);
}

static mctxEventAttributes_t of_ascii(const char *message)
{
    return (mctxEventAttributes_t){
        .version = MCTX_VERSION,
        .size = MCTX_EVENT_ATTRIB_STRUCT_SIZE,
        .messageType = MCTX_MESSAGE_TYPE_ASCII,
        .message.ascii = message,
    };
}

static mctxEventAttributes_t of_wide(const wchar_t *message)
{
    return (mctxEventAttributes_t){
        .version = MCTX_VERSION,
        .size = MCTX_EVENT_ATTRIB_STRUCT_SIZE,
        .messageType = MCTX_MESSAGE_TYPE_UNICODE,
        .message.unicode = message,
    };
}

MCTX_EXPORT void mctxInitialize(const void *reserved)
{
    /* The recording began with the process. */
}

/* ---- marks */

MCTX_EXPORT void mctxDomainMarkEx(mctxDomainHandle_t domain,
                                  const mctxEventAttributes_t *attributes)
{
    if (mctx_active() && attributes) {
        record(MC_PROFILE_MARK, mctx_domain_number(domain), 0, attributes);
    }
}

MCTX_EXPORT void mctxMarkEx(const mctxEventAttributes_t *attributes)
{
    mctxDomainMarkEx(NULL, attributes);
}

MCTX_EXPORT void mctxMarkA(const char *message)
{
    if (mctx_active()) {
        mctxEventAttributes_t a = of_ascii(message);

        mctxDomainMarkEx(NULL, &a);
    }
}

MCTX_EXPORT void mctxMarkW(const wchar_t *message)
{
    if (mctx_active()) {
        mctxEventAttributes_t a = of_wide(message);

        mctxDomainMarkEx(NULL, &a);
    }
}

/* ---- ranges of the process */

static atomic_ullong ranges;

MCTX_EXPORT mctxRangeId_t
mctxDomainRangeStartEx(mctxDomainHandle_t domain,
                       const mctxEventAttributes_t *attributes)
{
    mctxRangeId_t id = 0;

    if (mctx_active() && attributes) {
        id = atomic_fetch_add(&ranges, 1) + 1;
        record(MC_PROFILE_START, mctx_domain_number(domain), id, attributes);
    }
    return id;
}

MCTX_EXPORT mctxRangeId_t
mctxRangeStartEx(const mctxEventAttributes_t *attributes)
{
    return mctxDomainRangeStartEx(NULL, attributes);
}

MCTX_EXPORT mctxRangeId_t mctxRangeStartA(const char *message)
{
    mctxEventAttributes_t a;

    if (!mctx_active()) {
        return 0;
    }
    a = of_ascii(message);
    return mctxDomainRangeStartEx(NULL, &a);
}

MCTX_EXPORT mctxRangeId_t mctxRangeStartW(const wchar_t *message)
{
    mctxEventAttributes_t a;

    if (!mctx_active()) {
        return 0;
    }
    a = of_wide(message);
    return mctxDomainRangeStartEx(NULL, &a);
}

/* Of one whose start was recorded the end is too, although recording is paused
 * by now. */
MCTX_EXPORT void mctxDomainRangeEnd(mctxDomainHandle_t domain,
                                    mctxRangeId_t id)
{
    if (id && mctx_open()) {
        record(MC_PROFILE_END, mctx_domain_number(domain), id, NULL);
    }
}

MCTX_EXPORT void mctxRangeEnd(mctxRangeId_t id)
{
    mctxDomainRangeEnd(NULL, id);
}

/* ---- ranges of a thread */

MCTX_EXPORT int mctxDomainRangePushEx(mctxDomainHandle_t domain,
                                      const mctxEventAttributes_t *attributes)
{
    bool active = mctx_active();
    uint32_t number;
    int level;

    if (!mctx_open()) {
        return MCTX_NO_PUSH_POP_TRACKING;
    }
    if (!attributes) {
        return -1;
    }
    number = mctx_domain_number(domain);
    level = mctx_level_push(number, active);
    if (level >= 0 && active) {
        record(MC_PROFILE_PUSH, number, level, attributes);
    }
    return level;
}

MCTX_EXPORT int mctxRangePushEx(const mctxEventAttributes_t *attributes)
{
    return mctxDomainRangePushEx(NULL, attributes);
}

MCTX_EXPORT int mctxRangePushA(const char *message)
{
    mctxEventAttributes_t a;

    if (!mctx_open()) {
        return MCTX_NO_PUSH_POP_TRACKING;
    }
    a = of_ascii(message);
    return mctxDomainRangePushEx(NULL, &a);
}

MCTX_EXPORT int mctxRangePushW(const wchar_t *message)
{
    mctxEventAttributes_t a;

    if (!mctx_open()) {
        return MCTX_NO_PUSH_POP_TRACKING;
    }
    a = of_wide(message);
    return mctxDomainRangePushEx(NULL, &a);
}

MCTX_EXPORT int mctxDomainRangePop(mctxDomainHandle_t domain)
{
    bool recorded = false;
    uint32_t number;
    int level;

    if (!mctx_open()) {
        return MCTX_NO_PUSH_POP_TRACKING;
    }
    number = mctx_domain_number(domain);
    level = mctx_level_pop(number, &recorded);
    if (level >= 0 && recorded) {
        record(MC_PROFILE_POP, number, level, NULL);
    }
    return level;
}

MCTX_EXPORT int mctxRangePop(void)
{
    return mctxDomainRangePop(NULL);
}
