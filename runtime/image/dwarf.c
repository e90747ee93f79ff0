/* SPDX-License-Identifier: MIT */
/*
 * Units, functions and inlined calls (DWARF 5, sections 2, 3, 7). One pass
 * over .debug_info notes the address ranges of all functions; addresses are
 * looked up in these.
 */
#include "dwarf.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "dwarf_read.h"

#define MAX_ELEMENTS (4u << 20) /* of any array */
#define MAX_ABBREVS  16384u
#define MAX_UNITS    256u
#define MAX_RANGES   4096u      /* of one DIE */
#define MAX_ORIGINS  8u

enum {
    TAG_inlined_subroutine = 0x1d, TAG_subprogram = 0x2e,
};
enum {
    AT_name = 0x03, AT_stmt_list = 0x10, AT_low_pc = 0x11, AT_high_pc = 0x12,
    AT_comp_dir = 0x1b, AT_abstract_origin = 0x31, AT_specification = 0x47,
    AT_ranges = 0x55, AT_call_column = 0x57, AT_call_file = 0x58,
    AT_call_line = 0x59, AT_linkage_name = 0x6e, AT_str_offsets_base = 0x72,
    AT_addr_base = 0x73, AT_rnglists_base = 0x74,
};
enum {
    RLE_end_of_list, RLE_base_addressx, RLE_startx_endx, RLE_startx_length,
    RLE_offset_pair, RLE_base_address, RLE_start_end, RLE_start_length
};
enum { UT_compile = 1, UT_partial = 3 };

typedef struct Abbrev {
    const uint8_t *specs; /* NULL: no such code */
    uint16_t tag;
    bool children;
} Abbrev;

typedef struct Unit {
    McDwarf *d;
    const struct Units *all;
    const uint8_t *start; /* of its header: what references count from */
    const uint8_t *dies, *end;
    uint64_t str_base, addr_base, rng_base;
    uint64_t low;
    uint32_t number, first_file;
    Abbrev *abbrevs;
    unsigned num_abbrevs;
    McReader abbrev_end; /* bounds of the specs */
} Unit;

typedef struct Units {
    unsigned count;
    Unit unit[MAX_UNITS];
} Units;

/* What attributes of a DIE were read, as far as they are of interest. */
typedef struct Die {
    unsigned tag; /* 0: the end of a list of children */
    bool children;
    const char *name, *linkage, *comp_dir;
    uint64_t low, high, ranges, line, origin;
    uint64_t str_base, addr_base, rng_base;
    uint32_t call_file, call_line, call_column;
    bool has_low, has_high, high_is_length, has_ranges, ranges_is_index;
    bool has_line, has_origin, origin_in_section;
    uint64_t low_index, high_index;
    bool low_is_index, high_is_index;
} Die;

bool mc_dwarf_grow(McDwarf *d, void *array, size_t *max, size_t count,
                   size_t size)
{
    void **p = array;
    size_t more = *max ? *max * 2 : 256;
    void *bigger;

    if (count < *max) {
        return true;
    }
    bigger = more <= MAX_ELEMENTS ? realloc(*p, more * size) : NULL;
    if (!bigger) {
        d->stop = true;
        return false;
    }
    *p = bigger;
    *max = more;
    return true;
}

/* ---- attribute values ---- */

static uint64_t table_entry(McSection s, uint64_t base, uint64_t index,
                            unsigned size)
{
    McReader r;

    if (index > s.size / size || base > s.size - index * size) {
        return 0;
    }
    r = mc_reader(s, base + index * size);
    return mc_read(&r, size);
}

static const char *indexed_string(const Unit *u, uint64_t index)
{
    McSection offsets = u->d->sec[MC_SEC_STR_OFFSETS];

    return mc_dwarf_string(u->d, u->d->sec[MC_SEC_STR],
                           table_entry(offsets, u->str_base, index, 4));
}

static uint64_t indexed_address(const Unit *u, uint64_t index)
{
    return table_entry(u->d->sec[MC_SEC_ADDR], u->addr_base, index, 8);
}

/* Reads a value; index is set where it is one of another table. */
static uint64_t read_form(const Unit *u, McReader *r, uint64_t form,
                          int64_t constant, const char **text, bool *index)
{
    McSection str = u->d->sec[MC_SEC_STR];
    uint64_t value = 0;

    for (unsigned n = 0; form == FORM_indirect && n < 4; n++) {
        form = mc_read_uleb(r);
    }
    switch (form) {
    case FORM_addr:
    case FORM_data8:
    case FORM_ref8:
    case FORM_ref_sig8:
    case FORM_ref_sup8:
        return mc_read(r, 8);
    case FORM_data1:
    case FORM_ref1:
    case FORM_flag:
        return mc_read(r, 1);
    case FORM_data2:
    case FORM_ref2:
        return mc_read(r, 2);
    case FORM_data4:
    case FORM_ref4:
    case FORM_ref_addr:
    case FORM_ref_sup4:
    case FORM_sec_offset:
    case FORM_strp_sup:
        return mc_read(r, 4);
    case FORM_data16:
        mc_read_skip(r, 16);
        return 0;
    case FORM_sdata:
        return (uint64_t)mc_read_sleb(r);
    case FORM_udata:
    case FORM_ref_udata:
        return mc_read_uleb(r);
    case FORM_implicit_const:
        return (uint64_t)constant;
    case FORM_flag_present:
        return 1;
    case FORM_string:
        *text = mc_dwarf_text(u->d, r);
        return 0;
    case FORM_strp:
        *text = mc_dwarf_string(u->d, str, mc_read(r, 4));
        return 0;
    case FORM_line_strp:
        *text = mc_dwarf_string(u->d, u->d->sec[MC_SEC_LINE_STR],
                                mc_read(r, 4));
        return 0;
    case FORM_strx:
        *text = indexed_string(u, mc_read_uleb(r));
        return 0;
    case FORM_strx1:
    case FORM_strx2:
    case FORM_strx3:
    case FORM_strx4:
        *text = indexed_string(u, mc_read(r, form - FORM_strx1 + 1));
        return 0;
    case FORM_addrx:
    case FORM_rnglistx:
    case FORM_loclistx:
        *index = true;
        return mc_read_uleb(r);
    case FORM_addrx1:
    case FORM_addrx2:
    case FORM_addrx3:
    case FORM_addrx4:
        *index = true;
        return mc_read(r, form - FORM_addrx1 + 1);
    case FORM_exprloc:
    case FORM_block:
        value = mc_read_uleb(r);
        break;
    case FORM_block1:
        value = mc_read(r, 1);
        break;
    case FORM_block2:
        value = mc_read(r, 2);
        break;
    case FORM_block4:
        value = mc_read(r, 4);
        break;
    default:
        r->bad = true;
    }
    mc_read_skip(r, value);
    return 0;
}

static void take(Die *die, uint64_t at, uint64_t form, uint64_t value,
                 const char *text, bool index)
{
    switch (at) {
    case AT_name:
        die->name = text;
        break;
    case AT_linkage_name:
        die->linkage = text;
        break;
    case AT_comp_dir:
        die->comp_dir = text;
        break;
    case AT_stmt_list:
        die->line = value;
        die->has_line = true;
        break;
    case AT_low_pc:
        die->low = value;
        die->has_low = true;
        die->low_is_index = index;
        break;
    case AT_high_pc:
        die->high = value;
        die->has_high = true;
        die->high_is_index = index;
        die->high_is_length = form != FORM_addr && !index;
        break;
    case AT_ranges:
        die->ranges = value;
        die->has_ranges = true;
        die->ranges_is_index = index;
        break;
    case AT_abstract_origin:
    case AT_specification:
        die->origin = value;
        die->has_origin = form != FORM_ref_sig8 && form != FORM_ref_sup4 &&
                          form != FORM_ref_sup8;
        die->origin_in_section = form == FORM_ref_addr;
        break;
    case AT_call_file:
        die->call_file = (uint32_t)value;
        break;
    case AT_call_line:
        die->call_line = (uint32_t)value;
        break;
    case AT_call_column:
        die->call_column = (uint32_t)value;
        break;
    case AT_str_offsets_base:
        die->str_base = value;
        break;
    case AT_addr_base:
        die->addr_base = value;
        break;
    case AT_rnglists_base:
        die->rng_base = value;
        break;
    }
}

static bool read_die(const Unit *u, McReader *r, Die *die)
{
    uint64_t code = mc_read_uleb(r);
    McReader specs;

    memset(die, 0, sizeof(*die));
    if (r->bad || code == 0) {
        return !r->bad;
    }
    if (code >= u->num_abbrevs || !u->abbrevs[code].specs) {
        r->bad = true;
        return false;
    }
    die->tag = u->abbrevs[code].tag;
    die->children = u->abbrevs[code].children;
    specs = u->abbrev_end;
    specs.p = u->abbrevs[code].specs;
    for (;;) {
        uint64_t at = mc_read_uleb(&specs), form = mc_read_uleb(&specs);
        int64_t constant = form == FORM_implicit_const ? mc_read_sleb(&specs)
                                                       : 0;
        const char *text = NULL;
        bool index = false;
        uint64_t value;

        if (specs.bad || r->bad || !mc_dwarf_charge(u->d, 1)) {
            return false;
        }
        if (!at && !form) {
            return true;
        }
        value = read_form(u, r, form, constant, &text, &index);
        take(die, at, form, value, text, index);
    }
}

/* ---- abbreviations ---- */

static bool read_abbrevs(Unit *u, uint64_t offset)
{
    McReader r = mc_reader(u->d->sec[MC_SEC_ABBREV], offset);

    u->abbrev_end = r;
    for (;;) {
        uint64_t code = mc_read_uleb(&r);
        Abbrev a = {.specs = NULL};

        if (r.bad || code >= MAX_ABBREVS) {
            return false;
        }
        if (code == 0) {
            return true;
        }
        a.tag = (uint16_t)mc_read_uleb(&r);
        a.children = mc_read(&r, 1) != 0;
        a.specs = r.p;
        for (;;) {
            uint64_t at = mc_read_uleb(&r), form = mc_read_uleb(&r);

            if (form == FORM_implicit_const) {
                mc_read_sleb(&r);
            }
            if (r.bad || !mc_dwarf_charge(u->d, 1)) {
                return false;
            }
            if (!at && !form) {
                break;
            }
        }
        if (code >= u->num_abbrevs) {
            unsigned more = u->num_abbrevs * 2 > code ? u->num_abbrevs * 2
                                                      : (unsigned)code + 256;
            Abbrev *bigger = realloc(u->abbrevs, more * sizeof(a));

            if (!bigger) {
                u->d->stop = true;
                return false;
            }
            memset(bigger + u->num_abbrevs, 0,
                   (more - u->num_abbrevs) * sizeof(a));
            u->abbrevs = bigger;
            u->num_abbrevs = more;
        }
        u->abbrevs[code] = a;
    }
}

/* ---- address ranges ---- */

static bool add_scope(const Unit *u, const McScope *like, uint64_t low,
                      uint64_t high)
{
    McDwarf *d = u->d;

    if (low >= high) {
        return true;
    }
    if (!mc_dwarf_grow(d, &d->scopes, &d->max_scopes, d->num_scopes,
                       sizeof(*d->scopes))) {
        return false;
    }
    d->scopes[d->num_scopes] = *like;
    d->scopes[d->num_scopes].low = low;
    d->scopes[d->num_scopes++].high = high;
    return true;
}

static bool add_ranges(const Unit *u, const Die *die, const McScope *scope)
{
    McSection lists = u->d->sec[MC_SEC_RNGLISTS];
    uint64_t at = die->ranges, base = u->low, low, high;
    McReader r;

    if (die->ranges_is_index) {
        at = u->rng_base + table_entry(lists, u->rng_base, at, 4);
    }
    r = mc_reader(lists, at);
    for (unsigned n = 0; n < MAX_RANGES; n++) {
        unsigned kind = (unsigned)mc_read(&r, 1);

        switch (kind) {
        case RLE_base_addressx:
            base = indexed_address(u, mc_read_uleb(&r));
            continue;
        case RLE_base_address:
            base = mc_read(&r, 8);
            continue;
        case RLE_startx_endx:
            low = indexed_address(u, mc_read_uleb(&r));
            high = indexed_address(u, mc_read_uleb(&r));
            break;
        case RLE_startx_length:
            low = indexed_address(u, mc_read_uleb(&r));
            high = low + mc_read_uleb(&r);
            break;
        case RLE_offset_pair:
            low = base + mc_read_uleb(&r);
            high = base + mc_read_uleb(&r);
            break;
        case RLE_start_end:
            low = mc_read(&r, 8);
            high = mc_read(&r, 8);
            break;
        case RLE_start_length:
            low = mc_read(&r, 8);
            high = low + mc_read_uleb(&r);
            break;
        default:
            return true;
        }
        if (r.bad) {
            return true;
        }
        if (!mc_dwarf_charge(u->d, 1) || !add_scope(u, scope, low, high)) {
            return false;
        }
    }
    return true;
}

/* The unit that a reference goes to, and a reader there; NULL: none. */
static const Unit *origin_unit(const Unit *u, const Die *die, McReader *r)
{
    const uint8_t *info = u->d->sec[MC_SEC_INFO].data;
    uint64_t at = die->origin;

    if (die->origin_in_section) {
        const Units *all = u->all;

        u = NULL;
        for (unsigned i = 0; i < all->count && !u; i++) {
            if (at >= (uint64_t)(all->unit[i].start - info) &&
                at < (uint64_t)(all->unit[i].end - info)) {
                u = &all->unit[i];
                at -= (uint64_t)(u->start - info);
            }
        }
    }
    if (!u) {
        return NULL;
    }
    *r = (McReader){.p = u->start, .end = u->end};
    return mc_read_skip(r, at) && r->p >= u->dies ? u : NULL;
}

/* The name may be where the DIE was declared, or inlined from. */
static const char *die_name(const Unit *u, const Die *die)
{
    Die now = *die;

    for (unsigned n = 0; n < MAX_ORIGINS; n++) {
        McReader r;

        if (now.linkage || now.name) {
            const char *name = now.linkage ? now.linkage : now.name;

            /* A declaration may know the linkage name. */
            if (now.linkage || !now.has_origin) {
                return name;
            }
        }
        if (!now.has_origin || !(u = origin_unit(u, &now, &r))) {
            return now.name;
        }
        if (!read_die(u, &r, &now)) {
            return NULL;
        }
    }
    return NULL;
}

static bool add_function(const Unit *u, const Die *die, uint32_t depth)
{
    McScope scope = {
        .depth = depth,
        .unit = u->number,
        .inlined = die->tag == TAG_inlined_subroutine,
        .call_file = u->first_file + die->call_file,
        .call_line = die->call_line,
        .call_column = die->call_column,
    };

    if (!die->has_ranges && !(die->has_low && die->has_high)) {
        return true;
    }
    scope.function = die_name(u, die);
    if (die->has_ranges) {
        return add_ranges(u, die, &scope);
    }
    uint64_t low = die->low_is_index ? indexed_address(u, die->low)
                                     : die->low;
    uint64_t high = die->high_is_index    ? indexed_address(u, die->high)
                    : die->high_is_length ? low + die->high
                                          : die->high;
    return add_scope(u, &scope, low, high);
}

/* ---- units ---- */

static bool read_root(Unit *u, McReader *r, Die *root)
{
    McReader again = *r;

    /* Indexed strings need a base that comes behind them. */
    if (!read_die(u, r, root)) {
        return false;
    }
    u->str_base = root->str_base;
    u->addr_base = root->addr_base;
    u->rng_base = root->rng_base;
    *r = again;
    read_die(u, r, root);
    u->low = root->low_is_index ? indexed_address(u, root->low) : root->low;
    return !r->bad;
}

static void read_dies(Unit *u)
{
    McReader r = {.p = u->dies, .end = u->end};
    uint32_t depth;
    Die die;

    if (!read_root(u, &r, &die)) {
        return;
    }
    if (die.has_line) {
        u->first_file = mc_dwarf_lines(u->d, die.line, die.comp_dir);
    }
    for (depth = die.children; depth > 0 && r.p < r.end;) {
        if (!read_die(u, &r, &die)) {
            return;
        }
        if (die.tag == 0) {
            depth--;
            continue;
        }
        if ((die.tag == TAG_subprogram || die.tag == TAG_inlined_subroutine) &&
            !add_function(u, &die, depth)) {
            return;
        }
        depth += die.children;
    }
}

/* The header, and what names need; DIEs refer to other units. */
static void read_unit(Units *all, McDwarf *d, McReader *r)
{
    Unit *u = &all->unit[all->count];
    McReader unit, root;
    uint64_t length;
    unsigned version, kind;
    Die die;

    *u = (Unit){.d = d, .all = all, .start = r->p, .number = all->count};
    length = mc_read(r, 4);
    unit = *r;
    if (!mc_read_skip(r, length)) {
        return;
    }
    unit.end = u->end = r->p;
    version = (unsigned)mc_read(&unit, 2);
    kind = (unsigned)mc_read(&unit, 1);
    if (version != 5 || mc_read(&unit, 1) != 8 ||
        (kind != UT_compile && kind != UT_partial)) {
        return;
    }
    length = mc_read(&unit, 4); /* offset of its abbreviations */
    root = unit;
    u->dies = unit.p;
    all->count++;
    if (!read_abbrevs(u, length) || !read_root(u, &root, &die)) {
        u->end = u->dies;
    }
}

static void read_units(McDwarf *d)
{
    McReader r = mc_reader(d->sec[MC_SEC_INFO], 0);
    Units *all = calloc(1, sizeof(*all));

    if (!all) {
        return;
    }
    while (r.p < r.end && !r.bad && !d->stop && all->count < MAX_UNITS) {
        read_unit(all, d, &r);
    }
    for (unsigned i = 0; i < all->count && !d->stop; i++) {
        read_dies(&all->unit[i]);
    }
    for (unsigned i = 0; i < all->count; i++) {
        free(all->unit[i].abbrevs);
    }
    free(all);
}

/* ---- the file ---- */

static void find_sections(McDwarf *d, const uint8_t *file, size_t size)
{
    static const char *const names[MC_SECS] = {
        [MC_SEC_INFO] = ".debug_info",
        [MC_SEC_ABBREV] = ".debug_abbrev",
        [MC_SEC_LINE] = ".debug_line",
        [MC_SEC_LINE_STR] = ".debug_line_str",
        [MC_SEC_STR] = ".debug_str",
        [MC_SEC_STR_OFFSETS] = ".debug_str_offsets",
        [MC_SEC_ADDR] = ".debug_addr",
        [MC_SEC_RNGLISTS] = ".debug_rnglists",
        [MC_SEC_SYMTAB] = ".symtab",
        [MC_SEC_STRTAB] = ".strtab",
    };
    McSection all = {file, size}, strings;
    Elf64_Ehdr eh;
    Elf64_Shdr sh;
    McReader r;

    if (size < sizeof(eh)) {
        return;
    }
    memcpy(&eh, file, sizeof(eh));
    if (memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
        eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_shentsize != sizeof(sh) ||
        eh.e_shstrndx >= eh.e_shnum || eh.e_shoff > size ||
        eh.e_shnum > (size - eh.e_shoff) / sizeof(sh)) {
        return;
    }
    memcpy(&sh, file + eh.e_shoff + eh.e_shstrndx * sizeof(sh), sizeof(sh));
    if (sh.sh_offset > size || sh.sh_size > size - sh.sh_offset) {
        return;
    }
    strings = (McSection){file + sh.sh_offset, sh.sh_size};
    for (unsigned i = 0; i < eh.e_shnum; i++) {
        memcpy(&sh, file + eh.e_shoff + i * sizeof(sh), sizeof(sh));
        r = mc_reader(all, sh.sh_offset);
        if (sh.sh_type == SHT_NOBITS ||
            (sh.sh_flags & SHF_COMPRESSED) || !mc_read_skip(&r, sh.sh_size)) {
            continue;
        }
        for (unsigned n = 0; n < MC_SECS; n++) {
            size_t length = strlen(names[n]) + 1;

            if (sh.sh_name < strings.size &&
                length <= strings.size - sh.sh_name &&
                memcmp(strings.data + sh.sh_name, names[n], length) == 0) {
                d->sec[n] = (McSection){file + sh.sh_offset, sh.sh_size};
            }
        }
    }
}

McDwarf *mc_dwarf_open(const void *file, size_t size)
{
    McDwarf *d = calloc(1, sizeof(*d));

    if (d) {
        d->work = (64u << 20) + 4 * (uint64_t)size;
        find_sections(d, file, size);
        read_units(d);
    }
    return d;
}

void mc_dwarf_close(McDwarf *d)
{
    if (d) {
        free(d->rows);
        free(d->files);
        free(d->scopes);
        free(d);
    }
}

/* ---- looking up ---- */

static void file_name(const McDwarf *d, uint32_t number, char *out,
                      size_t size)
{
    const McFileName *f;
    const char *root, *dir;

    out[0] = 0;
    if (number >= d->num_files || !d->files[number].name) {
        return;
    }
    f = &d->files[number];
    dir = f->name[0] != '/' && f->dir && strcmp(f->dir, ".") ? f->dir : NULL;
    root = f->name[0] != '/' && f->root && (!dir || dir[0] != '/') ? f->root
                                                                  : NULL;
    if (root && dir && strcmp(root, dir) == 0) {
        dir = NULL;
    }
    snprintf(out, size, "%s%s%s%s%s", root ? root : "", root ? "/" : "",
             dir ? dir : "", dir ? "/" : "", f->name);
}

/* Line 0 is code of no line in particular: the one before it counts. */
static const McRow *find_row(const McDwarf *d, uint64_t address)
{
    const McRow *good = NULL;

    for (size_t i = 0; i + 1 < d->num_rows; i++) {
        const McRow *row = &d->rows[i];

        if (row->end) {
            good = NULL;
            continue;
        }
        good = row->line ? row : good;
        if (row->address <= address && address < row[1].address) {
            return good ? good : row;
        }
    }
    return NULL;
}

static bool find_symbol(const McDwarf *d, uint64_t address, McFrame *frame)
{
    McSection table = d->sec[MC_SEC_SYMTAB], names = d->sec[MC_SEC_STRTAB];
    uint64_t best = 0;
    uint32_t name = 0;
    bool found = false;
    McReader r;

    for (size_t i = 0; i + sizeof(Elf64_Sym) <= table.size;
         i += sizeof(Elf64_Sym)) {
        Elf64_Sym s;

        memcpy(&s, table.data + i, sizeof(s));
        if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || address < s.st_value ||
            (s.st_size && address - s.st_value >= s.st_size) ||
            (found && s.st_value < best)) {
            continue;
        }
        if (s.st_name < names.size && names.data[s.st_name]) {
            name = s.st_name;
            best = s.st_value;
            found = true;
        }
    }
    if (found) {
        r = mc_reader(names, name);
        frame->function = mc_read_string(&r);
        frame->offset = address - best;
    }
    return found && frame->function;
}

/* The next scope inwards that contains the address. */
static const McScope *inner_scope(const McDwarf *d, uint64_t address,
                                  const McScope *outer)
{
    const McScope *best = NULL;

    for (size_t i = 0; i < d->num_scopes; i++) {
        const McScope *s = &d->scopes[i];

        if (s->low <= address && address < s->high &&
            (outer ? s->inlined && s->unit == outer->unit &&
                         s->depth > outer->depth && s > outer
                   : !s->inlined) &&
            (!best || s->depth < best->depth)) {
            best = s;
        }
    }
    return best;
}

unsigned mc_dwarf_find(const McDwarf *d, uint64_t address, McFrame *frames,
                       unsigned max)
{
    const McScope *chain[MC_FRAMES_MAX];
    const McScope *scope = NULL;
    const McRow *row = find_row(d, address);
    unsigned count = 0, n = 0;

    while (count < MC_FRAMES_MAX &&
           (scope = inner_scope(d, address, scope)) != NULL) {
        chain[count++] = scope;
    }
    if (!count || !row) {
        memset(frames, 0, sizeof(*frames));
        if (row) {
            file_name(d, row->file, frames->file, sizeof(frames->file));
            frames->line = row->line;
            frames->column = row->column;
        }
        return find_symbol(d, address, frames) || row;
    }
    for (unsigned i = count; i-- > 0 && n < max; n++) {
        McFrame *f = &frames[n];
        uint32_t file = i + 1 == count ? row->file : chain[i + 1]->call_file;

        memset(f, 0, sizeof(*f));
        f->function = chain[i]->function;
        f->line = i + 1 == count ? row->line : chain[i + 1]->call_line;
        f->column = i + 1 == count ? row->column : chain[i + 1]->call_column;
        file_name(d, file, f->file, sizeof(f->file));
    }
    /* The entry of a kernel has its name, too, and nothing to show. */
    if (n > 1 && !frames[n - 1].column && frames[n - 1].function &&
        frames[n - 2].function &&
        strcmp(frames[n - 1].function, frames[n - 2].function) == 0) {
        n--;
    }
    return n;
}
