/* SPDX-License-Identifier: MIT */
/* Damaged line tables: nothing is read outside of the file, and all ends. The
 * argument is a code object with line tables. */
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

/* Many names that are one long string without an end: work is limited. */
static void test_long(void)
{
    enum { NAMES, INFO, ABBREV, STR, SECTIONS };
    static const char names[] = "\0.debug_info\0.debug_abbrev\0.debug_str";
    static const uint8_t abbrev[] = {
        1, 0x11, 1, 0, 0,          /* a unit with children */
        2, 0x2e, 0, 3, 0x0e, 0, 0, /* a function: its name in .debug_str */
        0,
    };
    static const uint8_t unit[] = {5, 0, 1, 8, 0, 0, 0, 0, 1};
    const uint32_t dies = 200000, text = 4 << 20;
    const uint32_t info = 4 + sizeof(unit) + 5 * dies;
    const uint32_t sizes[] = {sizeof(names), info, sizeof(abbrev), text};
    const uint32_t name_at[] = {0, 1, 13, 27};
    gsize at = sizeof(Elf64_Ehdr) + SECTIONS * sizeof(Elf64_Shdr);
    g_autofree uint8_t *file = g_malloc(at + sizeof(names) + info +
                                        sizeof(abbrev) + text);
    Elf64_Ehdr *eh = memset(file, 0, at);
    Elf64_Shdr *sh = (void *)(eh + 1);
    g_autoptr(GTimer) timer = g_timer_new();
    uint8_t *p;

    memcpy(eh->e_ident, ELFMAG, SELFMAG);
    eh->e_ident[EI_CLASS] = ELFCLASS64;
    eh->e_shoff = sizeof(*eh);
    eh->e_shentsize = sizeof(*sh);
    eh->e_shnum = SECTIONS;
    for (unsigned i = 0; i < SECTIONS; i++) {
        sh[i].sh_type = SHT_PROGBITS;
        sh[i].sh_name = name_at[i];
        sh[i].sh_offset = at;
        sh[i].sh_size = sizes[i];
        at += sizes[i];
    }
    memcpy(file + sh[NAMES].sh_offset, names, sizeof(names));
    memcpy(file + sh[ABBREV].sh_offset, abbrev, sizeof(abbrev));
    memset(file + sh[STR].sh_offset, 'x', text);
    p = file + sh[INFO].sh_offset;
    p[0] = (info - 4) & 0xff;
    p[1] = (info - 4) >> 8 & 0xff;
    p[2] = (info - 4) >> 16;
    p[3] = 0;
    memcpy(p + 4, unit, sizeof(unit));
    p += 4 + sizeof(unit);
    for (uint32_t i = 0; i < dies; i++) {
        memcpy(p + 5 * i, (const uint8_t[]){2, 0, 0, 0, 0}, 5);
    }
    fuzz_dwarf(file, at);
    g_assert_cmpfloat(g_timer_elapsed(timer, NULL), <, 8);
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
    g_test_add_func("/dwarf/long", test_long);
    return g_test_run();
}
