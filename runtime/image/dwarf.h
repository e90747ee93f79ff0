/* SPDX-License-Identifier: MIT */
/*
 * Source lines of kernel code: line tables and inlined calls (DWARF), and the
 * symbol table where there is no more, or no libdw. Nothing trusts a byte of
 * the file; what is malformed is left out.
 */
#ifndef MC_IMAGE_DWARF_H
#define MC_IMAGE_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct McDwarf McDwarf;

typedef struct McFrame {
    const char *function; /* linkage name if it has one; NULL: not known */
    char file[256];       /* "": not known */
    unsigned line, column;
    uint64_t offset;      /* without a line: bytes from the function's start */
} McFrame;

#define MC_FRAMES_MAX 16

/* Whether lines can be had: the library that reads them is there. */
bool mc_dwarf_available(void);

/* The file must stay until mc_dwarf_close(). NULL: no memory. */
McDwarf *mc_dwarf_open(const void *file, size_t size);
void mc_dwarf_close(McDwarf *dwarf);
/* The code at a link-time address: where it is, then where that was inlined
 * to, outwards. 0: nothing is known. */
unsigned mc_dwarf_find(McDwarf *dwarf, uint64_t address, McFrame *frames,
                       unsigned max);

#endif
