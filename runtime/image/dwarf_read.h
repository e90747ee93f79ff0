/* SPDX-License-Identifier: MIT */
/* Reading DWARF: bytes that are never left, and what dwarf.c shares. */
#ifndef MC_IMAGE_DWARF_READ_H
#define MC_IMAGE_DWARF_READ_H

#include <string.h>

#include "dwarf.h"

typedef struct McSection {
    const uint8_t *data;
    size_t size;
} McSection;

/* A row of a line table; end: the first address behind a sequence. */
typedef struct McRow {
    uint64_t address;
    uint32_t file, line, column;
    bool end;
} McRow;

typedef struct McFileName {
    const char *root, *dir, *name; /* as far as the later ones are relative */
} McFileName;

/* A range of addresses of a function, or of one that was inlined. */
typedef struct McScope {
    uint64_t low, high;
    const char *function;
    uint32_t depth; /* of the DIE */
    uint32_t unit;
    uint32_t call_file, call_line, call_column; /* inlined only */
    bool inlined;
} McScope;

enum {
    MC_SEC_INFO, MC_SEC_ABBREV, MC_SEC_LINE, MC_SEC_LINE_STR, MC_SEC_STR,
    MC_SEC_STR_OFFSETS, MC_SEC_ADDR, MC_SEC_RNGLISTS, MC_SEC_SYMTAB,
    MC_SEC_STRTAB, MC_SECS
};

struct McDwarf {
    McSection sec[MC_SECS];
    McRow *rows;
    McFileName *files;
    McScope *scopes;
    size_t num_rows, max_rows, num_files, max_files, num_scopes, max_scopes;
    uint64_t work; /* steps that may still be taken: tables of a malformed
                      file can be referred to any number of times */
    bool stop;     /* out of memory, room or steps */
};

/* Bytes from p to end; once bad, everything reads as 0. */
typedef struct McReader {
    const uint8_t *p, *end;
    bool bad;
} McReader;

static inline McReader mc_reader(McSection s, uint64_t offset)
{
    if (!s.data || offset > s.size) {
        return (McReader){s.data, s.data, true};
    }
    return (McReader){s.data + offset, s.data + s.size, false};
}

static inline bool mc_read_skip(McReader *r, uint64_t n)
{
    if (r->bad || n > (uint64_t)(r->end - r->p)) {
        r->bad = true;
        r->p = r->end;
        return false;
    }
    r->p += n;
    return true;
}

static inline uint64_t mc_read(McReader *r, unsigned bytes)
{
    const uint8_t *p = r->p;
    uint64_t value = 0;

    if (mc_read_skip(r, bytes)) {
        for (unsigned i = 0; i < bytes && i < 8; i++) {
            value |= (uint64_t)p[i] << 8 * i;
        }
    }
    return value;
}

/* LEB128; bits beyond the 64th are dropped. */
static inline uint64_t mc_read_leb(McReader *r, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = (uint8_t)mc_read(r, 1);
        if (shift < 64) {
            value |= (uint64_t)(byte & 0x7f) << shift;
        }
        shift += shift < 70 ? 7 : 0;
    } while (byte & 0x80);
    if (is_signed && shift < 64 && (byte & 0x40)) {
        value |= -(1ull << shift);
    }
    return value;
}

static inline uint64_t mc_read_uleb(McReader *r)
{
    return mc_read_leb(r, false);
}

static inline int64_t mc_read_sleb(McReader *r)
{
    return (int64_t)mc_read_leb(r, true);
}

static inline const char *mc_read_string(McReader *r)
{
    const char *s = (const char *)r->p;
    const uint8_t *nul = r->bad || r->p == r->end
                             ? NULL
                             : memchr(r->p, 0, r->end - r->p);

    if (!nul) {
        r->bad = true;
        r->p = r->end;
        return NULL;
    }
    r->p = nul + 1;
    return s;
}

static inline bool mc_dwarf_charge(McDwarf *d, uint64_t steps)
{
    if (d->stop || steps > d->work) {
        d->stop = true;
        return false;
    }
    d->work -= steps;
    return true;
}

/* The same, where strings may be read again and again: looking for their ends
 * is work. */
static inline const char *mc_dwarf_text(McDwarf *d, McReader *r)
{
    const uint8_t *from = r->p;
    const char *s = d->stop ? NULL : mc_read_string(r);

    return mc_dwarf_charge(d, (uint64_t)(r->p - from) / 64) ? s : NULL;
}

/* A string of a section; NULL when it is not one. */
static inline const char *mc_dwarf_string(McDwarf *d, McSection s,
                                          uint64_t offset)
{
    McReader r = mc_reader(s, offset);

    return mc_dwarf_text(d, &r);
}

/* Room for one more element; false: no memory, or too many. */
bool mc_dwarf_grow(McDwarf *d, void *array, size_t *max, size_t count,
                   size_t size);
/* dwarf_line.c: the unit's line table to rows and files; returns the number of
 * its file 0 in d->files. */
uint32_t mc_dwarf_lines(McDwarf *d, uint64_t offset, const char *root);

/* Forms, of attributes and line table entries alike. */
enum {
    FORM_addr = 0x01, FORM_block2 = 0x03, FORM_block4, FORM_data2, FORM_data4,
    FORM_data8, FORM_string, FORM_block, FORM_block1, FORM_data1, FORM_flag,
    FORM_sdata, FORM_strp, FORM_udata, FORM_ref_addr, FORM_ref1, FORM_ref2,
    FORM_ref4, FORM_ref8, FORM_ref_udata, FORM_indirect, FORM_sec_offset,
    FORM_exprloc, FORM_flag_present, FORM_strx, FORM_addrx, FORM_ref_sup4,
    FORM_strp_sup, FORM_data16, FORM_line_strp, FORM_ref_sig8,
    FORM_implicit_const, FORM_loclistx, FORM_rnglistx, FORM_ref_sup8,
    FORM_strx1, FORM_strx2, FORM_strx3, FORM_strx4, FORM_addrx1, FORM_addrx2,
    FORM_addrx3, FORM_addrx4
};

#endif
