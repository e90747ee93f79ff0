/* SPDX-License-Identifier: MIT */
/* What the parts of the device's library share. */
#ifndef MC_DEVICE_DEVICE_H
#define MC_DEVICE_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "mxgpu/isa.h"
#include "mxgpu/kernel.h"

#define MX_CSR(csr)                                                            \
    ({                                                                         \
        uint64_t v_;                                                           \
        __asm__ volatile("csrr %0, %1" : "=r"(v_) : "i"(csr));                 \
        v_;                                                                    \
    })

/* Lanes that run this together. */
static inline uint64_t mx_active(void)
{
    uint64_t lanes;

    __asm__ volatile(".insn r 0x0b, %1, %2, %0, x0, x0"
                     : "=r"(lanes)
                     : "i"(MXGPU_F3_VOTE), "i"(MXGPU_F7_ACTIVE)
                     : "memory");
    return lanes;
}

/* Waits for the lanes of mask; they then run together. */
static inline void mx_warpsync(uint64_t mask)
{
    __asm__ volatile(".insn r 0x0b, %0, %1, x0, %2, x0"
                     :
                     : "i"(MXGPU_F3_CONTROL), "i"(MXGPU_F7_WARPSYNC), "r"(mask)
                     : "memory");
}

static inline uint64_t mx_ballot(uint64_t nonzero)
{
    uint64_t lanes;

    __asm__ volatile(".insn r 0x0b, %1, %2, %0, %3, x0"
                     : "=r"(lanes)
                     : "i"(MXGPU_F3_VOTE), "i"(MXGPU_F7_BALLOT), "r"(nonzero)
                     : "memory");
    return lanes;
}

/* Lanes that run this together and have the same value. */
static inline uint64_t mx_match(uint64_t value)
{
    uint64_t lanes;

    __asm__ volatile(".insn r 0x0b, %1, %2, %0, %3, x0"
                     : "=r"(lanes)
                     : "i"(MXGPU_F3_VOTE), "i"(MXGPU_F7_MATCH_ANY), "r"(value)
                     : "memory");
    return lanes;
}

static inline uint64_t mx_shfl(uint64_t value, uint64_t lane)
{
    uint64_t other;

    __asm__ volatile(".insn r 0x0b, %1, %2, %0, %3, %4"
                     : "=r"(other)
                     : "i"(MXGPU_F3_SHUFFLE), "i"(MXGPU_F7_SHFL), "r"(value),
                       "r"(lane)
                     : "memory");
    return other;
}

/* fifo.c: a record that is being written. */
typedef struct MxRecord {
    uint64_t *ring;
    uint64_t words; /* of the ring */
    uint64_t first; /* word of the record's start */
    uint64_t next;  /* word to write */
    uint64_t left;  /* words it has room for */
    uint64_t header;
} MxRecord;

/* bytes: of what follows the first word, multiple of 8. Every active lane of a
 * warp may ask for another size. 0 when there is no room. spare: may use what
 * is kept for last words. */
int mx_record_begin(MxRecord *r, unsigned kind, uint64_t bytes, int spare);
void mx_record_end(MxRecord *r);
void mx_record_string(MxRecord *r, const char *s, uint64_t length);
/* As UTF-8, of which length bytes are wanted. */
void mx_record_wide(MxRecord *r, const uint32_t *s, uint64_t length);
/* The bytes of that, whole characters up to limit. */
uint64_t mx_wide_length(const uint32_t *s, uint64_t limit);
void mx_record_where(MxRecord *r);

/* Others may lengthen a string after it was measured: what is too much is
 * left out. */
static inline void mx_record_put(MxRecord *r, uint64_t word)
{
    if (r->left) {
        r->left--;
        r->ring[r->next] = word;
        r->next = r->next + 1 == r->words ? 0 : r->next + 1;
    }
}

/* Length of a string, at most limit. */
static inline uint64_t mx_length(const char *s, uint64_t limit)
{
    uint64_t n = 0;

    while (n < limit && s[n]) {
        n++;
    }
    return n;
}

/* Bytes of a string in a record. */
static inline uint64_t mx_string_bytes(uint64_t length)
{
    return 8 + ((length + 7) & ~7ull);
}

#endif
