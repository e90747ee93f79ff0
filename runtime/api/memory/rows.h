/* SPDX-License-Identifier: MIT */
/* Copies of boxes, as several entry points make them. */
#ifndef MC_API_ROWS_H
#define MC_API_ROWS_H

#include "api/api.h"
#include "core/texture/array.h"

/* Rows of width bytes with that pitch; the memory they span is no number. */
mcError_t mc_api_check_rows(const void *ptr, size_t pitch, size_t width,
                            size_t rows);

/* extent.width is bytes; a kind that exists. */
mcError_t mc_api_copy_box(const McSide *dst, const McSide *src, mcExtent extent,
                          mcMemcpyKind kind, mcStream_t handle, bool sync);

/* Between two kinds of memory. */
mcMemcpyKind mc_api_kind_of(mcMemoryType dst, mcMemoryType src);

/* Holds the array that a handle names, for the scope. */
#define API_ARRAY(array, handle)                                               \
    API_OBJECT(McArray, array, handle, MC_HANDLE_ARRAY,                        \
               mcErrorInvalidResourceHandle)

#endif
