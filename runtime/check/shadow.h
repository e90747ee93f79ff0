/* SPDX-License-Identifier: MIT */
/* Memory of a tool beside memory of programs: a page of it for each 4 KiB. */
#ifndef MC_CHECK_SHADOW_H
#define MC_CHECK_SHADOW_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MC_SHADOW_PAGE 4096

typedef struct McShadow {
    size_t bytes;        /* of a page of it, which begin as 0 */
    unsigned limit;      /* of pages; what is over that is not looked at */
    atomic_uint count;
    _Atomic(void *) *table;
    unsigned char *piece; /* that pages are cut from */
    size_t left;
} McShadow;

typedef struct McShadowPage {
    uint64_t base;     /* of the memory */
    atomic_flag lock;  /* for those who look at "bytes" or change it */
    atomic_ullong checked; /* generation in which "ours" was found, or 0 */
    atomic_bool ours;  /* it is in no allocation: the runtime's own */
    _Alignas(16) unsigned char bytes[];
} McShadowPage;

/* Memory that begins as 0 and is taken in large pieces, or NULL: the host then
 * gives it huge pages of its own, which saves most of the time that the first use
 * of memory takes. */
void *mc_shadow_piece(size_t bytes);

/* NULL: there is no memory, or not for so many; or addr is in no allocation. */
McShadowPage *mc_shadow_page(McShadow *shadow, uint64_t addr);

static inline void mc_shadow_lock(McShadowPage *page)
{
    for (unsigned n = 1; atomic_flag_test_and_set_explicit(
             &page->lock, memory_order_acquire); n++) {
        if (n % 64 == 0) { /* who has it may not be running */
            sched_yield();
        }
    }
}

static inline void mc_shadow_unlock(McShadowPage *page)
{
    atomic_flag_clear_explicit(&page->lock, memory_order_release);
}

#endif
