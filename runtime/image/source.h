/* SPDX-License-Identifier: MIT */
/* Where in the source an instruction is, for messages. */
#ifndef MC_IMAGE_SOURCE_H
#define MC_IMAGE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

/* What a module keeps of its file for this. */
typedef struct McSourceFile {
    void *data;
    size_t size;
} McSourceFile;

void mc_source_keep(McSourceFile *source, const void *file, size_t size);
void mc_source_free(McSourceFile *source);

/* Of an instruction by its link-time address: ", in FUNCTION at
 * FILE:LINE:COLUMN, inlined into ..." or, without line tables, ", in
 * FUNCTION+0xOFFSET"; "" when nothing is known. */
void mc_source_describe(const McSourceFile *source, uint64_t address,
                        char *text, size_t size);

/* The same of a return address of the program: ", called in FUNCTION at ..."; or
 * ", called from FILE+0xOFFSET" when only that is known. */
void mc_source_caller(const void *address, char *text, size_t size);

/* Demangles a C++ symbol, if the process has the C++ library. One that is long,
 * or would expand to a very long text (source.c), is copied as it is. */
void mc_source_name(const char *symbol, char *text, size_t size);

#endif
