/* SPDX-License-Identifier: MIT */
/* Domains, registered strings, and names of things. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "toolsext.h"

/* ---- registered strings: kept to the end of the process */

#define CHUNK  256u
#define CHUNKS 4096u

static char **_Atomic chunks[CHUNKS];
static uint32_t strings;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Number of a string from 1, 0 when there is no room. */
static uintptr_t add_string(char *copy)
{
    uintptr_t number = 0;

    pthread_mutex_lock(&lock);
    uint32_t at = strings;
    if (at < CHUNK * CHUNKS) {
        char **chunk = atomic_load(&chunks[at / CHUNK]);

        if (!chunk) {
            chunk = calloc(CHUNK, sizeof(*chunk));
            atomic_store(&chunks[at / CHUNK], chunk);
        }
        if (chunk) {
            __atomic_store_n(&chunk[at % CHUNK], copy, __ATOMIC_RELEASE);
            number = ++strings;
        }
    }
    pthread_mutex_unlock(&lock);
    return number;
}

const char *mctx_string(mctxStringHandle_t string)
{
    uintptr_t at = (uintptr_t)string - 1;
    char **chunk = at < CHUNK * CHUNKS ? atomic_load(&chunks[at / CHUNK])
                                       : NULL;
    const char *text = NULL;

    if (chunk) {
        text = __atomic_load_n(&chunk[at % CHUNK], __ATOMIC_ACQUIRE);
    }
    return text ? text : "";
}

static mctxStringHandle_t register_string(const char *text)
{
    char *copy = strdup(text);
    uintptr_t number = copy ? add_string(copy) : 0;

    if (!number) {
        free(copy);
    }
    return (mctxStringHandle_t)number;
}

MCTX_EXPORT mctxStringHandle_t
mctxDomainRegisterStringA(mctxDomainHandle_t domain, const char *string)
{
    return mctx_open() && string ? register_string(string) : NULL;
}

MCTX_EXPORT mctxStringHandle_t
mctxDomainRegisterStringW(mctxDomainHandle_t domain, const wchar_t *string)
{
    mctxStringHandle_t handle = NULL;

    if (mctx_open() && string) {
        MctxText text = mctx_wide(string);

        handle = register_string(text.text);
        free(text.own);
    }
    return handle;
}

/* ---- names */

static void name(uint32_t kind, uint32_t domain, uint64_t object,
                 const char *text)
{
    struct mc_profile_name head = {
        .object = object,
        .kind = kind,
        .domain = domain,
    };

    if (kind == MC_PROFILE_NAMES_THREAD && !object) {
        head.object = mctx_thread_id();
    }
    if (text) {
        __mcAnnotate(MC_PROFILE_NAME, &head, sizeof(head), text);
    }
}

static void name_wide(uint32_t kind, uint32_t domain, uint64_t object,
                      const wchar_t *wide)
{
    if (wide) {
        MctxText text = mctx_wide(wide);

        name(kind, domain, object, text.text);
        free(text.own);
    }
}

#define NAMES(function, kind, type)                                            \
    MCTX_EXPORT void function##A(type object, const char *text)                \
    {                                                                          \
        if (mctx_open()) {                                                     \
            name((kind), 0, (uintptr_t)object, text);                          \
        }                                                                      \
    }                                                                          \
    MCTX_EXPORT void function##W(type object, const wchar_t *text)             \
    {                                                                          \
        if (mctx_open()) {                                                     \
            name_wide((kind), 0, (uintptr_t)object, text);                     \
        }                                                                      \
    }

NAMES(mctxNameCategory, MC_PROFILE_NAMES_CATEGORY, uint32_t)
NAMES(mctxNameOsThread, MC_PROFILE_NAMES_THREAD, uint32_t)
NAMES(mctxNameMcDevice, MC_PROFILE_NAMES_DEVICE, int)
NAMES(mctxNameMcStream, MC_PROFILE_NAMES_STREAM, void *)
NAMES(mctxNameMcEvent, MC_PROFILE_NAMES_EVENT, void *)
NAMES(mctxNameMcContext, MC_PROFILE_NAMES_CONTEXT, void *)

MCTX_EXPORT void mctxDomainNameCategoryA(mctxDomainHandle_t domain,
                                         uint32_t category, const char *text)
{
    if (mctx_open()) {
        name(MC_PROFILE_NAMES_CATEGORY, mctx_domain_number(domain), category,
             text);
    }
}

MCTX_EXPORT void mctxDomainNameCategoryW(mctxDomainHandle_t domain,
                                         uint32_t category,
                                         const wchar_t *text)
{
    if (mctx_open()) {
        name_wide(MC_PROFILE_NAMES_CATEGORY, mctx_domain_number(domain),
                  category, text);
    }
}

MCTX_EXPORT mctxResourceHandle_t
mctxDomainResourceCreate(mctxDomainHandle_t domain,
                         const mctxResourceAttributes_t *attributes)
{
    const mctxResourceAttributes_t *a = attributes;
    bool thread;

    if (!mctx_open() || !a || a->size < sizeof(*a) || !a->messageType) {
        return NULL;
    }
    MctxText text = mctx_text(a->messageType, a->message);
    thread = a->identifierType == MCTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE;
    name(thread ? MC_PROFILE_NAMES_THREAD : MC_PROFILE_NAMES_RESOURCE,
         mctx_domain_number(domain), a->identifier.ullValue, text.text);
    free(text.own);
    /* Only whether it is NULL says something: nothing is kept. */
    return (mctxResourceHandle_t)(uintptr_t)1;
}

MCTX_EXPORT void mctxDomainResourceDestroy(mctxResourceHandle_t resource)
{
    /* The recorded name is that of the past. */
}

/* ---- domains */

#define DOMAINS 65535u

static atomic_uint domains;

/* The default one for NULL and what cannot be a domain. */
uint32_t mctx_domain_number(mctxDomainHandle_t domain)
{
    uintptr_t number = (uintptr_t)domain;

    return number <= atomic_load(&domains) ? (uint32_t)number : 0;
}

static mctxDomainHandle_t new_domain(const char *text)
{
    unsigned number = atomic_load(&domains);

    do {
        if (number == DOMAINS) {
            return NULL;
        }
    } while (!atomic_compare_exchange_weak(&domains, &number, number + 1));
    name(MC_PROFILE_NAMES_DOMAIN, 0, ++number, text);
    return (mctxDomainHandle_t)(uintptr_t)number;
}

MCTX_EXPORT mctxDomainHandle_t mctxDomainCreateA(const char *text)
{
    return mctx_open() && text ? new_domain(text) : NULL;
}

MCTX_EXPORT mctxDomainHandle_t mctxDomainCreateW(const wchar_t *wide)
{
    mctxDomainHandle_t domain = NULL;

    if (mctx_open() && wide) {
        MctxText text = mctx_wide(wide);

        domain = new_domain(text.text);
        free(text.own);
    }
    return domain;
}

MCTX_EXPORT void mctxDomainDestroy(mctxDomainHandle_t domain)
{
    /* Its number is not used again: what was recorded keeps its name. */
}
