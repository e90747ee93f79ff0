/* SPDX-License-Identifier: MIT */
/* Captures that nobody wrote: the bytes as a file, and the bytes as records of
 * a file whose blocks are in order. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/dissect/capture_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(void *opaque, const char *line)
{
    size_t *longest = opaque, n = strlen(line);

    *longest = n > *longest ? n : *longest;
}

static uint8_t *put_block(uint8_t *to, uint32_t type, const void *body,
                          uint32_t len)
{
    uint32_t total = 12 + (len + 3) / 4 * 4;

    memcpy(to, &type, 4);
    memcpy(to + 4, &total, 4);
    memcpy(to + 8, body, len);
    memcpy(to + total - 4, &total, 4);
    return to + total;
}

/* Records of at most 255 bytes: a length, and that many. */
static size_t make_file(uint8_t *file, const uint8_t *data, size_t size)
{
    static const uint8_t section[16] = {0x4d, 0x3c, 0x2b, 0x1a, 1};
    static const uint8_t interface[8] = {147};
    const uint8_t *end = data + size;
    uint8_t *at = put_block(file, 0x0a0d0d0a, section, sizeof(section));

    at = put_block(at, 1, interface, sizeof(interface));
    while (data < end) {
        uint8_t body[20 + 255] = {0};
        uint32_t n = *data++;

        n = n < (size_t)(end - data) ? n : (uint32_t)(end - data);
        memcpy(body + 12, &n, 4);
        memcpy(body + 20, data, n);
        data += n;
        at = put_block(at, 6, body, 20 + n);
    }
    return (size_t)(at - file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t longest = 0;
    MxCaptureOut out = {put, &longest, UINT64_MAX};
    uint8_t *file;

    if (size > 1 << 16) {
        return 0;
    }
    mx_capture_text(data, size, &out);
    file = calloc(1, 64 + size * 40);
    if (!file || mx_capture_text(file, make_file(file, data, size), &out) ||
        longest >= 1024) {
        abort();
    }
    free(file);
    return 0;
}
