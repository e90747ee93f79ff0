/* SPDX-License-Identifier: MIT */
/* Records in the FIFO (fifo.h). */
#include "fifo.h"

#include "device.h"
#include "format.h"

/* The runtime writes the address before a kernel that uses it is launched. */
__attribute__((visibility("default"))) struct mc_fifo *volatile __mx_fifo;

#define NO_ROOM UINT64_MAX

/* The count at which bytes of room begin. */
static uint64_t reserve(struct mc_fifo *f, uint64_t bytes, uint64_t limit)
{
    uint64_t head, used;

    do {
        uint64_t tail = __atomic_load_n(&f->tail, __ATOMIC_ACQUIRE);

        head = __atomic_load_n(&f->head, __ATOMIC_RELAXED);
        used = head - tail;
        if (used > limit || bytes > limit - used) {
            return NO_ROOM;
        }
    } while (!__atomic_compare_exchange_n(&f->head, &head, head + bytes, 0,
                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    return head;
}

/*
 * One atomic for all lanes that are here together: bytes of the lanes below are
 * added up by a vote on each bit of the sizes. Where the sum does not fit, each
 * lane tries alone.
 */
static uint64_t reserve_together(struct mc_fifo *f, uint64_t bytes,
                                 uint64_t limit)
{
    uint64_t lanes = mx_active(), lane = MX_CSR(MXGPU_CSR_LANE);
    uint64_t below = lanes & ((1ull << lane) - 1), place = 0, all = 0, start;

    mx_warpsync(lanes);
    for (unsigned bit = 3; mx_ballot(bytes >> bit) & lanes; bit++) {
        uint64_t set = mx_ballot(bytes >> bit & 1) & lanes;

        place += (uint64_t)__builtin_popcountl(set & below) << bit;
        all += (uint64_t)__builtin_popcountl(set) << bit;
    }
    start = NO_ROOM;
    if (!below) {
        start = reserve(f, all, limit);
    }
    mx_warpsync(lanes);
    start = mx_shfl(start, __builtin_ctzl(lanes));
    return start != NO_ROOM ? start + place : reserve(f, bytes, limit);
}

int mx_record_begin(MxRecord *r, unsigned kind, uint64_t bytes, int spare)
{
    struct mc_fifo *f = __mx_fifo;
    uint64_t start;

    bytes += 8;
    if (!f || bytes > UINT32_MAX) {
        return 0;
    }
    start = reserve_together(f, bytes, spare ? f->size : f->limit);
    if (start == NO_ROOM) {
        __atomic_fetch_add(&f->dropped, 1, __ATOMIC_RELAXED);
        return 0;
    }
    r->ring = f->ring;
    r->words = f->size / 8;
    r->first = start / 8 % r->words;
    r->next = r->first;
    r->left = bytes / 8;
    r->header = MC_RECORD(bytes, kind, MC_RECORD_READY);
    mx_record_put(r, MC_RECORD(bytes, kind, MC_RECORD_OPEN));
    return 1;
}

void mx_record_end(MxRecord *r)
{
    __atomic_store_n(&r->ring[r->first], r->header, __ATOMIC_RELEASE);
}

void mx_record_string(MxRecord *r, const char *s, uint64_t length)
{
    mx_record_put(r, length);
    for (uint64_t i = 0; i < length; i += 8) {
        uint64_t word = 0, n = length - i < 8 ? length - i : 8;

        for (uint64_t j = 0; j < n; j++) {
            word |= (uint64_t)(uint8_t)s[i + j] << 8 * j;
        }
        mx_record_put(r, word);
    }
}

uint64_t mx_wide_length(const uint32_t *s, uint64_t limit)
{
    uint64_t length = 0;
    uint8_t bytes[4];

    for (; *s; s++) {
        unsigned n = mc_utf8(*s, bytes);

        if (n > limit - length) {
            break;
        }
        length += n;
    }
    return length;
}

/* Others may change the string meanwhile: it ends with length or with a 0. */
void mx_record_wide(MxRecord *r, const uint32_t *s, uint64_t length)
{
    uint64_t word = 0, at = 0;
    uint8_t bytes[4];

    mx_record_put(r, length);
    while (at < length && *s) {
        unsigned n = mc_utf8(*s++, bytes);

        for (unsigned i = 0; i < n; i++, at++) {
            word |= (uint64_t)bytes[i] << 8 * (at % 8);
            if (at % 8 == 7) {
                mx_record_put(r, word);
                word = 0;
            }
        }
    }
    if (at % 8) {
        mx_record_put(r, word);
    }
}

void mx_record_where(MxRecord *r)
{
    mx_record_put(r, MX_CSR(MXGPU_CSR_CTAID_X) |
                         MX_CSR(MXGPU_CSR_CTAID_Y) << 32);
    mx_record_put(r, MX_CSR(MXGPU_CSR_CTAID_Z) | MX_CSR(MXGPU_CSR_TID_X) << 32);
    mx_record_put(r, MX_CSR(MXGPU_CSR_TID_Y) | MX_CSR(MXGPU_CSR_TID_Z) << 32);
}
