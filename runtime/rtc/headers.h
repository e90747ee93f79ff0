/* SPDX-License-Identifier: MIT */
/* Headers in memory, as files that only the compiler sees. */
#ifndef MC_RTC_HEADERS_H
#define MC_RTC_HEADERS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct McRtcHeader {
    char *name, *text;
} McRtcHeader;

/* Where they are, below a folder. Paths are those of PATH_MAX. */
typedef struct McRtcFolders {
    char *first;   /* searched before all others; the program is there too */
    char *last;    /* behind all others: names of the standard library */
    char *overlay; /* a file for clang's -ivfsoverlay; NULL: none */
} McRtcFolders;

/* Whether it can be that of a file. */
bool mc_rtc_header_name(const char *name);

/*
 * Writes them. False: errno says why, and *culprit is the header that could not
 * be written, or NULL. The caller frees *out in any case.
 */
bool mc_rtc_headers_write(const McRtcHeader *headers, size_t count,
                          const char *folder, McRtcFolders *out,
                          const McRtcHeader **culprit);
void mc_rtc_folders_free(McRtcFolders *folders);

#endif
