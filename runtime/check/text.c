/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <stdio.h>

void mc_line_addv(McReport *r, const char *format, va_list args)
{
    size_t room = sizeof(r->text) - r->length;
    int n = vsnprintf(r->text + r->length, room, format, args);

    if (n > 0) {
        r->length += (size_t)n < room ? (size_t)n : room - 1;
    }
}

void mc_line_add(McReport *r, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    mc_line_addv(r, format, args);
    va_end(args);
}

void mc_line_end(McReport *r, size_t from)
{
    for (char *p = r->text + from; *p; p++) {
        if ((unsigned char)*p < ' ') {
            *p = ' ';
        }
    }
    mc_line_add(r, "\n");
}

void mc_report_begin(McReport *r, const char *format, ...)
{
    va_list args;

    *r = (McReport){.length = 0};
    mc_line_add(r, MC_TEXT_HEAD);
    va_start(args, format);
    mc_line_addv(r, format, args);
    va_end(args);
    mc_line_end(r, 0);
}

void mc_report_line(McReport *r, const char *format, ...)
{
    size_t from = r->length;
    va_list args;

    mc_line_add(r, MC_TEXT_HEAD MC_TEXT_INDENT);
    va_start(args, format);
    mc_line_addv(r, format, args);
    va_end(args);
    mc_line_end(r, from);
}

McPlace mc_place_thread(const uint32_t size[3], unsigned thread)
{
    uint32_t x = size[0] ? size[0] : 1, y = size[1] ? size[1] : 1;
    McPlace place;

    snprintf(place.text, sizeof(place.text), "(%u,%u,%u)", thread % x,
             thread / x % y, thread / x / y);
    return place;
}

void mc_report_threads(McReport *r, const MxgpuObservedWarp *w,
                       uint64_t lanes)
{
    unsigned first, last, count = __builtin_popcountll(lanes);

    if (!lanes) {
        return;
    }
    first = __builtin_ctzll(lanes);
    last = 63 - __builtin_clzll(lanes);
    mc_report_line(r, "by thread %s in block (%u,%u,%u)",
                   mc_place_thread(w->size, w->warp * 64 + first).text,
                   w->block[0], w->block[1], w->block[2]);
    if (count > 1) {
        mc_report_line(r, "and by %u more of its warp, up to thread %s",
                       count - 1,
                       mc_place_thread(w->size, w->warp * 64 + last).text);
    }
}
