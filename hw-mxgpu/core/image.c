/* SPDX-License-Identifier: MIT */
/*
 * A state in memory. A section begins with its name (15 bytes and a zero) and
 * its version. Sparse memory is a list of the granules that are not zero, in
 * order, each behind its number; UINT32_MAX ends the list.
 */
#include "image.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

typedef struct Image {
    uint8_t *to;         /* saving; NULL: only measuring */
    const uint8_t *from; /* loading */
    size_t size, at;
} Image;

typedef struct SectionHead {
    char name[16];
    uint32_t version;
} SectionHead;

static bool is_zero(const uint8_t *p, size_t len)
{
    return p[0] == 0 && memcmp(p, p + 1, len - 1) == 0;
}

static SectionHead section_head(const char *name, unsigned version)
{
    SectionHead h = {.version = version};

    memcpy(h.name, name, strnlen(name, sizeof(h.name) - 1));
    return h;
}

/* ---- saving and measuring */

static int put(void *opaque, void *ptr, size_t len)
{
    Image *m = opaque;

    if (m->to && len > m->size - m->at) {
        return -ENOSPC;
    }
    if (m->to) {
        memcpy(m->to + m->at, ptr, len);
    }
    m->at += len;
    return 0;
}

static int put_section(void *opaque, const char *name, unsigned version)
{
    SectionHead h = section_head(name, version);

    return put(opaque, &h, sizeof(h));
}

static int put_sparse(void *opaque, void *ptr, size_t len, size_t granule)
{
    uint8_t *p = ptr;
    uint32_t n = 0;
    int error = 0;

    for (size_t at = 0; at < len && !error; at += granule, n++) {
        if (!is_zero(p + at, granule)) {
            error = put(opaque, &n, sizeof(n));
            error = error ? error : put(opaque, p + at, granule);
        }
    }
    n = UINT32_MAX;
    return error ? error : put(opaque, &n, sizeof(n));
}

/* ---- loading */

static int get(void *opaque, void *ptr, size_t len)
{
    Image *m = opaque;

    if (len > m->size - m->at) {
        return -EINVAL;
    }
    memcpy(ptr, m->from + m->at, len);
    m->at += len;
    return 0;
}

static int get_section(void *opaque, const char *name, unsigned version)
{
    SectionHead h = section_head(name, version), own;
    int error = get(opaque, &own, sizeof(own));

    return error ? error : memcmp(&h, &own, sizeof(h)) ? -EINVAL : 0;
}

static int get_sparse(void *opaque, void *ptr, size_t len, size_t granule)
{
    uint64_t next = 0;
    uint8_t *p = ptr;

    for (;;) {
        uint32_t n;

        if (get(opaque, &n, sizeof(n))) {
            return -EINVAL;
        }
        if (n == UINT32_MAX) {
            return 0;
        }
        if (n < next || n >= len / granule ||
            get(opaque, p + n * granule, granule)) {
            return -EINVAL;
        }
        next = (uint64_t)n + 1;
    }
}

static const MxgpuStateOps saves = {
    .section = put_section,
    .bytes = put,
    .sparse = put_sparse,
};

static const MxgpuStateOps loads = {
    .loads = true,
    .section = get_section,
    .bytes = get,
    .sparse = get_sparse,
};

size_t mxgpu_state_size(MxgpuDevice *dev)
{
    Image m = {.at = 0};

    return mxgpu_device_visit(dev, &saves, &m) == 0 ? m.at : 0;
}

int mxgpu_state_save(MxgpuDevice *dev, void *image, size_t size, size_t *used)
{
    Image m = {.to = image, .size = size};
    int error = mxgpu_device_visit(dev, &saves, &m);

    *used = m.at;
    return error;
}

int mxgpu_state_load(MxgpuDevice *dev, const void *image, size_t size)
{
    Image m = {.from = image, .size = size};
    int error = mxgpu_device_visit(dev, &loads, &m);

    if (!error && m.at != size) {
        mxgpu_device_reset(dev, MXGPU_RESET_BUS);
        error = -EINVAL;
    }
    return error;
}
