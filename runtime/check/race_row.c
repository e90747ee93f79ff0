/* SPDX-License-Identifier: MIT */
#include "race_row.h"

#include <pthread.h>
#include <string.h>

#include "mxgpu/limits.h"
#include "shadow.h"

#define LANES MXGPU_WARP_SIZE
#define PIECE ((size_t)16 << 20)

/* ---- lanes ---- */

/* Each bit twice. */
static unsigned __int128 twice(uint64_t bits)
{
    unsigned __int128 out = 0;

    for (unsigned half = 0; half < 2; half++) {
        uint64_t b = (uint32_t)(bits >> 32 * half);

        b = (b | b << 16) & 0x0000ffff0000ffffull;
        b = (b | b << 8) & 0x00ff00ff00ff00ffull;
        b = (b | b << 4) & 0x0f0f0f0f0f0f0f0full;
        b = (b | b << 2) & 0x3333333333333333ull;
        b = (b | b << 1) & 0x5555555555555555ull;
        out |= (unsigned __int128)(b | b << 1) << 64 * half;
    }
    return out;
}

/* A bit for each group of bits that are all there; false: one is not whole. */
static bool fold(uint64_t bits, unsigned group, uint64_t *out)
{
    *out = 0;
    for (unsigned i = 0; i < 64; i += group) {
        uint64_t part = bits >> i & ((1u << group) - 1);

        if (part && part + 1 != 1u << group) {
            return false;
        }
        *out |= (uint64_t)(part & 1) << i / group;
    }
    return true;
}

typedef uint64_t Pair __attribute__((vector_size(16)));

/* All lanes at once, which is what there mostly is; vectors of two are what
 * any host has. */
static bool all_consecutive(const uint64_t *addr, uint64_t base, unsigned size)
{
    Pair want = {base, base + size}, other = {0, 0};

    for (unsigned i = 0; i < LANES; i += 2, want += 2 * (uint64_t)size) {
        Pair at;

        memcpy(&at, addr + i, sizeof(at));
        other |= at ^ want;
    }
    return !(other[0] | other[1]);
}

static bool consecutive(uint64_t lanes, const uint64_t *addr, uint64_t base,
                        unsigned size)
{
    unsigned last = 63 - (unsigned)__builtin_clzll(lanes);

    if (addr[last] != base + (uint64_t)last * size) { /* mostly enough to tell */
        return false;
    }
    if (lanes == UINT64_MAX) {
        return all_consecutive(addr, base, size);
    }
    for (; lanes; lanes &= lanes - 1) {
        unsigned i = __builtin_ctzll(lanes);

        if (addr[i] != base + (uint64_t)i * size) {
            return false;
        }
    }
    return true;
}

bool mc_row_same(uint64_t lanes, const uint64_t *addr)
{
    return consecutive(lanes, addr, addr[__builtin_ctzll(lanes)], 0);
}

/* From lane to lane, if that may be 8 bytes with words of 4. */
static unsigned step_of(uint64_t lanes, const uint64_t *addr, unsigned size)
{
    unsigned first = __builtin_ctzll(lanes), second;

    lanes &= lanes - 1;
    if (size != 4 || !lanes) {
        return size;
    }
    second = __builtin_ctzll(lanes);
    return addr[second] - addr[first] == 8 * (uint64_t)(second - first) ? 8 : 4;
}

bool mc_row_lanes(RowLanes *l, uint64_t lanes, const uint64_t *addr,
                  unsigned size)
{
    unsigned first = __builtin_ctzll(lanes), step = step_of(lanes, addr, size);
    uint64_t base = addr[first] - (uint64_t)first * step;

    if (base % (size == 8 ? 8 : 4) || !consecutive(lanes, addr, base, step)) {
        return false;
    }
    l->base = base;
    l->size = size;
    l->step = step;
    l->words = lanes;
    if (step == 8) {
        l->words = twice(lanes);
        if (size == 4) { /* the first of each two */
            l->words &= ~(unsigned __int128)0 / 3;
        }
    } else if (size < 4) {
        uint64_t words;

        if (!fold(lanes, 4 / size, &words)) {
            return false;
        }
        l->words = words;
    }
    return true;
}

/* Words from the row's first one to that of lane 0. */
static int ahead_of(const RowLanes *l, uint64_t at)
{
    return (int)((int64_t)(l->base - at) / 4);
}

uint64_t mc_row_words(const RowLanes *l, uint64_t at)
{
    int ahead = ahead_of(l, at);

    if (ahead <= -128 || ahead >= ROW_WORDS) {
        return 0;
    }
    return (uint64_t)(ahead >= 0 ? l->words << ahead : l->words >> -ahead);
}

/* ---- slots ---- */

static bool same_lanes(const RowSlot *a, const RowSlot *b)
{
    return a->first == b->first && a->step == b->step &&
           a->record.block == b->record.block;
}

static bool in_front(const RowSlot *was, const RowSlot *is, const RowRules *rules,
                     const void *opaque)
{
    return !(was->words & is->words) || same_lanes(was, is) ||
           rules->before(opaque, &was->record);
}

/* A place for "is": one that it says more than, or that says nothing. */
static RowSlot *place_for(RowSlot *slots, uint8_t *count, unsigned room,
                          const RowSlot *is)
{
    RowSlot *best = NULL;

    for (unsigned i = 0; i < *count; i++) {
        RowSlot *s = &slots[i];

        if (s->words && same_lanes(s, is)) {
            if (s->record.time == is->record.time &&
                s->record.pc == is->record.pc) {
                return s;
            }
            if (!(s->words & ~is->words)) {
                return s;
            }
        } else if (!s->words && !best) {
            best = s;
        }
    }
    if (!best && *count < room) {
        best = &slots[(*count)++];
        best->words = 0;
    }
    return best;
}

static void put(RowSlot *slot, const RowSlot *is)
{
    uint64_t words = is->words;

    if (slot->words && same_lanes(slot, is) &&
        slot->record.time == is->record.time) {
        words |= slot->words; /* else the new ones are all */
    }
    *slot = *is;
    slot->words = words;
}

/* ---- an access ---- */

static int floor_of(int a, int b)
{
    return a >= 0 ? a / b : -((b - 1 - a) / b);
}

static void keep_values(Row *row, const RowLanes *l, uint64_t words,
                        int ahead)
{
    for (uint64_t m = words; m; m &= m - 1) {
        unsigned i = __builtin_ctzll(m);
        unsigned byte = 4 * (unsigned)((int)i - ahead);
        const uint64_t *v = &l->value[byte / l->step];

        switch (l->size) {
        case 8:
            row->values[i] = (uint32_t)(*v >> 8 * (byte & 4));
            break;
        case 4:
            row->values[i] = (uint32_t)*v;
            break;
        default: /* as if one by one: the last one stays */
            row->values[i] = (uint32_t)v[4 / l->size - 1];
            break;
        }
    }
}

/* Of words that "is" reads those that another slot has been enough for. */
static uint64_t read_by_two(const Row *row, const RowSlot *is,
                            const RowRules *rules, const void *opaque)
{
    uint64_t words = 0;

    for (unsigned i = 0; i < row->num_reads; i++) {
        const RowSlot *s = &row->reads[i];

        if (s->words & is->words & ~words &&
            rules->shares(opaque, &s->record, &is->record)) {
            words |= s->words & is->words;
        }
    }
    return words;
}

static bool row_read(Row *row, const RowSlot *is, const RowRules *rules,
                     const void *opaque, uint64_t sharing)
{
    RowSlot *slot;

    for (unsigned i = 0; i < row->num_writes; i++) {
        if (!in_front(&row->writes[i], is, rules, opaque)) {
            return false;
        }
    }
    slot = place_for(row->reads, &row->num_reads, ROW_READS, is);
    if (slot) {
        put(slot, is);
        mc_row_share(row, sharing, read_by_two(row, is, rules, opaque));
    }
    return slot;
}

static bool row_write(Row *row, const RowSlot *is, const RowRules *rules,
                      const void *opaque)
{
    RowSlot *slot;

    for (unsigned i = 0; i < row->num_writes; i++) {
        if (!in_front(&row->writes[i], is, rules, opaque)) {
            return false;
        }
    }
    for (unsigned i = 0; i < row->num_reads; i++) {
        if (!in_front(&row->reads[i], is, rules, opaque)) {
            return false;
        }
    }
    for (unsigned i = 0; i < row->num_writes; i++) {
        row->writes[i].words &= ~is->words;
    }
    slot = place_for(row->writes, &row->num_writes, ROW_WRITES, is);
    if (!slot) {
        return false;
    }
    for (unsigned i = 0; i < row->num_reads; i++) {
        row->reads[i].words &= ~is->words;
    }
    put(slot, is);
    mc_row_unshare(row, is->words);
    return true;
}

bool mc_row_access(Row *row, uint64_t at, const RowLanes *l, const Record *is,
                   const RowRules *rules, const void *opaque,
                   uint64_t sharing)
{
    RowSlot slot = {.record = *is, .step = (uint8_t)l->step};
    int ahead = ahead_of(l, at);

    if (row->by != ROW_BY_SLOTS) {
        return false;
    }
    slot.words = mc_row_words(l, at);
    slot.first = (int16_t)((int)(is->thread & ~(LANES - 1u)) -
                           floor_of(4 * ahead, (int)l->step));
    slot.record.bytes = 15;
    if (!slot.words) {
        return true;
    }
    if (is->kind == KIND_READ) {
        return row_read(row, &slot, rules, opaque, sharing);
    }
    if (!row_write(row, &slot, rules, opaque)) {
        return false;
    }
    if (l->value) {
        keep_values(row, l, slot.words, ahead);
    }
    return true;
}

/* ---- words ---- */

/* Of part of a word: where lanes have less than one. */
static Record record_of(const RowSlot *s, unsigned word, unsigned part)
{
    Record r = s->record;

    r.thread = (unsigned)(s->first + 4 * (int)word / s->step + (int)part);
    if (s->step < 4) {
        r.bytes = ((1u << s->step) - 1) << part * s->step;
    }
    return r;
}

static unsigned parts(const RowSlot *s)
{
    return s->step < 4 ? 4 / s->step : 1;
}

static void unfold(Row *row, unsigned i)
{
    Word *word = &row->words[i];
    unsigned reads = 0;

    memset(word, 0, sizeof(*word));
    for (unsigned n = 0; n < row->num_writes; n++) {
        const RowSlot *s = &row->writes[n];

        if (s->words >> i & 1) {
            word->write = record_of(s, i, parts(s) - 1);
            word->value = row->values[i];
        }
    }
    for (unsigned n = 0; n < row->num_reads; n++) {
        const RowSlot *s = &row->reads[n];

        for (unsigned p = 0; s->words >> i & 1 && p < parts(s); p++) {
            if (reads < 2) {
                word->reads[reads++] = record_of(s, i, p);
            }
        }
    }
}

typedef struct Pool {
    size_t bytes; /* of each */
    unsigned char *piece;
    size_t left;
} Pool;

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static Pool words_pool = {.bytes = ROW_WORDS * sizeof(Word)};
static Pool records_pool = {.bytes = ROW_WORDS * sizeof(Record)};

/* Never given back: as shadow.c does it. */
static void *take(Pool *pool)
{
    void *p = NULL;

    pthread_mutex_lock(&pool_lock);
    if (pool->left < pool->bytes) {
        pool->piece = mc_shadow_piece(PIECE);
        pool->left = pool->piece ? PIECE : 0;
    }
    if (pool->left) {
        p = pool->piece;
        pool->piece += pool->bytes;
        pool->left -= pool->bytes;
    }
    pthread_mutex_unlock(&pool_lock);
    return p;
}

/* The words that slots tell of; false: one of them needs more than one record. */
static bool add_words(const RowSlot *slots, unsigned count, uint64_t *all)
{
    for (unsigned i = 0; i < count; i++) {
        if (slots[i].words & *all || (slots[i].words && parts(&slots[i]) > 1)) {
            return false;
        }
        *all |= slots[i].words;
    }
    return true;
}

/* Others are of an earlier epoch, and are seen to be. */
static void unfold_slots(Row *row, const RowSlot *slots, unsigned count)
{
    for (unsigned n = 0; n < count; n++) {
        for (uint64_t m = slots[n].words; m; m &= m - 1) {
            unsigned i = __builtin_ctzll(m);

            row->records[i] = record_of(&slots[n], i, 0);
        }
    }
}

bool mc_row_by_records(Row *row)
{
    uint64_t all = 0;

    if (row->by != ROW_BY_SLOTS) {
        return row->by == ROW_BY_RECORDS;
    }
    if (!add_words(row->writes, row->num_writes, &all) ||
        !add_words(row->reads, row->num_reads, &all)) {
        return false;
    }
    if (!row->records) {
        row->records = take(&records_pool);
    }
    if (row->records) {
        row->by = ROW_BY_RECORDS;
        unfold_slots(row, row->writes, row->num_writes);
        unfold_slots(row, row->reads, row->num_reads);
    }
    return row->records;
}

static void unfold_records(Row *row)
{
    for (unsigned i = 0; i < ROW_WORDS; i++) {
        const Record *r = &row->records[i];
        Word *word = &row->words[i];

        memset(word, 0, sizeof(*word));
        if (r->kind == KIND_READ) {
            word->reads[0] = *r;
        } else {
            word->write = *r;
            word->value = row->values[i];
        }
    }
}

bool mc_row_by_words(Row *row)
{
    uint64_t any = 0;

    if (!row->words) {
        row->words = take(&words_pool);
        if (!row->words) {
            return false;
        }
    }
    if (row->by == ROW_BY_RECORDS) {
        row->by = ROW_BY_WORDS;
        unfold_records(row);
        return true;
    }
    row->by = ROW_BY_WORDS;
    for (unsigned n = 0; n < row->num_writes; n++) {
        any |= row->writes[n].words;
    }
    for (unsigned n = 0; n < row->num_reads; n++) {
        any |= row->reads[n].words;
    }
    /* What words have is of an earlier epoch, and is seen to be. */
    for (unsigned i = 0; i < ROW_WORDS && any; i++) {
        unfold(row, i);
    }
    return true;
}
