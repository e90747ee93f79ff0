/* SPDX-License-Identifier: MIT */
/* Records as a kernel could write them, printed. */
#ifndef FUZZ_PRINT_H
#define FUZZ_PRINT_H

#include <stdlib.h>
#include <string.h>

#include "device/fifo.h"
#include "services/print.h"

/* The first byte chooses the kind; a copy of exactly the record's size lets
 * AddressSanitizer see what lies outside. */
static inline void fuzz_print(const uint8_t *data, size_t size, FILE *sink)
{
    size_t words = size / 8 + 1;
    uint64_t *record = calloc(words, 8);

    if (size % 8) {
        memcpy(record + 1, data + 1, size - size % 8);
    } else if (size) {
        memcpy(record + 1, data, size);
    }
    record[0] = MC_RECORD(words * 8, size ? data[0] % 5 : 0, MC_RECORD_READY);
    mc_print_record(record, words, sink, sink);
    free(record);
}

#endif
