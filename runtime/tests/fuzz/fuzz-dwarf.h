/* SPDX-License-Identifier: MIT */
/* One run of the reader of line tables on foreign bytes. */
#ifndef FUZZ_DWARF_H
#define FUZZ_DWARF_H

#include <stdlib.h>
#include <string.h>

#include "image/dwarf.h"

static inline unsigned fuzz_dwarf(const uint8_t *data, size_t size)
{
    /* A copy of exactly that size: what is behind it is out of bounds. */
    uint8_t *copy = malloc(size ? size : 1);
    unsigned found = 0;

    if (size) {
        memcpy(copy, data, size);
    }
    McDwarf *dwarf = mc_dwarf_open(copy, size);
    for (uint64_t address = 0x1000; dwarf && address < 0x1400; address += 6) {
        McFrame frames[MC_FRAMES_MAX];
        unsigned n = mc_dwarf_find(dwarf, address, frames, MC_FRAMES_MAX);

        for (unsigned i = 0; i < n; i++) {
            found += frames[i].line != 0;
            found += frames[i].function ? strlen(frames[i].function) & 0 : 0;
            found += strlen(frames[i].file) & 0;
        }
    }
    mc_dwarf_close(dwarf);
    free(copy);
    return found;
}

#endif
