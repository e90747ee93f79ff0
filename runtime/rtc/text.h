/* SPDX-License-Identifier: MIT */
/* A string that grows. Once there was no memory for it, it stays as it was. */
#ifndef MC_RTC_TEXT_H
#define MC_RTC_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct McText {
    char *data; /* ends with a NUL; NULL: nothing was added */
    size_t size, room;
    bool failed;
} McText;

void mc_text_add(McText *text, const char *data, size_t size);
void mc_text_printf(McText *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* As a literal of C, with its quotes; what it cannot hold becomes '?'. */
void mc_text_quote(McText *text, const char *string);
void mc_text_free(McText *text);

#endif
