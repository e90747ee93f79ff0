/* SPDX-License-Identifier: MIT */
/* Captures (mxgpu/capture.h) in words. The bytes are anybody's. */
#ifndef MXGPU_TOOLS_CAPTURE_TEXT_H
#define MXGPU_TOOLS_CAPTURE_TEXT_H

#include <stddef.h>
#include <stdint.h>

typedef struct MxCaptureOut {
    void (*put)(void *opaque, const char *line); /* without a newline */
    void *opaque;
    uint64_t kinds; /* a bit for each kind that is wanted */
} MxCaptureOut;

/* NULL, or what is wrong with the file; what was before that was put. */
const char *mx_capture_text(const uint8_t *data, size_t len,
                            const MxCaptureOut *out);
/* 0: there is no such kind. Upper or lower case. */
unsigned mx_capture_kind(const char *name);

#endif
