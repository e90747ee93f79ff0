/* SPDX-License-Identifier: MIT */
#include "relocatable.h"

#include <ar.h>
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "mxgpu/fatbin.h"

/* Foreign bytes. Slices of them lie within; what is looked for is counted. */
typedef struct Bytes {
    const uint8_t *data;
    uint64_t size;
} Bytes;

typedef struct Search {
    const char *why; /* not NULL: it is damaged */
    uint64_t records;
} Search;

static void damaged(Search *search, const char *why)
{
    search->why = search->why ? search->why : why;
}

/* False when it does not lie within. */
static bool slice(Bytes all, uint64_t offset, uint64_t size, Bytes *out)
{
    if (offset > all.size || size > all.size - offset) {
        return false;
    }
    *out = (Bytes){all.data + offset, size};
    return true;
}

static bool begins(Bytes bytes, const void *magic, size_t size)
{
    return bytes.size >= size && memcmp(bytes.data, magic, size) == 0;
}

/* ---- records ---- */

/* One behind the other; ld -r puts zeros between them. */
static void read_records(Search *search, Bytes rest)
{
    struct mxgpu_rdc_header header;
    Bytes bitcode;

    while (!search->why) {
        while (rest.size && !rest.data[0]) {
            rest.data++;
            rest.size--;
        }
        if (!rest.size) {
            return;
        }
        if (rest.size < sizeof(header)) {
            damaged(search, "a record of device code is cut off");
            return;
        }
        memcpy(&header, rest.data, sizeof(header));
        if (memcmp(header.magic, MXGPU_RDC_MAGIC, sizeof(header.magic)) != 0 ||
            !slice(rest, sizeof(header), header.size, &bitcode)) {
            damaged(search, "a record of device code is damaged");
            return;
        }
        if (!begins(bitcode, "BC\xc0\xde", 4)) {
            damaged(search, "a record of device code holds no bitcode");
            return;
        }
        search->records++;
        rest.data = bitcode.data + bitcode.size;
        rest.size -= sizeof(header) + bitcode.size;
    }
}

/* ---- object files ---- */

static bool section(Bytes file, const Elf64_Ehdr *eh, uint64_t number,
                    Elf64_Shdr *sh)
{
    Bytes at;

    if (number > UINT32_MAX ||
        !slice(file, eh->e_shoff, (number + 1) * sizeof(*sh), &at)) {
        return false;
    }
    memcpy(sh, at.data + number * sizeof(*sh), sizeof(*sh));
    return true;
}

/* Of the section table: how many there are and which has the names. Large
 * numbers are in the first section. */
static bool section_table(Bytes file, const Elf64_Ehdr *eh, uint64_t *count,
                          Bytes *names)
{
    Elf64_Shdr first, strings;

    if (!section(file, eh, 0, &first)) {
        return false;
    }
    *count = eh->e_shnum ? eh->e_shnum : first.sh_size;
    return section(file, eh, eh->e_shstrndx == SHN_XINDEX ? first.sh_link
                                                          : eh->e_shstrndx,
                   &strings) &&
           slice(file, strings.sh_offset, strings.sh_size, names);
}

static void read_object(Search *search, Bytes file)
{
    uint64_t count;
    Bytes names, name, content;
    Elf64_Ehdr eh;
    Elf64_Shdr sh;

    if (file.size < sizeof(eh)) {
        damaged(search, "an object file is cut off");
        return;
    }
    memcpy(&eh, file.data, sizeof(eh));
    if (eh.e_ident[EI_CLASS] != ELFCLASS64 ||
        eh.e_ident[EI_DATA] != ELFDATA2LSB || eh.e_shoff == 0) {
        return; /* of another machine, or without sections */
    }
    if (eh.e_shentsize != sizeof(sh) ||
        !section_table(file, &eh, &count, &names)) {
        damaged(search, "an object file has a damaged table of sections");
        return;
    }
    for (uint64_t i = 1; i < count && !search->why; i++) {
        if (!section(file, &eh, i, &sh)) {
            damaged(search, "an object file has a damaged table of sections");
            return;
        }
        if (!slice(names, sh.sh_name, sizeof(MXGPU_RDC_SECTION), &name) ||
            memcmp(name.data, MXGPU_RDC_SECTION, name.size) != 0 ||
            sh.sh_type == SHT_NOBITS) {
            continue;
        }
        if (!slice(file, sh.sh_offset, sh.sh_size, &content)) {
            damaged(search, "an object file's device code is outside of it");
            return;
        }
        read_records(search, content);
    }
}

/* ---- static libraries ---- */

static bool decimal(const char *text, size_t length, uint64_t *value)
{
    size_t i = 0;

    *value = 0;
    for (; i < length && text[i] >= '0' && text[i] <= '9'; i++) {
        *value = *value * 10 + (text[i] - '0'); /* at most ten digits */
    }
    size_t digits = i;
    for (; i < length && text[i] == ' '; i++) {
    }
    return digits && i == length;
}

static void read_library(Search *search, Bytes file)
{
    struct ar_hdr header;
    uint64_t size, at = SARMAG;
    Bytes head, body;

    while (at < file.size && !search->why) {
        if (!slice(file, at, sizeof(header), &head)) {
            damaged(search, "a static library is cut off");
            return;
        }
        memcpy(&header, head.data, sizeof(header));
        if (memcmp(header.ar_fmag, ARFMAG, sizeof(header.ar_fmag)) != 0 ||
            !decimal(header.ar_size, sizeof(header.ar_size), &size) ||
            !slice(file, at + sizeof(header), size, &body)) {
            damaged(search, "a static library has a damaged member");
            return;
        }
        if (begins(body, ELFMAG, SELFMAG)) {
            read_object(search, body);
        }
        at += sizeof(header) + size + size % 2;
    }
}

/* ---- fat binaries ---- */

static void read_fatbin(Search *search, Bytes file)
{
    struct mxgpu_fatbin_header header;
    struct mxgpu_fatbin_entry entry;
    Bytes head, code;
    uint64_t at = sizeof(header);

    if (!slice(file, 0, sizeof(header), &head)) {
        damaged(search, "a fat binary is cut off");
        return;
    }
    memcpy(&header, head.data, sizeof(header));
    if (header.version != MXGPU_FATBIN_VERSION ||
        header.count > MXGPU_FATBIN_MAX_ENTRIES ||
        header.total_size > file.size) {
        damaged(search, "a fat binary is damaged");
        return;
    }
    for (uint32_t i = 0; i < header.count; i++, at += sizeof(entry)) {
        if (!slice(file, at, sizeof(entry), &head)) {
            damaged(search, "a fat binary is cut off");
            return;
        }
        memcpy(&entry, head.data, sizeof(entry));
        if (strncmp(entry.target, MXGPU_FATBIN_RELOCATABLE,
                    sizeof(entry.target)) != 0) {
            continue;
        }
        if (!slice(file, entry.offset, entry.size, &code)) {
            damaged(search, "a fat binary's code is outside of it");
            return;
        }
        read_records(search, code);
    }
}

mcError_t mc_relocatable_check(const void *data, size_t size,
                               McRelocatableKind *kind, const char **why)
{
    static const char thin[] = "!<thin>\n";
    Bytes bytes = {data, size};
    Search search = {0};

    *kind = MC_RELOCATABLE_OBJECT;
    if (begins(bytes, ELFMAG, SELFMAG)) {
        read_object(&search, bytes);
    } else if (begins(bytes, MXGPU_RDC_MAGIC, sizeof(MXGPU_RDC_MAGIC) - 1)) {
        read_records(&search, bytes);
    } else if (begins(bytes, ARMAG, SARMAG)) {
        *kind = MC_RELOCATABLE_LIBRARY;
        read_library(&search, bytes);
    } else if (begins(bytes, MXGPU_FATBIN_MAGIC, sizeof(MXGPU_FATBIN_MAGIC))) {
        *kind = MC_RELOCATABLE_FATBIN;
        read_fatbin(&search, bytes);
    } else if (begins(bytes, thin, sizeof(thin) - 1)) {
        damaged(&search, "a thin library: its members are not in it");
    } else {
        damaged(&search, "neither an object file nor a static library nor a "
                         "fat binary");
    }
    *why = search.why;
    if (search.why) {
        return mcErrorInvalidKernelImage;
    }
    if (!search.records) {
        *why = "no device code that can be linked (mxcc -dc makes it)";
        return mcErrorNoKernelImageForDevice;
    }
    return mcSuccess;
}
