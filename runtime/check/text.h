/* SPDX-License-Identifier: MIT */
/* The text of a report, line by line. */
#ifndef MC_CHECK_TEXT_H
#define MC_CHECK_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mxgpu/observer.h"

#define MC_TEXT_HEAD   "========= "
#define MC_TEXT_INDENT "    "

typedef struct McReport {
    bool dropped; /* it is none */
    size_t length;
    char text[16384];
} McReport;

/* The first line; those that follow are indented. */
void mc_report_begin(McReport *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void mc_report_line(McReport *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "by thread (x,y,z) in block (x,y,z)", the first of lanes, and how many
 * more. */
void mc_report_threads(McReport *r, const MxgpuObservedWarp *w,
                       uint64_t lanes);

/* "(x,y,z)" of a thread by its number in the block. */
typedef struct McPlace {
    char text[40];
} McPlace;
McPlace mc_place_thread(const uint32_t size[3], unsigned thread);

/* ---- parts of lines */

void mc_line_add(McReport *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void mc_line_addv(McReport *r, const char *format, va_list args);
/* Foreign text in the line that begins at "from" (names, paths) must not make
 * lines of its own. */
void mc_line_end(McReport *r, size_t from);

#endif
