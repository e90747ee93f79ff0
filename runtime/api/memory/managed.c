/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* getcpu() */
#include "core/mapping/managed.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "api/api.h"

/* Of the entry point that says so. */
#define CALLER ((McCaller){__func__, __builtin_return_address(0)})

MC_EXPORT mcError_t mcMallocManaged(void **ptr, size_t size,
                                    unsigned int flags)
{
    API_ENTER("%p, %zu, 0x%x", (void *)ptr, size, flags);
    API_CHECK(ptr && size && (flags == mcMemAttachGlobal ||
                              flags == mcMemAttachHost), mcErrorInvalidValue);
    API_CONTEXT(ctx);
    API_UNSAFE();
    API_RETURN(mc_managed_alloc(ctx->device, size, flags, false, CALLER,
                                ptr));
}

/* ---- locations ---- */

static bool is_node(int id)
{
    char path[64];

    snprintf(path, sizeof(path), "/sys/devices/system/node/node%d", id);
    /* Some kernels know of no nodes: then there is one. */
    return id == 0 || (id > 0 && access(path, F_OK) == 0);
}

static mcMemLocation from_device(int device)
{
    return device == mcCpuDeviceId
               ? (mcMemLocation){mcMemLocationTypeHost, 0}
               : (mcMemLocation){mcMemLocationTypeDevice, device};
}

/* As it is kept: one name for each place. */
static mcError_t check_location(mcMemLocation *location)
{
    unsigned cpu, node = 0;

    switch ((int)location->type) {
    case mcMemLocationTypeDevice:
        return mc_api_is_device(location->id) ? mcSuccess
                                              : mcErrorInvalidDevice;
    case mcMemLocationTypeHost:
        location->id = 0;
        return mcSuccess;
    case mcMemLocationTypeHostNumaCurrent:
        getcpu(&cpu, &node);
        *location = (mcMemLocation){mcMemLocationTypeHostNuma, node};
        return mcSuccess;
    case mcMemLocationTypeHostNuma:
        return is_node(location->id) ? mcSuccess : mcErrorInvalidValue;
    default:
        return mcErrorInvalidValue;
    }
}

/* ---- advice ---- */

typedef struct Said {
    mcMemoryAdvise advice;
    mcMemLocation where;
} Said;

static uint64_t bit_of(const mcMemLocation *where)
{
    return where->type == mcMemLocationTypeDevice ? 1ull << where->id
                                                  : MC_MANAGED_BY_HOST;
}

static void advise(McAdvice *known, const void *opaque)
{
    const Said *said = opaque;

    switch (said->advice) {
    case mcMemAdviseSetReadMostly:
    case mcMemAdviseUnsetReadMostly:
        known->read_mostly = said->advice == mcMemAdviseSetReadMostly;
        break;
    case mcMemAdviseSetPreferredLocation:
        known->preferred = said->where;
        break;
    case mcMemAdviseUnsetPreferredLocation:
        known->preferred = (mcMemLocation){mcMemLocationTypeInvalid, 0};
        break;
    case mcMemAdviseSetAccessedBy:
        known->accessed_by |= bit_of(&said->where);
        break;
    case mcMemAdviseUnsetAccessedBy:
        known->accessed_by &= ~bit_of(&said->where);
        break;
    }
}

static mcError_t check_advice(Said *said)
{
    switch ((int)said->advice) {
    case mcMemAdviseSetReadMostly:
    case mcMemAdviseUnsetReadMostly:
    case mcMemAdviseUnsetPreferredLocation:
        return mcSuccess; /* of no place */
    case mcMemAdviseSetPreferredLocation:
        return check_location(&said->where);
    case mcMemAdviseSetAccessedBy:
    case mcMemAdviseUnsetAccessedBy:
        if (said->where.type != mcMemLocationTypeDevice &&
            said->where.type != mcMemLocationTypeHost) {
            return mcErrorInvalidValue;
        }
        return check_location(&said->where);
    default:
        return mcErrorInvalidValue;
    }
}

static mcError_t say(const void *ptr, size_t count, Said said)
{
    mcError_t error = check_advice(&said);

    return error == mcSuccess
               ? mc_managed_change((uintptr_t)ptr, count, advise, &said)
               : error;
}

MC_EXPORT mcError_t mcMemAdvise(const void *ptr, size_t count,
                                mcMemoryAdvise advice, int device)
{
    API_ENTER("%p, %zu, %d, %d", ptr, count, (int)advice, device);
    API_RETURN(say(ptr, count, (Said){advice, from_device(device)}));
}

MC_EXPORT mcError_t mcMemAdvise_v2(const void *ptr, size_t count,
                                   mcMemoryAdvise advice,
                                   mcMemLocation location)
{
    API_ENTER("%p, %zu, %d, {%d, %d}", ptr, count, (int)advice,
              (int)location.type, location.id);
    API_RETURN(say(ptr, count, (Said){advice, location}));
}

static void prefetched(McAdvice *known, const void *opaque)
{
    known->prefetched = *(const mcMemLocation *)opaque;
}

/* There is nothing to move, so nothing is submitted: work that follows finds
 * memory where it is. */
static mcError_t prefetch(const void *ptr, size_t count, mcMemLocation where,
                          mcStream_t handle)
{
    McStream *stream __attribute__((cleanup(mc_api_put_stream))) = NULL;
    mcError_t error = check_location(&where);

    if (error == mcSuccess) {
        error = mc_api_stream(handle, &stream);
    }
    if (error == mcSuccess) {
        error = mc_capture_none(stream);
    }
    return error == mcSuccess
               ? mc_managed_change((uintptr_t)ptr, count, prefetched, &where)
               : error;
}

MC_EXPORT mcError_t mcMemPrefetchAsync(const void *ptr, size_t count,
                                       int device, mcStream_t stream)
{
    API_ENTER("%p, %zu, %d, %p", ptr, count, device, (void *)stream);
    API_RETURN(prefetch(ptr, count, from_device(device), stream));
}

MC_EXPORT mcError_t mcMemPrefetchAsync_v2(const void *ptr, size_t count,
                                          mcMemLocation location,
                                          unsigned int flags,
                                          mcStream_t stream)
{
    API_ENTER("%p, %zu, {%d, %d}, 0x%x, %p", ptr, count, (int)location.type,
              location.id, flags, (void *)stream);
    API_CHECK(flags == 0, mcErrorInvalidValue);
    API_RETURN(prefetch(ptr, count, location, stream));
}

/* ---- what was said ---- */

/* Of all parts so far. */
typedef struct Answer {
    bool any;
    McAdvice all;
} Answer;

static void agree(mcMemLocation *all, mcMemLocation part)
{
    if (all->type != part.type || all->id != part.id) {
        *all = (mcMemLocation){mcMemLocationTypeInvalid, 0};
    }
}

static void look(const McAdvice *part, void *opaque)
{
    Answer *answer = opaque;

    if (!answer->any) {
        answer->any = true;
        answer->all = *part;
        return;
    }
    answer->all.read_mostly &= part->read_mostly;
    answer->all.accessed_by &= part->accessed_by;
    agree(&answer->all.preferred, part->preferred);
    agree(&answer->all.prefetched, part->prefetched);
}

static int device_of(mcMemLocation where)
{
    return where.type == mcMemLocationTypeDevice    ? where.id
           : where.type == mcMemLocationTypeInvalid ? mcInvalidDeviceId
                                                    : mcCpuDeviceId;
}

static void list_devices(uint64_t bits, int *out, size_t room)
{
    size_t n = 0;

    for (int i = 0; i < MC_MAX_DEVICES && n < room; i++) {
        if (bits >> i & 1) {
            out[n++] = i;
        }
    }
    if (bits & MC_MANAGED_BY_HOST && n < room) {
        out[n++] = mcCpuDeviceId;
    }
    while (n < room) {
        out[n++] = mcInvalidDeviceId;
    }
}

static bool fits(mcMemRangeAttribute attribute, size_t size)
{
    if (attribute == mcMemRangeAttributeAccessedBy) {
        return size && size % sizeof(int) == 0;
    }
    return attribute >= mcMemRangeAttributeReadMostly &&
           attribute <= mcMemRangeAttributeLastPrefetchLocationId &&
           size == sizeof(int);
}

static void tell(void *data, size_t size, mcMemRangeAttribute attribute,
                 const McAdvice *all)
{
    int *out = data;

    switch (attribute) {
    case mcMemRangeAttributeReadMostly:
        *out = all->read_mostly;
        break;
    case mcMemRangeAttributePreferredLocation:
        *out = device_of(all->preferred);
        break;
    case mcMemRangeAttributeAccessedBy:
        list_devices(all->accessed_by, out, size / sizeof(int));
        break;
    case mcMemRangeAttributeLastPrefetchLocation:
        *out = device_of(all->prefetched);
        break;
    case mcMemRangeAttributePreferredLocationType:
        *out = all->preferred.type;
        break;
    case mcMemRangeAttributePreferredLocationId:
        *out = all->preferred.id;
        break;
    case mcMemRangeAttributeLastPrefetchLocationType:
        *out = all->prefetched.type;
        break;
    case mcMemRangeAttributeLastPrefetchLocationId:
        *out = all->prefetched.id;
        break;
    }
}

MC_EXPORT mcError_t mcMemRangeGetAttribute(void *data, size_t size,
                                           mcMemRangeAttribute attribute,
                                           const void *ptr, size_t count)
{
    Answer answer = {.any = false};

    API_ENTER("%p, %zu, %d, %p, %zu", data, size, (int)attribute, ptr, count);
    API_CHECK(data && fits(attribute, size), mcErrorInvalidValue);
    API_TRY(mc_managed_look((uintptr_t)ptr, count, look, &answer));
    tell(data, size, attribute, &answer.all);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcMemRangeGetAttributes(void **data, size_t *sizes,
                                            mcMemRangeAttribute *attributes,
                                            size_t number, const void *ptr,
                                            size_t count)
{
    Answer answer = {.any = false};

    API_ENTER("%p, %p, %p, %zu, %p, %zu", (void *)data, (void *)sizes,
              (void *)attributes, number, ptr, count);
    API_CHECK(data && sizes && attributes && number, mcErrorInvalidValue);
    for (size_t i = 0; i < number; i++) {
        API_CHECK(data[i] && fits(attributes[i], sizes[i]),
                  mcErrorInvalidValue);
    }
    API_TRY(mc_managed_look((uintptr_t)ptr, count, look, &answer));
    for (size_t i = 0; i < number; i++) {
        mcMemRangeAttribute attribute = attributes[i];
        size_t size = sizes[i];

        if (fits(attribute, size)) { /* it may be another by now */
            tell(data[i], size, attribute, &answer.all);
        }
    }
    API_RETURN(mcSuccess);
}

/* ---- streams ---- */

static bool is_default(mcStream_t handle)
{
    return !handle || handle == mcStreamLegacy || handle == mcStreamPerThread;
}

/* Whoever it is attached to, everybody may use it: nothing is submitted. */
MC_EXPORT mcError_t mcStreamAttachMemAsync(mcStream_t handle, void *ptr,
                                           size_t length, unsigned int flags)
{
    McRange range;

    API_ENTER("%p, %p, %zu, 0x%x", (void *)handle, ptr, length, flags);
    API_CHECK(flags == mcMemAttachGlobal || flags == mcMemAttachHost ||
              flags == mcMemAttachSingle, mcErrorInvalidValue);
    API_CHECK(flags != mcMemAttachSingle || !is_default(handle),
              mcErrorInvalidValue);
    API_STREAM(stream, handle);
    API_TRY(mc_capture_none(stream));
    API_CHECK(mc_range_find((uintptr_t)ptr, &range) &&
              range.kind == MC_RANGE_MANAGED && range.base == (uintptr_t)ptr &&
              (length == 0 || length == range.size), mcErrorInvalidValue);
    API_RETURN(mcSuccess);
}
