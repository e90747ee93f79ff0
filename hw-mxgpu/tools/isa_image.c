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

#define GRAIN     (2ull << 20)
#define MAX_BYTES (32ull << 20)
#define MAX_FILE  (64ll << 20)

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

/* The addresses that segments cover, in whole grains. */
static bool extent(Elf *elf, size_t segments, IsaImage *image)
{
    uint64_t low = UINT64_MAX, high = 0;
    GElf_Phdr ph;

    for (size_t i = 0; i < segments; i++) {
        uint64_t end;

        if (!segment(elf, i, &ph)) {
            continue;
        }
        if (__builtin_add_overflow(ph.p_vaddr, ph.p_memsz, &end) ||
            end > 1ull << 46 || ph.p_filesz > ph.p_memsz) {
            return false;
        }
        low = ph.p_vaddr < low ? ph.p_vaddr : low;
        high = end > high ? end : high;
    }
    if (low >= high) {
        return false;
    }
    image->base = low & ~(GRAIN - 1);
    image->size = (high - image->base + GRAIN - 1) & ~(GRAIN - 1);
    return image->size <= MAX_BYTES;
}

static bool copy_segments(Elf *elf, size_t segments, IsaImage *image)
{
    size_t file_size;
    const char *file = elf_rawfile(elf, &file_size);
    GElf_Phdr ph;

    for (size_t i = 0; i < segments; i++) {
        if (!segment(elf, i, &ph)) {
            continue;
        }
        if (!file || ph.p_offset > file_size || ph.p_filesz > file_size - ph.p_offset) {
            return false;
        }
        memcpy(image->bytes + (ph.p_vaddr - image->base), file + ph.p_offset,
               ph.p_filesz);
    }
    return true;
}

/* The address of tohost; false when there is no such symbol. */
static bool find_tohost(Elf *elf, uint64_t *tohost)
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
            const char *name = elf_strptr(elf, sh.sh_link, sym.st_name);

            if (name && strcmp(name, "tohost") == 0 &&
                sym.st_shndx != SHN_UNDEF) {
                *tohost = sym.st_value;
                return true;
            }
        }
    }
    return false;
}

static bool load(Elf *elf, IsaImage *image, const char *path)
{
    GElf_Ehdr eh;
    size_t segments, width;

    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh) ||
        eh.e_machine != EM_RISCV || elf_getphdrnum(elf, &segments) != 0) {
        return complain(path, "not a RISC-V ELF file");
    }
    image->elf64 = gelf_getclass(elf) == ELFCLASS64;
    image->entry = eh.e_entry;
    if (!extent(elf, segments, image)) {
        return complain(path, "no segments, or more memory than 32 MiB");
    }
    if (!find_tohost(elf, &image->tohost)) {
        return complain(path, "no symbol tohost");
    }
    width = image->elf64 ? 8 : 4;
    if (image->tohost < image->base || image->tohost % 4 ||
        image->tohost - image->base > image->size - width) {
        return complain(path, "tohost is not in the program's memory");
    }
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

/* The whole file, in memory of its own; NULL and errno. */
static char *read_file(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    char *file = NULL;
    ssize_t n;

    if (fd < 0) {
        return NULL;
    }
    *size = 0;
    errno = EFBIG;
    if (fstat(fd, &st) == 0 && st.st_size >= 0 && st.st_size <= MAX_FILE) {
        file = malloc((size_t)st.st_size + 1);
    }
    while (file && *size < (size_t)st.st_size &&
           (n = read(fd, file + *size, (size_t)st.st_size - *size)) > 0) {
        *size += (size_t)n;
    }
    close(fd);
    return file;
}

bool isa_image_load(IsaImage *image, const char *path)
{
    size_t size;
    char *file = read_file(path, &size);
    Elf *elf;
    bool ok;

    if (!file) {
        perror(path);
        return false;
    }
    elf_version(EV_CURRENT);
    elf = elf_memory(file, size);
    ok = elf ? load(elf, image, path) : complain(path, "not an ELF file");
    elf_end(elf);
    free(file);
    return ok;
}
