/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* RTLD_DEFAULT, dladdr1() */
#include "source.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dwarf.h"

#define FILE_MAX   (64u << 20)
#define FRAMES_MAX 6 /* of a message */

void mc_source_keep(McSourceFile *source, const void *file, size_t size)
{
    if (size > FILE_MAX) {
        return;
    }
    source->data = malloc(size);
    if (source->data) {
        memcpy(source->data, file, size);
        source->size = size;
    }
}

void mc_source_free(McSourceFile *source)
{
    free(source->data);
    source->data = NULL;
}

/*
 * What a demangler does with a symbol grows with its length, three times with
 * three references to an earlier part (S0_, T_), and as often as the symbol is
 * long with each expansion of a pack (Dp, sp). Symbols are from images, which
 * anyone can make: those that could grow without measure stay as they are.
 */
#define SYMBOL_MAX 512
#define GROWTH_MAX 24
#define PACK_COST  16

static bool modest(const char *symbol)
{
    unsigned growth = 0;
    size_t length = strnlen(symbol, SYMBOL_MAX + 1);

    for (const char *p = symbol; *p && length <= SYMBOL_MAX; p++) {
        if (*p == 'S' || *p == 'T') {
            size_t index = strspn(p + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");

            growth += p[1 + index] == '_';
        } else if ((*p == 'D' || *p == 's') && p[1] == 'p') {
            growth += PACK_COST;
        }
    }
    return length <= SYMBOL_MAX && growth <= GROWTH_MAX;
}

/* The program's C++ library, if it has one, knows; nothing is loaded for it. */
void mc_source_name(const char *symbol, char *text, size_t size)
{
    char *(*demangle)(const char *, char *, size_t *, int *) = NULL;
    char *plain = NULL;
    int status;

    if (strncmp(symbol, "_Z", 2) == 0 && modest(symbol)) {
        *(void **)&demangle = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    }
    if (demangle) {
        plain = demangle(symbol, NULL, NULL, &status);
    }
    snprintf(text, size, "%s", plain ? plain : symbol);
    free(plain);
}

static void append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t size, const char *format, ...)
{
    size_t at = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + at, size - at, format, args);
    va_end(args);
}

void mc_source_describe(const McSourceFile *source, uint64_t address,
                        char *text, size_t size)
{
    McFrame frames[FRAMES_MAX];
    char name[160];

    text[0] = 0;
    McDwarf *dwarf = source->data ? mc_dwarf_open(source->data, source->size)
                                  : NULL;
    if (!dwarf) {
        return;
    }
    unsigned n = mc_dwarf_find(dwarf, address, frames, FRAMES_MAX);
    for (unsigned i = 0; i < n; i++) {
        const McFrame *f = &frames[i];

        append(text, size, i ? ", inlined into " : ", in ");
        if (f->function) {
            mc_source_name(f->function, name, sizeof(name));
            append(text, size, "%s", name);
        }
        if (f->line) {
            append(text, size, "%sat %s:%u:%u", f->function ? " " : "",
                   f->file[0] ? f->file : "?", f->line, f->column);
        } else {
            append(text, size, "+0x%" PRIx64, f->offset);
        }
    }
    mc_dwarf_close(dwarf);
}

/* False: it cannot be read, or is too large. */
static bool map_file(const char *path, McSourceFile *file)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;

    file->data = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0 &&
        st.st_size <= FILE_MAX) {
        file->size = st.st_size;
        file->data = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0) {
        close(fd);
    }
    return file->data != MAP_FAILED;
}

void mc_source_caller(const void *address, char *text, size_t size)
{
    struct link_map *map = NULL;
    McSourceFile file;
    Dl_info info;

    text[0] = 0;
    if (!dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) {
        return;
    }
    /* The program itself has no name here, and one that need not lead to it
     * there. */
    if (map_file(map->l_name[0] ? map->l_name : "/proc/self/exe", &file)) {
        mc_source_describe(&file, (uintptr_t)address - 1 - map->l_addr, text, size);
        munmap(file.data, file.size);
    }
    size_t known = strlen(text);
    if (known) { /* ", in ..." */
        char *line = strdup(text + 2);

        snprintf(text, size, ", called %s", line ? line : "");
        free(line);
    } else {
        snprintf(text, size, ", called from %s+0x%" PRIx64, info.dli_fname,
                 (uint64_t)((uintptr_t)address - map->l_addr));
    }
}
