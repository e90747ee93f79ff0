/* SPDX-License-Identifier: MIT */
/* How deep the calling thread is in the ranges of each domain. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "toolsext.h"

#define KNOWN 64 /* levels of which is known whether they were recorded */

typedef struct Level {
    int depth;
    uint64_t recorded; /* a bit a level */
} Level;

static _Thread_local struct {
    Level *levels; /* by the domain's number */
    uint32_t count;
} mine;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static void make_key(void)
{
    has_key = pthread_key_create(&key, free) == 0;
}

static Level *level_of(uint32_t domain, bool create)
{
    if (domain < mine.count) {
        return &mine.levels[domain];
    }
    pthread_once(&once, make_key);
    if (!create || !has_key) {
        return NULL;
    }
    uint32_t count = domain + 8;
    Level *levels = realloc(mine.levels, count * sizeof(*levels));

    if (!levels) {
        return NULL;
    }
    memset(levels + mine.count, 0, (count - mine.count) * sizeof(*levels));
    mine.levels = levels;
    mine.count = count;
    pthread_setspecific(key, levels); /* freed when the thread ends */
    return &mine.levels[domain];
}

int mctx_level_push(uint32_t domain, bool recorded)
{
    Level *level = level_of(domain, true);

    if (!level) {
        return -1;
    }
    if (level->depth < KNOWN) {
        uint64_t bit = 1ull << level->depth;

        level->recorded = recorded ? level->recorded | bit
                                   : level->recorded & ~bit;
    }
    return level->depth++;
}

int mctx_level_pop(uint32_t domain, bool *recorded)
{
    Level *level = level_of(domain, false);

    if (!level || !level->depth) {
        return -1;
    }
    level->depth--;
    *recorded = level->depth >= KNOWN ? mctx_active()
                                      : level->recorded >> level->depth & 1;
    return level->depth;
}
