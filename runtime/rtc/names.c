/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <stdlib.h>
#include <string.h>

/*
 * The expression has lines of its own, so that no comment in it hides what
 * follows, and is read as the host would: there kernels are overloads like any
 * other. Variables may be named without &, which belongs in front of all but
 * casts.
 */
static void declare(const char *expression, size_t number, McText *text)
{
    const char *begin = expression + strspn(expression, " \t\n");
    McText name = {0};

    mc_text_printf(&name, "name expression %s", expression);
    mc_text_printf(text, "\n#line 1 \"name expression\"\n"
                         "static constexpr auto __mcrtc_host_%zu = (\n"
                         "#line 1 ", number);
    mc_text_quote(text, name.failed ? "" : name.data);
    text->failed |= name.failed;
    mc_text_free(&name);
    mc_text_printf(text, "\n%s%s\n);\n",
                   *begin == '&' || *begin == '(' ? "" : "&", begin);
    mc_text_printf(text, "extern \"C\" __attribute__((device)) const volatile "
                         "void *const __mcrtc_name_%zu ="
                         " (const volatile void *)__mcrtc_host_%zu;\n",
                   number, number);
}

void mc_rtc_names_declare(const McRtcName *names, size_t count, McText *text)
{
    for (size_t i = 0; i < count; i++) {
        declare(names[i].expression, i, text);
    }
}

static mcrtcResult take(McRtcName *name, const char *lowered, size_t size,
                        McText *log)
{
    if (size == 0) {
        mc_text_printf(log, "mcrtc: error: name expression '%.200s' is "
                            "neither a kernel nor a variable\n",
                       name->expression);
        return MCRTC_ERROR_COMPILATION;
    }
    if (name->lowered && strlen(name->lowered) == size &&
        memcmp(name->lowered, lowered, size) == 0) {
        return MCRTC_SUCCESS;
    }
    free(name->lowered);
    name->lowered = strndup(lowered, size);
    return name->lowered ? MCRTC_SUCCESS : MCRTC_ERROR_OUT_OF_MEMORY;
}

mcrtcResult mc_rtc_names_read(McRtcName *names, size_t count,
                              const char *written, McText *log)
{
    mcrtcResult result = MCRTC_SUCCESS;
    size_t found = 0;

    while (*written) {
        char *end;
        unsigned long number = strtoul(written, &end, 10);
        size_t size = strcspn(end, "\n");

        if (end == written || *end != ' ' || number >= count || !end[size]) {
            return MCRTC_ERROR_INTERNAL_ERROR;
        }
        mcrtcResult one = take(&names[number], end + 1, size - 1, log);
        result = result == MCRTC_SUCCESS ? one : result;
        written = end + size + 1;
        found++;
    }
    return result == MCRTC_SUCCESS && found != count
               ? MCRTC_ERROR_INTERNAL_ERROR
               : result;
}
