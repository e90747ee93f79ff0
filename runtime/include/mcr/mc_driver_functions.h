/* SPDX-License-Identifier: MIT */
/* Makers of the structures that describe memory of two and three dimensions. */
#ifndef MCR_MC_DRIVER_FUNCTIONS_H
#define MCR_MC_DRIVER_FUNCTIONS_H

#include "mc_runtime_types.h"

/* pitch: bytes from row to row; xsize: bytes of a row that count; ysize: rows. */
static inline mcPitchedPtr make_mcPitchedPtr(void *ptr, size_t pitch,
                                             size_t xsize, size_t ysize)
{
    mcPitchedPtr p;

    p.ptr = ptr;
    p.pitch = pitch;
    p.xsize = xsize;
    p.ysize = ysize;
    return p;
}

/* Bytes from the start of a row, rows, slices. */
static inline mcPos make_mcPos(size_t x, size_t y, size_t z)
{
    mcPos p;

    p.x = x;
    p.y = y;
    p.z = z;
    return p;
}

/* Bytes of a row, rows, slices. */
static inline mcExtent make_mcExtent(size_t width, size_t height, size_t depth)
{
    mcExtent e;

    e.width = width;
    e.height = height;
    e.depth = depth;
    return e;
}

#endif
