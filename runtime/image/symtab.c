/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memrchr */
#include "symtab.h"

#include <elf.h>
#include <string.h>

typedef struct Section {
    const uint8_t *data;
    uint64_t size;
} Section;

/* The section header of that number, and its contents; false: it has none in
 * the file. */
static bool get_section(const uint8_t *file, size_t size, unsigned number,
                        Elf64_Shdr *header, Section *section)
{
    Elf64_Ehdr eh;

    memcpy(&eh, file, sizeof(eh));
    if (number >= eh.e_shnum) {
        return false;
    }
    memcpy(header, file + eh.e_shoff + number * sizeof(*header),
           sizeof(*header));
    if (header->sh_type == SHT_NOBITS || header->sh_offset > size ||
        header->sh_size > size - header->sh_offset) {
        return false;
    }
    *section = (Section){file + header->sh_offset, header->sh_size};
    return true;
}

/* The symbol table and its strings. */
static bool find_table(const uint8_t *file, size_t size, Section *symbols,
                       Section *strings)
{
    Elf64_Ehdr eh;
    Elf64_Shdr sh;

    if (size < sizeof(eh)) {
        return false;
    }
    memcpy(&eh, file, sizeof(eh));
    if (memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
        eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_shentsize != sizeof(sh) ||
        eh.e_shoff > size || eh.e_shnum > (size - eh.e_shoff) / sizeof(sh)) {
        return false;
    }
    for (unsigned i = 0; i < eh.e_shnum; i++) {
        if (get_section(file, size, i, &sh, symbols) &&
            sh.sh_type == SHT_SYMTAB &&
            get_section(file, size, sh.sh_link, &sh, strings)) {
            const uint8_t *nul = memrchr(strings->data, 0, strings->size);

            /* Every string that begins in it ends in it. */
            strings->size = nul ? (uint64_t)(nul - strings->data) : 0;
            return true;
        }
    }
    return false;
}

bool mc_symtab_find(const void *file, size_t size, uint64_t address,
                    const char **name, uint64_t *offset)
{
    Section symbols, strings;
    uint64_t best = 0;
    bool found = false;

    if (!find_table(file, size, &symbols, &strings)) {
        return false;
    }
    for (uint64_t i = 0; i + sizeof(Elf64_Sym) <= symbols.size;
         i += sizeof(Elf64_Sym)) {
        Elf64_Sym s;

        memcpy(&s, symbols.data + i, sizeof(s));
        if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || address < s.st_value ||
            (s.st_size && address - s.st_value >= s.st_size) ||
            (found && s.st_value < best) || s.st_name >= strings.size ||
            !strings.data[s.st_name]) {
            continue;
        }
        *name = (const char *)strings.data + s.st_name;
        best = s.st_value;
        found = true;
    }
    *offset = address - best;
    return found;
}
