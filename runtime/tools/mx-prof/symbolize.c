/* SPDX-License-Identifier: MIT */
/*
 * mx-symbolize FILE: for each hexadecimal address of kernel code on standard
 * input one line of frames on standard output, innermost first, separated by
 * tabs: function, file, line, column, and the offset where the line is not
 * known, separated by \x1f.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "image/dwarf.h"

#define MAX_FILE (256u << 20)

static void *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    void *data = NULL;
    long length;

    if (f && fseek(f, 0, SEEK_END) == 0 && (length = ftell(f)) >= 0 &&
        length <= MAX_FILE && fseek(f, 0, SEEK_SET) == 0) {
        data = malloc((size_t)length + 1);
        *size = (size_t)length;
        if (data && fread(data, 1, *size, f) != *size) {
            free(data);
            data = NULL;
        }
    }
    if (f) {
        fclose(f);
    }
    return data;
}

/* Names of a file are its own: nothing may look like a separator. */
static void print_text(const char *text)
{
    for (; text && *text; text++) {
        putchar((unsigned char)*text < ' ' ? '?' : *text);
    }
}

static void print_frames(McDwarf *dwarf, uint64_t address)
{
    McFrame frames[MC_FRAMES_MAX];
    unsigned n = mc_dwarf_find(dwarf, address, frames, MC_FRAMES_MAX);

    for (unsigned i = 0; i < n; i++) {
        if (i) {
            putchar('\t');
        }
        print_text(frames[i].function);
        putchar('\x1f');
        print_text(frames[i].file);
        printf("\x1f%u\x1f%u\x1f%" PRIu64, frames[i].line, frames[i].column,
               frames[i].offset);
    }
    putchar('\n');
}

int main(int argc, char **argv)
{
    size_t size = 0;
    void *data = argc == 2 ? read_file(argv[1], &size) : NULL;
    McDwarf *dwarf = data ? mc_dwarf_open(data, size) : NULL;
    uint64_t address;

    if (!dwarf) {
        fprintf(stderr, "usage: mx-symbolize FILE < addresses\n");
        free(data);
        return 1;
    }
    while (scanf("%" SCNx64, &address) == 1) {
        print_frames(dwarf, address);
    }
    mc_dwarf_close(dwarf);
    free(data);
    return 0;
}
