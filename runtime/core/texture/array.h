/* SPDX-License-Identifier: MIT */
/*
 * Arrays: device memory whose rows and slices the runtime lays out, and groups
 * of them that halve. Thread-safe; who holds an array may copy.
 */
#ifndef MC_CORE_ARRAY_H
#define MC_CORE_ARRAY_H

#include "core/context/handle.h"
#include "core/copy/copy.h"
#include "core/mapping/external.h"
#include "core/memory/zone.h"
#include "mcr/mc_array.h"
#include "sparse.h"
#include "texture_limits.h"

#define MC_ARRAY_LEVELS 32

typedef struct McArrayShape {
    mcChannelFormatDesc channels;
    mcExtent extent; /* as given: 0 is a dimension that does not exist */
    unsigned flags;
} McArrayShape;

typedef struct McMipmap McMipmap;

typedef struct McArray {
    McHandle handle;
    McArrayShape shape;
    unsigned element; /* bytes, as all that follows */
    size_t row, pitch;
    size_t rows, slices; /* at least 1 */
    uint64_t va;
    McMipmap *mipmap; /* whose level it is, or NULL */
    McSparse *sparse; /* its memory; NULL: it is whole, or the mipmap's */
} McArray;

/* Bytes of an element; 0: there is no such format. */
unsigned mc_element_size(const mcChannelFormatDesc *channels);

/* mcErrorInvalidChannelDescriptor, mcErrorNotSupported, mcErrorInvalidValue,
 * mcErrorMemoryAllocation. */
mcError_t mc_array_new(McContext *ctx, const McArrayShape *shape,
                       McCaller caller, McArray **out);
/* Waits for the device. The caller holds it. mcErrorInvalidResourceHandle: a
 * level, or it was freed before. */
mcError_t mc_array_free(McArray *array);

struct McMipmap {
    McHandle handle;
    unsigned levels;
    McArray *level[MC_ARRAY_LEVELS];
    uint64_t va;
    bool external; /* in memory of another interface */
    McSparse *sparse;
};

/* With memory: over that, from offset on, without gaps. */
mcError_t mc_mipmap_new(McContext *ctx, const McArrayShape *shape,
                        unsigned levels, McExternalMemory *memory,
                        uint64_t offset, McCaller caller, McMipmap **out);
mcError_t mc_mipmap_free(McMipmap *mipmap);

/* ---- copies ---- */

/* One side of a box: where it starts, bytes from row to row, rows from slice to
 * slice. */
typedef struct McSide {
    void *start;
    size_t pitch, slice;
} McSide;

/* The side of a box in an array; x and width are bytes. mcErrorInvalidValue: not
 * all of it lies in the array. */
mcError_t mc_array_side(const McArray *array, mcPos pos, mcExtent extent,
                        McSide *side);

/* Bytes behind each other: of an array row behind row, or with NULL from an
 * address on. */
typedef struct McRun {
    const McArray *array;
    uintptr_t at; /* offset, or the address */
} McRun;

/* The line of an array of one slice from a place on. mcErrorInvalidValue: it has
 * not that many bytes there. */
mcError_t mc_array_line(const McArray *array, size_t x, size_t y, size_t count,
                        McRun *line);
/* As mc_copy_box(). */
mcError_t mc_copy_line(McStream *stream, McRun dst, McRun src, size_t count,
                       mcMemcpyKind kind, bool sync);

#endif
