/* SPDX-License-Identifier: MIT */
#include "link/link.h"

#include "api/api.h"

static void put_link(McLink **link)
{
    if (*link) {
        mc_link_put(*link);
    }
}

#define API_LINK(link, handle, error)                                          \
    McLink *link __attribute__((cleanup(put_link))) = mc_link_get(handle);     \
    API_CHECK(link, error)

MC_EXPORT mcError_t mcLinkCreate(unsigned int count, mcJitOption *options,
                                 void **values, mcLinkState_t *out)
{
    McLinkOptions read;
    McLink *link;

    API_ENTER("%u, %p, %p, %p", count, (void *)options, (void *)values,
              (void *)out);
    API_CHECK(out && (count == 0 || (options && values)),
              mcErrorInvalidValue);
    API_TRY(mc_link_options_read(&read, count, options, values));
    API_TRY(mc_link_create(&read, &link));
    *out = (mcLinkState_t)link;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcLinkDestroy(mcLinkState_t state)
{
    API_ENTER("%p", (void *)state);
    API_LINK(link, state, mcErrorInvalidValue);
    API_CHECK(mc_link_remove(link), mcErrorInvalidValue);
    API_RETURN(mcSuccess);
}

/* What an input has to be; objects may be anything, as that type is the only
 * one which all headers name. */
static mcError_t check_type(mcJitInputType type, McRelocatableKind *kind,
                            const McRelocatableKind **wanted)
{
    *wanted = kind;
    switch ((int)type) {
    case mcJitInputObject:
        *wanted = NULL;
        return mcSuccess;
    case mcJitInputFatBinary:
        *kind = MC_RELOCATABLE_FATBIN;
        return mcSuccess;
    case mcJitInputLibrary:
        *kind = MC_RELOCATABLE_LIBRARY;
        return mcSuccess;
    default:
        return mcErrorInvalidValue;
    }
}

MC_EXPORT mcError_t mcLinkAddData(mcLinkState_t state, mcJitInputType type,
                                  void *data, size_t size, const char *name,
                                  unsigned int count, mcJitOption *options,
                                  void **values)
{
    McRelocatableKind kind;
    const McRelocatableKind *wanted;

    API_ENTER("%p, %d, %p, %zu, %s, %u, %p, %p", (void *)state, (int)type,
              data, size, name ? name : "NULL", count, (void *)options,
              (void *)values);
    API_LINK(link, state, mcErrorInvalidHandle);
    API_CHECK(data && size && (count == 0 || (options && values)),
              mcErrorInvalidValue);
    API_TRY(check_type(type, &kind, &wanted));
    API_TRY(mc_link_options_check(count, options, values));
    API_RETURN(mc_link_add(link, wanted, data, size, name ? name : "input"));
}

MC_EXPORT mcError_t mcLinkAddFile(mcLinkState_t state, mcJitInputType type,
                                  const char *path, unsigned int count,
                                  mcJitOption *options, void **values)
{
    McRelocatableKind kind;
    const McRelocatableKind *wanted;

    API_ENTER("%p, %d, %s, %u, %p, %p", (void *)state, (int)type,
              path ? path : "NULL", count, (void *)options, (void *)values);
    API_LINK(link, state, mcErrorInvalidHandle);
    API_CHECK(path && (count == 0 || (options && values)),
              mcErrorInvalidValue);
    API_TRY(check_type(type, &kind, &wanted));
    API_TRY(mc_link_options_check(count, options, values));
    API_RETURN(mc_link_add_file(link, wanted, path));
}

MC_EXPORT mcError_t mcLinkComplete(mcLinkState_t state, void **data,
                                   size_t *size)
{
    void *image;
    size_t bytes;

    API_ENTER("%p, %p, %p", (void *)state, (void *)data, (void *)size);
    API_LINK(link, state, mcErrorInvalidValue);
    API_CHECK(data && size, mcErrorInvalidValue);
    API_TRY(mc_link_complete(link, &image, &bytes));
    *data = image;
    *size = bytes;
    API_RETURN(mcSuccess);
}
