/* SPDX-License-Identifier: MIT */
/*
 * mxcc in a process of its own, without a shell, and folders of our own for its
 * files, which are gone afterwards. Thread-safe.
 */
#ifndef MC_COMPILER_COMPILER_H
#define MC_COMPILER_COMPILER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "mcr/mc_runtime_types.h"

/* Paths of folders; names in them have the rest of PATH_MAX. */
#define MC_COMPILER_FOLDER (PATH_MAX - 1024)

/* Where mxcc is: below MACA_PATH if that is set, else beside this library.
 * False: none is there that can be run. */
bool mc_compiler_find(char *path, size_t size);

/* A new folder that nobody else can look into, in TMPDIR or /tmp; folder has
 * MC_COMPILER_FOLDER bytes. False: errno says why. */
bool mc_compiler_folder_make(char *folder, const char *prefix);
/* With all that is in it. */
void mc_compiler_folder_remove(const char *folder);
/* A new file for the owner only. False: errno says why. */
bool mc_compiler_write(const char *path, const void *data, size_t size);
/* All of a file, and a NUL behind it; the caller frees it.
 * mcErrorOperatingSystem: it is not there, or has no contents. */
mcError_t mc_compiler_read(const char *path, void **data, size_t *size);

typedef struct McCompilerRun {
    char *const *argv;   /* the program's path, its words, NULL */
    const char *folder;  /* for temporary files */
    const char *where;   /* where it works; NULL: where the caller does */
    const char *output;  /* path of what it makes */
    size_t text_max;     /* bytes of messages that are kept */
} McCompilerRun;

/*
 * Runs it to its end. *text: what it printed, the caller's; NULL: nothing was
 * started, or no memory. mcErrorInvalidKernelImage: it refuses its input;
 * mcErrorJitCompilerNotFound: it, or a program that it needs, is not
 * installed; mcErrorMemoryAllocation; mcErrorOperatingSystem: it was ended.
 */
mcError_t mc_compiler_run(const McCompilerRun *run, char **text);

#endif
