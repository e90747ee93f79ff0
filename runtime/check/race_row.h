/* SPDX-License-Identifier: MIT */
/*
 * Shadow of memory for racecheck. Most warps access consecutive words, each lane
 * one, or one member of structures of two, and do so again: of a row of 64 words it
 * is then enough to know which warp did, when, and which lane was at the first
 * word. A row that is accessed otherwise has a record for each word, or three where
 * threads meet, until the next grid or, of shared memory, the block's next barrier.
 */
#ifndef MC_CHECK_RACE_ROW_H
#define MC_CHECK_RACE_ROW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define ROW_WORDS  64
#define ROW_BYTES  (4 * ROW_WORDS)
#define ROW_WRITES 4
#define ROW_READS  8

typedef enum Kind {
    KIND_READ,
    KIND_WRITE,
    KIND_SYNC, /* a store that follows a fence: others wait for it */
    KIND_ATOMIC,
} Kind;

/* An access; time 0: none. */
typedef union Record {
    struct {
        uint64_t time : 44, bytes : 4, kind : 2, grid : 14;
        uint64_t block : 32, thread : 12, pc : 20;
    };
    uint64_t half[2];
} Record;

/* By halves: hosts wait for stores of parts of what is loaded right after them,
 * and records are copied right after these change. */
#define MC_RECORD_SET(r, n, field, all, value)                                 \
    ((r)->half[n] = ((r)->half[n] & ~(Record){.field = (all)}.half[n]) |       \
                    (Record){.field = 1}.half[n] * (value))

/* Members in the halves. Of half[0]: */
#define MC_RECORD_TIME  ((Record){.time = (1ull << 44) - 1}.half[0])
#define MC_RECORD_BYTES ((Record){.bytes = 15}.half[0])
#define MC_RECORD_KIND  ((Record){.kind = 3}.half[0])
#define MC_RECORD_GRID  ((Record){.grid = 0x3fff}.half[0])
/* Of half[1]: who it is, and a thread. */
#define MC_RECORD_WHO    ((Record){.block = UINT32_MAX, .thread = 0xfff}.half[1])
#define MC_RECORD_THREAD ((Record){.thread = 1}.half[1])

static inline void mc_record_set_bytes(Record *r, unsigned bytes)
{
    MC_RECORD_SET(r, 0, bytes, 15, bytes);
}

static inline void mc_record_set_thread(Record *r, unsigned thread)
{
    MC_RECORD_SET(r, 1, thread, 0xfff, thread);
}

/* Of 4 bytes; in one line of the host's cache. */
typedef struct Word {
    _Alignas(64) Record write;
    Record reads[2];
    uint64_t value; /* that "write" wrote */
} Word;

/* What a warp did to words of a row: thread (signed) of the first byte, were it
 * there; from one lane to the next it is "step" bytes. */
typedef struct RowSlot {
    Record record; /* with some lane's thread */
    uint64_t words; /* 0: nothing */
    int16_t first;
    uint8_t step;
} RowSlot;

/* Words that were read in an epoch so that whoever writes them later in it races
 * with one of these reads: more of them need not be looked at. May be read
 * without a lock. */
typedef struct RowShared {
    atomic_ullong epoch, words;
} RowShared;

/* What counts of a row. */
typedef enum RowBy {
    ROW_BY_SLOTS,
    ROW_BY_RECORDS, /* one of each word, as no other was needed yet */
    ROW_BY_WORDS,
} RowBy;

/* What each access needs comes first, side by side. */
typedef struct Row {
    RowShared shared;
    uint64_t epoch;  /* in which it was last used */
    Record *records; /* NULL: they were never needed */
    Word *words;     /* ... */
    RowBy by;        /* in that epoch */
    uint8_t num_writes, num_reads; /* in use of these */
    RowSlot writes[ROW_WRITES], reads[ROW_READS];
    uint32_t values[ROW_WORDS]; /* that "writes" or "records" wrote */
} Row;

/* Lanes that access consecutive words, or every second word, of which lane 0 would
 * have the one at "base". */
typedef struct RowLanes {
    uint64_t base;
    unsigned __int128 words; /* from there on */
    unsigned size;
    unsigned step; /* bytes from lane to lane: as "size", or 8 */
    const uint64_t *value; /* of each lane, or NULL */
} RowLanes;

/* false: they do not. */
bool mc_row_lanes(RowLanes *l, uint64_t lanes, const uint64_t *addr,
                  unsigned size);

/* All that one warp after the other needs of it comes at the same time. */
static inline void mc_row_prefetch(const Row *row, bool writes)
{
    __builtin_prefetch(row, 1);
    __builtin_prefetch(row->reads, 1);
    __builtin_prefetch(row->writes, 1);
    for (unsigned i = 0; writes && i < ROW_WORDS; i += 16) {
        __builtin_prefetch(row->values + i, 1);
    }
}

/* Whether all lanes have the same address. */
bool mc_row_same(uint64_t lanes, const uint64_t *addr);

/* Before a use in an epoch, which is not 0. */
static inline void mc_row_open(Row *row, uint64_t epoch)
{
    if (row->epoch != epoch) {
        row->epoch = epoch;
        row->by = ROW_BY_SLOTS;
        row->num_writes = row->num_reads = 0;
    }
}

static inline uint64_t mc_row_shared(const Row *row, uint64_t epoch)
{
    const RowShared *s = &row->shared;

    return atomic_load_explicit(&s->epoch, memory_order_acquire) == epoch
               ? atomic_load_explicit(&s->words, memory_order_relaxed)
               : 0;
}

/* With the lock. Epoch 0: there are none in this. */
static inline void mc_row_share(Row *row, uint64_t epoch, uint64_t words)
{
    RowShared *s = &row->shared;
    uint64_t now = mc_row_shared(row, epoch);

    if (epoch && words & ~now) {
        atomic_store(&s->words, now | words);
        atomic_store(&s->epoch, epoch);
    }
}

static inline void mc_row_unshare(Row *row, uint64_t words)
{
    if (atomic_load_explicit(&row->shared.words, memory_order_relaxed) &
        words) {
        atomic_fetch_and(&row->shared.words, ~words);
    }
}

/* The words of the row, which is at "at", that the lanes access. */
uint64_t mc_row_words(const RowLanes *l, uint64_t at);

/* From then on records[] counts, if each word needs but one. Those of other words
 * are of an earlier epoch. false: it does not. */
bool mc_row_by_records(Row *row);

/* Likewise, in that epoch, for a row that was not used in it yet. */
static inline bool mc_row_has_records(Row *row, uint64_t epoch)
{
    if (row->epoch != epoch && row->records) {
        mc_row_open(row, epoch);
        row->by = ROW_BY_RECORDS;
    }
    return row->epoch == epoch && row->by == ROW_BY_RECORDS;
}

/* From then on words[] counts. false: the host has no memory. */
bool mc_row_by_words(Row *row);

typedef struct RowRules {
    /* Whether that is in front of what is done now. */
    bool (*before)(const void *opaque, const Record *was);
    /* Whether, with these two reads, others may go unseen in the epoch. */
    bool (*shares)(const void *opaque, const Record *a, const Record *b);
} RowRules;

/* The part of the lanes' access that is in the row, which is at "at": a plain
 * read or write of whole words; sharing: epoch for mc_row_share(). false: it
 * has to be done word by word. */
bool mc_row_access(Row *row, uint64_t at, const RowLanes *l, const Record *is,
                   const RowRules *rules, const void *opaque,
                   uint64_t sharing);

#endif
