/* SPDX-License-Identifier: MIT */
/*
 * What the parts of a device walk their state with (docs/state.md). After the
 * first error everything is a no-operation, so that only loops whose bounds were
 * loaded need to look at it.
 */
#ifndef MXGPU_BASE_VISIT_H
#define MXGPU_BASE_VISIT_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a visitor does with each piece; 0 or -errno, which ends the walk. */
typedef struct MxgpuStateOps {
    /* bytes and sparse fill memory instead of reading it. */
    bool loads;
    /* A part begins. name: at most 15 characters. A loader refuses another
     * name or version than it finds. */
    int (*section)(void *opaque, const char *name, unsigned version);
    /* Little-endian numbers, or bytes. */
    int (*bytes)(void *opaque, void *ptr, size_t len);
    /* Much memory, mostly zero. len is a multiple of granule; a loader finds
     * it zero, and writes no granule that does not differ. */
    int (*sparse)(void *opaque, void *ptr, size_t len, size_t granule);
} MxgpuStateOps;

typedef struct MxgpuVisit {
    const MxgpuStateOps *ops;
    void *opaque;
    int error; /* -errno */
} MxgpuVisit;

static inline bool visit_loads(const MxgpuVisit *v)
{
    return v->ops->loads;
}

static inline void visit_section(MxgpuVisit *v, const char *name,
                                 unsigned version)
{
    if (!v->error) {
        v->error = v->ops->section(v->opaque, name, version);
    }
}

static inline void visit_bytes(MxgpuVisit *v, void *ptr, size_t len)
{
    if (!v->error) {
        v->error = v->ops->bytes(v->opaque, ptr, len);
    }
}

static inline void visit_sparse(MxgpuVisit *v, void *ptr, size_t len,
                                size_t granule)
{
    if (!v->error && len) {
        v->error = v->ops->sparse(v->opaque, ptr, len, granule);
    }
}

static inline bool visit_verdict(MxgpuVisit *v, bool ok)
{
    if (!ok && !v->error) {
        v->error = -EINVAL;
    }
    return !v->error;
}

/* Of what has been loaded; false: something was wrong, now or before. ok is
 * looked at only where all before it was right. */
#define visit_check(v, ok)                                                     \
    visit_verdict(v, (v)->error || !visit_loads(v) || (ok))

/* An integer of fixed size. */
#define VISIT(v, lvalue)                                                       \
    do {                                                                       \
        _Static_assert(sizeof(lvalue) <= 8, "not an array");                   \
        visit_bytes(v, &(lvalue), sizeof(lvalue));                             \
    } while (0)

/* The same where it is in an _Atomic one. */
#define VISIT_ATOMIC(v, type, lvalue)                                          \
    do {                                                                       \
        type value_ = atomic_load(&(lvalue));                                  \
        visit_bytes(v, &value_, sizeof(value_));                               \
        if (visit_loads(v)) {                                                  \
            atomic_store(&(lvalue), value_);                                   \
        }                                                                      \
    } while (0)

/* Nothing but 0 and 1 is ever stored in a bool. */
static inline bool visit_bool(MxgpuVisit *v, bool value)
{
    uint8_t byte = value;

    visit_bytes(v, &byte, 1);
    return visit_check(v, byte <= 1) ? byte : value;
}

#define VISIT_BOOL(v, lvalue) ((lvalue) = visit_bool(v, lvalue))

/* A number below limit, in 32 bits; otherwise an error, and 0. */
static inline uint32_t visit_below(MxgpuVisit *v, uint32_t value,
                                   uint32_t limit)
{
    visit_bytes(v, &value, sizeof(value));
    return visit_check(v, value < limit) || !visit_loads(v) ? value : 0;
}

#define VISIT_BELOW(v, lvalue, limit)                                          \
    ((lvalue) = visit_below(v, lvalue, limit))

#endif
