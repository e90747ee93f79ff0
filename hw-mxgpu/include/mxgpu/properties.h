/* SPDX-License-Identifier: MIT */
/* properties.def as a table. */
#ifndef MXGPU_PROPERTIES_H
#define MXGPU_PROPERTIES_H

#include "limits.h"
#include "types.h"

struct mxgpu_property {
    const char *name, *text;
    uint64_t min, max;  /* sizes in bytes */
    uint64_t card, sim; /* defaults */
};

/* MXGPU_PROPERTY_<field> */
enum {
#define MXGPU_NUMBER(field, name, min, max, card, sim, text)                   \
    MXGPU_PROPERTY_##field,
#define MXGPU_SIZE(field, name, min, max, card, sim, text)                     \
    MXGPU_PROPERTY_##field,
#define MXGPU_SWITCH(field, name, text) MXGPU_PROPERTY_##field,
#include "properties.def"
#undef MXGPU_NUMBER
#undef MXGPU_SIZE
#undef MXGPU_SWITCH
    MXGPU_PROPERTIES
};

static const struct mxgpu_property mxgpu_property[MXGPU_PROPERTIES] = {
#define MXGPU_NUMBER(field, name, min, max, card, sim, text)                   \
    {name, text, min, max, card, sim},
#define MXGPU_SIZE(field, name, min, max, card, sim, text)                     \
    {name, text, (min) * 1024ull, (max) * 1024ull, (card) * 1024ull,           \
     (sim) * 1024ull},
#define MXGPU_SWITCH(field, name, text) {name, text, 0, 1, 0, 0},
#include "properties.def"
#undef MXGPU_NUMBER
#undef MXGPU_SIZE
#undef MXGPU_SWITCH
};

#define MXGPU_DEFAULT(host, field) mxgpu_property[MXGPU_PROPERTY_##field].host

static inline int mxgpu_property_ok(unsigned property, uint64_t value)
{
    return value >= mxgpu_property[property].min &&
           value <= mxgpu_property[property].max;
}

#endif
