/* SPDX-License-Identifier: MIT */
/* An object file that LLVM has made as one piece of memory: the function, and
 * the constants that it refers to. */
#include "link.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

typedef struct Object {
    const uint8_t *bytes;
    size_t size;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
    uint64_t *at; /* of each section in the result; UINT64_MAX: not in it */
    uint8_t *out;
} Object;

static bool inside(const Object *o, uint64_t at, uint64_t size)
{
    return at <= o->size && size <= o->size - at;
}

static bool open_object(Object *o)
{
    o->header = (const Elf64_Ehdr *)o->bytes;
    if (o->size < sizeof(*o->header) ||
        memcmp(o->header->e_ident, ELFMAG, SELFMAG) ||
        o->header->e_machine != EM_X86_64 ||
        o->header->e_shentsize != sizeof(Elf64_Shdr) ||
        !inside(o, o->header->e_shoff,
                (uint64_t)o->header->e_shnum * sizeof(Elf64_Shdr))) {
        return false;
    }
    o->sections = (const Elf64_Shdr *)(o->bytes + o->header->e_shoff);
    return true;
}

/* Code and constants; what tells how to unwind is not needed. */
static bool is_kept(const Elf64_Shdr *s)
{
    return s->sh_flags & SHF_ALLOC && s->sh_type == SHT_PROGBITS && s->sh_size;
}

static bool is_code(const Elf64_Shdr *s)
{
    return is_kept(s) && s->sh_flags & SHF_EXECINSTR;
}

/* Code first, so that its beginning is in the first page. */
static uint64_t lay_out(Object *o)
{
    uint64_t end = 0;

    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < o->header->e_shnum; i++) {
            const Elf64_Shdr *s = &o->sections[i];
            uint64_t align = s->sh_addralign ? s->sh_addralign : 1;

            if (!is_kept(s) || is_code(s) != (pass == 0)) {
                continue;
            }
            if (!inside(o, s->sh_offset, s->sh_size) || align > 4096) {
                return 0;
            }
            end = (end + align - 1) / align * align;
            o->at[i] = end;
            end += s->sh_size;
        }
    }
    return end <= JIT_REPLY_MAX ? end : 0;
}

/* Where a symbol is; UINT64_MAX: not here. */
static uint64_t symbol_at(const Object *o, const Elf64_Shdr *table,
                          uint64_t index)
{
    const Elf64_Sym *symbols = (const Elf64_Sym *)(o->bytes + table->sh_offset);
    const Elf64_Sym *s = &symbols[index];

    if (index >= table->sh_size / sizeof(*s) || s->st_shndx == SHN_UNDEF ||
        s->st_shndx >= o->header->e_shnum || o->at[s->st_shndx] == UINT64_MAX) {
        return UINT64_MAX;
    }
    return o->at[s->st_shndx] + s->st_value;
}

/* One reference; false: to something that is not here. */
static bool relocate(const Object *o, const Elf64_Shdr *table, uint64_t base,
                     const Elf64_Rela *r)
{
    uint64_t to = symbol_at(o, table, ELF64_R_SYM(r->r_info));
    uint64_t from = base + r->r_offset;
    uint64_t distance = to + (uint64_t)r->r_addend - from;
    uint32_t word = (uint32_t)distance;

    if (to == UINT64_MAX) {
        return false;
    }
    switch (ELF64_R_TYPE(r->r_info)) {
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
        memcpy(o->out + from, &word, sizeof(word));
        return true;
    case R_X86_64_PC64:
        memcpy(o->out + from, &distance, sizeof(distance));
        return true;
    default:
        return false;
    }
}

static bool relocate_section(const Object *o, const Elf64_Shdr *rela)
{
    const Elf64_Rela *r = (const Elf64_Rela *)(o->bytes + rela->sh_offset);
    const Elf64_Shdr *table = &o->sections[rela->sh_link];
    const Elf64_Shdr *target = &o->sections[rela->sh_info];

    if (rela->sh_link >= o->header->e_shnum ||
        rela->sh_info >= o->header->e_shnum ||
        !inside(o, rela->sh_offset, rela->sh_size) ||
        !inside(o, table->sh_offset, table->sh_size)) {
        return false;
    }
    if (o->at[rela->sh_info] == UINT64_MAX) {
        return true;
    }
    for (uint64_t i = 0; i < rela->sh_size / sizeof(*r); i++) {
        if (r[i].r_offset > target->sh_size ||
            target->sh_size - r[i].r_offset < 4 ||
            !relocate(o, table, o->at[rela->sh_info], &r[i])) {
            return false;
        }
    }
    return true;
}

static bool fill(Object *o)
{
    for (unsigned i = 0; i < o->header->e_shnum; i++) {
        if (o->at[i] != UINT64_MAX) {
            memcpy(o->out + o->at[i], o->bytes + o->sections[i].sh_offset,
                   o->sections[i].sh_size);
        }
    }
    for (unsigned i = 0; i < o->header->e_shnum; i++) {
        if (o->sections[i].sh_type == SHT_RELA &&
            !relocate_section(o, &o->sections[i])) {
            return false;
        }
    }
    return true;
}

uint8_t *jit_link(const uint8_t *object, size_t size, JitReply *reply)
{
    Object o = {.bytes = object, .size = size};
    uint64_t bytes;

    if (!open_object(&o)) {
        return NULL;
    }
    o.at = malloc(o.header->e_shnum * sizeof(*o.at));
    if (!o.at) {
        return NULL;
    }
    memset(o.at, 0xff, o.header->e_shnum * sizeof(*o.at));
    bytes = lay_out(&o);
    o.out = bytes ? calloc(1, bytes + 8) : NULL;
    if (o.out && !fill(&o)) {
        free(o.out);
        o.out = NULL;
    }
    free(o.at);
    *reply = (JitReply){(uint32_t)bytes, 0};
    return o.out;
}
