/* SPDX-License-Identifier: MIT */
/* Damaged line tables: nothing is read outside of the file, and all ends. The
 * argument is a code object with line tables. */
#define _GNU_SOURCE /* memmem */
#include <elf.h>
#include <glib.h>

#include "fuzz/fuzz-dwarf.h"

static uint8_t *image;
static gsize image_size;

static void test_good(void)
{
    g_assert_cmpuint(fuzz_dwarf(image, image_size), >, 20);
}

static void test_cut(void)
{
    for (gsize size = 0; size < image_size; size += 1 + size / 50) {
        fuzz_dwarf(image, size);
    }
}

/* Offset and size of a section's contents. */
static void section(const char *wanted, uint64_t *at, uint64_t *size)
{
    const Elf64_Ehdr *eh = (const void *)image;
    const Elf64_Shdr *sh = (const void *)(image + eh->e_shoff);
    const char *names = (const char *)image + sh[eh->e_shstrndx].sh_offset;

    for (unsigned i = 0; i < eh->e_shnum; i++) {
        if (strcmp(names + sh[i].sh_name, wanted) == 0) {
            *at = sh[i].sh_offset;
            *size = sh[i].sh_size;
            return;
        }
    }
    g_error("no section %s", wanted);
}

static void test_damage(void)
{
    static const char *const names[] = {
        ".debug_info", ".debug_abbrev", ".debug_line", ".debug_rnglists",
        ".debug_addr", ".debug_str_offsets", ".symtab",
    };
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
    GRand *random = g_rand_new_with_seed(3);
    g_autofree uint8_t *bad = g_malloc(image_size);

    for (unsigned n = 0; n < 1500; n++) {
        uint64_t at, size;

        section(names[n % G_N_ELEMENTS(names)], &at, &size);
        memcpy(bad, image, image_size);
        for (unsigned i = 0; i <= n % 5; i++) {
            uint64_t where = at + g_rand_int(random) % size;

            /* Headers and the first entries are what matters most. */
            where = i % 2 ? at + g_rand_int(random) % MIN(size, 40) : where;
            bad[where] = n % 3 ? values[g_rand_int(random) % 5]
                               : g_rand_int(random);
        }
        fuzz_dwarf(bad, image_size);
    }
    g_rand_free(random);
}

/* Section headers that lie. */
static void test_headers(void)
{
    const Elf64_Ehdr *eh = (const void *)image;
    GRand *random = g_rand_new_with_seed(4);
    g_autofree uint8_t *bad = g_malloc(image_size);

    for (unsigned n = 0; n < 500; n++) {
        Elf64_Shdr *sh = (void *)(bad + eh->e_shoff);
        unsigned i = g_rand_int(random) % eh->e_shnum;

        memcpy(bad, image, image_size);
        if (n % 2) {
            sh[i].sh_offset = n % 4 == 1 ? UINT64_MAX - n : image_size - n;
        } else {
            sh[i].sh_size = n % 4 ? UINT64_MAX - n : image_size;
        }
        fuzz_dwarf(bad, image_size);
    }
    g_rand_free(random);
}

/* ---- files made for the purpose ---- */

typedef struct Part {
    const char *name;
    GByteArray *data;
} Part;

static void put(GByteArray *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        g_byte_array_append(to, (const uint8_t[]){value >> 8 * i}, 1);
    }
}

#define PUT(to, ...)                                                           \
    g_byte_array_append((to), (const uint8_t[]){__VA_ARGS__},                  \
                        sizeof((const uint8_t[]){__VA_ARGS__}))

/* An ELF file of these sections; frees them. */
static GByteArray *make_file(Part *parts, unsigned count)
{
    GByteArray *file = g_byte_array_new(), *names = g_byte_array_new();
    uint64_t at = sizeof(Elf64_Ehdr) + (count + 2) * sizeof(Elf64_Shdr);
    Elf64_Ehdr eh = {
        .e_machine = EM_RISCV,
        .e_type = ET_DYN,
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_shoff = sizeof(Elf64_Ehdr),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = count + 2,
        .e_shstrndx = count + 1,
    };

    memcpy(eh.e_ident, ELFMAG, SELFMAG);
    eh.e_ident[EI_CLASS] = ELFCLASS64;
    eh.e_ident[EI_DATA] = ELFDATA2LSB;
    eh.e_ident[EI_VERSION] = EV_CURRENT;
    g_byte_array_append(file, (void *)&eh, sizeof(eh));
    g_byte_array_set_size(file, at);
    memset(file->data + sizeof(eh), 0, at - sizeof(eh));
    put(names, 0, 1);
    for (unsigned i = 0; i <= count; i++) {
        const char *name = i < count ? parts[i].name : ".shstrtab";
        Elf64_Shdr sh = {
            .sh_type = i < count ? SHT_PROGBITS : SHT_STRTAB,
            .sh_name = names->len,
            .sh_offset = file->len,
            .sh_addralign = 1,
        };

        g_byte_array_append(names, (const void *)name, strlen(name) + 1);
        GByteArray *data = i < count ? parts[i].data : names;
        sh.sh_size = data->len;
        memcpy(file->data + eh.e_shoff + (i + 1) * sizeof(sh), &sh,
               sizeof(sh));
        g_byte_array_append(file, data->data, data->len);
        g_byte_array_unref(data);
    }
    return file;
}

enum { CODE = 0x1000, CODE_SIZE = 0x400 };

/* Two rows and the end of a sequence, of line 1. */
static GByteArray *make_lines(void)
{
    GByteArray *b = g_byte_array_new();

    put(b, 0, 4); /* length: below */
    PUT(b, 5, 0, 8, 0, 32, 0, 0, 0, 1, 1, 1, 0xfb, 14, 13);
    PUT(b, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1);
    PUT(b, 1, 1, 8, 1, '/', 0); /* directories */
    PUT(b, 2, 1, 8, 2, 0x0b, 2, 'f', 0, 0, 'g', 0, 0);
    b->data[8] = b->len - 12;
    PUT(b, 0, 9, 2); /* set address */
    put(b, CODE, 8);
    PUT(b, 1, 2, CODE_SIZE & 0x7f, 0, 0, 1, 1);
    b->data[b->len - 5] = (CODE_SIZE & 0x7f) | 0x80;
    b->data[b->len - 4] = CODE_SIZE >> 7;
    b->data[0] = b->len - 4;
    return b;
}

static GByteArray *start_unit(void)
{
    GByteArray *info = g_byte_array_new();

    put(info, 0, 4);
    PUT(info, 5, 0, 1, 8, 0, 0, 0, 0);
    PUT(info, 1);
    put(info, CODE, 8);
    put(info, CODE_SIZE, 4);
    put(info, 0, 4);
    return info;
}

static GByteArray *make_abbrevs(void)
{
    GByteArray *b = g_byte_array_new();

    PUT(b, 1, 0x11, 1, 0x11, 1, 0x12, 6, 0x10, 0x17, 0, 0); /* unit */
    PUT(b, 2, 0x2e, 1, 0x11, 1, 0x12, 6, 3, 0x0e, 0, 0); /* function: name */
    PUT(b, 3, 0x0b, 1, 0x11, 1, 0x12, 6, 0, 0);          /* block */
    PUT(b, 4, 0x2e, 0, 0x55, 0x17, 0, 0); /* function of several pieces */
    PUT(b, 0);
    return b;
}

/* A DIE of code with the first of these abbreviations. */
static void put_code(GByteArray *info, uint8_t abbrev)
{
    PUT(info, abbrev);
    put(info, CODE, 8);
    put(info, CODE_SIZE, 4);
}

static unsigned end_and_find(GByteArray *info, GByteArray *strings,
                             GByteArray *ranges, const char *more)
{
    uint32_t length = info->len - 4;

    memcpy(info->data, &length, sizeof(length));
    Part parts[] = {
        {".debug_info", info}, {".debug_abbrev", make_abbrevs()},
        {".debug_line", make_lines()}, {".debug_str", strings},
        {".debug_rnglists", ranges}, {more, g_byte_array_new()},
    };
    GByteArray *file = make_file(parts, G_N_ELEMENTS(parts) - !more);
    unsigned found = fuzz_dwarf(file->data, file->len);

    if (!more) {
        g_byte_array_unref(parts[5].data);
    }
    g_byte_array_unref(file);
    return found;
}

static GByteArray *one_name(void)
{
    return g_byte_array_append(g_byte_array_new(), (const uint8_t *)"name", 5);
}

/* Blocks in each other: nothing recurses as deep as a file says. */
static void test_deep(void)
{
    GByteArray *info = start_unit();

    put_code(info, 2);
    put(info, 0, 4);
    for (unsigned i = 0; i < 100000; i++) {
        put_code(info, 3);
    }
    g_assert_cmpuint(end_and_find(info, one_name(), g_byte_array_new(), NULL),
                     >, 100);
}

/* Many functions, each of the same many pieces: work is limited. */
static void test_ranges(void)
{
    GByteArray *info = start_unit(), *ranges = g_byte_array_new();

    for (unsigned i = 0; i < 200000; i++) {
        PUT(info, 4);
        put(info, 12, 4);
    }
    put(ranges, 0, 4);
    PUT(ranges, 5, 0, 8, 0, 0, 0, 0, 0);
    for (unsigned i = 0; i < 200000; i++) {
        PUT(ranges, 7); /* start and length */
        put(ranges, 0x100000 + 16 * i, 8);
        PUT(ranges, 8);
    }
    PUT(ranges, 0);
    uint32_t length = ranges->len - 4;
    memcpy(ranges->data, &length, sizeof(length));
    end_and_find(info, one_name(), ranges, NULL);
}

/* Many names that are one long string without an end. */
static void test_long(void)
{
    GByteArray *info = start_unit(), *text = g_byte_array_new();

    for (unsigned i = 0; i < 200000; i++) {
        put_code(info, 2);
        put(info, 0, 4);
        PUT(info, 0); /* no children */
    }
    g_byte_array_set_size(text, 4 << 20);
    memset(text->data, 'x', text->len);
    end_and_find(info, text, g_byte_array_new(), NULL);
}

/* Nothing is inflated, and no file is opened that this one names. */
static void test_refused(void)
{
    static const char *const names[] = {
        ".harmless", ".gnu_debugaltlink", ".zdebug_info",
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        GByteArray *info = start_unit();

        put_code(info, 2);
        put(info, 0, 4);
        put(info, 0, 2);
        unsigned found = end_and_find(info, one_name(), g_byte_array_new(),
                                      names[i]);
        g_assert_cmpuint(found > 0, ==, i == 0);
    }
    g_autofree uint8_t *bad = g_memdup2(image, image_size);
    const Elf64_Ehdr *eh = (const void *)bad;
    Elf64_Shdr *sh = (void *)(bad + eh->e_shoff);
    for (unsigned i = 0; i < eh->e_shnum; i++) {
        sh[i].sh_flags |= sh[i].sh_flags & SHF_ALLOC ? 0 : SHF_COMPRESSED;
    }
    g_assert_cmpuint(fuzz_dwarf(bad, image_size), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    if (argc != 2 ||
        !g_file_get_contents(argv[1], (char **)&image, &image_size, NULL)) {
        g_printerr("usage: test-dwarf CODE-OBJECT\n");
        return 1;
    }
    /* The ELF file in the fat binary. */
    uint8_t *elf = memmem(image, image_size, ELFMAG, SELFMAG);
    g_assert_nonnull(elf);
    image_size -= elf - image;
    memmove(image, elf, image_size);
    g_test_add_func("/dwarf/good", test_good);
    g_test_add_func("/dwarf/cut", test_cut);
    g_test_add_func("/dwarf/damage", test_damage);
    g_test_add_func("/dwarf/headers", test_headers);
    g_test_add_func("/dwarf/deep", test_deep);
    g_test_add_func("/dwarf/ranges", test_ranges);
    g_test_add_func("/dwarf/long", test_long);
    g_test_add_func("/dwarf/refused", test_refused);
    return g_test_run();
}
