/* SPDX-License-Identifier: MIT */
/*
 * On libdw, which is loaded when it is first needed, and may be missing. It
 * checks what it reads, but was not made for files whose makers wish us ill:
 * some of its functions recurse as deep as a file says (dwarf_getscopes), look
 * at a table again for each reference to it, inflate sections, or open other
 * files that are named in this one (dwz, split units). So only those are called
 * that do none of this, of units that are whole, and steps are counted.
 */
#define _GNU_SOURCE
#include "dwarf.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab.h"

#define LIBRARY   "libdw.so.1"
#define MAX_DEBUG (64u << 20) /* bytes of debugging sections */
#define MAX_UNITS 4096u
#define MAX_SPACE 16u         /* name spaces in each other */
#define WORK      (1u << 20)  /* DIEs, ranges and lines looked at */

/* ---- the library ---- */

#define FUNCTIONS(F)                                                           \
    F(elf_version) F(elf_memory) F(elf_end) F(elf_nextscn) F(elf_strptr)       \
    F(elf_getshdrstrndx) F(gelf_getehdr) F(gelf_getshdr)                       \
    F(dwarf_begin_elf) F(dwarf_end) F(dwarf_get_units) F(dwarf_attr)           \
    F(dwarf_attr_integrate) F(dwarf_hasattr) F(dwarf_formstring)               \
    F(dwarf_formudata) F(dwarf_diename) F(dwarf_tag) F(dwarf_child)            \
    F(dwarf_siblingof) F(dwarf_ranges) F(dwarf_getsrclines)                    \
    F(dwarf_onesrcline) F(dwarf_lineaddr) F(dwarf_lineno) F(dwarf_linecol)     \
    F(dwarf_linesrc) F(dwarf_lineendsequence) F(dwarf_getsrcfiles)             \
    F(dwarf_filesrc)

#define POINTER(name) static __typeof__(name) *p_##name;
FUNCTIONS(POINTER)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool loaded;

static void load(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    loaded = library != NULL;
#define FIND(name)                                                             \
    if (loaded) {                                                              \
        *(void **)&p_##name = dlsym(library, #name);                           \
        loaded = p_##name != NULL;                                             \
    }
    FUNCTIONS(FIND)
    if (loaded) {
        loaded = p_elf_version(EV_CURRENT) != EV_NONE;
    }
}

bool mc_dwarf_available(void)
{
    pthread_once(&once, load);
    return loaded;
}

/* ---- the file ---- */

struct McDwarf {
    const void *file;
    size_t size;
    Elf *elf;
    Dwarf *dwarf; /* NULL: there is none that is read */
    unsigned work;
};

static bool charge(McDwarf *d)
{
    return d->work && --d->work;
}

/* Whether the library can read it without inflating or opening anything. */
static bool is_plain(Elf *elf)
{
    uint64_t total = 0;
    GElf_Ehdr header;
    Elf_Scn *scn = NULL;
    size_t names;

    if (!p_gelf_getehdr(elf, &header) ||
        header.e_ident[EI_CLASS] != ELFCLASS64 ||
        p_elf_getshdrstrndx(elf, &names)) {
        return false;
    }
    while ((scn = p_elf_nextscn(elf, scn)) != NULL) {
        GElf_Shdr section;
        const char *name;

        if (!p_gelf_getshdr(scn, &section) ||
            !(name = p_elf_strptr(elf, names, section.sh_name)) ||
            (section.sh_flags & SHF_COMPRESSED) ||
            strncmp(name, ".zdebug", 7) == 0 ||
            strcmp(name, ".gnu_debugaltlink") == 0) {
            return false;
        }
        if (strncmp(name, ".debug", 6) == 0) {
            total += section.sh_size < MAX_DEBUG ? section.sh_size : MAX_DEBUG;
        }
    }
    return total < MAX_DEBUG;
}

McDwarf *mc_dwarf_open(const void *file, size_t size)
{
    McDwarf *d = calloc(1, sizeof(*d));

    if (!d) {
        return NULL;
    }
    *d = (McDwarf){.file = file, .size = size};
    if (mc_dwarf_available()) {
        d->elf = p_elf_memory((char *)(uintptr_t)file, size);
    }
    if (d->elf && is_plain(d->elf)) {
        d->dwarf = p_dwarf_begin_elf(d->elf, DWARF_C_READ, NULL);
    }
    return d;
}

void mc_dwarf_close(McDwarf *d)
{
    if (d && d->elf) {
        p_dwarf_end(d->dwarf);
        p_elf_end(d->elf);
    }
    free(d);
}

/* ---- what contains an address ---- */

static bool has_code(Dwarf_Die *die)
{
    return p_dwarf_hasattr(die, DW_AT_low_pc) ||
           p_dwarf_hasattr(die, DW_AT_ranges);
}

static bool contains(McDwarf *d, Dwarf_Die *die, uint64_t address)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t at = 0;

    while (charge(d) &&
           (at = p_dwarf_ranges(die, at, &base, &low, &high)) > 0) {
        if (low <= address && address < high) {
            return true;
        }
    }
    return false;
}

static bool find_unit(McDwarf *d, uint64_t address, Dwarf_Die *die)
{
    Dwarf_CU *unit = NULL;

    for (unsigned i = 0; i < MAX_UNITS; i++) {
        Dwarf_Half version;
        uint8_t type;

        if (p_dwarf_get_units(d->dwarf, unit, &unit, &version, &type, die,
                              NULL) != 0) {
            return false;
        }
        if (type == DW_UT_compile && contains(d, die, address)) {
            return true;
        }
    }
    return false;
}

/* The first child of a DIE that is code with the address; those without code
 * are looked into, if they are name spaces. */
static bool find_inner(McDwarf *d, uint64_t address, Dwarf_Die *outer,
                       Dwarf_Die *found)
{
    Dwarf_Die space[MAX_SPACE], die;
    unsigned depth = 0;
    int end = p_dwarf_child(outer, &die);

    while (charge(d)) {
        if (end) {
            if (!depth) {
                return false;
            }
            die = space[--depth];
        } else if (has_code(&die)) {
            if (contains(d, &die, address)) {
                *found = die;
                return true;
            }
        } else if (p_dwarf_tag(&die) == DW_TAG_namespace &&
                   depth < MAX_SPACE) {
            space[depth++] = die;
            end = p_dwarf_child(&space[depth - 1], &die);
            continue;
        }
        end = p_dwarf_siblingof(&die, &die);
    }
    return false;
}

/* The function and those inlined, outermost first. */
static unsigned find_functions(McDwarf *d, uint64_t address, Dwarf_Die *unit,
                               Dwarf_Die *chain)
{
    Dwarf_Die scope = *unit;
    unsigned count = 0;

    while (count < MC_FRAMES_MAX && find_inner(d, address, &scope, &scope)) {
        int tag = p_dwarf_tag(&scope);

        if (tag == (count ? DW_TAG_inlined_subroutine : DW_TAG_subprogram)) {
            chain[count++] = scope;
        }
    }
    return count;
}

/* ---- lines ---- */

/* Line 0 is code of no line in particular: the one before it counts. */
static Dwarf_Line *find_line(McDwarf *d, uint64_t address, Dwarf_Die *unit)
{
    Dwarf_Line *good = NULL, *now, *next;
    Dwarf_Lines *lines;
    size_t count;

    if (p_dwarf_getsrclines(unit, &lines, &count) != 0) {
        return NULL;
    }
    for (size_t i = 0; i + 1 < count && charge(d); i++) {
        Dwarf_Addr from, to;
        bool end;
        int line;

        now = p_dwarf_onesrcline(lines, i);
        next = p_dwarf_onesrcline(lines, i + 1);
        if (!now || !next || p_dwarf_lineendsequence(now, &end) ||
            p_dwarf_lineaddr(now, &from) || p_dwarf_lineaddr(next, &to) ||
            p_dwarf_lineno(now, &line)) {
            return NULL;
        }
        if (end) {
            good = NULL;
            continue;
        }
        good = line ? now : good;
        if (from <= address && address < to) {
            return good ? good : now;
        }
    }
    return NULL;
}

/* Names may be relative to where the compiler ran. */
static void set_file(Dwarf_Die *unit, const char *file, McFrame *frame)
{
    Dwarf_Attribute attribute;
    const char *from = NULL;

    if (file && file[0] != '/') {
        from = p_dwarf_formstring(
            p_dwarf_attr(unit, DW_AT_comp_dir, &attribute));
        from = from && strncmp(file, from, strlen(from)) ? from : NULL;
    }
    snprintf(frame->file, sizeof(frame->file), "%s%s%s", from ? from : "",
             from ? "/" : "", file ? file : "");
}

static void place_of_line(Dwarf_Die *unit, Dwarf_Line *line, McFrame *frame)
{
    int number = 0, column = 0;

    p_dwarf_lineno(line, &number);
    p_dwarf_linecol(line, &column);
    set_file(unit, p_dwarf_linesrc(line, NULL, NULL), frame);
    frame->line = (unsigned)number;
    frame->column = (unsigned)column;
}

static uint64_t number(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;

    return p_dwarf_formudata(p_dwarf_attr(die, name, &attribute), &value) == 0
               ? value
               : 0;
}

/* Where an inlined function was called. */
static void place_of_call(Dwarf_Die *unit, Dwarf_Die *inlined, McFrame *frame)
{
    Dwarf_Files *files;
    size_t count;
    uint64_t file = number(inlined, DW_AT_call_file);
    bool known = p_dwarf_getsrcfiles(unit, &files, &count) == 0 &&
                 file < count;

    set_file(unit, known ? p_dwarf_filesrc(files, file, NULL, NULL) : NULL,
             frame);
    frame->line = (unsigned)number(inlined, DW_AT_call_line);
    frame->column = (unsigned)number(inlined, DW_AT_call_column);
}

static const char *function_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = p_dwarf_formstring(
        p_dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));

    return name ? name : p_dwarf_diename(die);
}

/* The entry of a kernel has its name, too, and nothing to show. */
static bool is_entry(const McFrame *frame, const McFrame *inner)
{
    return !frame->column && frame->function && inner->function &&
           strcmp(frame->function, inner->function) == 0;
}

static unsigned find_frames(McDwarf *d, uint64_t address, McFrame *frames,
                            unsigned max)
{
    Dwarf_Die unit, chain[MC_FRAMES_MAX];
    Dwarf_Line *line;
    unsigned n = 0;

    if (!d->dwarf || !find_unit(d, address, &unit) ||
        !(line = find_line(d, address, &unit))) {
        return 0;
    }
    unsigned count = find_functions(d, address, &unit, chain);
    if (!count) {
        place_of_line(&unit, line, &frames[0]);
        mc_symtab_find(d->file, d->size, address, &frames[0].function,
                       &frames[0].offset);
        return 1;
    }
    for (unsigned i = count; i-- > 0 && n < max; n++) {
        frames[n].function = function_name(&chain[i]);
        if (i + 1 == count) {
            place_of_line(&unit, line, &frames[n]);
        } else {
            place_of_call(&unit, &chain[i + 1], &frames[n]);
        }
    }
    return n > 1 && is_entry(&frames[n - 1], &frames[n - 2]) ? n - 1 : n;
}

unsigned mc_dwarf_find(McDwarf *d, uint64_t address, McFrame *frames,
                       unsigned max)
{
    memset(frames, 0, max * sizeof(*frames));
    d->work = WORK;
    unsigned n = find_frames(d, address, frames, max);

    if (!n && mc_symtab_find(d->file, d->size, address, &frames[0].function,
                             &frames[0].offset)) {
        n = 1;
    }
    return n;
}
