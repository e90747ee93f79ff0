/* SPDX-License-Identifier: MIT */
/* Line tables: DWARF 5, section 6.2. */
#include "dwarf_read.h"

typedef struct LineHead {
    uint8_t min_length, line_range, opcode_base;
    int8_t line_base;
    const uint8_t *lengths; /* opcode_base - 1 of them */
} LineHead;

/* Content types */
enum { LNCT_path = 1, LNCT_directory_index = 2 };
enum {
    LNS_copy = 1, LNS_advance_pc, LNS_advance_line, LNS_set_file,
    LNS_set_column, LNS_negate_stmt, LNS_set_basic_block, LNS_const_add_pc,
    LNS_fixed_advance_pc, LNS_set_prologue_end, LNS_set_epilogue_begin,
    LNS_set_isa
};
enum { LNE_end_sequence = 1, LNE_set_address = 2 };

#define MAX_FORMATS 16
#define MAX_NAMES   65536

typedef struct Format {
    uint64_t type, form;
} Format;

static unsigned read_formats(McReader *r, Format *formats)
{
    unsigned n = (unsigned)mc_read(r, 1);

    if (n > MAX_FORMATS) {
        r->bad = true;
        return 0;
    }
    for (unsigned i = 0; i < n; i++) {
        formats[i].type = mc_read_uleb(r);
        formats[i].form = mc_read_uleb(r);
    }
    return n;
}

/* Only forms that a reader of DWARF 5 expects here. */
static void read_entry(McDwarf *d, McReader *r, const Format *f,
                       const char **path, uint64_t *number)
{
    const char *text = NULL;
    uint64_t value = 0;

    switch (f->form) {
    case FORM_string:
        text = mc_dwarf_text(d, r);
        break;
    case FORM_line_strp:
        text = mc_dwarf_string(d, d->sec[MC_SEC_LINE_STR], mc_read(r, 4));
        break;
    case FORM_strp:
        text = mc_dwarf_string(d, d->sec[MC_SEC_STR], mc_read(r, 4));
        break;
    case FORM_udata:
        value = mc_read_uleb(r);
        break;
    case FORM_data1:
        value = mc_read(r, 1);
        break;
    case FORM_data2:
        value = mc_read(r, 2);
        break;
    case FORM_data4:
        value = mc_read(r, 4);
        break;
    case FORM_data8:
        value = mc_read(r, 8);
        break;
    case FORM_data16: /* MD5 */
        mc_read_skip(r, 16);
        break;
    case FORM_block:
        mc_read_skip(r, mc_read_uleb(r));
        break;
    default:
        r->bad = true;
    }
    if (f->type == LNCT_path) {
        *path = text;
    } else if (f->type == LNCT_directory_index) {
        *number = value;
    }
}

/* Directories end up in files[] too, before the files. */
static bool read_names(McDwarf *d, McReader *r, const char *root,
                       uint32_t *first)
{
    size_t dirs = d->num_files;
    uint64_t count = 0;

    for (unsigned pass = 0; pass < 2; pass++) {
        Format formats[MAX_FORMATS];
        unsigned n = read_formats(r, formats);

        *first = (uint32_t)d->num_files;
        if (pass == 0) {
            dirs = d->num_files;
        }
        uint64_t num_dirs = count;
        count = mc_read_uleb(r);
        if (count > MAX_NAMES || (count && !n)) {
            return false;
        }
        for (uint64_t i = 0; i < count && !r->bad; i++) {
            const char *path = NULL;
            uint64_t dir = 0;

            if (!mc_dwarf_charge(d, 1 + n)) {
                return false;
            }

            for (unsigned k = 0; k < n; k++) {
                read_entry(d, r, &formats[k], &path, &dir);
            }
            if (!mc_dwarf_grow(d, &d->files, &d->max_files, d->num_files,
                               sizeof(*d->files))) {
                return false;
            }
            d->files[d->num_files++] = (McFileName){
                .root = root,
                .dir = pass && dir < num_dirs ? d->files[dirs + dir].name
                                              : NULL,
                .name = path,
            };
        }
    }
    return !r->bad;
}

static bool add_row(McDwarf *d, const McRow *row, uint32_t first, bool end)
{
    if (!mc_dwarf_grow(d, &d->rows, &d->max_rows, d->num_rows,
                       sizeof(*d->rows))) {
        return false;
    }
    d->rows[d->num_rows] = *row;
    d->rows[d->num_rows].file += first;
    d->rows[d->num_rows++].end = end;
    return true;
}

static void run(McDwarf *d, McReader *r, const LineHead *h, uint32_t first)
{
    const McRow start = {.file = 1, .line = 1};
    McRow row = start;

    while (r->p < r->end && !r->bad) {
        uint8_t op = (uint8_t)mc_read(r, 1);

        if (!mc_dwarf_charge(d, 1)) {
            return;
        }
        if (op >= h->opcode_base) {
            unsigned n = op - h->opcode_base;

            row.address += (uint64_t)(n / h->line_range) * h->min_length;
            row.line += h->line_base + (int)(n % h->line_range);
            if (!add_row(d, &row, first, false)) {
                return;
            }
            continue;
        }
        switch (op) {
        case 0: {
            uint64_t len = mc_read_uleb(r);
            McReader body = *r;

            if (!mc_read_skip(r, len) || len == 0) {
                return;
            }
            body.end = r->p;
            switch (mc_read(&body, 1)) {
            case LNE_end_sequence:
                if (!add_row(d, &row, first, true)) {
                    return;
                }
                row = start;
                break;
            case LNE_set_address:
                row.address = mc_read(&body, 8);
                break;
            }
            break;
        }
        case LNS_copy:
            if (!add_row(d, &row, first, false)) {
                return;
            }
            break;
        case LNS_advance_pc:
            row.address += mc_read_uleb(r) * h->min_length;
            break;
        case LNS_advance_line:
            row.line += (uint32_t)mc_read_sleb(r);
            break;
        case LNS_set_file:
            row.file = (uint32_t)mc_read_uleb(r);
            break;
        case LNS_set_column:
            row.column = (uint32_t)mc_read_uleb(r);
            break;
        case LNS_const_add_pc:
            row.address += (uint64_t)((255 - h->opcode_base) / h->line_range) *
                           h->min_length;
            break;
        case LNS_fixed_advance_pc:
            row.address += mc_read(r, 2);
            break;
        default: /* also those that are of no interest */
            for (unsigned i = 0; i < h->lengths[op - 1]; i++) {
                mc_read_uleb(r);
            }
        }
    }
}

uint32_t mc_dwarf_lines(McDwarf *d, uint64_t offset, const char *root)
{
    McReader r = mc_reader(d->sec[MC_SEC_LINE], offset);
    uint64_t length = mc_read(&r, 4), head_length;
    uint32_t first = (uint32_t)d->num_files;
    McReader unit = r;
    LineHead h;

    if (!mc_read_skip(&r, length)) { /* or 64-bit DWARF */
        return first;
    }
    unit.end = r.p;
    if (mc_read(&unit, 2) != 5 || mc_read(&unit, 1) != 8 ||
        mc_read(&unit, 1) != 0) {
        return first;
    }
    head_length = mc_read(&unit, 4);
    r = unit;
    h.min_length = (uint8_t)mc_read(&unit, 1);
    mc_read(&unit, 2); /* operations an instruction, default_is_stmt */
    h.line_base = (int8_t)mc_read(&unit, 1);
    h.line_range = (uint8_t)mc_read(&unit, 1);
    h.opcode_base = (uint8_t)mc_read(&unit, 1);
    h.lengths = unit.p;
    if (!h.line_range || !h.opcode_base ||
        !mc_read_skip(&unit, h.opcode_base - 1) ||
        !read_names(d, &unit, root, &first) || !mc_read_skip(&r, head_length)) {
        return first;
    }
    run(d, &r, &h, first);
    return first;
}
