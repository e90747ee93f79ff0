/* SPDX-License-Identifier: MIT */
/* What of a word is kept, what races with it, and how that is reported. */
#include <inttypes.h>
#include <stdio.h>

#include "once.h"
#include "race_access.h"
#include "tools.h"

#define PAGES_MAX 32768 /* of 11 KiB, and 80 KiB for words, for 128 MiB */

McShadow mc_race_shadow = {
    .bytes = MC_SHADOW_PAGE / ROW_BYTES * sizeof(Row), .limit = PAGES_MAX,
};

/* ---- addresses of instructions, as small numbers ---- */

#define PCS (1u << 16)
static atomic_ullong pcs[PCS];

unsigned mc_race_pc(uint64_t pc)
{
    unsigned at = (unsigned)((pc >> 1) * 0x9e3779b97f4a7c15ull >> 48);

    for (unsigned n = 0; n < 64; n++, at = (at + 1) % PCS) {
        unsigned long long seen = atomic_load(&pcs[at]);

        if (seen == pc ||
            (!seen && atomic_compare_exchange_strong(&pcs[at], &seen, pc)) ||
            seen == pc) {
            return at;
        }
    }
    return PCS; /* not known */
}

static uint64_t pc_of(unsigned number)
{
    return number < PCS ? atomic_load(&pcs[number]) : 0;
}

/* ---- reports ---- */

static const char *kind_name(Kind kind)
{
    static const char *const names[] = {
        [KIND_READ] = "Read",  [KIND_WRITE] = "Write",
        [KIND_SYNC] = "Write", [KIND_ATOMIC] = "Atomic",
    };

    return names[kind];
}

static void report_thread(McReport *r, const MxgpuObservedWarp *w,
                          const Record *a)
{
    uint32_t block[3];

    mc_block_place(w->grid, (uint32_t)a->block, block);
    mc_report_line(r, "by thread %s in block (%u,%u,%u)",
                   mc_place_thread(w->size, a->thread).text, block[0],
                   block[1], block[2]);
}

static void report(void *opaque, const MxgpuObservedWarp *w, uint64_t addr,
                   const Record *was, const Record *is)
{
    McGrid *grid = mc_grid(opaque, w->slot);
    uint64_t pc = pc_of((unsigned)was->pc);
    char lead[16];
    McReport r;

    if (!mc_once(pc, w->pc, grid->number)) {
        return;
    }
    mc_report_begin(&r, "Race on %s memory: %s after %s without order",
                    mc_space_name(addr), kind_name(is->kind),
                    kind_name(was->kind));
    mc_report_unless_own(&r, pc);
    mc_report_unless_own(&r, w->pc);
    snprintf(lead, sizeof(lead), "%s at", kind_name(was->kind));
    mc_report_pc(&r, lead, pc);
    report_thread(&r, w, was);
    snprintf(lead, sizeof(lead), "%s at", kind_name(is->kind));
    mc_report_pc(&r, lead, w->pc);
    report_thread(&r, w, is);
    if (addr < MXGPU_VA_LIMIT) {
        mc_report_address(&r, addr, 1);
    } else {
        mc_report_line(&r, "Address 0x%" PRIx64 " of the block's memory",
                       (uint64_t)(addr - MXGPU_SHARED_BASE));
    }
    mc_report_kernel(&r, w);
    mc_report_end(&r);
}

/* ---- words ---- */

/* Whether a record is of this grid (of this block, in shared memory) and not in
 * front of what the lane does now. */
static bool races(const Access *a, const Record *was, uint64_t addr)
{
    /* An atomic does not order what its place is set up with. */
    bool no_order = a->is.kind == KIND_ATOMIC && was->kind == KIND_WRITE;

    return was->time > a->oldest && was->grid == a->is.grid &&
           (was->thread != a->is.thread || was->block != a->is.block) &&
           (was->bytes & a->is.bytes) &&
           !mc_order_before(a->opaque, &a->race->order, a->is.thread,
                            was->time, (uint32_t)was->block,
                            (unsigned)was->thread,
                            no_order ? addr & ~3ull : 0);
}

/* Whether whoever writes later, of all that "is" belongs to, races with one of
 * these reads. In global memory: they are of two blocks, and the grid had no
 * barrier since. In that of a block: of two warps, and the block had none. */
bool mc_race_shares(const void *opaque, const Record *one, const Record *two)
{
    const Access *a = opaque;
    uint64_t since = a->global ? a->race->order.grid_barrier
                               : a->race->order.barrier;

    return one->time >= since && two->time >= since &&
           (a->global ? one->block != two->block
                      : (one->thread ^ two->thread) / MXGPU_WARP_SIZE != 0);
}

static bool read_by_two(const Access *a, const Word *word)
{
    const Record *r = word->reads;

    return (r[0].bytes & r[1].bytes) == 15 && mc_race_shares(a, &r[0], &r[1]) &&
           !is_old(a, &r[0]) && !is_old(a, &r[1]);
}

/* By halves, as these are what was last stored; compilers leave atomic accesses
 * apart. */
static inline void keep(Record *r, const Access *a)
{
    for (unsigned i = 0; i < 2; i++) {
        __atomic_store_n(&r->half[i],
                         __atomic_load_n(&a->is.half[i], __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
    }
}

/* Two reads are kept, of different threads, that no write is behind. */
static void keep_read(const Access *a, Word *word)
{
    Record *r = word->reads;

    if (r[0].time <= a->oldest || r[0].grid != a->is.grid ||
        (r[0].thread == a->is.thread && r[0].block == a->is.block)) {
        keep(&r[0], a);
    } else if (!read_by_two(a, word)) {
        keep(&r[1], a);
    }
}

static void read_word(const Access *a, Word *word, uint64_t addr)
{
    if (word->write.time && races(a, &word->write, addr)) {
        if (is_meeting(&word->write)) {
            mc_order_meet(a->opaque, &a->race->order, a->w, addr & ~3ull,
                      mc_order_tick());
        } else {
            report(a->opaque, a->w, addr, &word->write, &a->is);
        }
    }
    keep_read(a, word);
}

/* A thread that sets a place up and goes on to use it with atomics: what it
 * wrote is what others race with, until a barrier. */
static bool sets_up(const Access *a, const Record *was)
{
    return a->is.kind == KIND_ATOMIC && was->kind == KIND_WRITE &&
           was->time >= a->race->order.barrier && was->grid == a->is.grid &&
           was->thread == a->is.thread && was->block == a->is.block;
}

static void write_word(const Access *a, Word *word, uint64_t addr)
{
    bool meets = is_meeting(&a->is);

    if (word->write.time && races(a, &word->write, addr) &&
        !(meets && is_meeting(&word->write)) &&
        !(a->is.kind != KIND_ATOMIC && word->write.kind != KIND_ATOMIC &&
          word->value == a->value)) {
        report(a->opaque, a->w, addr, &word->write, &a->is);
    }
    for (unsigned i = 0; i < 2 && !meets; i++) {
        if (word->reads[i].time && races(a, &word->reads[i], addr)) {
            report(a->opaque, a->w, addr, &word->reads[i], &a->is);
        }
    }
    if (sets_up(a, &word->write)) {
        return;
    }
    keep(&word->write, a);
    word->value = a->value;
    word->reads[0].time = word->reads[1].time = 0;
}

/* The usual access: nobody else was there in this grid, or readers only. */
static bool touch_alone(const Access *a, Word *word, uint64_t value)
{
    bool alone = is_old(a, &word->write) || is_own(a, &word->write);

    if (a->is.kind == KIND_READ && alone) {
        keep_read(a, word);
        return true;
    }
    if (a->is.kind != KIND_WRITE || !alone ||
        !(is_old(a, &word->reads[0]) || is_own(a, &word->reads[0])) ||
        !(is_old(a, &word->reads[1]) || is_own(a, &word->reads[1]))) {
        return false;
    }
    keep(&word->write, a);
    word->value = value;
    word->reads[0].time = word->reads[1].time = 0;
    return true;
}

/* The record of addr's word for all that is not to be done here, or NULL. */
static Word *word_of(Access *a, Row *row, uint64_t addr, uint64_t value)
{
    unsigned i = addr / 4 % ROW_WORDS;

    mc_row_open(row, a->epoch);
    if (row->by != ROW_BY_WORDS &&
        (a->is.kind == KIND_READ || a->is.kind == KIND_WRITE) &&
        mc_row_by_records(row) &&
        touch_record(a, row, i, a->is.half[1], value, a->is.kind == KIND_READ)) {
        return NULL;
    }
    if (row->by != ROW_BY_WORDS && !mc_row_by_words(row)) {
        return NULL;
    }
    return &row->words[i];
}

static void touch_word(const Access *a, Row *row, Word *word, uint64_t addr)
{
    uint64_t bit = 1ull << addr / 4 % ROW_WORDS;

    if (touch_alone(a, word, a->value)) {
        /* nothing to compare with */
    } else if (a->is.kind == KIND_READ) {
        read_word(a, word, addr);
    } else {
        write_word(a, word, addr);
    }
    if (a->is.kind != KIND_READ) {
        mc_row_unshare(row, bit);
    } else if (read_by_two(a, word)) {
        mc_row_share(row, a->sharing, bit);
    }
}

/* rows: of the memory from base on. */
void mc_race_touch(Access *a, Row *rows, uint64_t base, uint64_t addr,
                   unsigned size)
{
    uint64_t value = a->value;

    while (size) {
        unsigned at = addr & 3, bytes = 4 - at < size ? 4 - at : size;
        Row *row = &rows[(addr - base) / ROW_BYTES];
        Word *word;

        mc_record_set_bytes(&a->is, ((1u << bytes) - 1) << at);
        a->value = value & ((1ull << 8 * bytes) - 1); /* 4 bytes at most */
        word = word_of(a, row, addr, a->value);
        if (word) {
            touch_word(a, row, word, addr);
        }
        addr += bytes;
        size -= bytes;
        value >>= 8 * bytes;
    }
}
