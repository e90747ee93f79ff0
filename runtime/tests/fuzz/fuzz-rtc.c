/* SPDX-License-Identifier: MIT */
/* libFuzzer: what libmcrtc reads itself: options, header names, and the names
 * that mx-kernel-link writes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rtc/headers.h"
#include "rtc/names.h"
#include "rtc/options.h"

#define STRINGS 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void options(int count, const char *const *strings)
{
    McRtcOptions read;
    McText log = {0};

    if (!mc_rtc_options_read(&read, count, strings, &log) && !log.size) {
        abort(); /* an error without a message */
    }
    mc_rtc_options_free(&read);
    mc_text_free(&log);
}

static void names(char *expression, const char *written)
{
    McRtcName two[2] = {{expression, NULL}, {expression, NULL}};
    McText text = {0};

    mc_rtc_names_declare(two, 2, &text);
    mc_rtc_names_read(two, 2, written, &text);
    free(two[0].lowered);
    free(two[1].lowered);
    mc_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *strings[STRINGS];
    char *copy = malloc(size + 1);
    int count = 0;

    if (!copy) {
        return 0;
    }
    memcpy(copy, data, size);
    copy[size] = 0;
    for (size_t at = 0; at <= size && count < STRINGS;
         at += strlen(copy + at) + 1) {
        strings[count++] = copy + at;
    }
    options(count, strings);
    for (int i = 0; i < count; i++) {
        mc_rtc_header_name(strings[i]);
        names(copy, strings[i]);
    }
    free(copy);
    return 0;
}
