/* SPDX-License-Identifier: MIT */
/*
 * What the core did, for a debugger that goes back: of each instruction, with the
 * interrupts taken before it, the words of the state and of SRAM that it changed.
 * A change is the other value of a word. Going back exchanges it with the one that
 * is there, and so does going forward again: what was executed once is not executed
 * anew, for registers of the device would see it. The device itself does not go
 * back. Where the history ends the core goes on for real.
 *
 * Levels of interrupt lines are the device's, and stay as they are now.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define IN_SRAM 0x80000000u
#define LAST    0x40000000u /* change of its instruction */
#define WORDS   (sizeof(MxgpuMcuState) / 4)
#define STORES  2           /* words that a misaligned store touches */

typedef struct Change {
    uint32_t where; /* offset in SRAM, or word of the state; flags */
    uint32_t value;
} Change;

typedef union Image {
    MxgpuMcuState s;
    uint32_t words[WORDS];
} Image;

struct McuHistory {
    Change *change;
    uint64_t mask;
    uint64_t first, at, end; /* changes since the beginning; at: the present,
                              * unless at < end */
    uint64_t behind, ahead;  /* instructions */
    Image seen;              /* the state after the last of them */
    Change store[STORES];    /* SRAM before the one that comes next */
    unsigned stores;
};

/* Not of the past: lines, and what ends a run. */
static bool is_now(size_t word)
{
    return word == offsetof(MxgpuMcuState, mip) / 4 ||
           word == offsetof(MxgpuMcuState, halted) / 4;
}

static void look(MxgpuMcu *mcu)
{
    memcpy(&mcu->debug.history->seen.s, &mcu->s, sizeof(mcu->s));
    mcu->debug.history->stores = 0;
}

void mxgpu_mcu_history_clear(MxgpuMcu *mcu)
{
    McuHistory *h = mcu->debug.history;

    if (h) {
        h->first = h->at = h->end = h->behind = h->ahead = 0;
        look(mcu);
    }
}

bool mxgpu_mcu_history_start(MxgpuMcu *mcu, uint64_t changes)
{
    McuHistory *h = mcu->debug.history;

    if (h) {
        /* The device is where it is: the core is to be there, too. */
        while (mxgpu_mcu_history_forward(mcu)) {
        }
        free(h->change);
        free(h);
    }
    mcu->debug.history = NULL;
    if (changes) {
        h = calloc(1, sizeof(*h));
        if (h) {
            h->change = calloc(changes, sizeof(*h->change));
        }
        if (!h || !h->change) {
            free(h);
            return false;
        }
        h->mask = changes - 1;
        mcu->debug.history = h;
        look(mcu);
    }
    return true;
}

bool mxgpu_mcu_history_length(const MxgpuMcu *mcu, uint64_t *behind,
                              uint64_t *ahead)
{
    const McuHistory *h = mcu->debug.history;

    *behind = h ? h->behind : 0;
    *ahead = h ? h->ahead : 0;
    return h;
}

/* ---- recording */

/* The oldest instruction makes room. */
static void drop(McuHistory *h)
{
    while (!(h->change[h->first++ & h->mask].where & LAST)) {
    }
    h->behind--;
}

/* An instruction changes fewer words than the smallest history has room for. */
static void add(McuHistory *h, uint32_t where, uint32_t value)
{
    if (h->end - h->first > h->mask) {
        drop(h);
    }
    h->change[h->end++ & h->mask] = (Change){where, value};
}

static uint32_t sram_word(const MxgpuMcu *mcu, uint32_t offset)
{
    uint32_t value;

    memcpy(&value, mcu->sram + offset, 4);
    return value;
}

/* The instruction that comes next may store there. */
static void expect_store(MxgpuMcu *mcu, uint32_t addr, unsigned len)
{
    McuHistory *h = mcu->debug.history;
    uint32_t offset = addr - mcu->sram_base;

    h->stores = 0;
    if (!len || offset >= mcu->sram_size || len > mcu->sram_size - offset) {
        return;
    }
    for (uint32_t at = offset & ~3u; at < offset + len; at += 4) {
        h->store[h->stores++] = (Change){at | IN_SRAM, sram_word(mcu, at)};
    }
}

void mxgpu_mcu_history_note(MxgpuMcu *mcu, uint32_t addr, unsigned len)
{
    McuHistory *h = mcu->debug.history;
    uint64_t begin = h->end;
    Image now;

    memcpy(&now.s, &mcu->s, sizeof(mcu->s));
    for (size_t i = 0; i < WORDS; i++) {
        if (now.words[i] != h->seen.words[i] && !is_now(i)) {
            add(h, (uint32_t)i, h->seen.words[i]);
        }
    }
    for (unsigned i = 0; i < h->stores; i++) {
        if (sram_word(mcu, h->store[i].where & ~IN_SRAM) !=
            h->store[i].value) {
            add(h, h->store[i].where, h->store[i].value);
        }
    }
    if (h->end != begin) {
        h->change[(h->end - 1) & h->mask].where |= LAST;
        h->at = h->end;
        h->behind++;
        h->seen = now;
    }
    expect_store(mcu, addr, len);
}

void mxgpu_mcu_history_changed(MxgpuMcu *mcu)
{
    McuHistory *h = mcu->debug.history;

    if (h) {
        h->end = h->at;
        h->ahead = 0;
    }
}

/* ---- moving */

static void exchange(MxgpuMcu *mcu, Change *c)
{
    uint32_t where = c->where & ~(IN_SRAM | LAST), old;

    if (c->where & IN_SRAM) {
        old = sram_word(mcu, where);
        mxgpu_mcu_put_word(mcu, where, c->value);
    } else {
        old = ((uint32_t *)&mcu->s)[where];
        ((uint32_t *)&mcu->s)[where] = c->value;
    }
    c->value = old;
}

bool mxgpu_mcu_history_back(MxgpuMcu *mcu)
{
    McuHistory *h = mcu->debug.history;

    if (!h) {
        return false;
    }
    if (h->at == h->end) {
        mxgpu_mcu_history_note(mcu, 0, 0); /* what the last instruction did */
    }
    if (h->at == h->first) {
        return false;
    }
    do {
        h->at--;
        exchange(mcu, &h->change[h->at & h->mask]);
    } while (h->at > h->first &&
             !(h->change[(h->at - 1) & h->mask].where & LAST));
    h->behind--;
    h->ahead++;
    look(mcu);
    mxgpu_mcu_update(mcu);
    return true;
}

bool mxgpu_mcu_history_forward(MxgpuMcu *mcu)
{
    McuHistory *h = mcu->debug.history;
    bool last;

    if (!h || h->at == h->end) {
        return false;
    }
    do {
        Change *c = &h->change[h->at++ & h->mask];

        last = c->where & LAST;
        exchange(mcu, c);
    } while (!last);
    h->behind++;
    h->ahead--;
    look(mcu);
    mxgpu_mcu_update(mcu);
    return true;
}
