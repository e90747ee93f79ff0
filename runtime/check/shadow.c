/* SPDX-License-Identifier: MIT */
#include "shadow.h"

#include <pthread.h>
#include <sys/mman.h>

#include "live.h"
#include "report.h"

#define SLOTS (1u << 18) /* a power of two, more than pages there may be */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned slot_of(uint64_t base)
{
    return (unsigned)((base >> 12) * 0x9e3779b97f4a7c15ull >> 46);
}

static bool fill(McShadow *s)
{
    void *p;

    if (s->table) {
        return true;
    }
    p = mmap(NULL, SLOTS * sizeof(void *), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    s->table = p == MAP_FAILED ? NULL : p;
    return s->table;
}

void *mc_shadow_piece(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED) {
        return NULL;
    }
    (void)madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

#define PIECE (16u << 20)

static McShadowPage *cut(McShadow *s)
{
    size_t bytes = (sizeof(McShadowPage) + s->bytes + 63) & ~(size_t)63;
    void *p;

    if (s->left < bytes) {
        p = mc_shadow_piece(PIECE);
        if (!p) {
            return NULL;
        }
        s->piece = p;
        s->left = PIECE;
    }
    p = s->piece;
    s->piece += bytes;
    s->left -= bytes;
    return p;
}

/* The page, or a new one where it was looked for in vain. */
static McShadowPage *add(McShadow *s, uint64_t base, unsigned slot)
{
    McShadowPage *page = NULL;
    bool full;

    pthread_mutex_lock(&lock);
    while (atomic_load(&s->table[slot])) {
        page = atomic_load(&s->table[slot]);
        if (page->base == base) {
            pthread_mutex_unlock(&lock);
            return page;
        }
        slot = (slot + 1) % SLOTS;
    }
    full = atomic_load(&s->count) >= s->limit;
    page = full ? NULL : cut(s);
    if (page) {
        page->base = base;
        atomic_flag_clear(&page->lock);
        atomic_store(&s->table[slot], page);
        if (atomic_fetch_add(&s->count, 1) + 1 == s->limit) {
            mc_report_note("Only the first %u MiB that kernels use are "
                           "checked", s->limit >> 8);
        }
    }
    pthread_mutex_unlock(&lock);
    return page;
}

/* Whether it is the runtime's own: asked again when there are other
 * allocations. */
static bool is_ours(McShadowPage *page)
{
    uint64_t generation = atomic_load(&mc_live_generation);

    if (atomic_load(&page->checked) != generation) {
        atomic_store(&page->ours, !mc_live_within(page->base, MC_SHADOW_PAGE));
        atomic_store(&page->checked, generation);
    }
    return atomic_load(&page->ours);
}

McShadowPage *mc_shadow_page(McShadow *s, uint64_t addr)
{
    uint64_t base = addr & ~(uint64_t)(MC_SHADOW_PAGE - 1);
    unsigned slot = slot_of(base);
    McShadowPage *page;

    if (!s->table) {
        pthread_mutex_lock(&lock);
        bool ok = fill(s);
        pthread_mutex_unlock(&lock);
        if (!ok) {
            return NULL;
        }
    }
    while ((page = atomic_load_explicit(&s->table[slot],
                                        memory_order_acquire)) != NULL &&
           page->base != base) {
        slot = (slot + 1) % SLOTS;
    }
    if (!page) {
        page = add(s, base, slot);
    }
    return page && !is_ours(page) ? page : NULL;
}
