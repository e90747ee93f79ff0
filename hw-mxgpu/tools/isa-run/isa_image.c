/* SPDX-License-Identifier: MIT */
/* Reads bare-metal RISC-V programs; the file may be damaged. */
#include "isa_run.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENT_GRAINS (ISA_GRAINS - 3) /* the rest: see add_others() */
#define MAX_FILE       (64ll << 20)
#define MAX_ADDRESS    (1ull << 46)

static bool complain(const char *path, const char *what)
{
    fprintf(stderr, "mx-isa-run: %s: %s\n", path, what);
    return false;
}

/* The i-th segment that is loaded, or false. */
static bool segment(Elf *elf, size_t i, GElf_Phdr *ph)
{
    return gelf_getphdr(elf, (int)i, ph) && ph->p_type == PT_LOAD &&
           ph->p_memsz;
}

/* Addresses end here. */
static uint64_t limit(const IsaImage *image)
{
    return image->elf64 ? MAX_ADDRESS : 1ull << 32;
}

/* The grain of addr is memory; false: there would be more than max. */
static bool add_grain(IsaImage *image, uint64_t addr, unsigned max)
{
    unsigned i = image->grains;

    addr &= ~(ISA_GRAIN - 1);
    for (unsigned k = 0; k < image->grains; k++) {
        if (image->grain[k] == addr) {
            return true;
        }
    }
    if (image->grains >= max) {
        return false;
    }
    for (; i > 0 && image->grain[i - 1] > addr; i--) {
        image->grain[i] = image->grain[i - 1];
    }
    image->grain[i] = addr;
    image->grains++;
    return true;
}

/* The memory of all segments: NULL, or what is wrong. */
static const char *add_segments(Elf *elf, size_t segments, IsaImage *image)
{
    GElf_Phdr ph;

    for (size_t i = 0; i < segments; i++) {
        uint64_t end;

        if (!segment(elf, i, &ph)) {
            continue;
        }
        if (ph.p_filesz > ph.p_memsz) {
            return "a segment has more bytes in the file than in memory";
        }
        if (__builtin_add_overflow(ph.p_paddr, ph.p_memsz, &end) ||
            end > limit(image)) {
            return "a segment is above the highest address";
        }
        for (uint64_t at = ph.p_paddr & ~(ISA_GRAIN - 1); at < end;
             at += ISA_GRAIN) {
            if (!add_grain(image, at, SEGMENT_GRAINS)) {
                return "more memory than 34 MiB, in pieces of 2 MiB";
            }
        }
    }
    return image->grains ? NULL : "no segments to load";
}

/* Words that the program and its host use, and something for a stack. */
static void add_others(IsaImage *image)
{
    uint64_t end = image->grain[image->grains - 1] + ISA_GRAIN;

    add_grain(image, image->tohost, ISA_GRAINS);
    if (image->fromhost) {
        add_grain(image, image->fromhost, ISA_GRAINS);
    }
    if (end < limit(image)) {
        add_grain(image, end, ISA_GRAINS);
    }
}

bool isa_image_find(const IsaImage *image, uint64_t addr, uint64_t len,
                    uint64_t *offset)
{
    for (unsigned i = 0; i < image->grains; i++) {
        uint64_t in = addr - image->grain[i], room = ISA_GRAIN;

        if (in >= ISA_GRAIN) {
            continue;
        }
        for (unsigned k = i + 1; k < image->grains && len > room - in &&
                                 image->grain[k] == image->grain[i] + room;
             k++) {
            room += ISA_GRAIN;
        }
        *offset = i * ISA_GRAIN + in;
        return len <= room - in;
    }
    return false;
}

static bool copy_segments(Elf *elf, size_t segments, IsaImage *image)
{
    size_t file_size;
    const char *file = elf_rawfile(elf, &file_size);
    uint64_t offset;
    GElf_Phdr ph;

    for (size_t i = 0; i < segments; i++) {
        if (!segment(elf, i, &ph)) {
            continue;
        }
        if (!file || ph.p_offset > file_size ||
            ph.p_filesz > file_size - ph.p_offset ||
            !isa_image_find(image, ph.p_paddr, ph.p_filesz, &offset)) {
            return false;
        }
        memcpy(image->bytes + offset, file + ph.p_offset, ph.p_filesz);
    }
    return true;
}

/* The value of a symbol; false when it is not defined. */
static bool find_symbol(Elf *elf, const char *name, uint64_t *value)
{
    Elf_Scn *scn = NULL;

    while ((scn = elf_nextscn(elf, scn)) != NULL) {
        GElf_Shdr sh;
        Elf_Data *data = NULL;
        GElf_Sym sym;

        if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_SYMTAB) {
            continue;
        }
        data = elf_getdata(scn, NULL);
        for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
            const char *text = elf_strptr(elf, sh.sh_link, sym.st_name);

            if (text && strcmp(text, name) == 0 &&
                sym.st_shndx != SHN_UNDEF) {
                *value = sym.st_value;
                return true;
            }
        }
    }
    return false;
}

/* The address of a section; false when there is none of that name. */
static bool find_section(Elf *elf, const char *name, uint64_t *addr)
{
    Elf_Scn *scn = NULL;
    size_t names;

    while (elf_getshdrstrndx(elf, &names) == 0 &&
           (scn = elf_nextscn(elf, scn)) != NULL) {
        GElf_Shdr sh;
        const char *text =
            gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

        if (text && strcmp(text, name) == 0 && (sh.sh_flags & SHF_ALLOC)) {
            *addr = sh.sh_addr;
            return true;
        }
    }
    return false;
}

/* tohost and fromhost; NULL, or what is wrong. */
static const char *find_words(Elf *elf, IsaImage *image)
{
    uint64_t end = limit(image) - 8;

    if (!find_symbol(elf, "tohost", &image->tohost) &&
        !find_section(elf, ".tohost", &image->tohost)) {
        return "no symbol tohost";
    }
    if (image->tohost % 4 || image->tohost > end) {
        return "tohost is not where a word can be";
    }
    if (!find_symbol(elf, "fromhost", &image->fromhost) ||
        image->fromhost % 4 || image->fromhost > end) {
        image->fromhost = 0;
    }
    return NULL;
}

static bool load(Elf *elf, IsaImage *image, const char *path)
{
    GElf_Ehdr eh;
    size_t segments;
    const char *wrong;
    uint64_t offset;

    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh) ||
        eh.e_machine != EM_RISCV || eh.e_ident[EI_DATA] != ELFDATA2LSB ||
        elf_getphdrnum(elf, &segments) != 0) {
        return complain(path, "not a RISC-V ELF file");
    }
    image->elf64 = gelf_getclass(elf) == ELFCLASS64;
    image->entry = eh.e_entry;
    wrong = add_segments(elf, segments, image);
    if (!wrong) {
        wrong = find_words(elf, image);
    }
    if (wrong) {
        return complain(path, wrong);
    }
    if (!isa_image_find(image, image->entry, 2, &offset)) {
        return complain(path, "the entry is not in the program's memory");
    }
    add_others(image);
    image->size = image->grains * ISA_GRAIN;
    image->bytes = calloc(1, image->size);
    if (!image->bytes) {
        return complain(path, "out of memory");
    }
    if (!copy_segments(elf, segments, image)) {
        free(image->bytes);
        return complain(path, "truncated");
    }
    return true;
}

/* The whole file, in memory of its own; NULL when that is said to be wrong. */
static char *read_file(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st = {0};
    char *file = NULL;
    ssize_t n = 1;

    *size = 0;
    if (fd < 0 || fstat(fd, &st) < 0) {
        complain(path, strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        complain(path, "not a file");
    } else if (st.st_size > MAX_FILE) {
        complain(path, "more than 64 MiB");
    } else if (!(file = malloc((size_t)st.st_size + 1))) {
        complain(path, "out of memory");
    }
    while (file && n > 0 && *size < (size_t)st.st_size) {
        n = read(fd, file + *size, (size_t)st.st_size - *size);
        *size += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    return file;
}

bool isa_image_load(IsaImage *image, const char *path)
{
    size_t size;
    char *file = read_file(path, &size);
    Elf *elf;
    bool ok;

    if (!file) {
        return false;
    }
    elf_version(EV_CURRENT);
    elf = elf_memory(file, size);
    ok = elf ? load(elf, image, path) : complain(path, "not an ELF file");
    elf_end(elf);
    free(file);
    return ok;
}
