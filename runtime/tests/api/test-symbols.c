/* SPDX-License-Identifier: MIT */
/* Everything in api.def and rtc.def is declared as listed there, and exported by the
 * library, and so are the forms that mc_per_thread.h names; nothing else is. */
#include <dlfcn.h>
#include <elf.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "mcr/mc_runtime_api.h"
#include "mcr/mcrtc.h"

/* A declaration that differs from the header's does not compile. */
#define MC_SECTION(title)
#define MC_API(status, result, name, parameters, text) result name parameters;
#include "api.def"
#include "def/rtc.def"
#undef MC_API

/* And without this, one that the header forgot would pass. */
#define MC_API(status, result, name, parameters, text)                         \
    static __typeof__(name) *const declared_##name                             \
        __attribute__((unused)) = name;
#include "api.def"
#include "def/rtc.def"
#undef MC_API

static const char *const names[] = {
#define MC_API(status, result, name, parameters, text) #name,
#include "api.def"
#include "def/rtc.def"
#undef MC_API
    "__mcRegisterFatBinary",
    "__mcUnregisterFatBinary",
    "__mcRegisterFunction",
    "__mcRegisterManagedVar",
    "__mcRegisterSurface",
    "__mcRegisterTexture",
    "__mcRegisterVar",
    "__mcPushCallConfiguration",
    "__mcPopCallConfiguration",
    "__mcAnnotate",
    "__mcAnnotateState",
};

/* name -> form */
static GHashTable *per_thread_forms(void)
{
    GHashTable *forms = g_hash_table_new(g_str_hash, g_str_equal);
    g_autofree char *header = NULL;

    g_assert_true(g_file_get_contents(PER_THREAD_PATH, &header, NULL, NULL));
    g_auto(GStrv) words = g_strsplit_set(header, " \n\\", -1);
    for (unsigned i = 0; words[i]; i++) {
        if (g_str_has_suffix(words[i], "_ptds") ||
            g_str_has_suffix(words[i], "_ptsz")) {
            char *name = g_strndup(words[i], strlen(words[i]) - 5);

            g_hash_table_insert(forms, name, g_strdup(words[i]));
        }
    }
    return forms;
}

static bool is_known(const char *name, GHashTable *forms)
{
    for (unsigned k = 0; k < G_N_ELEMENTS(names); k++) {
        const char *form = g_hash_table_lookup(forms, names[k]);

        if (strcmp(names[k], name) == 0 || g_strcmp0(form, name) == 0) {
            return true;
        }
    }
    return false;
}

static void test_exported(void)
{
    void *library = dlopen(MCRUNTIME_PATH, RTLD_NOW);
    GHashTable *forms = per_thread_forms();
    GHashTableIter i;
    void *form;

    g_assert_nonnull(library);
    g_assert_cmpuint(g_hash_table_size(forms), >, 50);
    g_hash_table_iter_init(&i, forms);
    while (g_hash_table_iter_next(&i, NULL, &form)) {
        if (!dlsym(library, form)) {
            g_error("%s is not exported", (const char *)form);
        }
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        if (!dlsym(library, names[i])) {
            g_error("%s is not exported", names[i]);
        }
    }
}

/* The dynamic symbols of the file itself. */
static void test_nothing_else(void)
{
    GHashTable *forms = per_thread_forms();
    g_autofree char *data = NULL;
    gsize size;

    g_assert_true(g_file_get_contents(MCRUNTIME_PATH, &data, &size, NULL));
    const Elf64_Ehdr *e = (const void *)data;
    const Elf64_Shdr *sh = (const void *)(data + e->e_shoff);
    unsigned exported = 0;
    for (unsigned i = 0; i < e->e_shnum; i++) {
        if (sh[i].sh_type != SHT_DYNSYM) {
            continue;
        }
        const Elf64_Sym *sym = (const void *)(data + sh[i].sh_offset);
        const char *strings = data + sh[sh[i].sh_link].sh_offset;
        for (unsigned j = 1; j < sh[i].sh_size / sizeof(*sym); j++) {
            const char *name = strings + sym[j].st_name;

            if (sym[j].st_shndx == SHN_UNDEF ||
                ELF64_ST_BIND(sym[j].st_info) == STB_LOCAL) {
                continue;
            }
            bool known = is_known(name, forms);
            /* Sanitizers add their own. */
            if (!known && !g_str_has_prefix(name, "__asan") &&
                !g_str_has_prefix(name, "__odr_asan")) {
                g_error("%s is exported, but not in api.def", name);
            }
            exported += known;
        }
    }
    g_assert_cmpuint(exported, ==,
                     G_N_ELEMENTS(names) + g_hash_table_size(forms));
}

/* The published reference has 182 functions. */
static void test_count(void)
{
    g_assert_cmpuint(G_N_ELEMENTS(names), >=, 182 + 6);
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        for (unsigned j = 0; j < i; j++) {
            g_assert_cmpstr(names[i], !=, names[j]);
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/symbols/exported", test_exported);
    g_test_add_func("/symbols/nothing-else", test_nothing_else);
    g_test_add_func("/symbols/count", test_count);
    return g_test_run();
}
