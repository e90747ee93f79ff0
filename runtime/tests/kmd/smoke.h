/* SPDX-License-Identifier: MIT */
/* A queue and some memory on any back end, for tests that use the device. */
#ifndef KMD_TESTS_SMOKE_H
#define KMD_TESTS_SMOKE_H

#include <stdarg.h>

#include "kmd/kmd.h"
#include "mxgpu/pte.h"
#include "mxgpu/regs.h"

#define SMOKE_RW (MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC)
#define SMOKE_TIMEOUT_NS (300ull * 1000000000) /* of a busy host */

typedef struct Smoke {
    const KmdOps *ops;
    KmdDevice *dev;
} Smoke;

/* Memory of both kinds, mapped; cpu is its address here. */
typedef struct SmokeMem {
    KmdBo *bo;
    uint8_t *cpu;
    uint64_t va, size;
    bool pinned;
} SmokeMem;

typedef struct SmokeQueue {
    Smoke *s;
    KmdQueue *q;
    uint64_t write;
    SmokeMem signals; /* one page of 64-bit values */
    uint64_t next;    /* value the next signalling packet stores */
} SmokeQueue;

/* TAP: one line a check. */
extern unsigned smoke_count, smoke_failed;
bool smoke_ok(bool ok, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void smoke_note(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
uint64_t smoke_now(void);

bool smoke_alloc(Smoke *s, uint64_t size, SmokeMem *m);
bool smoke_pin(Smoke *s, uint64_t size, SmokeMem *m);
void smoke_free(Smoke *s, SmokeMem *m);

bool smoke_queue(Smoke *s, unsigned priority, unsigned packets,
                 SmokeQueue *q);
void smoke_queue_end(SmokeQueue *q);
/* Writes a packet as it is and rings. */
void smoke_put(SmokeQueue *q, const union mxgpu_packet *p);
/* With a signal and an interrupt at its end; returns the value to wait for. */
uint64_t smoke_submit(SmokeQueue *q, union mxgpu_packet *p);
/* 0, -ETIMEDOUT, -EIO when the queue stopped, -ENODEV. */
int smoke_wait(SmokeQueue *q, uint64_t value);
/* Both. */
int smoke_run(SmokeQueue *q, union mxgpu_packet *p);
int smoke_wait_error(SmokeQueue *q);

union mxgpu_packet smoke_copy(uint64_t dst, uint64_t src, uint64_t size);

void smoke_tests(Smoke *s);
/* One device uses memory of the other, where it reaches that. */
void smoke_peer(Smoke *s, Smoke *other);

#endif
