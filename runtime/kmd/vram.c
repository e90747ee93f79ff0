/* SPDX-License-Identifier: MIT */
/*
 * Who owns which part of VRAM. Memory another process may have written is
 * cleared before its first use here, in pieces of KMD_SCRUB_SIZE: a piece
 * nobody used yet is wholly free, so it can be cleared at once.
 */
#include <errno.h>
#include <stdlib.h>

#include "priv.h"

/* From this size on, memory is worth large pages. */
#define LARGE_MIN KMD_LARGE_PAGE_SIZE

int kmd_vram_init(KmdDevice *dev)
{
    uint64_t pieces = (dev->info.vram_size + KMD_SCRUB_SIZE - 1) /
                      KMD_SCRUB_SIZE;
    int ret;

    mc_extents_init(&dev->vram);
    dev->scrubbed = calloc((pieces + 63) / 64, sizeof(*dev->scrubbed));
    if (!dev->scrubbed) {
        return -ENOMEM;
    }
    ret = mc_extents_add(&dev->vram, 0, dev->info.vram_size);
    dev->vram_total = dev->info.vram_size;
    return ret;
}

void kmd_vram_fini(KmdDevice *dev)
{
    mc_extents_fini(&dev->vram);
    free(dev->scrubbed);
    dev->scrubbed = NULL;
}

/* Plain stores of whole words: what apertures and emulators like best. */
static void clear(uint8_t *p, uint64_t size)
{
    volatile uint64_t *word = (volatile uint64_t *)(void *)p;
    uint64_t i;

    for (i = 0; i < size / 8; i += 4) {
        word[i] = 0;
        word[i + 1] = 0;
        word[i + 2] = 0;
        word[i + 3] = 0;
    }
}

/* With vram_lock held. */
static void scrub(KmdDevice *dev, uint64_t offset, uint64_t size)
{
    uint64_t piece = offset / KMD_SCRUB_SIZE;
    uint64_t last = (offset + size - 1) / KMD_SCRUB_SIZE;

    for (; piece <= last; piece++) {
        uint64_t bit = 1ull << (piece % 64);
        uint64_t start = piece * KMD_SCRUB_SIZE;
        uint64_t len = dev->info.vram_size - start;

        if (dev->scrubbed[piece / 64] & bit) {
            continue;
        }
        clear(dev->t->vram + start,
              len < KMD_SCRUB_SIZE ? len : KMD_SCRUB_SIZE);
        dev->scrubbed[piece / 64] |= bit;
    }
}

int kmd_vram_alloc(KmdDevice *dev, uint64_t size, uint64_t *offset)
{
    int ret = -ENOSPC;

    pthread_mutex_lock(&dev->vram_lock);
    if (size >= LARGE_MIN) {
        ret = mc_extents_alloc(&dev->vram, size, KMD_LARGE_PAGE_SIZE, 0,
                               offset);
    }
    if (ret == -ENOSPC) {
        ret = mc_extents_alloc(&dev->vram, size, KMD_PAGE_SIZE, 0, offset);
    }
    if (!ret && !dev->vram_is_zero) {
        scrub(dev, *offset, size);
    }
    pthread_mutex_unlock(&dev->vram_lock);
    return ret ? -ENOMEM : 0;
}

void kmd_vram_free(KmdDevice *dev, uint64_t offset, uint64_t size)
{
    pthread_mutex_lock(&dev->vram_lock);
    mc_extents_free(&dev->vram, offset, size);
    pthread_mutex_unlock(&dev->vram_lock);
}

void kmd_vram_memory(KmdDevice *dev, uint64_t *free, uint64_t *total)
{
    pthread_mutex_lock(&dev->vram_lock);
    *free = dev->vram.total;
    *total = dev->info.vram_size;
    pthread_mutex_unlock(&dev->vram_lock);
}
