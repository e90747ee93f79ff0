/* SPDX-License-Identifier: MIT */
/*
 * The linked image: checks that it is what a loader may be given, fills in
 * what only finished code tells, and writes it, alone or in a container.
 */
#include "kl.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "mxgpu/fatbin.h"

#ifndef EM_RISCV
#define EM_RISCV 243
#endif
/* <cxxabi.h>, of the C++ library that LLVM brings */
char *__cxa_demangle(const char *name, char *buffer, size_t *size,
                     int *status);

#define RISCV_64       2
#define RISCV_RELATIVE 3

typedef struct Image {
    Kl *kl;
    uint8_t *data;
    size_t size;
    const Elf64_Ehdr *ehdr;
    const Elf64_Phdr *phdr;
    const Elf64_Shdr *shdr;
} Image;

static bool bad(const char *what)
{
    kl_error("internal error: the linked image %s", what);
    return false;
}

static bool inside(const Image *im, uint64_t offset, uint64_t size)
{
    return offset <= im->size && size <= im->size - offset;
}

static bool open_image(Image *im)
{
    const Elf64_Ehdr *e = (const void *)im->data;

    if (im->size < sizeof(*e) || memcmp(e->e_ident, ELFMAG, SELFMAG) ||
        e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_machine != EM_RISCV ||
        e->e_type != ET_DYN || e->e_phentsize != sizeof(Elf64_Phdr) ||
        e->e_shentsize != sizeof(Elf64_Shdr) ||
        !inside(im, e->e_phoff, (uint64_t)e->e_phnum * sizeof(Elf64_Phdr)) ||
        !inside(im, e->e_shoff, (uint64_t)e->e_shnum * sizeof(Elf64_Shdr))) {
        return bad("is no RISC-V shared object");
    }
    im->ehdr = e;
    im->phdr = (const void *)(im->data + e->e_phoff);
    im->shdr = (const void *)(im->data + e->e_shoff);
    for (unsigned i = 0; i < e->e_shnum; i++) {
        const Elf64_Shdr *s = &im->shdr[i];

        if (s->sh_type != SHT_NOBITS && !inside(im, s->sh_offset, s->sh_size)) {
            return bad("is truncated");
        }
    }
    return true;
}

/* File contents at an address; NULL when not size bytes of one segment. */
static void *at(const Image *im, uint64_t addr, uint64_t size)
{
    for (unsigned i = 0; i < im->ehdr->e_phnum; i++) {
        const Elf64_Phdr *p = &im->phdr[i];

        if (p->p_type == PT_LOAD && addr >= p->p_vaddr &&
            addr - p->p_vaddr <= p->p_filesz &&
            size <= p->p_filesz - (addr - p->p_vaddr) &&
            inside(im, p->p_offset, p->p_filesz)) {
            return im->data + p->p_offset + (addr - p->p_vaddr);
        }
    }
    return NULL;
}

static bool check_relocs(const Image *im)
{
    for (unsigned i = 0; i < im->ehdr->e_shnum; i++) {
        const Elf64_Shdr *s = &im->shdr[i];
        const Elf64_Rela *r = (const void *)(im->data + s->sh_offset);

        if (s->sh_type != SHT_RELA || !(s->sh_flags & SHF_ALLOC)) {
            continue;
        }
        for (uint64_t n = s->sh_size / sizeof(*r); n; n--, r++) {
            if (ELF64_R_TYPE(r->r_info) != RISCV_RELATIVE &&
                ELF64_R_TYPE(r->r_info) != RISCV_64) {
                return bad("has unexpected relocations");
            }
        }
    }
    return true;
}

static bool check_tls(const Image *im)
{
    for (unsigned i = 0; i < im->ehdr->e_phnum; i++) {
        const Elf64_Phdr *p = &im->phdr[i];

        if (p->p_type == PT_TLS && (p->p_memsz > KL_TLS_BYTES || p->p_filesz)) {
            kl_error("a kernel uses thread-local variables, which are not "
                     "supported");
            return false;
        }
    }
    return true;
}

static const Elf64_Sym *symbols(const Image *im, uint64_t *count,
                                const char **names, uint64_t *names_size)
{
    for (unsigned i = 0; i < im->ehdr->e_shnum; i++) {
        const Elf64_Shdr *s = &im->shdr[i];

        if (s->sh_type == SHT_SYMTAB && s->sh_link < im->ehdr->e_shnum) {
            *count = s->sh_size / sizeof(Elf64_Sym);
            *names = (const char *)im->data +
                     im->shdr[s->sh_link].sh_offset;
            *names_size = im->shdr[s->sh_link].sh_size;
            return (const void *)(im->data + s->sh_offset);
        }
    }
    *count = 0;
    return NULL;
}

static const char *name_of(const Elf64_Sym *sym, const char *names,
                           uint64_t size)
{
    if (sym->st_name >= size ||
        !memchr(names + sym->st_name, 0, size - sym->st_name)) {
        return "";
    }
    return names + sym->st_name;
}

static bool read_bytes(void *opaque, uint64_t addr, void *data, size_t size)
{
    const void *from = at(opaque, addr, size);

    if (from) {
        memcpy(data, from, size);
    }
    return from;
}

static void add_function(const Image *im, KlCode *code, const Elf64_Sym *sym,
                         const char *name)
{
    LLVMValueRef fn = LLVMGetNamedFunction(im->kl->module, name);
    KlCodeFn add = {
        .name = name,
        .addr = sym->st_value,
        .size = sym->st_size,
        .text = at(im, sym->st_value, sym->st_size),
        .calls = fn ? kl_calls_of(fn) : KL_CALLS_UNKNOWN,
    };

    if (add.text) {
        kl_code_add(code, &add);
    }
}

/* ---- code that is of no function: assembly without types and sizes */

static bool is_code(const Image *im, const Elf64_Sym *sym, const char *name)
{
    unsigned type = ELF64_ST_TYPE(sym->st_info);

    return (type == STT_FUNC || type == STT_NOTYPE) &&
           sym->st_shndx < im->ehdr->e_shnum && name[0] != '$' && name[0] &&
           (im->shdr[sym->st_shndx].sh_flags & SHF_EXECINSTR);
}

typedef struct Label {
    const char *name;
    uint64_t addr, size; /* size 0: up to the next label */
} Label;

static int by_address(const void *a, const void *b)
{
    const Label *x = a, *y = b;

    return x->addr != y->addr ? (x->addr < y->addr ? -1 : 1)
                              : (x->size < y->size) - (x->size > y->size);
}

/* What may be called between two functions counts as functions, too, from each
 * label to the next. */
static void add_between(const Image *im, KlCode *code, uint64_t from,
                        uint64_t to, const char *name)
{
    KlCodeFn add = {
        .name = name,
        .addr = from,
        .size = to - from,
        .text = at(im, from, to - from),
        .falls = true,
    };

    if (from < to && add.text) {
        kl_code_add(code, &add);
    }
}

static void add_rest(const Image *im, KlCode *code, const Elf64_Shdr *s,
                     const Label *label, uint64_t count)
{
    uint64_t done = s->sh_addr, end = s->sh_addr + s->sh_size;
    const char *name = "assembly";

    for (; count; count--, label++) {
        if (label->addr < done || label->addr >= end) {
            continue; /* inside a function, or of another section */
        }
        add_between(im, code, done, label->addr, name);
        done = label->addr + label->size;
        name = label->size ? "assembly" : label->name;
    }
    add_between(im, code, done, end, name);
}

static void read_rest(const Image *im, KlCode *code)
{
    const char *names;
    uint64_t count, names_size, n = 0;
    const Elf64_Sym *sym = symbols(im, &count, &names, &names_size);
    Label *labels = kl_alloc((count + 1) * sizeof(*labels));

    for (; count; count--, sym++) {
        const char *name = name_of(sym, names, names_size);

        if (is_code(im, sym, name)) {
            labels[n++] = (Label){
                name, sym->st_value,
                ELF64_ST_TYPE(sym->st_info) == STT_FUNC ? sym->st_size : 0,
            };
        }
    }
    qsort(labels, n, sizeof(*labels), by_address);
    for (unsigned i = 0; i < im->ehdr->e_shnum; i++) {
        if (im->shdr[i].sh_flags & SHF_EXECINSTR) {
            add_rest(im, code, &im->shdr[i], labels, n);
        }
    }
    free(labels);
}

/* Looks through every function; returns the address of the descriptors. */
static uint64_t read_code(const Image *im, KlCode *code)
{
    const char *names;
    uint64_t count, names_size, descs = 0;
    const Elf64_Sym *sym = symbols(im, &count, &names, &names_size);

    for (; count; count--, sym++) {
        const char *name = name_of(sym, names, names_size);

        if (ELF64_ST_TYPE(sym->st_info) == STT_FUNC && sym->st_size) {
            add_function(im, code, sym, name);
        } else if (!strcmp(name, "__mx_kernel_descs")) {
            descs = sym->st_value;
        }
    }
    read_rest(im, code);
    return descs;
}

static bool fill_note(const Image *im, uint64_t descs)
{
    for (unsigned i = 0; i < im->ehdr->e_shnum; i++) {
        const Elf64_Shdr *s = &im->shdr[i];
        const Elf64_Nhdr *n = (const void *)(im->data + s->sh_offset);
        uint8_t *desc = im->data + s->sh_offset + sizeof(*n) + 8;

        if (s->sh_type == SHT_NOTE &&
            s->sh_size == sizeof(*n) + 8 + sizeof(struct mxgpu_kernel_note) &&
            n->n_type == MXGPU_NOTE_KERNELS &&
            !strcmp((const char *)(n + 1), MXGPU_NOTE_OWNER)) {
            memcpy(desc + offsetof(struct mxgpu_kernel_note, descs), &descs,
                   sizeof(descs));
            return true;
        }
    }
    return bad("has no kernel note");
}

static char *explain(const KlUse *use)
{
    char *name = kl_printf("%s", use->where), *plain, *text;
    char *body = strstr(name, ".body"); /* entry.c: of a kernel */

    if (body) {
        *body = 0;
    }
    plain = __cxa_demangle(name, NULL, NULL, NULL);
    text = kl_printf("%s %s", plain ? plain : name, use->why);
    free(plain);
    free(name);
    return text;
}

static bool fill_desc(const Image *im, KlKernel *kernel, KlCode *code,
                      uint64_t addr)
{
    struct mxgpu_kernel_desc *desc = at(im, addr, sizeof(*desc));
    KlUse use;

    if (!desc || desc->magic != MXGPU_KERNEL_MAGIC ||
        !kl_code_use(code, desc->entry, &use)) {
        return bad("has no kernel descriptors");
    }
    if (use.tp && !kernel->has_tls) {
        return bad("uses thread-local data without a place for it");
    }
    kernel->registers = use.registers;
    kernel->private_bytes = use.stack;
    if (!use.stack) {
        kernel->why_unknown = explain(&use);
    }
    desc->registers = use.registers;
    desc->flags = use.fp_flags ? MXGPU_KERNEL_FP_FLAGS : 0;
    desc->private_bytes = use.stack > UINT32_MAX ? 0 : use.stack;
    if (use.stack > MXGPU_PRIVATE_MAX) {
        kl_kernel_error(kernel, "needs %llu bytes of stack, at most %llu are "
                        "possible", (unsigned long long)use.stack,
                        (unsigned long long)MXGPU_PRIVATE_MAX);
        return false;
    }
    return true;
}

static bool write_container(const char *path, const uint8_t *elf, size_t size)
{
    size_t total = MXGPU_FATBIN_ALIGN + size;
    uint8_t *bytes = kl_alloc(total);
    struct mxgpu_fatbin_header header = {
        .magic = MXGPU_FATBIN_MAGIC,
        .version = MXGPU_FATBIN_VERSION,
        .count = 1,
        .total_size = total,
    };
    struct mxgpu_fatbin_entry entry = {
        .offset = MXGPU_FATBIN_ALIGN,
        .size = size,
        .target = MXGPU_FATBIN_TARGET,
    };

    memcpy(bytes, &header, sizeof(header));
    memcpy(bytes + sizeof(header), &entry, sizeof(entry));
    memcpy(bytes + MXGPU_FATBIN_ALIGN, elf, size);
    return kl_write_file(path, bytes, total);
}

bool kl_finish_image(Kl *kl, const char *elf, const char *out, bool container)
{
    Image im = { .kl = kl };
    KlCode *code = kl_code_new(read_bytes, &im);
    uint64_t descs;
    bool ok;

    im.data = kl_read_file(elf, &im.size);
    ok = im.data && open_image(&im) && check_relocs(&im) && check_tls(&im);
    if (ok) {
        descs = read_code(&im, code);
        ok = descs ? fill_note(&im, descs) : bad("has no kernel descriptors");
        for (unsigned i = 0; ok && i < kl->count; i++) {
            ok = fill_desc(&im, &kl->kernels[i], code,
                           descs + i * sizeof(struct mxgpu_kernel_desc));
        }
    }
    kl_code_free(code);
    if (ok) {
        ok = container ? write_container(out, im.data, im.size)
                       : kl_write_file(out, im.data, im.size);
    }
    return ok;
}
