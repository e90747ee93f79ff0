/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mc_text_add(McText *text, const char *data, size_t size)
{
    if (text->failed) {
        return;
    }
    if (text->room - text->size <= size) {
        size_t room = text->room < 128 ? 128 : text->room;

        while (room - text->size <= size) {
            room *= 2;
        }
        char *more = realloc(text->data, room);
        if (!more) {
            text->failed = true;
            return;
        }
        text->data = more;
        text->room = room;
    }
    memcpy(text->data + text->size, data, size);
    text->size += size;
    text->data[text->size] = 0;
}

void mc_text_printf(McText *text, const char *format, ...)
{
    va_list ap;
    char *made;

    va_start(ap, format);
    int size = vasprintf(&made, format, ap);
    va_end(ap);
    if (size < 0) {
        text->failed = true;
        return;
    }
    mc_text_add(text, made, size);
    free(made);
}

void mc_text_quote(McText *text, const char *string)
{
    mc_text_add(text, "\"", 1);
    for (; *string; string++) {
        unsigned char c = *string;

        if (c == '"' || c == '\\') {
            mc_text_add(text, "\\", 1);
        }
        mc_text_add(text, c < ' ' || c == 127 ? "?" : string, 1);
    }
    mc_text_add(text, "\"", 1);
}

void mc_text_free(McText *text)
{
    free(text->data);
    *text = (McText){0};
}
