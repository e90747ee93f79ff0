/* SPDX-License-Identifier: MIT */
#include "image.h"

#include <stdbool.h>
#include <string.h>

#ifndef EM_RISCV
#define EM_RISCV 243
#endif

static const Elf64_Ehdr *ehdr(const TestImage *im)
{
    return (const void *)im->elf;
}

static const Elf64_Shdr *shdr(const TestImage *im, unsigned i)
{
    return (const Elf64_Shdr *)(im->elf + ehdr(im)->e_shoff) + i;
}

const void *test_image_at(const TestImage *im, guint64 addr, gsize size,
                          unsigned flags)
{
    const Elf64_Phdr *p = (const void *)(im->elf + ehdr(im)->e_phoff);

    for (unsigned i = 0; i < ehdr(im)->e_phnum; i++, p++) {
        if (p->p_type == PT_LOAD && addr >= p->p_vaddr &&
            addr + size <= p->p_vaddr + p->p_filesz &&
            (p->p_flags & flags) == flags) {
            return im->elf + p->p_offset + (addr - p->p_vaddr);
        }
    }
    return NULL;
}

static void check_segments(const TestImage *im)
{
    const Elf64_Phdr *p = (const void *)(im->elf + ehdr(im)->e_phoff);

    g_assert_cmpmem(im->elf, SELFMAG, ELFMAG, SELFMAG);
    g_assert_cmpint(ehdr(im)->e_machine, ==, EM_RISCV);
    g_assert_cmpint(ehdr(im)->e_type, ==, ET_DYN);
    for (unsigned i = 0; i < ehdr(im)->e_phnum; i++, p++) {
        g_assert_cmpuint(p->p_offset + p->p_filesz, <=, im->elf_size);
        if (p->p_type == PT_LOAD) {
            g_assert_cmpuint(p->p_align, ==, 4096);
            g_assert_cmpuint((p->p_vaddr - p->p_offset) % 4096, ==, 0);
            g_assert_false((p->p_flags & PF_W) && (p->p_flags & PF_X));
        }
        g_assert_cmpint(p->p_type, !=, PT_INTERP);
    }
}

static void check_relocs(const TestImage *im)
{
    for (unsigned i = 0; i < ehdr(im)->e_shnum; i++) {
        const Elf64_Shdr *s = shdr(im, i);
        const Elf64_Rela *r = (const void *)(im->elf + s->sh_offset);

        g_assert_cmpint(s->sh_type, !=, SHT_REL);
        if (s->sh_type != SHT_RELA || !(s->sh_flags & SHF_ALLOC)) {
            continue;
        }
        for (gsize n = s->sh_size / sizeof(*r); n; n--, r++) {
            g_assert_cmpint(ELF64_R_TYPE(r->r_info), ==, 3 /* RELATIVE */);
            /* the file has the value already */
            g_assert_cmpmem(test_image_at(im, r->r_offset, 8, PF_R), 8,
                            &r->r_addend, 8);
        }
    }
}

static void find_descs(TestImage *im)
{
    const Elf64_Phdr *p = (const void *)(im->elf + ehdr(im)->e_phoff);
    struct mxgpu_kernel_note note = {0};
    bool found = false;

    for (unsigned i = 0; i < ehdr(im)->e_phnum; i++, p++) {
        const Elf64_Nhdr *n = (const void *)(im->elf + p->p_offset);

        if (p->p_type == PT_NOTE && n->n_type == MXGPU_NOTE_KERNELS) {
            g_assert_cmpstr((const char *)(n + 1), ==, MXGPU_NOTE_OWNER);
            g_assert_cmpuint(n->n_namesz, ==, sizeof(MXGPU_NOTE_OWNER));
            g_assert_cmpuint(n->n_descsz, ==, sizeof(note));
            /* Notes are aligned to 4 bytes only. */
            memcpy(&note, (const guint8 *)(n + 1) + 8, sizeof(note));
            found = true;
        }
    }
    g_assert_true(found);
    g_assert_cmpuint(note.abi, ==, MXGPU_KERNEL_ABI);
    g_assert_cmpuint(note.desc_size, ==, sizeof(struct mxgpu_kernel_desc));
    im->count = note.count;
    im->descs = test_image_at(im, note.descs,
                              note.count * sizeof(*im->descs), PF_R);
    g_assert_nonnull(im->descs);
}

static void check_desc(const TestImage *im, const struct mxgpu_kernel_desc *d)
{
    guint64 end = 0;

    g_assert_cmpuint(d->magic, ==, MXGPU_KERNEL_MAGIC);
    g_assert_cmpuint(d->abi, ==, MXGPU_KERNEL_ABI);
    g_assert_nonnull(test_image_at(im, d->entry, 4, PF_X));
    g_assert_nonnull(test_image_at(im, d->name, 1, PF_R));
    g_assert_cmpuint(d->static_shared, <=, MXGPU_SHARED_MAX);
    g_assert_cmpuint(d->private_bytes, <=, MXGPU_PRIVATE_MAX);
    g_assert_cmpuint(d->registers, >=, 1);
    g_assert_cmpuint(d->registers, <=, 255);
    g_assert_cmpuint(d->max_threads, <=, 1024);
    for (unsigned i = 0; i < d->arg_count; i++) {
        const struct mxgpu_kernel_arg *a = test_image_arg(im, d, i);

        g_assert_cmpuint(a->offset, >=, end);
        g_assert_cmpuint(a->offset % a->align, ==, 0);
        end = a->offset + a->size;
    }
    g_assert_cmpuint(d->arg_size, ==, end);
}

TestImage *test_image_open(const char *path)
{
    TestImage *im = g_new0(TestImage, 1);
    const struct mxgpu_fatbin_header *header;
    const struct mxgpu_fatbin_entry *entry;
    g_autoptr(GError) error = NULL;

    g_file_get_contents(path, (char **)&im->data, &im->size, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(im->size, >, sizeof(*header) + sizeof(*entry));
    header = (const void *)im->data;
    entry = (const void *)(header + 1);
    g_assert_cmpmem(header->magic, 8, MXGPU_FATBIN_MAGIC, 8);
    g_assert_cmpuint(header->version, ==, MXGPU_FATBIN_VERSION);
    g_assert_cmpuint(header->count, ==, 1);
    g_assert_cmpuint(header->total_size, ==, im->size);
    g_assert_cmpstr(entry->target, ==, MXGPU_FATBIN_TARGET);
    g_assert_cmpuint(entry->offset % MXGPU_FATBIN_ALIGN, ==, 0);
    g_assert_cmpuint(entry->offset + entry->size, ==, im->size);
    im->elf = im->data + entry->offset;
    im->elf_size = entry->size;
    check_segments(im);
    check_relocs(im);
    find_descs(im);
    for (unsigned i = 0; i < im->count; i++) {
        check_desc(im, &im->descs[i]);
    }
    return im;
}

void test_image_free(TestImage *im)
{
    g_free(im->data);
    g_free(im);
}

const struct mxgpu_kernel_desc *test_image_kernel(const TestImage *im,
                                                  const char *name)
{
    for (unsigned i = 0; i < im->count; i++) {
        const char *found = test_image_at(im, im->descs[i].name,
                                          strlen(name) + 1, PF_R);

        if (found && !strcmp(found, name)) {
            return &im->descs[i];
        }
    }
    g_error("no kernel %s", name);
}

const struct mxgpu_kernel_arg *
test_image_arg(const TestImage *im, const struct mxgpu_kernel_desc *desc,
               unsigned i)
{
    const struct mxgpu_kernel_arg *args;

    g_assert_cmpuint(i, <, desc->arg_count);
    args = test_image_at(im, desc->args, desc->arg_count * sizeof(*args), PF_R);
    g_assert_nonnull(args);
    return &args[i];
}

const Elf64_Sym *test_image_symbol(const TestImage *im, const char *name)
{
    for (unsigned i = 0; i < ehdr(im)->e_shnum; i++) {
        const Elf64_Shdr *s = shdr(im, i);
        const Elf64_Sym *sym = (const void *)(im->elf + s->sh_offset);
        const char *names;

        if (s->sh_type != SHT_DYNSYM) {
            continue;
        }
        names = (const char *)im->elf + shdr(im, s->sh_link)->sh_offset;
        for (gsize n = s->sh_size / sizeof(*sym); n; n--, sym++) {
            if (!strcmp(names + sym->st_name, name)) {
                return sym;
            }
        }
    }
    return NULL;
}

gboolean test_image_has_section(const TestImage *im, const char *name)
{
    const char *names = (const char *)im->elf +
                        shdr(im, ehdr(im)->e_shstrndx)->sh_offset;

    for (unsigned i = 0; i < ehdr(im)->e_shnum; i++) {
        if (!strcmp(names + shdr(im, i)->sh_name, name)) {
            return TRUE;
        }
    }
    return FALSE;
}
